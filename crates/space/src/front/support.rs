//! Which points their neighbours in the picture confirm.
//!
//! At the edge of a thing a camera may see a point in the air between it and what is behind.
//! Such a point has many neighbours in the picture, and hardly any at its own depth. A point on a
//! surface that is seen at a slant has few neighbours, because little light comes back, but most
//! of them continue the surface. So of the 24 pixels around a point, those agree whose depth
//! differs by less than a part of the depth per pixel of distance, and the point is confirmed when
//! enough agree and they are a fair share of those that were seen.
//!
//! A voxel stays when one of its points is confirmed; then all its points count.

use super::block::{BLOCK, LANES};
use crate::settings::Support;
use crate::simd::Isa;

/// Neighbours are looked for this many rows and columns away.
pub(crate) const REACH: usize = 2;

/// Set in a colour for a point that is confirmed.
const CONFIRMED: u32 = 1 << 24;

/// Rows and columns of the pixels around.
const SIDE: usize = 2 * REACH + 1;

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
    share: f32,
}

/// Depths of a block of a row and of the rows around it, each with [`LANES`] more on both sides.
pub(crate) type Depths<'a> = [&'a [f32]; SIDE];

impl Confirm {
    /// The rule with these settings.
    pub(crate) fn new(settings: &Support) -> Self {
        Self {
            ratios: SQUARED.map(|d| (settings.depth_ratio * f64::from(d).sqrt()) as f32),
            neighbours: settings.neighbours as f32,
            share: settings.share as f32,
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
        #[cfg(target_arch = "x86_64")]
        if isa >= Isa::Avx2 {
            #[expect(unsafe_code, reason = "instructions that not every processor has")]
            return match isa {
                // SAFETY: an `Isa` other than portable is one that the processor has; see
                // `Pipeline::with_isa`.
                Isa::Avx512 => unsafe { self.mark_avx512(rows, wanted, colours) },
                // SAFETY: as above.
                _ => unsafe { self.mark_avx2(rows, wanted, colours) },
            };
        }
        let _ = isa;
        self.mark_plain(rows, wanted, colours);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn mark_avx2(&self, rows: &Depths<'_>, wanted: u16, colours: &mut [u32; BLOCK]) {
        self.mark_plain(rows, wanted, colours);
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
                let sure = (agree[i] >= self.neighbours) & (agree[i] >= self.share * seen[i]);
                colours[i] |= u32::from(sure) * CONFIRMED;
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn mark_avx512(&self, rows: &Depths<'_>, wanted: u16, colours: &mut [u32; BLOCK]) {
        use std::arch::x86_64::*;
        let one = _mm512_set1_ps(1.0);
        for (v, colours) in colours.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            if wanted >> v & 1 == 0 {
                continue;
            }
            let Some(middle) = lanes(rows[REACH], (v + 1) * LANES) else { break };
            #[expect(unsafe_code, reason = "vector loads take pointers")]
            // SAFETY: the array has 16 numbers.
            let middle = unsafe { _mm512_loadu_ps(middle.as_ptr()) };
            let mut limits = [middle; SQUARED.len()];
            for (limit, ratio) in limits.iter_mut().zip(self.ratios) {
                *limit = _mm512_mul_ps(_mm512_set1_ps(ratio), middle);
            }
            let (mut agree, mut differ) = (_mm512_setzero_ps(), _mm512_setzero_ps());
            for row in 0..SIDE {
                let Some(wide) = rows[row].get((v + 1) * LANES - REACH..(v + 2) * LANES + REACH)
                else {
                    continue;
                };
                for column in 0..SIDE {
                    if (row, column) == (REACH, REACH) {
                        continue;
                    }
                    #[expect(unsafe_code, reason = "vector loads take pointers")]
                    // SAFETY: 16 + 2 * REACH numbers are there and `column` is at most 2 * REACH.
                    let near = unsafe { _mm512_loadu_ps(wide.as_ptr().add(column)) };
                    let apart = _mm512_abs_ps(_mm512_sub_ps(near, middle));
                    let limit = limits[DISTANCE[row][column]];
                    let agrees = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(apart, limit);
                    let differs = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(apart, limit);
                    agree = _mm512_mask_add_ps(agree, agrees, agree, one);
                    differ = _mm512_mask_add_ps(differ, differs, differ, one);
                }
            }
            let share = _mm512_mul_ps(_mm512_set1_ps(self.share), _mm512_add_ps(agree, differ));
            let sure = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(agree, _mm512_set1_ps(self.neighbours))
                & _mm512_cmp_ps_mask::<_CMP_GE_OQ>(agree, share);
            let colours = colours.as_mut_ptr().cast();
            #[expect(unsafe_code, reason = "vector loads and stores take pointers")]
            // SAFETY: the array has 16 numbers.
            unsafe {
                let old = _mm512_loadu_si512(colours);
                let confirmed = _mm512_set1_epi32(CONFIRMED as i32);
                _mm512_storeu_si512(colours, _mm512_mask_or_epi32(old, sure, old, confirmed));
            }
        }
    }
}

/// Sixteen numbers from a place on, if they are there.
#[inline(always)]
fn lanes(row: &[f32], from: usize) -> Option<&[f32; LANES]> {
    row.get(from..)?.first_chunk()
}
