//! Where a plan begins: the arm's joints, and which opening of the gripper it is made for.

use citrange_core::names::suggestion;
use citrange_core::robot::RobotDescription;
use citrange_robot::Chain;
use citrange_robot::Robot;
use serde_json::{Value, json};

use crate::arm::PlannedArm;
use crate::error::PlanError;
use crate::goal::PlanGoal;

/// What the spheres and shapes of a swept gripper may reach beyond what it sweeps.
const SWEEP_SLACK_M: f64 = 0.004;

/// All joints where a plan begins.
#[derive(Clone, Debug)]
pub struct PlanStart {
    /// Positions of the arm's joints.
    pub arm: Vec<f64>,
    /// The gripper's.
    pub gripper: GripperOpening,
}

/// The opening that counts. The arm's plan does not move the gripper.
#[derive(Clone, Debug)]
pub struct GripperOpening {
    /// Who said it.
    from: String,
    names: Vec<String>,
    /// Positions of its joints.
    pub positions: Vec<f64>,
    /// Between which positions it may be, where all of that counts.
    sweep: Option<[Vec<f64>; 2]>,
}

impl PlanStart {
    /// `start`: a pose by name, or joints; none: where the scene has the robot, which is at
    /// `seen`. `gripper`: open, closed, sweep, positions, or none for as it is at the start.
    ///
    /// # Errors
    /// When a pose is not known, or numbers do not fit the robot.
    pub fn new(
        arm: &PlannedArm,
        robot: &RobotDescription,
        seen: &[f64],
        start: Option<&str>,
        gripper: Option<&str>,
    ) -> Result<Self, PlanError> {
        let (joints, from) = match start {
            None => (seen.to_vec(), "the scene".to_owned()),
            Some(text) => joints_of(arm, robot, seen, text)?,
        };
        let (moved, held) = joints.split_at(arm.joints().min(joints.len()));
        let gripper = GripperOpening::new(arm.body().chain(), held, from, gripper)?;
        Ok(Self { arm: moved.to_vec(), gripper })
    }
}

/// Positions of all joints by the name of a pose or as numbers, and what said the gripper's.
fn joints_of(
    arm: &PlannedArm,
    robot: &RobotDescription,
    seen: &[f64],
    text: &str,
) -> Result<(Vec<f64>, String), PlanError> {
    let name = if text == "home" { &robot.home } else { text };
    if let Some(pose) = robot.poses.get(name) {
        return Ok((pose.clone(), format!("the start pose {name}")));
    }
    if text.contains(char::is_alphabetic) {
        let known = robot.poses.keys().map(String::as_str).chain(["home"]);
        let what = format!("the robot has no pose {text:?}");
        return Err(PlanError::Bad { what, reason: suggestion(text, known) });
    }
    let words: Vec<&str> = words(text).collect();
    let count = arm.joints();
    if words.len() == seen.len() && seen.len() > count {
        let mut joints = arm_joints(&words[..count].join(" "), arm)?;
        joints.extend(numbers(&words[count..].join(" "))?);
        return Ok((joints, "the start".to_owned()));
    }
    let mut joints = arm_joints(text, arm)?;
    joints.extend(seen.iter().skip(count));
    Ok((joints, "the scene".to_owned()))
}

impl GripperOpening {
    /// `held`: where its joints are at the start, said by `from`.
    fn new(
        chain: &Chain,
        held: &[f64],
        from: String,
        asked: Option<&str>,
    ) -> Result<Self, PlanError> {
        let joints = &chain.joints[chain.arm_joints..];
        let ends = |end: usize| -> Vec<f64> {
            joints.iter().zip(held).map(|(j, at)| j.gripper.map_or(*at, |g| g[end])).collect()
        };
        let (closed, open) = (ends(0), ends(1));
        let names = joints.iter().map(|j| j.name.clone()).collect();
        let given = "--gripper".to_owned();
        let mut made = Self { from, names, positions: held.to_vec(), sweep: None };
        let Some(asked) = asked else { return Ok(made) };
        if joints.is_empty() {
            let reason = format!("{} has no gripper", chain.robot);
            return Err(PlanError::Bad { what: given, reason });
        }
        match asked {
            "open" => (made.positions, made.from) = (open, given),
            "closed" => (made.positions, made.from) = (closed, given),
            "sweep" => made.sweep = Some(around(&closed, &open, held)),
            numbers => {
                made.positions = positions(chain, &closed, &open, numbers)?;
                made.from = given;
            }
        }
        Ok(made)
    }

