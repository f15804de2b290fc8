//! The nearest points of neighbouring pixels, side by side: a lane is a pixel, and all lanes look
//! at the same places around them.

use citrange_lanes::{F32x16, LANES, Simd, kernel};

use super::field::PointTiles;
use super::lens::Lens;
use super::networks::{exchange, merge_16_16, merge_19_16, sort_16};

/// Most neighbours besides the point itself.
const OTHERS: usize = 19;
/// Most neighbours that the window can find, the point itself included.
pub(super) const MOST: usize = OTHERS + 1;
/// Columns and rows to each side: of the first look, and of the second.
const HALVES: [usize; 2] = [3, 4];
/// Places around a point in both looks.
const PLACES: usize = 80;
/// With fewer lanes in doubt the second look does not pay.
const SECOND_LOOK_FROM: u32 = 2;

/// Squared distances of the nearest may be this part of those of the planes around the window: a
/// little less than 1 for rounding, or more where an answer may be wrong by a little.
const EASE_EXACT: f32 = 0.999_99;
const EASE_FAST: f32 = 4.0;

/// Where the planes are that bound the window of each column, or row.
///
/// A plane through the camera at tangent `t` has distance `(t * z - x) * cosine` from a point,
/// with `cosine = 1 / sqrt(1 + t * t)`; infinite where the picture ends before the window.
#[derive(Debug, Default)]
struct Sides {
    low_tangent: Vec<f32>,
    low_cosine: Vec<f32>,
    high_tangent: Vec<f32>,
    high_cosine: Vec<f32>,
}

/// What the windows of a picture need.
#[derive(Debug, Default)]
pub(super) struct Windows {
    across: [Sides; 2],
    down: [Sides; 2],
    /// From a point's place to the places around it, nearest first.
    offsets: Vec<isize>,
}

impl Windows {
    /// Prepares for a picture.
    pub(super) fn set_up(&mut self, field: &PointTiles, lens: &Lens) {
        for (look, half) in HALVES.into_iter().enumerate() {
            self.across[look].set_up(&lens.across, field.columns, half);
            self.down[look].set_up(&lens.down, field.rows, half);
        }
        self.offsets.clear();
        let reach = HALVES[1] as isize;
        for ring in 1..=reach {
            for down in -ring..=ring {
                for across in -ring..=ring {
                    if down.abs().max(across.abs()) == ring {
                        self.offsets.push(down * field.stride as isize + across);
                    }
                }
            }
        }
    }
}

impl Sides {
    /// Columns or rows; the tables are equally long.
    fn len(&self) -> usize {
        self.high_cosine.len()
    }

    fn set_up(&mut self, tangents: &super::lens::Tangents, all: usize, half: usize) {
        for list in [
            &mut self.low_tangent,
            &mut self.low_cosine,
            &mut self.high_tangent,
            &mut self.high_cosine,
        ] {
            list.clear();
        }
        let cosine = |tangent: f64| (1.0 / tangent.hypot(1.0)) as f32;
        for number in 0..all {
            let ends = (half + 1) as f64;
            let low = tangents.first + tangents.step * (number as f64 - ends) + tangents.slack;
            let high = tangents.first + tangents.step * (number as f64 + ends) - tangents.slack;
            let (low_end, high_end) = (number <= half, number + half + 1 >= all);
            self.low_tangent.push(low as f32);
            self.low_cosine.push(if low_end { f32::INFINITY } else { cosine(low) });
            self.high_tangent.push(high as f32);
            self.high_cosine.push(if high_end { f32::INFINITY } else { cosine(high) });
        }
    }
}

/// One row of a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) field: &'a PointTiles,
    pub(super) windows: &'a Windows,
    pub(super) row: usize,
    /// Neighbours, the point itself included; no more than [`MOST`].
    pub(super) k: usize,
    /// Whether all points are to be doubted whose nearest may be outside of the window, or only
    /// those whose nearest are far outside.
    pub(super) exact: bool,
}

/// A column, and the squared distance that holds enough neighbours of its point.
pub(super) type Doubtful = (u32, f32);

kernel! {
    /// Writes the mean distances to the nearest of a row's points, and lists those for which the
    /// window is too small.
    pub(super) fn measure_row(
        simd, row: &Row<'_>, values: &mut [f32], doubtful: &mut Vec<Doubtful>,
    ) {
        measure(simd, row, values, doubtful);
    }
}

