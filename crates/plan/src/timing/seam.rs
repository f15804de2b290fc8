//! From one motion into another without a stop: a quintic between a moment of the one and a moment
//! of the other, within all limits and proved free; and where there is none, a stop on the way.

use super::Joints;
use super::clock::{Clock, ClockPhase};
use super::piece::Piece;
use super::remainder::first_blocked;
use super::trajectory::{Moment, Trajectory};
use crate::arm::JointLimit;
use crate::config::{Config, MAX_JOINTS};
use crate::error::PlanError;
use crate::motions::Motions;

/// Places of the new motion at which it may be entered.
const ENTRIES: u32 = 24;
/// So far into it, at most.
const DEEPEST_S: f64 = 2.0;
/// Shortest quintic that is tried, how they grow, how many there are.
const SHORTEST_S: f64 = 0.02;
const GROWTH: f64 = 1.15;
const LENGTHS: u32 = 42;
/// Quintics that are proved before the motion stops instead.
const PROOFS: usize = 12;
/// Parts of a quintic whose limits are looked at each alone.
const PARTS: u32 = 4;
/// Times at which a quintic is looked at before that.
const LOOKS: u32 = 6;
/// Halvings in a proof.
const DEPTH: u32 = 12;
/// Positions nearer than this are the same.
const SAME_RAD: f64 = 1e-5;

/// A motion that goes over into another.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The first motion until the seam, then all of the rest.
    pub trajectory: Trajectory,
    /// When the two differ first: at the seam, or where the first was made to stop.
    pub seam_s: f64,
    /// Whether the arm stands between the two.
    pub stops: bool,
}

impl Trajectory {
    /// A motion that begins as the arm moves at a moment, and goes over into this one as soon as
    /// it can; the time is counted from the moment. `None` where no way into it was proved free
    /// within `limits`.
    pub fn entered<M: Motions>(
        &self,
        from: &Moment,
        limits: &[JointLimit],
        motions: &mut M,
    ) -> Option<Self> {
        if from.positions.len() != self.joints() || limits.len() != self.joints() {
            return None;
        }
        let mut ways: Vec<(f64, f64, Piece, f64)> = Vec::new();
        for entry in 0..=ENTRIES {
            let deepest_s = self.duration_s().min(DEEPEST_S);
            // Finer at the beginning, where detours are shorter.
            let share = f64::from(entry) / f64::from(ENTRIES);
            let entry_s = deepest_s * share * share;
            let to = self.sample(entry_s);
            let rest_s = self.duration_s() - entry_s;
            for length in 0..LENGTHS {
                let duration_s = SHORTEST_S * GROWTH.powi(length as i32);
                let piece = quintic(from, &to, duration_s);
                if holds(&piece, duration_s, limits) {
                    ways.push((duration_s + rest_s, entry_s, piece, duration_s));
                    break;
                }
            }
        }
        ways.sort_by(|a, b| a.0.total_cmp(&b.0));
        let tube = [0.0; MAX_JOINTS];
        for (_, entry_s, piece, duration_s) in ways.into_iter().take(PROOFS) {
            // Hits in the middle are found at once.
            let middle: [f64; MAX_JOINTS] =
                std::array::from_fn(|j| piece.value(j, 0, duration_s / 2.0));
            if motions.is_free(&Config(middle.map(|p| p as f32)))
                && first_blocked(&piece, [0.0, duration_s], &tube, motions, DEPTH).is_none()
            {
                return Some(self.behind(piece, duration_s, entry_s));
            }
        }
        None
    }

    /// From this motion into another one from `seam_s` on: without a stop where that is proved
    /// free, and otherwise by stopping along this one, if the other begins where it then stands.
    /// What is left of this motion until the arm leaves it must have been proved already.
    ///
    /// Plan the other from [`Trajectory::goal`] of [`Trajectory::stopped`] at `seam_s`: then one
    /// of the two is always possible.
    ///
    /// # Errors
    /// When neither is, or numbers of joints differ.
    pub fn joined<M: Motions>(
        &self,
        seam_s: f64,
        next: &Self,
        limits: &[JointLimit],
        motions: &mut M,
    ) -> Result<Joined, PlanError> {
        let bad = |reason: String| Err(PlanError::bad("a seam of two motions", reason));
        if next.joints() != self.joints() || limits.len() != self.joints() || !seam_s.is_finite() {
            let (a, b, c) = (self.joints(), next.joints(), limits.len());
            return bad(format!("{a} and {b} joints, {c} limits, seam at {seam_s} s"));
        }
        let seam_s = seam_s.max(0.0);
        let stopped = self.stopped(seam_s, limits)?;
        let first = next.sample(0.0);
        let mut begins_there = stopped.goal().iter().zip(&first.positions);
        let can_stop = begins_there.all(|(a, b)| (a - b).abs() < SAME_RAD)
            && first.velocities.iter().all(|v| *v == 0.0);
        let with_stop_s = stopped.duration_s() + next.duration_s();
        if let Some(entered) = next.entered(&self.sample(seam_s), limits, motions)
            && (!can_stop || seam_s + entered.duration_s() <= with_stop_s)
        {
            let trajectory = self.followed_by(seam_s, &entered);
            return Ok(Joined { trajectory, seam_s, stops: false });
        }
        if !can_stop {
            return bad(format!(
                "no way from the one into the other was proved free, and the first stands at {:?} \
                 if it stops, where the second does not begin",
                stopped.goal()
            ));
        }
        let seam_s = stopped.duration_s();
        Ok(Joined { trajectory: stopped.followed_by(seam_s, next), seam_s, stops: true })
    }

