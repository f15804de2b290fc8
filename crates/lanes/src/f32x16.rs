//! Sixteen numbers of single precision.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::LANES;
use crate::i32x16::I32x16;
use crate::mask::Mask;
use crate::simd::Simd;

/// Added to a number below 2^22, leaves its nearest whole number in the low bits.
pub const TO_WHOLE: f32 = 12_582_912.0;

/// Sixteen numbers of single precision in the registers of an instruction set.
///
/// Only operations that IEEE 754 rounds exactly are here, and products are never fused into sums
/// (but by [`F32x16::mul_add_relaxed`]), so a lane has the same bits with every set.
#[derive(Clone, Copy)]
pub struct F32x16<S: Simd> {
    pub(crate) simd: S,
    pub(crate) v: S::F32,
}

impl<S: Simd> std::fmt::Debug for F32x16<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_array().fmt(f)
    }
}

/// Methods of one and of two vectors that are one operation.
macro_rules! operations {
    ($($(#[$meta:meta])* $name:ident($($other:ident),*) = $operation:ident;)*) => {
        $(
            $(#[$meta])*
            #[inline(always)]
            #[must_use]
            pub fn $name(self, $($other: Self),*) -> Self {
                Self { v: self.simd.$operation(self.v, $($other.v),*), ..self }
            }
        )*
    };
}

macro_rules! comparisons {
    ($($(#[$meta:meta])* $name:ident = $operation:ident($a:ident, $b:ident);)*) => {
        $(
            $(#[$meta])*
            #[inline(always)]
            #[must_use]
            pub fn $name(self, other: Self) -> Mask<S> {
                let ($a, $b) = comparisons!(@order $name self other);
                Mask { simd: self.simd, m: self.simd.$operation($a.v, $b.v) }
            }
        )*
    };
    (@order gt $a:ident $b:ident) => { ($b, $a) };
    (@order ge $a:ident $b:ident) => { ($b, $a) };
    (@order $name:ident $a:ident $b:ident) => { ($a, $b) };
}

impl<S: Simd> F32x16<S> {
    /// The same number in all lanes.
    #[inline(always)]
    #[must_use]
    pub fn splat(simd: S, number: f32) -> Self {
        Self { simd, v: simd.splat_f32(number) }
    }

    /// Sixteen numbers from memory.
    #[inline(always)]
    #[must_use]
    pub fn load(simd: S, from: &[f32; LANES]) -> Self {
        Self { simd, v: simd.load_f32(from) }
    }

    /// Sixteen numbers of a slice from place `at` on.
    ///
    /// # Panics
    /// When they are not there.
    #[inline(always)]
    #[must_use]
    pub fn load_at(simd: S, from: &[f32], at: usize) -> Self {
        let from = &from[at..at + LANES];
        match from.first_chunk() {
            Some(from) => Self::load(simd, from),
            None => Self::splat(simd, 0.0),
        }
    }

    /// Up to sixteen numbers of a slice; zeros behind them.
    #[inline(always)]
    #[must_use]
    pub fn load_part(simd: S, from: &[f32]) -> Self {
        Self { simd, v: simd.load_part_f32(&from[..from.len().min(LANES)]) }
    }

    /// Sixteen points apart: x, y and z.
    #[inline(always)]
    #[must_use]
    pub fn of_points(simd: S, points: &[[f32; 3]; LANES]) -> [Self; 3] {
        let [x, y, z] = simd.transpose_points(points);
        [Self { simd, v: x }, Self { simd, v: y }, Self { simd, v: z }]
    }

    /// Entries of a table for the lanes of a mask; 0 elsewhere, and where the table has none.
    #[inline(always)]
    #[must_use]
    pub fn gather(table: &[f32], index: I32x16<S>, lanes: Mask<S>) -> Self {
        Self { simd: index.simd, v: index.simd.gather_f32(table, index.v, lanes.m) }
    }

    /// To memory.
    #[inline(always)]
    pub fn store(self, to: &mut [f32; LANES]) {
        self.simd.store_f32(self.v, to);
    }

    /// To sixteen numbers of a slice from place `at` on.
    ///
    /// # Panics
    /// When there is no room.
    #[inline(always)]
    pub fn store_at(self, to: &mut [f32], at: usize) {
        let to = &mut to[at..at + LANES];
        if let Some(to) = to.first_chunk_mut() {
            self.store(to);
        }
    }

    /// As an array.
    #[inline(always)]
    #[must_use]
    pub fn to_array(self) -> [f32; LANES] {
        self.simd.f32s(self.v)
    }

    /// The token that it was made with.
    #[inline(always)]
    #[must_use]
    pub fn simd(self) -> S {
        self.simd
    }

    operations! {
        /// `self < other ? self : other`; the other where one is NaN.
        min(other) = min_f32;
        /// `self > other ? self : other`; the other where one is NaN.
        max(other) = max_f32;
        /// Square roots.
        sqrt() = sqrt_f32;
        /// Without their signs.
        abs() = abs_f32;
        /// The next whole numbers upwards.
        ceil() = ceil_f32;
        /// `self * by + plus`, rounded once where the set can do it: the only operation whose
        /// last bit depends on the set. For answers that are checked for doubt.
        mul_add_relaxed(by, plus) = fma_f32;
        /// The smaller of the two without their signs, neither being NaN.
        smaller_magnitude(other) = smaller_magnitude_f32;
        /// What is left without the nearest whole numbers; 0 for infinity.
        past_whole() = past_whole_f32;
    }

    comparisons! {
        /// Lanes where `self < other`.
        lt = lt_f32(a, b);
        /// Lanes where `self <= other`.
        le = le_f32(a, b);
        /// Lanes where `self > other`.
        gt = lt_f32(a, b);
        /// Lanes where `self >= other`.
        ge = le_f32(a, b);
        /// Lanes where the two are equal.
        equal = eq_f32(a, b);
    }

    /// Whether `self >= other` everywhere; it never is for NaN.
    #[inline(always)]
    #[must_use]
    pub fn all_at_least(self, other: Self) -> bool {
        self.ge(other).bits() == u16::MAX
    }

    /// Bits of the lanes where `self >= other` does not hold; it never does for NaN.
    #[inline(always)]
    #[must_use]
    pub fn not_at_least(self, other: Self) -> u16 {
        !self.ge(other).bits()
    }

    /// Lanes that are neither infinite nor NaN.
    #[inline(always)]
    #[must_use]
    pub fn is_finite(self) -> Mask<S> {
        Mask { simd: self.simd, m: self.simd.is_finite_f32(self.v) }
    }

    /// Between two bounds.
    #[inline(always)]
    #[must_use]
    pub fn clamp(self, low: f32, high: f32) -> Self {
        self.max(Self::splat(self.simd, low)).min(Self::splat(self.simd, high))
    }

    /// Lanes between two bounds.
    #[inline(always)]
    #[must_use]
    pub fn within(self, low: f32, high: f32) -> Mask<S> {
        Self::splat(self.simd, low).le(self) & self.le(Self::splat(self.simd, high))
    }

    /// The nearest whole numbers below 2^22; the first answer has them in its low bits.
    #[inline(always)]
    #[must_use]
    pub fn whole(self) -> (Self, Self) {
        let bits = self + TO_WHOLE;
        (bits, bits - TO_WHOLE)
    }

    /// Largest whole numbers not above these; exact for sizes below 2^22.
    #[inline(always)]
    #[must_use]
    pub fn floor(self) -> Self {
        let (_, nearest) = self.whole();
        self.lt(nearest).select(nearest - 1.0, nearest)
    }

    /// Towards zero; `i32::MIN` for what does not fit.
    #[inline(always)]
    #[must_use]
    pub fn truncate(self) -> I32x16<S> {
        I32x16 { simd: self.simd, v: self.simd.truncate_f32(self.v) }
    }

    /// The bits of the numbers.
    #[inline(always)]
    #[must_use]
    pub fn to_bits(self) -> I32x16<S> {
        I32x16 { simd: self.simd, v: self.simd.bits_of_f32(self.v) }
    }

    /// The lanes of a mask first, zeros behind.
    #[inline(always)]
    #[must_use]
    pub fn compress(self, lanes: Mask<S>) -> Self {
        Self { v: self.simd.compress_f32(lanes.m, self.v), ..self }
    }

    /// The least of all lanes.
    #[inline(always)]
    #[must_use]
    pub fn reduce_min(self) -> f32 {
        self.simd.least_f32(self.v)
    }

    /// The largest of all lanes.
    #[inline(always)]
    #[must_use]
    pub fn reduce_max(self) -> f32 {
        self.simd.most_f32(self.v)
    }
}

/// An operator between vectors, and between a vector and a number.
macro_rules! operator {
    ($($trait:ident $method:ident $operation:ident),*) => {
        $(
            impl<S: Simd> $trait for F32x16<S> {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    Self { v: self.simd.$operation(self.v, other.v), ..self }
                }
            }

            impl<S: Simd> $trait<f32> for F32x16<S> {
                type Output = Self;
                #[inline(always)]
                fn $method(self, number: f32) -> Self {
                    let number = self.simd.splat_f32(number);
                    Self { v: self.simd.$operation(self.v, number), ..self }
                }
            }
        )*
    };
}

operator!(Add add add_f32, Sub sub sub_f32, Mul mul mul_f32, Div div div_f32);

impl<S: Simd> Neg for F32x16<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let sign = self.simd.splat_i32(i32::MIN);
        let bits = self.simd.xor_i32(self.simd.bits_of_f32(self.v), sign);
        Self { v: self.simd.f32_of_bits(bits), ..self }
    }
}
