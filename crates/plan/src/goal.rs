//! Where a path should lead, and whether it makes sense to look for one.
//!
//! | to change | look in |
//! |---|---|
//! | what people may write | here |
//! | which joints count as the goal, and why there may be none | `check.rs` |
//! | nearer joints at the same goal | `nearer.rs` |
//! | settings and answers | `report.rs` |
//! | several goals, places within a box | `any.rs` |
//! | the nearest goal that is free | `retreat.rs` |
//! | the way out of a collision at the start | `escape.rs` |

mod any;
mod check;
mod escape;
mod nearer;
mod report;
mod retreat;

pub use check::check_goal;
pub(crate) use check::miss;
pub use report::{GoalReport, GoalSettings};

use citrange_robot::{IkTarget, Orientation};
use nalgebra::{Rotation3, Vector3};

use crate::arm::PlannedArm;
use crate::collide::Collider;
use crate::error::PlanError;
use crate::outcome::Collision;

/// Points farther away than this are mistakes.
const FARTHEST_M: f64 = 1000.0;

/// Where a path should lead.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanGoal {
    /// The tool at a point of the world, in any orientation.
    Point {
        /// The point.
        at_m: [f64; 3],
    },
    /// The tool at a point in an orientation.
    Pose {
        /// The point.
        at_m: [f64; 3],
        /// Turns about the world's x, then y, then z axis.
        roll_pitch_yaw_rad: [f64; 3],
    },
    /// The tool at a point, a direction of it along one of the world; the rotation about it is
    /// free.
    Axis {
        /// The point.
        at_m: [f64; 3],
        /// The direction in the tool's frame, unit length.
        of_tool: [f64; 3],
        /// Where it should point in the world, unit length.
        toward: [f64; 3],
    },
    /// The tool anywhere within an upright box, in any orientation or in one.
    Region {
        /// Its lowest corner.
        low_m: [f64; 3],
        /// Its highest corner.
        high_m: [f64; 3],
        /// Turns about the world's x, then y, then z axis, if they matter.
        roll_pitch_yaw_rad: Option<[f64; 3]>,
    },
    /// Positions of the arm's joints.
    Joints(Vec<f64>),
    /// Any of these: the one that is reached best.
    Any(Vec<PlanGoal>),
}

/// Answers what a robot touches.
pub trait Contacts {
    /// What it touches most deeply with the arm's joints there; `None` when nothing.
    fn contact(&mut self, at: &[f64]) -> Option<Collision>;
}

impl Contacts for Collider {
    fn contact(&mut self, at: &[f64]) -> Option<Collision> {
        Self::contact(self, at)
    }
}

impl PlanGoal {
    /// Of three numbers (a point, in metres) or six (and roll, pitch, yaw, in radians). A number
    /// of the point may be a range, `0.3..0.5`; several goals of which any will do have `|`
    /// between them.
    ///
    /// # Errors
    /// Says which word is wrong, or how many there are.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        if text.contains('|') {
            let each: Result<Vec<_>, _> = text.split('|').map(Self::parse).collect();
            return Ok(Self::Any(each?));
        }
        if text.contains("..") {
            return any::region(text);
        }
        let goal = match *numbers(text)? {
            [x, y, z] => Self::Point { at_m: [x, y, z] },
            [x, y, z, roll, pitch, yaw] => {
                Self::Pose { at_m: [x, y, z], roll_pitch_yaw_rad: [roll, pitch, yaw] }
            }
            ref other => {
                let reason = format!(
                    "{} numbers; right are 3 (x y z in metres, such as \"0.5 0.2 0.4\") or 6 (and \
                     roll pitch yaw in radians)",
                    other.len()
                );
                return Err(PlanError::bad(format!("goal {text:?}"), reason));
            }
        };
        goal.check_numbers()?;
        Ok(goal)
    }

    /// Of positions of an arm's joints, in radians.
    ///
    /// # Errors
    /// Says which word is wrong, or which joints need a number.
    pub fn parse_joints(text: &str, arm: &PlannedArm) -> Result<Self, PlanError> {
        let goal = Self::Joints(numbers(text)?);
        goal.check_count(arm)?;
        goal.check_numbers()?;
        Ok(goal)
    }

    /// That there are as many joints as the arm has.
    fn check_count(&self, arm: &PlannedArm) -> Result<(), PlanError> {
        if let Self::Any(goals) = self {
            return goals.iter().try_for_each(|goal| goal.check_count(arm));
        }
        let Self::Joints(joints) = self else { return Ok(()) };
        if joints.len() == arm.joints() {
            return Ok(());
        }
        let names: Vec<&str> = arm.body().chain().joint_names().take(arm.joints()).collect();
        let (given, needed) = (joints.len(), arm.joints());
        let reason = format!("{given} numbers; right are {needed}, for {}", names.join(", "));
        Err(PlanError::bad("goal", reason))
    }

    fn check_numbers(&self) -> Result<(), PlanError> {
        let (at_m, angles): (&[f64], &[f64]) = match self {
            Self::Point { at_m } => (at_m, &[]),
            Self::Pose { at_m, roll_pitch_yaw_rad } => (at_m, roll_pitch_yaw_rad),
            Self::Axis { at_m, of_tool, toward } => (at_m, &[of_tool.as_slice(), toward].concat()),
            Self::Region { low_m, high_m, roll_pitch_yaw_rad } => {
                let angles = roll_pitch_yaw_rad.as_ref().map_or(&[][..], |angles| angles);
                (&[low_m.as_slice(), high_m].concat(), angles)
            }
            Self::Joints(joints) => (&[], joints),
            Self::Any(goals) => return goals.iter().try_for_each(Self::check_numbers),
        };
        if let Some(number) = at_m.iter().chain(angles).find(|n| !n.is_finite()) {
            return Err(PlanError::bad("goal", format!("{number} is not a number to go to")));
        }
        match at_m.iter().find(|n| n.abs() > FARTHEST_M) {
            Some(far) => {
                let reason = format!("{far} m is too far; up to {FARTHEST_M} m are right");
                Err(PlanError::bad("goal", reason))
            }
            None => Ok(()),
        }
    }

    /// As inverse kinematics takes it; none for joints.
    pub(crate) fn aim(&self) -> Option<IkTarget> {
        match self {
            Self::Point { at_m } => {
                Some(IkTarget { at_m: Vector3::from(*at_m), orientation: Orientation::Free })
            }
            Self::Pose { at_m, roll_pitch_yaw_rad: [roll, pitch, yaw] } => {
                let rotation = Rotation3::from_euler_angles(*roll, *pitch, *yaw);
                Some(IkTarget {
                    at_m: Vector3::from(*at_m),
                    orientation: Orientation::Full(rotation),
                })
            }
            Self::Axis { at_m, of_tool, toward } => Some(IkTarget {
                at_m: Vector3::from(*at_m),
                orientation: Orientation::Axis {
                    of_tool: Vector3::from(*of_tool),
                    toward: Vector3::from(*toward),
                },
            }),
            Self::Joints(_) | Self::Region { .. } | Self::Any(_) => None,
        }
    }
}

pub(crate) fn numbers(text: &str) -> Result<Vec<f64>, PlanError> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
    words
        .enumerate()
        .map(|(index, word)| match word.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => {
                let reason = format!(
                    "word {}, {word:?}, is not a finite number; such as 0.25 would be right",
                    index + 1
                );
                Err(PlanError::bad(format!("goal {text:?}"), reason))
            }
        })
        .collect()
}
