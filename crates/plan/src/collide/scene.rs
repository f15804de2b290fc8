//! Solids in single precision, as the kernels read them: for each link those that it can reach.

use citrange_lanes::{Simd, Triple, dot, rotated, scale, sub};
use nalgebra::Point3;

use super::solid::{Geometry, Solid as Known};

/// A convex solid with all points within a radius of a core.
pub(super) trait Solid: Copy {
    /// From the nearest point of the core to the points, in the solid's own axes.
    fn away<S: Simd>(&self, points_m: &Triple<S>) -> Triple<S>;

    /// Directions of the world in the solid's own axes.
    fn turned<S: Simd>(&self, directions: &Triple<S>) -> Triple<S>;

    /// How far the surface is from the core.
    fn radius_m(&self) -> f32;
}

/// A box that is turned about the vertical only.
#[derive(Clone, Copy, Debug)]
pub(super) struct UprightBox {
    centre_m: [f32; 3],
    half_m: [f32; 3],
    cos: f32,
    sin: f32,
}

/// A box.
#[derive(Clone, Copy, Debug)]
pub(super) struct TurnedBox {
    centre_m: [f32; 3],
    half_m: [f32; 3],
    axes: [[f32; 3]; 3],
}

/// A sphere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    centre_m: [f32; 3],
    radius_m: f32,
}

/// A capsule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rod {
    from_m: [f32; 3],
    along_m: [f32; 3],
    /// One over the squared length; 0 for a sphere.
    per_length2: f32,
    radius_m: f32,
}

/// A cylinder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drum {
    centre_m: [f32; 3],
    axes: [[f32; 3]; 3],
    radius_m: f32,
    half_m: f32,
}

/// An ellipsoid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Egg {
    centre_m: [f32; 3],
    axes: [[f32; 3]; 3],
    radii_m: [f32; 3],
}

/// What one link can reach.
#[derive(Clone, Debug, Default)]
pub(super) struct Scene {
    pub(super) upright: Vec<UprightBox>,
    pub(super) turned: Vec<TurnedBox>,
    pub(super) rounds: Vec<Round>,
    pub(super) rods: Vec<Rod>,
    pub(super) drums: Vec<Drum>,
    pub(super) eggs: Vec<Egg>,
}

impl Scene {
    fn clear(&mut self) {
        self.upright.clear();
        self.turned.clear();
        self.rounds.clear();
        self.rods.clear();
        self.drums.clear();
        self.eggs.clear();
    }

    fn push(&mut self, solid: &Known) {
        let at = &solid.world_from_solid;
        let rotation = at.rotation.to_rotation_matrix();
        let exact_m: [f64; 3] = at.translation.vector.into();
        let centre_m = exact_m.map(|c| c as f32);
        let axes: [[f32; 3]; 3] =
            std::array::from_fn(|c| std::array::from_fn(|r| rotation[(r, c)] as f32));
        match solid.geometry {
            Geometry::Box(exact_half_m) => {
                let finite = exact_half_m.map(|h| if h.is_finite() { h } else { 0.0 });
                let slack_m = rounding_m(&exact_m) + rounding_m(&finite);
                let half_m = exact_half_m.map(|h| (h + slack_m) as f32);
                if (rotation[(2, 2)] - 1.0).abs() < 1e-14 {
                    let (sin, cos) = (rotation[(1, 0)] as f32, rotation[(0, 0)] as f32);
                    self.upright.push(UprightBox { centre_m, half_m, cos, sin });
                } else {
                    self.turned.push(TurnedBox { centre_m, half_m, axes });
                }
            }
            Geometry::Capsule { radius_m, half_m: 0.0 } => {
                let radius_m = (radius_m + rounding_m(&exact_m)) as f32;
                self.rounds.push(Round { centre_m, radius_m });
            }
            Geometry::Capsule { radius_m, half_m } => {
                let ends = [-half_m, half_m].map(|z| at * Point3::new(0.0, 0.0, z));
                let along = ends[1] - ends[0];
                let length2 = along.norm_squared();
                let slack_m: f64 = ends.iter().map(|end| rounding_m(&end.coords.into())).sum();
                let per_length2 = if length2 > 1e-12 { 1.0 / length2 } else { 0.0 };
                self.rods.push(Rod {
                    from_m: ends[0].coords.map(|c| c as f32).into(),
                    along_m: along.map(|c| c as f32).into(),
                    per_length2: per_length2 as f32,
                    // What a length that counts as none leaves out.
                    radius_m: (radius_m + slack_m + 1e-6) as f32,
                });
            }
            Geometry::Cylinder { radius_m, half_m } => {
                let slack_m = rounding_m(&exact_m) + rounding_m(&[radius_m, half_m, 0.0]);
                let [radius_m, half_m] = [radius_m, half_m].map(|l| (l + slack_m) as f32);
                self.drums.push(Drum { centre_m, axes, radius_m, half_m });
            }
            Geometry::Ellipsoid(radii_m) => {
                let slack_m = rounding_m(&exact_m) + rounding_m(&radii_m);
                let radii_m = radii_m.map(|r| (r + slack_m) as f32);
                self.eggs.push(Egg { centre_m, axes, radii_m });
            }
        }
    }
}

