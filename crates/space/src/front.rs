//! From points to sums per voxel, in one sweep over the picture.
//!
//! | to change | look in |
//! |---|---|
//! | which cell a point is in, and how surely f32 knows | `transform.rs` |
//! | how a block of points becomes runs of points in one cell | `block.rs`, `block_avx512.rs` |
//! | where sums are kept, in which order voxels come out | `slots.rs`, `keyset.rs` |
//! | which points are the robot's | `self_filter.rs`, in f32 `self_filter_quick.rs`; distance of a voxel's cube to it: `gap.rs` |
//! | which voxels stay | `voxels.rs` |
//! | which points their neighbours in the picture confirm | `support.rs` |
//! | the order of it all | `sweep.rs`; the rows it looks at: `rows.rs` |
//! | what became of each point, for pictures | `fates.rs` |

mod block;
mod block_wide;
pub(crate) mod fates;
mod gap;
mod keyset;
mod rows;
pub(crate) mod self_filter;
mod self_filter_quick;
mod slots;
pub(crate) mod support;
pub(crate) mod sweep;
pub(crate) mod transform;
pub(crate) mod voxels;

pub(crate) use gap::nearer_than;
