//! What the robot is mounted on, and the link that turns right above it.
//!
//! All that the first joint alone carries stays inside of a drum around its axis. A box that the
//! drum does not touch is never touched, whatever the balls of that link say, which reach further
//! than its shapes. A box or cylinder that the base stands on, with a face across the axis that the drum is
//! over all the time, is equally far in every configuration: no motion can make that better or
//! worse, so it is the mount and not an obstacle of that link. Other links get no such leave.

use citrange_robot::Convex;
use citrange_space::Form;
use nalgebra::{Isometry3, Translation3, Vector3};

use super::solid::{Geometry, Solid};

/// A base this near to a box stands on it.
const STANDS_M: f64 = 0.005;

/// What has no end counts as this long.
const ENDLESS_M: f64 = 1e3;

/// Deeper than this a link is not mounted on something but was put into it by mistake.
const DEEPEST_M: f64 = 0.01;

/// A box or cylinder that the first moving link is close to wherever it turns, because the robot is mounted
/// on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mount {
    /// Its number among the solids of [`crate::Obstacles`].
    pub number: usize,
    /// How far the link's shapes stay from it; negative where they reach into it.
    pub gap_m: f64,
}

/// The shapes of the base and the drum around those of the first moving link.
#[derive(Clone, Debug)]
pub(super) struct Stand {
    base: Vec<(Isometry3<f64>, Form)>,
    drum: Option<Drum>,
}

#[derive(Clone, Debug)]
struct Drum {
    world_from_drum: Isometry3<f64>,
    form: Form,
    radius_m: f64,
    half_height_m: f64,
}

/// How the first moving link is to a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Relation {
    /// It never touches it.
    Apart,
    /// It is mounted on it, this far from it in every configuration.
    Mounted(f64),
    /// Balls must tell.
    Open,
}

impl Stand {
    /// `base` in the world; `first`: shapes of the first moving link in its frame, whose z axis
    /// is the joint's and which is at `world_from_first` before it turns.
    pub(super) fn new(
        base: &[(Isometry3<f64>, Form)],
        first: &[(Isometry3<f64>, Form)],
        world_from_first: &Isometry3<f64>,
        turns: bool,
    ) -> Self {
        let drum = Drum::around(first, world_from_first).filter(|_| turns);
        Self { base: base.to_vec(), drum }
    }

    /// `reach_m`: what must be left between them.
    pub(super) fn relation(&self, solid: &Solid, reach_m: f64) -> Relation {
        let Some(drum) = &self.drum else { return Relation::Open };
        let at = &solid.world_from_solid;
        let form = match solid.geometry {
            Geometry::Box(half_m) => {
                Form::RoundedBox { half_m: half_m.map(|h| h.min(ENDLESS_M)), radius_m: 0.0 }
            }
            Geometry::Cylinder { radius_m, half_m } => {
                Form::Cylinder { radius_m, half_height_m: half_m }
            }
            Geometry::Capsule { .. } | Geometry::Ellipsoid(_) => return Relation::Open,
        };
        let convex = Convex::new(at, &form);
        if Convex::new(&drum.world_from_drum, &drum.form).is_apart(&convex, reach_m) {
            return Relation::Apart;
        }
        let stands = |(at, form): &(Isometry3<f64>, Form)| {
            !Convex::new(at, form).is_apart(&convex, STANDS_M)
        };
        match drum.over(solid) {
            Some(gap_m) if gap_m >= -DEEPEST_M && self.base.iter().any(stands) => {
                Relation::Mounted(gap_m)
            }
            _ => Relation::Open,
        }
    }
}

impl Drum {
    fn around(shapes: &[(Isometry3<f64>, Form)], world_from_link: &Isometry3<f64>) -> Option<Self> {
        let (mut low, mut high, mut radius_m) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
        for (at, form) in shapes {
            let (half, out) = extents(at, form);
            let middle = at.translation.vector.z;
            (low, high) = (low.min(middle - half), high.max(middle + half));
            radius_m = radius_m.max(out);
        }
        let half_height_m = (high - low) / 2.0;
        (half_height_m.is_finite() && half_height_m >= 0.0).then(|| Self {
            world_from_drum: world_from_link * Translation3::new(0.0, 0.0, (low + high) / 2.0),
            form: Form::Cylinder { radius_m, half_height_m },
            radius_m,
            half_height_m,
        })
    }

    /// How far it is from a flat face that lies across its axis and that all of it is over.
    fn over(&self, solid: &Solid) -> Option<f64> {
        let seen = solid.world_from_solid.inverse() * self.world_from_drum;
        let axis = seen * Vector3::z();
        let across = (0..3).find(|a| axis[*a].abs() > 1.0 - 1e-9)?;
        let middle = seen.translation.vector;
        let (is_over, half_m) = match solid.geometry {
            Geometry::Box(half_m) => {
                let fits = |a: usize| a == across || middle[a].abs() + self.radius_m <= half_m[a];
                ((0..3).all(fits), half_m[across])
            }
            Geometry::Cylinder { radius_m, half_m } => {
                let out_m = middle.x.hypot(middle.y) + self.radius_m;
                (across == 2 && out_m <= radius_m, half_m)
            }
            Geometry::Capsule { .. } | Geometry::Ellipsoid(_) => return None,
        };
        is_over.then(|| middle[across].abs() - half_m - self.half_height_m)
    }
}

/// Of a form: half of its extent along z, and how far its points are from the z axis at most.
fn extents(at: &Isometry3<f64>, form: &Form) -> (f64, f64) {
    let turn = at.rotation.to_rotation_matrix();
    let (half_m, rounding_m) = match *form {
        Form::RoundedBox { half_m, radius_m } => (half_m, radius_m),
        Form::Cylinder { radius_m, half_height_m } => ([radius_m, radius_m, half_height_m], 0.0),
    };
    let along = match *form {
        Form::RoundedBox { .. } => {
            (0..3).map(|a| turn[(2, a)].abs() * half_m[a]).sum::<f64>() + rounding_m
        }
        Form::Cylinder { radius_m, half_height_m } => {
            let up = turn[(2, 2)].clamp(-1.0, 1.0);
            up.abs() * half_height_m + (1.0 - up * up).sqrt() * radius_m
        }
    };
    let corner = |k: usize| {
        let local = Vector3::from_fn(|a, _| if k >> a & 1 == 1 { half_m[a] } else { -half_m[a] });
        let there = at.translation.vector + turn * local;
        there.x.hypot(there.y)
    };
    (along, (0..8).map(corner).fold(0.0, f64::max) + rounding_m)
}
