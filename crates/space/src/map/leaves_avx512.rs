//! A layer of sixteen voxels at once: the same steps as in plain code, the same answers.

#![expect(unsafe_code, reason = "loads and gathers")]

use std::arch::x86_64::*;

use crate::map::carve::{Carver, NEAREST_M, ROUNDING_PX};
use crate::map::leaves::{Lanes, centres_m, lanes, single};
use crate::map::windows::SIZES;

/// Sixteen pixels or texels: columns and rows.
type Places = [__m512i; 2];

/// One bit for each voxel of a layer: it was looked through.
#[target_feature(enable = "avx512f")]
pub(super) fn layer(first: [usize; 3], carver: &Carver) -> u16 {
    let [hx, hy, hz] = single(carver.half_m(1)).map(|v| _mm512_set1_ps(v));
    let centres = centres_m(carver.centre_m(first, 1), &carver.along_m);
    let [x, y, z] = [load(&centres[0]), load(&centres[1]), load(&centres[2])];
    let [fx, fy, px, py] = carver.pinhole.map(|v| _mm512_set1_ps(v));
    let (zero, one) = (_mm512_setzero_ps(), _mm512_set1_ps(1.0));
    let (width, height) = carver.picture.size();
    let [right, bottom] = [width, height].map(|n| _mm512_set1_ps((n - 1) as f32));
    let (near, far) = (_mm512_sub_ps(z, hz), _mm512_add_ps(z, hz));
    let behind = _mm512_add_ps(far, _mm512_set1_ps(carver.margin_m));

    let inverse = _mm512_div_ps(one, z);
    let u = _mm512_add_ps(_mm512_mul_ps(_mm512_mul_ps(fx, x), inverse), px);
    let v = _mm512_add_ps(_mm512_mul_ps(_mm512_mul_ps(fy, y), inverse), py);
    let mut left = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(near, _mm512_set1_ps(NEAREST_M));
    left &= inside([u, v], [u, v], zero, [right, bottom]);
    let half = _mm512_set1_ps(0.5);
    let pixels = [_mm512_add_ps(u, half), _mm512_add_ps(v, half)].map(|p| _mm512_cvttps_epi32(p));
    let nearest = gather(carver, left, texels(pixels), _mm512_setzero_si512());
    let unseen = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(nearest, _mm512_set1_ps(f32::INFINITY));
    left &= _mm512_cmp_ps_mask::<_CMP_GT_OQ>(nearest, behind);
    if left & unseen != 0 {
        let [columns, rows] = [store(pixels[0]), store(pixels[1])];
        for lane in lanes(left & unseen) {
            let blind = carver.picture.is_blind(columns[lane] as usize, rows[lane] as usize);
            left &= !(u16::from(blind) << lane);
        }
    }
    if left == 0 {
        return 0;
    }

    let inverse = [_mm512_div_ps(one, near), _mm512_div_ps(one, far)];
    let [u0, u1] = range(x, hx, inverse, [fx, px]);
    let [v0, v1] = range(y, hy, inverse, [fy, py]);
    left &= inside([u0, v0], [u1, v1], zero, [right, bottom]);
    const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
    let start = [_mm512_cvttps_epi32(u0), _mm512_cvttps_epi32(v0)];
    let end = [u1, v1].map(|p| _mm512_cvttps_epi32(_mm512_roundscale_ps::<UP>(p)));
    left & looked_through(carver, left, start, end, behind)
}

