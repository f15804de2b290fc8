//! Point clouds and depth pictures: what they are, where they come from, where they were taken.
//!
//! Everything is checked once and refused with the place and the reason; what was accepted can be
//! read without errors. Sizes that a message or file claims are held against the bytes that are
//! there before memory is taken for them.
//!
//! ```
//! use citrange_cloud::{DepthImage, Depths, Pinhole, Points as _};
//!
//! let depth_m = vec![0.5_f32; 64 * 48];
//! let image = DepthImage {
//!     width: 64,
//!     height: 48,
//!     depths: Depths::Metres(&depth_m),
//!     pinhole: Pinhole { fx: 60.0, fy: 60.0, cx: 31.5, cy: 23.5 },
//!     rgb: None,
//!     range_m: None,
//!     stamp_ns: 1_000_000,
//! };
//! let points = image.points()?; // borrows the depths: points are made when they are read
//! let (mut x, mut y, mut z) = ([0.0], [0.0], [0.0]);
//! points.fill(0, &mut x, &mut y, &mut z);
//! assert!((x[0] + 31.5 / 120.0).abs() < 1e-6 && (y[0] + 23.5 / 120.0).abs() < 1e-6);
//! assert_eq!(z[0], 0.5);
//! # Ok::<(), citrange_cloud::CloudError>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | what a cloud is, organised or not | `cloud.rs`; whether a list of points is a picture `organised.rs` |
//! | points back into their pixels | `pixel_order.rs`; the pinhole of points alone `pixel_lattice.rs`; bent rays `distortion.rs` |
//! | depth pictures | `depth.rs` |
//! | messages of ROS | `wire.rs`, `messages/`, `message.rs`, `pointcloud2.rs`, `layout.rs`, `split.rs` |
//! | bags and MCAP files, MCAP written | `recording.rs`, `recording/`; clouds in them `recorded_cloud.rs` |
//! | files | `files.rs`: `npy.rs`, `npz.rs`, `pcd.rs`, `ply.rs`, depth pictures `depth_file.rs`; must survive `examples/fuzz_clouds.rs` |
//! | what stands beside a file | `sidecar.rs` |
//! | where a camera stands, as people write it | `camera_pose.rs`, `camera_pose_file.rs` |
//!
//! Cameras look along +z, x right, y down; metres. A pixel's centre is at whole numbers.

mod camera_pose;
mod camera_pose_file;
mod cell_robot;
mod cloud;
mod contents;
mod deinterleave;
mod depth;
mod depth_file;
mod distortion;
mod error;
mod files;
mod layout;
mod line;
mod lzf;
mod message;
mod messages;
mod npy;
mod npz;
mod organised;
mod pcd;
mod pixel_lattice;
mod pixel_order;
mod ply;
mod ply_header;
mod pointcloud2;
mod recorded_cloud;
mod recording;
mod scalar;
mod sidecar;
mod split;
mod whole_file;
mod wire;
mod workspace;

pub use camera_pose::{Adjust, Axis, CameraPose, Step};
pub use cell_robot::CellRobot;
pub use citrange_lanes::Isa;
pub use cloud::{Cloud, Pinhole, Points, View};
pub use depth::{DepthImage, DepthView, Depths};
pub use distortion::Distortion;
pub use error::CloudError;
pub use files::{CloudFile, read_cloud, write_cloud};
pub use line::LineFit;
pub use message::{PointCloud2Message, message_of, pack_xyz_rgb};
pub use messages::{
    CameraInfo, CompressedImage, ImageMessage, JointState, MessageEncoding, MessageHeader,
    RosMessage, StampedTransform, TransformMessage, ros1_definition, ros2_definition,
};
pub use npz::{NpzArray, write_npz};
pub use pixel_order::{
    CameraModel, NO_PIXEL, PlacedPoints, Placement, PointOrder, put_into_pixels,
};
pub use pointcloud2::{PointCloud2, PointCloud2View, PointField};
pub use recorded_cloud::{RecordedCloud, carries_clouds};
pub use recording::{
    Channel, Compression, McapSettings, McapWriter, RecordedBytes, RecordedMessage, RecordedTopic,
    Recording, RecordingKind, RecordingSummary,
};
pub use sidecar::Sidecar;
pub use whole_file::write_whole;
pub use wire::{WireFormat, WireReader, WireWriter};
pub use workspace::Workspace;
