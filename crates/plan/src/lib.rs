//! Motions that touch nothing: from here to a goal, proved free, with a time law that a robot
//! can follow.
//!
//! | to change | look in |
//! |---|---|
//! | a joint vector as the planner sees it | `config.rs` |
//! | a robot and its limits | `arm.rs` |
//! | what is in the way | `obstacles.rs` |
//! | whether a motion touches anything | `collide/` |
//! | what a planner asks about motions | `motions.rs` |
//! | what a planner answers | `outcome.rs` |
//! | files of problems, for measurements | `problems.rs` |
//! | how a path is searched, shortened, mended | `search/` |

mod arm;
mod collide;
mod config;
mod error;
mod motions;
mod obstacles;
mod outcome;
mod problems;
mod search;

pub use arm::{Arm, JointLimit};
pub use collide::{Collider, ColliderSettings};
pub use config::{Config, MAX_JOINTS};
pub use error::PlanError;
pub use motions::Motions;
pub use obstacles::{Ball, Capsule, Cuboid, Obstacles};
pub use outcome::{Contact, End, Outcome, Path, Touched};
pub use problems::{Problem, Problems};
pub use search::{
    Effort, Improved, Planner, SearchResult, SearchSettings, SimplifySettings, Spent,
    path_length_rad,
};
