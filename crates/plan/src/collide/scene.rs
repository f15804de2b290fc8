//! Solids in single precision, as the kernels read them: for each link those that it can reach.

use citrange_lanes::{Simd, Triple, sub};
use nalgebra::{Point3, Quaternion, UnitQuaternion, Vector3};

use crate::error::PlanError;
use crate::obstacles::{Ball, Capsule, Cuboid, Obstacles};

/// Lengths beyond this are mistakes.
const ABSURD_M: f64 = 1e3;

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

/// A ball.
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
    /// One over the squared length; 0 for a ball.
    per_length2: f32,
    radius_m: f32,
}

/// What one link can reach.
#[derive(Clone, Debug, Default)]
pub(super) struct Scene {
    pub(super) upright: Vec<UprightBox>,
    pub(super) turned: Vec<TurnedBox>,
    pub(super) rounds: Vec<Round>,
    pub(super) rods: Vec<Rod>,
}

impl Scene {
    pub(super) fn clear(&mut self) {
        self.upright.clear();
        self.turned.clear();
        self.rounds.clear();
        self.rods.clear();
    }
}

/// Sorts obstacles to the links that can reach them. `homes_m`: for every link a ball that it
/// never leaves, margins included. `passes`: boxes that do not count for the first moving link.
pub(super) fn fill(
    scenes: &mut [Scene],
    homes_m: &[([f64; 3], f64)],
    obstacles: &Obstacles,
    passes: &[bool],
) -> Result<(), PlanError> {
    scenes.iter_mut().for_each(Scene::clear);
    for (number, cuboid) in obstacles.boxes.iter().enumerate() {
        let turn = turn_of(cuboid).ok_or_else(|| bad("box", number, cuboid))?;
        let axes = turn.to_rotation_matrix();
        let column = |c: usize| -> [f32; 3] { std::array::from_fn(|r| axes[(r, c)] as f32) };
        let slack_m = rounding_m(&cuboid.centre_m) + rounding_m(&cuboid.half_m);
        let half_m = cuboid.half_m.map(|h| (h + slack_m) as f32);
        let centre_m = cuboid.centre_m.map(|c| c as f32);
        let is_upright = (axes[(2, 2)] - 1.0).abs() < 1e-14;
        for (link, (scene, (home, reach_m))) in scenes.iter_mut().zip(homes_m).enumerate() {
            if link == 1 && passes.get(number) == Some(&true) {
                continue;
            }
            let away = Vector3::from(*home) - Vector3::from(cuboid.centre_m);
            let local = axes.inverse() * away;
            let out = Vector3::from_fn(|a, _| (local[a].abs() - cuboid.half_m[a]).max(0.0));
            if out.norm_squared() > reach_m * reach_m {
                continue;
            }
            if is_upright {
                let (sin, cos) = (axes[(1, 0)] as f32, axes[(0, 0)] as f32);
                scene.upright.push(UprightBox { centre_m, half_m, cos, sin });
            } else {
                let axes = [column(0), column(1), column(2)];
                scene.turned.push(TurnedBox { centre_m, half_m, axes });
            }
        }
    }
    for (number, ball) in obstacles.balls.iter().enumerate() {
        if !(are_sane(&ball.centre_m) && (0.0..ABSURD_M).contains(&ball.radius_m)) {
            return Err(bad("ball", number, ball));
        }
        let radius_m = (ball.radius_m + rounding_m(&ball.centre_m)) as f32;
        let round = Round { centre_m: ball.centre_m.map(|c| c as f32), radius_m };
        for (scene, (home, reach_m)) in scenes.iter_mut().zip(homes_m) {
            let away = Vector3::from(*home) - Vector3::from(ball.centre_m);
            if away.norm() - ball.radius_m <= *reach_m {
                scene.rounds.push(round);
            }
        }
    }
    for (number, capsule) in obstacles.capsules.iter().enumerate() {
        let is_sane = are_sane(&capsule.a_m) && are_sane(&capsule.b_m);
        if !(is_sane && (0.0..ABSURD_M).contains(&capsule.radius_m)) {
            return Err(bad("capsule", number, capsule));
        }
        let (a, b) = (Vector3::from(capsule.a_m), Vector3::from(capsule.b_m));
        let along = b - a;
        let length2 = along.norm_squared();
        let slack_m = rounding_m(&capsule.a_m) + rounding_m(&capsule.b_m);
        let per_length2 = if length2 > 1e-12 { 1.0 / length2 } else { 0.0 };
        let rod = Rod {
            from_m: capsule.a_m.map(|c| c as f32),
            along_m: along.map(|c| c as f32).into(),
            per_length2: per_length2 as f32,
            // What a length that counts as none leaves out.
            radius_m: (capsule.radius_m + slack_m + 1e-6) as f32,
        };
        for (scene, (home, reach_m)) in scenes.iter_mut().zip(homes_m) {
            let from = Vector3::from(*home) - a;
            let part = (from.dot(&along) * per_length2).clamp(0.0, 1.0);
            if (from - along * part).norm() - capsule.radius_m <= *reach_m {
                scene.rods.push(rod);
            }
        }
    }
    Ok(())
}

