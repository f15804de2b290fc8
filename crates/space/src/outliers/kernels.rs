//! Inner loops of the search, for each instruction set. All give the same answers: most are one
//! text that is compiled for each of them.

use std::ops::Range;

use citrange_lanes::{Isa, LANES, kernel};

use super::MOST_NEIGHBOURS;
use super::field::{PointTiles, TILE_COLUMNS};

mod wide;

/// Up to so many candidates are sorted by counting for each how many are smaller.
const COUNTED: usize = 128;

/// Rows of one tile to look at.
pub(super) struct Candidates<'a> {
    pub(super) field: &'a PointTiles,
    /// First column of the tile.
    pub(super) column: usize,
    pub(super) rows: Range<usize>,
}

kernel! {
    /// Adds those tiles of a run whose boxes are within a squared distance of a point.
    pub(super) fn tiles_within(
        simd, field: &PointTiles, run: Range<usize>, near: Near, tiles: &mut Vec<u32>,
    ) {
        if S::IS_WIDE {
            wide::tiles_within(simd, field, run, near, tiles);
        } else {
            tiles_within_body(field, run, near, tiles);
        }
    }
}

/// A point, and a squared distance from it. Infinite: all that is somewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub(super) p: [f32; 3],
    pub(super) bound2: f32,
}

#[inline(always)]
fn tiles_within_body(field: &PointTiles, run: Range<usize>, near: Near, tiles: &mut Vec<u32>) {
    let bound2 = near.bound2.min(f32::MAX);
    let mut start = run.start;
    while start < run.end {
        let chunk = start..run.end.min(start + LANES);
        let mut distances2 = [0.0; LANES];
        for axis in 0..3 {
            let (low, high) = (&field.low[axis][chunk.clone()], &field.high[axis][chunk.clone()]);
            for ((d2, low), high) in distances2.iter_mut().zip(low).zip(high) {
                let outside = outside_m(near.p[axis], *low, *high);
                *d2 += outside * outside;
            }
        }
        for (tile, d2) in chunk.zip(distances2) {
            if d2 <= bound2 {
                tiles.push(tile as u32);
            }
        }
        start += LANES;
    }
}

/// How far a coordinate is out of a range.
#[inline(always)]
fn outside_m(p: f32, low: f32, high: f32) -> f32 {
    let (under, over) = (low - p, p - high);
    let outside = if under > over { under } else { over };
    if outside > 0.0 { outside } else { 0.0 }
}

/// Squared distance of a point to a tile's box. It is computed as those of points are, so that
/// rounding never makes it larger than that of a point inside.
#[inline(always)]
pub(super) fn box_distance2(field: &PointTiles, tile: usize, p: [f32; 3]) -> f32 {
    let mut d2 = 0.0;
    for axis in 0..3 {
        let outside = outside_m(p[axis], field.low[axis][tile], field.high[axis][tile]);
        d2 += outside * outside;
    }
    d2
}

kernel! {
    /// Writes the squared distances within a bound behind the first `len`, and says how many
    /// there are then. `found` has room for the tile and one vector more.
    pub(super) fn gather(
        simd, from: &Candidates<'_>, near: Near, found: &mut [f32], len: usize,
    ) -> usize {
        if S::IS_WIDE {
            wide::gather(simd, from, near, found, len)
        } else {
            gather_body(from, near, found, len)
        }
    }
}

#[inline(always)]
fn gather_body(from: &Candidates<'_>, near: Near, found: &mut [f32], mut len: usize) -> usize {
    let Near { p, bound2 } = near;
    let bound2 = bound2.min(f32::MAX);
    for row in from.rows.clone() {
        let start = from.field.place(from.column, row);
        let run = start..start + TILE_COLUMNS;
        let (x, y, z) =
            (&from.field.x[run.clone()], &from.field.y[run.clone()], &from.field.z[run]);
        let mut distances2 = [0.0; TILE_COLUMNS];
        let mut smallest = [f32::INFINITY; TILE_COLUMNS / 2];
        for i in 0..TILE_COLUMNS {
            let (dx, dy, dz) = (x[i] - p[0], y[i] - p[1], z[i] - p[2]);
            distances2[i] = dx * dx + dy * dy + dz * dz;
        }
        for i in 0..smallest.len() {
            let (a, b) = (distances2[i], distances2[i + smallest.len()]);
            smallest[i] = if a < b { a } else { b };
        }
        if smallest.iter().any(|d2| *d2 <= bound2) {
            for d2 in distances2 {
                found[len] = d2;
                len += usize::from(d2 <= bound2);
            }
        }
    }
    len
}

/// Brings the `k` smallest of the first `len` to the front, in order; all if there are fewer.
/// What is behind them is lost. `found` has room for one vector more than `len`.
pub(super) fn sort_smallest(isa: Isa, found: &mut [f32], mut len: usize, k: usize) {
    let k = k.min(len);
    if len > COUNTED {
        found[..len].select_nth_unstable_by(k.saturating_sub(1), f32::total_cmp);
        len = k;
    }
    sort_by_counting(isa, found, len, k);
}

kernel! {
    fn sort_by_counting(simd, found: &mut [f32], len: usize, k: usize) {
        if S::IS_WIDE {
            wide::sort_by_counting(simd, found, len, k);
        } else {
            sort_by_counting_body(found, len, k);
        }
    }
}

/// A value's place is how many are smaller; of equal ones, those before it count too.
#[inline(always)]
fn sort_by_counting_body(found: &mut [f32], len: usize, k: usize) {
    let padded = len.next_multiple_of(LANES);
    found[len..padded].fill(f32::INFINITY);
    let mut sorted = [0.0; MOST_NEIGHBOURS + 1];
    for first in (0..padded).step_by(LANES) {
        let mut values = [0.0_f32; LANES];
        values.copy_from_slice(&found[first..first + LANES]);
        let mut places = [0_u32; LANES];
        for other in &found[..first] {
            for i in 0..LANES {
                places[i] += u32::from(*other <= values[i]);
            }
        }
        for (j, other) in values.into_iter().enumerate() {
            for i in 0..LANES {
                let smaller = (other < values[i]) | ((other == values[i]) & (j < i));
                places[i] += u32::from(smaller);
            }
        }
        for other in &found[first + LANES..padded] {
            for i in 0..LANES {
                places[i] += u32::from(*other < values[i]);
            }
        }
        for (place, value) in places.into_iter().zip(values) {
            sorted[(place as usize).min(MOST_NEIGHBOURS)] = value;
        }
    }
    found[..k].copy_from_slice(&sorted[..k]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_come_first_in_order() {
        for len in [0, 1, 5, 16, 17, 40, 127, 128, 129, 300] {
            for k in [2, 20, 64] {
                let values: Vec<f32> = (0..len).map(|i| ((i * 37 + 11) % 61) as f32).collect();
                let mut expected = values.clone();
                expected.sort_by(f32::total_cmp);
                expected.truncate(k);
                for isa in Isa::available() {
                    let mut found = values.clone();
                    found.resize(len + LANES, -1.0);
                    sort_smallest(isa, &mut found, len, k);
                    assert_eq!(found[..expected.len()], expected, "{len} {k} {isa:?}");
                }
            }
        }
    }
}
