//! Where searches begin: spread evenly over all that the joints can do, and the same each time.

use citrange_core::rng::Rng;

use super::descent::Joints;
use super::linkage::{Linkage, MOST};

/// The first starts as given, moved into the ranges, then points of a low-discrepancy sequence
/// (multiples of powers of the generalised golden ratio, shifted by the seed) until there are
/// `count`.
pub(super) fn starts(linkage: &Linkage, given: &[&[f64]], count: usize, seed: u64) -> Vec<Joints> {
    let mut rng = Rng::for_episode(seed, 0, "ik");
    let shift: [f64; MOST] = std::array::from_fn(|_| rng.unit());
    let ratio = golden(linkage.steps.len());
    let given = given.iter().take(count).map(|joints| {
        let mut start = [0.0; MOST];
        for (position, step) in start.iter_mut().zip(&linkage.steps) {
            let [low, high] = step.range;
            *position = joints.get(step.joint).copied().unwrap_or(0.0).clamp(low, high);
        }
        start
    });
    let mut all: Vec<Joints> = given.collect();
    let mut number = 0.0;
    while all.len() < count {
        number += 1.0;
        let mut start = [0.0; MOST];
        let mut stride = 1.0;
        for ((position, step), shift) in start.iter_mut().zip(&linkage.steps).zip(shift) {
            stride *= ratio;
            let fraction: f64 = (shift + number * stride).fract();
            let [low, high] = match step.wraps {
                true => [-std::f64::consts::PI, std::f64::consts::PI],
                false => step.range,
            };
            *position = low + fraction * (high - low);
        }
        all.push(start);
    }
    all
}

/// The inverse of the root of x^(d+1) = x + 1.
fn golden(dimensions: usize) -> f64 {
    let power = 1.0 / (dimensions as f64 + 1.0);
    (0..40).fold(2.0_f64, |x, _| (1.0 + x).powf(power)).recip()
}
