//! Obstacles in single precision, packed for the kernels: for each link those that it can reach.

mod ellipsoid;
mod frustum;
mod hull;
mod torus;

use citrange_core::shape::Shape;
use citrange_lanes::{F32x16, Simd, Triple, rotated, sub};
use nalgebra::{Isometry3, Point3};

use super::obstacle::Obstacle;
use ellipsoid::LaneEllipsoid;
use frustum::LaneFrustum;
use hull::LaneHull;
use torus::LaneTorus;

/// All points within a radius of a core, for sixteen points at once.
pub(super) trait LaneShape {
    /// Whether it is convex: then it lies behind a plane across the way from its nearest point.
    const IS_CONVEX: bool = true;

    /// From the nearest point of the core to the points, in the shape's own axes. Only lanes
    /// that are nearer than `within` need be exact; others may be any way across a plane that
    /// the shape lies behind and that is as far as `within`.
    fn away<S: Simd>(&self, points_m: &Triple<S>, within: F32x16<S>) -> Triple<S>;

    /// Directions of the world in the shape's own axes.
    fn in_axes<S: Simd>(&self, directions: &Triple<S>) -> Triple<S>;

    /// How far the surface is from the core.
    fn radius_m(&self) -> f32;
}

/// A box that is rotated about the vertical only.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneUprightBox {
    centre_m: [f32; 3],
    half_m: [f32; 3],
    cos: f32,
    sin: f32,
}

/// A box.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneBox {
    centre_m: [f32; 3],
    half_m: [f32; 3],
    axes: [[f32; 3]; 3],
}

/// A sphere.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneSphere {
    centre_m: [f32; 3],
    radius_m: f32,
}

/// A capsule.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneCapsule {
    from_m: [f32; 3],
    along_m: [f32; 3],
    /// One over the squared length; 0 for a sphere.
    per_length2: f32,
    radius_m: f32,
}

/// A cylinder.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneCylinder {
    centre_m: [f32; 3],
    axes: [[f32; 3]; 3],
    radius_m: f32,
    half_m: f32,
}

/// What one link can reach.
#[derive(Clone, Debug, Default)]
pub(super) struct ReachableShapes {
    pub(super) upright_boxes: Vec<LaneUprightBox>,
    pub(super) boxes: Vec<LaneBox>,
    pub(super) spheres: Vec<LaneSphere>,
    pub(super) capsules: Vec<LaneCapsule>,
    pub(super) cylinders: Vec<LaneCylinder>,
    pub(super) ellipsoids: Vec<LaneEllipsoid>,
    pub(super) frustums: Vec<LaneFrustum>,
    pub(super) tori: Vec<LaneTorus>,
    pub(super) hulls: Vec<LaneHull>,
}

impl ReachableShapes {
    fn clear(&mut self) {
        self.upright_boxes.clear();
        self.boxes.clear();
        self.spheres.clear();
        self.capsules.clear();
        self.cylinders.clear();
        self.ellipsoids.clear();
        self.frustums.clear();
        self.tori.clear();
        self.hulls.clear();
    }

    fn push(&mut self, obstacle: &Obstacle) {
        let at = &obstacle.world_from_shape;
        let rotation = at.rotation.to_rotation_matrix();
        let exact_m: [f64; 3] = at.translation.vector.into();
        let centre_m = exact_m.map(|c| c as f32);
        let axes = axes_of(at);
        let slack_m = |sizes_m: &[f64; 3]| rounding_m(&exact_m) + rounding_m(sizes_m);
        match obstacle.shape {
            Shape::Box { half_m: exact_half_m } => {
                let finite = exact_half_m.map(|h| if h.is_finite() { h } else { 0.0 });
                let slack_m = slack_m(&finite);
                let half_m = exact_half_m.map(|h| (h + slack_m) as f32);
                if (rotation[(2, 2)] - 1.0).abs() < 1e-14 {
                    let (sin, cos) = (rotation[(1, 0)] as f32, rotation[(0, 0)] as f32);
                    self.upright_boxes.push(LaneUprightBox { centre_m, half_m, cos, sin });
                } else {
                    self.boxes.push(LaneBox { centre_m, half_m, axes });
                }
            }
            Shape::Sphere { radius_m } | Shape::Capsule { radius_m, half_height_m: 0.0 } => {
                let radius_m = (radius_m + rounding_m(&exact_m)) as f32;
                self.spheres.push(LaneSphere { centre_m, radius_m });
            }
            Shape::Capsule { radius_m, half_height_m } => {
                self.capsules.push(LaneCapsule::new(at, radius_m, half_height_m));
            }
            Shape::Cylinder { radius_m, half_height_m } => {
                let slack_m = slack_m(&[radius_m, half_height_m, 0.0]);
                let [radius_m, half_m] = [radius_m, half_height_m].map(|l| (l + slack_m) as f32);
                self.cylinders.push(LaneCylinder { centre_m, axes, radius_m, half_m });
            }
            Shape::Ellipsoid { radii_m } => {
                let slack_m = slack_m(&radii_m);
                let radii_m = radii_m.map(|r| (r + slack_m) as f32);
                self.ellipsoids.push(LaneEllipsoid { centre_m, axes, radii_m });
            }
            Shape::Frustum { radius_m, top_radius_m, half_height_m } => {
                let sizes_m = [radius_m, top_radius_m, half_height_m];
                let slack_m = slack_m(&sizes_m) as f32;
                self.frustums.push(LaneFrustum::new(centre_m, axes, sizes_m, slack_m));
            }
            Shape::Ring { radius_m, bar_radius_m } => {
                let slack_m = slack_m(&[radius_m, bar_radius_m, 0.0]);
                let bar_radius_m = (bar_radius_m + slack_m) as f32;
                self.tori.push(LaneTorus {
                    centre_m,
                    axes,
                    circle_m: radius_m as f32,
                    bar_radius_m,
                });
            }
            Shape::Mesh(ref mesh) => self.hulls.push(LaneHull::new(at, mesh)),
            // [`Obstacle`] makes boxes of these.
            Shape::Plane { .. } => {}
        }
    }
}

