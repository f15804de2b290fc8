//! What the robot is mounted on, and the link that turns right above it.
//!
//! All that the first joint alone carries stays inside of a cylinder around its axis. A thing that
//! this does not touch is never touched, whatever the spheres of that link say, which reach further
//! than its shapes. A thing that the base stands on, with a flat face across the axis that the
//! cylinder is over all the time, is equally far in every configuration: no motion can make that
//! better or worse, so it is the mount and not an obstacle of that link. Other links get no such
//! leave.

use citrange_core::shape::{Hull, Shape};
use citrange_robot::Convex;
use nalgebra::{Isometry3, Translation3, Vector3};

use super::obstacle::Obstacle;

/// A base this near to a thing stands on it.
const STANDS_M: f64 = 0.005;

/// What has no end counts as this long.
const ENDLESS_M: f64 = 1e3;

/// Faces of meshes are this flat.
const FLAT_M: f64 = 1e-5;

/// Deeper than this a link is not mounted on something but was put into it by mistake.
const DEEPEST_M: f64 = 0.01;

/// What the first moving link is close to wherever it turns, because the robot is mounted on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mount {
    /// Its number among the solids of [`crate::Obstacles`].
    pub number: usize,
    /// How far the link's shapes stay from it; negative where they reach into it.
    pub gap_m: f64,
}

/// The shapes of the base and the cylinder around those of the first moving link.
#[derive(Clone, Debug)]
pub(super) struct Stand {
    base: Vec<(Isometry3<f64>, Shape)>,
    first: Option<SweptCylinder>,
}

#[derive(Clone, Debug)]
struct SweptCylinder {
    world_from_cylinder: Isometry3<f64>,
    shape: Shape,
    radius_m: f64,
    half_height_m: f64,
}

/// How the first moving link is to a thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Relation {
    /// It never touches it.
    Apart,
    /// It is mounted on it, this far from it in every configuration.
    Mounted(f64),
    /// Spheres must tell.
    Open,
}

impl Stand {
    /// `base` in the world; `first`: shapes of the first moving link in its frame, whose z axis
    /// is the joint's and which is at `world_from_first` before it turns.
    pub(super) fn new(
        base: &[(Isometry3<f64>, Shape)],
        first: &[(Isometry3<f64>, Shape)],
        world_from_first: &Isometry3<f64>,
        rotates: bool,
    ) -> Self {
        let first = SweptCylinder::around(first, world_from_first).filter(|_| rotates);
        Self { base: base.to_vec(), first }
    }

    /// `reach_m`: what must be left between them.
    pub(super) fn relation(&self, obstacle: &Obstacle, reach_m: f64) -> Relation {
        let Some(first) = &self.first else { return Relation::Open };
        let at = &obstacle.world_from_shape;
        let shape = match obstacle.shape {
            Shape::Box { half_m } => Shape::Box { half_m: half_m.map(|h| h.min(ENDLESS_M)) },
            Shape::Cylinder { .. } | Shape::Frustum { .. } | Shape::Mesh(_) => {
                obstacle.shape.clone()
            }
            _ => return Relation::Open,
        };
        let convex = Convex::new(at, &shape);
        if Convex::new(&first.world_from_cylinder, &first.shape).is_apart(&convex, reach_m) {
            return Relation::Apart;
        }
        let stands = |(at, shape): &(Isometry3<f64>, Shape)| {
            !Convex::new(at, shape).is_apart(&convex, STANDS_M)
        };
        match first.over(obstacle) {
            Some(gap_m) if gap_m >= -DEEPEST_M && self.base.iter().any(stands) => {
                Relation::Mounted(gap_m)
            }
            _ => Relation::Open,
        }
    }
}

impl SweptCylinder {
    fn around(
        shapes: &[(Isometry3<f64>, Shape)],
        world_from_link: &Isometry3<f64>,
    ) -> Option<Self> {
        let (mut low, mut high, mut radius_m) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
        for (at, shape) in shapes {
            let (half, out) = extents(at, shape);
            let middle = at.translation.vector.z;
            (low, high) = (low.min(middle - half), high.max(middle + half));
            radius_m = radius_m.max(out);
        }
        let half_height_m = (high - low) / 2.0;
        (half_height_m.is_finite() && half_height_m >= 0.0).then(|| Self {
            world_from_cylinder: world_from_link * Translation3::new(0.0, 0.0, (low + high) / 2.0),
            shape: Shape::Cylinder { radius_m, half_height_m },
            radius_m,
            half_height_m,
        })
    }

    /// How far it is from a flat face that lies across its axis and that all of it is over.
    fn over(&self, obstacle: &Obstacle) -> Option<f64> {
        let seen = obstacle.world_from_shape.inverse() * self.world_from_cylinder;
        let axis = seen * Vector3::z();
        let middle = seen.translation.vector;
        if let Shape::Mesh(mesh) = &obstacle.shape {
            let gaps = [axis, -axis].map(|up| self.over_hull(mesh.hull(), &middle, &up));
            return gaps.into_iter().flatten().reduce(f64::max);
        }
        let across = (0..3).find(|a| axis[*a].abs() > 1.0 - 1e-9)?;
        let out_m = middle.x.hypot(middle.y) + self.radius_m;
        let (is_over, half_m) = match obstacle.shape {
            Shape::Box { half_m } => {
                let fits = |a: usize| a == across || middle[a].abs() + self.radius_m <= half_m[a];
                ((0..3).all(fits), half_m[across])
            }
            Shape::Cylinder { radius_m, half_height_m } => {
                (across == 2 && out_m <= radius_m, half_height_m)
            }
            Shape::Frustum { radius_m, top_radius_m, half_height_m } => {
                let face_m = if middle.z > 0.0 { top_radius_m } else { radius_m };
                (across == 2 && out_m <= face_m, half_height_m)
            }
            _ => return None,
        };
        is_over.then(|| middle[across].abs() - half_m - self.half_height_m)
    }

    /// The same for the face of a hull that looks `up`: the disc under the cylinder, as high as
    /// the hull reaches, is behind all of its planes.
    fn over_hull(&self, hull: &Hull, middle: &Vector3<f64>, up: &Vector3<f64>) -> Option<f64> {
        let height_m = hull.farthest_m(up).dot(up);
        let centre = middle + up * (height_m - middle.dot(up));
        let is_over = hull.planes().iter().all(|plane| {
            let normal = Vector3::from(plane.normal);
            let aside = (normal - up * normal.dot(up)).norm();
            plane.beyond_m(&centre) + aside * self.radius_m <= FLAT_M
        });
        is_over.then(|| middle.dot(up) - height_m - hull.rounding_m() - self.half_height_m)
    }
}

/// Of a shape: half of its extent along z, and how far its points are from the z axis at most.
fn extents(at: &Isometry3<f64>, shape: &Shape) -> (f64, f64) {
    let up = at.rotation.inverse() * Vector3::z();
    let rounding_m = shape.rounding_m();
    let along = |way: Vector3<f64>| shape.farthest_core_m(&way).dot(&way) + rounding_m;
    let half = along(up).max(along(-up));
    // Of the box around the core.
    let reach = shape.reach_m().map(|r| r - rounding_m);
    let rotation = at.rotation.to_rotation_matrix();
    let corner = |k: usize| {
        let local = Vector3::from_fn(|a, _| if k >> a & 1 == 1 { reach[a] } else { -reach[a] });
        let there = at.translation.vector + rotation * local;
        there.x.hypot(there.y)
    };
    (half, (0..8).map(corner).fold(0.0, f64::max) + rounding_m)
}
