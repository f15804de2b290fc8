//! The arm as it is measured: joints by time, how old they are, what is wrong with them.

use citrange_core::Observation;
use citrange_robot::JointHistory;

use crate::cause::Cause;
use crate::error::TwinError;

/// Joint positions that are kept: more than a second of 500 Hz.
const KEPT: usize = 1024;
/// A picture may be this much newer than the newest joints.
const AHEAD_NS: u64 = 50_000_000;
/// A time of joints that is this far off what the clock says is a jump.
const JUMP_S: f64 = 1.0;
/// What joints may be off their own speed besides, rad: more in one sample is a jump.
const JUMP_RAD: f64 = 0.1;

/// The measured arm.
#[derive(Clone, Debug)]
pub struct Mirror {
    names: Vec<String>,
    /// Largest speed of each joint.
    fastest_rad_s: Vec<f64>,
    history: JointHistory,
    pos: Vec<f64>,
    vel: Vec<f64>,
    /// When the newest good joints were measured, and when they came in.
    stamp_ns: Option<u64>,
    came_ns: u64,
    /// What was wrong with the newest look, and samples thrown away.
    wrong: Option<Cause>,
    dropped: u64,
    samples: u64,
}

impl Mirror {
    /// For these joints.
    ///
    /// # Errors
    /// When there are none.
    pub fn new(names: Vec<String>, fastest_rad_s: Vec<f64>) -> Result<Self, TwinError> {
        Ok(Self {
            history: JointHistory::new(names.len(), KEPT, AHEAD_NS)?,
            names,
            fastest_rad_s,
            pos: Vec::new(),
            vel: Vec::new(),
            stamp_ns: None,
            came_ns: 0,
            wrong: None,
            dropped: 0,
            samples: 0,
        })
    }

    /// Takes in what is seen at a tick.
    pub fn take(&mut self, seen: &Observation) {
        self.wrong = None;
        let stamp_ns = seen.joints_at_ns;
        if self.stamp_ns == Some(stamp_ns) && self.samples > 0 {
            return;
        }
        if let Err(wrong) = self.check(seen) {
            self.dropped += 1;
            self.wrong = Some(wrong);
            return;
        }
        self.samples += 1;
        self.pos.clone_from(&seen.joint_pos);
        self.vel.clone_from(&seen.joint_vel);
        (self.stamp_ns, self.came_ns) = (Some(stamp_ns), seen.at_ns);
        if self.history.push(stamp_ns, &self.pos).is_err() {
            self.dropped += 1;
        }
    }

    fn check(&self, seen: &Observation) -> Result<(), Cause> {
        let wrong = |what: String| Err(Cause::JointsWrong { what });
        let (found, needed) = (seen.joint_pos.len(), self.names.len());
        if found != needed {
            return wrong(format!("{found} joints came in, {needed} are right"));
        }
        for (name, position) in self.names.iter().zip(&seen.joint_pos) {
            if !position.is_finite() {
                return wrong(format!("{name} is at {position}, which is no number"));
            }
        }
        let Some(before_ns) = self.stamp_ns else { return Ok(()) };
        let stamp_ns = seen.joints_at_ns;
        let ahead_s = (stamp_ns as f64 - seen.at_ns as f64) * 1e-9;
        if stamp_ns < before_ns || ahead_s > JUMP_S {
            let jump_s = if ahead_s > JUMP_S {
                ahead_s
            } else {
                (stamp_ns as f64 - before_ns as f64) * 1e-9
            };
            return Err(Cause::ClockJump { jump_s });
        }
        let passed_s = (stamp_ns - before_ns) as f64 * 1e-9;
        for joint in 0..needed {
            let moved_rad = (seen.joint_pos[joint] - self.pos[joint]).abs();
            if moved_rad > JUMP_RAD + 1.2 * self.fastest_rad_s[joint] * passed_s {
                let (name, ms) = (&self.names[joint], 1e3 * passed_s);
                return wrong(format!("{name} jumped by {moved_rad:.3} rad within {ms:.0} ms"));
            }
        }
        Ok(())
    }

