//! Inner loops of the search, for each instruction set. All give the same answers.

use std::ops::Range;

use super::field::{Field, TILE_COLUMNS};
use crate::simd::Isa;

/// Rows of one tile to look at.
pub(super) struct Candidates<'a> {
    pub(super) field: &'a Field,
    /// First column of the tile.
    pub(super) column: usize,
    pub(super) rows: Range<usize>,
}

/// Adds those tiles of a run whose boxes are within a squared distance of a point.
pub(super) fn tiles_within(
    _isa: Isa,
    field: &Field,
    run: Range<usize>,
    p: [f32; 3],
    bound2: f32,
    tiles: &mut Vec<u32>,
) {
    for tile in run {
        let d2 = box_distance2(field, tile, p);
        if d2 <= bound2 && d2 < f32::INFINITY {
            tiles.push(tile as u32);
        }
    }
}

/// Squared distance of a point to a tile's box. It is computed as those of points are, so that
/// rounding never makes it larger than that of a point inside.
#[inline(always)]
pub(super) fn box_distance2(field: &Field, tile: usize, p: [f32; 3]) -> f32 {
    let mut d2 = 0.0;
    for axis in 0..3 {
        let (under, over) = (field.low[axis][tile] - p[axis], p[axis] - field.high[axis][tile]);
        let outside = if under > over { under } else { over };
        let outside = if outside > 0.0 { outside } else { 0.0 };
        d2 += outside * outside;
    }
    d2
}

/// Writes the squared distances within a bound behind the first `len`, and says how many there
/// are then. `found` has room for the tile and one vector more.
pub(super) fn gather(
    _isa: Isa,
    from: &Candidates<'_>,
    p: [f32; 3],
    bound2: f32,
    found: &mut [f32],
    len: usize,
) -> usize {
    gather_plain(from, p, bound2, found, len)
}

fn gather_plain(
    from: &Candidates<'_>,
    p: [f32; 3],
    bound2: f32,
    found: &mut [f32],
    mut len: usize,
) -> usize {
    for row in from.rows.clone() {
        let start = from.field.place(from.column, row);
        let run = start..start + TILE_COLUMNS;
        let (x, y, z) =
            (&from.field.x[run.clone()], &from.field.y[run.clone()], &from.field.z[run]);
        let mut d2 = [0.0; TILE_COLUMNS];
        for i in 0..TILE_COLUMNS {
            let (dx, dy, dz) = (x[i] - p[0], y[i] - p[1], z[i] - p[2]);
            d2[i] = dx * dx + dy * dy + dz * dz;
        }
        for d2 in d2 {
            found[len] = d2;
            len += usize::from(d2 <= bound2 && d2 < f32::INFINITY);
        }
    }
    len
}

/// Brings the `k` smallest of the first `len` to the front, in order; all if there are fewer.
pub(super) fn sort_smallest(_isa: Isa, found: &mut [f32], len: usize, k: usize) {
    let found = &mut found[..len];
    let k = k.min(len);
    if k < len {
        found.select_nth_unstable_by(k, f32::total_cmp);
    }
    found[..k].sort_unstable_by(f32::total_cmp);
}
