//! A smooth curve through way-points (a cubic spline), and its time law: one for all of it, so
//! that the arm does not slow down from way-point to way-point.

use super::Joints;
use super::piece::{Piece, composed};
use super::ramp::Ramp;
use super::remainder::first_blocked;
use super::trajectory::{Builder, Trajectory};
use crate::arm::JointLimit;
use crate::config::MAX_JOINTS;
use crate::motions::Motions;

/// How often lengths are fitted to how fast each piece can be passed.
const FITS: usize = 4;

/// Fractions of acceleration and jerk that the bends of the curve may take at full rate; the rest
/// is for changes of speed.
const BEND_ACCELERATION: f64 = 0.6;
const BEND_JERK: f64 = 0.4;

/// Halvings of a piece in its proof.
const DEPTH: u32 = 12;

/// A curve of joint positions over a length of its own. Its lengths are times: at a rate of 1 all
/// limits hold.
#[derive(Clone, Debug)]
pub(crate) struct Spline {
    pieces: Vec<Piece>,
    length: f64,
    ramp: Ramp,
    goal: Vec<f64>,
}

impl Spline {
    /// Through way-points that differ, of which there are at least two.
    pub(crate) fn through(points: &[Vec<f64>], limits: &[JointLimit]) -> Option<Self> {
        let goal = points.last()?.clone();
        let points: Vec<Joints> = points
            .iter()
            .map(|point| std::array::from_fn(|j| point.get(j).copied().unwrap_or(0.0)))
            .collect();
        let longest = |(a, b): (&Joints, &Joints)| {
            let joints = a.iter().zip(b).zip(limits);
            joints.map(|((a, b), l)| (a - b).abs() / l.velocity).fold(0.0, f64::max)
        };
        let mut lengths: Vec<f64> = points.iter().zip(&points[1..]).map(longest).collect();
        if lengths.is_empty() || lengths.iter().any(|l| *l < 1e-9) {
            return None;
        }
        for _ in 0..FITS {
            let rates: Vec<f64> =
                pieces(&points, &lengths).iter().map(|(p, l)| fastest(p, *l, limits)).collect();
            // Neighbours differ little, or the curve would bend between them.
            let smooth = |i: usize| {
                let near = rates[i.saturating_sub(2)..(i + 3).min(rates.len())].iter();
                let least = near.fold(f64::INFINITY, |least, r| r.min(least));
                (rates[i] * least).sqrt()
            };
            let factors: Vec<f64> = (0..rates.len()).map(smooth).collect();
            lengths.iter_mut().zip(factors).for_each(|(length, rate)| *length /= rate);
        }
        let made = pieces(&points, &lengths);
        let slowest =
            made.iter().map(|(p, l)| fastest(p, *l, limits)).fold(f64::INFINITY, f64::min);
        let mut pieces: Vec<Piece> = Vec::with_capacity(made.len());
        let mut length = 0.0;
        for (mut piece, own) in made {
            piece.slow_down(slowest);
            piece.begin_s = length;
            length += own / slowest;
            pieces.push(piece);
        }
        let mut spline = Self { pieces, length, ramp: Ramp { acceleration: 0.0, jerk: 0.0 }, goal };
        spline.ramp = spline.fastest_ramp(limits);
        Some(spline)
    }

    /// Largest changes of the rate at which all limits hold.
    fn fastest_ramp(&self, limits: &[JointLimit]) -> Ramp {
        let mut ramp = Ramp { acceleration: f64::INFINITY, jerk: f64::INFINITY };
        let most = |index: usize, joint: usize| self.most(index, joint);
        let all = || (0..self.pieces.len()).flat_map(|i| (0..limits.len()).map(move |j| (i, j)));
        for (index, joint) in all() {
            let [v, a, _] = most(index, joint);
            let left = limits[joint].acceleration - a;
            ramp.acceleration = ramp.acceleration.min(left / v.max(1e-12));
            // Bends take jerk where the rate changes: at most half of what is left.
            let [_, a, b] = most(index, joint);
            let left = 0.5 * (limits[joint].jerk - b);
            ramp.acceleration = ramp.acceleration.min(left / (3.0 * a).max(1e-12));
        }
        for (index, joint) in all() {
            let [v, a, b] = most(index, joint);
            let left = limits[joint].jerk - b - 3.0 * a * ramp.acceleration;
            ramp.jerk = ramp.jerk.min(left / v.max(1e-12));
        }
        ramp
    }

