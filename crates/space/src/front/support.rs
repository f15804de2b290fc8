//! Which points their neighbours in the picture confirm.
//!
//! At the edge of a thing a camera may see a point in the air between it and what is behind.
//! Such a point has many neighbours in the picture, and hardly any at its own depth. A point on a
//! surface that is seen at a slant has few neighbours, because little light comes back, but most
//! of them continue the surface. So of the 24 pixels around a point, those agree whose depth
//! differs by less than a part of the depth per pixel of distance, and the point is confirmed when
//! enough agree and they are a fair fraction of those that were seen.
//!
//! A voxel stays when one of its points is confirmed; then all its points count.

use citrange_lanes::{I32x16, Isa, LANES, Simd, kernel};

use super::block::BLOCK;
use crate::settings::Support;

/// Neighbours are looked for this many rows and columns away.
pub(crate) const REACH: usize = 2;

/// Set in a colour for a point that is confirmed.
const CONFIRMED: u32 = 1 << 24;

/// Rows and columns of the pixels around.
const SIDE: usize = 2 * REACH + 1;

/// Sixteen pixels and those beside them.
const WIDE: usize = LANES + 2 * REACH;

/// Distances that neighbours have, in pixels, squared.
const SQUARED: [u32; 5] = [1, 2, 4, 5, 8];

/// Which of these distances a neighbour has, by its row and column.
const DISTANCE: [[usize; SIDE]; SIDE] =
    [[4, 3, 2, 3, 4], [3, 1, 0, 1, 3], [2, 0, 0, 0, 2], [3, 1, 0, 1, 3], [4, 3, 2, 3, 4]];

/// When neighbours confirm a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Confirm {
    /// How much of the depth a neighbour may differ, by its distance.
    ratios: [f32; SQUARED.len()],
    neighbours: f32,
    fraction: f32,
}

/// Depths of a block of a row and of the rows around it, each with [`LANES`] more on both sides.
pub(crate) type Depths<'a> = [&'a [f32]; SIDE];

impl Confirm {
    /// The rule with these settings.
    pub(crate) fn new(settings: &Support) -> Self {
        Self {
            ratios: SQUARED.map(|d| (settings.depth_ratio * f64::from(d).sqrt()) as f32),
            neighbours: settings.neighbours as f32,
            fraction: settings.fraction as f32,
        }
    }

    /// Marks the colours of points that are confirmed, in those sixteens of them whose bit is set
    /// in `wanted`.
    pub(crate) fn mark(
        &self,
        rows: &Depths<'_>,
        wanted: u16,
        colours: &mut [u32; BLOCK],
        isa: Isa,
    ) {
        mark(isa, self, rows, wanted, colours);
    }

    #[inline(always)]
    fn mark_plain(&self, rows: &Depths<'_>, wanted: u16, colours: &mut [u32; BLOCK]) {
        for (v, colours) in colours.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            if wanted >> v & 1 == 0 {
                continue;
            }
            let Some(middle) = lanes(rows[REACH], (v + 1) * LANES) else { break };
            let (mut agree, mut seen) = ([0.0_f32; LANES], [0.0_f32; LANES]);
            for row in 0..SIDE {
                for column in 0..SIDE {
                    if (row, column) == (REACH, REACH) {
                        continue;
                    }
                    let Some(near) = lanes(rows[row], (v + 1) * LANES + column - REACH) else {
                        continue;
                    };
                    let ratio = self.ratios[DISTANCE[row][column]];
                    for i in 0..LANES {
                        let (apart, limit) = ((near[i] - middle[i]).abs(), ratio * middle[i]);
                        agree[i] += f32::from(u8::from(apart < limit));
                        seen[i] += f32::from(u8::from(apart < limit || apart >= limit));
                    }
                }
            }
            for i in 0..LANES {
                let sure = (agree[i] >= self.neighbours) & (agree[i] >= self.fraction * seen[i]);
                colours[i] |= u32::from(sure) * CONFIRMED;
            }
        }
    }

    #[inline(always)]
    fn mark_wide<S: Simd>(
        &self,
        simd: S,
        rows: &Depths<'_>,
        wanted: u16,
        colours: &mut [u32; BLOCK],
    ) {
        for (v, colours) in colours.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            if wanted >> v & 1 == 0 {
                continue;
            }
            let Some(middle) = lanes(rows[REACH], (v + 1) * LANES) else { break };
            let middle = simd.load(middle);
            let mut limits = [middle; SQUARED.len()];
            for (limit, ratio) in limits.iter_mut().zip(self.ratios) {
                *limit = middle * ratio;
            }
            let (mut agree, mut differ) = (simd.splat(0.0), simd.splat(0.0));
            for row in 0..SIDE {
                let from = (v + 1) * LANES - REACH;
                let wide = rows[row].get(from..).and_then(<[f32]>::first_chunk::<WIDE>);
                let Some(wide) = wide else { continue };
                for column in 0..SIDE {
                    if (row, column) == (REACH, REACH) {
                        continue;
                    }
                    let Some(near) = lanes(wide, column) else { continue };
                    let apart = (simd.load(near) - middle).abs();
                    let limit = limits[DISTANCE[row][column]];
                    agree = apart.lt(limit).select(agree + 1.0, agree);
                    differ = apart.ge(limit).select(differ + 1.0, differ);
                }
            }
            let sure =
                agree.ge(simd.splat(self.neighbours)) & agree.ge((agree + differ) * self.fraction);
            let old = I32x16::load_u32(simd, colours);
            sure.select_i32(old | CONFIRMED as i32, old).store_u32(colours);
        }
    }
}

kernel! {
    fn mark(
        simd, confirm: &Confirm, rows: &Depths<'_>, wanted: u16, colours: &mut [u32; BLOCK],
    ) {
        if S::IS_WIDE {
            confirm.mark_wide(simd, rows, wanted, colours);
        } else {
            confirm.mark_plain(rows, wanted, colours);
        }
    }
}

/// Sixteen numbers from a place on, if they are there.
#[inline(always)]
fn lanes(row: &[f32], from: usize) -> Option<&[f32; LANES]> {
    row.get(from..)?.first_chunk()
}
