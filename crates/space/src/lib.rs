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

mod body;
pub mod calibrate;
mod cell;
mod cloud;
mod clusters;
mod error;
mod files;
mod frame;
mod front;
mod grid;
mod map;
mod outliers;
mod pipeline;
mod query;
mod sensor;
mod settings;
mod simd;
mod solid;
mod sources;

pub use body::{
    Body, BodySettings, Checker, Clearance, CollisionSettings, Configs, JointHistory, Sphere,
};
pub use cell::{Cell, CellCamera, CellRobot};
pub use cloud::{Cloud, Pinhole, Points, View};
pub use error::SpaceError;
pub use frame::{Counts, Fate, Stage, Voxel, VoxelFrame};
pub use front::own::Robot;
pub use grid::Grid;
pub use map::{
    Carving, CellState, Layer, Layered, LayeredMap, Map, MapReport, MapSettings, MapVoxel,
    Snapshot, Track, TrackSettings,
};
pub use outliers::{OutlierScratch, PictureXyz};
pub use pipeline::Pipeline;
pub use query::{NO_VOXEL, Nearest, RayBatch};
pub use sensor::Sensor;
pub use settings::{
    Clusters, EndEffectorSpheres, OutlierMode, Outliers, SelfFilter, Settings, Support, Workspace,
};
pub use simd::Isa;
pub use solid::{Form, Solid};
pub use sources::{
    CloudFile, DepthImage, DepthView, Depths, NpzArray, PointCloud2, PointCloud2Message,
    PointCloud2View, PointField, Sidecar, message_of, pack_xyz_rgb, read_cloud, write_cloud,
    write_npz,
};
