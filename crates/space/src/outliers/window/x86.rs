//! Vector instructions of x86-64 processors.

use super::{Doubtful, Row};

/// [`avx2::measure_row`].
#[expect(unsafe_code, reason = "a call into code for an instruction set")]
pub(super) fn measure_row_avx2(row: &Row<'_>, values: &mut [f32], doubtful: &mut Vec<Doubtful>) {
    // SAFETY: `Isa::Avx2` is chosen only where the processor has these instructions.
    unsafe { avx2::measure_row(row, values, doubtful) }
}

/// [`avx512::measure_row`].
#[expect(unsafe_code, reason = "a call into code for an instruction set")]
pub(super) fn measure_row_avx512(row: &Row<'_>, values: &mut [f32], doubtful: &mut Vec<Doubtful>) {
    // SAFETY: `Isa::Avx512` is chosen only where the processor has these instructions.
    unsafe { avx512::measure_row(row, values, doubtful) }
}

/// The operations of the kernel as one instruction each.
macro_rules! operations {
    (
        $feature:meta, $vector:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident,
        $root:ident, $($name:ident $instruction:ident),*
    ) => {
        const LANES: usize = $lanes;
        type V = $vector;

        #[$feature]
        #[inline]
        fn splat(value: f32) -> V {
            $splat(value)
        }

        #[$feature]
        #[inline]
        #[expect(unsafe_code, reason = "a load from memory")]
        fn load(from: &[f32], at: usize) -> V {
            debug_assert!(at + LANES <= from.len());
            // SAFETY: `measure_row` checks once per row that all its loads are within the field;
            // tables of columns are as long as whole vectors of columns.
            unsafe { $load(from.as_ptr().add(at)) }
        }

        #[$feature]
        #[inline]
        #[expect(unsafe_code, reason = "a store to memory")]
        fn store(to: &mut [f32; LANES], value: V) {
            // SAFETY: the array is as long as the vector.
            unsafe { $store(to.as_mut_ptr(), value) }
        }

        #[$feature]
        #[inline]
        fn root(a: V) -> V {
            $root(a)
        }

        $(
            #[$feature]
            #[inline]
            fn $name(a: V, b: V) -> V {
                $instruction(a, b)
            }
        )*
    };
}

mod avx2 {
    use std::arch::x86_64::*;

    operations!(
        target_feature(enable = "avx2,fma"), __m256, 8, _mm256_set1_ps, _mm256_loadu_ps,
        _mm256_storeu_ps, _mm256_sqrt_ps, add _mm256_add_ps, sub _mm256_sub_ps,
        mul _mm256_mul_ps, div _mm256_div_ps, min _mm256_min_ps, max _mm256_max_ps
    );

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn lanes_below(a: V, b: V) -> u32 {
        _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b)).cast_unsigned()
    }

    super::super::window_kernel!(target_feature(enable = "avx2,fma"));
}

mod avx512 {
    use std::arch::x86_64::*;

    operations!(
        target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl"), __m512, 16,
        _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_sqrt_ps, add _mm512_add_ps,
        sub _mm512_sub_ps, mul _mm512_mul_ps, div _mm512_div_ps, min _mm512_min_ps,
        max _mm512_max_ps
    );

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    fn lanes_below(a: V, b: V) -> u32 {
        u32::from(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b))
    }

    super::super::window_kernel!(target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl"));
}
