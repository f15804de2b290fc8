//! Judgement: what is held, what can be taken, what lies where it should.
//!
//! Judges are plain structs with a memory of fixed size. It is part of a snapshot, so each can
//! write it as numbers (`remember`) and come back from them bit for bit (`recall`). A judge that
//! cannot see says so; it never takes silence for success.

pub(crate) mod checks;
pub mod evidence;
pub mod grasp;
pub(crate) mod memory;
pub mod pickup;
pub mod placed;
pub mod plate;

pub use evidence::{Doubt, Evidence, GraspSample, GraspSettings, GraspVerdict};
pub use grasp::GraspDetector;
pub use pickup::{HandView, Pickup, PickupColour, PickupSettings, RedReason, assess};
pub use placed::{NotPlaced, Placed, PlacementDetector, PlacementSettings, Region, Resting};
pub use plate::{PlateSettings, PlateState, PlateWatch};
