//! A motion in flight made slower, faster again, or stopped, along the path that was proved: only
//! its clock changes. Velocity, acceleration and jerk stay within their limits.

use super::clock::{ClockPhase, change_of_rate};
use super::piece::Piece;
use super::trajectory::Trajectory;
use crate::arm::JointLimit;
use crate::error::PlanError;

/// Limits are held for all times between steps of this length.
const STEP_S: f64 = 0.002;

/// How much later a change is tried to begin, where it cannot begin at once.
const LATER_S: f64 = 0.004;

/// Shortest and longest change that is tried, and how they grow.
const SHORTEST_S: f64 = 0.005;
const GROWTH: f64 = 1.1;
const LENGTHS: u32 = 70;

/// Fractions of a change in which its acceleration grows.
const SHAPES: [f64; 3] = [0.5, 0.25, 0.1];

/// What rounding may add to a limit.
const ROUNDING: f64 = 1e-6;

impl Trajectory {
    /// The same motion until `from_s`, then along the same path to a stop, as soon as `limits`
    /// allow. Its [`Trajectory::duration_s`] is when it stands.
    ///
    /// A motion that is at its limits already can brake no harder: then the stop begins when the
    /// motion leaves them. Plan at a `scale` below 1 and give full limits here, and stops begin
    /// at once.
    ///
    /// # Errors
    /// When the time or the limits make no sense.
    pub fn stopped(&self, from_s: f64, limits: &[JointLimit]) -> Result<Self, PlanError> {
        self.at_rate(from_s, 0.0, limits)
    }

    /// The same motion until `from_s`, then along the same path at a fraction of the planned
    /// speed, 0 to 1, as soon as `limits` allow.
    ///
    /// # Errors
    /// When time, rate or limits make no sense.
    pub fn at_rate(
        &self,
        from_s: f64,
        rate: f64,
        limits: &[JointLimit],
    ) -> Result<Self, PlanError> {
        let bad = |reason: String| Err(PlanError::bad("rate of a motion", reason));
        if !(0.0..=1.0).contains(&rate) || !from_s.is_finite() {
            return bad(format!("{rate} from {from_s} s on; a rate from 0 to 1 is right"));
        }
        if limits.len() != self.joints() {
            return bad(format!("{} limits for {} joints", limits.len(), self.joints()));
        }
        let from_s = from_s.max(0.0);
        let mut best: Option<(f64, Vec<ClockPhase>)> = None;
        let mut later_s = 0.0;
        while from_s + later_s < self.duration_s() {
            let settled_s = best.as_ref().map_or(f64::INFINITY, |(settled_s, _)| *settled_s);
            if from_s + later_s + SHORTEST_S >= settled_s {
                break;
            }
            let [planned_s, now, change, _] = self.clock.at(from_s + later_s);
            if change == 0.0 && now == rate {
                break;
            }
            let begin = [from_s + later_s, planned_s, now, change];
            for shape in SHAPES {
                if let Some(phases) = self.shortest_change(begin, rate, shape, limits)
                    && let Some(last) = phases.last()
                    && best.as_ref().is_none_or(|(settled_s, _)| last.begin_s < *settled_s)
                {
                    best = Some((last.begin_s, phases));
                }
            }
            later_s += LATER_S;
        }
        let Some((_, phases)) = best else { return Ok(self.clone()) };
        let mut changed = self.clone();
        let begin_s = phases.first().map_or(from_s, |phase| phase.begin_s);
        changed.clock = self.clock.then(begin_s, &phases);
        match phases.last() {
            // It stands before the path is over.
            Some(last) if rate == 0.0 && last.at[0] < self.planned_s => {
                changed.goal = self.moment_of_path(last.at[0]).positions;
                changed.planned_s = last.at[0];
                changed.duration_s = last.begin_s;
            }
            _ => changed.duration_s = changed.clock.time_of(self.planned_s),
        }
        Ok(changed)
    }

    /// The moment of the path at a planned time, as if its clock had never been changed.
    fn moment_of_path(&self, planned_s: f64) -> super::Moment {
        let pieces = self.pieces.clone();
        let (goal, clock) = (self.goal.clone(), super::clock::Clock::default());
        let duration_s = self.planned_s;
        Self { pieces, goal, clock, duration_s, ..*self }.sample(planned_s)
    }

    fn shortest_change(
        &self,
        begin: [f64; 4],
        rate: f64,
        shape: f64,
        limits: &[JointLimit],
    ) -> Option<Vec<ClockPhase>> {
        let gain = (rate - begin[2]).abs().max(1e-6);
        let change = |length: u32| {
            let duration_s = SHORTEST_S * GROWTH.powi(length as i32);
            let most = gain / ((1.0 - shape) * duration_s);
            let phases =
                change_of_rate(begin, rate, most.max(begin[3].abs()), most / (shape * duration_s));
            phases.filter(|phases| self.holds(phases, limits))
        };
        // The longer the easier.
        let mut found = change(LENGTHS - 1)?;
        let (mut low, mut high) = (0, LENGTHS - 1);
        while low < high {
            let middle = u32::midpoint(low, high);
            match change(middle) {
                Some(phases) => (found, high) = (phases, middle),
                None => low = middle + 1,
            }
        }
        Some(found)
    }

    /// Whether all limits hold while the rate changes, at every time.
    fn holds(&self, phases: &[ClockPhase], limits: &[JointLimit]) -> bool {
        phases.windows(2).all(|pair| {
            let duration_s = pair[1].begin_s - pair[0].begin_s;
            let steps = (duration_s / STEP_S).ceil().max(1.0);
            (0..steps as u64).all(|step| {
                let ends = [0, 1].map(|k| pair[0].after((step + k) as f64 * duration_s / steps));
                self.holds_between(ends, pair[0].jerk, limits)
            })
        })
    }

    fn holds_between(&self, ends: [[f64; 3]; 2], jerk: f64, limits: &[JointLimit]) -> bool {
        let sorted = |k: usize| [ends[0][k].min(ends[1][k]), ends[0][k].max(ends[1][k])];
        let (rate, change) = (sorted(1), sorted(2));
        let mut parts = self.parts(ends[0][0], ends[1][0]);
        parts.all(|(piece, [from, to])| {
            let rows = [1, 2, 3].map(|derivative| piece.bernstein(derivative, from, to));
            limits.iter().enumerate().all(|(joint, limit)| {
                let [v, a, b] = [0, 1, 2].map(|k| Piece::range(&rows[k], joint));
                let rate2 = times(rate, rate);
                let velocity = times(v, rate);
                let acceleration = plus(times(a, rate2), times(v, change));
                let bends = times(times(a, [3.0, 3.0]), times(rate, change));
                let jerk = plus(plus(times(b, times(rate2, rate)), bends), times(v, [jerk; 2]));
                is_within(velocity, limit.velocity)
                    && is_within(acceleration, limit.acceleration)
                    && is_within(jerk, limit.jerk)
            })
        })
    }
}

fn is_within([low, high]: [f64; 2], limit: f64) -> bool {
    let most = limit * (1.0 + ROUNDING);
    -most <= low && high <= most
}

/// All products of two numbers of two intervals.
fn times([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    let all = [a * c, a * d, b * c, b * d];
    [all.into_iter().fold(f64::INFINITY, f64::min), all.into_iter().fold(f64::NEG_INFINITY, f64::max)]
}

fn plus([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a + c, b + d]
}
