//! What the planner answered, in words.

use crate::arm::PlannedArm;
use crate::collide::Mount;
use crate::outcome::{Collision, PathEnd, PlanOutcome, Touched};
use crate::straight::{StraightFault, StraightStop};

/// What every obstacle is called, by its number in [`crate::Obstacles`].
#[derive(Clone, Debug, Default)]
pub struct ObstacleNames {
    /// Solids.
    pub solids: Vec<String>,
}

/// Why there is no path; `None` where there is one.
#[must_use]
pub fn reason_in_words(
    outcome: &PlanOutcome,
    names: &ObstacleNames,
    margin_m: f64,
) -> Option<String> {
    Some(match outcome {
        PlanOutcome::Found(_) => return None,
        PlanOutcome::NoPath { iterations, spent_s } => format!(
            "no path found: {iterations} samples in {:.0} ms were not enough. There may be one: \
             allow more with --time-ms, or move the goal",
            1e3 * spent_s
        ),
        PlanOutcome::StartInCollision { contact } => {
            format!(
                "the robot touches something where it stands: {}",
                touch(contact, names, margin_m)
            )
        }
        PlanOutcome::GoalInCollision { contact } => {
            format!(
                "the robot would touch something at the goal: {}",
                touch(contact, names, margin_m)
            )
        }
        PlanOutcome::GoalUnreachable { nearest_m, nearest_rad, tolerance_m, tolerance_rad } => {
            let (turned, allowed) = match nearest_rad {
                Some(rad) => (
                    format!(", turned {:.1} degrees away from what was asked", rad.to_degrees()),
                    format!(" and {:.1} degrees", tolerance_rad.to_degrees()),
                ),
                None => (String::new(), String::new()),
            };
            format!(
                "out of reach: the hand comes no nearer than {:.1} cm{turned}; {:.2} cm{allowed} \
                 are allowed (--tolerance-m, --tolerance-deg)",
                1e2 * nearest_m,
                1e2 * tolerance_m
            )
        }
        PlanOutcome::NotStraight { fault } => not_straight(fault, names, margin_m),
        PlanOutcome::OffCone { end, off_rad, half_angle_rad } => {
            let (off, half) = (off_rad.to_degrees(), half_angle_rad.to_degrees());
            let place = match end {
                PathEnd::Start => "at the start",
                PathEnd::Goal => "wherever the arm reaches the goal, and that",
            };
            format!("the tool is {off:.1} degrees off {place}, {half:.1} are allowed all the way")
        }
        PlanOutcome::OutsideLimits { end, joint, position, range: [low, high] } => {
            let end = match end {
                PathEnd::Start => "start",
                PathEnd::Goal => "goal",
            };
            format!("{joint} is at {position} at the {end}, it can be from {low:.4} to {high:.4}")
        }
    })
}

/// Why a line cannot be followed.
fn not_straight(fault: &StraightFault, names: &ObstacleNames, margin_m: f64) -> String {
    let StraightFault { why, fraction, at_m: [x, y, z] } = fault;
    let why = match why {
        StraightStop::JointLimit { joint, range: [low, high], .. } => {
            format!("{joint} is at the end of its range there ({low:.3} to {high:.3})")
        }
        StraightStop::Singularity => {
            "the arm is singular there: joints would have to jump (start from another posture, or \
             go there freely)"
                .to_owned()
        }
        StraightStop::OutOfReach => "it is out of reach from there on".to_owned(),
        StraightStop::Collision { contact: Some(contact) } => touch(contact, names, margin_m),
        StraightStop::Collision { contact: None } => {
            "something is so near that it could not be proved free".to_owned()
        }
        StraightStop::OffCone { off_rad } => {
            format!("the tool would be {:.1} degrees off there", off_rad.to_degrees())
        }
        StraightStop::OffLine { off_m } => {
            format!("the tool could be {:.2} mm off the line there", 1e3 * off_m)
        }
    };
    let percent = 100.0 * fraction;
    format!(
        "no straight motion: {percent:.0} % of the line is possible, to {x:.3} {y:.3} {z:.3} m; {why}"
    )
}

/// What touches what.
fn touch(contact: &Collision, names: &ObstacleNames, margin_m: f64) -> String {
    let thing = match &contact.with {
        Touched::Voxel { key, centre_m: [x, y, z] } => {
            format!("voxel {key} of the map, at {x:.3} {y:.3} {z:.3} m")
        }
        Touched::Solid { number, shape } => match names.solids.get(*number) {
            Some(name) => name.clone(),
            None => format!("{shape} {number}"),
        },
        Touched::Link(link) => format!("its own {link}"),
    };
    let (deep_mm, margin_mm) = (1e3 * contact.depth_m, 1e3 * margin_m);
    let margin = if matches!(contact.with, Touched::Link(_)) || margin_m == 0.0 {
        String::new()
    } else {
        format!(" or the {margin_mm} mm around it")
    };
    format!("{} reaches {deep_mm:.1} mm into {thing}{margin}", contact.link)
}

/// What a link passes because the robot is mounted on it.
#[must_use]
pub fn mount_in_words(arm: &PlannedArm, mount: &Mount, names: &ObstacleNames) -> String {
    let link = arm.body().links().nth(1).unwrap_or("the first link");
    let thing = names.solids.get(mount.number).map_or("a box", String::as_str);
    let gap_mm = 1e3 * mount.gap_m.abs();
    let how = if mount.gap_m < 0.0 { "into" } else { "above" };
    format!("{link} is {gap_mm:.1} mm {how} {thing} wherever it turns: that is its mount")
}
