//! Arms under control: what a person or program asks for becomes joint targets.
//!
//! ```
//! use citrange_control::ControllerSettings;
//!
//! // A built-in profile, or one of your own that changes some numbers of it.
//! let settings = ControllerSettings::parse("profile: default\nlin_speed_m_s: 0.06\n", "own.yaml")?;
//! assert_eq!(settings.lin_speed_m_s, 0.06);
//! assert_eq!(settings.brake_s, ControllerSettings::load("default")?.brake_s);
//! // Smoothing is written for 180 ticks a second; elsewhere the time constant stays.
//! assert!(ControllerSettings::smoothing_at(settings.smooth_dq, 90) > settings.smooth_dq);
//! // What is wrong is said with what would be right.
//! let wrong = ControllerSettings::parse("lin_sped_m_s: 0.06", "own.yaml").err().map(|e| e.to_string());
//! assert!(wrong.unwrap_or_default().contains("did you mean \"lin_speed_m_s\"?"));
//! # Ok::<(), citrange_control::ControlError>(())
//! ```
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

pub use action::NamedAction;
pub use cartesian::CartesianController;
pub use error::ControlError;
pub use limiter::{MotionLimits, TargetLimiter, TargetMotion};
pub use memory::ControllerMemory;
pub use scratch::Scratch;
pub use settings::{ControllerSettings, Gravity, KinematicsAt, Method, WorkspaceLimits};
pub use status::ControllerStatus;
pub use velocity::Velocity;
