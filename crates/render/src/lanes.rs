//! Arithmetic on a register of `f32` lanes, as operators.
//!
//! `pulp` picks the register width at run time (16 lanes with AVX-512, 8 with AVX2, 1 without).
//! Only operations that IEEE 754 rounds exactly are here (no fused multiply-add, no approximate
//! reciprocal), so a lane gives the same bits at every width and on every x86-64 machine.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

use pulp::{Simd, bytemuck};

use crate::surface::MAX_LANES;

/// One register of `f32` lanes.
#[derive(Clone, Copy)]
pub(crate) struct V<S: Simd> {
    s: S,
    v: S::f32s,
}

/// One yes/no per lane.
#[derive(Clone, Copy)]
pub(crate) struct Mask<S: Simd> {
    s: S,
    m: S::m32s,
}

/// Three registers: one 3-vector per lane.
#[derive(Clone, Copy)]
pub(crate) struct V3<S: Simd>(pub(crate) V<S>, pub(crate) V<S>, pub(crate) V<S>);

impl<S: Simd> V<S> {
    #[inline(always)]
    pub(crate) fn splat(s: S, value: f32) -> Self {
        Self { s, v: s.splat_f32s(value) }
    }

    /// Lanes `block * LANES ..` of a buffer whose length is a multiple of the lane count.
    #[inline(always)]
    pub(crate) fn load(s: S, from: &[f32], block: usize) -> Self {
        Self { s, v: S::as_simd_f32s(from).0[block] }
    }

    #[inline(always)]
    pub(crate) fn store(self, to: &mut [f32], block: usize) {
        S::as_mut_simd_f32s(to).0[block] = self.v;
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        Self { v: self.s.sqrt_f32s(self.v), ..self }
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        self.max(-self)
    }

    #[inline(always)]
    pub(crate) fn min(self, o: Self) -> Self {
        Self { v: self.s.min_f32s(self.v, o.v), ..self }
    }

    #[inline(always)]
    pub(crate) fn max(self, o: Self) -> Self {
        Self { v: self.s.max_f32s(self.v, o.v), ..self }
    }

    #[inline(always)]
    pub(crate) fn clamp(self, low: f32, high: f32) -> Self {
        self.max(Self::splat(self.s, low)).min(Self::splat(self.s, high))
    }

    /// -1 or 1.
    #[inline(always)]
    pub(crate) fn sign(self) -> Self {
        let one = Self::splat(self.s, 1.0);
        self.lt(Self::splat(self.s, 0.0)).select(-one, one)
    }

    #[inline(always)]
    pub(crate) fn within(self, low: f32, high: f32) -> Mask<S> {
        Self::splat(self.s, low).le(self) & self.le(Self::splat(self.s, high))
    }

    #[inline(always)]
    pub(crate) fn lt(self, o: Self) -> Mask<S> {
        Mask { s: self.s, m: self.s.less_than_f32s(self.v, o.v) }
    }

    #[inline(always)]
    pub(crate) fn le(self, o: Self) -> Mask<S> {
        Mask { s: self.s, m: self.s.less_than_or_equal_f32s(self.v, o.v) }
    }

    /// Largest integer not above the value; exact for magnitudes below 2^22.
    #[inline(always)]
    pub(crate) fn floor(self) -> Self {
        let magic = Self::splat(self.s, 12_582_912.0);
        let nearest = (self + magic) - magic;
        self.lt(nearest).select(nearest - 1.0, nearest)
    }

    /// `self^exponent` for `self` near 1 and clamped to 0 elsewhere:
    /// `(1 - e (1 - c) / 16)^16`, which has the value, slope and width of the power at its peak.
    #[inline(always)]
    pub(crate) fn lobe(self, exponent: f32) -> Self {
        let one = Self::splat(self.s, 1.0);
        let base = (one - (one - self) * (exponent / 16.0)).max(Self::splat(self.s, 0.0));
        let p2 = base * base;
        let p4 = p2 * p2;
        let p8 = p4 * p4;
        p8 * p8
    }

