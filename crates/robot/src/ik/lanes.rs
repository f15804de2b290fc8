//! Arithmetic on a few numbers at once, written so that the compiler makes vectors of it.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// How many starts go side by side.
pub(super) const LANES: usize = 8;

/// One number of every start.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Lane(pub(super) [f64; LANES]);

/// A vector of every start.
pub(super) type Lane3 = [Lane; 3];

impl Lane {
    pub(super) const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub(super) fn all(number: f64) -> Self {
        Self([number; LANES])
    }

    #[inline(always)]
    pub(super) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut made = self;
        for number in &mut made.0 {
            *number = f(*number);
        }
        made
    }

    #[inline(always)]
    pub(super) fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut made = self;
        for (number, other) in made.0.iter_mut().zip(other.0) {
            *number = f(*number, other);
        }
        made
    }

    /// Where `first` is set this, elsewhere the other.
    #[inline(always)]
    pub(super) fn pick(self, other: Self, first: &[bool; LANES]) -> Self {
        let mut made = self;
        for ((number, other), first) in made.0.iter_mut().zip(other.0).zip(first) {
            *number = if *first { *number } else { other };
        }
        made
    }

    /// Sine and cosine, to 1e-13 for angles of some turns: the series for a quarter of the
    /// angle, doubled twice.
    #[inline(always)]
    pub(super) fn sin_cos(self) -> (Self, Self) {
        // Adding and taking away 1.5 * 2^52 rounds to a whole number.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        let turns = self.map(|a| (a * std::f64::consts::TAU.recip() + ROUND) - ROUND);
        let part = (self - turns * std::f64::consts::TAU) * 0.25;
        let sq = part * part;
        let series = |terms: [f64; 7]| {
            terms.into_iter().fold(Self::all(1.0), |sum, n| Self::all(1.0) - sq * sum * n.recip())
        };
        let mut sin = part * series([210.0, 156.0, 110.0, 72.0, 42.0, 20.0, 6.0]);
        let mut cos = series([182.0, 132.0, 90.0, 56.0, 30.0, 12.0, 2.0]);
        for _ in 0..2 {
            (sin, cos) = (sin * cos * 2.0, Self::all(1.0) - sin * sin * 2.0);
        }
        (sin, cos)
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

impl Mul<f64> for Lane {
    type Output = Self;
    #[inline(always)]
    fn mul(self, number: f64) -> Self {
        self.map(|a| a * number)
    }
}

impl Neg for Lane {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}

impl AddAssign for Lane {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Lane {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

#[inline(always)]
pub(super) fn dot(a: &[Lane], b: &[Lane]) -> Lane {
    a.iter().zip(b).fold(Lane::ZERO, |sum, (a, b)| sum + *a * *b)
}

#[inline(always)]
pub(super) fn cross(a: &Lane3, b: &Lane3) -> Lane3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
pub(super) fn minus(a: &Lane3, b: &Lane3) -> Lane3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_and_cosine_are_those_of_the_standard_library() {
        for step in -2000..2000 {
            let angle = f64::from(step) * 0.01;
            let (sin, cos) = Lane::all(angle).sin_cos();
            let off = (sin.0[0] - angle.sin()).abs().max((cos.0[7] - angle.cos()).abs());
            assert!(off < 1e-13, "{angle}: {off:e}");
        }
    }
}
