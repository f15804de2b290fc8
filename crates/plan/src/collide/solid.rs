//! Solids in double precision: what an obstacle is to the collider, and how far points are.

use citrange_core::Pose;
use citrange_core::shape::{PosedShape, Shape};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};

use crate::error::PlanError;

/// Lengths beyond this are mistakes.
const ABSURD_M: f64 = 1e3;

/// So deep is what a plane stands for: nothing comes out below it that did not touch it.
const PLANE_HALF_DEPTH_M: f64 = 10.0;

/// Steps of Newton's method for the nearest point of an ellipsoid, in double precision.
const ELLIPSOID_STEPS: usize = 60;

/// A solid with a kernel of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Solid {
    pub(super) world_from_solid: Isometry3<f64>,
    pub(super) geometry: Geometry,
}

/// Convex solids, each around its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Geometry {
    /// Half extents; those of planes are without end.
    Box([f64; 3]),
    /// All points within a radius of a line along z of this half length: spheres and capsules.
    Capsule { radius_m: f64, half_m: f64 },
    /// Along z.
    Cylinder { radius_m: f64, half_m: f64 },
    /// Radii.
    Ellipsoid([f64; 3]),
}

impl Solid {
    /// The solid that an obstacle is, or that holds it.
    pub(super) fn new(number: usize, posed: &PosedShape) -> Result<Self, PlanError> {
        let at = isometry(&posed.pose);
        let is_sane = posed.shape.sizes_m().all(|size| (0.0..ABSURD_M).contains(&size));
        let at = at.filter(|_| is_sane).ok_or_else(|| bad(number, posed))?;
        let shifted = |by_m: [f64; 3]| at * nalgebra::Translation3::from(by_m);
        let (world_from_solid, geometry) = match posed.shape {
            Shape::Box { half_m } => (at, Geometry::Box(half_m)),
            Shape::Sphere { radius_m } => (at, Geometry::Capsule { radius_m, half_m: 0.0 }),
            Shape::Capsule { radius_m, half_height_m } => {
                (at, Geometry::Capsule { radius_m, half_m: half_height_m })
            }
            Shape::Cylinder { radius_m, half_height_m } => {
                (at, Geometry::Cylinder { radius_m, half_m: half_height_m })
            }
            Shape::Ellipsoid { radii_m } if radii_m.iter().all(|r| *r > 0.0) => {
                (at, Geometry::Ellipsoid(radii_m))
            }
            // A flat one.
            Shape::Ellipsoid { radii_m } => (at, Geometry::Box(radii_m)),
            Shape::Frustum { radius_m, top_radius_m, half_height_m } => {
                let radius_m = radius_m.max(top_radius_m);
                (at, Geometry::Cylinder { radius_m, half_m: half_height_m })
            }
            Shape::Ring { radius_m, bar_radius_m } => {
                let radius_m = radius_m + bar_radius_m;
                (at, Geometry::Cylinder { radius_m, half_m: bar_radius_m })
            }
            Shape::Plane { half_m: [x, y] } => {
                let [x, y] = [x, y].map(|half| half.unwrap_or(f64::INFINITY));
                let below = shifted([0.0, 0.0, -PLANE_HALF_DEPTH_M]);
                (below, Geometry::Box([x, y, PLANE_HALF_DEPTH_M]))
            }
            Shape::Mesh(ref mesh) => {
                let (centre_m, half_m) = mesh.bounds_m();
                if !centre_m.iter().chain(&half_m).all(|l| l.abs() < ABSURD_M) {
                    return Err(bad(number, posed));
                }
                (shifted(centre_m), Geometry::Box(half_m))
            }
        };
        Ok(Self { world_from_solid, geometry })
    }