    /// Largest first, second and third derivative of a joint in a piece.
    fn most(&self, index: usize, joint: usize) -> [f64; 3] {
        let to = self.pieces.get(index + 1).map_or(self.length, |next| next.begin_s);
        let piece = &self.pieces[index];
        most(piece, to - piece.begin_s, joint)
    }

    /// Its pieces, and how long each is.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (CurvePart<'_>, f64)> {
        self.pieces.iter().enumerate().map(|(index, piece)| {
            let to = self.pieces.get(index + 1).map_or(self.length, |next| next.begin_s);
            (CurvePart { piece }, to - piece.begin_s)
        })
    }

    /// The joints at the first place that is not proved free; `None` where all are.
    pub(crate) fn first_blocked<M: Motions>(&self, motions: &mut M) -> Option<Vec<f64>> {
        let joints = self.goal.len();
        self.parts().find_map(|(part, length)| {
            let at = first_blocked(part.piece, [0.0, length], &[0.0; MAX_JOINTS], motions, DEPTH)?;
            Some((0..joints).map(|j| part.piece.value(j, 0, at)).collect())
        })
    }

    /// The motion along it, from rest to rest.
    pub(crate) fn trajectory(&self) -> Trajectory {
        let mut builder = Builder::new(&self.goal);
        let phases = self.ramp.phases(0.0, 0.0, self.length);
        let mut index = 0;
        for phase in phases {
            let law = [phase.way, phase.speed, phase.acceleration / 2.0, phase.jerk / 6.0];
            let way = |t: f64| law[0] + t * (law[1] + t * (law[2] + t * law[3]));
            let mut from = 0.0;
            while from < phase.duration {
                let end = self.pieces.get(index + 1).map_or(f64::INFINITY, |next| next.begin_s);
                let to = if way(phase.duration) > end {
                    time_of(&way, end, [from, phase.duration])
                } else {
                    phase.duration
                };
                // The law from there on, as a length since the piece began.
                let piece = &self.pieces[index];
                let slope = law[1] + from * (2.0 * law[2] + from * 3.0 * law[3]);
                let bend = law[2] + 3.0 * from * law[3];
                let inner = [way(from) - piece.begin_s, slope, bend, law[3]];
                if to > from {
                    builder.add(to - from, composed(&piece.coefficients, &inner));
                }
                if way(phase.duration) > end && index + 1 < self.pieces.len() {
                    index += 1;
                } else {
                    break;
                }
                from = to;
            }
        }
        builder.done()
    }
}

/// A part of a curve, for proofs about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurvePart<'a> {
    piece: &'a Piece,
}

impl CurvePart<'_> {
    /// Joints at a length since it began.
    pub(crate) fn at(&self, length: f64, joints: &mut [f64]) {
        for (j, joint) in joints.iter_mut().enumerate() {
            *joint = self.piece.value(j, 0, length);
        }
    }

    /// Lowest and highest position of a joint, from the beginning to a length.
    pub(crate) fn range(&self, length: f64, joint: usize) -> [f64; 2] {
        Piece::range(&self.piece.bernstein(0, 0.0, length), joint)
    }

    /// Between two lengths: how far each joint moves at most if it went on all the way as fast as
    /// where it is fastest, and the same of its second derivative.
    pub(crate) fn bounds(&self, from: f64, to: f64, joints: usize) -> [Vec<f64>; 2] {
        let width = to - from;
        [1, 2].map(|derivative| {
            let rows = self.piece.bernstein(derivative, from, to);
            let scale = width.powi(derivative as i32);
            let most = |j| Piece::range(&rows, j).into_iter().fold(0.0, |m: f64, r| m.max(r.abs()));
            (0..joints).map(|j| scale * most(j)).collect()
        })
    }
}

