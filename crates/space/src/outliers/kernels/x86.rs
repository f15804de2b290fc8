//! The inner loops for vector instructions of x86-64 processors.

use std::arch::x86_64::*;
use std::ops::Range;

use super::{Candidates, Near};
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
    tiles_within_avx512 = super::tiles_within_body,
        (field: &Field, run: Range<usize>, near: Near, tiles: &mut Vec<u32>);
    gather_avx512 = gather_compressed,
        (from: &Candidates<'_>, near: Near, found: &mut [f32], len: usize) -> usize;
    sort_by_counting_avx512 = super::sort_by_counting_body,
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
