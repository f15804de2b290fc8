//! Arms under control: what a person or program asks for becomes joint targets.
//!
//! | to change | look in |
//! |---|---|
//! | what can be asked for | `velocity.rs`; keys and sticks: `keys.rs` |
//! | who may drive, and when a grip is lost | `seat.rs` |

mod keys;
mod seat;
mod velocity;

pub use keys::{Held, Key, Speeds};
pub use seat::{Grip, Order, Seat, Taken, Ticket};
pub use velocity::Velocity;
