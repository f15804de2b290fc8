//! What is in the way: a map of voxels, and solids that are known exactly. In the world, metres.

use std::sync::Arc;

use citrange_core::shape::PosedShape;
use citrange_space::MapSnapshot;

/// Everything that a robot must not touch, but itself.
///
/// Boxes, spheres, capsules, cylinders and ellipsoids are what they are. A plane is everything
/// below it. Frustums and rings count as the cylinders around them, meshes as the boxes around
/// them: larger, never smaller.
#[derive(Clone, Debug, Default)]
pub struct Obstacles {
    /// Solids, in the world.
    pub solids: Vec<PosedShape>,
    /// Voxels, as cubes.
    pub map: Option<Arc<MapSnapshot>>,
    /// Solids that a link need not keep away from.
    pub allowed: Vec<AllowedTouch>,
}

/// A link, or a thing that is held, and a solid that it may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedTouch {
    /// Number of the link, held things behind the body's links:
    /// [`crate::PlannedArm::link`].
    pub link: usize,
    /// Number of the solid.
    pub solid: usize,
}

impl Obstacles {
    /// Solids and no map.
    #[must_use]
    pub fn of(solids: Vec<PosedShape>) -> Self {
        Self { solids, ..Self::default() }
    }
}
