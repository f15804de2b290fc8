//! Instructions of each set under one name. The trait is not nameable outside of this crate, so
//! that nobody can add a set, and values of its types are only inside of our vectors.

/// Methods of a token.
macro_rules! methods {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?;)*) => {
        $( $(#[$meta])* fn $name(self, $($argument: $type),*) $(-> $output)?; )*
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod eights;
mod scalar;

use crate::LANES;

/// Registers of 16 numbers of 32 bits and their masks. Sums and products are never fused and
/// round to nearest, so that all sets give the same bits.
pub trait Registers: eights::Eights + Copy {
    type F32: Copy;
    type I32: Copy;
    type Mask: Copy;

    methods! {
        fn splat_f32(number: f32) -> Self::F32;
        fn load_f32(from: &[f32; LANES]) -> Self::F32;
        fn store_f32(v: Self::F32, to: &mut [f32; LANES]);
        fn add_f32(a: Self::F32, b: Self::F32) -> Self::F32;
        fn sub_f32(a: Self::F32, b: Self::F32) -> Self::F32;
        fn mul_f32(a: Self::F32, b: Self::F32) -> Self::F32;
        fn div_f32(a: Self::F32, b: Self::F32) -> Self::F32;
        /// `a < b ? a : b`
        fn min_f32(a: Self::F32, b: Self::F32) -> Self::F32;
        /// `a > b ? a : b`
        fn max_f32(a: Self::F32, b: Self::F32) -> Self::F32;
        fn sqrt_f32(a: Self::F32) -> Self::F32;
        fn abs_f32(a: Self::F32) -> Self::F32;
        /// `a * b + c`, rounded once where the set can do it.
        fn fma_f32(a: Self::F32, b: Self::F32, c: Self::F32) -> Self::F32;
        fn ceil_f32(a: Self::F32) -> Self::F32;
        fn lt_f32(a: Self::F32, b: Self::F32) -> Self::Mask;
        fn le_f32(a: Self::F32, b: Self::F32) -> Self::Mask;
        fn eq_f32(a: Self::F32, b: Self::F32) -> Self::Mask;
        fn select_f32(mask: Self::Mask, yes: Self::F32, no: Self::F32) -> Self::F32;
        fn bits_of_f32(a: Self::F32) -> Self::I32;
        fn f32_of_bits(a: Self::I32) -> Self::F32;
        /// Towards zero; `i32::MIN` for what does not fit.
        fn truncate_f32(a: Self::F32) -> Self::I32;
        fn f32_of_i32(a: Self::I32) -> Self::F32;

        fn splat_i32(number: i32) -> Self::I32;
        fn load_i32(from: &[i32; LANES]) -> Self::I32;
        fn store_i32(v: Self::I32, to: &mut [i32; LANES]);
        fn load_u32(from: &[u32; LANES]) -> Self::I32;
        fn store_u32(v: Self::I32, to: &mut [u32; LANES]);
        fn add_i32(a: Self::I32, b: Self::I32) -> Self::I32;
        fn sub_i32(a: Self::I32, b: Self::I32) -> Self::I32;
        fn mul_i32(a: Self::I32, b: Self::I32) -> Self::I32;
        fn max_i32(a: Self::I32, b: Self::I32) -> Self::I32;
        fn and_i32(a: Self::I32, b: Self::I32) -> Self::I32;
        fn or_i32(a: Self::I32, b: Self::I32) -> Self::I32;
        fn xor_i32(a: Self::I32, b: Self::I32) -> Self::I32;
        /// By less than 32.
        fn shl_i32(a: Self::I32, by: u32) -> Self::I32;
        /// Zeros come in; by less than 32.
        fn shr_u32(a: Self::I32, by: u32) -> Self::I32;
        /// The sign comes in; by less than 32.
        fn shr_i32(a: Self::I32, by: u32) -> Self::I32;
        /// Each by its own number of bits; 0 from 32 on.
        fn shlv_i32(a: Self::I32, by: Self::I32) -> Self::I32;
        fn lt_i32(a: Self::I32, b: Self::I32) -> Self::Mask;
        fn eq_i32(a: Self::I32, b: Self::I32) -> Self::Mask;
        fn select_i32(mask: Self::Mask, yes: Self::I32, no: Self::I32) -> Self::I32;

        fn and_mask(a: Self::Mask, b: Self::Mask) -> Self::Mask;
        fn or_mask(a: Self::Mask, b: Self::Mask) -> Self::Mask;
        fn not_mask(a: Self::Mask) -> Self::Mask;
        fn bits_of_mask(a: Self::Mask) -> u16;
        fn mask_of_bits(bits: u16) -> Self::Mask;
    }

    #[inline(always)]
    fn f32s(self, v: Self::F32) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        self.store_f32(v, &mut out);
        out
    }

    #[inline(always)]
    fn i32s(self, v: Self::I32) -> [i32; LANES] {
        let mut out = [0; LANES];
        self.store_i32(v, &mut out);
        out
    }

    #[inline(always)]
    fn least_f32(self, v: Self::F32) -> f32 {
        self.f32s(v).into_iter().fold(f32::INFINITY, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn most_f32(self, v: Self::F32) -> f32 {
        self.f32s(v).into_iter().fold(f32::NEG_INFINITY, |a, b| if a > b { a } else { b })
    }

    /// What is left of a number without its nearest whole one (of two the even one); 0 for
    /// infinity.
    #[inline(always)]
    fn past_whole_f32(self, v: Self::F32) -> Self::F32 {
        let past = |n: f32| if n.is_infinite() { 0.0 } else { n - n.round_ties_even() };
        self.load_f32(&self.f32s(v).map(past))
    }

    /// The smaller of the two without their signs.
    #[inline(always)]
    fn smaller_magnitude_f32(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        self.min_f32(self.abs_f32(a), self.abs_f32(b))
    }

    /// At most sixteen numbers; zeros behind them.
    #[inline(always)]
    fn load_part_f32(self, from: &[f32]) -> Self::F32 {
        let mut padded = [0.0; LANES];
        padded[..from.len()].copy_from_slice(from);
        self.load_f32(&padded)
    }

    #[inline(always)]
    fn is_finite_f32(self, v: Self::F32) -> Self::Mask {
        self.lt_f32(self.abs_f32(v), self.splat_f32(f32::INFINITY))
    }

    /// The lanes of the mask first, zeros behind.
    #[inline(always)]
    fn compress_f32(self, mask: Self::Mask, v: Self::F32) -> Self::F32 {
        self.load_f32(&compressed(self.bits_of_mask(mask), self.f32s(v)))
    }

    #[inline(always)]
    fn compress_i32(self, mask: Self::Mask, v: Self::I32) -> Self::I32 {
        self.load_i32(&compressed(self.bits_of_mask(mask), self.i32s(v)))
    }

    /// `table[index]` for the lanes of the mask; 0 elsewhere, and for what is outside.
    #[inline(always)]
    fn gather_f32(self, table: &[f32], index: Self::I32, mask: Self::Mask) -> Self::F32 {
        let (bits, index) = (self.bits_of_mask(mask), self.i32s(index));
        let at = |lane: usize| {
            let place = index[lane].cast_unsigned() as usize;
            if bits >> lane & 1 == 1 { table.get(place).copied().unwrap_or(0.0) } else { 0.0 }
        };
        self.load_f32(&std::array::from_fn(at))
    }

    /// Sixteen points apart: x, y and z.
    #[inline(always)]
    fn transpose_points(self, points: &[[f32; 3]; LANES]) -> [Self::F32; 3] {
        std::array::from_fn(|axis| self.load_f32(&points.map(|point| point[axis])))
    }

    /// Eight colours of three bytes as numbers: the first byte is the lowest, the highest is 0.
    /// Two colours more are read, not used.
    #[inline(always)]
    fn widen_colours(self, rgb: &[[u8; 3]; 10], out: &mut [u32; 8]) {
        for ([r, g, b], out) in rgb.iter().zip(out) {
            *out = u32::from_le_bytes([*r, *g, *b, 0]);
        }
    }
}

#[inline(always)]
fn compressed<T: Copy + Default>(bits: u16, from: [T; LANES]) -> [T; LANES] {
    let (mut out, mut count) = ([T::default(); LANES], 0);
    for (lane, number) in from.into_iter().enumerate() {
        if bits >> lane & 1 == 1 {
            out[count] = number;
            count += 1;
        }
    }
    out
}

/// On other processors the tokens of x86-64 exist, but nobody can have one.
#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use super::scalar::scalar_registers;
    scalar_registers!(crate::isa::Avx2);
    scalar_registers!(crate::isa::Avx512);
    impl super::eights::Eights for crate::isa::Avx2 {
        super::eights::array_eights!();
    }
    impl super::eights::Eights for crate::isa::Avx512 {
        super::eights::array_eights!();
    }
}
