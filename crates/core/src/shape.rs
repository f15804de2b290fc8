//! The shapes that everything is made of: scenes, pictures, pages, robots, obstacles.
//!
//! One [`Shape`] is shape and size in its own frame, one [`PosedShape`] says where it is in
//! another. There is no second set: kernels pack a shape as they need it and keep that private.

mod hull;
mod mesh;
mod part;
mod posed;
mod surface;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use hull::{Hull, HullPlane};
pub use mesh::{Mesh, MeshError};
pub use part::{Footprint, Part};
pub use posed::{PosedLinkShape, PosedShape, ShownShape};

/// Shape and size. Axes of revolution are Z; the origin is the middle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A box.
    Box {
        /// Half of its edges.
        half_m: [f64; 3],
    },
    /// A sphere.
    Sphere {
        /// Its radius.
        radius_m: f64,
    },
    /// A closed cylinder.
    Cylinder {
        /// Its radius.
        radius_m: f64,
        /// Half of its height.
        half_height_m: f64,
    },
    /// All points within a radius of a straight line.
    Capsule {
        /// The radius.
        radius_m: f64,
        /// Half of the line: round ends come on top of it.
        half_height_m: f64,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Radii along X, Y and Z.
        radii_m: [f64; 3],
    },
    /// A cone with its tip cut off; wide end below.
    Frustum {
        /// Radius of the wide end.
        radius_m: f64,
        /// Radius of the other.
        top_radius_m: f64,
        /// Half of its height.
        half_height_m: f64,
    },
    /// A horizontal ring of round bar, such as the rim of a plate.
    Ring {
        /// From the middle to the middle of the bar.
        radius_m: f64,
        /// Radius of the bar.
        bar_radius_m: f64,
    },
    /// The XY plane; everything below it is solid. Scene files write it as the floor's height.
    #[serde(skip)]
    Plane {
        /// Half extents along X and Y; `None` reaches to the horizon.
        half_m: [Option<f64>; 2],
    },
    /// Triangles. Scene files name a model's file instead.
    #[serde(skip)]
    Mesh(Arc<Mesh>),
}

/// How many straight pieces make a [`Shape::Ring`], and sides a [`Shape::Frustum`].
pub const RING_SEGMENTS: usize = 24;

impl Shape {
    /// For people: `box`, `sphere`, …
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Box { .. } => "box",
            Self::Sphere { .. } => "sphere",
            Self::Cylinder { .. } => "cylinder",
            Self::Capsule { .. } => "capsule",
            Self::Ellipsoid { .. } => "ellipsoid",
            Self::Frustum { .. } => "frustum",
            Self::Ring { .. } => "ring",
            Self::Plane { .. } => "plane",
            Self::Mesh(_) => "mesh",
        }
    }

    /// All lengths that it is given by; none for a mesh, the finite ones of a plane.
    pub fn sizes_m(&self) -> impl Iterator<Item = f64> + use<> {
        let sizes = match *self {
            Self::Box { half_m } => half_m.map(Some),
            Self::Sphere { radius_m } => [Some(radius_m), None, None],
            Self::Cylinder { radius_m, half_height_m }
            | Self::Capsule { radius_m, half_height_m } => {
                [Some(radius_m), Some(half_height_m), None]
            }
            Self::Ellipsoid { radii_m } => radii_m.map(Some),
            Self::Frustum { radius_m, top_radius_m, half_height_m } => {
                [radius_m, top_radius_m, half_height_m].map(Some)
            }
            Self::Ring { radius_m, bar_radius_m } => [Some(radius_m), Some(bar_radius_m), None],
            Self::Plane { half_m: [x, y] } => [x, y, None],
            Self::Mesh(_) => [None; 3],
        };
        sizes.into_iter().flatten()
    }

    /// Centre and half extents of the box around it, in its own frame; `None` for what has no
    /// end.
    #[must_use]
    pub fn bounds_m(&self) -> Option<([f64; 3], [f64; 3])> {
        let half_m = match *self {
            Self::Box { half_m } => half_m,
            Self::Sphere { radius_m } => [radius_m; 3],
            Self::Cylinder { radius_m, half_height_m } => [radius_m, radius_m, half_height_m],
            Self::Frustum { radius_m, top_radius_m, half_height_m } => {
                let radius_m = radius_m.max(top_radius_m);
                [radius_m, radius_m, half_height_m]
            }
            Self::Capsule { radius_m, half_height_m } => {
                [radius_m, radius_m, half_height_m + radius_m]
            }
            Self::Ellipsoid { radii_m } => radii_m,
            Self::Ring { radius_m, bar_radius_m } => {
                [radius_m + bar_radius_m, radius_m + bar_radius_m, bar_radius_m]
            }
            Self::Plane { half_m: [x, y] } => [x?, y?, 0.0],
            Self::Mesh(ref mesh) => return Some(mesh.bounds_m()),
        };
        Some(([0.0; 3], half_m))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_around_shapes_hold_them() {
        let capsule = Shape::Capsule { radius_m: 0.1, half_height_m: 0.2 };
        assert_eq!(capsule.bounds_m(), Some(([0.0; 3], [0.1, 0.1, 0.2 + 0.1])));
        assert_eq!(Shape::Plane { half_m: [Some(1.0), None] }.bounds_m(), None);
        let mesh = Mesh::new(vec![[0.0; 3], [2.0, 0.0, 0.0], [0.0, 4.0, 0.0]], vec![[0, 1, 2]]);
        let mesh = Shape::Mesh(Arc::new(mesh.unwrap()));
        assert_eq!(mesh.bounds_m(), Some(([1.0, 2.0, 0.0], [1.0, 2.0, 0.0])));
    }

    #[test]
    fn scene_files_know_no_planes_and_meshes() {
        let read: Result<Shape, _> = crate::yaml::from_yaml("{plane: {half_m: [1, 1]}}", "p");
        assert!(read.is_err());
    }
}
