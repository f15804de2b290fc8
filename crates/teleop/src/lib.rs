//! A person drives an arm: keys, the driver lock, the dead-man switch, shared control.

mod autopilot_request;
mod driver_lock;
mod key_table;
mod keys;
mod pilot;
mod shown_shapes;
pub mod telemetry;
mod terminal_driver;
mod terminal_keys;

pub use autopilot_request::{AutopilotRequest, Busy, Halt};
pub use driver_lock::{DeadmanInput, DriverLock, Order, Taken, Ticket};
pub use key_table::{Action, Binding, KEY_TABLE, key_document, orders_in_words};
pub use keys::{HeldKeys, Key, Speeds};
pub use pilot::{Teleop, Until};
pub use terminal_driver::{TerminalDriver, TerminalInput};
pub use terminal_keys::{Telling, TerminalKeys};
