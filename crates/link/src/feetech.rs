//! The bus of Feetech's serial servos (STS3215), as in the SO-101: written by us, from its manual.
//!
//! | to change | look in |
//! |---|---|
//! | bytes of a packet | `packet.rs` |
//! | what a servo remembers | `register.rs` |
//! | what it says is wrong | `faults.rs` |
//! | requests, answers, retries | `bus.rs` |
//! | LeRobot's calibration file and units | `calibration.rs` |
//! | ids of factory servos, calibrating | `setup.rs` |
//! | an arm of servos: connecting, cycle, letting go | `arm.rs` |

mod arm;
mod bus;
mod calibration;
mod faults;
pub mod packet;
pub mod register;
mod setup;

pub use arm::{ServoArm, ServoJoint, ServoSettings};
pub use bus::{Answer, Bus, BusCounts, BusSettings};
pub use calibration::{Calibration, MotorCalibration};
pub use faults::Faults;
pub use setup::{BAUDS, Calibrator, Swept, give_id, lock};