/// Sorts solids to the links that can reach them. `homes_m`: for every link a sphere that it
/// never leaves, margins included. `passes`: solids that do not count for the first moving link.
pub(super) fn fill(
    scenes: &mut [Scene],
    homes_m: &[([f64; 3], f64)],
    solids: &[Known],
    passes: &[bool],
) {
    scenes.iter_mut().for_each(Scene::clear);
    for (number, solid) in solids.iter().enumerate() {
        for (link, (scene, (home, reach_m))) in scenes.iter_mut().zip(homes_m).enumerate() {
            let may_pass = link == 1 && passes.get(number) == Some(&true);
            if !may_pass && solid.distance_m(&Point3::from(*home)) <= *reach_m {
                scene.push(solid);
            }
        }
    }
}

/// What single precision can do to lengths of this size.
pub(super) fn rounding_m(lengths_m: &[f64; 3]) -> f64 {
    lengths_m.iter().fold(0.0_f64, |most, l| most.max(l.abs())) * 4.0 * f64::from(f32::EPSILON)
}

/// How far coordinates in a box's axes are outside of it.
#[inline(always)]
fn outside<S: Simd>(local: Triple<S>, half_m: &[f32; 3]) -> Triple<S> {
    let mut away = local;
    for axis in 0..3 {
        let half = local[axis].simd().splat(half_m[axis]);
        let lower = local[axis].simd().splat(-half_m[axis]);
        // With its sign: directions matter later.
        away[axis] = local[axis] - half.min(lower.max(local[axis]));
    }
    away
}

/// From a fixed point to points.
#[inline(always)]
fn from<S: Simd>(point: &[f32; 3], points_m: &Triple<S>) -> Triple<S> {
    sub(points_m, &points_m[0].simd().splat3(point))
}

impl Solid for UprightBox {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>) -> Triple<S> {
        outside(self.turned(&from(&self.centre_m, points_m)), &self.half_m)
    }

    #[inline(always)]
    fn turned<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        let [x, y, z] = *directions;
        [x * self.cos + y * self.sin, y * self.cos - x * self.sin, z]
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        0.0
    }
}

impl Solid for TurnedBox {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>) -> Triple<S> {
        outside(self.turned(&from(&self.centre_m, points_m)), &self.half_m)
    }

    #[inline(always)]
    fn turned<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        rotated(&self.axes, directions)
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        0.0
    }
}

impl Solid for Round {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>) -> Triple<S> {
        from(&self.centre_m, points_m)
    }

    #[inline(always)]
    fn turned<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        *directions
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        self.radius_m
    }
}

impl Solid for Rod {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>) -> Triple<S> {
        let from = from(&self.from_m, points_m);
        let [x, y, z] = self.along_m;
        let along = from[0] * x + from[1] * y + from[2] * z;
        let (zero, one) = (along.simd().splat(0.0), along.simd().splat(1.0));
        let part = one.min(zero.max(along * self.per_length2));
        [from[0] - part * x, from[1] - part * y, from[2] - part * z]
    }

    #[inline(always)]
    fn turned<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        *directions
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        self.radius_m
    }
}

impl Solid for Drum {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>) -> Triple<S> {
        let [x, y, z] = self.turned(&from(&self.centre_m, points_m));
        let simd = z.simd();
        // The part of the way to the axis that is outside; 0 within the radius and on the axis.
        let across = (x * x + y * y).sqrt();
        let radius = simd.splat(self.radius_m);
        let part = (across - radius.min(across)) / across.max(simd.splat(f32::MIN_POSITIVE));
        let half = simd.splat(self.half_m);
        [x * part, y * part, z - half.min((-half).max(z))]
    }

    #[inline(always)]
    fn turned<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        rotated(&self.axes, directions)
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        0.0
    }
}

/// Steps of Newton's method for the nearest point of an ellipsoid.
const EGG_STEPS: usize = 7;

impl Solid for Egg {
    /// From a plane that touches the ellipsoid, right where it is nearest if the steps were
    /// enough. Whatever they found, all of it is behind that plane: the distance is never too
    /// large, and proofs about the plane hold for the ellipsoid.
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>) -> Triple<S> {
        let p = self.turned(&from(&self.centre_m, points_m));
        let simd = p[0].simd();
        let tiny = simd.splat(f32::MIN_POSITIVE);
        let r2 = self.radii_m.map(|r| r * r);
        // Newton's method from below; see `ellipsoid_distance_m`.
        let mut t = simd.splat(0.0);
        for axis in 0..3 {
            t = t.max(p[axis].abs() * self.radii_m[axis] - r2[axis]);
        }
        for _ in 0..EGG_STEPS {
            let (mut value, mut slope) = (simd.splat(-1.0), tiny);
            for axis in 0..3 {
                let per = simd.splat(1.0) / (t + r2[axis]);
                let part = p[axis] * self.radii_m[axis] * per;
                value = value + part * part;
                slope = slope + part * part * per;
            }
            t = t + (value / slope * 0.5).max(simd.splat(0.0));
        }
        let [x, y, z] = p;
        let normal = [x / (t + r2[0]), y / (t + r2[1]), z / (t + r2[2])];
        let per = simd.splat(1.0) / dot(&normal, &normal).sqrt().max(tiny);
        let normal = scale(&normal, per);
        let [a, b, c] = self.radii_m;
        let reach = [normal[0] * a, normal[1] * b, normal[2] * c];
        let gap = (dot(&normal, &p) - dot(&reach, &reach).sqrt()).max(simd.splat(0.0));
        scale(&normal, gap)
    }

    #[inline(always)]
    fn turned<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        rotated(&self.axes, directions)
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        0.0
    }
}
