//! What rendering needs on top of vectors of lanes: 3-vectors, colours, packets' blocks.

use std::ops::{Add, Sub};

use citrange_lanes::{F32x16, I32x16, LANES, Mask, Simd};

/// One number per lane.
pub(crate) type V<S> = F32x16<S>;

/// One 3-vector per lane.
#[derive(Clone, Copy)]
pub(crate) struct V3<S: Simd>(pub(crate) V<S>, pub(crate) V<S>, pub(crate) V<S>);

/// Lanes `block * LANES ..` of a buffer.
#[inline(always)]
pub(crate) fn load<S: Simd>(s: S, from: &[f32], block: usize) -> V<S> {
    V::load_at(s, from, block * LANES)
}

#[inline(always)]
pub(crate) fn store<S: Simd>(v: V<S>, to: &mut [f32], block: usize) {
    v.store_at(to, block * LANES);
}

/// Overwrites lanes of an integer buffer where the mask is set.
#[inline(always)]
pub(crate) fn write<S: Simd>(s: S, mask: Mask<S>, to: &mut [u32], block: usize, value: u32) {
    let old = I32x16::load_u32_at(s, to, block * LANES);
    let new = I32x16::splat(s, value.cast_signed());
    mask.select_i32(new, old).store_u32_at(to, block * LANES);
}

/// Lanes of an integer buffer that equal `value`.
#[inline(always)]
pub(crate) fn equal<S: Simd>(s: S, from: &[u32], block: usize, value: u32) -> Mask<S> {
    let found = I32x16::load_u32_at(s, from, block * LANES);
    found.equal(I32x16::splat(s, value.cast_signed()))
}

/// -1 or 1.
#[inline(always)]
pub(crate) fn sign<S: Simd>(v: V<S>) -> V<S> {
    let (zero, one) = (v.simd().splat(0.0), v.simd().splat(1.0));
    v.lt(zero).select(-one, one)
}

/// `v^exponent` for `v` near 1 and clamped to 0 elsewhere:
/// `(1 - e (1 - c) / 16)^16`, which has the value, slope and width of the power at its peak.
#[inline(always)]
pub(crate) fn lobe<S: Simd>(v: V<S>, exponent: f32) -> V<S> {
    let (zero, one) = (v.simd().splat(0.0), v.simd().splat(1.0));
    let base = (one - (one - v) * (exponent / 16.0)).max(zero);
    let p2 = base * base;
    let p4 = p2 * p2;
    let p8 = p4 * p4;
    p8 * p8
}

/// `1 / sqrt(v)` to about 5e-6, for colours: much cheaper than a root and a division, and unlike
/// the processor's own estimate the same bits everywhere. (A guess from the bits, then two steps
/// of Newton's method.)
#[inline(always)]
pub(crate) fn inverse_sqrt<S: Simd>(v: V<S>) -> V<S> {
    let guess = I32x16::splat(v.simd(), 0x5f37_5a86) - v.to_bits().shift_right(1);
    let mut y = guess.from_bits();
    let half = v * 0.5;
    let three_halves = v.simd().splat(1.5);
    y = y * (three_halves - half * y * y);
    y * (three_halves - half * y * y)
}

/// Whole numbers from 0 to 2^23 as integers: adding 2^23 leaves them in the low bits.
#[inline(always)]
fn integers<S: Simd>(v: V<S>) -> I32x16<S> {
    (v + 8_388_608.0).to_bits() - 0x4b00_0000
}

/// Whole numbers from 0 to 2^23 as integers.
#[inline(always)]
pub(crate) fn to_integers<S: Simd>(v: V<S>) -> [u32; LANES] {
    integers(v).to_u32_array()
}

/// Values 0 to 1 as integers 0 to 255, the nearest.
#[inline(always)]
fn to_byte<S: Simd>(v: V<S>) -> I32x16<S> {
    integers(v.clamp(0.0, 1.0) * 255.0)
}

/// Smallest and largest of the lanes in the mask.
#[inline(always)]
pub(crate) fn range<S: Simd>(v: V<S>, mask: Mask<S>) -> [f32; 2] {
    let low = mask.select(v, v.simd().splat(f32::INFINITY));
    let high = mask.select(v, v.simd().splat(f32::NEG_INFINITY));
    [low.reduce_min(), high.reduce_max()]
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
    pub(crate) fn load(s: S, from: &[[f32; LANES]; 3]) -> Self {
        V3(s.load(&from[0]), s.load(&from[1]), s.load(&from[2]))
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
        let (green, blue) = (to_byte(self.1).shift_left(8), to_byte(self.2).shift_left(16));
        (to_byte(self.0) | green | blue).store_u32_at(to, block * LANES);
    }

    /// The unit vector, to about 5e-6.
    #[inline(always)]
    pub(crate) fn normalized(self) -> Self {
        let tiny = self.0.simd().splat(1e-30);
        self.times(inverse_sqrt(self.dot(self).max(tiny)))
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
