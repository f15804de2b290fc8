//! Eight whole numbers, of 32 bits and of 64.

use std::ops::{Add, BitAnd, Mul};

use crate::f64x8::F64x8;
use crate::simd::Simd;

/// Eight whole numbers of 32 bits.
#[derive(Clone, Copy)]
pub struct I32x8<S: Simd> {
    pub(crate) simd: S,
    pub(crate) v: S::I32Half,
}

impl<S: Simd> std::fmt::Debug for I32x8<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_array().fmt(f)
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

    /// Eight numbers without sign from memory.
    #[inline(always)]
    #[must_use]
    pub fn load_u32(simd: S, from: &[u32; 8]) -> Self {
        let mut signed = [0; 8];
        for lane in 0..8 {
            signed[lane] = from[lane].cast_signed();
        }
        Self::load(simd, &signed)
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

    /// Of each number the four bytes in four fields of 16 bits, the lowest first.
    #[inline(always)]
    #[must_use]
    pub fn bytes_apart(self) -> U64x8<S> {
        U64x8 { simd: self.simd, v: self.simd.bytes_apart(self.v) }
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

    /// Entries of a table at these places, for the lanes of a mask; 0 elsewhere. The table's last
    /// entry is padding, which an instruction may read but no lane gets: places beyond have the
    /// entry before it.
    #[inline(always)]
    #[must_use]
    pub fn look_up_u16(self, table: &[u16], lanes: u8) -> Self {
        Self { v: self.simd.gather_u16(table, self.v, lanes), ..self }
    }

    /// Entries of a table at these places, for the lanes of a mask; 0 elsewhere, and where the
    /// table has none.
    #[inline(always)]
    #[must_use]
    pub fn look_up_u32(self, table: &[u32], lanes: u8) -> Self {
        Self { v: self.simd.gather_u32(table, self.v, lanes), ..self }
    }

    /// As [`I32x8::look_up_u32`], from words of 64 bits taken as pairs of 32, the lower first.
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

/// Eight whole numbers of 64 bits without sign.
#[derive(Clone, Copy)]
pub struct U64x8<S: Simd> {
    simd: S,
    v: S::U64,
}

impl<S: Simd> std::fmt::Debug for U64x8<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut lanes = [0; 8];
        self.store(&mut lanes);
        lanes.fmt(f)
    }
}

impl<S: Simd> U64x8<S> {
    /// The same number in all lanes.
    #[inline(always)]
    #[must_use]
    pub fn splat(simd: S, number: u64) -> Self {
        Self { simd, v: simd.splat_u64(number) }
    }

    /// To memory.
    #[inline(always)]
    pub fn store(self, to: &mut [u64; 8]) {
        self.simd.store_u64(self.v, to);
    }

    /// Sums of each lane and all before it.
    #[inline(always)]
    #[must_use]
    pub fn running_sums(self) -> Self {
        Self { v: self.simd.running_sums_u64(self.v), ..self }
    }

    /// The last lane in all.
    #[inline(always)]
    #[must_use]
    pub fn last(self) -> Self {
        Self { v: self.simd.last_u64(self.v), ..self }
    }
}

impl<S: Simd> Add for U64x8<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { v: self.simd.add_u64(self.v, other.v), ..self }
    }
}

/// Eight colours of three bytes as numbers: the first byte is the lowest, the highest is 0. The
/// last two of the ten are read, not used.
#[inline(always)]
pub fn widen_colours<S: Simd>(simd: S, rgb: &[[u8; 3]; 10], out: &mut [u32; 8]) {
    simd.widen_colours(rgb, out);
}
