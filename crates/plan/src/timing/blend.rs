//! The curve that takes the place of a corner, and the proof that it is free.
//!
//! While a blend is passed, the velocity goes over from that of the edge before to that of the
//! edge behind along 3u² - 2u³. So it begins and ends without acceleration, every joint stays
//! between its two velocities, and the largest acceleration and jerk are known in closed form. In
//! space it is the quartic Bézier curve whose middle control point is the corner.

use super::Joints;
use super::edge::Edge;
use crate::arm::JointLimit;
use crate::config::{Config, MAX_JOINTS};
use crate::motions::Motions;

/// Halvings of a blend's curve in its proof: pieces of a thousandth.
const DEPTH: u32 = 10;

/// Cosine below which a corner turns back: there is no curve that does not stop.
const BACK: f64 = -0.999_99;

/// A curve at a corner.
#[derive(Clone, Debug)]
pub(super) struct Blend {
    corner: Joints,
    /// From where it begins to the corner.
    before: Joints,
    /// From the corner to where it ends.
    after: Joints,
}

impl Blend {
    /// The blend that takes the last `before` of an edge and the first `after` of the next one;
    /// none where nothing is taken or the corner turns back.
    pub(super) fn of(from: &Edge, to: &Edge, before: f64, after: f64) -> Option<Self> {
        if before <= 0.0 || after <= 0.0 || turns_back(from, to) {
            return None;
        }
        Some(Self {
            corner: to.from,
            before: from.direction.map(|d| d * before),
            after: to.direction.map(|d| d * after),
        })
    }

    /// How far it reaches from the corner: the largest angle of a joint.
    pub(super) fn reach_rad(&self) -> f64 {
        self.before.iter().chain(&self.after).map(|r| r.abs()).fold(0.0, f64::max)
    }

    /// Largest rate (one over its duration) at which all limits hold.
    pub(super) fn fastest(&self, limits: &[JointLimit]) -> f64 {
        let mut rate = f64::INFINITY;
        for (j, limit) in limits.iter().enumerate() {
            let (before, after) = (self.before[j], self.after[j]);
            let change = (after - before).abs();
            rate = rate
                .min(limit.velocity / (2.0 * before.abs().max(after.abs())))
                .min((limit.acceleration / (3.0 * change)).sqrt())
                .min((limit.jerk / (12.0 * change)).cbrt());
        }
        rate
    }

    /// Coefficients of its polynomial in time, the constant one first.
    pub(super) fn polynomial(&self, rate: f64) -> [Joints; 5] {
        let part = |of: &dyn Fn(usize) -> f64| std::array::from_fn(of);
        let change = |j: usize| self.after[j] - self.before[j];
        [
            part(&|j| self.corner[j] - self.before[j]),
            part(&|j| 2.0 * self.before[j] * rate),
            [0.0; MAX_JOINTS],
            part(&|j| 2.0 * change(j) * rate.powi(3)),
            part(&|j| -change(j) * rate.powi(4)),
        ]
    }

    fn control_points(&self) -> [Joints; 5] {
        [-1.0, -0.5, 0.0, 0.5, 1.0].map(|at: f64| {
            let side = if at < 0.0 { &self.before } else { &self.after };
            std::array::from_fn(|j| self.corner[j] + at * side[j])
        })
    }
}

fn turns_back(from: &Edge, to: &Edge) -> bool {
    let dot = |a: &Joints, b: &Joints| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (a, b) = (&from.direction, &to.direction);
    dot(a, b) <= BACK * (dot(a, a) * dot(b, b)).sqrt()
}

/// Whether a blend is proved to touch nothing.
pub(super) fn is_proved<M: Motions>(blend: &Blend, motions: &mut M) -> bool {
    is_curve_free(&blend.control_points(), motions, DEPTH)
}

/// A curve lies in the box around its control points.
fn is_curve_free<M: Motions>(points: &[Joints; 5], motions: &mut M, depth: u32) -> bool {
    let (mut centre, mut half_width) = (Config::default(), Config::default());
    for j in 0..MAX_JOINTS {
        let low = points.iter().map(|p| p[j]).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|p| p[j]).fold(f64::NEG_INFINITY, f64::max);
        let middle = (0.5 * (low + high)) as f32;
        let half = (high - f64::from(middle)).max(f64::from(middle) - low);
        // Rounded up, so that the box holds the curve in single precision too.
        (centre.0[j], half_width.0[j]) = (middle, (half as f32).next_up());
    }
    if motions.is_box_free(&centre, &half_width) {
        return true;
    }
    let (first, second) = halves(points);
    depth > 0
        && motions.is_free(&Config(second[0].map(|p| p as f32)))
        && is_curve_free(&first, motions, depth - 1)
        && is_curve_free(&second, motions, depth - 1)
}

/// Control points of both halves of a curve (de Casteljau).
fn halves(points: &[Joints; 5]) -> ([Joints; 5], [Joints; 5]) {
    let mut row = *points;
    let (mut first, mut second) = (row, row);
    for level in 1..5 {
        for i in 0..5 - level {
            row[i] = std::array::from_fn(|j| 0.5 * (row[i][j] + row[i + 1][j]));
        }
        first[level] = row[0];
        second[4 - level] = row[4 - level];
    }
    (first, second)
}
