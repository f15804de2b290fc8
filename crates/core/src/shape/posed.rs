//! Shapes somewhere.

use nalgebra::{Isometry3, Point3, Vector3};

use super::Shape;
use crate::pose::Pose;

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

/// A shape of a robot's link, somewhere in the world: what self filters take away.
#[derive(Clone, Debug, PartialEq)]
pub struct PosedLinkShape {
    /// Number of the robot's link that it belongs to.
    pub link: u16,
    /// Pose in the world.
    pub world_from_shape: Isometry3<f64>,
    /// Shape and size.
    pub shape: Shape,
}

impl PosedLinkShape {
    /// A shape of a link at a pose.
    #[must_use]
    pub fn new(link: u16, world_from_shape: &Pose, shape: &Shape) -> Self {
        Self { link, world_from_shape: world_from_shape.isometry(), shape: shape.clone() }
    }

    /// A capsule between two points of the world; a sphere if they are the same.
    #[must_use]
    pub fn capsule(link: u16, from_m: [f64; 3], to_m: [f64; 3], radius_m: f64) -> Self {
        let length_m = (Vector3::from(to_m) - Vector3::from(from_m)).norm();
        Self {
            link,
            world_from_shape: crate::pose::between(from_m, to_m),
            shape: Shape::Capsule { radius_m, half_height_m: length_m / 2.0 },
        }
    }

    /// Distance of a point of the world to the solid; 0 inside.
    #[must_use]
    pub fn distance_m(&self, point_m: [f64; 3]) -> f64 {
        let p = self.world_from_shape.inverse_transform_point(&Point3::from(point_m));
        self.shape.distance_m(p.coords.into())
    }

    /// Corners of an axis-aligned box in the world around everything within `margin_m` of it.
    #[must_use]
    pub fn bounds_m(&self, margin_m: f64) -> [[f64; 3]; 2] {
        let rotation = self.world_from_shape.rotation.to_rotation_matrix();
        let half = self.shape.reach_m();
        let at = self.world_from_shape.translation.vector;
        let reach: [f64; 3] = std::array::from_fn(|row| {
            margin_m + (0..3).map(|col| rotation[(row, col)].abs() * half[col]).sum::<f64>()
        });
        [std::array::from_fn(|a| at[a] - reach[a]), std::array::from_fn(|a| at[a] + reach[a])]
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
    fn capsules_go_from_point_to_point() {
        for to in [[0.3, -0.4, 1.2], [0.0, 0.0, -2.0], [0.1, 0.2, 0.3]] {
            let from = [0.1, 0.2, 0.3];
            let posed = PosedShape::capsule(from, to, 0.05);
            let Shape::Capsule { half_height_m, .. } = posed.shape else { unreachable!() };
            let at = posed.pose.isometry();
            for (end, want) in [(-half_height_m, from), (half_height_m, to)] {
                let found = at * Point3::new(0.0, 0.0, end);
                assert!((0..3).all(|a| (found[a] - want[a]).abs() < 1e-12), "{to:?}");
            }
        }
    }

    #[test]
    fn distances_are_those_in_the_world() {
        let shape = PosedLinkShape::capsule(0, [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], 0.1);
        assert!((shape.distance_m([0.3, 0.0, 0.5]) - 0.2).abs() < 1e-12);
        assert!((shape.distance_m([0.0, 0.0, 1.4]) - 0.3).abs() < 1e-12);
        assert_eq!(shape.distance_m([0.05, 0.0, 0.5]), 0.0);
        let tilted = PosedLinkShape::capsule(0, [0.0; 3], [1.0, 0.0, 0.0], 0.1);
        assert!((tilted.distance_m([0.5, 0.0, 0.5]) - 0.4).abs() < 1e-12);
        assert!((tilted.bounds_m(0.1)[1][0] - 1.2).abs() < 1e-12);
    }
}
