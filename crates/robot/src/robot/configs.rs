//! Many joint vectors side by side, laid out for vector instructions.

use crate::error::RobotError;
use citrange_lanes::{LANES, Lanes};

/// Joint vectors of many configurations, in blocks of 16: within a block, first joint 0 of all
/// 16, then joint 1, and so on.
#[derive(Clone, Debug)]
pub struct Configs {
    joints: usize,
    count: usize,
    blocks: Vec<Lanes>,
}

impl Configs {
    /// Room for configurations of `joints` joints; none yet.
    ///
    /// # Errors
    /// When there are no joints.
    pub fn new(joints: usize) -> Result<Self, RobotError> {
        if joints == 0 {
            return Err(RobotError::bad("configurations", "a robot has one joint or more"));
        }
        Ok(Self { joints, count: 0, blocks: Vec::new() })
    }

    /// Forgets all configurations and keeps their memory.
    pub fn clear(&mut self) {
        self.count = 0;
        self.blocks.clear();
    }

    /// Adds a configuration.
    ///
    /// # Errors
    /// When it has too few or too many joints, or one is no number or beyond 10,000. Nothing
    /// changes then.
    pub fn push(&mut self, positions: &[f64]) -> Result<(), RobotError> {
        if positions.len() != self.joints {
            let reason = format!("{} positions for {} joints", positions.len(), self.joints);
            return Err(RobotError::bad("configuration", reason));
        }
        // Turns beyond this lose the accuracy of sine and cosine.
        if let Some(joint) = positions.iter().position(|p| p.is_nan() || p.abs() > 1e4) {
            let reason = format!("joint {joint} is at {}", positions[joint]);
            return Err(RobotError::bad("configuration", reason));
        }
        let lane = self.count % LANES;
        if lane == 0 {
            self.blocks.resize(self.blocks.len() + self.joints, Lanes::splat(0.0));
        }
        let first = self.blocks.len() - self.joints;
        for (block, position) in self.blocks[first..].iter_mut().zip(positions) {
            block.0[lane] = *position as f32;
        }
        self.count += 1;
        Ok(())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Joints of each.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.joints
    }

    /// Position of a joint in a configuration, as it is kept.
    #[must_use]
    pub fn get(&self, config: usize, joint: usize) -> Option<f32> {
        let is_there = config < self.count && joint < self.joints;
        is_there.then(|| self.blocks[config / LANES * self.joints + joint].0[config % LANES])
    }

    /// Blocks of up to 16 configurations: one lane per configuration, one vector per joint.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = &[Lanes]> {
        self.blocks.chunks_exact(self.joints)
    }

    /// Whether there is room for one answer to each.
    ///
    /// # Errors
    /// When there is not.
    pub fn check_room(&self, answers: usize) -> Result<(), RobotError> {
        if self.len() == answers {
            return Ok(());
        }
        let reason = format!("room for {answers} answers to {} configurations", self.len());
        Err(RobotError::bad("configurations", reason))
    }
}
