//! AVX-512: one register of sixteen, masks of their own.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::x86_64::*;

use super::Registers;
use super::eights::Eights;
use crate::LANES;
use crate::isa::Avx512;

type F = __m512;
type I = __m512i;
type D = __m512d;
type H = __m256i;

/// Round up, or down, or to nearest; raise no exception.
const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

/// `_mm512_range_ps`: the one with the smaller magnitude, without its sign.
const SMALLER_MAGNITUDE: i32 = 0b1010;

/// `_mm512_fpclass_ps_mask`: NaN of both kinds and both infinities.
const NOT_FINITE: i32 = 0x01 | 0x80 | 0x08 | 0x10;

macro_rules! instructions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $output:ty = $body:expr;)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($argument: $type),*) -> $output {
                // SAFETY: the token `self` says that the processor has AVX-512 F, BW, DQ and VL;
                // arrays that are read or written are as long as the register.
                unsafe { $body }
            }
        )*
    };
}

impl Registers for Avx512 {
    type F32 = F;
    type I32 = I;
    type Mask = u16;

    instructions! {
        splat_f32(number: f32) -> F = _mm512_set1_ps(number);
        load_f32(from: &[f32; LANES]) -> F = _mm512_loadu_ps(from.as_ptr());
        store_f32(v: F, to: &mut [f32; LANES]) -> () = _mm512_storeu_ps(to.as_mut_ptr(), v);
        add_f32(a: F, b: F) -> F = _mm512_add_ps(a, b);
        sub_f32(a: F, b: F) -> F = _mm512_sub_ps(a, b);
        mul_f32(a: F, b: F) -> F = _mm512_mul_ps(a, b);
        div_f32(a: F, b: F) -> F = _mm512_div_ps(a, b);
        min_f32(a: F, b: F) -> F = _mm512_min_ps(a, b);
        max_f32(a: F, b: F) -> F = _mm512_max_ps(a, b);
        sqrt_f32(a: F) -> F = _mm512_sqrt_ps(a);
        abs_f32(a: F) -> F = _mm512_abs_ps(a);
        fma_f32(a: F, b: F, c: F) -> F = _mm512_fmadd_ps(a, b, c);
        ceil_f32(a: F) -> F = _mm512_roundscale_ps::<UP>(a);
        lt_f32(a: F, b: F) -> u16 = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
        le_f32(a: F, b: F) -> u16 = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
        eq_f32(a: F, b: F) -> u16 = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b);
        select_f32(mask: u16, yes: F, no: F) -> F = _mm512_mask_blend_ps(mask, no, yes);
        bits_of_f32(a: F) -> I = _mm512_castps_si512(a);
        f32_of_bits(a: I) -> F = _mm512_castsi512_ps(a);
        truncate_f32(a: F) -> I = _mm512_cvttps_epi32(a);
        f32_of_i32(a: I) -> F = _mm512_cvtepi32_ps(a);

        splat_i32(number: i32) -> I = _mm512_set1_epi32(number);
        load_i32(from: &[i32; LANES]) -> I = _mm512_loadu_si512(from.as_ptr().cast());
        store_i32(v: I, to: &mut [i32; LANES]) -> () =
            _mm512_storeu_si512(to.as_mut_ptr().cast(), v);
        load_u32(from: &[u32; LANES]) -> I = _mm512_loadu_si512(from.as_ptr().cast());
        store_u32(v: I, to: &mut [u32; LANES]) -> () =
            _mm512_storeu_si512(to.as_mut_ptr().cast(), v);
        add_i32(a: I, b: I) -> I = _mm512_add_epi32(a, b);
        sub_i32(a: I, b: I) -> I = _mm512_sub_epi32(a, b);
        mul_i32(a: I, b: I) -> I = _mm512_mullo_epi32(a, b);
        max_i32(a: I, b: I) -> I = _mm512_max_epi32(a, b);
        and_i32(a: I, b: I) -> I = _mm512_and_si512(a, b);
        or_i32(a: I, b: I) -> I = _mm512_or_si512(a, b);
        xor_i32(a: I, b: I) -> I = _mm512_xor_si512(a, b);
        shl_i32(a: I, by: u32) -> I = _mm512_sll_epi32(a, _mm_cvtsi32_si128(by.cast_signed()));
        shr_u32(a: I, by: u32) -> I = _mm512_srl_epi32(a, _mm_cvtsi32_si128(by.cast_signed()));
        shr_i32(a: I, by: u32) -> I = _mm512_sra_epi32(a, _mm_cvtsi32_si128(by.cast_signed()));
        shlv_i32(a: I, by: I) -> I = _mm512_sllv_epi32(a, by);
        lt_i32(a: I, b: I) -> u16 = _mm512_cmplt_epi32_mask(a, b);
        eq_i32(a: I, b: I) -> u16 = _mm512_cmpeq_epi32_mask(a, b);
        select_i32(mask: u16, yes: I, no: I) -> I = _mm512_mask_blend_epi32(mask, no, yes);

