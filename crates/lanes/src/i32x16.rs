//! Sixteen whole numbers of 32 bits.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Sub};

use crate::LANES;
use crate::f32x16::F32x16;
use crate::mask::Mask;
use crate::simd::Simd;

/// Sixteen whole numbers of 32 bits in the registers of an instruction set. Sums and products
/// wrap around.
#[derive(Clone, Copy)]
pub struct I32x16<S: Simd> {
    pub(crate) simd: S,
    pub(crate) v: S::I32,
}

impl<S: Simd> std::fmt::Debug for I32x16<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_array().fmt(f)
    }
}

impl<S: Simd> I32x16<S> {
    /// The same number in all lanes.
    #[inline(always)]
    #[must_use]
    pub fn splat(simd: S, number: i32) -> Self {
        Self { simd, v: simd.splat_i32(number) }
    }

    /// 0 to 15.
    #[inline(always)]
    #[must_use]
    pub fn count_up(simd: S) -> Self {
        Self::load(simd, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
    }

    /// Sixteen numbers from memory.
    #[inline(always)]
    #[must_use]
    pub fn load(simd: S, from: &[i32; LANES]) -> Self {
        Self { simd, v: simd.load_i32(from) }
    }

    /// Sixteen numbers without sign from memory.
    #[inline(always)]
    #[must_use]
    pub fn load_u32(simd: S, from: &[u32; LANES]) -> Self {
        Self { simd, v: simd.load_u32(from) }
    }

    /// Sixteen numbers without sign of a slice from place `at` on.
    ///
    /// # Panics
    /// When they are not there.
    #[inline(always)]
    #[must_use]
    pub fn load_u32_at(simd: S, from: &[u32], at: usize) -> Self {
        let from = &from[at..at + LANES];
        match from.first_chunk() {
            Some(from) => Self::load_u32(simd, from),
            None => Self::splat(simd, 0),
        }
    }

    /// To memory, as numbers without sign.
    #[inline(always)]
    pub fn store_u32(self, to: &mut [u32; LANES]) {
        self.simd.store_u32(self.v, to);
    }

    /// To sixteen numbers of a slice from place `at` on.
    ///
    /// # Panics
    /// When there is no room.
    #[inline(always)]
    pub fn store_u32_at(self, to: &mut [u32], at: usize) {
        let to = &mut to[at..at + LANES];
        if let Some(to) = to.first_chunk_mut() {
            self.store_u32(to);
        }
    }

    /// As an array of numbers without sign.
    #[inline(always)]
    #[must_use]
    pub fn to_u32_array(self) -> [u32; LANES] {
        let mut out = [0; LANES];
        self.store_u32(&mut out);
        out
    }

    /// As an array.
    #[inline(always)]
    #[must_use]
    pub fn to_array(self) -> [i32; LANES] {
        self.simd.i32s(self.v)
    }

    /// The larger of the two, each.
    #[inline(always)]
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { v: self.simd.max_i32(self.v, other.v), ..self }
    }

    /// Lanes where `self < other`.
    #[inline(always)]
    #[must_use]
    pub fn lt(self, other: Self) -> Mask<S> {
        Mask { simd: self.simd, m: self.simd.lt_i32(self.v, other.v) }
    }

    /// Lanes where the two are equal.
    #[inline(always)]
    #[must_use]
    pub fn equal(self, other: Self) -> Mask<S> {
        Mask { simd: self.simd, m: self.simd.eq_i32(self.v, other.v) }
    }

    /// Bits upwards, all by the same number below 32.
    #[inline(always)]
    #[must_use]
    pub fn shift_left(self, by: u32) -> Self {
        Self { v: self.simd.shl_i32(self.v, by), ..self }
    }

    /// Bits upwards, each by its own number; 0 from 32 on.
    #[inline(always)]
    #[must_use]
    pub fn shift_left_each(self, by: Self) -> Self {
        Self { v: self.simd.shlv_i32(self.v, by.v), ..self }
    }

    /// Bits downwards by a number below 32, zeros come in.
    #[inline(always)]
    #[must_use]
    pub fn shift_right(self, by: u32) -> Self {
        Self { v: self.simd.shr_u32(self.v, by), ..self }
    }

    /// Halved as often as given (below 32), rounded down: the sign comes in.
    #[inline(always)]
    #[must_use]
    pub fn shift_right_signed(self, by: u32) -> Self {
        Self { v: self.simd.shr_i32(self.v, by), ..self }
    }

    /// The lanes of a mask first, zeros behind.
    #[inline(always)]
    #[must_use]
    pub fn compress(self, lanes: Mask<S>) -> Self {
        Self { v: self.simd.compress_i32(lanes.m, self.v), ..self }
    }

    /// One more in the lanes of a mask.
    #[inline(always)]
    #[must_use]
    pub fn plus_one_where(self, lanes: Mask<S>) -> Self {
        lanes.select_i32(self + 1, self)
    }

    /// The nearest numbers of single precision.
    #[inline(always)]
    #[must_use]
    pub fn to_f32(self) -> F32x16<S> {
        F32x16 { simd: self.simd, v: self.simd.f32_of_i32(self.v) }
    }

    /// The numbers that have these bits.
    #[inline(always)]
    #[must_use]
    pub fn from_bits(self) -> F32x16<S> {
        F32x16 { simd: self.simd, v: self.simd.f32_of_bits(self.v) }
    }
}

macro_rules! operator {
    ($($trait:ident $method:ident $operation:ident),*) => {
        $(
            impl<S: Simd> $trait for I32x16<S> {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    Self { v: self.simd.$operation(self.v, other.v), ..self }
                }
            }

            impl<S: Simd> $trait<i32> for I32x16<S> {
                type Output = Self;
                #[inline(always)]
                fn $method(self, number: i32) -> Self {
                    let number = self.simd.splat_i32(number);
                    Self { v: self.simd.$operation(self.v, number), ..self }
                }
            }
        )*
    };
}

operator!(
    Add add add_i32, Sub sub sub_i32, Mul mul mul_i32,
    BitAnd bitand and_i32, BitOr bitor or_i32, BitXor bitxor xor_i32
);
