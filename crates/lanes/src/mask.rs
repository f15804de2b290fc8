//! Yes or no for each lane.

use std::ops::{BitAnd, BitOr, Not};

use crate::f32x16::F32x16;
use crate::i32x16::I32x16;
use crate::simd::Simd;

/// Yes or no for each of sixteen lanes, in whatever form the instruction set applies it best.
#[derive(Clone, Copy)]
pub struct Mask<S: Simd> {
    pub(crate) simd: S,
    pub(crate) m: S::Mask,
}

impl<S: Simd> std::fmt::Debug for Mask<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#018b}", self.bits())
    }
}

impl<S: Simd> Mask<S> {
    /// Lane 0 is the lowest bit.
    #[inline(always)]
    #[must_use]
    pub fn of_bits(simd: S, bits: u16) -> Self {
        Self { simd, m: simd.mask_of_bits(bits) }
    }

    /// Lane 0 is the lowest bit.
    #[inline(always)]
    #[must_use]
    pub fn bits(self) -> u16 {
        self.simd.bits_of_mask(self.m)
    }

    /// Whether some lane says yes.
    #[inline(always)]
    #[must_use]
    pub fn any(self) -> bool {
        self.bits() != 0
    }

    /// `yes` where it says yes, `no` elsewhere.
    #[inline(always)]
    #[must_use]
    pub fn select(self, yes: F32x16<S>, no: F32x16<S>) -> F32x16<S> {
        F32x16 { simd: self.simd, v: self.simd.select_f32(self.m, yes.v, no.v) }
    }

    /// `yes` where it says yes, `no` elsewhere.
    #[inline(always)]
    #[must_use]
    pub fn select_i32(self, yes: I32x16<S>, no: I32x16<S>) -> I32x16<S> {
        I32x16 { simd: self.simd, v: self.simd.select_i32(self.m, yes.v, no.v) }
    }
}

impl<S: Simd> BitAnd for Mask<S> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self { m: self.simd.and_mask(self.m, other.m), ..self }
    }
}

impl<S: Simd> BitOr for Mask<S> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self { m: self.simd.or_mask(self.m, other.m), ..self }
    }
}

impl<S: Simd> Not for Mask<S> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self { m: self.simd.not_mask(self.m), ..self }
    }
}
