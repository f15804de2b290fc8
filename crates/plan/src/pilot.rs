//! A motion as a Pilot: follows it tick by tick, and stops where the arm does not.

mod feedforward;
mod memory;
mod settings;

use std::collections::BTreeMap;

use citrange_core::event::PlanEvent;
use citrange_core::{
    BoxError, Command, Event, Notes, Observation, Outcome, Pilot, RigSpec, Verdict,
};

use crate::error::PlanError;
use crate::timing::{Moment, Trajectory};
pub use feedforward::{Feedforward, ServoLoad};
use memory::{Memory, Phase};
pub use settings::PilotSettings;

/// By how much a motion is slowed down at a time.
const SLOWER: f64 = 0.95;

/// How often targets and torques are looked at beforehand, at least.
const LOOK_HZ: f64 = 250.0;

/// A motion is not slowed down further than this.
const LEAST_FRACTION: f64 = 0.05;

/// Follows a trajectory with the arm's joints; all others keep their targets.
#[derive(Clone, Debug)]
pub struct PlanPilot {
    trajectory: Trajectory,
    slowed: f64,
    feedforward: Option<Feedforward>,
    settings: PilotSettings,
    names: Vec<String>,
    ranges: Vec<Option<[f64; 2]>>,
    tick_s: f64,
    memory: Memory,
}

impl PlanPilot {
    /// For a rig whose first joints are the trajectory's. Without `feedforward` positions are sent
    /// as they are, for robots that follow by themselves.
    ///
    /// # Errors
    /// When the rig, the trajectory and the servos do not have the same joints.
    pub fn new(
        trajectory: Trajectory,
        spec: &RigSpec,
        feedforward: Option<Feedforward>,
        settings: PilotSettings,
    ) -> Result<Self, PlanError> {
        let arm = spec.joints.iter().filter(|j| j.gripper.is_none()).count();
        let what = || format!("a plan for {}", spec.robot);
        let joints = trajectory.joints();
        if joints != arm {
            let reason = format!("it moves {joints} joints, the arm has {arm}");
            return Err(PlanError::bad(what(), reason));
        }
        if spec.rates.control_hz == 0 {
            return Err(PlanError::bad(what(), "control_hz is 0, must be above"));
        }
        if let Some(servos) = feedforward.as_ref().map(Feedforward::joints)
            && servos != spec.joints.len()
        {
            let reason = format!("servos of {servos} joints, the rig has {}", spec.joints.len());
            return Err(PlanError::bad(what(), reason));
        }
        let mut pilot = Self {
            trajectory,
            slowed: 1.0,
            feedforward,
            settings,
            names: spec.joints.iter().map(|j| j.name.clone()).collect(),
            ranges: spec.joints.iter().map(|j| j.range).collect(),
            tick_s: 1.0 / f64::from(spec.rates.control_hz),
            memory: Memory::default(),
        };
        pilot.slow_down();
        Ok(pilot)
    }

    /// The motion as it is followed.
    #[must_use]
    pub fn trajectory(&self) -> &Trajectory {
        &self.trajectory
    }

    /// Share of the given trajectory's speed that is used: below 1 where servos are too weak for
    /// it, or joints too near to the end of their range.
    #[must_use]
    pub fn slowed(&self) -> f64 {
        self.slowed
    }

    /// Where the plan wants the arm at the next tick that is decided.
    #[must_use]
    pub fn wanted(&self) -> Moment {
        self.trajectory.sample(self.memory.ticks as f64 * self.tick_s)
    }

    /// Goes on with the memory that a snapshot has.
    ///
    /// # Errors
    /// When the snapshot holds the memory of another plan.
    pub fn load(&mut self, fields: &BTreeMap<String, Vec<f64>>) -> Result<(), PlanError> {
        let (joints, duration_s) = (self.names.len(), self.trajectory.duration_s());
        self.memory = Memory::load(fields, joints, duration_s)?;
        Ok(())
    }

