//! Questions to a snapshot: how far, what does a ray hit, does a shape touch anything.

mod capsule;
mod nearest;
mod rays;
mod rays_wide;
mod spheres;

pub use nearest::Nearest;
pub use rays::{NO_VOXEL, RayBatch};

use crate::error::SpaceError;

/// Batches and their answers must be equally long.
pub(crate) fn same_length(what: &str, found: usize, expected: usize) -> Result<(), SpaceError> {
    if found == expected {
        return Ok(());
    }
    Err(SpaceError::bad(what, format!("{found} places for {expected} questions")))
}
