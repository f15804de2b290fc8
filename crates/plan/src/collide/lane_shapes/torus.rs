//! Tori in lanes: all points within a radius of a circle.

use citrange_lanes::{F32x16, Simd, Triple, rotated};

use super::{LaneShape, from};

/// Points nearer to the axis than this are moved off it: then there is a nearest point.
const AXIS_M: f32 = 1e-20;

/// A ring of round bar.
#[derive(Clone, Copy, Debug)]
pub(in crate::collide) struct LaneTorus {
    pub(super) centre_m: [f32; 3],
    pub(super) axes: [[f32; 3]; 3],
    /// From the middle to the middle of the bar.
    pub(super) circle_m: f32,
    pub(super) bar_radius_m: f32,
}

impl LaneShape for LaneTorus {
    // A link may pass through it: planes prove nothing.
    const IS_CONVEX: bool = false;

    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>, _: F32x16<S>) -> Triple<S> {
        let [x, y, z] = self.in_axes(&from(&self.centre_m, points_m));
        let axis = z.simd().splat(AXIS_M);
        let round = (x * x + y * y).sqrt();
        let is_on_axis = round.lt(axis);
        let (x, round) = (is_on_axis.select(axis, x), round.max(axis));
        let part = (round - self.circle_m) / round;
        [x * part, y * part, z]
    }

    #[inline(always)]
    fn in_axes<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        rotated(&self.axes, directions)
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        self.bar_radius_m
    }
}
