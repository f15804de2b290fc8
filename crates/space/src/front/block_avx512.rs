//! The same as `block.rs`, 16 points at a time.
#![expect(unsafe_code, reason = "vector loads and stores take pointers")]

use std::arch::x86_64::*;

use super::block::{BLOCK, Block, LANES};
use super::transform::CellTransform;

/// Round to the nearest whole number, raise no exception.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

/// `_mm512_range_ps`: the one with the smaller magnitude, without its sign.
const SMALLER_MAGNITUDE: i32 = 0b1010;

/// `_mm512_fpclass_ps_mask`: NaN of both kinds and both infinities.
const NOT_FINITE: i32 = 0x01 | 0x80 | 0x08 | 0x10;

/// Sorts points; see [`Block::sort`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn sort(block: &mut Block, to_cell: &CellTransform, [x, y, z]: [&[f32]; 3]) {
    let vectors = (x.len().min(y.len()).min(z.len()) / LANES).min(BLOCK / LANES);
    let mut rows = [[_mm512_setzero_ps(); 4]; 3];
    let (mut high, mut sure_high) = ([_mm512_setzero_ps(); 3], [_mm512_setzero_ps(); 3]);
    for a in 0..3 {
        for i in 0..4 {
            rows[a][i] = _mm512_set1_ps(to_cell.rows[a][i]);
        }
        high[a] = _mm512_set1_ps(to_cell.high[a]);
        sure_high[a] = _mm512_set1_ps(to_cell.sure_high[a]);
    }
    let low = _mm512_set1_ps(to_cell.low);
    let row = _mm512_set1_epi32(to_cell.stride[1]);
    let layer = _mm512_set1_epi32(to_cell.stride[2]);
    let doubt = _mm512_set1_ps(to_cell.doubt);
    let mut at = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let (mut inside, mut doubts, mut unseen) = (0, 0, 0);
    block.wanted = 0;
    for v in 0..vectors {
        // SAFETY: `vectors * LANES` is at most the length of each slice.
        let (px, py, pz) = unsafe {
            (
                _mm512_loadu_ps(x.as_ptr().add(v * LANES)),
                _mm512_loadu_ps(y.as_ptr().add(v * LANES)),
                _mm512_loadu_ps(z.as_ptr().add(v * LANES)),
            )
        };
        let lost = _mm512_fpclass_ps_mask::<NOT_FINITE>(px)
            | _mm512_fpclass_ps_mask::<NOT_FINITE>(py)
            | _mm512_fpclass_ps_mask::<NOT_FINITE>(pz);
        unseen += lost.count_ones() as usize;
        let mut cell = [_mm512_setzero_ps(); 3];
        let mut candidate = !lost;
        for a in 0..3 {
            let sum = _mm512_fmadd_ps(rows[a][2], pz, rows[a][3]);
            let sum = _mm512_fmadd_ps(rows[a][1], py, sum);
            cell[a] = _mm512_fmadd_ps(rows[a][0], px, sum);
            candidate &= _mm512_cmp_ps_mask::<_CMP_GT_OQ>(cell[a], low)
                & _mm512_cmp_ps_mask::<_CMP_LT_OQ>(cell[a], high[a]);
        }
        if candidate != 0 {
            block.wanted |= 1 << v;
            let near = _mm512_range_ps::<SMALLER_MAGNITUDE>(
                _mm512_range_ps::<SMALLER_MAGNITUDE>(
                    _mm512_reduce_ps::<NEAREST>(cell[0]),
                    _mm512_reduce_ps::<NEAREST>(cell[1]),
                ),
                _mm512_reduce_ps::<NEAREST>(cell[2]),
            );
            let mut doubtful = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(near, doubt);
            for a in 0..3 {
                doubtful |= _mm512_cmp_ps_mask::<_CMP_GE_OQ>(cell[a], sure_high[a]);
            }
            let key = _mm512_add_epi32(
                _mm512_cvttps_epi32(cell[0]),
                _mm512_add_epi32(
                    _mm512_mullo_epi32(_mm512_cvttps_epi32(cell[1]), row),
                    _mm512_mullo_epi32(_mm512_cvttps_epi32(cell[2]), layer),
                ),
            );
            let sure = candidate & !doubtful;
            let unsure = candidate & doubtful;
            // SAFETY: `inside` and `doubts` are at most BLOCK - LANES before the last vector, and
            // there is room for one vector behind BLOCK.
            unsafe {
                store(&mut block.keys, inside, _mm512_maskz_compress_epi32(sure, key));
                store(&mut block.at, inside, _mm512_maskz_compress_epi32(sure, at));
                if unsure != 0 {
                    store(&mut block.doubtful, doubts, _mm512_maskz_compress_epi32(unsure, at));
                }
            }
            inside += sure.count_ones() as usize;
            doubts += unsure.count_ones() as usize;
        }
        at = _mm512_add_epi32(at, _mm512_set1_epi32(LANES as i32));
    }
    (block.inside, block.doubts) = (inside, doubts);
    block.seen = vectors * LANES - unseen;
    find_runs(block);
}

