//! AVX2: two registers of eight.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::x86_64::*;

use super::Registers;
use crate::LANES;
use crate::isa::Avx2;

type F = [__m256; 2];
type I = [__m256i; 2];

/// The instructions of both halves.
macro_rules! halves {
    ($($name:ident($($argument:ident: $type:ty),*) -> $output:ty = |$h:ident| $body:expr;)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($argument: $type),*) -> $output {
                // Written out: a closure may not be inlined.
                // SAFETY: the token `self` says that the processor has AVX2 and FMA.
                let low = unsafe { let $h = 0; $body };
                // SAFETY: as above.
                let high = unsafe { let $h = 1; $body };
                [low, high]
            }
        )*
    };
}

impl Registers for Avx2 {
    type F32 = F;
    type I32 = I;
    type Mask = I;

    halves! {
        splat_f32(number: f32) -> F = |_half| _mm256_set1_ps(number);
        add_f32(a: F, b: F) -> F = |h| _mm256_add_ps(a[h], b[h]);
        sub_f32(a: F, b: F) -> F = |h| _mm256_sub_ps(a[h], b[h]);
        mul_f32(a: F, b: F) -> F = |h| _mm256_mul_ps(a[h], b[h]);
        div_f32(a: F, b: F) -> F = |h| _mm256_div_ps(a[h], b[h]);
        min_f32(a: F, b: F) -> F = |h| _mm256_min_ps(a[h], b[h]);
        max_f32(a: F, b: F) -> F = |h| _mm256_max_ps(a[h], b[h]);
        sqrt_f32(a: F) -> F = |h| _mm256_sqrt_ps(a[h]);
        abs_f32(a: F) -> F = |h| _mm256_andnot_ps(_mm256_set1_ps(-0.0), a[h]);
        fma_f32(a: F, b: F, c: F) -> F = |h| _mm256_fmadd_ps(a[h], b[h], c[h]);
        ceil_f32(a: F) -> F = |h| _mm256_ceil_ps(a[h]);
        lt_f32(a: F, b: F) -> I = |h| {
            _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(a[h], b[h]))
        };
        le_f32(a: F, b: F) -> I = |h| {
            _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LE_OQ>(a[h], b[h]))
        };
        eq_f32(a: F, b: F) -> I = |h| {
            _mm256_castps_si256(_mm256_cmp_ps::<_CMP_EQ_OQ>(a[h], b[h]))
        };
        select_f32(mask: I, yes: F, no: F) -> F = |h| {
            _mm256_blendv_ps(no[h], yes[h], _mm256_castsi256_ps(mask[h]))
        };
        bits_of_f32(a: F) -> I = |h| _mm256_castps_si256(a[h]);
        f32_of_bits(a: I) -> F = |h| _mm256_castsi256_ps(a[h]);
        truncate_f32(a: F) -> I = |h| _mm256_cvttps_epi32(a[h]);
        f32_of_i32(a: I) -> F = |h| _mm256_cvtepi32_ps(a[h]);

        splat_i32(number: i32) -> I = |_half| _mm256_set1_epi32(number);
        add_i32(a: I, b: I) -> I = |h| _mm256_add_epi32(a[h], b[h]);
        sub_i32(a: I, b: I) -> I = |h| _mm256_sub_epi32(a[h], b[h]);
        mul_i32(a: I, b: I) -> I = |h| _mm256_mullo_epi32(a[h], b[h]);
        max_i32(a: I, b: I) -> I = |h| _mm256_max_epi32(a[h], b[h]);
        and_i32(a: I, b: I) -> I = |h| _mm256_and_si256(a[h], b[h]);
        or_i32(a: I, b: I) -> I = |h| _mm256_or_si256(a[h], b[h]);
        xor_i32(a: I, b: I) -> I = |h| _mm256_xor_si256(a[h], b[h]);
        shl_i32(a: I, by: u32) -> I = |h| {
            _mm256_sll_epi32(a[h], _mm_cvtsi32_si128(by.cast_signed()))
        };
        shr_u32(a: I, by: u32) -> I = |h| {
            _mm256_srl_epi32(a[h], _mm_cvtsi32_si128(by.cast_signed()))
        };
        shr_i32(a: I, by: u32) -> I = |h| {
            _mm256_sra_epi32(a[h], _mm_cvtsi32_si128(by.cast_signed()))
        };
        shlv_i32(a: I, by: I) -> I = |h| _mm256_sllv_epi32(a[h], by[h]);
        lt_i32(a: I, b: I) -> I = |h| _mm256_cmpgt_epi32(b[h], a[h]);
        eq_i32(a: I, b: I) -> I = |h| _mm256_cmpeq_epi32(a[h], b[h]);
        select_i32(mask: I, yes: I, no: I) -> I = |h| _mm256_blendv_epi8(no[h], yes[h], mask[h]);

        and_mask(a: I, b: I) -> I = |h| _mm256_and_si256(a[h], b[h]);
        or_mask(a: I, b: I) -> I = |h| _mm256_or_si256(a[h], b[h]);
        not_mask(a: I) -> I = |h| _mm256_xor_si256(a[h], _mm256_set1_epi32(-1));
        mask_of_bits(bits: u16) -> I = |h| {
            let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let here = _mm256_set1_epi32(i32::from(bits >> (8 * h)));
            _mm256_cmpeq_epi32(_mm256_and_si256(here, bit), bit)
        };
        load_f32(from: &[f32; LANES]) -> F = |h| {
            // Eight numbers are there from 0 and from 8 on.
            _mm256_loadu_ps(from.as_ptr().add(8 * h))
        };
        load_u32(from: &[u32; LANES]) -> I = |h| {
            _mm256_loadu_si256(from.as_ptr().add(8 * h).cast())
        };
        load_i32(from: &[i32; LANES]) -> I = |h| {
            _mm256_loadu_si256(from.as_ptr().add(8 * h).cast())
        };
    }

    #[inline(always)]
    fn store_f32(self, v: F, to: &mut [f32; LANES]) {
        // SAFETY: as above; the array has room for two registers.
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), v[0]);
            _mm256_storeu_ps(to.as_mut_ptr().add(8), v[1]);
        }
    }

    #[inline(always)]
    fn store_i32(self, v: I, to: &mut [i32; LANES]) {
        // SAFETY: as above; the array has room for two registers.
        unsafe {
            _mm256_storeu_si256(to.as_mut_ptr().cast(), v[0]);
            _mm256_storeu_si256(to.as_mut_ptr().add(8).cast(), v[1]);
        }
    }

    #[inline(always)]
    fn store_u32(self, v: I, to: &mut [u32; LANES]) {
        // SAFETY: as above; the array has room for two registers.
        unsafe {
            _mm256_storeu_si256(to.as_mut_ptr().cast(), v[0]);
            _mm256_storeu_si256(to.as_mut_ptr().add(8).cast(), v[1]);
        }
    }

    #[inline(always)]
    fn bits_of_mask(self, a: I) -> u16 {
        // SAFETY: the token `self` says that the processor has AVX2.
        unsafe {
            let low = _mm256_movemask_ps(_mm256_castsi256_ps(a[0])) as u16;
            low | (_mm256_movemask_ps(_mm256_castsi256_ps(a[1])) as u16) << 8
        }
    }

    #[inline(always)]
    fn widen_colours(self, rgb: &[[u8; 3]; 10], out: &mut [u32; 8]) {
        // SAFETY: the token `self` says that the processor has AVX2.
        unsafe { widen_colours(rgb, out) }
    }
}

/// See [`Registers::widen_colours`].
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn widen_colours(rgb: &[[u8; 3]; 10], out: &mut [u32; 8]) {
    let spread = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,
    ));
    let from = rgb.as_flattened().as_ptr();
    // SAFETY: 28 of the 30 bytes are read, and eight numbers written.
    unsafe {
        let low = _mm_loadu_si128(from.cast());
        let high = _mm_loadu_si128(from.add(12).cast());
        let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
        _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm256_shuffle_epi8(both, spread));
    }
}

impl super::eights::Eights for Avx2 {
    super::eights::array_eights!();
}