    /// What was wrong with the joints of the newest look.
    #[must_use]
    pub fn wrong(&self) -> Option<&Cause> {
        self.wrong.as_ref()
    }

    /// Joint positions; empty before the first.
    #[must_use]
    pub fn pos(&self) -> &[f64] {
        &self.pos
    }

    /// Joint velocities.
    #[must_use]
    pub fn vel(&self) -> &[f64] {
        &self.vel
    }

    /// Names of the joints.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Since when no good joints came in.
    #[must_use]
    pub fn age_s(&self, now_ns: u64) -> f64 {
        match self.stamp_ns {
            Some(_) => now_ns.saturating_sub(self.came_ns) as f64 * 1e-9,
            None => f64::INFINITY,
        }
    }

    /// How late the newest joints came in.
    #[must_use]
    pub fn delay_s(&self) -> f64 {
        self.stamp_ns.map_or(0.0, |stamp| self.came_ns.saturating_sub(stamp) as f64 * 1e-9)
    }

    /// The fastest joint's speed.
    #[must_use]
    pub fn speed_rad_s(&self) -> f64 {
        self.vel.iter().map(|v| v.abs()).fold(0.0, f64::max)
    }

    /// Where the joints were at a time.
    #[must_use]
    pub fn history(&self) -> &JointHistory {
        &self.history
    }

    /// Samples taken in, and thrown away.
    #[must_use]
    pub fn counts(&self) -> [u64; 2] {
        [self.samples, self.dropped]
    }

    /// The arm has been moved by a person or another program while nobody looked: what comes next
    /// is no jump.
    pub fn forget(&mut self) {
        self.stamp_ns = None;
        self.samples = 0;
        // Of as many joints as before: it cannot fail.
        if let Ok(history) = JointHistory::new(self.names.len(), KEPT, AHEAD_NS) {
            self.history = history;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(at_ns: u64, joints_at_ns: u64, pos: &[f64]) -> Observation {
        Observation {
            at_ns,
            joints_at_ns,
            joint_pos: pos.to_vec(),
            joint_vel: vec![0.0; pos.len()],
            ..Observation::default()
        }
    }

    #[test]
    fn jumps_gaps_and_no_numbers_are_named_and_not_taken() {
        let names = ["pan", "lift"].map(str::to_owned).to_vec();
        let mut mirror = Mirror::new(names, vec![3.0; 2]).unwrap();
        assert_eq!(mirror.age_s(0), f64::INFINITY);
        mirror.take(&look(8_000_000, 8_000_000, &[0.0, 1.0]));
        mirror.take(&look(16_000_000, 16_000_000, &[0.01, 1.0]));
        assert_eq!((mirror.wrong(), mirror.counts()), (None, [2, 0]));
        mirror.take(&look(24_000_000, 24_000_000, &[0.6, 1.0]));
        assert!(mirror.wrong().unwrap().words().contains("pan jumped"));
        mirror.take(&look(32_000_000, 32_000_000, &[0.02, f64::NAN]));
        assert!(mirror.wrong().unwrap().words().contains("lift"));
        mirror.take(&look(40_000_000, 39_000_000, &[0.02]));
        assert!(mirror.wrong().unwrap().words().contains("1 joints"));
        mirror.take(&look(48_000_000, 2_000_000, &[0.02, 1.0]));
        assert!(matches!(mirror.wrong(), Some(Cause::ClockJump { jump_s }) if *jump_s < 0.0));
        mirror.take(&look(56_000_000, 9_000_000_000, &[0.02, 1.0]));
        assert!(matches!(mirror.wrong(), Some(Cause::ClockJump { jump_s }) if *jump_s > 8.0));
        assert_eq!(mirror.pos(), [0.01, 1.0]);
        assert!((mirror.age_s(56_000_000) - 0.04).abs() < 1e-9);
        // The same sample again is no new one.
        mirror.take(&look(64_000_000, 16_000_000, &[0.01, 1.0]));
        assert_eq!((mirror.wrong(), mirror.counts()[0]), (None, 2));
    }
}
