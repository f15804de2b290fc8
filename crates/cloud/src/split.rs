//! Little-endian float32 points taken apart into x, y and z: most cameras' layout.

use citrange_lanes::{Isa, Kernel, Simd};

/// Takes points with x, y, z at bytes 0, 4, 8 apart. Says no to distances between points that
/// have no loop of their own.
pub(super) fn split(
    isa: Isa,
    step: usize,
    points: &[u8],
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
) -> bool {
    match step {
        12 => isa.run(Split::<12> { points, x, y, z }),
        16 => isa.run(Split::<16> { points, x, y, z }),
        20 => isa.run(Split::<20> { points, x, y, z }),
        32 => isa.run(Split::<32> { points, x, y, z }),
        _ => return false,
    }
    true
}

/// The loop for one distance between points, compiled for each instruction set.
struct Split<'a, const STEP: usize> {
    points: &'a [u8],
    x: &'a mut [f32],
    y: &'a mut [f32],
    z: &'a mut [f32],
}

impl<const STEP: usize> Kernel for Split<'_, STEP> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        plain::<STEP>(self.points, self.x, self.y, self.z);
    }
}

#[inline(always)]
fn plain<const STEP: usize>(points: &[u8], x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
    let (points, _) = points.as_chunks::<STEP>();
    let axis =
        |p: &[u8; STEP], at: usize| f32::from_le_bytes([p[at], p[at + 1], p[at + 2], p[at + 3]]);
    for (((point, x), y), z) in points.iter().zip(x).zip(y).zip(z) {
        *x = axis(point, 0);
        *y = axis(point, 4);
        *z = axis(point, 8);
    }
}
