//! The map over time, and the field that makes questions to it cheap.

mod bits;
mod field;
mod file;
mod passes;
mod snapshot;

pub(crate) use bits::{at_or_after, at_or_before, ones};
pub use snapshot::{CellState, MapVoxel, Snapshot};
