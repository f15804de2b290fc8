//! A person drives an arm: keys, the driver lock, the dead-man switch, shared control.

mod autopilot_request;
mod driver_lock;
mod keys;
mod pilot;
pub mod telemetry;
mod terminal_keys;

pub use autopilot_request::{AutopilotRequest, Busy, Halt};
pub use driver_lock::{DeadmanInput, DriverLock, Order, Taken, Ticket};
pub use keys::{HeldKeys, Key, Speeds};
pub use pilot::{Teleop, Until};
pub use terminal_keys::{Sender, Telling, TerminalKeys};
