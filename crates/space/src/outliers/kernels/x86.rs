//! The inner loops for vector instructions of x86-64 processors.

use std::arch::x86_64::*;
use std::ops::Range;

use super::{Candidates, LANES, Near};
use crate::outliers::MOST_NEIGHBOURS;
use crate::outliers::field::{Field, TILE_COLUMNS};

/// Functions that are a body compiled for an instruction set.
macro_rules! compiled_for {
    ($feature:literal: $($name:ident = $body:path, ($($argument:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
        $(
            #[expect(unsafe_code, reason = "a call into code for an instruction set")]
            pub(super) fn $name($($argument: $type),*) $(-> $out)? {
                #[target_feature(enable = $feature)]
                fn inner($($argument: $type),*) $(-> $out)? {
                    $body($($argument),*)
                }
                // SAFETY: the instruction set is chosen only where the processor has it.
                unsafe { inner($($argument),*) }
            }
        )*
    };
}

compiled_for!("avx2,fma":
    tiles_within_avx2 = super::tiles_within_body,
        (field: &Field, run: Range<usize>, near: Near, tiles: &mut Vec<u32>);
    gather_avx2 = super::gather_body,
        (from: &Candidates<'_>, near: Near, found: &mut [f32], len: usize) -> usize;
    sort_by_counting_avx2 = super::sort_by_counting_body,
        (found: &mut [f32], len: usize, k: usize);
);

compiled_for!("avx512f,avx512bw,avx512dq,avx512vl":
    tiles_within_avx512 = tiles_by_mask,
        (field: &Field, run: Range<usize>, near: Near, tiles: &mut Vec<u32>);
    gather_avx512 = gather_compressed,
        (from: &Candidates<'_>, near: Near, found: &mut [f32], len: usize) -> usize;
    sort_by_counting_avx512 = sort_by_masks,
        (found: &mut [f32], len: usize, k: usize);
);

/// As `gather_body`, with an instruction that closes the gaps.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
#[expect(unsafe_code, reason = "loads and stores")]
fn gather_compressed(from: &Candidates<'_>, near: Near, found: &mut [f32], len: usize) -> usize {
    let [x, y, z] = near.p.map(|c| _mm512_set1_ps(c));
    let bound2 = _mm512_set1_ps(near.bound2.min(f32::MAX));
    let mut len = len;
    for row in from.rows.clone() {
        let start = from.field.place(from.column, row);
        let axis = |axis: &[f32]| {
            let run = &axis[start..start + TILE_COLUMNS];
            // SAFETY: the run is as long as the vector.
            unsafe { _mm512_loadu_ps(run.as_ptr()) }
        };
        let dx = _mm512_sub_ps(axis(&from.field.x), x);
        let dy = _mm512_sub_ps(axis(&from.field.y), y);
        let dz = _mm512_sub_ps(axis(&from.field.z), z);
        let flat2 = _mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy));
        let d2 = _mm512_add_ps(flat2, _mm512_mul_ps(dz, dz));
        let within = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(d2, bound2);
        let room = &mut found[len..len + TILE_COLUMNS];
        // SAFETY: the room is as long as the vector.
        unsafe { _mm512_storeu_ps(room.as_mut_ptr(), _mm512_maskz_compress_ps(within, d2)) };
        len += within.count_ones() as usize;
    }
    len
}

/// As `tiles_within_body`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
#[expect(unsafe_code, reason = "masked loads")]
fn tiles_by_mask(field: &Field, run: Range<usize>, near: Near, tiles: &mut Vec<u32>) {
    let bound2 = _mm512_set1_ps(near.bound2.min(f32::MAX));
    for start in run.clone().step_by(LANES) {
        let count = (run.end - start).min(LANES);
        let lanes = u16::MAX >> (LANES - count);
        let load = |corner: &[f32]| {
            let corners = &corner[start..start + count];
            // SAFETY: only the lanes of the slice are loaded.
            unsafe { _mm512_maskz_loadu_ps(lanes, corners.as_ptr()) }
        };
        let mut d2 = _mm512_setzero_ps();
        for axis in 0..3 {
            let p = _mm512_set1_ps(near.p[axis]);
            let under = _mm512_sub_ps(load(&field.low[axis]), p);
            let over = _mm512_sub_ps(p, load(&field.high[axis]));
            let outside = _mm512_max_ps(_mm512_max_ps(under, over), _mm512_setzero_ps());
            d2 = _mm512_add_ps(d2, _mm512_mul_ps(outside, outside));
        }
        let mut within = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(lanes, d2, bound2);
        while within != 0 {
            tiles.push((start + within.trailing_zeros() as usize) as u32);
            within &= within - 1;
        }
    }
}

/// As `sort_by_counting_body`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
#[expect(unsafe_code, reason = "loads and stores")]
fn sort_by_masks(found: &mut [f32], len: usize, k: usize) {
    let padded = len.next_multiple_of(LANES);
    found[len..padded].fill(f32::INFINITY);
    let one = _mm512_set1_epi32(1);
    let mut sorted = [0.0; MOST_NEIGHBOURS + 1];
    for (chunk, run) in found[..padded].chunks_exact(LANES).enumerate() {
        let first = chunk * LANES;
        // SAFETY: the run is as long as the vector.
        let values = unsafe { _mm512_loadu_ps(run.as_ptr()) };
        let mut counts = _mm512_setzero_si512();
        for other in &found[..first] {
            let before = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(_mm512_set1_ps(*other), values);
            counts = _mm512_mask_add_epi32(counts, before, counts, one);
        }
        let mut lanes_behind = u16::MAX;
        for other in run {
            lanes_behind <<= 1;
            let other = _mm512_set1_ps(*other);
            let smaller = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(other, values);
            let equal = _mm512_mask_cmp_ps_mask::<_CMP_EQ_OQ>(lanes_behind, other, values);
            counts = _mm512_mask_add_epi32(counts, smaller | equal, counts, one);
        }
        for other in &found[first + LANES..padded] {
            let before = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_set1_ps(*other), values);
            counts = _mm512_mask_add_epi32(counts, before, counts, one);
        }
        let mut places = [0_u32; LANES];
        // SAFETY: the array is as long as the vector.
        unsafe { _mm512_storeu_si512(places.as_mut_ptr().cast(), counts) };
        for (place, value) in places.into_iter().zip(run) {
            sorted[(place as usize).min(MOST_NEIGHBOURS)] = *value;
        }
    }
    found[..k].copy_from_slice(&sorted[..k]);
}
