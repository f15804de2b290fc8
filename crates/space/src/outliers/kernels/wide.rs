//! The inner loops for sets that have masks and close gaps.

use std::ops::Range;

use citrange_lanes::{F32x16, I32x16, LANES, Mask, Simd};

use super::{Candidates, Near};
use crate::outliers::MOST_NEIGHBOURS;
use crate::outliers::field::PointTiles;

/// As `gather_body`, with an instruction that closes the gaps.
#[inline(always)]
pub(super) fn gather<S: Simd>(
    simd: S,
    from: &Candidates<'_>,
    near: Near,
    found: &mut [f32],
    len: usize,
) -> usize {
    let p = simd.splat3(&near.p);
    let bound2 = simd.splat(near.bound2.min(f32::MAX));
    let mut len = len;
    for row in from.rows.clone() {
        let start = from.field.place(from.column, row);
        let dx = F32x16::load_at(simd, &from.field.x, start) - p[0];
        let dy = F32x16::load_at(simd, &from.field.y, start) - p[1];
        let dz = F32x16::load_at(simd, &from.field.z, start) - p[2];
        let d2 = dx * dx + dy * dy + dz * dz;
        let within = d2.le(bound2);
        d2.compress(within).store_at(found, len);
        len += within.bits().count_ones() as usize;
    }
    len
}

/// As `tiles_within_body`.
#[inline(always)]
pub(super) fn tiles_within<S: Simd>(
    simd: S,
    field: &PointTiles,
    run: Range<usize>,
    near: Near,
    tiles: &mut Vec<u32>,
) {
    let bound2 = simd.splat(near.bound2.min(f32::MAX));
    let (zero, p) = (simd.splat(0.0), simd.splat3(&near.p));
    for start in run.clone().step_by(LANES) {
        let count = (run.end - start).min(LANES);
        let chunk = start..start + count;
        let mut d2 = zero;
        for axis in 0..3 {
            let low = F32x16::load_part(simd, &field.low[axis][chunk.clone()]);
            let high = F32x16::load_part(simd, &field.high[axis][chunk.clone()]);
            let (under, over) = (low - p[axis], p[axis] - high);
            let outside = under.max(over).max(zero);
            d2 = d2 + outside * outside;
        }
        let mut within = d2.le(bound2).bits() & (u16::MAX >> (LANES - count));
        while within != 0 {
            tiles.push((start + within.trailing_zeros() as usize) as u32);
            within &= within - 1;
        }
    }
}

/// As `sort_by_counting_body`.
#[inline(always)]
pub(super) fn sort_by_counting<S: Simd>(simd: S, found: &mut [f32], len: usize, k: usize) {
    let padded = len.next_multiple_of(LANES);
    found[len..padded].fill(f32::INFINITY);
    let mut sorted = [0.0; MOST_NEIGHBOURS + 1];
    for (chunk, run) in found[..padded].as_chunks::<LANES>().0.iter().enumerate() {
        let first = chunk * LANES;
        let values = simd.load(run);
        let mut counts = I32x16::splat(simd, 0);
        for other in &found[..first] {
            counts = counts.plus_one_where(simd.splat(*other).le(values));
        }
        let mut lanes_behind = u16::MAX;
        for other in run {
            lanes_behind <<= 1;
            let other = simd.splat(*other);
            let equal = other.equal(values) & Mask::of_bits(simd, lanes_behind);
            counts = counts.plus_one_where(other.lt(values) | equal);
        }
        for other in &found[first + LANES..padded] {
            counts = counts.plus_one_where(simd.splat(*other).lt(values));
        }
        for (place, value) in counts.to_array().into_iter().zip(run) {
            sorted[(place as usize).min(MOST_NEIGHBOURS)] = *value;
        }
    }
    found[..k].copy_from_slice(&sorted[..k]);
}
