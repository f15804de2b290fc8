//! The shapes that everything is made of: scenes, pictures, pages, robots, obstacles.
//!
//! One [`Shape`] is shape and size in its own frame, one [`PosedShape`] says where it is in
//! another.

mod mesh;
mod part;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use mesh::{Mesh, MeshError};
pub use part::{Footprint, Part};

use crate::pose::Pose;

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
            Self::Cylinder { radius_m, half_height_m }
            | Self::Frustum { radius_m, half_height_m, .. } => [radius_m, radius_m, half_height_m],
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

/// A shape somewhere: in the world, in a link, in a body, as the place where it is kept says.
#[derive(Clone, Debug, PartialEq)]
pub struct PosedShape {
    /// Pose of the shape's own frame.
    pub pose: Pose,
    /// Shape and size.
    pub shape: Shape,
}

impl PosedShape {
    /// A shape at a pose.
    #[must_use]
    pub fn new(pose: Pose, shape: Shape) -> Self {
        Self { pose, shape }
    }

    /// A sphere.
    #[must_use]
    pub fn sphere(centre_m: [f64; 3], radius_m: f64) -> Self {
        let pose = Pose { pos_m: centre_m, ..Pose::IDENTITY };
        Self { pose, shape: Shape::Sphere { radius_m } }
    }

    /// A box.
    #[must_use]
    pub fn cuboid(centre_m: [f64; 3], quat_wxyz: [f64; 4], half_m: [f64; 3]) -> Self {
        Self { pose: Pose { pos_m: centre_m, quat_wxyz }, shape: Shape::Box { half_m } }
    }

    /// A cylinder.
    #[must_use]
    pub fn cylinder(pose: Pose, radius_m: f64, half_height_m: f64) -> Self {
        Self { pose, shape: Shape::Cylinder { radius_m, half_height_m } }
    }

    /// A capsule between two points; a sphere if they are the same.
    #[must_use]
    pub fn capsule(from_m: [f64; 3], to_m: [f64; 3], radius_m: f64) -> Self {
        let pose = crate::pose::between(from_m, to_m).into();
        let half_height_m = (0..3).map(|a| (to_m[a] - from_m[a]).powi(2)).sum::<f64>().sqrt() / 2.0;
        Self { pose, shape: Shape::Capsule { radius_m, half_height_m } }
    }
}

/// A visible shape and the body that it moves with: what viewers are told.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownShape {
    /// Index of the body.
    pub body: usize,
    /// What it is, and where in the body.
    pub posed: PosedShape,
    /// Red, green, blue, alpha from 0 to 1.
    pub rgba: [f32; 4],
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
    fn capsules_go_from_point_to_point() {
        for to in [[0.3, -0.4, 1.2], [0.0, 0.0, -2.0], [0.1, 0.2, 0.3]] {
            let from = [0.1, 0.2, 0.3];
            let posed = PosedShape::capsule(from, to, 0.05);
            let Shape::Capsule { half_height_m, .. } = posed.shape else { unreachable!() };
            let at = posed.pose.isometry();
            for (end, want) in [(-half_height_m, from), (half_height_m, to)] {
                let found = at * nalgebra::Point3::new(0.0, 0.0, end);
                assert!((0..3).all(|a| (found[a] - want[a]).abs() < 1e-12), "{to:?}");
            }
        }
    }

    #[test]
    fn scene_files_know_no_planes_and_meshes() {
        let read: Result<Shape, _> = crate::yaml::from_yaml("{plane: {half_m: [1, 1]}}", "p");
        assert!(read.is_err());
    }
}
