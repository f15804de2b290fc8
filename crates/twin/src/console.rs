//! What people type while a twin runs: the document's words, and a few more.

use citrange_core::RobotDescription;
use citrange_core::names::suggestion;
use citrange_plan::{PlanGoal, PlannedArm};

use crate::error::TwinError;
use crate::goals::{Goal, named};
use crate::orders::Order;

/// What can be typed, for people.
pub const WORDS: [(&str, &str); 12] = [
    ("x y z", "the tool to a point, metres in the world"),
    ("x y z roll pitch yaw", "to a point in an orientation, after the word pose; radians"),
    ("q1 ... q6", "the arm's joints, radians; the word p may stand before them"),
    ("r", "to the resting pose"),
    ("go NAME", "to a pose of the robot"),
    ("near x y z", "to the nearest free place, where the point itself is not free"),
    ("c [CAMERA] x y z roll pitch yaw", "the camera stands here: metres and degrees"),
    ("v SIZE [FILTER [CLUSTER]]", "edge of a voxel and self filter in metres, least group"),
    ("y", "carry out the motion that is shown"),
    ("s", "stop along the path, forget all goals"),
    ("clear", "what stopped the arm is dealt with"),
    ("speed F, q", "fraction of full speed; end the run"),
];

/// An order of a line; `None` for an empty one.
///
/// # Errors
/// Says what would be right.
pub fn parse(
    line: &str,
    arm: &PlannedArm,
    robot: &RobotDescription,
    cameras: &[String],
) -> Result<Option<Order>, TwinError> {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Ok(None) };
    let rest: Vec<&str> = words.collect();
    let joined = rest.join(" ");
    let goal = |text: &str, goal: PlanGoal| Some(Order::Go(Goal::to(text, goal)));
    Ok(match first {
        "r" => goal("rest", named("rest", arm, robot)?),
        "go" => goal(&joined, named(&joined, arm, robot)?),
        "p" => goal(&joined, PlanGoal::parse_joints(&joined, arm)?),
        "pose" => goal(&joined, pose(&joined)?),
        "near" => {
            let point = Goal::to(joined.clone(), PlanGoal::parse(&joined)?);
            Some(Order::Go(Goal { nearest: true, ..point }))
        }
        "y" => Some(Order::Confirm),
        "s" | "stop" => Some(Order::Stop),
        "clear" => Some(Order::Clear),
        "q" | "quit" => Some(Order::End),
        "speed" => {
            let [speed] = numbers::<1>("speed", &rest)?;
            if !(speed > 0.0 && speed <= 1.0) {
                return Err(TwinError::bad("speed", format!("{speed}: above 0 and up to 1")));
            }
            Some(Order::Speed(speed))
        }
        "c" => Some(camera(&rest, cameras)?),
        "v" => Some(voxels(&rest)?),
        word if word.parse::<f64>().is_ok() => {
            let count = rest.len() + 1;
            if count == 3 {
                goal(line.trim(), PlanGoal::parse(line)?)
            } else {
                goal(line.trim(), PlanGoal::parse_joints(line, arm)?)
            }
        }
        other => {
            let known = ["r", "go", "p", "pose", "near", "c", "v", "y", "s", "clear", "speed", "q"];
            let hint = suggestion(other, known);
            return Err(TwinError::bad(format!("\"{other}\" is no order"), hint));
        }
    })
}

fn pose(text: &str) -> Result<PlanGoal, TwinError> {
    match PlanGoal::parse(text)? {
        pose @ PlanGoal::Pose { .. } => Ok(pose),
        _ => Err(TwinError::bad("pose", "six numbers are right: x y z roll pitch yaw")),
    }
}

fn camera(rest: &[&str], cameras: &[String]) -> Result<Order, TwinError> {
    let (name, place) = match rest {
        [name, place @ ..] if name.parse::<f64>().is_err() => ((*name).to_owned(), place),
        place => match cameras {
            [only] => (only.clone(), place),
            _ => {
                let reason = format!("there are {}: say which one", cameras.join(", "));
                return Err(TwinError::bad("c", reason));
            }
        },
    };
    if !cameras.contains(&name) {
        let hint = suggestion(&name, cameras.iter().map(String::as_str));
        return Err(TwinError::bad(format!("no camera {name}"), hint));
    }
    let [x, y, z, roll, pitch, yaw] = numbers::<6>("c", place)?;
    Ok(Order::Camera { name, xyz_m: [x, y, z], rpy_deg: [roll, pitch, yaw] })
}

fn voxels(rest: &[&str]) -> Result<Order, TwinError> {
    let (size, more) = rest
        .split_first()
        .ok_or_else(|| TwinError::bad("v", "a size is needed, such as v 0.05"))?;
    let [size_m] = numbers::<1>("v", &[*size])?;
    let self_filter_m = match more.first() {
        Some(word) => Some(numbers::<1>("v", &[*word])?[0]),
        None => None,
    };
    let cluster_voxels = match more.get(1) {
        Some(word) => Some(numbers::<1>("v", &[*word])?[0] as usize),
        None => None,
    };
    Ok(Order::Voxels { size_m, self_filter_m, cluster_voxels })
}

fn numbers<const N: usize>(what: &str, words: &[&str]) -> Result<[f64; N], TwinError> {
    let wrong = || {
        let reason = format!("{} is not {N} finite numbers", words.join(" "));
        TwinError::bad(what, reason)
    };
    let all: Result<Vec<f64>, _> = words.iter().map(|word| word.parse::<f64>()).collect();
    let all: [f64; N] = all.map_err(|_| wrong())?.try_into().map_err(|_| wrong())?;
    if all.iter().all(|n| n.is_finite()) { Ok(all) } else { Err(wrong()) }
}