        least_f32(v: F) -> f32 = _mm512_reduce_min_ps(v);
        most_f32(v: F) -> f32 = _mm512_reduce_max_ps(v);
        smaller_magnitude_f32(a: F, b: F) -> F = _mm512_range_ps::<SMALLER_MAGNITUDE>(a, b);
        past_whole_f32(v: F) -> F = _mm512_reduce_ps::<NEAREST>(v);
        is_finite_f32(v: F) -> u16 = !_mm512_fpclass_ps_mask::<NOT_FINITE>(v);
        compress_f32(mask: u16, v: F) -> F = _mm512_maskz_compress_ps(mask, v);
        compress_i32(mask: u16, v: I) -> I = _mm512_maskz_compress_epi32(mask, v);
    }

    #[inline(always)]
    fn and_mask(self, a: u16, b: u16) -> u16 {
        a & b
    }

    #[inline(always)]
    fn or_mask(self, a: u16, b: u16) -> u16 {
        a | b
    }

    #[inline(always)]
    fn not_mask(self, a: u16) -> u16 {
        !a
    }

    #[inline(always)]
    fn bits_of_mask(self, a: u16) -> u16 {
        a
    }

    #[inline(always)]
    fn mask_of_bits(self, bits: u16) -> u16 {
        bits
    }

    #[inline(always)]
    fn load_part_f32(self, from: &[f32]) -> F {
        let from = &from[..from.len().min(LANES)];
        let lanes = ((1_u32 << from.len()) - 1) as u16;
        // SAFETY: the token says that the processor has the instruction; only the lanes of the
        // slice are read.
        unsafe { _mm512_maskz_loadu_ps(lanes, from.as_ptr()) }
    }

    #[inline(always)]
    fn gather_f32(self, table: &[f32], index: I, mask: u16) -> F {
        let length = i32::try_from(table.len()).unwrap_or(i32::MAX);
        // SAFETY: the token says that the processor has the instructions; only lanes whose index
        // is below the length of the table, taken as unsigned, are read.
        unsafe {
            let inside = _mm512_mask_cmplt_epu32_mask(mask, index, _mm512_set1_epi32(length));
            _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), inside, index, table.as_ptr())
        }
    }

    #[inline(always)]
    fn transpose_points(self, points: &[[f32; 3]; LANES]) -> [F; 3] {
        // Of the 48 numbers, those of one coordinate: from the first 32 of them, then the last
        // five or six from the other 16.
        const FIRST: [[i32; LANES]; 3] = places(false);
        const LAST: [[i32; LANES]; 3] = places(true);
        let from = points.as_flattened().as_ptr();
        // SAFETY: the token says that the processor has the instructions; 48 numbers are there.
        unsafe {
            let a = _mm512_loadu_ps(from);
            let b = _mm512_loadu_ps(from.add(LANES));
            let c = _mm512_loadu_ps(from.add(2 * LANES));
            let mut axes = [a; 3];
            for axis in 0..3 {
                let first = _mm512_loadu_si512(FIRST[axis].as_ptr().cast());
                let last = _mm512_loadu_si512(LAST[axis].as_ptr().cast());
                axes[axis] = _mm512_permutex2var_ps(_mm512_permutex2var_ps(a, first, b), last, c);
            }
            axes
        }
    }

    #[inline(always)]
    fn widen_colours(self, rgb: &[[u8; 3]; 10], out: &mut [u32; 8]) {
        // SAFETY: processors with AVX-512 have AVX2, and the token's detection asked for both.
        unsafe { super::avx2::widen_colours(rgb, out) }
    }
}

