//! What is sent to an arm, whoever asks: limits, watchdogs, and a state that people can read. One
//! gate for all links, called once per cycle; it knows no bus and no clock of its own.
//!
//! ```text
//! OFF ──engage──▶ EASING ──near the command──▶ FOLLOWING ──no command, old joints: brake──▶ HOLDING
//!                   ▲◀────────── at rest, and commands and joints are back ──────────────────┘
//!   any ── stop, lost joints, blocked joint ──▶ STOPPED ──engage──▶ EASING
//! ```

use std::time::Duration;

use citrange_control::{TargetLimiter, TargetMotion};
use citrange_core::Mode;
use citrange_robot::Chain;
use serde::{Deserialize, Serialize};

/// A gripper's joint that moved less than this …
const MOVED_RAD: f64 = 0.01;
/// … for so long is held up.
const HELD_UP: Duration = Duration::from_millis(150);

/// Limits of time and of what a joint may be off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SafetySettings {
    /// Age of the newest command after which the arm brakes and holds.
    pub command_timeout_s: f64,
    /// Age of the newest joints after which it brakes and holds.
    pub stale_s: f64,
    /// Age of the newest joints after which a person must start it again.
    pub lost_s: f64,
    /// How far a joint of the arm may be off its target, rad (m for slides), …
    pub blocked_rad: f64,
    /// … and for how long, before it counts as blocked, gives way and stops.
    pub blocked_s: f64,
    /// How far a gripper's target may be beyond where it is, rad (m for slides): what it holds
    /// blocks it, as it should, and this decides how hard it presses.
    pub press_rad: f64,
    /// Fraction of the joints' speed, acceleration and jerk while it eases in.
    pub ease_fraction: f64,
    /// It has eased in when every target is so near its command, rad (m for slides).
    pub eased_rad: f64,
}

impl Default for SafetySettings {
    fn default() -> Self {
        Self {
            command_timeout_s: 0.15,
            stale_s: 0.1,
            lost_s: 1.0,
            blocked_rad: 0.35,
            blocked_s: 0.5,
            press_rad: 0.25,
            ease_fraction: 0.2,
            eased_rad: 0.02,
        }
    }
}

/// Joint positions with the time since the link began at which they were measured or asked for.
#[derive(Clone, Copy, Debug)]
pub struct Timed<'a> {
    /// One per joint.
    pub pos: &'a [f64],
    /// When.
    pub at: Duration,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    /// Nothing was sent yet.
    Off,
    /// On its way to where the commands are, slowly.
    Easing,
    /// Commands are carried out, within the limits.
    Following,
    /// It brakes or stands, and goes on by itself when the reason is gone.
    Holding { why: String },
    /// It brakes or stands until a person starts it again.
    Stopped { why: String },
}

/// The gate of one arm.
#[derive(Clone, Debug)]
pub struct SafetyGate {
    names: Vec<String>,
    grippers: Vec<bool>,
    ranges: Vec<Option<[f64; 2]>>,
    full: TargetLimiter,
    slow: TargetLimiter,
    settings: SafetySettings,
    motion: TargetMotion,
    phase: Phase,
    has_torque: bool,
    /// Since when each joint is off its target.
    off_since: Vec<Option<Duration>>,
    /// Where each joint was when it last moved, and when that was.
    moved_from: Vec<f64>,
    moved_at: Vec<Duration>,
}

impl SafetyGate {
    /// For an arm whose targets are sent `cycle_hz` times a second.
    #[must_use]
    pub fn new(chain: &Chain, cycle_hz: u32, settings: SafetySettings) -> Self {
        let full = TargetLimiter::new(chain, cycle_hz);
        let mut eased = chain.clone();
        for (joint, limits) in eased.joints.iter_mut().zip(full.limits()) {
            joint.max_speed = Some(limits.speed * settings.ease_fraction);
            joint.max_acceleration = Some(limits.acceleration * settings.ease_fraction);
            joint.max_jerk = Some(limits.jerk * settings.ease_fraction);
        }
        let count = chain.joints.len();
        Self {
            names: chain.joints.iter().map(|joint| joint.name.clone()).collect(),
            grippers: chain.joints.iter().map(|joint| joint.gripper.is_some()).collect(),
            ranges: chain.joints.iter().map(|joint| joint.range).collect(),
            slow: TargetLimiter::new(&eased, cycle_hz),
            full,
            settings,
            motion: TargetMotion::at_rest(&vec![0.0; count]),
            phase: Phase::Off,
            has_torque: false,
            off_since: vec![None; count],
            moved_from: vec![f64::NAN; count],
            moved_at: vec![Duration::ZERO; count],
        }
    }

