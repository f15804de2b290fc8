//! What a planner answers: a path, or the reason why there is none.

use serde::Serialize;

use crate::straight::StraightFault;

/// The answer to a question for a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum PlanOutcome {
    /// A path that was proved free.
    Found(Path),
    /// None was found. There may be one: this was all the search was allowed to do.
    NoPath {
        /// Samples that were tried.
        iterations: usize,
        /// Time that was spent, in seconds.
        spent_s: f64,
    },
    /// The robot touches something where it stands.
    StartInCollision {
        /// What, and how deep.
        contact: Collision,
    },
    /// It would touch something at the goal (at the nearest one, where there are several).
    GoalInCollision {
        /// What, and how deep.
        contact: Collision,
    },
    /// No joints bring the hand to the goal.
    GoalUnreachable {
        /// How near the hand can come.
        nearest_m: f64,
        /// How its orientation differs from what was asked there; none where any will do.
        nearest_rad: Option<f64>,
        /// How near it would have to.
        tolerance_m: f64,
        /// How nearly oriented.
        tolerance_rad: f64,
    },
    /// The tool cannot go straight there.
    NotStraight {
        /// What stops it, and where.
        fault: StraightFault,
    },
    /// The tool is turned further away than it may be all the way.
    OffCone {
        /// At which end of the path; at the goal: wherever the arm reaches it.
        end: PathEnd,
        /// How far its direction is off, rad.
        off_rad: f64,
        /// How far it may be.
        half_angle_rad: f64,
    },
    /// A joint is outside of its range.
    OutsideLimits {
        /// At which end of the path.
        end: PathEnd,
        /// Name of the joint.
        joint: String,
        /// Where it is.
        position: f64,
        /// Where it may be.
        range: [f64; 2],
    },
}

/// A path through joint space: straight from each configuration to the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    /// Joint positions, the start first.
    pub waypoints: Vec<Vec<f64>>,
    /// Its length: the sum of the distances in joint space, in radians.
    pub length_rad: f64,
    /// Samples that the search tried.
    pub iterations: usize,
}

/// An end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathEnd {
    /// Where it begins.
    Start,
    /// Where it leads.
    Goal,
}

/// What a robot touches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Collision {
    /// Name of the link that touches.
    pub link: String,
    /// What it touches.
    pub with: Touched,
    /// How deep it reaches in.
    pub depth_m: f64,
}

/// A thing that is touched.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Touched {
    /// A cube of the map.
    Voxel {
        /// Number of its cell.
        key: u32,
        /// Its middle.
        centre_m: [f64; 3],
    },
    /// A solid.
    Solid {
        /// Its number in [`crate::Obstacles`].
        number: usize,
        /// What it is: `box`, `sphere`, …
        shape: &'static str,
    },
    /// Another link of the robot.
    Link(String),
}
