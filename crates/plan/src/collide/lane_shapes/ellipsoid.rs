//! Ellipsoids in lanes.

use citrange_lanes::{F32x16, Simd, Triple, dot, rotated, scale};

use super::{LaneShape, from};

/// An ellipsoid.
#[derive(Clone, Copy, Debug)]
pub(in crate::collide) struct LaneEllipsoid {
    pub(super) centre_m: [f32; 3],
    pub(super) axes: [[f32; 3]; 3],
    pub(super) radii_m: [f32; 3],
}

/// Steps of Newton's method for the nearest point of an ellipsoid.
const NEWTON_STEPS: usize = 7;

impl LaneShape for LaneEllipsoid {
    /// From a plane that touches the ellipsoid, right where it is nearest if the steps were
    /// enough. Whatever they found, all of it is behind that plane: the distance is never too
    /// large, and proofs about the plane hold for the ellipsoid.
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>, _: F32x16<S>) -> Triple<S> {
        let p = self.in_axes(&from(&self.centre_m, points_m));
        let simd = p[0].simd();
        let tiny = simd.splat(f32::MIN_POSITIVE);
        let r2 = self.radii_m.map(|r| r * r);
        // Newton's method from below; see `Shape::signed_m`.
        let mut t = simd.splat(0.0);
        for axis in 0..3 {
            t = t.max(p[axis].abs() * self.radii_m[axis] - r2[axis]);
        }
        for _ in 0..NEWTON_STEPS {
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
    fn in_axes<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        rotated(&self.axes, directions)
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        0.0
    }
}
