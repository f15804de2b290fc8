//! The map over time, and the field that makes questions to it cheap.

mod bits;
mod carve;
mod carve_rays;
mod cells;
mod depth;
mod export;
mod field;
mod file;
mod layered;
mod leaves;
mod leaves_wide;
mod lens;
mod motion;
mod passes;
mod recheck;
mod settings;
mod snapshot;
mod tracks;
mod unknown;
mod virtual_picture;
mod windows;
mod writer;

pub(crate) use bits::{at_or_after, at_or_before, ones};
pub use layered::{LayeredMap, LayeredSnapshot, MapLayer};
pub use motion::MotionWatch;
pub use settings::{MapSettings, TrackSettings};
pub use snapshot::{CellState, MapSnapshot, MapVoxel};
pub use tracks::Track;
pub use unknown::UnknownCells;
pub use writer::{Carving, Map, MapReport};
