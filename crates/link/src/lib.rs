//! Real arms. So far: the servo bus of the SO-101, its calibration, and serial ports.
//!
//! ```no_run
//! use std::path::Path;
//! use citrange_link::SerialPort;
//! use citrange_link::feetech::{Bus, BusSettings, Calibration, register};
//!
//! let port = SerialPort::open(Path::new("/dev/ttyACM0"), 1_000_000)?;
//! let mut bus = Bus::new(port, BusSettings::default());
//! let ids = bus.scan(1..=6)?;
//! let calibration = Calibration::load(Path::new("my_arm.json"))?;
//! for (name, motor) in calibration.motors().filter(|(_, motor)| ids.contains(&motor.id)) {
//!     let count = bus.read(motor.id, register::PRESENT_POSITION)?;
//!     println!("{name} {:.1} degrees", motor.degrees(count));
//! }
//! # Ok::<(), citrange_link::LinkError>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | which arm, as people write it | `address.rs`; an SO-101 from its port to a driven arm `so101.rs` |
//! | the thread that owns an arm, what it tells | `driver.rs`; an arm to it `device.rs` |
//! | an arm as a Rig | `rig.rs`; a leader arm as a Pilot `leader.rs` |
//! | serial ports, who holds one, what helps | `port.rs` |
//! | cameras | `camera.rs`; a stand-in's pictures and things `emulated.rs` |
//! | the servo bus | `feetech.rs` |
//! | what people write about an arm | `rig_file.rs` |
//! | an arm behind ROS 1 | `ros1.rs`; targets as trajectories `ros1/stream.rs` |
//! | limits, watchdogs, what stops an arm | `safety.rs` |
//! | reasons | `error.rs` |

mod address;
pub mod camera;
mod device;
mod driver;
pub mod emulated;
mod error;
pub mod feetech;
mod leader;
mod port;
mod rig;
mod rig_file;
pub mod ros1;
mod safety;
mod so101;

pub use address::RigAddress;
pub use device::{ArmDevice, JointReading};
pub use driver::{ArmDriver, ArmState, DriverCounts, DriverSettings, Reconnect};
pub use error::LinkError;
pub use leader::{Leader, LeaderPilot};
pub use port::{Port, SerialPort, serial_ports};
pub use rig::LinkRig;
pub use rig_file::RigFile;
pub use safety::{SafetyGate, SafetySettings, Timed};
pub use so101::{
    BAUD, So101Settings, calibration_folders, find_calibration, leader_calibration_folders,
    open_leader, open_so101,
};
