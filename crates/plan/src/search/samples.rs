//! Where a search looks: points anywhere in the joints' ranges.

use citrange_core::rng::Rng;

use crate::arm::JointLimit;
use crate::config::{Config, MAX_JOINTS};
use crate::search::informed::Informed;

/// Points near what was reached that are drawn until one can be on a shorter path.
const DRAWS: usize = 8;

/// The joints' ranges, in the planner's precision.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    low: Config,
    high: Config,
    joints: usize,
}

impl Ranges {
    pub(super) fn of(limits: &[JointLimit]) -> Self {
        let end = |side: usize| {
            let ends: Vec<f64> = limits.iter().map(|limit| limit.range[side]).collect();
            Config::of(&ends)
        };
        Self { low: end(0), high: end(1), joints: limits.len().min(MAX_JOINTS) }
    }

    pub(super) fn joints(&self) -> usize {
        self.joints
    }

    /// Whether all joints are within their ranges; never where one is not a number.
    pub(super) fn contain(&self, at: &Config) -> bool {
        let ends = self.low.0.iter().zip(&self.high.0);
        at.0.iter().zip(ends).all(|(p, (low, high))| (*low..=*high).contains(p))
    }

    /// The part of the ranges that is within `margin_rad` of the box from `low` to `high`.
    pub(super) fn around(&self, low: &Config, high: &Config, margin_rad: f32) -> Self {
        let mut part = self.clone();
        for joint in 0..MAX_JOINTS {
            part.low.0[joint] = self.low.0[joint].max(low.0[joint] - margin_rad);
            part.high.0[joint] = self.high.0[joint].min(high.0[joint] + margin_rad);
        }
        part
    }

    /// The nearest configuration within the ranges.
    pub(super) fn clamp(&self, mut at: Config) -> Config {
        for (joint, (low, high)) in at.0.iter_mut().zip(self.low.0.iter().zip(&self.high.0)) {
            *joint = joint.max(*low).min(*high);
        }
        at
    }
}

/// Points in the joints' ranges, all equally likely; the seed decides which.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    rng: Rng,
}

impl Samples {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed) }
    }

    pub(super) fn next(&mut self, ranges: &Ranges) -> Config {
        let mut config = Config::default();
        let ends = ranges.low.0.iter().zip(&ranges.high.0);
        for (joint, (low, high)) in config.0.iter_mut().zip(ends).take(ranges.joints) {
            // 24 bits: exact in single precision, and below 1.
            let fraction = (self.rng.next_u64() >> 40) as f32 * (1.0 / (1 << 24) as f32);
            *joint = low + (high - low) * fraction;
        }
        ranges.clamp(config)
    }

    /// A point for a search that looks for a shorter path only: anywhere where one can be, or
    /// near what was reached, which leads out of narrow places.
    pub(super) fn next_informed(
        &mut self,
        informed: &Informed,
        near: &Ranges,
        ranges: &Ranges,
    ) -> Config {
        if self.rng.next_u64() >> 63 == 0 {
            return informed.sample(&mut self.rng, ranges);
        }
        let mut drawn = self.next(near);
        for _ in 1..DRAWS {
            if informed.contains(&drawn) {
                break;
            }
            drawn = self.next(near);
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(joints: usize) -> Vec<JointLimit> {
        let limit = JointLimit { range: [-1.0, 3.0], velocity: 1.0, acceleration: 1.0, jerk: 1.0 };
        vec![limit; joints]
    }

    #[test]
    fn samples_fill_the_ranges_evenly() {
        for joints in 1..=MAX_JOINTS {
            let ranges = Ranges::of(&limits(joints));
            let mut samples = Samples::new(7);
            let drawn: Vec<Config> = (0..1024).map(|_| samples.next(&ranges)).collect();
            assert!(drawn.iter().all(|s| ranges.contain(s)));
            for joint in 0..joints {
                for bin in 0..16 {
                    let low = -1.0 + bin as f32 * 0.25;
                    let inside = |s: &&Config| (low..low + 0.25).contains(&s.0[joint]);
                    let count = drawn.iter().filter(inside).count();
                    assert!((34..=100).contains(&count), "{joints} {joint} {bin}: {count}");
                }
            }
            assert!(drawn.iter().all(|s| s.0[joints..].iter().all(|p| *p == 0.0)));
        }
    }

    #[test]
    fn seeds_differ_and_repeat() {
        let ranges = Ranges::of(&limits(6));
        let first = |seed| Samples::new(seed).next(&ranges);
        assert_eq!(first(3), first(3));
        assert_ne!(first(3), first(4));
    }

    #[test]
    fn what_is_no_number_is_out_of_range() {
        let ranges = Ranges::of(&limits(2));
        assert!(ranges.contain(&Config::of(&[-1.0, 3.0])));
        assert!(!ranges.contain(&Config::of(&[-1.1, 3.0])));
        assert!(!ranges.contain(&Config::of(&[f64::NAN, 0.0])));
        assert!(!ranges.contain(&Config::of(&[0.0, 0.0, 1.0])), "a joint that does not exist");
    }
}
