//! What is where: a camera frame becomes voxels, voxels become a map over time, the map answers.
//!
//! | to change | look in |
//! |---|---|
//! | what a cloud is; files and messages | `cloud.rs`, `sources/`; a simulated depth sensor `sensor.rs` |
//! | where voxels are | `grid.rs` |
//! | how a frame becomes voxels | `pipeline.rs`, `front/`; numbers `settings.rs`; result `frame.rs` |
//! | statistical outliers | `outliers/` |
//! | groups of voxels | `clusters.rs` |
//! | the robot: solids, spheres, pairs, clearance | `solid.rs`, `body/` |
//! | the map over time | `map/` |
//! | questions to the map | `query/` |
//! | camera poses and their drift | `calibrate/` |
//!
//! World frame, metres, seconds. Cameras look along +z, x right, y down.

mod cloud;
mod error;
mod frame;
mod grid;
mod map;
mod query;
mod settings;
mod simd;
mod solid;

pub use cloud::{Cloud, Pinhole, Points, View};
pub use error::SpaceError;
pub use frame::{Counts, Fate, Stage, Voxel, VoxelFrame};
pub use grid::Grid;
pub use map::{
    Carving, CellState, Layer, Layered, LayeredMap, Map, MapReport, MapSettings, MapVoxel,
    Snapshot, Track, TrackSettings,
};
pub use query::{NO_VOXEL, Nearest, RayBatch};
pub use settings::{
    Clusters, EndEffectorSpheres, OutlierMode, Outliers, SelfFilter, Settings, Support, Workspace,
};
pub use simd::Isa;
pub use solid::{Form, Solid};
