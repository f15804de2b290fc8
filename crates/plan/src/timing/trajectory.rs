//! A motion over time: pieces of polynomials.

use std::io;

use serde::Serialize;

use super::Joints;
use super::blend::Blend;
use super::clock::Clock;
use super::edge::Edge;
use super::piece::Piece;
use super::ramp::Phase;
use crate::config::MAX_JOINTS;

/// A motion that a robot can follow: it ends at rest, and its acceleration has no jumps. It begins
/// at rest too, but where it was made to begin in motion ([`Trajectory::entered`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    pub(super) pieces: Vec<Piece>,
    /// How the time of the pieces passes.
    pub(super) clock: Clock,
    pub(super) goal: Vec<f64>,
    pub(super) duration_s: f64,
    /// Time of the pieces at the end.
    pub(super) planned_s: f64,
    pub(super) blends: usize,
    pub(super) stops: usize,
}

/// Where the joints are at a time, and how they move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// Time since the start.
    pub time_s: f64,
    /// Positions, rad.
    pub positions: Vec<f64>,
    /// Velocities, rad/s.
    pub velocities: Vec<f64>,
    /// Accelerations, rad/s².
    pub accelerations: Vec<f64>,
    /// Jerks, rad/s³; not written, since no robot takes them.
    #[serde(skip)]
    pub jerks: Vec<f64>,
}

impl Trajectory {
    /// How long it takes.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.duration_s
    }

    /// How many joints move.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.goal.len()
    }

    /// Where it ends.
    #[must_use]
    pub fn goal(&self) -> &[f64] {
        &self.goal
    }

    /// Corners that are passed without stopping.
    #[must_use]
    pub fn blends(&self) -> usize {
        self.blends
    }

    /// Corners at which the robot stops, because the path turns back or no blend was proved free.
    #[must_use]
    pub fn stops(&self) -> usize {
        self.stops
    }

    /// The moment at a time; before the start it is as at the start, after the end it is at rest.
    #[must_use]
    pub fn sample(&self, time_s: f64) -> Moment {
        let joints = self.goal.len();
        let [planned_s, rate, change, jerk] = self.clock.at(time_s);
        let last = self.pieces.iter().rev().find(|p| p.begin_s <= planned_s);
        let last = last.or(self.pieces.first());
        let Some(piece) = last.filter(|_| time_s < self.duration_s) else {
            let still = || vec![0.0; joints];
            let positions = self.goal.clone();
            let (velocities, accelerations, jerks) = (still(), still(), still());
            return Moment { time_s, positions, velocities, accelerations, jerks };
        };
        let t = (planned_s - piece.begin_s).max(0.0);
        let each = |derivative| (0..joints).map(|j| piece.value(j, derivative, t)).collect();
        let mut moment = Moment {
            time_s,
            positions: each(0),
            velocities: each(1),
            accelerations: each(2),
            jerks: each(3),
        };
        if !self.clock.phases.is_empty() {
            moment.pass_at([rate, change, jerk]);
        }
        moment
    }

    /// Moments at a rate, the start first; the last one is the end.
    pub fn moments(&self, hz: f64) -> impl Iterator<Item = Moment> + '_ {
        let step_s = if hz > 0.0 { 1.0 / hz } else { f64::INFINITY };
        // What is over a whole number of steps by rounding only is not a step.
        let steps = ((self.duration_s / step_s - 1e-9).ceil().max(0.0)) as u64;
        let inner =
            (0..steps).map(move |n| self.sample(if n == 0 { 0.0 } else { n as f64 * step_s }));
        inner.chain(std::iter::once(self.sample(self.duration_s)))
    }

    /// Writes moments at a rate as a JSON list: time, positions, velocities and accelerations, as
    /// a joint trajectory of ROS has them.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_json(&self, hz: f64, to: impl io::Write) -> io::Result<()> {
        let moments: Vec<Moment> = self.moments(hz).collect();
        serde_json::to_writer(to, &moments).map_err(io::Error::from)
    }

    /// The same motion at a fraction of its speed, above 0 and at most 1.
    #[must_use]
    pub fn slowed(&self, fraction: f64) -> Self {
        let fraction = fraction.clamp(f64::MIN_POSITIVE, 1.0);
        let mut slow = self.clone();
        slow.duration_s /= fraction;
        slow.planned_s /= fraction;
        slow.clock.slow_down(fraction);
        slow.pieces.iter_mut().for_each(|piece| piece.slow_down(fraction));
        slow
    }

    /// When a piece ends, in planned time.
    pub(super) fn end_of(&self, piece: usize) -> f64 {
        self.pieces.get(piece + 1).map_or(self.planned_s, |next| next.begin_s.min(self.planned_s))
    }

    /// The pieces with what of each is between two planned times, as times since it began.
    pub(super) fn parts(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = (&Piece, [f64; 2])> {
        self.pieces.iter().enumerate().filter_map(move |(index, piece)| {
            let low = if index == 0 { from_s.max(0.0) } else { from_s.max(piece.begin_s) };
            let high = to_s.min(self.end_of(index));
            (low <= high && (low < high || from_s == to_s))
                .then_some((piece, [low - piece.begin_s, high - piece.begin_s]))
        })
    }
}

impl Moment {
    /// What it is when planned time passes at a rate that changes (the chain rule).
    pub(super) fn pass_at(&mut self, [rate, change, jerk]: [f64; 3]) {
        for j in 0..self.positions.len() {
            let (v, a, b) = (self.velocities[j], self.accelerations[j], self.jerks[j]);
            self.velocities[j] = v * rate;
            self.accelerations[j] = a * rate * rate + v * change;
            self.jerks[j] = b * rate * rate * rate + 3.0 * a * rate * change + v * jerk;
        }
    }
}

/// Puts pieces one behind the other.
pub(super) struct Builder(Trajectory);

impl Builder {
    pub(super) fn new(goal: &[f64]) -> Self {
        let (pieces, goal, clock) = (Vec::new(), goal.to_vec(), Clock::default());
        let (duration_s, planned_s) = (0.0, 0.0);
        Self(Trajectory { pieces, clock, goal, duration_s, planned_s, blends: 0, stops: 0 })
    }

    /// A straight piece of an edge that begins at length `from`.
    pub(super) fn straight(&mut self, edge: &Edge, from: f64, phases: &[Phase]) {
        for phase in phases {
            let along = |n: f64| edge.direction.map(|d| d * n);
            self.add(
                phase.duration,
                vec![
                    edge.at(from + phase.way),
                    along(phase.speed),
                    along(phase.acceleration / 2.0),
                    along(phase.jerk / 6.0),
                    [0.0; MAX_JOINTS],
                ],
            );
        }
    }

    pub(super) fn blend(&mut self, blend: &Blend, rate: f64) {
        self.0.blends += 1;
        self.add(1.0 / rate, blend.polynomial(rate).to_vec());
    }

    pub(super) fn stop(&mut self) {
        self.0.stops += 1;
    }

    pub(super) fn done(self) -> Trajectory {
        self.0
    }

    pub(super) fn add(&mut self, duration_s: f64, coefficients: Vec<Joints>) {
        self.0.pieces.push(Piece { begin_s: self.0.duration_s, coefficients });
        self.0.duration_s += duration_s;
        self.0.planned_s = self.0.duration_s;
    }
}