    /// `1 / sqrt(self)` to about 5e-6, for colours: much cheaper than a root and a division,
    /// and unlike the processor's own estimate the same bits everywhere.
    #[inline(always)]
    pub(crate) fn inverse_sqrt(self) -> Self {
        let s = self.s;
        let half_bits = s.wrapping_dyn_shr_u32s(s.transmute_u32s_f32s(self.v), s.splat_u32s(1));
        let guess = s.sub_u32s(s.splat_u32s(0x5f37_5a86), half_bits);
        let mut y = Self { s, v: s.transmute_f32s_u32s(guess) };
        let half = self * 0.5;
        let three_halves = Self::splat(s, 1.5);
        y = y * (three_halves - half * y * y);
        y * (three_halves - half * y * y)
    }

    /// Values 0 to 1 as integers 0 to 255, the nearest.
    #[inline(always)]
    fn to_byte(self) -> S::u32s {
        // Adding 2^23 leaves the nearest integer in the low bits of the number.
        let scaled = self.clamp(0.0, 1.0) * 255.0 + 8_388_608.0;
        self.s.sub_u32s(self.s.transmute_u32s_f32s(scaled.v), self.s.splat_u32s(0x4b00_0000))
    }

    /// Whole numbers from 0 to 2^23 as integers.
    #[inline(always)]
    pub(crate) fn to_integers(self) -> [u32; MAX_LANES] {
        let mut out = [0; MAX_LANES];
        let bits = self.s.transmute_u32s_f32s((self + 8_388_608.0).v);
        S::as_mut_simd_u32s(&mut out).0[0] = self.s.sub_u32s(bits, self.s.splat_u32s(0x4b00_0000));
        out
    }

    /// Smallest and largest of the lanes in the mask.
    #[inline(always)]
    pub(crate) fn range(self, mask: Mask<S>) -> [f32; 2] {
        let low = mask.select(self, Self::splat(self.s, f32::INFINITY));
        let high = mask.select(self, Self::splat(self.s, f32::NEG_INFINITY));
        [self.s.reduce_min_f32s(low.v), self.s.reduce_max_f32s(high.v)]
    }

    #[inline(always)]
    pub(crate) fn reduce_max(self) -> f32 {
        self.s.reduce_max_f32s(self.v)
    }
}

impl<S: Simd> Mask<S> {
    #[inline(always)]
    pub(crate) fn select(self, yes: V<S>, no: V<S>) -> V<S> {
        V { s: self.s, v: self.s.select_f32s(self.m, yes.v, no.v) }
    }

    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        let bytes = bytemuck::bytes_of(&self.m);
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().fold(0, |acc, w| acc | u64::from_ne_bytes(*w)) != 0
            || rest.iter().fold(0, |acc, b| acc | b) != 0
    }

    /// Overwrites lanes of an integer buffer where the mask is set.
    #[inline(always)]
    pub(crate) fn write(self, to: &mut [u32], block: usize, value: u32) {
        let slot = &mut S::as_mut_simd_u32s(to).0[block];
        *slot = self.s.select_u32s(self.m, self.s.splat_u32s(value), *slot);
    }

    /// Lanes of an integer buffer that equal `value`.
    #[inline(always)]
    pub(crate) fn equal(s: S, from: &[u32], block: usize, value: u32) -> Self {
        Mask { s, m: s.equal_u32s(S::as_simd_u32s(from).0[block], s.splat_u32s(value)) }
    }
}

impl<S: Simd> BitAnd for Mask<S> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, o: Self) -> Self {
        Self { m: self.s.and_m32s(self.m, o.m), ..self }
    }
}