/// The axes of a frame, in the world.
fn axes_of(at: &Isometry3<f64>) -> [[f32; 3]; 3] {
    let rotation = at.rotation.to_rotation_matrix();
    std::array::from_fn(|c| std::array::from_fn(|r| rotation[(r, c)] as f32))
}

/// Sorts obstacles to the links that can reach them. `homes_m`: for every link a sphere that it
/// never leaves, margins included. `passes`: whether a link need not care for an obstacle.
pub(super) fn fill(
    reachable: &mut [ReachableShapes],
    homes_m: &[([f64; 3], f64)],
    obstacles: &[Obstacle],
    passes: impl Fn(usize, usize) -> bool,
) {
    reachable.iter_mut().for_each(ReachableShapes::clear);
    for (number, obstacle) in obstacles.iter().enumerate() {
        for (link, (shapes, (home, reach_m))) in reachable.iter_mut().zip(homes_m).enumerate() {
            if !passes(link, number) && obstacle.distance_m(&Point3::from(*home)) <= *reach_m {
                shapes.push(obstacle);
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

impl LaneShape for LaneUprightBox {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>, _: F32x16<S>) -> Triple<S> {
        outside(self.in_axes(&from(&self.centre_m, points_m)), &self.half_m)
    }

    #[inline(always)]
    fn in_axes<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        let [x, y, z] = *directions;
        [x * self.cos + y * self.sin, y * self.cos - x * self.sin, z]
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        0.0
    }
}

impl LaneShape for LaneBox {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>, _: F32x16<S>) -> Triple<S> {
        outside(self.in_axes(&from(&self.centre_m, points_m)), &self.half_m)
    }

    #[inline(always)]
    fn in_axes<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        rotated(&self.axes, directions)
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        0.0
    }
}

impl LaneShape for LaneSphere {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>, _: F32x16<S>) -> Triple<S> {
        from(&self.centre_m, points_m)
    }

    #[inline(always)]
    fn in_axes<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        *directions
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        self.radius_m
    }
}

impl LaneCapsule {
    fn new(at: &Isometry3<f64>, radius_m: f64, half_m: f64) -> Self {
        let ends = [-half_m, half_m].map(|z| at * Point3::new(0.0, 0.0, z));
        let along = ends[1] - ends[0];
        let length2 = along.norm_squared();
        let slack_m: f64 = ends.iter().map(|end| rounding_m(&end.coords.into())).sum();
        let per_length2 = if length2 > 1e-12 { 1.0 / length2 } else { 0.0 };
        Self {
            from_m: ends[0].coords.map(|c| c as f32).into(),
            along_m: along.map(|c| c as f32).into(),
            per_length2: per_length2 as f32,
            // What a length that counts as none leaves out.
            radius_m: (radius_m + slack_m + 1e-6) as f32,
        }
    }
}

impl LaneShape for LaneCapsule {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>, _: F32x16<S>) -> Triple<S> {
        let from = from(&self.from_m, points_m);
        let [x, y, z] = self.along_m;
        let along = from[0] * x + from[1] * y + from[2] * z;
        let (zero, one) = (along.simd().splat(0.0), along.simd().splat(1.0));
        let part = one.min(zero.max(along * self.per_length2));
        [from[0] - part * x, from[1] - part * y, from[2] - part * z]
    }

    #[inline(always)]
    fn in_axes<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        *directions
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        self.radius_m
    }
}

impl LaneShape for LaneCylinder {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>, _: F32x16<S>) -> Triple<S> {
        let [x, y, z] = self.in_axes(&from(&self.centre_m, points_m));
        let simd = z.simd();
        // The part of the way to the axis that is outside; 0 within the radius and on the axis.
        let across = (x * x + y * y).sqrt();
        let radius = simd.splat(self.radius_m);
        let part = (across - radius.min(across)) / across.max(simd.splat(f32::MIN_POSITIVE));
        let half = simd.splat(self.half_m);
        [x * part, y * part, z - half.min((-half).max(z))]
    }

    #[inline(always)]
    fn in_axes<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        rotated(&self.axes, directions)
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        0.0
    }
}
