//! Where shorter paths can be: a configuration is on one only if the straight ways to it and on
//! to the goal are shorter together. Those are the points of an ellipsoid around both ends
//! (informed sampling: Gammell, Srinivasa and Barfoot, 2014).

use citrange_core::rng::Rng;

use crate::config::{Config, MAX_JOINTS};
use crate::search::samples::Ranges;

/// Points that are drawn until one is within the joints' ranges.
const DRAWS: usize = 8;

/// How much longer than the best path a tree's path may be: it is shortened afterwards.
const RAW_SLACK: f32 = 1.6;

/// The ends of a search for a shorter path, and how long that may be.
#[derive(Clone, Debug)]
pub(super) struct Informed {
    start: Config,
    /// The nearest first.
    goals: Vec<Goal>,
    best_rad: f32,
    joints: usize,
}

#[derive(Clone, Debug)]
struct Goal {
    at: Config,
    away_rad: f32,
    /// Reflects the first axis onto the way to the goal; its square, 0 where there is nothing to
    /// turn.
    mirror: Config,
    squared: f32,
}

impl Informed {
    /// For paths shorter than `best_rad` to any of the goals; none where no goal is that near.
    pub(super) fn new(
        start: &Config,
        goals: &[Config],
        best_rad: f32,
        joints: usize,
    ) -> Option<Self> {
        let mut near: Vec<Goal> = goals
            .iter()
            .map(|at| Goal::new(start, at))
            .filter(|goal| goal.away_rad < best_rad)
            .collect();
        near.sort_by(|a, b| a.away_rad.total_cmp(&b.away_rad));
        (!near.is_empty()).then_some(Self { start: *start, goals: near, best_rad, joints })
    }

    /// A point that may be on a shorter path.
    pub(super) fn sample(&self, rng: &mut Rng, ranges: &Ranges) -> Config {
        let near = rng.below(self.goals.len()).min(rng.below(self.goals.len()));
        let goal = &self.goals[near];
        let mut drawn = self.start;
        for _ in 0..DRAWS {
            drawn = self.on_the_way(goal, rng);
            if ranges.contain(&drawn) {
                return drawn;
            }
        }
        ranges.clamp(drawn)
    }

    /// Whether a shorter path can lead through a point.
    pub(super) fn contains(&self, at: &Config) -> bool {
        self.start.distance(at) + self.to_goal(at) < self.best_rad
    }

    /// Whether a node may be added: `so_far_rad` is its way to its tree's root.
    pub(super) fn is_promising(&self, at: &Config, so_far_rad: f32, from_start: bool) -> bool {
        let rest = if from_start { self.to_goal(at) } else { self.start.distance(at) };
        so_far_rad + rest < RAW_SLACK * self.best_rad
    }

    fn to_goal(&self, at: &Config) -> f32 {
        self.goals.iter().map(|goal| goal.at.distance(at)).fold(f32::INFINITY, f32::min)
    }

    fn on_the_way(&self, goal: &Goal, rng: &mut Rng) -> Config {
        let long = self.best_rad / 2.0;
        let wide = (self.best_rad * self.best_rad - goal.away_rad * goal.away_rad).max(0.0);
        let wide = wide.sqrt() / 2.0;
        let mut point = ball(rng, self.joints);
        for (axis, value) in point.0.iter_mut().enumerate() {
            *value *= if axis == 0 { long } else { wide };
        }
        if goal.squared > 0.0 {
            let along: f32 = (0..MAX_JOINTS).map(|j| goal.mirror.0[j] * point.0[j]).sum();
            let twice = 2.0 * along / goal.squared;
            for (value, mirror) in point.0.iter_mut().zip(&goal.mirror.0) {
                *value -= twice * mirror;
            }
        }
        let middle = self.start.toward(&goal.at, 0.5);
        Config(std::array::from_fn(|joint| middle.0[joint] + point.0[joint]))
    }
}

impl Goal {
    fn new(start: &Config, at: &Config) -> Self {
        let away_rad = start.distance(at);
        let mut mirror = Config::default();
        if away_rad > 0.0 {
            for joint in 0..MAX_JOINTS {
                mirror.0[joint] = -(at.0[joint] - start.0[joint]) / away_rad;
            }
            mirror.0[0] += 1.0;
        }
        let squared = mirror.0.iter().map(|m| m * m).sum();
        Self { at: *at, away_rad, mirror, squared }
    }
}

/// A point of the unit ball, all nearly equally likely. Without logarithms and powers, whose last
/// bits differ from machine to machine: a direction from sums of numbers, and the largest of as
/// many numbers as there are dimensions, which is spread as the radius is.
fn ball(rng: &mut Rng, dimensions: usize) -> Config {
    let mut point = direction(rng, dimensions);
    let radius = (0..dimensions).map(|_| rng.unit()).fold(0.0, f64::max) as f32;
    point.0.iter_mut().for_each(|value| *value *= radius);
    point
}

/// A direction, all nearly equally likely, of length 1.
pub(super) fn direction(rng: &mut Rng, dimensions: usize) -> Config {
    loop {
        let mut way = Config::default();
        for value in way.0.iter_mut().take(dimensions) {
            // Four of 16 bits each: nearly normal.
            let bits = rng.next_u64();
            let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
            *value = sum as f32 - 131_070.0;
        }
        let length = way.0.iter().map(|v| v * v).sum::<f32>().sqrt();
        if length > 0.0 {
            way.0.iter_mut().for_each(|value| *value /= length);
            return way;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::JointLimit;

    #[test]
    fn samples_fill_the_ellipsoid_and_nothing_else() {
        let limit = JointLimit { range: [-9.0, 9.0], velocity: 1.0, acceleration: 1.0, jerk: 1.0 };
        for joints in [2, 6, 7] {
            let ranges = Ranges::of(&vec![limit; joints]);
            let mut rng = Rng::new(4);
            let mut ends = [(); 2].map(|()| direction(&mut rng, joints));
            ends[1].0.iter_mut().for_each(|v| *v *= 2.0);
            let best_rad = 1.3 * ends[0].distance(&ends[1]);
            let informed = Informed::new(&ends[0], &ends[1..], best_rad, joints).unwrap();
            let (mut farthest, mut sides) = (0.0_f32, [0; 2]);
            for _ in 0..4000 {
                let at = informed.sample(&mut rng, &ranges);
                let through = ends[0].distance(&at) + at.distance(&ends[1]);
                assert!(through < best_rad * (1.0 + 1e-5), "{through} of {best_rad}");
                farthest = farthest.max(through);
                sides[usize::from(at.distance(&ends[0]) < at.distance(&ends[1]))] += 1;
                assert!(at.0[joints..].iter().all(|v| *v == 0.0));
            }
            assert!(farthest > 0.97 * best_rad, "{farthest} of {best_rad}");
            assert!(sides.iter().all(|n| (1700..2300).contains(n)), "{sides:?}");
        }
    }

    #[test]
    fn goals_that_are_too_far_are_left_out() {
        let at = |x: f64| Config::of(&[x, 0.0]);
        let goals = [at(3.0), at(1.0), at(2.0)];
        let informed = Informed::new(&at(0.0), &goals, 2.5, 2).unwrap();
        let kept: Vec<Config> = informed.goals.iter().map(|goal| goal.at).collect();
        assert_eq!(kept, [at(1.0), at(2.0)]);
        assert!(informed.contains(&at(1.5)) && !informed.contains(&at(-1.0)));
        assert!(Informed::new(&at(0.0), &goals, 0.5, 2).is_none());
    }
}