impl<S: Simd> BitOr for Mask<S> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, o: Self) -> Self {
        Self { m: self.s.or_m32s(self.m, o.m), ..self }
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $simd:ident) => {
        impl<S: Simd> $trait for V<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Self { v: self.s.$simd(self.v, o.v), ..self }
            }
        }
        impl<S: Simd> $trait<f32> for V<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: f32) -> Self {
                Self { v: self.s.$simd(self.v, self.s.splat_f32s(o)), ..self }
            }
        }
    };
}

operator!(Add, add, add_f32s);
operator!(Sub, sub, sub_f32s);
operator!(Mul, mul, mul_f32s);
operator!(Div, div, div_f32s);

impl<S: Simd> Neg for V<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { v: self.s.sub_f32s(self.s.splat_f32s(0.0), self.v), ..self }
    }
}

impl<S: Simd> V3<S> {
    #[inline(always)]
    pub(crate) fn splat(s: S, v: [f32; 3]) -> Self {
        V3(V::splat(s, v[0]), V::splat(s, v[1]), V::splat(s, v[2]))
    }

    /// `x * ax + y * ay + az`, a function linear in two lanes' worth of coordinates.
    #[inline(always)]
    pub(crate) fn linear(s: S, x: V<S>, y: V<S>, ax: [f32; 3], ay: [f32; 3], az: [f32; 3]) -> Self {
        V3(
            x * ax[0] + y * ay[0] + V::splat(s, az[0]),
            x * ax[1] + y * ay[1] + V::splat(s, az[1]),
            x * ax[2] + y * ay[2] + V::splat(s, az[2]),
        )
    }

    /// From `a` where `blend` is 0 to `b` where it is 1.
    #[inline(always)]
    pub(crate) fn mix(blend: V<S>, a: [f32; 3], b: [f32; 3]) -> Self {
        V3(blend * (b[0] - a[0]) + a[0], blend * (b[1] - a[1]) + a[1], blend * (b[2] - a[2]) + a[2])
    }

    #[inline(always)]
    pub(crate) fn scaled(self, k: [f32; 3]) -> Self {
        V3(self.0 * k[0], self.1 * k[1], self.2 * k[2])
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        V3(self.0.abs(), self.1.abs(), self.2.abs())
    }

    #[inline(always)]
    pub(crate) fn load(s: S, from: &[[f32; 16]; 3]) -> Self {
        V3(V::load(s, &from[0], 0), V::load(s, &from[1], 0), V::load(s, &from[2], 0))
    }

    #[inline(always)]
    pub(crate) fn dot_xy(self, o: Self) -> V<S> {
        self.0 * o.0 + self.1 * o.1
    }

    #[inline(always)]
    pub(crate) fn dot(self, o: Self) -> V<S> {
        self.0 * o.0 + self.1 * o.1 + self.2 * o.2
    }

    #[inline(always)]
    pub(crate) fn times(self, k: V<S>) -> Self {
        V3(self.0 * k, self.1 * k, self.2 * k)
    }

    /// Stores colours as `red + 256 green + 65536 blue`.
    #[inline(always)]
    pub(crate) fn store_rgb(self, to: &mut [u32], block: usize) {
        let s = self.0.s;
        let green = s.wrapping_dyn_shl_u32s(self.1.to_byte(), s.splat_u32s(8));
        let blue = s.wrapping_dyn_shl_u32s(self.2.to_byte(), s.splat_u32s(16));
        let rgb = s.or_u32s(self.0.to_byte(), s.or_u32s(green, blue));
        S::as_mut_simd_u32s(to).0[block] = rgb;
    }

    /// The unit vector, to about 5e-6.
    #[inline(always)]
    pub(crate) fn normalized(self) -> Self {
        let tiny = V::splat(self.0.s, 1e-30);
        self.times(self.dot(self).max(tiny).inverse_sqrt())
    }
}

impl<S: Simd> Add for V3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        V3(self.0 + o.0, self.1 + o.1, self.2 + o.2)
    }
}

impl<S: Simd> Sub for V3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        V3(self.0 - o.0, self.1 - o.1, self.2 - o.2)
    }
}
