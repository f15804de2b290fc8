//! Where clouds come from: messages, depth pictures and files.
//!
//! Everything is checked once and refused with the place and the reason; what was accepted can be
//! read without errors. Sizes that a message or file claims are held against the bytes that are
//! there before memory is taken for them.

mod contents;
mod depth;
mod files;
mod layout;
mod lzf;
mod message;
mod npy;
mod npz;
mod organised;
mod pcd;
mod ply;
mod ply_header;
mod pointcloud2;
mod scalar;
mod sidecar;
mod split;
mod wire;

pub use depth::{DepthImage, DepthView, Depths};
pub use files::{CloudFile, read_cloud, write_cloud};
pub use message::{PointCloud2Message, message_of, pack_xyz_rgb};
pub use npz::{NpzArray, write_npz};
pub use pointcloud2::{PointCloud2, PointCloud2View, PointField};
pub use sidecar::Sidecar;