fn bad(what: &str, number: usize, found: &impl std::fmt::Debug) -> PlanError {
    let reason = format!("lengths must be numbers below {ABSURD_M} m, turns unit: {found:?}");
    PlanError::bad(format!("{what} {number}"), reason)
}

fn are_sane(lengths_m: &[f64; 3]) -> bool {
    lengths_m.iter().all(|l| l.abs() < ABSURD_M)
}

/// What single precision can do to lengths of this size.
pub(super) fn rounding_m(lengths_m: &[f64; 3]) -> f64 {
    lengths_m.iter().fold(0.0_f64, |most, l| most.max(l.abs())) * 4.0 * f64::from(f32::EPSILON)
}

/// How a box is turned, if all of it makes sense.
pub(super) fn turn_of(cuboid: &Cuboid) -> Option<UnitQuaternion<f64>> {
    let [w, x, y, z] = cuboid.quat_wxyz;
    let turn = Quaternion::new(w, x, y, z);
    let is_unit = (turn.norm() - 1.0).abs() < 1e-3;
    let is_sane = are_sane(&cuboid.centre_m) && are_sane(&cuboid.half_m);
    let has_size = cuboid.half_m.iter().all(|h| *h >= 0.0);
    (is_unit && is_sane && has_size).then(|| UnitQuaternion::from_quaternion(turn))
}

/// Distance of a point to a box; 0 inside.
pub(super) fn box_distance_m(cuboid: &Cuboid, point: &Point3<f64>) -> f64 {
    let turn = turn_of(cuboid).unwrap_or_default();
    let local = turn.inverse() * (point.coords - Vector3::from(cuboid.centre_m));
    Vector3::from_fn(|a, _| (local[a].abs() - cuboid.half_m[a]).max(0.0)).norm()
}

/// Distance of a point to a ball; negative inside.
pub(super) fn ball_distance_m(ball: &Ball, point: &Point3<f64>) -> f64 {
    (point.coords - Vector3::from(ball.centre_m)).norm() - ball.radius_m
}

/// Distance of a point to a capsule; negative inside.
pub(super) fn capsule_distance_m(capsule: &Capsule, point: &Point3<f64>) -> f64 {
    let (a, b) = (Vector3::from(capsule.a_m), Vector3::from(capsule.b_m));
    let (from, along) = (point.coords - a, b - a);
    let length2 = along.norm_squared();
    let part = if length2 > 0.0 { (from.dot(&along) / length2).clamp(0.0, 1.0) } else { 0.0 };
    (from - along * part).norm() - capsule.radius_m
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
        let [x, y, z] = *directions;
        self.axes.map(|axis| x * axis[0] + y * axis[1] + z * axis[2])
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
