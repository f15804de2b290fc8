//! A number and a 3-vector of every start that goes side by side.

use citrange_lanes::{F64x8, Scalar};

/// How many starts go side by side.
pub(super) const LANES: usize = 8;

/// One number of every start. Plain code: the compiler makes vectors of what every processor has.
pub(super) type Lane = F64x8<Scalar>;

/// A vector of every start.
pub(super) type Lane3 = [Lane; 3];

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
