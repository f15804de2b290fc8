//! Stand-ins for hardware, for tests and for those without it. So far: the servo bus of an SO-101,
//! on a pseudo-terminal that any program opens like the real one.
//!
//! ```
//! use citrange_emulate::{Servo, ServoBus, SimpleArm, spawn_servo_bus};
//! use citrange_link::SerialPort;
//! use citrange_link::feetech::{Bus, BusSettings, register};
//!
//! let servos = (1..=6).map(|id| Servo::new(id, 2048.0)).collect();
//! let emulated = spawn_servo_bus(ServoBus::new(servos), SimpleArm)?;
//! let port = SerialPort::open(emulated.path(), 1_000_000)?;
//! let mut bus = Bus::new(port, BusSettings { retries: 3, ..BusSettings::default() });
//! assert_eq!(bus.scan(1..=8)?, [1, 2, 3, 4, 5, 6]);
//! assert_eq!(bus.read(3, register::PRESENT_POSITION)?, 2048);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | what one servo remembers and does | `servo.rs` |
//! | requests, answers, what goes wrong on the wire | `servo_bus.rs` |
//! | a whole SO-101, orders to it in words | `so101.rs` |
//! | the simulated arm behind the servos | `simulated_arm.rs` |
//! | its cameras and things | `stage.rs`; the socket on which they are asked for `stage_server.rs` |
//! | a UR on ROS: its driver, cameras, orders to it | `ur.rs` |
//! | what a trajectory controller makes of goals | `trajectory_controller.rs`; the arm behind it `driven_arm.rs` |
//! | the pseudo-terminal and its clock | `pseudo_terminal.rs` |

mod driven_arm;
mod pseudo_terminal;
mod servo;
mod servo_bus;
mod simulated_arm;
mod so101;
mod stage;
mod stage_server;
mod trajectory_controller;
mod ur;

pub use driven_arm::{DrivenArm, Extremes};
pub use pseudo_terminal::{Arm, EmulatedBus, SimpleArm, spawn_servo_bus};
pub use servo::{Drive, FASTEST_COUNTS_S, Servo, Shaft};
pub use servo_bus::{PositionLog, ServoBus, WireFaults};
pub use simulated_arm::SimulatedArm;
pub use so101::{Assembly, EmulatedSo101, ORDERS, model_calibration};
pub use stage::CameraFault;
pub use trajectory_controller::{Desired, Ended, GoalPoint, Tolerances, TrajectoryController};
pub use ur::{EmulatedUr, UR_ORDERS, UrOptions};
