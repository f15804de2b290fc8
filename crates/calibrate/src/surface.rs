//! Signed distances to solids: below 0 inside, with the direction that leads out.

use nalgebra::{Isometry3, Point3, Vector3};

use citrange_core::solid::{Form, Solid};

/// A solid whose pose was inverted once, for many points.
pub(super) struct Surface {
    solid_from_world: Isometry3<f64>,
    world_from_solid: Isometry3<f64>,
    /// All of the solid is within this distance of its centre.
    radius_m: f64,
    form: Form,
}

impl Surface {
    pub(super) fn of(solid: &Solid) -> Self {
        let world_from_solid = solid.world_from_solid;
        let solid_from_world = world_from_solid.inverse();
        let radius_m = Vector3::from(solid.form.half_extents_m()).norm();
        Self { solid_from_world, world_from_solid, radius_m, form: solid.form }
    }

    /// Whether a point of the world is certainly farther away than this.
    fn is_beyond(&self, point: &Vector3<f64>, distance_m: f64) -> bool {
        let reach_m = (self.radius_m + distance_m).max(0.0);
        (point - self.world_from_solid.translation.vector).norm_squared() > reach_m * reach_m
    }

    /// Signed distance of a point of the world.
    pub(super) fn distance_m(&self, point: &Vector3<f64>) -> f64 {
        let p = self.solid_from_world * Point3::from(*point);
        signed(&self.form, &p.coords).0
    }

    /// The direction in the world that leads out fastest, unit length.
    pub(super) fn normal(&self, point: &Vector3<f64>) -> Vector3<f64> {
        let p = self.solid_from_world * Point3::from(*point);
        self.world_from_solid.rotation * signed(&self.form, &p.coords).1
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

/// Signed distance and the way out, in the form's own frame.
fn signed(form: &Form, p: &Vector3<f64>) -> (f64, Vector3<f64>) {
    match *form {
        Form::RoundedBox { half_m, radius_m } => {
            let beyond = p.abs() - Vector3::from(half_m);
            let sides = p.map(|v| if v < 0.0 { -1.0 } else { 1.0 });
            let out = beyond.map(|v| v.max(0.0)).component_mul(&sides);
            let length = out.norm();
            if length > 0.0 {
                return (length - radius_m, out / length);
            }
            // Inside of the inner box: out through the nearest face.
            let axis = beyond.imax();
            (beyond[axis] - radius_m, Vector3::ith(axis, sides[axis]))
        }
        Form::Cylinder { radius_m, half_height_m } => {
            let round = p.x.hypot(p.y);
            let radial = if round > 0.0 {
                Vector3::new(p.x / round, p.y / round, 0.0)
            } else {
                Vector3::x()
            };
            let up = Vector3::new(0.0, 0.0, if p.z < 0.0 { -1.0 } else { 1.0 });
            let (across, along) = (round - radius_m, p.z.abs() - half_height_m);
            if across > 0.0 && along > 0.0 {
                let distance_m = across.hypot(along);
                return (distance_m, (radial * across + up * along) / distance_m);
            }
            if across > along { (across, radial) } else { (along, up) }
        }
    }
}

#[cfg(test)]
mod tests {
    use citrange_core::Pose;
    use citrange_core::shape::Shape;
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
                Surface::of(&Solid::capsule(0, [e[0], e[1], e[2]], [e[3], e[4], e[5]], radius_m))
            };
            let surfaces: Vec<Surface> = ends.iter().map(capsule).collect();
            let point = Vector3::from(p);
            let all = surfaces.iter().map(|s| s.distance_m(&point));
            let expected = all.fold(f64::INFINITY, f64::min);
            prop_assert_eq!(nearest(&surfaces, &point).map(|n| n.0), Some(expected));
        }

        /// Outside it is the solid's own distance, and a step along the normal is a step away.
        #[test]
        fn distances_agree_with_the_solids(
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
            let solid = Solid::new(0, &pose, &shape[kind]);
            let surface = Surface::of(&solid);
            let point = Vector3::from(p);
            let distance_m = surface.distance_m(&point);
            prop_assert!((distance_m.max(0.0) - solid.distance_m(p)).abs() < 1e-12);
            let normal = surface.normal(&point);
            prop_assert!((normal.norm() - 1.0).abs() < 1e-9);
            let farther = surface.distance_m(&(point + 1e-6 * normal));
            prop_assert!((farther - distance_m - 1e-6).abs() < 1e-9, "{distance_m} {farther}");
        }
    }
}
