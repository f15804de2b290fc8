//! Pilots that only real arms need: brought somewhere slowly, and targets between two frames.

use citrange_core::pilot::Notes;
use citrange_core::{BoxError, Command, Observation, Outcome, Pilot, Rates, RigSpec, Verdict};

/// How near every joint must come to a place that it is brought to.
const THERE_RAD: f64 = 0.05;
/// A gripper slower than this, so long after it was sent, is held up by what it holds.
const RESTS_RAD_S: f64 = 0.02;
const RESTS_AFTER_S: f64 = 1.0;
/// How long it may take.
const COMES_WITHIN_S: f64 = 60.0;

/// Brings an arm somewhere; the arm's own gate eases it in.
#[derive(Debug)]
pub(crate) struct Approach {
    joints: Vec<f64>,
    /// Which may be held up by what they hold.
    grippers: Vec<bool>,
}

impl Approach {
    /// To these joints of a rig.
    pub(crate) fn to(joints: &[f64], spec: &RigSpec) -> Self {
        let grippers = spec.joints.iter().map(|joint| joint.gripper.is_some()).collect();
        let ranges = spec.joints.iter().map(|joint| joint.range);
        let within = |(at, range): (&f64, Option<[f64; 2]>)| {
            range.map_or(*at, |[low, high]| at.clamp(low, high))
        };
        Self { joints: joints.iter().zip(ranges).map(within).collect(), grippers }
    }
}

impl Pilot for Approach {
    fn name(&self) -> &str {
        "approach"
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let passed_s = seen.at_ns as f64 * 1e-9;
        let is_there = self.joints.iter().enumerate().all(|(j, to)| {
            let rests = passed_s > RESTS_AFTER_S && seen.joint_vel[j].abs() < RESTS_RAD_S;
            (seen.joint_pos[j] - to).abs() < THERE_RAD || (self.grippers[j] && rests)
        });
        if is_there {
            return Ok(Verdict::Done(Outcome { success: Some(true), reason: "there".to_owned() }));
        }
        if passed_s > COMES_WITHIN_S {
            return Err(format!("the arm did not come there in {COMES_WITHIN_S} s").into());
        }
        command.pos.clone_from(&self.joints);
        Ok(Verdict::Go)
    }
}

/// Frames' targets with those between them: each tick lies between two frames where it is in time.
#[derive(Debug)]
pub(crate) struct SmoothReplay {
    targets: Vec<Vec<f64>>,
    /// Frames per control tick.
    frames_per_tick: f64,
}

impl SmoothReplay {
    /// Of frames so many times a second, for a rig at these rates.
    pub(crate) fn new(targets: Vec<Vec<f64>>, hz: u32, rates: Rates) -> Self {
        Self { targets, frames_per_tick: f64::from(hz) / f64::from(rates.control_hz.max(1)) }
    }
}

impl Pilot for SmoothReplay {
    fn name(&self) -> &str {
        "replay"
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let at = seen.tick as f64 * self.frames_per_tick;
        let (frame, part) = (at.floor() as usize, at.fract());
        let Some(now) = self.targets.get(frame) else {
            return Ok(Verdict::Done(Outcome::unjudged("replay_end")));
        };
        let next = self.targets.get(frame + 1).unwrap_or(now);
        for ((target, now), next) in command.pos.iter_mut().zip(now).zip(next) {
            *target = now + part * (next - now);
        }
        Ok(Verdict::Go)
    }
}