/// Finds where keys change.
#[target_feature(enable = "avx512f")]
fn find_runs(block: &mut Block) {
    // The key behind the last one differs from it, so that the last run ends.
    block.keys[block.inside] = u32::MAX;
    let mut ends = _mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    let mut runs = 0;
    for from in (0..block.inside).step_by(LANES) {
        let left = block.inside - from;
        let here = if left < LANES { (1_u16 << left) - 1 } else { u16::MAX };
        // SAFETY: `from` is below BLOCK and there is room for a vector behind BLOCK; the second
        // load begins one key later and its last lane is masked out where that is behind the room.
        let changes = unsafe {
            let keys = block.keys.as_ptr().add(from).cast();
            _mm512_mask_cmpneq_epi32_mask(
                here,
                _mm512_loadu_si512(keys),
                _mm512_maskz_loadu_epi32(here, keys.cast::<i32>().add(1)),
            )
        };
        // SAFETY: there are at most as many runs as points before this vector.
        unsafe { store(&mut block.ends, runs, _mm512_maskz_compress_epi32(changes, ends)) };
        runs += changes.count_ones() as usize;
        ends = _mm512_add_epi32(ends, _mm512_set1_epi32(LANES as i32));
    }
    block.runs = runs;
}

/// Sums colours, eight points at a time; see [`Block::sum_colours`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn sum_colours(block: &mut Block) {
    const EIGHT: usize = 8;
    let zero = _mm512_setzero_si512();
    let mut before = zero;
    block.before[0] = 0;
    for from in (0..block.inside).step_by(EIGHT) {
        let here = 0xff_u8 >> EIGHT.saturating_sub(block.inside - from);
        let first = block.at[from] as usize;
        // SAFETY: there is room behind BLOCK in `at` and `before`; places of points are below
        // BLOCK, so eight points in a row are eight colours; only colours of points are gathered.
        unsafe {
            let in_a_row = here == 0xff && block.at[from + EIGHT - 1] as usize == first + EIGHT - 1;
            let colours = if in_a_row {
                _mm256_loadu_si256(block.colours.as_ptr().add(first).cast())
            } else {
                let at = _mm256_loadu_si256(block.at.as_ptr().add(from).cast());
                let none = _mm256_setzero_si256();
                _mm256_mmask_i32gather_epi32::<4>(none, here, at, block.colours.as_ptr().cast())
            };
            // Sums of one, two, four, eight points, then of all before them.
            let mut sums = _mm512_cvtepu8_epi16(colours);
            sums = _mm512_add_epi64(sums, _mm512_alignr_epi64::<7>(sums, zero));
            sums = _mm512_add_epi64(sums, _mm512_alignr_epi64::<6>(sums, zero));
            sums = _mm512_add_epi64(sums, _mm512_alignr_epi64::<4>(sums, zero));
            sums = _mm512_add_epi64(sums, before);
            _mm512_storeu_si512(block.before.as_mut_ptr().add(from + 1).cast(), sums);
            before = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), sums);
        }
    }
}

/// Stores 16 numbers from place `at` on.
///
/// # Safety
/// `at + LANES` is at most the length of `list`.
#[target_feature(enable = "avx512f")]
unsafe fn store(list: &mut [u32], at: usize, values: __m512i) {
    debug_assert!(at + LANES <= list.len());
    // SAFETY: as promised by the caller.
    unsafe { _mm512_storeu_si512(list.as_mut_ptr().add(at).cast(), values) };
}
