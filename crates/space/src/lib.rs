//! What is where: a camera frame becomes voxels, voxels become a map over time, the map answers.
//!
//! ```
//! use citrange_core::Pose;
//! use citrange_cloud::{Cloud, View};
//! use citrange_core::shape::PosedLinkShape;
//! use citrange_space::{Map, MapSettings, Pipeline, PosedRobot, PipelineSettings};
//!
//! // A wall 0.52 m in front of a camera that looks along the world's z.
//! let xyz_m: Vec<[f32; 3]> = (0..64 * 48)
//!     .map(|i| [(i % 64) as f32 * 0.01 - 0.32, (i / 64) as f32 * 0.01 - 0.24, 0.52])
//!     .collect();
//! let cloud = Cloud::new(xyz_m, Vec::new(), 64, 1_000_000)?;
//! let view = View::new(Pose::IDENTITY, None);
//! // The robot is a sphere that covers a part of it.
//! let shapes = [PosedLinkShape::capsule(0, [0.0, 0.0, 0.5], [0.0, 0.0, 0.5], 0.1)];
//!
//! let mut pipeline = Pipeline::new(PipelineSettings::default())?;
//! let robot = PosedRobot { shapes: &shapes, ..PosedRobot::default() };
//! let frame = pipeline.run(&cloud, &view.world_from_camera, &robot)?;
//! assert!(frame.voxels.len() > 50);
//!
//! let mut map = Map::new(&MapSettings::default(), &frame.grid)?;
//! map.integrate(0, &cloud, &view, frame)?;
//! let snapshot = map.snapshot(); // Send + Sync: give it to the planner
//! assert!((snapshot.distance([0.25, 0.0, 0.3]).distance_m - 0.2).abs() < 1e-9);
//! assert!(snapshot.sphere_hit([0.25, 0.0, 0.45], 0.06));
//! # Ok::<(), citrange_space::SpaceError>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | a cell as people write it | `cell.rs`; frames on disk of a cell `cell_frames.rs` |
//! | where voxels are | `grid.rs` |
//! | how a frame becomes voxels | `pipeline.rs`, `front/`; numbers `settings.rs`; result `frame.rs`, as a picture `frame_picture.rs`, as files `save_frame.rs`; many frames, with times `frame_runner.rs` |
//! | statistical outliers | `outliers/` |
//! | groups of voxels | `clusters.rs` |
//! | how far a robot is from the map | `clearance.rs`; the robot itself is the crate `robot` |
//! | the map over time, its field, its file | `map/` |
//! | questions to the map | `query/` |
//!
//! Clouds come from the crate `cloud`, camera poses from `calibrate`. World frame, metres, seconds. Cameras look along +z, x right, y down. Kernels come in versions
//! for several instruction sets ([`Isa`]) that give the same answers.

mod cell;
mod cell_frames;
mod clearance;
mod clusters;
mod error;
mod frame;
mod frame_picture;
mod frame_runner;
mod front;
mod grid;
mod map;
mod mapper;
mod outliers;
mod pipeline;
mod query;
mod save_frame;
mod settings;

pub use cell::{Cell, CellCamera};
pub use cell_frames::{CellBody, CellFrame, CellFrames};
pub use citrange_lanes::Isa;
pub use clearance::{Checker, Clearance, CollisionSettings};
pub use error::SpaceError;
pub use frame::{Counts, Fate, FrameWarning, PipelineStage, Voxel, VoxelFrame};
pub use frame_picture::FramePicture;
pub use frame_runner::{FrameReport, FrameRunner, RunnerSettings};
pub use front::self_filter::PosedRobot;
pub use grid::Grid;
pub use map::{
    Carving, CellState, LayeredMap, LayeredSnapshot, Map, MapLayer, MapReport, MapSettings,
    MapSnapshot, MapVoxel, MotionWatch, Track, TrackSettings, UnknownCells,
};
pub use mapper::Mapper;
pub use outliers::{OutlierScratch, PictureXyz};
pub use pipeline::Pipeline;
pub use query::{NO_VOXEL, Nearest, RayBatch};
pub use save_frame::save_frame;
pub use settings::{
    Clusters, EndEffectorSpheres, OutlierMode, Outliers, PipelineSettings, SelfFilter, Support,
};