const fn places(last: bool) -> [[i32; LANES]; 3] {
    let mut table = [[0; LANES]; 3];
    let mut axis = 0;
    while axis < 3 {
        let mut i = 0;
        while i < LANES {
            let at = (3 * i + axis) as i32;
            table[axis][i] = match (last, at < 32) {
                (false, true) => at,
                (false, false) => 0,
                (true, true) => i as i32,
                (true, false) => 16 + at - 32,
            };
            i += 1;
        }
        axis += 1;
    }
    table
}

impl Eights for Avx512 {
    type F64 = D;
    type I32Half = H;
    type U64 = I;

    instructions! {
        splat_f64(number: f64) -> D = _mm512_set1_pd(number);
        load_f64(from: &[f64; 8]) -> D = _mm512_loadu_pd(from.as_ptr());
        store_f64(v: D, to: &mut [f64; 8]) -> () = _mm512_storeu_pd(to.as_mut_ptr(), v);
        add_f64(a: D, b: D) -> D = _mm512_add_pd(a, b);
        sub_f64(a: D, b: D) -> D = _mm512_sub_pd(a, b);
        mul_f64(a: D, b: D) -> D = _mm512_mul_pd(a, b);
        div_f64(a: D, b: D) -> D = _mm512_div_pd(a, b);
        min_f64(a: D, b: D) -> D = _mm512_min_pd(a, b);
        max_f64(a: D, b: D) -> D = _mm512_max_pd(a, b);
        abs_f64(a: D) -> D = _mm512_abs_pd(a);
        sqrt_f64(a: D) -> D = _mm512_sqrt_pd(a);
        floor_f64(a: D) -> D = _mm512_roundscale_pd::<DOWN>(a);
        lt_f64(a: D, b: D) -> u8 = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
        le_f64(a: D, b: D) -> u8 = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b);
        select_f64(mask: u8, yes: D, no: D) -> D = _mm512_mask_blend_pd(mask, no, yes);
        truncate_f64(a: D) -> H = _mm512_cvttpd_epi32(a);

