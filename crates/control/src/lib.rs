//! Arms under control: what a person or program asks for becomes joint targets.
//!
//! | to change | look in |
//! |---|---|
//! | what can be asked for | `velocity.rs`; by name `action.rs`; keys and sticks are in `teleop` |
//! | a robot as numbers, its kinematics, joints for a place of the hand | the crate `robot` |
//! | the controller | `cartesian.rs`; by kind of arm `tool_down.rs`, `twist.rs`; limits `bounds.rs`, `stretch.rs` |
//! | how fast targets may move, and how they come to rest | `limiter.rs`, `send.rs` |
//! | numbers of the controller, profiles | `settings.rs`, `/crates/control/profiles` |

mod action;
mod bounds;
mod cartesian;
mod error;
mod limiter;
mod memory;
mod plain;
mod roles;
mod scratch;
mod send;
mod settings;
mod solve;
mod status;
mod stretch;
mod tool_down;
mod twist;
mod velocity;

pub use action::Action;
pub use cartesian::CartesianController;
pub use error::ControlError;
pub use limiter::{Motion, MotionLimits, TargetLimiter};
pub use memory::Memory;
pub use scratch::Scratch;
pub use settings::{Gravity, Method, Settings, State, Workspace};
pub use status::Status;
pub use velocity::Velocity;
