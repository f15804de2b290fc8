//! Obstacles in double precision: what each is to the collider, and how far points are.

use citrange_core::Pose;
use citrange_core::shape::{PosedShape, Shape};
use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion};

use crate::error::PlanError;

/// Lengths beyond this are mistakes.
const ABSURD_M: f64 = 1e3;

/// So deep is what a plane stands for: nothing comes out below it that did not touch it.
const PLANE_HALF_DEPTH_M: f64 = 10.0;

/// An obstacle whose numbers make sense. Planes are boxes below them, without end where they have
/// none; meshes count as their convex hull.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Obstacle {
    pub(super) world_from_shape: Isometry3<f64>,
    pub(super) shape: Shape,
}

impl Obstacle {
    /// What a shape is to the collider.
    pub(super) fn new(number: usize, posed: &PosedShape) -> Result<Self, PlanError> {
        let at = isometry(&posed.pose);
        let is_sane = posed.shape.sizes_m().all(|size| (0.0..ABSURD_M).contains(&size));
        let at = at.filter(|_| is_sane).ok_or_else(|| bad(number, posed))?;
        let (world_from_shape, shape) = match posed.shape {
            // A flat one.
            Shape::Ellipsoid { radii_m } if radii_m.contains(&0.0) => {
                (at, Shape::Box { half_m: radii_m })
            }
            Shape::Plane { half_m: [x, y] } => {
                let [x, y] = [x, y].map(|half| half.unwrap_or(f64::INFINITY));
                let below = at * Translation3::new(0.0, 0.0, -PLANE_HALF_DEPTH_M);
                (below, Shape::Box { half_m: [x, y, PLANE_HALF_DEPTH_M] })
            }
            Shape::Mesh(ref mesh) => {
                let (centre_m, half_m) = mesh.bounds_m();
                if !centre_m.iter().chain(&half_m).all(|l| l.abs() < ABSURD_M) {
                    return Err(bad(number, posed));
                }
                (at, posed.shape.clone())
            }
            _ => (at, posed.shape.clone()),
        };
        Ok(Self { world_from_shape, shape })
    }

    /// Distance of a point; 0 or less inside.
    pub(super) fn distance_m(&self, point: &Point3<f64>) -> f64 {
        let local = self.world_from_shape.inverse_transform_point(point).coords.into();
        match self.shape {
            // How deep is known at no cost.
            Shape::Sphere { .. } | Shape::Capsule { .. } => self.shape.signed_m(local).0,
            _ => self.shape.distance_m(local),
        }
    }
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
