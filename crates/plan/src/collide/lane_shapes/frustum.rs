//! Frustums in lanes: in the half plane through the axis, the distance to a trapezium.

use citrange_lanes::{F32x16, Simd, Triple, rotated};

use super::{LaneShape, from};

/// A cone with its tip cut off.
#[derive(Clone, Copy, Debug)]
pub(in crate::collide) struct LaneFrustum {
    centre_m: [f32; 3],
    axes: [[f32; 3]; 3],
    /// Below and above.
    radii_m: [f32; 2],
    half_m: f32,
    /// From the rim below to the rim above: outwards and up.
    slant_m: [f32; 2],
    /// One over the squared length of that; 0 for a point.
    per_slant2: f32,
    /// What rounding can do.
    slack_m: f32,
}

impl LaneFrustum {
    pub(super) fn new(
        centre_m: [f32; 3],
        axes: [[f32; 3]; 3],
        [radius_m, top_radius_m, half_m]: [f64; 3],
        slack_m: f32,
    ) -> Self {
        let slant_m = [top_radius_m - radius_m, 2.0 * half_m];
        let slant2 = slant_m[0] * slant_m[0] + slant_m[1] * slant_m[1];
        Self {
            centre_m,
            axes,
            radii_m: [radius_m as f32, top_radius_m as f32],
            half_m: half_m as f32,
            slant_m: slant_m.map(|l| l as f32),
            per_slant2: if slant2 > 1e-12 { (1.0 / slant2) as f32 } else { 0.0 },
            // What a slant that counts as none leaves out.
            slack_m: slack_m + 1e-6,
        }
    }
}

impl LaneShape for LaneFrustum {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>, _: F32x16<S>) -> Triple<S> {
        let [x, y, z] = self.in_axes(&from(&self.centre_m, points_m));
        let simd = z.simd();
        let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
        let [wide, top] = self.radii_m;
        let [out, up] = self.slant_m;
        let round = (x * x + y * y).sqrt();
        // To the mantle: where along the slant, and from there.
        let (beside, above) = (round - wide, z + self.half_m);
        let part = one.min(zero.max((beside * out + above * up) * self.per_slant2));
        let mut nearest = [beside - part * out, above - part * up];
        let mut least = nearest[0] * nearest[0] + nearest[1] * nearest[1];
        // To the faces below and above.
        for (radius, height) in [(wide, -self.half_m), (top, self.half_m)] {
            let face = [round - round.min(simd.splat(radius)), z - height];
            let square = face[0] * face[0] + face[1] * face[1];
            let is_nearer = square.lt(least);
            nearest[0] = is_nearer.select(face[0], nearest[0]);
            nearest[1] = is_nearer.select(face[1], nearest[1]);
            least = is_nearer.select(square, least);
        }
        let is_low = z.abs().le(simd.splat(self.half_m));
        let is_inside = is_low & (beside * up - above * out).le(zero);
        let across = is_inside.select(zero, nearest[0]) / round.max(simd.splat(f32::MIN_POSITIVE));
        [x * across, y * across, is_inside.select(zero, nearest[1])]
    }

    #[inline(always)]
    fn in_axes<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        rotated(&self.axes, directions)
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        self.slack_m
    }
}