    /// The robot as it must be looked at; `home`: positions of all joints, of which the arm's
    /// count. The second answer is where all joints are held.
    ///
    /// # Errors
    /// When the body has other joints than the robot of this start.
    pub fn body(&self, body: Robot, home: &[f64]) -> Result<(Robot, Vec<f64>), PlanError> {
        let arm = home.len().saturating_sub(self.positions.len());
        let all = |gripper: &[f64]| [&home[..arm], gripper].concat();
        let held = all(&self.positions);
        let body = match &self.sweep {
            Some([from, to]) => body.swept(&held, [&all(from), &all(to)], SWEEP_SLACK_M)?,
            None => body,
        };
        Ok((body, held))
    }

    /// In a line; none for a robot without.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let list = |positions: &[f64]| {
            let each = self.names.iter().zip(positions);
            each.map(|(name, at)| format!("{name} {at:.4}")).collect::<Vec<_>>().join(", ")
        };
        match &self.sweep {
            _ if self.names.is_empty() => None,
            Some([from, to]) => {
                Some(format!("gripper: every opening from {} to {}", list(from), list(to)))
            }
            None => Some(format!("gripper: {}, as {} has it", list(&self.positions), self.from)),
        }
    }

    /// As JSON; null for a robot without.
    #[must_use]
    pub fn json(&self) -> Value {
        if self.names.is_empty() {
            return Value::Null;
        }
        json!({
            "joints": self.names,
            "positions": self.positions,
            "from": self.from,
            "sweep": self.sweep,
        })
    }
}

/// Joints of the arm as numbers.
fn arm_joints(text: &str, arm: &PlannedArm) -> Result<Vec<f64>, PlanError> {
    match PlanGoal::parse_joints(text, arm)? {
        PlanGoal::Joints(joints) => Ok(joints),
        _ => Err(PlanError::bad(format!("{text:?}"), "joint positions are needed")),
    }
}

/// From closed to open, and wherever the gripper is now.
fn around(closed: &[f64], open: &[f64], held: &[f64]) -> [Vec<f64>; 2] {
    let ends = closed.iter().zip(open).zip(held).map(|((closed, open), held)| {
        if closed <= open {
            (closed.min(*held), open.max(*held))
        } else {
            (closed.max(*held), open.min(*held))
        }
    });
    let (from, to) = ends.unzip();
    [from, to]
}

/// Joints of the gripper from numbers: one of each, or one for all that open together.
fn positions(
    chain: &Chain,
    closed: &[f64],
    open: &[f64],
    text: &str,
) -> Result<Vec<f64>, PlanError> {
    let joints = &chain.joints[chain.arm_joints..];
    let bad = |reason: String| PlanError::Bad { what: format!("--gripper {text:?}"), reason };
    let mut given = numbers(text).map_err(|_| {
        let names: Vec<&str> = joints.iter().map(|j| j.name.as_str()).collect();
        bad(format!("open, closed, sweep, or positions of {} are right", names.join(", ")))
    })?;
    if let ([first], true) = (given.as_slice(), joints.len() > 1) {
        let fraction = (first - closed[0]) / (open[0] - closed[0]);
        let each =
            closed.iter().zip(open).map(|(closed, open)| closed + fraction * (open - closed));
        given = each.collect();
    }
    if given.len() != joints.len() {
        return Err(bad(format!("{} numbers; right are {}", given.len(), joints.len())));
    }
    for (joint, at) in joints.iter().zip(&given) {
        let [low, high] = joint.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        // Descriptions round the ends of ranges.
        if !(low - 1e-6..=high + 1e-6).contains(at) {
            return Err(bad(format!("{} can be from {low:.4} to {high:.4}", joint.name)));
        }
    }
    Ok(given)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
}

fn numbers(text: &str) -> Result<Vec<f64>, PlanError> {
    let number = |word: &str| match word.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(PlanError::Bad {
            what: format!("positions {text:?}"),
            reason: format!("{word:?} is not a finite number; such as 0.25 would be right"),
        }),
    };
    words(text).map(number).collect()
}