    /// Begins (again) from where the arm is: targets there, at rest. Also how a person releases a
    /// stop.
    pub fn engage(&mut self, measured: &[f64]) {
        self.motion = TargetMotion::at_rest(measured);
        self.phase = Phase::Easing;
        self.has_torque = true;
        self.off_since.fill(None);
    }

    /// Stops until it is engaged again; the first reason stays.
    pub fn stop(&mut self, why: impl Into<String>) {
        if !matches!(self.phase, Phase::Stopped { .. }) {
            self.phase = Phase::Stopped { why: why.into() };
        }
    }

    /// Whether commands are carried out, and if not, why.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match &self.phase {
            Phase::Off => Mode::Stopped { why: "the arm has no torque".to_owned() },
            Phase::Easing | Phase::Following => Mode::Ready,
            Phase::Holding { why } => Mode::Holding { why: why.clone() },
            Phase::Stopped { why } => Mode::Stopped { why: why.clone() },
        }
    }

    /// The targets in force.
    #[must_use]
    pub fn targets(&self) -> &[f64] {
        &self.motion.pos
    }

    /// Whether targets stand still.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.motion.is_at_rest()
    }

    /// One cycle: what may be sent now, given the newest joints and the newest command; nothing
    /// before it was engaged.
    pub fn step(
        &mut self,
        now: Duration,
        measured: Timed<'_>,
        command: Option<Timed<'_>>,
    ) -> Option<&[f64]> {
        if !self.has_torque {
            return None;
        }
        self.look(now, measured);
        if matches!(self.phase, Phase::Stopped { .. }) {
            self.full.brake(&mut self.motion);
            return Some(&self.motion.pos);
        }
        match self.why_not(now, measured, command) {
            // First at rest: what brakes as hard as it may is more than the slow limiter can take
            // back in time, and would run on.
            Ok(_) if matches!(self.phase, Phase::Holding { .. }) && !self.is_at_rest() => {
                self.full.brake(&mut self.motion);
            }
            Ok(wanted) => {
                if matches!(self.phase, Phase::Holding { .. }) {
                    self.phase = Phase::Easing;
                }
                self.follow(now, wanted, measured.pos);
            }
            Err(why) => {
                self.phase = Phase::Holding { why };
                self.full.brake(&mut self.motion);
            }
        }
        Some(&self.motion.pos)
    }

    /// What ends in a stop.
    fn look(&mut self, now: Duration, measured: Timed<'_>) {
        for (j, at) in measured.pos.iter().enumerate().take(self.names.len()) {
            // NaN is nowhere: the first place counts as a movement.
            if (at - self.moved_from[j]).abs() < MOVED_RAD {
                continue;
            }
            (self.moved_from[j], self.moved_at[j]) = (*at, now);
        }
        let age_s = now.saturating_sub(measured.at).as_secs_f64();
        if age_s > self.settings.lost_s {
            self.stop(format!("no joints were heard for {age_s:.1} s; start again when they are"));
            return;
        }
        let limit = self.settings.blocked_rad;
        for j in 0..self.names.len() {
            let off = self.motion.pos[j] - measured.pos.get(j).copied().unwrap_or(f64::NAN);
            // What is not a number is off, too.
            if off.abs() <= limit || self.grippers[j] {
                self.off_since[j] = None;
                continue;
            }
            let since = *self.off_since[j].get_or_insert(now);
            if now.saturating_sub(since).as_secs_f64() > self.settings.blocked_s {
                let why = format!(
                    "{} is {:.0} degrees off its target for {:.1} s: something blocks it",
                    self.names[j],
                    off.to_degrees(),
                    self.settings.blocked_s
                );
                self.give_way(measured, why);
                return;
            }
        }
    }

    /// Targets come to where the arm is: it presses no longer.
    fn give_way(&mut self, measured: Timed<'_>, why: String) {
        let is_real = measured.pos.iter().all(|pos| pos.is_finite());
        if is_real && measured.pos.len() == self.names.len() {
            self.motion = TargetMotion::at_rest(measured.pos);
        }
        self.off_since.fill(None);
        self.stop(why);
    }

    /// The command, or why there is none that could be carried out.
    fn why_not<'a>(
        &self,
        now: Duration,
        measured: Timed<'_>,
        command: Option<Timed<'a>>,
    ) -> Result<&'a [f64], String> {
        let old = |at: Duration| now.saturating_sub(at).as_secs_f64();
        let age_s = old(measured.at);
        if age_s > self.settings.stale_s {
            return Err(format!("the joints are {:.0} ms old", age_s * 1e3));
        }
        let command = command.ok_or("no command yet")?;
        if old(command.at) > self.settings.command_timeout_s {
            return Err(format!("no command for {:.0} ms", self.settings.command_timeout_s * 1e3));
        }
        if command.pos.len() != self.names.len() {
            return Err(format!("{} targets for {} joints", command.pos.len(), self.names.len()));
        }
        match command.pos.iter().position(|pos| !pos.is_finite()) {
            Some(j) => Err(format!("the target of {} is not a number", self.names[j])),
            None => Ok(command.pos),
        }
    }

    fn follow(&mut self, now: Duration, wanted: &[f64], measured: &[f64]) {
        let mut targets = wanted.to_vec();
        for (target, range) in targets.iter_mut().zip(&self.ranges) {
            *target = range.map_or(*target, |[low, high]| target.clamp(low, high));
        }
        let press = self.settings.press_rad;
        for j in (0..targets.len()).filter(|j| self.grippers[*j]) {
            // Only what is held up is held back. A limit around a jaw that moves would follow its
            // overshoot, and swing.
            let is_held_up = now.saturating_sub(self.moved_at[j]) > HELD_UP;
            if let Some(at) = measured.get(j).filter(|at| is_held_up && at.is_finite()) {
                targets[j] = targets[j].clamp(at - press, at + press);
            }
        }
        let wanted = targets.clone();
        if self.phase == Phase::Easing {
            self.slow.follow(&mut self.motion, &mut targets);
            let is_near =
                |(target, wanted): (&f64, &f64)| (target - wanted).abs() <= self.settings.eased_rad;
            if targets.iter().zip(&wanted).all(is_near) {
                self.phase = Phase::Following;
            }
        } else {
            self.full.follow(&mut self.motion, &mut targets);
        }
    }
}

