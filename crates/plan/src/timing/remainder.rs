//! What is left of a motion, proved again: from where the arm is measured to be, as far as it may
//! be from the motion while it follows.

use super::Joints;
use super::piece::Piece;
use super::trajectory::Trajectory;
use crate::config::{Config, MAX_JOINTS};
use crate::error::PlanError;
use crate::motions::Motions;

/// Halvings of a piece in its proof.
const DEPTH: u32 = 12;

/// Parts that move no joint by more than this are not cut further, nor those that move each by
/// less than an eighth of how far the arm may be off.
const FINEST_RAD: f64 = 5e-5;

/// How finely the place of the arm on the motion is looked for.
const PLACES: u32 = 32;

/// Where an arm is that follows a motion, and how well it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracking {
    /// Positions of the arm's joints as they were measured, at the time from which is proved.
    pub measured: Vec<f64>,
    /// How much later than it is sent the arm is where it should be, at most; seconds.
    pub lag_s: f64,
    /// How far each joint may be from there besides, rad.
    pub off_rad: f64,
}

/// What was proved of the rest of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Remainder {
    /// When the arm first is where it was not proved to touch nothing, in the time of the motion;
    /// `None`: all of the rest is free.
    pub blocked_s: Option<f64>,
    /// The joints on the motion then.
    pub blocked_at: Option<Vec<f64>>,
    /// The time of the motion that the arm was found to be at: at most the lag behind.
    pub arm_s: f64,
    /// How far each joint may be from the motion: what was given, or how far it is now.
    pub off_rad: Vec<f64>,
}

impl Remainder {
    /// Whether all of it is free.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.blocked_s.is_none()
    }
}

impl Trajectory {
    /// Proves the motion from `from_s` to `to_s` for an arm that follows it late and not exactly:
    /// it starts where it was measured and stays as near to the motion as it is now, or as
    /// `tracking` says. The world is that of `motions`, which may have changed since the plan.
    ///
    /// # Errors
    /// When numbers of joints differ, or a number is none.
    pub fn prove_remainder<M: Motions>(
        &self,
        [from_s, to_s]: [f64; 2],
        tracking: &Tracking,
        motions: &mut M,
    ) -> Result<Remainder, PlanError> {
        let Tracking { measured, lag_s, off_rad } = tracking;
        let joints = self.joints();
        let numbers = measured.iter().chain([&from_s, &to_s]);
        if measured.len() != joints
            || motions.joints() != joints
            || !numbers.into_iter().all(|n| n.is_finite())
            || ![lag_s, off_rad].into_iter().all(|n| (0.0..10.0).contains(n))
        {
            let reason = format!(
                "{joints} measured positions, times, a lag and an error from 0 on are needed: \
                 {from_s} to {to_s} s, {tracking:?}"
            );
            return Err(PlanError::bad("the rest of a motion", reason));
        }
        let (arm_s, off_rad) = self.place_of(from_s, tracking);
        let mut tube = [0.0; MAX_JOINTS];
        tube.iter_mut().zip(&off_rad).for_each(|(tube, off)| *tube = *off);
        let span = [arm_s, to_s.max(arm_s)].map(|time_s| self.clock.at(time_s)[0]);
        let blocked = self.first_blocked(span, &tube, motions);
        let blocked_s = blocked.map(|planned_s| self.clock.time_of(planned_s).max(arm_s));
        let blocked_at = blocked_s.map(|time_s| self.sample(time_s).positions);
        Ok(Remainder { blocked_s, blocked_at, arm_s, off_rad })
    }

    /// Where on the motion an arm is that is late, and how far each joint is off there at most.
    fn place_of(&self, now_s: f64, tracking: &Tracking) -> (f64, Vec<f64>) {
        let off = |time_s: f64| -> Vec<f64> {
            let wanted = self.sample(time_s).positions;
            wanted.iter().zip(&tracking.measured).map(|(w, m)| (w - m).abs()).collect()
        };
        let mut best: Option<(f64, f64, Vec<f64>)> = None;
        for place in 0..=PLACES {
            let time_s = (now_s - tracking.lag_s * f64::from(place) / f64::from(PLACES)).max(0.0);
            let off = off(time_s);
            let most = off.iter().fold(0.0, |most: f64, off| most.max(*off));
            if best.as_ref().is_none_or(|(least, ..)| most < *least) {
                best = Some((most, time_s, off));
            }
        }
        let (_, arm_s, off) = best.unwrap_or_default();
        (arm_s, off.into_iter().map(|off| off.max(tracking.off_rad)).collect())
    }

    /// The first planned time within a span that was not proved free, each joint within `tube` of
    /// the motion.
    pub(super) fn first_blocked<M: Motions>(
        &self,
        [from_s, to_s]: [f64; 2],
        tube: &Joints,
        motions: &mut M,
    ) -> Option<f64> {
        let to_s = to_s.min(self.planned_s);
        let mut parts = self.parts(from_s.min(to_s), to_s);
        parts.find_map(|(piece, span)| {
            first_blocked(piece, span, tube, motions, DEPTH).map(|t| piece.begin_s + t)
        })
    }
}

/// The first time since a piece began, within a span, that was not proved free.
pub(super) fn first_blocked<M: Motions>(
    piece: &Piece,
    [from, to]: [f64; 2],
    tube: &Joints,
    motions: &mut M,
    depth: u32,
) -> Option<f64> {
    let rows = piece.bernstein(0, from, to);
    let (mut centre, mut half_width) = (Config::default(), Config::default());
    let mut is_fine = true;
    for j in 0..MAX_JOINTS {
        let [low, high] = Piece::range(&rows, j);
        let middle = (0.5 * (low + high)) as f32;
        let half = (high - f64::from(middle)).max(f64::from(middle) - low);
        is_fine &= half <= FINEST_RAD.max(tube[j] / 8.0);
        // Rounded up, so that the box holds the curve in single precision too.
        (centre.0[j], half_width.0[j]) = (middle, ((half + tube[j]) as f32).next_up());
    }
    if motions.is_box_free(&centre, &half_width) {
        return None;
    }
    if depth == 0 || is_fine || from >= to {
        return Some(from);
    }
    let middle = f64::midpoint(from, to);
    first_blocked(piece, [from, middle], tube, motions, depth - 1)
        .or_else(|| first_blocked(piece, [middle, to], tube, motions, depth - 1))
}
