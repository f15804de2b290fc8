//! A stretch of driving in which the arm goes where a person holds a leader.

use citrange_control::{TargetLimiter, TargetMotion};
use citrange_core::{BoxError, pilot::Start};
use citrange_core::{Observation, Outcome, Pilot as _, RigSpec, Verdict};
use citrange_link::LeaderPilot;
use citrange_teleop::telemetry::LeaderStatus;

/// The follower has come to its leader when no joint is further away than this.
const MET_RAD: f64 = 0.1;
/// Targets further than this from the joints are still being eased towards.
const EASED_RAD: f64 = 0.15;

/// The leader's part of a pilot.
pub(crate) struct Led {
    pilot: LeaderPilot,
    /// Ends when the arm has come to the leader.
    until_met: bool,
    /// How the targets move; none before the first tick.
    motion: Option<TargetMotion>,
    /// Which joints do not count: a gripper is held up by what it holds.
    grippers: Vec<bool>,
    names: Vec<String>,
    brakes: bool,
    status: LeaderStatus,
}

impl Led {
    pub(super) fn new(pilot: LeaderPilot, until_met: bool) -> Self {
        Self {
            pilot,
            until_met,
            motion: None,
            grippers: Vec::new(),
            names: Vec::new(),
            brakes: false,
            status: LeaderStatus::default(),
        }
    }

    pub(super) fn begin(&mut self, spec: &RigSpec, targets: &[f64]) -> Result<(), BoxError> {
        self.grippers = spec.joints.iter().map(|joint| joint.gripper.is_some()).collect();
        self.names = spec.joints.iter().map(|joint| joint.name.clone()).collect();
        self.motion = Some(TargetMotion::at_rest(targets));
        self.pilot.begin(&Start { spec, targets })
    }

    /// Which joint of the arm is furthest from the leader.
    pub(super) fn status(&self) -> &LeaderStatus {
        &self.status
    }

    /// One tick, within the limits of the arm; whoever stops it stops it here, too.
    pub(super) fn decide(
        &mut self,
        limiter: &TargetLimiter,
        seen: &Observation,
        brake: bool,
        targets: &mut [f64],
    ) -> Result<Verdict, BoxError> {
        let wanted = self.pilot.targets()?;
        let away = wanted.iter().zip(&seen.joint_pos).map(|(to, is)| (to - is).abs());
        let arm =
            away.enumerate().filter(|(j, _)| !self.grippers.get(*j).copied().unwrap_or(false));
        let (joint, away_rad) = arm.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        self.status = LeaderStatus {
            joint: self.names.get(joint).cloned().unwrap_or_default(),
            away_deg: away_rad.to_degrees().round(),
        };
        if self.until_met && !brake && away_rad < MET_RAD {
            return Ok(Verdict::Done(Outcome::unjudged("leader_met")));
        }
        let motion = self.motion.get_or_insert_with(|| TargetMotion::at_rest(targets));
        if brake {
            let mut off = motion.pos.iter().zip(&seen.joint_pos).map(|(to, is)| (to - is).abs());
            if !self.brakes && off.any(|off| off > EASED_RAD) {
                // It is still being eased towards where the targets are: it stays where it is.
                *motion = TargetMotion::at_rest(&seen.joint_pos);
            }
            limiter.brake(motion);
            targets.copy_from_slice(&motion.pos);
        } else {
            targets.copy_from_slice(&wanted);
            limiter.follow(motion, targets);
        }
        self.brakes = brake;
        Ok(Verdict::Go)
    }

    /// The frame is carried out to its end at rest.
    pub(super) fn finish(&mut self, limiter: &TargetLimiter, targets: &mut [f64]) {
        if let Some(motion) = &mut self.motion {
            limiter.brake(motion);
            targets.copy_from_slice(&motion.pos);
        }
    }
}
