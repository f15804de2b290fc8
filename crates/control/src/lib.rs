//! Arms under control: what a person or program asks for becomes joint targets.
//!
//! | to change | look in |
//! |---|---|
//! | what can be asked for | `velocity.rs`; by name `action.rs`; keys and sticks `keys.rs` |
//! | who may drive or send an autopilot, and when a grip is lost | `driver lock.rs`, `request.rs`; a person as a pilot: `pilot.rs` |
//! | a robot as numbers, its kinematics, joints for a place of the hand | the crate `robot` |
//! | the controller | `controller.rs`; by kind of arm `tool_down.rs`, `twist.rs`; limits `bounds.rs`, `stretch.rs` |
//! | how fast targets may move, and how they come to rest | `limiter.rs`, `send.rs` |
//! | numbers of the controller, profiles | `settings.rs`, `/crates/control/profiles` |

mod action;
mod autopilot_request;
mod bounds;
mod cartesian;
mod driver_lock;
mod error;
mod keys;
mod limiter;
mod memory;
mod pilot;
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
pub use autopilot_request::{AutopilotRequest, Busy, Halt};
pub use cartesian::CartesianController;
pub use driver_lock::{DeadmanInput, DriverLock, Order, Taken, Ticket};
pub use error::ControlError;
pub use keys::{HeldKeys, Key, Speeds};
pub use limiter::{Motion, MotionLimits, TargetLimiter};
pub use memory::Memory;
pub use pilot::{Teleop, Until};
pub use scratch::Scratch;
pub use settings::{Gravity, Method, Settings, State, Workspace};
pub use status::Status;
pub use velocity::Velocity;
