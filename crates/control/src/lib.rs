//! Arms under control: what a person or program asks for becomes joint targets.
//!
//! | to change | look in |
//! |---|---|
//! | what can be asked for | `velocity.rs` |
//! | a robot as numbers, and its kinematics | `chain.rs`, `kinematics.rs` |
//! | numbers of the law, profiles | `settings.rs`, `/crates/control/profiles` |

mod chain;
mod error;
mod kinematics;
mod settings;
mod velocity;

pub use chain::{Chain, ChainJoint, ChainSite, Guard};
pub use error::ControlError;
pub use kinematics::{Frame, Kinematics};
pub use settings::{Gravity, Method, Settings, State, Workspace};
pub use velocity::Velocity;
