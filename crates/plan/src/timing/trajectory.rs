//! A motion over time: pieces of polynomials.

use std::io;

use serde::Serialize;

use super::Joints;
use super::blend::Blend;
use super::edge::Edge;
use super::ramp::Phase;
use crate::config::MAX_JOINTS;

/// A motion that a robot can follow: at rest at both ends, acceleration without jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    pieces: Vec<Piece>,
    goal: Vec<f64>,
    duration_s: f64,
    blends: usize,
    stops: usize,
}

/// A polynomial in the time since it began, the same degree for all joints.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    begin_s: f64,
    coefficients: [Joints; 5],
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

    /// The moment at a time; before the start and after the end it is at rest.
    #[must_use]
    pub fn sample(&self, time_s: f64) -> Moment {
        let joints = self.goal.len();
        let last = self.pieces.iter().rev().find(|p| p.begin_s <= time_s).or(self.pieces.first());
        let Some(piece) = last.filter(|_| time_s < self.duration_s) else {
            let still = || vec![0.0; joints];
            let positions = self.goal.clone();
            let (velocities, accelerations, jerks) = (still(), still(), still());
            return Moment { time_s, positions, velocities, accelerations, jerks };
        };
        let t = (time_s - piece.begin_s).max(0.0);
        let [c0, c1, c2, c3, c4] = &piece.coefficients;
        let each = |of: &dyn Fn(usize) -> f64| (0..joints).map(of).collect();
        Moment {
            time_s,
            positions: each(&|j| c0[j] + t * (c1[j] + t * (c2[j] + t * (c3[j] + t * c4[j])))),
            velocities: each(&|j| c1[j] + t * (2.0 * c2[j] + t * (3.0 * c3[j] + t * 4.0 * c4[j]))),
            accelerations: each(&|j| 2.0 * c2[j] + t * (6.0 * c3[j] + t * 12.0 * c4[j])),
            jerks: each(&|j| 6.0 * c3[j] + t * 24.0 * c4[j]),
        }
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
        for piece in &mut slow.pieces {
            piece.begin_s /= fraction;
            let mut power = 1.0;
            for coefficient in &mut piece.coefficients {
                *coefficient = coefficient.map(|c| c * power);
                power *= fraction;
            }
        }
        slow
    }
}

/// Puts pieces one behind the other.
pub(super) struct Builder(Trajectory);

impl Builder {
    pub(super) fn new(goal: &[f64]) -> Self {
        let (pieces, goal) = (Vec::new(), goal.to_vec());
        Self(Trajectory { pieces, goal, duration_s: 0.0, blends: 0, stops: 0 })
    }

    /// A straight piece of an edge that begins at length `from`.
    pub(super) fn straight(&mut self, edge: &Edge, from: f64, phases: &[Phase]) {
        for phase in phases {
            let along = |n: f64| edge.direction.map(|d| d * n);
            self.add(
                phase.duration,
                [
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
        self.add(1.0 / rate, blend.polynomial(rate));
    }

    pub(super) fn stop(&mut self) {
        self.0.stops += 1;
    }

    pub(super) fn done(self) -> Trajectory {
        self.0
    }

    fn add(&mut self, duration_s: f64, coefficients: [Joints; 5]) {
        self.0.pieces.push(Piece { begin_s: self.0.duration_s, coefficients });
        self.0.duration_s += duration_s;
    }
}
