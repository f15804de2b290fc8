//! Sine and cosine: one kernel for each precision. Paths and recorded motions depend on their
//! bits, which are the same with every instruction set.

use crate::f32x16::F32x16;
use crate::f64x8::F64x8;
use crate::i32x16::I32x16;
use crate::simd::Simd;

/// A quarter turn in three parts (Cody and Waite); the first two have 8 and 11 bits, so that
/// whole multiples up to 2^13 are exact.
const QUARTER: [f32; 3] = [201.0 / 128.0, 2029.0 / 4_194_304.0, 7.549_79e-8];

/// Minimax polynomials of the sine and the cosine up to an eighth of a turn, highest power
/// first; their largest errors are 3.7e-9 and 1e-10 before rounding.
const SINE: [f32; 3] = [-1.951_648e-4, 8.332_172e-3, -0.166_666_55];
const COSINE: [f32; 3] = [2.443_753_3e-5, -1.388_736e-3, 4.166_664_7e-2];

/// `((a x² + b) x² + c) x²`
#[inline(always)]
fn polynomial<S: Simd>(of: [f32; 3], x2: F32x16<S>) -> F32x16<S> {
    ((x2 * of[0] + of[1]) * x2 + of[2]) * x2
}

/// With the sign changed where the second bit of the quadrant is set.
#[inline(always)]
fn signed<S: Simd>(number: F32x16<S>, quadrant: I32x16<S>) -> F32x16<S> {
    (number.to_bits() ^ (quadrant & 2).shift_left(30)).from_bits()
}

/// `1 - x² / n (1 - x² / m (...))`, innermost term first.
#[inline(always)]
fn series<S: Simd>(terms: [f64; 7], sq: F64x8<S>) -> F64x8<S> {
    let one = F64x8::splat(sq.simd, 1.0);
    let mut sum = one;
    for n in terms {
        sum = one - sq * sum * n.recip();
    }
    sum
}

impl<S: Simd> F32x16<S> {
    /// Sine and cosine, each off by at most 2e-7 for angles up to 10,000 rad.
    #[inline(always)]
    #[must_use]
    pub fn sin_cos(self) -> (Self, Self) {
        let simd = self.simd;
        let (bits, quarters) = (self * std::f32::consts::FRAC_2_PI).whole();
        let rest = self - quarters * QUARTER[0] - quarters * QUARTER[1];
        let x = rest - quarters * QUARTER[2];
        let x2 = x * x;
        let sine = polynomial(SINE, x2) * x + x;
        let cosine = polynomial(COSINE, x2) * x2 - x2 * 0.5 + 1.0;
        // In odd quarters sine and cosine change places; signs follow from the quarter.
        let quadrant = bits.to_bits();
        let even = (quadrant & 1).equal(I32x16::splat(simd, 0));
        let (one, other) = (even.select(sine, cosine), even.select(cosine, sine));
        (signed(one, quadrant), signed(other, quadrant + 1))
    }
}

impl<S: Simd> F64x8<S> {
    /// Sine and cosine, to 1e-13 for angles of some turns: the series for a quarter of the
    /// angle, doubled twice.
    #[inline(always)]
    #[must_use]
    pub fn sin_cos(self) -> (Self, Self) {
        // Adding and taking away 1.5 * 2^52 rounds to a whole number.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        let one = Self::splat(self.simd, 1.0);
        let turns = (self * std::f64::consts::TAU.recip() + ROUND) - ROUND;
        let part = (self - turns * std::f64::consts::TAU) * 0.25;
        let sq = part * part;
        let mut sin = part * series([210.0, 156.0, 110.0, 72.0, 42.0, 20.0, 6.0], sq);
        let mut cos = series([182.0, 132.0, 90.0, 56.0, 30.0, 12.0, 2.0], sq);
        for _ in 0..2 {
            (sin, cos) = (sin * cos * 2.0, one - sin * sin * 2.0);
        }
        (sin, cos)
    }
}
