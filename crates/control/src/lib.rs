//! Arms under control: what a person or program asks for becomes joint targets.
//!
//! | to change | look in |
//! |---|---|
//! | what can be asked for | `velocity.rs`; by name `action.rs`; keys and sticks are in `teleop` |
//! | a robot as numbers, and its kinematics | `chain.rs`, `kinematics.rs`; what makes it hard to move `inertia.rs` |
//! | joints for a place of the hand | `ik.rs`: near given ones `Ik`, all that can be found `Reach` |
//! | the controller | `cartesian.rs`; by kind of arm `tool_down.rs`, `twist.rs`; limits `bounds.rs`, `stretch.rs` |
//! | how fast targets may move, and how they come to rest | `limiter.rs`, `send.rs` |
//! | numbers of the controller, profiles | `settings.rs`, `/crates/control/profiles` |

mod action;
mod bounds;
mod cartesian;
mod chain;
mod error;
mod ik;
mod inertia;
mod kinematics;
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
pub use chain::{Chain, ChainJoint, ChainSite, Guard, LinkShape};
pub use error::ControlError;
pub use ik::{
    Aim, Fit, Hand, HandGoal, Ik, Reach, ReachSettings, Reached, Solution, Tolerance, Turn, wrapped,
};
pub use inertia::LinkInertia;
pub use kinematics::{Frame, Kinematics};
pub use limiter::{Motion, MotionLimits, TargetLimiter};
pub use memory::Memory;
pub use scratch::Scratch;
pub use settings::{Gravity, Method, Settings, State, Workspace};
pub use status::Status;
pub use velocity::Velocity;
