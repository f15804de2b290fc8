//! Signed distances to a robot's shapes: below 0 inside, with the direction that leads out.

use nalgebra::{Isometry3, Point3, Vector3};

use citrange_core::shape::{PosedLinkShape, Shape};

/// A shape whose pose was inverted once, for many points.
pub(super) struct Surface {
    shape_from_world: Isometry3<f64>,
    world_from_shape: Isometry3<f64>,
    /// All of the shape is within this distance of its centre.
    radius_m: f64,
    shape: Shape,
}

impl Surface {
    pub(super) fn of(part: &PosedLinkShape) -> Self {
        let world_from_shape = part.world_from_shape;
        let shape_from_world = world_from_shape.inverse();
        let radius_m = Vector3::from(part.shape.reach_m()).norm();
        Self { shape_from_world, world_from_shape, radius_m, shape: part.shape.clone() }
    }

    /// Whether a point of the world is certainly farther away than this.
    fn is_beyond(&self, point: &Vector3<f64>, distance_m: f64) -> bool {
        let reach_m = (self.radius_m + distance_m).max(0.0);
        (point - self.world_from_shape.translation.vector).norm_squared() > reach_m * reach_m
    }

    /// Signed distance of a point of the world.
    pub(super) fn distance_m(&self, point: &Vector3<f64>) -> f64 {
        let p = self.shape_from_world * Point3::from(*point);
        self.shape.signed_m(p.coords.into()).0
    }

    /// The direction in the world that leads out fastest, unit length.
    pub(super) fn normal(&self, point: &Vector3<f64>) -> Vector3<f64> {
        let p = self.shape_from_world * Point3::from(*point);
        self.world_from_shape.rotation * Vector3::from(self.shape.signed_m(p.coords.into()).1)
    }
}

/// Signed distance of a point of the world to the nearest surface, and which that is.
pub(super) fn nearest<'a>(
    surfaces: &'a [Surface],
    point: &Vector3<f64>,
) -> Option<(f64, &'a Surface)> {
    let mut best: Option<(f64, &Surface)> = None;
    for surface in surfaces {
        if best.is_some_and(|(least_m, _)| surface.is_beyond(point, least_m)) {
            continue;
        }
        let distance_m = surface.distance_m(point);
        if best.is_none_or(|(least_m, _)| distance_m < least_m) {
            best = Some((distance_m, surface));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use citrange_core::Pose;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What is passed over unseen is never the nearest.
        #[test]
        fn the_nearest_is_the_nearest_of_all(
            p in prop::array::uniform3(-1.0_f64..1.0),
            ends in prop::collection::vec(prop::array::uniform6(-1.0_f64..1.0), 1..6),
            radius_m in 0.01_f64..0.5,
        ) {
            let capsule = |e: &[f64; 6]| {
                Surface::of(&PosedLinkShape::capsule(0, [e[0], e[1], e[2]], [e[3], e[4], e[5]], radius_m))
            };
            let surfaces: Vec<Surface> = ends.iter().map(capsule).collect();
            let point = Vector3::from(p);
            let all = surfaces.iter().map(|s| s.distance_m(&point));
            let expected = all.fold(f64::INFINITY, f64::min);
            prop_assert_eq!(nearest(&surfaces, &point).map(|n| n.0), Some(expected));
        }

        /// Outside it is the shape's own distance, and a step along the normal is a step away.
        #[test]
        fn distances_agree_with_the_shapes(
            p in prop::array::uniform3(-1.0_f64..1.0), q in prop::array::uniform4(-1.0_f64..1.0),
            kind in 0_usize..4, a in 0.05_f64..0.4, b in 0.05_f64..0.4,
        ) {
            prop_assume!(q.iter().map(|v| v * v).sum::<f64>() > 0.01);
            let shape = [
                Shape::Box { half_m: [a, b, 0.2] },
                Shape::Sphere { radius_m: a },
                Shape::Capsule { radius_m: a, half_height_m: b },
                Shape::Cylinder { radius_m: a, half_height_m: b },
            ];
            let pose = Pose { pos_m: [0.1, 0.2, 0.3], quat_wxyz: q };
            let part = PosedLinkShape::new(0, &pose, &shape[kind]);
            let surface = Surface::of(&part);
            let point = Vector3::from(p);
            let distance_m = surface.distance_m(&point);
            prop_assert!((distance_m.max(0.0) - part.distance_m(p)).abs() < 1e-12);
            let normal = surface.normal(&point);
            prop_assert!((normal.norm() - 1.0).abs() < 1e-9);
            let farther = surface.distance_m(&(point + 1e-6 * normal));
            prop_assert!((farther - distance_m - 1e-6).abs() < 1e-9, "{distance_m} {farther}");
        }
    }
}