/// Lanes whose rectangle of pixels sees everything behind `behind`.
#[inline]
#[target_feature(enable = "avx512f")]
fn looked_through(
    carver: &Carver,
    left: __mmask16,
    start: Places,
    end: Places,
    behind: __m512,
) -> __mmask16 {
    let one = _mm512_set1_epi32(1);
    let (first, last) = (texels(start), texels(end));
    let span = |a: usize| _mm512_sub_epi32(last[a], first[a]);
    let longest = _mm512_add_epi32(_mm512_max_epi32(span(0), span(1)), one);
    // The exponent of a whole number is the logarithm of its highest bit.
    let bits = _mm512_castps_si512(_mm512_cvtepi32_ps(longest));
    let size = _mm512_sub_epi32(_mm512_srli_epi32::<23>(bits), _mm512_set1_epi32(127));
    let fits = _mm512_cmplt_epi32_mask(size, _mm512_set1_epi32(SIZES as i32));
    let edge = _mm512_sllv_epi32(one, size);
    let back = |a: usize| {
        let at = _mm512_sub_epi32(_mm512_add_epi32(last[a], one), edge);
        _mm512_max_epi32(at, first[a])
    };
    let (right, lower) = (back(0), back(1));
    let mut nearest = _mm512_set1_ps(f32::INFINITY);
    for corner in [first, [right, first[1]], [first[0], lower], [right, lower]] {
        nearest = _mm512_min_ps(nearest, gather(carver, left & fits, corner, size));
    }
    let mut free = fits & _mm512_cmp_ps_mask::<_CMP_GT_OQ>(nearest, behind);
    if left & !fits != 0 {
        let [c0, r0, c1, r1] = [start[0], start[1], end[0], end[1]].map(|p| store(p));
        let mut behind_m: Lanes = [0.0; 16];
        // SAFETY: the array has sixteen values.
        unsafe { _mm512_storeu_ps(behind_m.as_mut_ptr(), behind) };
        for lane in lanes(left & !fits) {
            let [first, last] = [[c0[lane], r0[lane]], [c1[lane], r1[lane]]];
            let (first, last) = (first.map(|p| p as usize), last.map(|p| p as usize));
            let nearest_m = carver.picture.nearest_m(first, last);
            free |= u16::from(nearest_m > behind_m[lane]) << lane;
        }
    }
    free
}

/// Nearest depths of squares of a size that begin at texels of the picture.
#[inline]
#[target_feature(enable = "avx512f")]
fn gather(carver: &Carver, lanes: __mmask16, texels: Places, size: __m512i) -> __m512 {
    let (width, all, nearest_m) = carver.picture.windows().tables();
    let row = _mm512_mullo_epi32(texels[1], _mm512_set1_epi32(width as i32));
    let table = _mm512_mullo_epi32(size, _mm512_set1_epi32(all as i32));
    let index = _mm512_add_epi32(_mm512_add_epi32(row, texels[0]), table);
    let none = _mm512_setzero_ps();
    // SAFETY: the texels of these lanes are in the picture and the size is one of the tables'.
    unsafe { _mm512_mask_i32gather_ps::<4>(none, lanes, index, nearest_m.as_ptr()) }
}

/// Lanes whose pixels are in the picture.
#[inline]
#[target_feature(enable = "avx512f")]
fn inside(low: [__m512; 2], high: [__m512; 2], zero: __m512, last: [__m512; 2]) -> __mmask16 {
    _mm512_cmp_ps_mask::<_CMP_GE_OQ>(low[0], zero)
        & _mm512_cmp_ps_mask::<_CMP_GE_OQ>(low[1], zero)
        & _mm512_cmp_ps_mask::<_CMP_LE_OQ>(high[0], last[0])
        & _mm512_cmp_ps_mask::<_CMP_LE_OQ>(high[1], last[1])
}

/// Pixels between which voxels are seen.
#[inline]
#[target_feature(enable = "avx512f")]
fn range(
    centre: __m512,
    half: __m512,
    [near, far]: [__m512; 2],
    [focal, axis]: [__m512; 2],
) -> [__m512; 2] {
    let (low, high) = (_mm512_sub_ps(centre, half), _mm512_add_ps(centre, half));
    let zero = _mm512_setzero_ps();
    let left = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(low, zero);
    let right = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(high, zero);
    let low = _mm512_mul_ps(low, _mm512_mask_blend_ps(left, far, near));
    let high = _mm512_mul_ps(high, _mm512_mask_blend_ps(right, far, near));
    let rounding = _mm512_set1_ps(ROUNDING_PX);
    [
        _mm512_sub_ps(_mm512_add_ps(_mm512_mul_ps(focal, low), axis), rounding),
        _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(focal, high), axis), rounding),
    ]
}

/// The texels of pixels.
#[inline]
#[target_feature(enable = "avx512f")]
fn texels(pixels: Places) -> Places {
    pixels.map(|p| _mm512_srai_epi32::<1>(p))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(values: &Lanes) -> __m512 {
    // SAFETY: the array has sixteen values.
    unsafe { _mm512_loadu_ps(values.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(values: __m512i) -> [i32; 16] {
    let mut out = [0; 16];
    // SAFETY: the array has sixteen values.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), values) };
    out
}
