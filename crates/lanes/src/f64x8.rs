//! Eight numbers of double precision, and eight whole numbers that go with them.

use std::ops::{Add, AddAssign, BitAnd, Div, Index, IndexMut, Mul, Neg, Sub, SubAssign};

use crate::isa::Scalar;
use crate::simd::Simd;

/// Eight numbers of double precision. Masks of eight lanes are bits, lane 0 the lowest.
///
/// As with [`F32x16`](crate::F32x16) all sets give the same bits.
#[derive(Clone, Copy)]
pub struct F64x8<S: Simd> {
    pub(crate) simd: S,
    pub(crate) v: S::F64,
}

/// Eight whole numbers of 32 bits.
#[derive(Clone, Copy)]
pub struct I32x8<S: Simd> {
    simd: S,
    v: S::I32Half,
}

impl<S: Simd> std::fmt::Debug for F64x8<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_array().fmt(f)
    }
}

impl<S: Simd> std::fmt::Debug for I32x8<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_array().fmt(f)
    }
}

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

impl<S: Simd> F64x8<S> {
    /// The same number in all lanes.
    #[inline(always)]
    #[must_use]
    pub fn splat(simd: S, number: f64) -> Self {
        Self { simd, v: simd.splat_f64(number) }
    }

    /// Eight numbers from memory.
    #[inline(always)]
    #[must_use]
    pub fn load(simd: S, from: &[f64; 8]) -> Self {
        Self { simd, v: simd.load_f64(from) }
    }

    /// The first numbers of a slice, one after the other, into the lanes of a mask; 0 elsewhere.
    ///
    /// # Panics
    /// When the slice has fewer than the mask has lanes.
    #[inline(always)]
    #[must_use]
    pub fn expand(simd: S, lanes: u8, from: &[f64]) -> Self {
        Self { simd, v: simd.expand_f64(lanes, &from[..lanes.count_ones() as usize]) }
    }

    /// As an array.
    #[inline(always)]
    #[must_use]
    pub fn to_array(self) -> [f64; 8] {
        let mut out = [0.0; 8];
        self.simd.store_f64(self.v, &mut out);
        out
    }

    operations! {
        /// `self < other ? self : other`.
        min(other) = min_f64;
        /// `self > other ? self : other`.
        max(other) = max_f64;
        /// Without their signs.
        abs() = abs_f64;
        /// Square roots.
        sqrt() = sqrt_f64;
        /// Largest whole numbers not above these.
        floor() = floor_f64;
    }

    /// Lanes where `self < other`.
    #[inline(always)]
    #[must_use]
    pub fn lt(self, other: Self) -> u8 {
        self.simd.lt_f64(self.v, other.v)
    }

    /// Lanes where `self <= other`.
    #[inline(always)]
    #[must_use]
    pub fn le(self, other: Self) -> u8 {
        self.simd.le_f64(self.v, other.v)
    }

    /// These in the lanes of a mask, `no` elsewhere.
    #[inline(always)]
    #[must_use]
    pub fn where_or(self, lanes: u8, no: Self) -> Self {
        Self { v: self.simd.select_f64(lanes, self.v, no.v), ..self }
    }

    /// Towards zero; `i32::MIN` for what does not fit.
    #[inline(always)]
    #[must_use]
    pub fn truncate(self) -> I32x8<S> {
        I32x8 { simd: self.simd, v: self.simd.truncate_f64(self.v) }
    }

    /// Writes the lanes of a mask to their places; those outside of the slice to nowhere.
    #[inline(always)]
    pub fn scatter(self, to: &mut [f64], index: I32x8<S>, lanes: u8) {
        self.simd.scatter_f64(self.v, to, index.v, lanes);
    }
}

/// What plain arrays can do besides: lanes one by one.
impl F64x8<Scalar> {
    /// 0 in all lanes.
    pub const ZERO: Self = Self { simd: Scalar::new(), v: [0.0; 8] };

    /// The same number in all lanes.
    #[inline(always)]
    #[must_use]
    pub const fn all(number: f64) -> Self {
        Self { simd: Scalar::new(), v: [number; 8] }
    }

    /// A function of each.
    #[inline(always)]
    #[must_use]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { v: self.v.map(f), ..self }
    }

    /// A function of the two, each.
    #[inline(always)]
    #[must_use]
    pub fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self { v: std::array::from_fn(|lane| f(self.v[lane], other.v[lane])), ..self }
    }
}

impl Index<usize> for F64x8<Scalar> {
    type Output = f64;
    #[inline(always)]
    fn index(&self, lane: usize) -> &f64 {
        &self.v[lane]
    }
}

impl IndexMut<usize> for F64x8<Scalar> {
    #[inline(always)]
    fn index_mut(&mut self, lane: usize) -> &mut f64 {
        &mut self.v[lane]
    }
}

