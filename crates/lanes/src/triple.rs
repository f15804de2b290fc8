//! A point or a direction in each lane.

use crate::Lanes;
use std::ops::Mul;

use crate::f32x16::F32x16;
use crate::simd::Simd;

/// Three coordinates.
pub type Triple<S> = [F32x16<S>; 3];

/// `a + b`
#[inline(always)]
#[must_use]
pub fn add<S: Simd>(a: &Triple<S>, b: &Triple<S>) -> Triple<S> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// `a - b`
#[inline(always)]
#[must_use]
pub fn sub<S: Simd>(a: &Triple<S>, b: &Triple<S>) -> Triple<S> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The scalar product.
#[inline(always)]
#[must_use]
pub fn dot<S: Simd>(a: &Triple<S>, b: &Triple<S>) -> F32x16<S> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The vector product.
#[inline(always)]
#[must_use]
pub fn cross<S: Simd>(a: &Triple<S>, b: &Triple<S>) -> Triple<S> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `a` times a number, or times a number in each lane.
#[inline(always)]
#[must_use]
pub fn scale<S: Simd, K>(a: &Triple<S>, by: K) -> Triple<S>
where
    K: Copy,
    F32x16<S>: Mul<K, Output = F32x16<S>>,
{
    [a[0] * by, a[1] * by, a[2] * by]
}

/// The scalar product with one direction.
#[inline(always)]
#[must_use]
pub fn along<S: Simd>(a: &Triple<S>, direction: &[f32; 3]) -> F32x16<S> {
    a[0] * direction[0] + a[1] * direction[1] + a[2] * direction[2]
}

/// Scalar products with three directions: the rows of a matrix.
#[inline(always)]
#[must_use]
pub fn rotated<S: Simd>(rows: &[[f32; 3]; 3], a: &Triple<S>) -> Triple<S> {
    [along(a, &rows[0]), along(a, &rows[1]), along(a, &rows[2])]
}

/// To memory.
#[inline(always)]
pub fn store<S: Simd>(numbers: &Triple<S>, to: &mut [Lanes; 3]) {
    for axis in 0..3 {
        numbers[axis].store(&mut to[axis].0);
    }
}
