//! A point or a direction in each lane.

use crate::Lanes;
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
    let part = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
    [part(1, 2), part(2, 0), part(0, 1)]
}

/// To memory.
#[inline(always)]
pub fn store<S: Simd>(numbers: &Triple<S>, to: &mut [Lanes; 3]) {
    for axis in 0..3 {
        numbers[axis].store(&mut to[axis].0);
    }
}
