//! From a polyline to a motion that a robot can follow: corners are rounded where that is proved
//! free, and a time law keeps every joint within its limits by construction.
//!
//! | to change | look in |
//! |---|---|
//! | way-points that are not needed, edges | `timing/edge.rs` |
//! | the curve at a corner, its proof | `timing/blend.rs` |
//! | changes of speed along an edge | `timing/ramp.rs` |
//! | how large blends are, how fast they are passed | `timing/sizes.rs` |
//! | the motion over time | `timing/trajectory.rs`, its polynomials `timing/piece.rs` |
//! | a smooth curve through way-points, and its time law | `timing/spline.rs` |
//! | slower, faster, to a stop, along the same path | `timing/rate.rs`, `timing/clock.rs` |
//! | from one motion into another in flight | `timing/seam.rs` |
//! | the rest of a motion, proved again | `timing/remainder.rs` |

mod blend;
mod clock;
mod edge;
mod piece;
mod ramp;
mod rate;
mod remainder;
mod seam;
mod sizes;
mod spline;
mod trajectory;

pub use remainder::{Remainder, Tracking};
pub use seam::Joined;
pub(crate) use spline::{CurvePart, Spline};
pub use trajectory::{Moment, Trajectory};

use crate::arm::JointLimit;
use crate::config::MAX_JOINTS;
use crate::error::PlanError;
use crate::motions::Motions;
use blend::{Blend, is_proved};
use edge::{edges, needed};
use sizes::{Corner, Plan};
use trajectory::Builder;

/// Positions, velocities, … of the planned joints; what is beyond them is 0.
type Joints = [f64; MAX_JOINTS];

/// How a path is timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimingSettings {
    /// Share of full speed, above 0 and at most 1: below 1 the same motion is slower, as beside a
    /// person. Accelerations fall with its square, jerks with its cube.
    pub scale: f64,
    /// A blend that reaches less far from its corner, by every joint, is not tried: the robot
    /// stops there.
    pub least_blend_rad: f64,
}

impl Default for TimingSettings {
    fn default() -> Self {
        Self { scale: 1.0, least_blend_rad: 5e-4 }
    }
}

impl Trajectory {
    /// A motion along the straight edges between way-points, which must have been proved free.
    /// It is at rest at both ends, and leaves the edges only where `motions` proves a blend free.
    ///
    /// # Errors
    /// When there are fewer than two way-points, numbers of joints do not agree, or a number is
    /// not finite or out of a joint's range.
    pub fn along<M: Motions>(
        waypoints: &[Vec<f64>],
        limits: &[JointLimit],
        settings: &TimingSettings,
        motions: &mut M,
    ) -> Result<Self, PlanError> {
        check(waypoints, limits, settings, motions.joints())?;
        let points = needed(waypoints, motions);
        let k = settings.scale;
        let limits: Vec<JointLimit> = limits
            .iter()
            .map(|l| JointLimit {
                range: l.range,
                velocity: l.velocity * k,
                acceleration: l.acceleration * k * k,
                jerk: l.jerk * k * k * k,
            })
            .collect();
        let edges = edges(&points, &limits);
        let mut plan = Plan::new(&edges, &limits);
        prove(&mut plan, settings, motions);
        let rates = plan.rates();
        let goal = waypoints.last().map(Vec::as_slice).unwrap_or_default();
        let mut builder = Builder::new(goal);
        let mut speed = 0.0;
        let mut from = 0.0;
        for (index, edge) in edges.iter().enumerate() {
            let corner = plan.corners.get(index);
            let rate = rates.get(index).copied().unwrap_or(0.0);
            let (entry, exit) =
                corner.map_or((0.0, 0.0), |c| (2.0 * c.before * rate, 2.0 * c.after * rate));
            let way = plan.straight(index);
            builder.straight(edge, from, &edge.ramp.phases(speed, entry, way));
            if let (Some(corner), Some(next)) = (corner, edges.get(index + 1)) {
                match Blend::of(edge, next, corner.before, corner.after) {
                    Some(blend) => builder.blend(&blend, rate),
                    None => builder.stop(),
                }
                (speed, from) = (exit, corner.after);
            }
        }
        Ok(builder.done())
    }
}

/// Makes blends smaller until each is proved free; those that cannot be become stops.
fn prove<M: Motions>(plan: &mut Plan<'_>, settings: &TimingSettings, motions: &mut M) {
    let mut proved = vec![(0.0, 0.0); plan.corners.len()];
    let mut tries = vec![0_u32; plan.corners.len()];
    loop {
        plan.improve();
        let mut all = true;
        for index in 0..plan.corners.len() {
            let Corner { before, after, .. } = plan.corners[index];
            let Some(blend) = plan.blend(index) else { continue };
            if proved[index] == (before, after) {
                continue;
            }
            if is_proved(&blend, motions) {
                proved[index] = (before, after);
                continue;
            }
            all = false;
            tries[index] += 1;
            // Short edges have small blends to begin with: those get a few tries all the same.
            let is_least = blend.reach_rad() < settings.least_blend_rad && tries[index] > 3;
            plan.restrict(index, if is_least { 0.0 } else { 0.5 });
        }
        if all {
            return;
        }
    }
}

fn check(
    waypoints: &[Vec<f64>],
    limits: &[JointLimit],
    settings: &TimingSettings,
    joints: usize,
) -> Result<(), PlanError> {
    let bad = |reason: String| Err(PlanError::bad("timing of a path", reason));
    if waypoints.len() < 2 {
        return bad(format!("{} way-points, at least 2 are needed", waypoints.len()));
    }
    if limits.len() != joints || joints == 0 || joints > MAX_JOINTS {
        let found = limits.len();
        return bad(format!("{found} limits for {joints} joints; 1 to {MAX_JOINTS} are possible"));
    }
    if !(settings.scale > 0.0 && settings.scale <= 1.0) {
        return bad(format!("scale is {}, above 0 and at most 1 is right", settings.scale));
    }
    if !(settings.least_blend_rad > 0.0 && settings.least_blend_rad.is_finite()) {
        return bad(format!("least_blend_rad is {}, must be above 0", settings.least_blend_rad));
    }
    let is_good = |l: &f64| l.is_finite() && *l > 0.0;
    if let Some(l) =
        limits.iter().find(|l| ![l.velocity, l.acceleration, l.jerk].iter().all(is_good))
    {
        return bad(format!("limits must be finite and above 0: {l:?}"));
    }
    for (number, point) in waypoints.iter().enumerate() {
        if point.len() != joints {
            let found = point.len();
            return bad(format!("way-point {number} has {found} joints, not {joints}"));
        }
        for (joint, (position, limit)) in point.iter().zip(limits).enumerate() {
            let [low, high] = limit.range;
            // Single precision rounds a limit by less than this.
            let slack = 1e-6 * (1.0 + low.abs().max(high.abs()));
            if !(low - slack..=high + slack).contains(position) {
                return bad(format!(
                    "joint {joint} of way-point {number} is at {position}, {low} to {high} is right"
                ));
            }
        }
    }
    Ok(())
}
