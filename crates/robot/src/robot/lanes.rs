//! Sixteen numbers at once, in plain Rust that compilers turn into vector instructions.
//!
//! Multiplications and additions are never fused, so every instruction set gives the same bits.

use std::ops::{Add, Mul, Sub};

/// Configurations that are handled together.
pub const LANES: usize = 16;

/// One number for each of 16 configurations.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lane(pub [f32; LANES]);

impl Lane {
    /// The same number everywhere.
    #[inline(always)]
    #[must_use]
    pub fn splat(number: f32) -> Self {
        Self([number; LANES])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self;
        for lane in 0..LANES {
            out.0[lane] = f(self.0[lane], other.0[lane]);
        }
        out
    }

    /// A function of each.
    #[inline(always)]
    #[must_use]
    pub fn map(self, f: impl Fn(f32) -> f32) -> Self {
        let mut out = self;
        for lane in 0..LANES {
            out.0[lane] = f(self.0[lane]);
        }
        out
    }

    /// The lesser of the two, each.
    #[inline(always)]
    #[must_use]
    pub fn lesser(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    /// Which numbers are below their limits, as bits.
    #[inline]
    #[must_use]
    pub fn below(&self, limits: &[f32; LANES]) -> u16 {
        let mut bits = 0;
        for lane in 0..LANES {
            bits |= u16::from(self.0[lane] < limits[lane]) << lane;
        }
        bits
    }

    /// Each times the same number.
    #[inline(always)]
    #[must_use]
    pub fn times(self, number: f32) -> Self {
        self.map(|n| n * number)
    }
}

impl Add for Lane {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Lane {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Lane {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

/// Added to a number below 2^22, leaves its nearest whole number in the low bits.
pub const TO_WHOLE: f32 = 12_582_912.0;

/// A quarter turn in three parts; the first two have 8 and 11 bits, so that whole multiples up
/// to 2^13 are exact.
const QUARTER: [f32; 3] = [201.0 / 128.0, 2029.0 / 4_194_304.0, 7.549_79e-8];

/// Sine and cosine, each off by at most 2e-7 for angles up to 10,000.
///
/// The angle is brought to within an eighth of a turn; there, polynomials fitted for the least
/// largest error (3.7e-9 for the sine, 1e-10 for the cosine, before rounding).
#[inline(always)]
pub(crate) fn sin_cos(angle: Lane) -> (Lane, Lane) {
    let mut sin = angle;
    let mut cos = angle;
    for lane in 0..LANES {
        let whole = angle.0[lane] * std::f32::consts::FRAC_2_PI + TO_WHOLE;
        let quarters = whole - TO_WHOLE;
        let quadrant = whole.to_bits();
        let rest = angle.0[lane] - quarters * QUARTER[0];
        let rest = rest - quarters * QUARTER[1];
        let x = rest - quarters * QUARTER[2];
        let x2 = x * x;
        let s = ((-1.951_648e-4 * x2 + 8.332_172e-3) * x2 - 0.166_666_55) * x2 * x + x;
        let c = ((2.443_753_3e-5 * x2 - 1.388_736e-3) * x2 + 4.166_664_7e-2) * x2 * x2;
        let c = c - 0.5 * x2 + 1.0;
        let (one, other) = if quadrant & 1 == 0 { (s, c) } else { (c, s) };
        let sin_sign = (quadrant & 2) << 30;
        let cos_sign = ((quadrant + 1) & 2) << 30;
        sin.0[lane] = f32::from_bits(one.to_bits() ^ sin_sign);
        cos.0[lane] = f32::from_bits(other.to_bits() ^ cos_sign);
    }
    (sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_and_cosine_are_within_their_bound() {
        let mut worst = 0.0_f64;
        let mut check = |angle: f32| {
            let (sin, cos) = sin_cos(Lane::splat(angle));
            let exact = f64::from(angle).sin_cos();
            let off =
                (f64::from(sin.0[3]) - exact.0).abs().max((f64::from(cos.0[5]) - exact.1).abs());
            worst = worst.max(off);
        };
        for step in -400_000..=400_000 {
            check(step as f32 * 1.7e-5);
            check(step as f32 * 0.024_999);
        }
        for quarter in -6366..=6366 {
            check((f64::from(quarter) * std::f64::consts::FRAC_PI_4) as f32);
        }
        assert!(worst < 2e-7, "{worst:e}");
    }
}