    /// Slows the motion down until its targets stay within the joints' ranges and its torques
    /// within the servos'. What weight alone needs cannot be helped.
    fn slow_down(&mut self) {
        let full = self.trajectory.clone();
        let [overrun_rad, torque] = self.strain(&full, 0.0);
        let overrun_rad = overrun_rad + self.settings.overrun_rad;
        let torque = self.settings.torque_fraction.max(torque + 0.01);
        let mut fraction = 1.0;
        while fraction > LEAST_FRACTION {
            let strain = self.strain(&full, fraction);
            if strain[0] <= overrun_rad && strain[1] <= torque {
                break;
            }
            fraction *= SLOWER;
        }
        if fraction < 1.0 {
            self.trajectory = full.slowed(fraction);
        }
        self.slowed = fraction;
    }

    /// How far targets go beyond ranges, and which fraction of a servo's torque is needed, when a
    /// motion is followed at a fraction of its speed.
    fn strain(&mut self, full: &Trajectory, fraction: f64) -> [f64; 2] {
        let mut most = [0.0_f64; 2];
        let Some(feedforward) = &mut self.feedforward else { return most };
        let rest = vec![0.0; self.names.len()];
        for mut moment in full.moments(LOOK_HZ.max(1.0 / self.tick_s)) {
            moment.velocities.iter_mut().for_each(|v| *v *= fraction);
            moment.accelerations.iter_mut().for_each(|a| *a *= fraction * fraction);
            let loads = feedforward.loads(&moment, &rest);
            for ((load, position), range) in loads.zip(&moment.positions).zip(&self.ranges) {
                let target = position + load.ahead_rad;
                if let Some([low, high]) = range {
                    most[0] = most[0].max(low - target).max(target - high);
                }
                most[1] = most[1].max(load.torque_nm.abs() / load.most_nm);
            }
        }
        most
    }

    /// Targets of the arm's joints that make it follow a moment. `all` has the positions of the
    /// joints that are not the arm's.
    fn fed_forward(&mut self, moment: &Moment, all: &[f64]) -> Vec<f64> {
        let mut targets = moment.positions.clone();
        if let Some(feedforward) = &mut self.feedforward {
            for (target, load) in targets.iter_mut().zip(feedforward.loads(moment, all)) {
                *target += load.ahead_rad;
            }
        }
        targets
    }

    fn send(&mut self, moment: &Moment, seen: &Observation, targets: &mut [f64]) {
        let sent = self.fed_forward(moment, &seen.joint_pos);
        for ((target, sent), range) in targets.iter_mut().zip(sent).zip(&self.ranges) {
            *target = range.map_or(sent, |[low, high]| sent.clamp(low, high));
        }
    }

    /// The joint that is farthest from where it should be, and how far.
    fn worst(&self, seen: &Observation, wanted: &[f64]) -> (usize, f64) {
        let off = wanted.iter().zip(&seen.joint_pos).map(|(w, s)| (w - s).abs()).enumerate();
        off.fold((0, 0.0), |worst, this| if this.1 > worst.1 { this } else { worst })
    }

    fn check(&self, seen: &Observation, targets: &[f64]) -> Result<(), BoxError> {
        let joints = self.names.len();
        let found = [seen.joint_pos.len(), seen.joint_vel.len(), targets.len()];
        if found.iter().any(|n| *n != joints) {
            return Err(format!("the plan is for {joints} joints, the rig has {found:?}").into());
        }
        for ((name, position), speed) in self.names.iter().zip(&seen.joint_pos).zip(&seen.joint_vel)
        {
            if !(position.is_finite() && speed.is_finite()) {
                return Err(format!("{name} is at {position} with {speed}: no numbers").into());
            }
        }
        Ok(())
    }