    /// Distance of a point; 0 or less inside.
    pub(super) fn distance_m(&self, point: &Point3<f64>) -> f64 {
        let local = self.world_from_solid.inverse_transform_point(point).coords;
        match self.geometry {
            Geometry::Box(half_m) => {
                Vector3::from_fn(|a, _| (local[a].abs() - half_m[a]).max(0.0)).norm()
            }
            Geometry::Capsule { radius_m, half_m } => {
                let along = local.z.clamp(-half_m, half_m);
                Vector3::new(local.x, local.y, local.z - along).norm() - radius_m
            }
            Geometry::Cylinder { radius_m, half_m } => {
                let across = (local.x.hypot(local.y) - radius_m).max(0.0);
                across.hypot((local.z.abs() - half_m).max(0.0))
            }
            Geometry::Ellipsoid(radii_m) => ellipsoid_distance_m(&radii_m, &local),
        }
    }
}

/// Distance of a point to an ellipsoid; 0 inside. The nearest point is where the normal leads to
/// the point: `r² p / (r² + t)` with a `t` that Newton's method finds from below, where the
/// function is convex and falls, so that every step stays below.
fn ellipsoid_distance_m(radii_m: &[f64; 3], p: &Vector3<f64>) -> f64 {
    let r2 = radii_m.map(|r| r * r);
    let outside = (0..3).map(|a| p[a] * p[a] / r2[a]).sum::<f64>();
    if outside <= 1.0 {
        return 0.0;
    }
    let mut t = (0..3).fold(0.0_f64, |most, a| most.max(radii_m[a] * p[a].abs() - r2[a]));
    for _ in 0..ELLIPSOID_STEPS {
        let (mut value, mut slope) = (-1.0, 0.0);
        for a in 0..3 {
            let part = radii_m[a] * p[a] / (r2[a] + t);
            value += part * part;
            slope -= 2.0 * part * part / (r2[a] + t);
        }
        let next = t - value / slope;
        if next <= t {
            break;
        }
        t = next;
    }
    Vector3::from_fn(|a, _| p[a] - r2[a] * p[a] / (r2[a] + t)).norm()
}

/// A pose as an isometry, if it makes sense.
fn isometry(pose: &Pose) -> Option<Isometry3<f64>> {
    let [w, x, y, z] = pose.quat_wxyz;
    let orientation = Quaternion::new(w, x, y, z);
    let is_unit = (orientation.norm() - 1.0).abs() < 1e-3;
    let is_sane = pose.pos_m.iter().all(|l| l.abs() < ABSURD_M);
    let orientation = UnitQuaternion::from_quaternion(orientation);
    (is_unit && is_sane).then(|| Isometry3::from_parts(pose.pos_m.into(), orientation))
}

fn bad(number: usize, found: &PosedShape) -> PlanError {
    let reason =
        format!("lengths must be numbers below {ABSURD_M} m, orientations unit: {found:?}");
    PlanError::bad(format!("{} {number}", found.shape.name()), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ellipsoids_are_as_far_as_their_nearest_point() {
        let radii_m = [0.3, 0.1, 0.05];
        for seed in 0..200 {
            let angle = |k: f64| (f64::from(seed) * k).sin() * 0.6;
            let p = Vector3::new(angle(1.3), angle(2.7), angle(3.1));
            let found = ellipsoid_distance_m(&radii_m, &p);
            // All points of a fine net over the surface.
            let mut least = f64::INFINITY;
            for i in 0..=180 {
                for j in 0..360 {
                    let (u, v) = (f64::from(i).to_radians(), f64::from(j).to_radians());
                    let on = Vector3::new(
                        radii_m[0] * u.sin() * v.cos(),
                        radii_m[1] * u.sin() * v.sin(),
                        radii_m[2] * u.cos(),
                    );
                    least = least.min((p - on).norm());
                }
            }
            let is_inside = (0..3).map(|a| (p[a] / radii_m[a]).powi(2)).sum::<f64>() <= 1.0;
            let want = if is_inside { 0.0 } else { least };
            assert!(found <= want + 1e-12 && want - found < 2e-3, "{p:?}: {found} {want}");
        }
    }
}
