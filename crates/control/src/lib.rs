//! Arms under control: what a person or program asks for becomes joint targets.
//!
//! | to change | look in |
//! |---|---|
//! | what can be asked for | `velocity.rs`; by name `action.rs`; keys and sticks `keys.rs` |
//! | who may drive or send an autopilot, and when a grip is lost | `seat.rs`, `errand.rs`; a person as a pilot: `pilot.rs` |
//! | a robot as numbers, and its kinematics | `chain.rs`, `kinematics.rs`; what makes it hard to move `inertia.rs` |
//! | joints for a place of the hand | `ik.rs`: near given ones `Ik`, all that can be found `Reach` |
//! | the law | `law.rs`; by kind of arm `tool_down.rs`, `twist.rs`; limits `bounds.rs`, `stretch.rs` |
//! | how fast targets may move, and how they come to rest | `limiter.rs`, `send.rs` |
//! | numbers of the law, profiles | `settings.rs`, `/crates/control/profiles` |

mod action;
mod bounds;
mod chain;
mod errand;
mod error;
mod ik;
mod inertia;
mod keys;
mod kinematics;
mod law;
mod limiter;
mod memory;
mod pilot;
mod plain;
mod roles;
mod scratch;
mod seat;
mod send;
mod settings;
mod solve;
mod status;
mod stretch;
mod tool_down;
mod twist;
mod velocity;

pub use action::Action;
pub use chain::{Chain, ChainJoint, ChainSite, Guard, LinkShape};
pub use errand::{Busy, Errand, Halt};
pub use error::ControlError;
pub use ik::{
    Aim, Fit, Hand, HandGoal, Ik, Reach, ReachSettings, Reached, Solution, Tolerance, Turn, wrapped,
};
pub use inertia::LinkInertia;
pub use keys::{Held, Key, Speeds};
pub use kinematics::{Frame, Kinematics};
pub use law::Law;
pub use limiter::{Motion, MotionLimits, TargetLimiter};
pub use memory::Memory;
pub use pilot::{Teleop, Until};
pub use scratch::Scratch;
pub use seat::{Grip, Order, Seat, Taken, Ticket};
pub use settings::{Gravity, Method, Settings, State, Workspace};
pub use status::Status;
pub use velocity::Velocity;
