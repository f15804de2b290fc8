//! A pilot of one arm among several: it sees and moves that arm's joints, the others hold still.

use std::ops::Range;
use std::time::Duration;

use crate::command::Command;
use crate::observation::Observation;
use crate::pilot::{Memory, Notes, Pilot, Start, Verdict};
use crate::rig::BoxError;

/// A pilot that knows one arm, on a rig that may have more: targets of other joints stay as they
/// are. Names, memory and verdict are those of the pilot inside.
///
/// ```
/// use citrange_core::one_arm::OneArm;
/// use citrange_core::script::Script;
/// use citrange_core::rig::{JointSpec, RigSpec};
/// use citrange_core::{Command, Observation, Pilot, Rates, Start};
///
/// let joint = |name: &str| JointSpec {
///     name: name.into(),
///     is_slide: false,
///     range: None,
///     gripper: None,
/// };
/// let rates = Rates { physics_hz: 60, control_hz: 60, frame_hz: 30 };
/// let spec = RigSpec::new("axes", ["a", "b", "c"].map(joint).to_vec(), rates);
/// let seen = Observation { joint_pos: vec![0.0; 3], ..Observation::default() };
/// let mut command = Command::at(&[0.1, 0.2, 0.3]);
/// let mut second = OneArm::new(Script::to(&[0.5], 1), 1..2);
/// second.begin(&Start { spec: &spec, targets: &command.pos })?;
/// second.decide(&seen, &mut command, &mut vec![])?;
/// assert_eq!(command.pos, [0.1, 0.5, 0.3]);
/// # Ok::<(), citrange_core::BoxError>(())
/// ```
#[derive(Debug)]
pub struct OneArm<P> {
    pilot: P,
    joints: Range<usize>,
    seen: Observation,
    command: Command,
}

impl<P> OneArm<P> {
    /// For the joints of one arm, as [`crate::RigSpec::arms`] names them.
    pub fn new(pilot: P, joints: Range<usize>) -> Self {
        Self { pilot, joints, seen: Observation::default(), command: Command::default() }
    }

    /// The pilot inside.
    pub fn inner(&self) -> &P {
        &self.pilot
    }

    /// What of a joint vector is this arm's; all of it where the vector is no longer than that.
    fn own<'a>(&self, all: &'a [f64]) -> &'a [f64] {
        own(&self.joints, all)
    }

    fn look(&mut self, seen: &Observation) {
        let narrow = &mut self.seen;
        narrow.clone_from(seen);
        for list in [&mut narrow.joint_pos, &mut narrow.joint_vel, &mut narrow.joint_effort] {
            *list = own(&self.joints, list).to_vec();
        }
    }

    fn take(&mut self, command: &Command) {
        self.command =
            Command { pos: self.own(&command.pos).to_vec(), vel: self.own(&command.vel).to_vec() };
    }

    fn give(&self, command: &mut Command) {
        let own = &self.command;
        if let Some(part) = command.pos.get_mut(self.joints.clone())
            && part.len() == own.pos.len()
        {
            part.copy_from_slice(&own.pos);
        }
        if own.vel.is_empty() {
            return;
        }
        // Who holds still has no velocity.
        command.vel.resize(command.pos.len(), 0.0);
        if let Some(part) = command.vel.get_mut(self.joints.clone())
            && part.len() == own.vel.len()
        {
            part.copy_from_slice(&own.vel);
        }
    }
}

fn own<'a>(joints: &Range<usize>, all: &'a [f64]) -> &'a [f64] {
    all.get(joints.clone()).unwrap_or(all)
}

impl<P: Pilot> Pilot for OneArm<P> {
    fn name(&self) -> &str {
        self.pilot.name()
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        let (spec, targets) = (start.spec.of_joints(&self.joints), self.own(start.targets));
        let own = Start { spec: &spec, targets };
        self.pilot.begin(&own)
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        self.look(seen);
        self.take(command);
        let verdict = self.pilot.decide(&self.seen, &mut self.command, notes)?;
        self.give(command);
        Ok(verdict)
    }

    fn stalled(&mut self, late: Duration) {
        self.pilot.stalled(late);
    }

    fn finish(&mut self, command: &mut Command) {
        self.take(command);
        self.pilot.finish(&mut self.command);
        self.give(command);
    }

    fn save(&self, memory: &mut Memory) {
        self.pilot.save(memory);
    }

    fn load(&mut self, memory: &Memory) -> Result<(), BoxError> {
        self.pilot.load(memory)
    }
}