        splat_half(number: i32) -> H = _mm256_set1_epi32(number);
        load_half(from: &[i32; 8]) -> H = _mm256_loadu_si256(from.as_ptr().cast());
        store_half(v: H, to: &mut [i32; 8]) -> () =
            _mm256_storeu_si256(to.as_mut_ptr().cast(), v);
        add_half(a: H, b: H) -> H = _mm256_add_epi32(a, b);
        mul_half(a: H, b: H) -> H = _mm256_mullo_epi32(a, b);
        and_half(a: H, b: H) -> H = _mm256_and_si256(a, b);
        shr_half(a: H, by: u32) -> H = _mm256_srl_epi32(a, _mm_cvtsi32_si128(by.cast_signed()));
        shrv_half(a: H, by: H) -> H = _mm256_srlv_epi32(a, by);
        nonzero_half(a: H) -> u8 = _mm256_test_epi32_mask(a, a);
        roots_half(a: H) -> D = _mm512_cvtps_pd(_mm256_sqrt_ps(_mm256_cvtepi32_ps(a)));
        expand_half(mask: u8, from: H, old: H) -> H = _mm256_mask_expand_epi32(old, mask, from);
        splat_u64(number: u64) -> I = _mm512_set1_epi64(number.cast_signed());
        store_u64(v: I, to: &mut [u64; 8]) -> () = _mm512_storeu_si512(to.as_mut_ptr().cast(), v);
        bytes_apart(a: H) -> I = _mm512_cvtepu8_epi16(a);
        add_u64(a: I, b: I) -> I = _mm512_add_epi64(a, b);
        running_sums_u64(a: I) -> I = {
            // Sums of two, four, eight neighbours.
            let zero = _mm512_setzero_si512();
            let two = _mm512_add_epi64(a, _mm512_alignr_epi64::<7>(a, zero));
            let four = _mm512_add_epi64(two, _mm512_alignr_epi64::<6>(two, zero));
            _mm512_add_epi64(four, _mm512_alignr_epi64::<4>(four, zero))
        };
        last_u64(a: I) -> I = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), a);
    }

    #[inline(always)]
    fn expand_f64(self, mask: u8, from: &[f64]) -> D {
        let from = &from[..mask.count_ones() as usize];
        // SAFETY: the token says that the processor has the instruction, which reads as many
        // numbers as the mask has lanes: that is how long the slice is.
        unsafe { _mm512_maskz_expandloadu_pd(mask, from.as_ptr()) }
    }

    #[inline(always)]
    fn gather_u16(self, table: &[u16], index: H, mask: u8) -> H {
        let Some(last) = table.len().checked_sub(2) else { return self.splat_half(0) };
        let last = i32::try_from(last).unwrap_or(i32::MAX);
        // SAFETY: the token says that the processor has the instructions. Four bytes are read
        // from each place: the largest is the last but one.
        unsafe {
            let index = _mm256_min_epu32(index, _mm256_set1_epi32(last));
            let none = _mm256_setzero_si256();
            let found = _mm256_mmask_i32gather_epi32::<2>(none, mask, index, table.as_ptr().cast());
            _mm256_and_si256(found, _mm256_set1_epi32(0xffff))
        }
    }

    #[inline(always)]
    fn gather_half(self, table: &[u64], index: H, mask: u8) -> H {
        let length = i32::try_from(2 * table.len()).unwrap_or(i32::MAX);
        // SAFETY: the token says that the processor has the instructions; a word of 64 bits is
        // two of 32, and only lanes whose index is below their number are read.
        unsafe {
            let inside = _mm256_mask_cmplt_epu32_mask(mask, index, _mm256_set1_epi32(length));
            let none = _mm256_setzero_si256();
            _mm256_mmask_i32gather_epi32::<4>(none, inside, index, table.as_ptr().cast())
        }
    }

    #[inline(always)]
    fn gather_u32(self, table: &[u32], index: H, mask: u8) -> H {
        let length = i32::try_from(table.len()).unwrap_or(i32::MAX);
        // SAFETY: the token says that the processor has the instructions; only lanes whose index
        // is below the length of the table are read.
        unsafe {
            let inside = _mm256_mask_cmplt_epu32_mask(mask, index, _mm256_set1_epi32(length));
            let none = _mm256_setzero_si256();
            _mm256_mmask_i32gather_epi32::<4>(none, inside, index, table.as_ptr().cast())
        }
    }

    #[inline(always)]
    fn scatter_f64(self, v: D, to: &mut [f64], index: H, mask: u8) {
        let length = i32::try_from(to.len()).unwrap_or(i32::MAX);
        // SAFETY: the token says that the processor has the instructions; only lanes whose index
        // is below the length of the slice are written.
        unsafe {
            let inside = _mm256_mask_cmplt_epu32_mask(mask, index, _mm256_set1_epi32(length));
            _mm512_mask_i32scatter_pd::<8>(to.as_mut_ptr().cast(), inside, index, v);
        }
    }

    #[inline(always)]
    fn scatter_half(self, v: H, to: &mut [u32], index: H, mask: u8) {
        let length = i32::try_from(to.len()).unwrap_or(i32::MAX);
        // SAFETY: as in `scatter_f64`.
        unsafe {
            let inside = _mm256_mask_cmplt_epu32_mask(mask, index, _mm256_set1_epi32(length));
            _mm256_mask_i32scatter_epi32::<4>(to.as_mut_ptr().cast(), inside, index, v);
        }
    }
}