    /// This motion from `entry_s` on, with a piece before it.
    fn behind(&self, piece: Piece, duration_s: f64, entry_s: f64) -> Self {
        let (pieces, clock) = (vec![piece], Clock::default());
        let goal = self.sample(0.0).positions;
        let counted = (self.blends, self.stops);
        let (planned_s, (blends, stops)) = (duration_s, counted);
        let first = Self { pieces, clock, goal, duration_s, planned_s, blends, stops };
        first.then_from(duration_s, self, entry_s)
    }

    /// This motion until a time, then another one.
    pub(crate) fn followed_by(&self, until_s: f64, next: &Self) -> Self {
        let mut joined = self.then_from(until_s, next, 0.0);
        joined.blends += next.blends;
        joined.stops += next.stops;
        joined
    }

    /// This motion until `until_s`, then another from its `entry_s` on.
    fn then_from(&self, until_s: f64, next: &Self, entry_s: f64) -> Self {
        let until_s = until_s.min(self.duration_s);
        let planned_s = self.clock.at(until_s)[0].min(self.planned_s);
        let entry_planned_s = next.clock.at(entry_s)[0];
        let mut joined = self.clone();
        joined.pieces.retain(|piece| piece.begin_s < planned_s);
        for (piece, [from, _]) in next.parts(entry_planned_s, next.planned_s) {
            let mut piece = piece.clone();
            if from > 0.0 {
                piece.coefficients = shifted(&piece, from);
            }
            let since_s = (piece.begin_s + from - entry_planned_s).max(0.0);
            piece.begin_s = planned_s + since_s;
            joined.pieces.push(piece);
        }
        let is_plain = self.clock.phases.is_empty() && next.clock.phases.is_empty();
        if !is_plain {
            let mut phases = vec![ClockPhase {
                begin_s: until_s,
                at: {
                    let [_, rate, change, _] = next.clock.at(entry_s);
                    [planned_s, rate, change]
                },
                jerk: next.clock.at(entry_s)[3],
            }];
            let later = next.clock.phases.iter().filter(|phase| phase.begin_s > entry_s);
            phases.extend(later.map(|phase| ClockPhase {
                begin_s: phase.begin_s - entry_s + until_s,
                at: [phase.at[0] - entry_planned_s + planned_s, phase.at[1], phase.at[2]],
                jerk: phase.jerk,
            }));
            joined.clock = self.clock.then(until_s, &phases);
        }
        joined.planned_s = planned_s + next.planned_s - entry_planned_s;
        joined.duration_s = until_s + next.duration_s - entry_s;
        joined.goal.clone_from(&next.goal);
        joined
    }
}

/// Coefficients of a piece for a time that is counted from later on.
fn shifted(piece: &Piece, by_s: f64) -> Vec<Joints> {
    let mut c = piece.coefficients.clone();
    let degree = c.len() - 1;
    for low in 0..degree {
        for k in (low..degree).rev() {
            for joint in 0..MAX_JOINTS {
                c[k][joint] += by_s * c[k + 1][joint];
            }
        }
    }
    c
}

/// The polynomial of the fifth degree between two moments.
fn quintic(from: &Moment, to: &Moment, duration_s: f64) -> Piece {
    let t = duration_s;
    let mut coefficients = vec![[0.0; MAX_JOINTS]; 6];
    for j in 0..from.positions.len().min(MAX_JOINTS) {
        let (p, v, a) = (from.positions[j], from.velocities[j], from.accelerations[j]);
        let way = to.positions[j] - p - t * (v + t * a / 2.0);
        let speed = (to.velocities[j] - v - t * a) * t;
        let change = (to.accelerations[j] - a) * t * t;
        let of = [
            p,
            v,
            a / 2.0,
            (10.0 * way - 4.0 * speed + change / 2.0) / t.powi(3),
            (-15.0 * way + 7.0 * speed - change) / t.powi(4),
            (6.0 * way - 3.0 * speed + change / 2.0) / t.powi(5),
        ];
        coefficients.iter_mut().zip(of).for_each(|(row, c)| row[j] = c);
    }
    Piece { begin_s: 0.0, coefficients }
}

/// Whether a piece stays within ranges and limits at every time.
fn holds(piece: &Piece, duration_s: f64, limits: &[JointLimit]) -> bool {
    let part_s = duration_s / f64::from(PARTS);
    // Most are far too fast: a few looks tell.
    let is_fast = (0..=LOOKS).any(|look| {
        let t = duration_s * f64::from(look) / f64::from(LOOKS);
        limits.iter().enumerate().any(|(joint, limit)| {
            piece.value(joint, 3, t).abs() > limit.jerk * (1.0 + 1e-9) + 1e-9
                || piece.value(joint, 2, t).abs() > limit.acceleration * (1.0 + 1e-9) + 1e-9
        })
    });
    if is_fast {
        return false;
    }
    // What jerks tell is told quickest.
    [3, 2, 1, 0].into_iter().all(|derivative| {
        (0..PARTS).all(|part| {
            let from = f64::from(part) * part_s;
            let rows = piece.bernstein(derivative, from, from + part_s);
            limits.iter().enumerate().all(|(joint, limit)| {
                let [low, high] = Piece::range(&rows, joint);
                let [least, most] = match derivative {
                    0 => limit.range,
                    1 => [-limit.velocity, limit.velocity],
                    2 => [-limit.acceleration, limit.acceleration],
                    _ => [-limit.jerk, limit.jerk],
                };
                let slack = 1e-9 * (1.0 + most.abs());
                least - slack <= low && high <= most + slack
            })
        })
    })
}
