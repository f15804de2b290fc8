//! What a controller remembers from tick to tick: everything, so that a snapshot can hold it.

use std::collections::BTreeMap;

use crate::error::ControlError;
use crate::limiter::TargetMotion;

/// Memory of one arm under a controller.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerMemory {
    /// Where the joints should be.
    pub(crate) desired: Vec<f64>,
    /// Their speeds after smoothing.
    pub(crate) rates: Vec<f64>,
    /// Targets as they were sent, and how they moved.
    pub(crate) motion: TargetMotion,
    /// Targets in force, less what the controller would have sent; fades away while the hand is driven.
    pub(crate) offset: Vec<f64>,
    /// 1 for a joint that was asked to go further than the arm follows, and has not come back.
    pub(crate) blocked: Vec<f64>,
    /// Joint positions at the start, for arms with a joint to spare.
    pub(crate) posture: Vec<f64>,
    /// Where the joints were measured a tick ago.
    pub(crate) measured: Vec<f64>,
    /// Smoothed tilt correction.
    pub(crate) feedback: f64,
    /// Ticks since the start.
    pub(crate) ticks: f64,
    /// Orientation of the tool that is held, w, x, y, z.
    pub(crate) held: [f64; 4],
    /// Smoothed speed at which it turns, in the world; kept while the arm comes to rest.
    pub(crate) angular_rad_s: [f64; 3],
}

/// Every field under its name in a snapshot.
const PREFIX: &str = "pilot/law/";

impl ControllerMemory {
    /// Where the controller wants the joints, before it adds what gravity needs.
    #[must_use]
    pub fn desired(&self) -> &[f64] {
        &self.desired
    }

    /// The targets as they were sent, and how they moved.
    #[must_use]
    pub fn motion(&self) -> &TargetMotion {
        &self.motion
    }

    /// Goes on from targets that move like this.
    pub fn continue_from(&mut self, motion: TargetMotion) {
        self.motion = motion;
    }

    /// Whether fields hold such a memory; tapes of before have none.
    #[must_use]
    pub fn is_in(fields: &BTreeMap<String, Vec<f64>>) -> bool {
        fields.contains_key(&format!("{PREFIX}sent"))
    }

    /// Adds the memory to a snapshot's fields, under names that begin with `pilot/law/`
    /// (the controller's first name, kept so that old tapes are read).
    pub fn save(&self, fields: &mut BTreeMap<String, Vec<f64>>) {
        let mut add = |name: &str, numbers: &[f64]| {
            fields.insert(format!("{PREFIX}{name}"), numbers.to_vec());
        };
        add("desired", &self.desired);
        add("rates", &self.rates);
        add("sent", &self.motion.pos);
        add("speed", &self.motion.speed);
        add("acceleration", &self.motion.acceleration);
        add("offset", &self.offset);
        add("blocked", &self.blocked);
        add("posture", &self.posture);
        add("measured", &self.measured);
        add("feedback", &[self.feedback]);
        add("ticks", &[self.ticks]);
        add("held", &self.held);
        add("turn", &self.angular_rad_s);
    }

    /// The memory that [`ControllerMemory::save`] left in a snapshot of a robot with `joints` joints.
    ///
    /// # Errors
    /// When a field is missing, has the wrong length, or holds something that is not a number.
    pub fn load(fields: &BTreeMap<String, Vec<f64>>, joints: usize) -> Result<Self, ControlError> {
        let find = |name: &str, length: usize| {
            let field = format!("{PREFIX}{name}");
            let numbers = fields.get(&field);
            let reason = match numbers {
                None => "is missing".to_owned(),
                Some(n) if n.len() != length => {
                    format!("has {} numbers, {length} are needed", n.len())
                }
                Some(n) if !n.iter().all(|n| n.is_finite()) => "is not finite".to_owned(),
                Some(n) => return Ok(n.clone()),
            };
            Err(ControlError::ControllerMemory { field, reason })
        };
        let (held, angular) = (find("held", 4)?, find("turn", 3)?);
        Ok(Self {
            desired: find("desired", joints)?,
            rates: find("rates", joints)?,
            motion: TargetMotion::new(
                find("sent", joints)?,
                find("speed", joints)?,
                find("acceleration", joints)?,
            ),
            offset: find("offset", joints)?,
            blocked: find("blocked", joints)?,
            posture: find("posture", joints)?,
            measured: find("measured", joints)?,
            feedback: find("feedback", 1)?[0],
            ticks: find("ticks", 1)?[0],
            held: std::array::from_fn(|i| held[i]),
            angular_rad_s: std::array::from_fn(|i| angular[i]),
        })
    }
}
