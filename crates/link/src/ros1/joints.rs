//! Joint states in, by name, into the order of our chain; what is not a number, missing or from
//! another time is told apart.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use citrange_robot::Chain;
use citrange_ros::message::{JointState, Time};

use crate::device::JointReading;

/// A stamp that moves so much against our clock is a jump.
const JUMP_S: f64 = 1.0;
/// A joint that was not heard for so long is missing.
const MISSING: Duration = Duration::from_millis(100);
/// How much of the newest difference of positions a velocity takes over, where none is told.
const FRESH: f64 = 0.3;
/// How fast the way of the network may get longer without being taken for the clock, s/s.
const DRIFT: f64 = 1e-3;

/// What was wrong with joint states so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JointCounts {
    /// Messages.
    pub messages: u64,
    /// Positions that were no number: those samples are left out.
    pub not_numbers: u64,
    /// Messages with fewer positions than names.
    pub too_short: u64,
    /// Stamps that leapt by more than a second, forth or back: data is judged by when it came.
    pub clock_jumps: u64,
}

/// The newest joints.
#[derive(Debug)]
pub struct Joints {
    /// Our joints by the robot's names for them.
    order: BTreeMap<String, usize>,
    names: Vec<String>,
    reading: JointReading,
    heard: Vec<Option<Instant>>,
    counts: JointCounts,
    /// Wall clock less stamp, at its least: the driver's clock.
    behind_s: Option<(f64, Instant)>,
}

impl Joints {
    /// Of a chain, whose joints the robot has other names for, with a prefix before them.
    #[must_use]
    pub fn new(chain: &Chain, prefix: &str, joint_names: &BTreeMap<String, String>) -> Self {
        let theirs = |name: &String| {
            let other = joint_names.get(name).unwrap_or(name);
            format!("{prefix}{other}")
        };
        let names: Vec<String> = chain.joints.iter().map(|joint| theirs(&joint.name)).collect();
        Self {
            order: names.iter().enumerate().map(|(j, name)| (name.clone(), j)).collect(),
            reading: JointReading::new(names.len()),
            heard: vec![None; names.len()],
            names,
            counts: JointCounts::default(),
            behind_s: None,
        }
    }

    /// The robot's names for our joints.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What was wrong so far.
    #[must_use]
    pub fn counts(&self) -> JointCounts {
        self.counts
    }

    /// Joints that were never heard.
    #[must_use]
    pub fn unheard(&self) -> Vec<&str> {
        let all = self.names.iter().zip(&self.heard);
        all.filter(|(_, heard)| heard.is_none()).map(|(name, _)| name.as_str()).collect()
    }

    /// Takes a message that came now.
    pub fn take(&mut self, state: &JointState, at: Instant) {
        self.counts.messages += 1;
        self.clock(state.header.stamp, at);
        if state.position.len() < state.name.len() {
            self.counts.too_short += 1;
            return;
        }
        for (i, (name, pos)) in state.name.iter().zip(&state.position).enumerate() {
            let Some(j) = self.order.get(name).copied() else { continue };
            if !pos.is_finite() {
                self.counts.not_numbers += 1;
                continue;
            }
            let passed = self.heard[j].map(|last| at.saturating_duration_since(last).as_secs_f64());
            let moved = pos - self.reading.pos[j];
            let told = state.velocity.get(i).copied().filter(|vel| vel.is_finite());
            self.reading.vel[j] = match (told, passed) {
                (Some(told), _) => told,
                // Two messages that came at once say nothing about speed.
                (None, Some(passed)) if passed > 1e-4 => {
                    self.reading.vel[j] + FRESH * (moved / passed - self.reading.vel[j])
                }
                _ => self.reading.vel[j],
            };
            let effort = state.effort.get(i).copied().filter(|effort| effort.is_finite());
            self.reading.effort[j] = effort.unwrap_or(0.0);
            self.reading.pos[j] = *pos;
            self.heard[j] = Some(at);
        }
        if let Some(oldest) = self.heard.iter().copied().collect::<Option<Vec<Instant>>>() {
            self.reading.at = oldest.into_iter().min().unwrap_or(at);
        }
    }

    fn clock(&mut self, stamp: Time, at: Instant) {
        if stamp == Time::default() {
            return;
        }
        let behind = wall_s() - stamp.ns() as f64 * 1e-9;
        let (least, since) = *self.behind_s.get_or_insert((behind, at));
        let leapt = (behind - least).abs() > JUMP_S;
        self.counts.clock_jumps += u64::from(leapt);
        let drifted = least + DRIFT * at.saturating_duration_since(since).as_secs_f64();
        self.behind_s = Some((if leapt { behind } else { behind.min(drifted) }, at));
    }

