//! A layer of sixteen voxels at once, for sets that gather: the same steps as in plain code, the
//! same answers.

use citrange_lanes::{F32x16, I32x16, Mask, Simd};

use crate::map::carve::{Carver, NEAREST_M, ROUNDING_PX};
use crate::map::leaves::{centres_m, lanes, single};
use crate::map::windows::SIZES;

/// Sixteen pixels or texels: columns and rows.
type Places<S> = [I32x16<S>; 2];

/// One bit for each voxel of a layer: it was looked through.
#[inline(always)]
pub(super) fn layer<S: Simd>(simd: S, first: [usize; 3], carver: &Carver) -> u16 {
    let [hx, hy, hz] = single(carver.half_m(1));
    let centres = centres_m(carver.centre_m(first, 1), &carver.along_m);
    let [x, y, z] = [simd.load(&centres[0]), simd.load(&centres[1]), simd.load(&centres[2])];
    let [fx, fy, px, py] = carver.pinhole;
    let one = simd.splat(1.0);
    let (width, height) = carver.picture.size();
    let last = [simd.splat((width - 1) as f32), simd.splat((height - 1) as f32)];
    let (near, far) = (z - hz, z + hz);
    let behind = far + carver.margin_m;

    let inverse = one / z;
    let u = x * fx * inverse + px;
    let v = y * fy * inverse + py;
    let mut left = near.ge(simd.splat(NEAREST_M)) & inside([u, v], [u, v], last);
    let pixels = [(u + 0.5).truncate(), (v + 0.5).truncate()];
    let nearest = gather(carver, left, texels(pixels), I32x16::splat(simd, 0));
    let unseen = nearest.equal(simd.splat(f32::INFINITY));
    left = left & nearest.gt(behind);
    if (left & unseen).any() {
        let [columns, rows] = [pixels[0].to_array(), pixels[1].to_array()];
        let mut seen = u16::MAX;
        for lane in lanes((left & unseen).bits()) {
            let blind = carver.picture.is_blind(columns[lane] as usize, rows[lane] as usize);
            seen &= !(u16::from(blind) << lane);
        }
        left = left & Mask::of_bits(simd, seen);
    }
    if !left.any() {
        return 0;
    }

    let inverse = [one / near, one / far];
    let [u0, u1] = range(x, hx, inverse, [fx, px]);
    let [v0, v1] = range(y, hy, inverse, [fy, py]);
    left = left & inside([u0, v0], [u1, v1], last);
    let start = [u0.truncate(), v0.truncate()];
    let end = [u1.ceil().truncate(), v1.ceil().truncate()];
    left.bits() & looked_through(carver, left, start, end, behind)
}

/// Lanes whose rectangle of pixels sees everything behind `behind`.
#[inline(always)]
fn looked_through<S: Simd>(
    carver: &Carver,
    left: Mask<S>,
    start: Places<S>,
    end: Places<S>,
    behind: F32x16<S>,
) -> u16 {
    let simd = behind.simd();
    let one = I32x16::splat(simd, 1);
    let (first, last) = (texels(start), texels(end));
    let longest = (last[0] - first[0]).max(last[1] - first[1]) + one;
    // The exponent of a whole number is the logarithm of its highest bit.
    let size = longest.to_f32().to_bits().shift_right(23) - 127;
    let fits = size.lt(I32x16::splat(simd, SIZES as i32));
    let edge = one.shift_left_each(size);
    let right = (last[0] + one - edge).max(first[0]);
    let lower = (last[1] + one - edge).max(first[1]);
    let mut nearest = simd.splat(f32::INFINITY);
    for corner in [first, [right, first[1]], [first[0], lower], [right, lower]] {
        nearest = nearest.min(gather(carver, left & fits, corner, size));
    }
    let mut free = (fits & nearest.gt(behind)).bits();
    let rest = (left & !fits).bits();
    if rest != 0 {
        let [c0, r0] = [start[0].to_array(), start[1].to_array()];
        let [c1, r1] = [end[0].to_array(), end[1].to_array()];
        let behind_m = behind.to_array();
        for lane in lanes(rest) {
            let [first, last] = [[c0[lane], r0[lane]], [c1[lane], r1[lane]]];
            let (first, last) = (first.map(|p| p as usize), last.map(|p| p as usize));
            let nearest_m = carver.picture.nearest_m(first, last);
            free |= u16::from(nearest_m > behind_m[lane]) << lane;
        }
    }
    free
}

/// Nearest depths of squares of a size that begin at texels of the picture.
#[inline(always)]
fn gather<S: Simd>(
    carver: &Carver,
    lanes: Mask<S>,
    texels: Places<S>,
    size: I32x16<S>,
) -> F32x16<S> {
    let (width, all, nearest_m) = carver.picture.windows().tables();
    let index = texels[1] * width as i32 + texels[0] + size * all as i32;
    F32x16::gather(nearest_m, index, lanes)
}

/// Lanes whose pixels are in the picture.
#[inline(always)]
fn inside<S: Simd>(low: [F32x16<S>; 2], high: [F32x16<S>; 2], last: [F32x16<S>; 2]) -> Mask<S> {
    let zero = low[0].simd().splat(0.0);
    low[0].ge(zero) & low[1].ge(zero) & high[0].le(last[0]) & high[1].le(last[1])
}

/// Pixels between which voxels are seen.
#[inline(always)]
fn range<S: Simd>(
    centre: F32x16<S>,
    half: f32,
    [near, far]: [F32x16<S>; 2],
    [focal, axis]: [f32; 2],
) -> [F32x16<S>; 2] {
    let (low, high) = (centre - half, centre + half);
    let zero = centre.simd().splat(0.0);
    let low = low * low.lt(zero).select(near, far);
    let high = high * high.gt(zero).select(near, far);
    [low * focal + axis - ROUNDING_PX, high * focal + axis + ROUNDING_PX]
}

/// The texels of pixels.
#[inline(always)]
fn texels<S: Simd>(pixels: Places<S>) -> Places<S> {
    [pixels[0].shift_right_signed(1), pixels[1].shift_right_signed(1)]
}