#[cfg(test)]
mod tests {
    use citrange_robot::Robot;
    use proptest::prelude::*;

    use super::*;

    const HZ: u32 = 100;

    fn chain() -> Chain {
        Robot::load("so101").unwrap().chain().clone()
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// An arm that is where it was sent.
    fn step(gate: &mut SafetyGate, now: Duration, command: Option<(&[f64], Duration)>) -> Vec<f64> {
        let pos = gate.targets().to_vec();
        let command = command.map(|(pos, at)| Timed { pos, at });
        gate.step(now, Timed { pos: &pos, at: now }, command).unwrap().to_vec()
    }

    #[test]
    fn it_eases_in_and_then_follows() {
        let mut gate = SafetyGate::new(&chain(), HZ, SafetySettings::default());
        assert!(gate.step(ms(0), Timed { pos: &[0.0; 6], at: ms(0) }, None).is_none(), "off");
        gate.engage(&[0.0; 6]);
        let wanted = [0.5, 0.2, -0.3, 0.1, 0.0, 0.4];
        let mut last = vec![0.0; 6];
        let mut eased = 0.0_f64;
        for tick in 1..400 {
            let now = ms(10 * tick);
            let sent = step(&mut gate, now, Some((&wanted, now)));
            if gate.phase == Phase::Easing {
                eased = eased.max((sent[0] - last[0]).abs() * f64::from(HZ));
            }
            last = sent;
        }
        assert_eq!(gate.phase, Phase::Following);
        assert!(eased <= 4.71 * 0.2 + 1e-9 && eased > 0.1, "{eased} rad/s");
        assert!(last.iter().zip(&wanted).all(|(is, wanted)| (is - wanted).abs() < 1e-6));
    }

    #[test]
    fn silence_brakes_and_a_command_goes_on() {
        let mut gate = SafetyGate::new(&chain(), HZ, SafetySettings::default());
        gate.engage(&[0.0; 6]);
        let wanted = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        for tick in 1..50 {
            let now = ms(10 * tick);
            step(&mut gate, now, Some((&wanted, now)));
        }
        assert!(!gate.is_at_rest());
        for tick in 50..120 {
            step(&mut gate, ms(10 * tick), Some((&wanted, ms(490))));
        }
        let Mode::Holding { why } = gate.mode() else { panic!("{:?}", gate.mode()) };
        assert_eq!(why, "no command for 150 ms");
        assert!(gate.is_at_rest());
        step(&mut gate, ms(1210), Some((&wanted, ms(1210))));
        assert_eq!(gate.mode(), Mode::Ready);
    }

    #[test]
    fn old_joints_brake_and_lost_ones_stop_until_a_person_starts_again() {
        let mut gate = SafetyGate::new(&chain(), HZ, SafetySettings::default());
        gate.engage(&[0.0; 6]);
        let wanted = [0.3; 6];
        let see = |gate: &mut SafetyGate, now: u64, at: u64| {
            let pos = gate.targets().to_vec();
            let command = Timed { pos: &wanted, at: ms(now) };
            gate.step(ms(now), Timed { pos: &pos, at: ms(at) }, Some(command)).unwrap();
            gate.mode()
        };
        assert_eq!(see(&mut gate, 10, 10), Mode::Ready);
        assert!(matches!(see(&mut gate, 150, 10), Mode::Holding { .. }));
        // They are back: at rest first, then it goes on.
        let back = (160..400).step_by(10).map(|now| see(&mut gate, now, now));
        assert_eq!(back.last(), Some(Mode::Ready));
        let Mode::Stopped { why } = see(&mut gate, 1430, 390) else { panic!("{:?}", gate.mode()) };
        assert!(why.contains("1.0 s"), "{why}");
        assert!(matches!(see(&mut gate, 1440, 1440), Mode::Stopped { .. }), "not by itself");
        let at = gate.targets().to_vec();
        gate.engage(&at);
        assert_eq!(see(&mut gate, 1450, 1450), Mode::Ready);
    }

    #[test]
    fn a_blocked_joint_gives_way_and_is_named() {
        let mut gate = SafetyGate::new(&chain(), HZ, SafetySettings::default());
        gate.engage(&[0.0; 6]);
        let wanted = [0.0, 0.0, 0.9, 0.0, 0.0, 0.0];
        let mut stuck = [0.0; 6];
        for tick in 1..600 {
            let now = ms(10 * tick);
            stuck[2] = gate.targets()[2].min(0.1);
            let command = Some(Timed { pos: &wanted, at: now });
            gate.step(now, Timed { pos: &stuck, at: now }, command).unwrap();
        }
        let Mode::Stopped { why } = gate.mode() else { panic!("{:?}", gate.mode()) };
        assert!(why.contains("elbow_flex") && why.contains("blocks"), "{why}");
        assert!((gate.targets()[2] - 0.1).abs() < 1e-9, "it presses no longer");
    }

    #[test]
    fn a_gripper_presses_on_what_it_holds_so_far_and_no_further() {
        let mut gate = SafetyGate::new(&chain(), HZ, SafetySettings::default());
        gate.engage(&[0.0, 0.0, 0.0, 0.0, 0.0, 1.5]);
        let wanted = [0.0, 0.0, 0.0, 0.0, 0.0, -0.1];
        for tick in 1..500 {
            let now = ms(10 * tick);
            let mut seen = gate.targets().to_vec();
            seen[5] = seen[5].max(0.8);
            let command = Some(Timed { pos: &wanted, at: now });
            gate.step(now, Timed { pos: &seen, at: now }, command).unwrap();
        }
        assert_eq!(gate.mode(), Mode::Ready);
        assert!((gate.targets()[5] - 0.55).abs() < 1e-3, "{:?}", gate.targets());
    }

    /// A gripper that swings around its target by itself comes to rest all the same.
    #[test]
    fn a_gripper_that_overshoots_does_not_swing() {
        let mut gate = SafetyGate::new(&chain(), HZ, SafetySettings::default());
        gate.engage(&[0.0; 6]);
        let wanted = [0.0, 0.0, 0.0, 0.0, 0.0, 1.2];
        let (mut at, mut vel, mut late) = (0.0_f64, 0.0_f64, vec![0.0; 4]);
        let mut last = Vec::new();
        for tick in 1..600 {
            let now = ms(10 * tick);
            let seen = [0.0, 0.0, 0.0, 0.0, 0.0, at];
            let command = Some(Timed { pos: &wanted, at: now });
            let sent = gate.step(now, Timed { pos: &seen, at: now }, command).unwrap()[5];
            // A soft servo (3 Hz, little damping) that hears late.
            late.push(sent);
            let target = late.remove(0);
            for _ in 0..10 {
                vel += (350.0 * (target - at) - 12.0 * vel) * 0.001;
                at += vel * 0.001;
            }
            if tick > 400 {
                last.push(at);
            }
        }
        assert!(last.iter().all(|at| (at - 1.2).abs() < 0.01), "{last:?}");
    }

    #[test]
    fn what_is_no_number_is_not_sent() {
        let mut gate = SafetyGate::new(&chain(), HZ, SafetySettings::default());
        gate.engage(&[0.1; 6]);
        let wanted = [0.1, f64::NAN, 0.1, 0.1, 0.1, 0.1];
        assert_eq!(step(&mut gate, ms(10), Some((&wanted, ms(10)))), [0.1; 6]);
        let Mode::Holding { why } = gate.mode() else { panic!("{:?}", gate.mode()) };
        assert!(why.contains("shoulder_lift"), "{why}");
    }

    proptest! {
        /// Whatever is asked, measured, lost or stopped, from wherever the arm hangs: what is sent
        /// keeps the joints' limits. Only targets that come to where the arm is may jump: the arm
        /// does not move by that.
        #[test]
        fn limits_hold_for_all_that_is_sent(
            mut start in prop::collection::vec(-2.5..2.5_f64, 6),
            events in prop::collection::vec(
                (prop::collection::vec(-9.0..9.0_f64, 6), 0_u64..400, 0_u64..1200, 0..20), 20..200,
            ),
        ) {
            let chain = chain();
            // A gripper is never read outside of its range.
            start[5] = start[5].clamp(-0.17, 1.74);
            let mut gate = SafetyGate::new(&chain, HZ, SafetySettings::default());
            gate.engage(&start);
            let limits = gate.full.limits().to_vec();
            let (mut last, mut speed, mut acceleration) = (start.clone(), vec![0.0; 6], vec![0.0; 6]);
            let mut seen = start;
            let mut tick = 0;
            for (wanted, command_age, joints_age, what) in events {
                for _ in 0..5 {
                    tick += 1;
                    let now = ms(10 * tick);
                    if what == 0 {
                        gate.stop("a person");
                    }
                    if what == 1 {
                        gate.engage(&seen);
                    }
                    if what != 2 {
                        // Else the arm is blocked.
                        seen.clone_from(&last);
                    }
                    let command = Timed { pos: &wanted, at: now.saturating_sub(ms(command_age)) };
                    let measured = Timed { pos: &seen, at: now.saturating_sub(ms(joints_age)) };
                    let sent = gate.step(now, measured, Some(command)).unwrap().to_vec();
                    if sent == seen || what == 1 {
                        // Taken over where it is.
                        (last, speed, acceleration) = (sent, vec![0.0; 6], vec![0.0; 6]);
                        continue;
                    }
                    for (j, limits) in limits.iter().enumerate() {
                        let rate = (sent[j] - last[j]) * f64::from(HZ);
                        let change = (rate - speed[j]) * f64::from(HZ);
                        let jerk = (change - acceleration[j]) * f64::from(HZ);
                        prop_assert!(rate.abs() <= limits.speed * (1.0 + 1e-9), "{rate}");
                        prop_assert!(change.abs() <= limits.acceleration * (1.0 + 1e-6), "{change}");
                        prop_assert!(jerk.abs() <= limits.jerk * (1.0 + 1e-4), "{jerk}");
                        let [low, high] = chain.joints[j].range.unwrap();
                        let [low, high] = [low.min(last[j]), high.max(last[j])];
                        prop_assert!((low - 1e-9..=high + 1e-9).contains(&sent[j]), "joint {j} {} after {} speed {} phase {:?} wanted {} seen {}", sent[j], last[j], speed[j], gate.phase, wanted[j], seen[j]);
                        (speed[j], acceleration[j]) = (rate, change);
                    }
                    last = sent;
                }
            }
        }
    }
}