macro_rules! operator {
    ($($trait:ident $method:ident $operation:ident),*) => {
        $(
            impl<S: Simd> $trait for F64x8<S> {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    Self { v: self.simd.$operation(self.v, other.v), ..self }
                }
            }

            impl<S: Simd> $trait<f64> for F64x8<S> {
                type Output = Self;
                #[inline(always)]
                fn $method(self, number: f64) -> Self {
                    let number = self.simd.splat_f64(number);
                    Self { v: self.simd.$operation(self.v, number), ..self }
                }
            }
        )*
    };
}

operator!(Add add add_f64, Sub sub sub_f64, Mul mul mul_f64, Div div div_f64);

impl<S: Simd> AddAssign for F64x8<S> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<S: Simd> SubAssign for F64x8<S> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<S: Simd> Neg for F64x8<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // Turns the sign of 0 as well, and never rounds.
        self * -1.0
    }
}

impl<S: Simd> I32x8<S> {
    /// The same number in all lanes.
    #[inline(always)]
    #[must_use]
    pub fn splat(simd: S, number: i32) -> Self {
        Self { simd, v: simd.splat_half(number) }
    }

    /// Eight numbers from memory.
    #[inline(always)]
    #[must_use]
    pub fn load(simd: S, from: &[i32; 8]) -> Self {
        Self { simd, v: simd.load_half(from) }
    }

    /// As an array.
    #[inline(always)]
    #[must_use]
    pub fn to_array(self) -> [i32; 8] {
        let mut out = [0; 8];
        self.simd.store_half(self.v, &mut out);
        out
    }

    /// Bits downwards by a number below 32, zeros come in.
    #[inline(always)]
    #[must_use]
    pub fn shift_right(self, by: u32) -> Self {
        Self { v: self.simd.shr_half(self.v, by), ..self }
    }

    /// Bits downwards, each by its own number; 0 from 32 on.
    #[inline(always)]
    #[must_use]
    pub fn shift_right_each(self, by: Self) -> Self {
        Self { v: self.simd.shrv_half(self.v, by.v), ..self }
    }

    /// Lanes that are not 0.
    #[inline(always)]
    #[must_use]
    pub fn nonzero(self) -> u8 {
        self.simd.nonzero_half(self.v)
    }

    /// Square roots, in single precision.
    #[inline(always)]
    #[must_use]
    pub fn single_roots(self) -> F64x8<S> {
        F64x8 { simd: self.simd, v: self.simd.roots_half(self.v) }
    }

    /// The first lanes of `from`, one after the other, into the lanes of a mask.
    #[inline(always)]
    #[must_use]
    pub fn replaced(self, lanes: u8, from: Self) -> Self {
        Self { v: self.simd.expand_half(lanes, from.v, self.v), ..self }
    }

    /// Entries of a table at these places, for the lanes of a mask; 0 elsewhere, and where the
    /// table has none.
    #[inline(always)]
    #[must_use]
    pub fn look_up_u16(self, table: &[u16], lanes: u8) -> Self {
        Self { v: self.simd.gather_u16(table, self.v, lanes), ..self }
    }

    /// As [`I32x8::look_up_u16`].
    #[inline(always)]
    #[must_use]
    pub fn look_up_u32(self, table: &[u32], lanes: u8) -> Self {
        Self { v: self.simd.gather_u32(table, self.v, lanes), ..self }
    }

    /// As [`I32x8::look_up_u16`], from words of 64 bits taken as pairs of 32, the lower first.
    #[inline(always)]
    #[must_use]
    pub fn look_up_halves(self, table: &[u64], lanes: u8) -> Self {
        Self { v: self.simd.gather_half(table, self.v, lanes), ..self }
    }

    /// Writes the lanes of a mask to their places; those outside of the slice to nowhere.
    #[inline(always)]
    pub fn scatter(self, to: &mut [u32], index: Self, lanes: u8) {
        self.simd.scatter_half(self.v, to, index.v, lanes);
    }
}

impl<S: Simd> Add for I32x8<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { v: self.simd.add_half(self.v, other.v), ..self }
    }
}

impl<S: Simd> Mul for I32x8<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self { v: self.simd.mul_half(self.v, other.v), ..self }
    }
}

impl<S: Simd> BitAnd<i32> for I32x8<S> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, number: i32) -> Self {
        Self { v: self.simd.and_half(self.v, self.simd.splat_half(number)), ..self }
    }
}

/// Sums of colours up to each of eight, in four fields of 16 bits: each colour has four bytes,
/// and `before` is the sum of those before it.
#[inline(always)]
#[must_use]
pub fn running_sums<S: Simd>(simd: S, colours: &[u32; 8], before: u64) -> [u64; 8] {
    let mut out = [0; 8];
    simd.running_sums(colours, before, &mut out);
    out
}

/// Eight colours of three bytes as numbers: the first byte is the lowest, the highest is 0. The
/// last two of the ten are read, not used.
#[inline(always)]
pub fn widen_colours<S: Simd>(simd: S, rgb: &[[u8; 3]; 10], out: &mut [u32; 8]) {
    simd.widen_colours(rgb, out);
}
