//! Parts of a robot in the world: what the self filter takes away.

use nalgebra::{Isometry3, Point3};

use crate::Pose;
use crate::shape::Shape;

/// A convex part of a robot, somewhere in the world.
///
/// Boxes, capsules and spheres are a box with rounded corners; cylinders are turned in two
/// dimensions. Distances of these are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// Number of the robot's link that it belongs to.
    pub link: u16,
    /// Pose in the world.
    pub world_from_solid: Isometry3<f64>,
    /// Its form.
    pub form: Form,
}

/// Forms with a distance in closed form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// All points within `radius_m` of a box with these half extents (which may be 0).
    RoundedBox {
        /// Half extents of the inner box.
        half_m: [f64; 3],
        /// How far the surface is from it.
        radius_m: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Its radius.
        radius_m: f64,
        /// Half of its height.
        half_height_m: f64,
    },
}

impl Form {
    /// The form of a shape, or of the smallest form around it where there is no exact one
    /// (ellipsoid, frustum, ring, mesh).
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        match *shape {
            Shape::Box { half_m } => Self::RoundedBox { half_m, radius_m: 0.0 },
            Shape::Sphere { radius_m } => Self::RoundedBox { half_m: [0.0; 3], radius_m },
            Shape::Capsule { radius_m, half_height_m } => {
                Self::RoundedBox { half_m: [0.0, 0.0, half_height_m], radius_m }
            }
            Shape::Cylinder { radius_m, half_height_m } => {
                Self::Cylinder { radius_m, half_height_m }
            }
            Shape::Ellipsoid { radii_m } => Self::RoundedBox { half_m: radii_m, radius_m: 0.0 },
            Shape::Frustum { radius_m, top_radius_m, half_height_m } => {
                Self::Cylinder { radius_m: radius_m.max(top_radius_m), half_height_m }
            }
            Shape::Ring { radius_m, bar_radius_m } => {
                Self::Cylinder { radius_m: radius_m + bar_radius_m, half_height_m: bar_radius_m }
            }
            // The box around it whose middle is the shape's origin.
            Shape::Mesh(ref mesh) => {
                let (centre_m, half_m) = mesh.bounds_m();
                let half_m = std::array::from_fn(|a| centre_m[a].abs() + half_m[a]);
                Self::RoundedBox { half_m, radius_m: 0.0 }
            }
            Shape::Plane { half_m: [x, y] } => {
                let half_m = [x.unwrap_or(f64::MAX), y.unwrap_or(f64::MAX), 0.0];
                Self::RoundedBox { half_m, radius_m: 0.0 }
            }
        }
    }

    /// Half extents of the box around it, in its own frame.
    #[must_use]
    pub fn half_extents_m(&self) -> [f64; 3] {
        match *self {
            Self::RoundedBox { half_m, radius_m } => half_m.map(|h| h + radius_m),
            Self::Cylinder { radius_m, half_height_m } => [radius_m, radius_m, half_height_m],
        }
    }

    /// Distance of a point in the form's own frame to its surface; 0 inside.
    #[must_use]
    pub fn distance_m(&self, p: [f64; 3]) -> f64 {
        match *self {
            Self::RoundedBox { half_m, radius_m } => {
                let out: [f64; 3] = std::array::from_fn(|a| (p[a].abs() - half_m[a]).max(0.0));
                ((out[0] * out[0] + out[1] * out[1] + out[2] * out[2]).sqrt() - radius_m).max(0.0)
            }
            Self::Cylinder { radius_m, half_height_m } => {
                let across = (p[0].hypot(p[1]) - radius_m).max(0.0);
                across.hypot((p[2].abs() - half_height_m).max(0.0))
            }
        }
    }
}

impl Solid {
    /// A shape of a link at a pose.
    #[must_use]
    pub fn new(link: u16, world_from_solid: &Pose, shape: &Shape) -> Self {
        Self { link, world_from_solid: world_from_solid.isometry(), form: Form::of(shape) }
    }

    /// A capsule between two points of the world; a sphere if they are the same.
    #[must_use]
    pub fn capsule(link: u16, from_m: [f64; 3], to_m: [f64; 3], radius_m: f64) -> Self {
        let length_m = (nalgebra::Vector3::from(to_m) - nalgebra::Vector3::from(from_m)).norm();
        Self {
            link,
            world_from_solid: crate::pose::between(from_m, to_m),
            form: Form::RoundedBox { half_m: [0.0, 0.0, length_m / 2.0], radius_m },
        }
    }

    /// Distance of a point of the world to the surface; 0 inside.
    #[must_use]
    pub fn distance_m(&self, point_m: [f64; 3]) -> f64 {
        let p = self.world_from_solid.inverse_transform_point(&Point3::from(point_m));
        self.form.distance_m(p.coords.into())
    }

    /// Corners of the axis-aligned box in the world around everything within `margin_m` of it.
    #[must_use]
    pub fn bounds_m(&self, margin_m: f64) -> [[f64; 3]; 2] {
        let turn = self.world_from_solid.rotation.to_rotation_matrix();
        let half = self.form.half_extents_m();
        let at = self.world_from_solid.translation.vector;
        let reach: [f64; 3] = std::array::from_fn(|row| {
            margin_m + (0..3).map(|col| turn[(row, col)].abs() * half[col]).sum::<f64>()
        });
        [std::array::from_fn(|a| at[a] - reach[a]), std::array::from_fn(|a| at[a] + reach[a])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capsule_distances_are_those_of_its_segment() {
        let solid = Solid::capsule(0, [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], 0.1);
        assert!((solid.distance_m([0.3, 0.0, 0.5]) - 0.2).abs() < 1e-12);
        assert!((solid.distance_m([0.0, 0.0, 1.4]) - 0.3).abs() < 1e-12);
        assert_eq!(solid.distance_m([0.05, 0.0, 0.5]), 0.0);
        let tilted = Solid::capsule(0, [0.0; 3], [1.0, 0.0, 0.0], 0.1);
        assert!((tilted.distance_m([0.5, 0.0, 0.5]) - 0.4).abs() < 1e-12);
        assert!((tilted.bounds_m(0.1)[1][0] - 1.2).abs() < 1e-12);
    }

    #[test]
    fn cylinder_edges_are_sharp() {
        let form = Form::of(&Shape::Cylinder { radius_m: 1.0, half_height_m: 1.0 });
        assert!((form.distance_m([4.0, 0.0, 5.0]) - 5.0).abs() < 1e-12);
    }
}