    /// The driver's clock at a moment of ours; none where its stamps say nothing.
    #[must_use]
    pub fn driver_time(&self, at: Instant) -> Option<Time> {
        let (behind, _) = self.behind_s?;
        let ahead = at.saturating_duration_since(Instant::now()).as_secs_f64();
        let seconds = wall_s() + ahead - behind;
        (seconds > 0.0).then(|| Time::from_ns((seconds * 1e9) as u64))
    }

    /// The newest of all joints; those that were not heard lately are marked.
    pub fn read(&self, now: Instant, reading: &mut JointReading) {
        reading.clone_from(&self.reading);
        for (missing, heard) in reading.is_missing.iter_mut().zip(&self.heard) {
            *missing = heard.is_none_or(|at| now.saturating_duration_since(at) > MISSING);
        }
    }
}

fn wall_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use citrange_robot::Robot;

    use super::*;

    fn joints(prefix: &str) -> Joints {
        Joints::new(Robot::load("ur5e").unwrap().chain(), prefix, &BTreeMap::new())
    }

    fn state(names: &[&str], position: &[f64]) -> JointState {
        let name = names.iter().map(|name| (*name).to_owned()).collect();
        JointState { name, position: position.to_vec(), ..JointState::default() }
    }

    const ALPHABETICAL: [&str; 6] = [
        "elbow_joint",
        "shoulder_lift_joint",
        "shoulder_pan_joint",
        "wrist_1_joint",
        "wrist_2_joint",
        "wrist_3_joint",
    ];

    fn read(joints: &Joints) -> JointReading {
        let mut reading = JointReading::new(6);
        joints.read(Instant::now(), &mut reading);
        reading
    }

    #[test]
    fn names_decide_and_missing_ones_are_named() {
        let mut joints = joints("");
        joints.take(&state(&ALPHABETICAL[1..], &[1.0, 2.0, 3.0, 4.0, 5.0]), Instant::now());
        assert_eq!(joints.unheard(), ["elbow_joint"]);
        // Another publisher has the rest, and one that is none of ours.
        joints.take(&state(&["finger", "elbow_joint"], &[9.0, 0.5]), Instant::now());
        assert!(joints.unheard().is_empty());
        assert_eq!(read(&joints).pos, [2.0, 1.0, 0.5, 3.0, 4.0, 5.0]);
        assert_eq!(read(&joints).is_missing, [false; 6]);
    }

    #[test]
    fn prefixes_are_the_robots() {
        let mut joints = joints("ur_");
        joints.take(&state(&ALPHABETICAL, &[0.0; 6]), Instant::now());
        assert_eq!(joints.unheard().len(), 6);
        joints.take(&state(&["ur_elbow_joint"], &[0.7]), Instant::now());
        assert_eq!(read(&joints).pos[2], 0.7);
    }

    #[test]
    fn what_is_no_position_is_left_out_and_unknown_speeds_are_measured() {
        let (mut joints, now) = (joints(""), Instant::now());
        let mut broken = state(&ALPHABETICAL, &[0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0]);
        joints.take(&broken, now);
        assert_eq!((joints.counts().not_numbers, joints.unheard()), (1, vec!["wrist_1_joint"]));
        for step in 1_u32..100 {
            broken.position = vec![f64::from(step) * 0.008; 6];
            broken.velocity = vec![f64::NAN; 6];
            joints.take(&broken, now + step * Duration::from_millis(8));
        }
        let vel = read(&joints).vel[0];
        assert!((vel - 1.0).abs() < 1e-6, "{vel} rad/s");
        broken.position.pop();
        joints.take(&broken, now + Duration::from_secs(1));
        assert_eq!(joints.counts().too_short, 1);
    }

    #[test]
    fn stamps_that_leap_are_counted_and_the_drivers_clock_is_known() {
        let mut joints = joints("");
        let mut stamped = state(&ALPHABETICAL, &[0.0; 6]);
        let mut at = |ahead_s: f64| {
            stamped.header.stamp = Time::from_ns(((wall_s() + ahead_s) * 1e9) as u64);
            joints.take(&stamped, Instant::now());
            let now = joints.driver_time(Instant::now()).unwrap().ns() as f64 * 1e-9;
            assert!((now - wall_s() - ahead_s).abs() < 0.05, "{now}");
            joints.counts().clock_jumps
        };
        assert_eq!([at(0.0), at(0.0), at(10.0), at(10.0), at(-10.0)], [0, 0, 1, 1, 2]);
    }
}