    fn begin(&mut self, seen: &Observation, events: &mut Vec<Event>) -> Result<(), BoxError> {
        let start = self.trajectory.sample(0.0).positions;
        let (joint, off_rad) = self.worst(seen, &start);
        if off_rad > self.settings.start_tolerance_rad {
            return Err(format!(
                "the arm is not where the plan starts: {} is at {:.4} rad, {:.4} is right to \
                 within {:.4}; plan again from where it is",
                self.names[joint],
                seen.joint_pos[joint],
                start[joint],
                self.settings.start_tolerance_rad
            )
            .into());
        }
        self.memory.phase = Phase::Moving;
        let (duration_s, slowed) = (self.trajectory.duration_s(), self.slowed);
        events.push(Event::Plan(PlanEvent::Move { duration_s, slowed }));
        Ok(())
    }

    /// Whether a joint has been too far from the plan for too long.
    fn is_lost(&mut self, off_rad: f64) -> bool {
        let is_off = off_rad > self.settings.tracking_limit_rad;
        self.memory.ticks_off = if is_off { self.memory.ticks_off + 1 } else { 0 };
        self.memory.ticks_off as f64 * self.tick_s > self.settings.tracking_grace_s
    }

    fn hold(&mut self, seen: &Observation, targets: &mut [f64]) {
        let arm = self.trajectory.joints();
        let positions = self.memory.held.iter().take(arm).copied().collect();
        let still = || vec![0.0; arm];
        let moment = Moment {
            time_s: 0.0,
            positions,
            velocities: still(),
            accelerations: still(),
            jerks: still(),
        };
        self.send(&moment, seen, targets);
    }
}

impl Pilot for PlanPilot {
    fn name(&self) -> &str {
        "plan"
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let targets = command.pos.as_mut_slice();
        self.check(seen, targets)?;
        let arm = self.trajectory.joints();
        let speed = seen.joint_vel.iter().take(arm).map(|v| v.abs()).fold(0.0, f64::max);
        let is_still = speed <= self.settings.still_rad_s;
        let ended = |success, reason: &str| {
            Ok(Verdict::Done(Outcome { success: Some(success), reason: reason.to_owned() }))
        };
        if self.memory.phase == Phase::Waiting {
            self.begin(seen, events)?;
        }
        let time_s = self.memory.ticks as f64 * self.tick_s;
        self.memory.ticks += 1;
        if self.memory.phase == Phase::Stopped {
            let is_over = time_s > self.memory.stopped_s + self.settings.settle_s;
            // The hold must have been carried out once before the episode may end.
            if is_over || (is_still && time_s > self.memory.stopped_s + self.tick_s) {
                return ended(false, "not_following");
            }
            self.hold(seen, targets);
            return Ok(Verdict::Go);
        }
        let (joint, off_rad) = self.worst(seen, &self.trajectory.sample(time_s).positions);
        if self.is_lost(off_rad) {
            let (joint, reason) = (self.names[joint].clone(), "the arm does not follow".to_owned());
            events.push(Event::Plan(PlanEvent::Stop { joint, off_rad, reason }));
            self.memory.phase = Phase::Stopped;
            self.memory.stopped_s = time_s;
            self.memory.held.clone_from(&seen.joint_pos);
            self.hold(seen, targets);
            return Ok(Verdict::Go);
        }
        if time_s >= self.trajectory.duration_s() {
            let is_there = off_rad <= self.settings.goal_tolerance_rad;
            if is_there && is_still {
                return ended(true, "reached");
            }
            if time_s > self.trajectory.duration_s() + self.settings.settle_s {
                return ended(false, "not_reached");
            }
        }
        // A target is held for a tick: the middle of the tick is the best of it.
        let moment = self.trajectory.sample(time_s + 0.5 * self.tick_s);
        self.send(&moment, seen, targets);
        Ok(Verdict::Go)
    }

    fn load(&mut self, memory: &citrange_core::Memory) -> Result<(), BoxError> {
        if memory::is_in(memory) {
            Self::load(self, memory)?;
        }
        Ok(())
    }

    fn save(&self, fields: &mut BTreeMap<String, Vec<f64>>) {
        self.memory.save(self.trajectory.duration_s(), fields);
    }
}
