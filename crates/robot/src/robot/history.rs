//! Where the joints were when a picture was taken.

use crate::error::RobotError;

/// The newest joint positions with their times. Pictures arrive late: the robot must be taken
/// out of a picture where it was then, not where it is now.
#[derive(Clone, Debug)]
pub struct JointHistory {
    joints: usize,
    capacity: usize,
    ahead_ns: u64,
    stamps_ns: Vec<u64>,
    positions: Vec<f64>,
    oldest: usize,
}

impl JointHistory {
    /// Keeps the newest `capacity` positions of `joints` joints. A picture may be up to
    /// `ahead_ns` newer than the newest positions, which then stand for it.
    ///
    /// # Errors
    /// When there are no joints, or room for less than two positions.
    pub fn new(joints: usize, capacity: usize, ahead_ns: u64) -> Result<Self, RobotError> {
        if joints == 0 || capacity < 2 {
            let reason = format!("{joints} joints kept {capacity} times; needs 1 and 2 or more");
            return Err(RobotError::setting("joint history", reason));
        }
        let (stamps_ns, positions) = (Vec::with_capacity(capacity), Vec::new());
        let mut made = Self { joints, capacity, ahead_ns, stamps_ns, positions, oldest: 0 };
        made.positions.reserve_exact(capacity * joints);
        Ok(made)
    }

    /// How many positions are kept now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stamps_ns.len()
    }

    /// Whether nothing was added yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stamps_ns.is_empty()
    }

    /// Adds positions. The oldest are forgotten when there is no room.
    ///
    /// # Errors
    /// When there are too many or too few, one is no number, or the time is not after the last.
    /// Nothing changes then.
    pub fn push(&mut self, stamp_ns: u64, positions: &[f64]) -> Result<(), RobotError> {
        if positions.len() != self.joints {
            let reason = format!("{} positions for {} joints", positions.len(), self.joints);
            return Err(RobotError::bad("joint positions", reason));
        }
        if let Some(joint) = positions.iter().position(|p| !p.is_finite()) {
            let reason = format!("joint {joint} is at {}, not a number", positions[joint]);
            return Err(RobotError::bad("joint positions", reason));
        }
        if let Some(newest_ns) = self.newest_ns().filter(|newest| stamp_ns <= *newest) {
            let reason = format!("stamped {stamp_ns} ns, not after the last, {newest_ns} ns");
            return Err(RobotError::bad("joint positions", reason));
        }
        if self.len() < self.capacity {
            self.stamps_ns.push(stamp_ns);
            self.positions.extend_from_slice(positions);
        } else {
            let at = self.oldest;
            self.stamps_ns[at] = stamp_ns;
            self.positions[at * self.joints..(at + 1) * self.joints].copy_from_slice(positions);
            self.oldest = (at + 1) % self.capacity;
        }
        Ok(())
    }

    /// Time of the newest positions.
    #[must_use]
    pub fn newest_ns(&self) -> Option<u64> {
        self.len().checked_sub(1).map(|last| self.stamps_ns[self.slot(last)])
    }

    /// Joint positions at a time, on the straight line between the two kept around it.
    ///
    /// # Errors
    /// When the time is before the oldest kept, or too far after the newest.
    pub fn at(&self, stamp_ns: u64, positions: &mut [f64]) -> Result<(), RobotError> {
        let fail = |reason: String| Err(RobotError::bad("joint history", reason));
        if positions.len() != self.joints {
            return fail(format!("room for {} of {} joints", positions.len(), self.joints));
        }
        let Some(newest_ns) = self.newest_ns() else {
            return fail(format!("asked for {stamp_ns} ns, nothing was added yet"));
        };
        let oldest_ns = self.stamps_ns[self.slot(0)];
        if stamp_ns < oldest_ns {
            return fail(format!(
                "asked for {stamp_ns} ns, the oldest kept is {oldest_ns} ns: keep more positions"
            ));
        }
        if stamp_ns.saturating_sub(newest_ns) > self.ahead_ns {
            return fail(format!(
                "asked for {stamp_ns} ns, the newest is {newest_ns} ns, more than {} ns older: \
                 is the robot still sending?",
                self.ahead_ns
            ));
        }
        // The first that is not before the time; the newest where all are.
        let (mut low, mut high) = (0, self.len() - 1);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.stamps_ns[self.slot(middle)] < stamp_ns {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let (after_ns, after) = self.row(low);
        if stamp_ns >= after_ns || low == 0 {
            positions.copy_from_slice(after);
            return Ok(());
        }
        let (before_ns, before) = self.row(low - 1);
        let part = (stamp_ns - before_ns) as f64 / (after_ns - before_ns) as f64;
        for (joint, position) in positions.iter_mut().enumerate() {
            *position = before[joint] + (after[joint] - before[joint]) * part;
        }
        Ok(())
    }

    /// Place of the `age`-th oldest.
    fn slot(&self, age: usize) -> usize {
        (self.oldest + age) % self.capacity
    }

    fn row(&self, age: usize) -> (u64, &[f64]) {
        let at = self.slot(age);
        (self.stamps_ns[at], &self.positions[at * self.joints..(at + 1) * self.joints])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(history: &JointHistory, stamp_ns: u64) -> Result<f64, RobotError> {
        let mut out = [0.0];
        history.at(stamp_ns, &mut out).map(|()| out[0])
    }

    #[test]
    fn positions_between_are_on_the_line_and_old_ones_are_forgotten() {
        let mut history = JointHistory::new(1, 4, 50).unwrap();
        assert!(at(&history, 0).is_err());
        for step in 0..10_u64 {
            history.push(step * 100, &[(step * step) as f64]).unwrap();
            assert_eq!(history.len(), (step as usize + 1).min(4));
        }
        // Kept: 600, 700, 800, 900.
        assert_eq!(at(&history, 600).unwrap(), 36.0);
        assert_eq!(at(&history, 725).unwrap(), 49.0 + 15.0 / 4.0);
        assert_eq!(at(&history, 900).unwrap(), 81.0);
        assert_eq!(at(&history, 950).unwrap(), 81.0);
        assert!(at(&history, 951).unwrap_err().to_string().contains("still sending"));
        assert!(at(&history, 599).unwrap_err().to_string().contains("oldest"));
    }

    #[test]
    fn bad_positions_change_nothing() {
        let mut history = JointHistory::new(2, 3, 0).unwrap();
        history.push(10, &[1.0, 2.0]).unwrap();
        assert!(history.push(9, &[0.0, 0.0]).is_err());
        assert!(history.push(10, &[0.0, 0.0]).is_err());
        assert!(history.push(11, &[0.0, f64::NAN]).is_err());
        assert!(history.push(11, &[0.0]).is_err());
        let mut out = [0.0; 2];
        history.at(10, &mut out).unwrap();
        assert_eq!((out, history.len()), ([1.0, 2.0], 1));
        assert!(history.at(10, &mut [0.0]).is_err());
        assert!(JointHistory::new(0, 3, 0).is_err());
        assert!(JointHistory::new(1, 1, 0).is_err());
    }
}