#[inline(always)]
fn measure<S: Simd>(simd: S, row: &Row<'_>, values: &mut [f32], doubtful: &mut Vec<Doubtful>) {
    let Row { field, windows, k, .. } = *row;
    let Some(offsets) = windows.offsets.first_chunk::<PLACES>() else { return };
    // Loads below reach no farther than the last offset and one vector.
    let reach = offsets[PLACES - 1].unsigned_abs();
    let (start, end) = (field.place(0, row.row), field.place(field.columns, row.row));
    let places = field.x.len().min(field.y.len()).min(field.z.len());
    assert!(start >= reach && end + reach <= places);
    assert!(values.len() <= field.columns && field.columns.is_multiple_of(LANES));
    assert!(windows.across.iter().all(|sides| sides.len() >= field.columns));
    for column in (0..values.len()).step_by(LANES) {
        let at = start + column;
        let p = [
            F32x16::load_at(simd, &field.x, at),
            F32x16::load_at(simd, &field.y, at),
            F32x16::load_at(simd, &field.z, at),
        ];
        let here = p[0].lt(simd.splat(f32::INFINITY)).bits();
        if here == 0 {
            continue;
        }
        let mut near = first_look(simd, field, at, offsets, p);
        let mut unsure = here & !sure(simd, row, 0, column, near[k - 2], p);
        if row.exact && unsure.count_ones() >= SECOND_LOOK_FROM {
            second_look(simd, field, at, offsets, p, &mut near);
            unsure = here & !sure(simd, row, 1, column, near[k - 2], p);
        }
        let means = mean_of_roots(simd, &near[..k - 1]).to_array();
        let bounds2 = near[k - 2].to_array();
        for (i, value) in values[column..].iter_mut().take(LANES).enumerate() {
            if here >> i & 1 == 0 {
                continue;
            }
            *value = means[i];
            if unsure >> i & 1 == 1 {
                doubtful.push(((column + i) as u32, bounds2[i]));
            }
        }
    }
}

/// Squared distances to 16 places around each lane's point, in order.
#[inline(always)]
fn sorted_batch<S: Simd>(
    simd: S,
    field: &PointTiles,
    at: usize,
    offsets: &[isize],
    p: [F32x16<S>; 3],
) -> [F32x16<S>; 16] {
    let mut batch = [simd.splat(f32::INFINITY); 16];
    for (d2, &offset) in batch.iter_mut().zip(offsets) {
        let from = at.wrapping_add_signed(offset);
        let dx = F32x16::load_at(simd, &field.x, from) - p[0];
        let dy = F32x16::load_at(simd, &field.y, from) - p[1];
        let dz = F32x16::load_at(simd, &field.z, from) - p[2];
        *d2 = dx * dx + dy * dy + dz * dz;
    }
    sort_16!(batch);
    batch
}

/// The nearest of the 48 places of the small window.
#[inline(always)]
fn first_look<S: Simd>(
    simd: S,
    field: &PointTiles,
    at: usize,
    offsets: &[isize; PLACES],
    p: [F32x16<S>; 3],
) -> [F32x16<S>; OTHERS] {
    let one = sorted_batch(simd, field, at, &offsets[..16], p);
    let two = sorted_batch(simd, field, at, &offsets[16..32], p);
    let mut both = [simd.splat(f32::INFINITY); 32];
    both[..16].copy_from_slice(&one);
    both[16..].copy_from_slice(&two);
    merge_16_16!(both);
    let mut near = [simd.splat(f32::INFINITY); OTHERS];
    near.copy_from_slice(&both[..OTHERS]);
    let three = sorted_batch(simd, field, at, &offsets[32..48], p);
    merge_in(simd, &mut near, &three);
    near
}

/// Adds the 32 places around the small window.
#[inline(always)]
fn second_look<S: Simd>(
    simd: S,

    field: &PointTiles,
    at: usize,
    offsets: &[isize; PLACES],
    p: [F32x16<S>; 3],
    near: &mut [F32x16<S>; OTHERS],
) {
    merge_in(simd, near, &sorted_batch(simd, field, at, &offsets[48..64], p));
    merge_in(simd, near, &sorted_batch(simd, field, at, &offsets[64..], p));
}

#[inline(always)]
fn merge_in<S: Simd>(simd: S, near: &mut [F32x16<S>; OTHERS], batch: &[F32x16<S>; 16]) {
    let mut both = [simd.splat(f32::INFINITY); OTHERS + 16];
    both[..OTHERS].copy_from_slice(near);
    both[OTHERS..].copy_from_slice(batch);
    merge_19_16!(both);
    near.copy_from_slice(&both[..OTHERS]);
}

/// Lanes whose nearest are nearer than everything outside of the window can be, or nearly so
/// if that is enough.
#[inline(always)]
fn sure<S: Simd>(
    simd: S,
    row: &Row<'_>,
    look: usize,
    column: usize,
    farthest2: F32x16<S>,
    p: [F32x16<S>; 3],
) -> u16 {
    let (across, down) = (&row.windows.across[look], &row.windows.down[look]);
    let [x, y, z] = p;
    let left = x - F32x16::load_at(simd, &across.low_tangent, column) * z;
    let left = left * F32x16::load_at(simd, &across.low_cosine, column);
    let right = F32x16::load_at(simd, &across.high_tangent, column) * z - x;
    let right = right * F32x16::load_at(simd, &across.high_cosine, column);
    let up = (y - z * down.low_tangent[row.row]) * down.low_cosine[row.row];
    let under = (z * down.high_tangent[row.row] - y) * down.high_cosine[row.row];
    let free = left.min(right).min(up.min(under)).max(simd.splat(0.0));
    let ease = if row.exact { EASE_EXACT } else { EASE_FAST };
    farthest2.lt(free * free * ease).bits()
}

/// As `search::mean_of_roots`, with the point itself as the first.
#[inline(always)]
fn mean_of_roots<S: Simd>(simd: S, sorted2: &[F32x16<S>]) -> F32x16<S> {
    let mut parts = [simd.splat(0.0); 4];
    for (i, &d2) in sorted2.iter().enumerate() {
        parts[(i + 1) % 4] = parts[(i + 1) % 4] + d2.sqrt();
    }
    let sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    sum / (sorted2.len() + 1) as f32
}
