//! Eight numbers of double precision.

use std::ops::{Add, AddAssign, Div, Index, IndexMut, Mul, Neg, Sub, SubAssign};

use crate::i32x8::I32x8;
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

impl<S: Simd> std::fmt::Debug for F64x8<S> {
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
        let mut made = self;
        for number in &mut made.v {
            *number = f(*number);
        }
        made
    }

    /// A function of the two, each.
    #[inline(always)]
    #[must_use]
    pub fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut made = self;
        for (number, other) in made.v.iter_mut().zip(other.v) {
            *number = f(*number, other);
        }
        made
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
