//! Motions that touch nothing: from here to a goal, proved free, with a time law that a robot
//! can follow.
//!
//! | to change | look in |
//! |---|---|
//! | a joint vector as the planner sees it | `config.rs` |
//! | a robot and its limits | `arm.rs` |
//! | what is in the way | `obstacles.rs` |
//! | what a planner asks about motions | `motions.rs` |
//! | what a planner answers | `outcome.rs` |
//! | how a simulated or real arm follows it | `pilot.rs` |
//! | how a path becomes a motion over time | `timing.rs` |

mod arm;
mod config;
mod error;
mod motions;
mod obstacles;
mod outcome;
mod pilot;
mod timing;

pub use arm::{Arm, JointLimit};
pub use config::{Config, MAX_JOINTS};
pub use error::PlanError;
pub use motions::Motions;
pub use obstacles::{Ball, Capsule, Cuboid, Obstacles};
pub use outcome::{Contact, End, Outcome, Path, Touched};
pub use pilot::{Feedforward, PilotSettings, PlanPilot, ServoLoad};
pub use timing::{Moment, TimingSettings, Trajectory};