/// When a way is reached, within a span of times.
fn time_of(way: &impl Fn(f64) -> f64, wanted: f64, [mut low, mut high]: [f64; 2]) -> f64 {
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        *(if way(middle) < wanted { &mut low } else { &mut high }) = middle;
    }
    high
}

/// Largest derivatives of a joint in a piece of some length.
fn most(piece: &Piece, length: f64, joint: usize) -> [f64; 3] {
    [1, 2, 3].map(|derivative| {
        let rows = piece.bernstein(derivative, 0.0, length);
        Piece::range(&rows, joint).into_iter().fold(0.0, |most: f64, r| most.max(r.abs()))
    })
}

/// The rate at which a piece may be passed.
fn fastest(piece: &Piece, length: f64, limits: &[JointLimit]) -> f64 {
    let rows = [1, 2, 3].map(|derivative| piece.bernstein(derivative, 0.0, length));
    let mut rate = f64::INFINITY;
    for (joint, limit) in limits.iter().enumerate() {
        let most = |k: usize| {
            let range = Piece::range(&rows[k], joint);
            range.into_iter().fold(1e-12, |most: f64, r| most.max(r.abs()))
        };
        rate = rate
            .min(limit.velocity / most(0))
            .min((BEND_ACCELERATION * limit.acceleration / most(1)).sqrt())
            .min((BEND_JERK * limit.jerk / most(2)).cbrt());
    }
    rate
}

/// The pieces of a spline through points, with their lengths; its second derivative has no jumps.
fn pieces(points: &[Joints], lengths: &[f64]) -> Vec<(Piece, f64)> {
    let count = points.len();
    let step = |i: usize, j: usize| points[i + 1][j] - points[i][j];
    let mut slopes = vec![[0.0; MAX_JOINTS]; count];
    for j in 0..MAX_JOINTS {
        let first = end_slope(points.iter().map(|p| p[j]), lengths.iter().copied());
        let last = -end_slope(points.iter().rev().map(|p| p[j]), lengths.iter().rev().copied());
        // Tridiagonal (Thomas).
        let (mut upper, mut right) = (vec![0.0; count], vec![first; count]);
        for i in 1..count - 1 {
            let (before, after) = (1.0 / lengths[i - 1], 1.0 / lengths[i]);
            let pull = 3.0 * (step(i - 1, j) * before * before + step(i, j) * after * after);
            let pivot = 2.0 * (before + after) - before * upper[i - 1];
            upper[i] = after / pivot;
            right[i] = (pull - before * right[i - 1]) / pivot;
        }
        slopes[count - 1][j] = last;
        slopes[0][j] = first;
        for i in (1..count - 1).rev() {
            slopes[i][j] = right[i] - upper[i] * slopes[i + 1][j];
        }
    }
    (0..count - 1)
        .map(|i| {
            let h = lengths[i];
            let (mut c2, mut c3) = ([0.0; MAX_JOINTS], [0.0; MAX_JOINTS]);
            for j in 0..MAX_JOINTS {
                let (mean, from, to) = (step(i, j) / h, slopes[i][j], slopes[i + 1][j]);
                c2[j] = (3.0 * mean - 2.0 * from - to) / h;
                c3[j] = (from + to - 2.0 * mean) / (h * h);
            }
            (Piece { begin_s: 0.0, coefficients: vec![points[i], slopes[i], c2, c3] }, h)
        })
        .collect()
}

/// The slope at the first point of the polynomial through the first four, or as many as there are.
fn end_slope(values: impl Iterator<Item = f64>, lengths: impl Iterator<Item = f64>) -> f64 {
    let y: Vec<f64> = values.take(4).collect();
    let mut x = vec![0.0];
    for length in lengths.take(y.len() - 1) {
        x.push(x[x.len() - 1] + length);
    }
    // Derivatives of Lagrange's polynomials at the first point.
    let mut slope = 0.0;
    for k in 1..y.len() {
        let mut weight = 1.0 / x[k];
        for m in (1..y.len()).filter(|m| *m != k) {
            weight *= x[m] / (x[m] - x[k]);
        }
        slope += weight * (y[k] - y[0]);
    }
    slope
}
