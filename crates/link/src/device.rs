//! An arm as its own thread sees it: asked and told once per cycle.

use std::time::{Duration, Instant};

use crate::error::LinkError;
use crate::feetech::{BusCounts, Faults};

/// What an arm measured; one number per joint, in the order of its chain.
#[derive(Clone, Debug, PartialEq)]
pub struct JointReading {
    /// Radians (metres for slides).
    pub pos: Vec<f64>,
    /// Per second.
    pub vel: Vec<f64>,
    /// Torque (force), as far as the arm knows it.
    pub effort: Vec<f64>,
    /// Of the motors.
    pub temperature_c: Vec<f64>,
    /// At the motors.
    pub voltage_v: Vec<f64>,
    /// What the motors say is wrong.
    pub faults: Vec<Faults>,
    /// Joints that were not heard this time: their numbers are older.
    pub is_missing: Vec<bool>,
    /// When all of them were last known.
    pub at: Instant,
}

impl JointReading {
    /// Of so many joints, nothing heard yet.
    #[must_use]
    pub fn new(joints: usize) -> Self {
        let none = vec![0.0; joints];
        Self {
            pos: none.clone(),
            vel: none.clone(),
            effort: none.clone(),
            temperature_c: none.clone(),
            voltage_v: none,
            faults: vec![Faults::default(); joints],
            is_missing: vec![true; joints],
            at: Instant::now(),
        }
    }

    pub(crate) fn resize(&mut self, joints: usize) {
        if self.pos.len() != joints {
            *self = Self::new(joints);
        }
    }
}

/// An arm that is asked and told once per cycle by whoever owns it.
pub trait ArmDevice: Send {
    /// Reads all joints; what was not heard keeps its numbers and is marked.
    ///
    /// # Errors
    /// When the way to the arm is gone.
    fn read(&mut self, reading: &mut JointReading) -> Result<(), LinkError>;

    /// Sends targets.
    ///
    /// # Errors
    /// When the way to the arm is gone.
    fn write(&mut self, targets: &[f64]) -> Result<(), LinkError>;

    /// Switches torque on, with targets where the joints are.
    ///
    /// # Errors
    /// When a joint does not hold.
    fn hold(&mut self) -> Result<(), LinkError>;

    /// Lets go, slowly where that is possible. Whatever fails, every joint that can be reached is
    /// let go.
    ///
    /// # Errors
    /// The first that could not be reached.
    fn release(&mut self, over: Duration) -> Result<(), LinkError>;

    /// What happened on its bus, where it has one.
    fn bus_counts(&self) -> Option<BusCounts> {
        None
    }
}
