//! A motion in flight made slower, faster again, or stopped, along the path that was proved: only
//! its clock changes. Velocity, acceleration and jerk stay within their limits.

use super::clock::{ClockPhase, change_of_rate};
use super::piece::Piece;
use super::trajectory::Trajectory;
use crate::arm::JointLimit;
use crate::error::PlanError;

/// Limits are looked at for all times of parts of this length, and of shorter ones where that
/// does not tell.
const PART_S: f64 = 0.02;
const SHORTEST_PART_S: f64 = 2e-4;

/// At so many times a change is looked at before it is proved.
const LOOKS: u32 = 16;

/// How much later a change is tried to begin, where it cannot begin at once.
const LATER_S: f64 = 0.008;

/// So often later does not help any more.
const LATER_TRIES: u32 = 6;

/// Shortest and longest change that is tried, and how they grow.
const SHORTEST_S: f64 = 0.005;
const GROWTH: f64 = 1.12;
const LENGTHS: u32 = 60;

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
        // It stands on its way where one motion ends and another begins: until there it brakes.
        if let Some((rest_s, planned_s)) = self.clock.rest_after(from_s) {
            if rate > 0.0 {
                return self.at_rate(rest_s, rate, limits);
            }
            return Ok(self.clone().until(rest_s, planned_s));
        }
        let mut best: Option<(f64, Vec<ClockPhase>)> = None;
        // It stands at its end at the latest.
        let end_s = if rate == 0.0 { self.duration_s() } else { f64::INFINITY };
        let mut in_vain = 0;
        for later in 0_u32.. {
            let begin_s = from_s + f64::from(later) * LATER_S;
            let settled_s = best.as_ref().map_or(end_s, |(settled_s, _)| *settled_s);
            if begin_s >= self.duration_s()
                || begin_s + SHORTEST_S >= settled_s
                || in_vain > LATER_TRIES
            {
                break;
            }
            let [planned_s, now, change, _] = self.clock.at(begin_s);
            if change == 0.0 && now == rate {
                break;
            }
            let begin = [begin_s, planned_s, now, change];
            let found = self.shortest_change(begin, rate, settled_s, limits);
            in_vain += u32::from(best.is_some() && found.is_none());
            best = found.or(best);
        }
        let Some((_, phases)) = best else { return Ok(self.clone()) };
        let mut changed = self.clone();
        let begin_s = phases.first().map_or(from_s, |phase| phase.begin_s);
        changed.clock = self.clock.then(begin_s, &phases);
        match phases.last() {
            // It stands before the path is over.
            Some(last) if rate == 0.0 && last.at[0] < self.planned_s => {
                return Ok(changed.until(last.begin_s, last.at[0]));
            }
            _ => changed.duration_s = changed.clock.time_of(self.planned_s),
        }
        Ok(changed)
    }

    /// The motion until a time at which it stands.
    fn until(mut self, time_s: f64, planned_s: f64) -> Self {
        let last = self.pieces.iter().rev().find(|piece| piece.begin_s <= planned_s);
        if let Some(piece) = last.or(self.pieces.first()) {
            let t = planned_s - piece.begin_s;
            self.goal = (0..self.goal.len()).map(|j| piece.value(j, 0, t)).collect();
        }
        (self.duration_s, self.planned_s) = (time_s, planned_s);
        self
    }

    /// The change of rate that is over first, before `settled_s`.
    fn shortest_change(
        &self,
        begin: [f64; 4],
        rate: f64,
        mut settled_s: f64,
        limits: &[JointLimit],
    ) -> Option<(f64, Vec<ClockPhase>)> {
        let gain = (rate - begin[2]).abs().max(1e-6);
        let mut best = None;
        for shape in SHAPES {
            for length in 0..LENGTHS {
                let duration_s = SHORTEST_S * GROWTH.powi(length as i32);
                if begin[0] + duration_s >= settled_s {
                    break;
                }
                let most = gain / ((1.0 - shape) * duration_s);
                let jerk = most / (shape * duration_s);
                let phases = change_of_rate(begin, rate, most.max(begin[3].abs()), jerk);
                let phases = phases.filter(|phases| {
                    self.seems_to_hold(phases, limits) && self.holds(phases, limits)
                });
                if let Some(phases) = phases
                    && let Some(last) = phases.last()
                    && last.begin_s < settled_s
                {
                    settled_s = last.begin_s;
                    best = Some((settled_s, phases));
                    break;
                }
            }
        }
        best
    }

    /// Whether limits hold at some times while the rate changes.
    fn seems_to_hold(&self, phases: &[ClockPhase], limits: &[JointLimit]) -> bool {
        phases.windows(2).all(|pair| {
            let duration_s = pair[1].begin_s - pair[0].begin_s;
            (0..=LOOKS).all(|look| {
                let at = pair[0].after(duration_s * f64::from(look) / f64::from(LOOKS));
                self.holds_between([at, at], pair[0].jerk, limits)
            })
        })
    }

    /// Whether all limits hold while the rate changes, at every time.
    fn holds(&self, phases: &[ClockPhase], limits: &[JointLimit]) -> bool {
        phases.windows(2).all(|pair| {
            let duration_s = pair[1].begin_s - pair[0].begin_s;
            let parts = (duration_s / PART_S).ceil().max(1.0);
            (0..parts as u64).all(|part| {
                let [from, to] = [0, 1].map(|k| (part + k) as f64 * duration_s / parts);
                self.holds_part(&pair[0], [from, to], limits)
            })
        })
    }

    fn holds_part(&self, phase: &ClockPhase, [from, to]: [f64; 2], limits: &[JointLimit]) -> bool {
        if self.holds_between([phase.after(from), phase.after(to)], phase.jerk, limits) {
            return true;
        }
        let middle = f64::midpoint(from, to);
        to - from > SHORTEST_PART_S
            && self.holds_part(phase, [from, middle], limits)
            && self.holds_part(phase, [middle, to], limits)
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
    [
        all.into_iter().fold(f64::INFINITY, f64::min),
        all.into_iter().fold(f64::NEG_INFINITY, f64::max),
    ]
}

fn plus([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a + c, b + d]
}
