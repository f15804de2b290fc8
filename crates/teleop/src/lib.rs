//! A person drives an arm: keys, the driver lock, the dead-man switch, shared control.
//!
//! What a page or a terminal hears of a person goes into a [`DriverLock`]; [`Teleop`], a
//! [`Pilot`](citrange_core::Pilot), reads it at every tick. Between the two lies the dead-man
//! switch: what is held counts only while its driver is heard of, and after a stop everything has
//! to be let go and pressed anew.
//!
//! ```
//! use citrange_teleop::{DriverLock, HeldKeys, Key};
//! use std::time::{Duration, Instant};
//!
//! let lock = DriverLock::new(Duration::from_millis(150));
//! let ticket = lock.take("Ann")?;
//! assert!(lock.take("Bob").is_err(), "one driver at a time");
//!
//! ticket.hold(HeldKeys::new([Key::Up], [0.0; HeldKeys::STICKS]), 1);
//! assert_eq!(lock.grip(Instant::now()).held.keys().collect::<Vec<_>>(), [Key::Up]);
//!
//! // Nothing was heard for too long: the watchdog lets go, and the arm brakes.
//! let later = lock.grip(Instant::now() + Duration::from_secs(1));
//! assert!(later.held.is_nothing() && later.brake);
//! # Ok::<(), citrange_teleop::Taken>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | which key does what, for page, terminal and `docs/keys.md` | `key_table.rs` |
//! | the motion that keys and sticks mean | `keys.rs` |
//! | who may drive, when a grip is lost | `driver_lock.rs`, `driver_lock/ticket.rs` |
//! | when an autopilot may be sent and has to let go | `autopilot_request.rs`, `driver_lock.rs` |
//! | a person as a Pilot, the soft start | `pilot.rs` |
//! | a person and an autopilot at one arm | `shared_control.rs`; what people see of it `autopilot_status.rs` |
//! | keys of a terminal, also one that tells no releases | `terminal_driver.rs`, `terminal_keys.rs` |

mod autopilot_request;
mod autopilot_status;
mod driver_lock;
mod key_table;
mod keys;
mod pilot;
mod shared_control;
mod shown_shapes;
pub mod telemetry;
mod terminal_driver;
mod terminal_keys;

pub use autopilot_request::{AutopilotRequest, Busy, Halt};
pub use driver_lock::{DeadmanInput, DriverLock, Order, Taken, Ticket};
pub use key_table::{Action, Binding, KEY_TABLE, key_document, orders_in_words};
pub use keys::{HeldKeys, Key, Speeds};
pub use pilot::{Teleop, Until};
pub use shared_control::{AutopilotWork, Progress, SharedControl, WorkDescription};
pub use terminal_driver::{TerminalDriver, TerminalInput};
pub use terminal_keys::{Telling, TerminalKeys};
