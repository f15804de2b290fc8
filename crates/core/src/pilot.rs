//! Pilot: decides the next command from what is seen.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::event::Event;
use crate::observation::Observation;
use crate::rig::{BoxError, RigSpec};

/// How an episode ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether the task was done; `None` where nobody judged.
    pub success: Option<bool>,
    /// Why it ended, as a short code: `script_end`, `stopped`, `grasp_missed`, …
    pub reason: String,
}

impl Outcome {
    /// An outcome nobody judged.
    #[must_use]
    pub fn unjudged(reason: &str) -> Self {
        Self { success: None, reason: reason.to_owned() }
    }

    /// A failure.
    #[must_use]
    pub fn failed(reason: &str) -> Self {
        Self { success: Some(false), reason: reason.to_owned() }
    }
}

/// What a pilot wants at a tick.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Carry the command out.
    Go,
    /// The episode is over. It ends at the next frame; until then see [`Pilot::finish`].
    Done(Outcome),
}

/// What a pilot must know from tick to tick, as named numbers under `pilot/…`: part of a snapshot.
pub type Memory = BTreeMap<String, Vec<f64>>;

/// Events of a tick, for the tape.
pub type Notes = Vec<Event>;

/// What a pilot is told when an episode begins.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The rig.
    pub spec: &'a RigSpec,
    /// Joint targets in force.
    pub targets: &'a [f64],
}

/// Something that decides.
///
/// ```
/// use citrange_core::pilot::{Notes, Outcome, Pilot, Verdict};
/// use citrange_core::{BoxError, Command, Observation};
///
/// /// Lets the first joint swing for a hundred ticks.
/// struct Swing;
///
/// impl Pilot for Swing {
///     fn name(&self) -> &str { "swing" }
///     fn decide(&mut self, seen: &Observation, command: &mut Command, _: &mut Notes)
///         -> Result<Verdict, BoxError> {
///         if seen.tick == 100 {
///             return Ok(Verdict::Done(Outcome::unjudged("swung")));
///         }
///         command.pos[0] = (seen.tick as f64 / 10.0).sin();
///         Ok(Verdict::Go)
///     }
/// }
/// let mut command = Command::at(&[0.0]);
/// let seen = Observation { tick: 100, ..Observation::default() };
/// assert!(matches!(Swing.decide(&seen, &mut command, &mut vec![])?, Verdict::Done(_)));
/// # Ok::<(), BoxError>(())
/// ```
pub trait Pilot {
    /// Short name, stored with the episode.
    fn name(&self) -> &str;

    /// An episode begins. A pilot may be used for one after the other.
    ///
    /// # Errors
    /// When it cannot drive this rig.
    fn begin(&mut self, _start: &Start<'_>) -> Result<(), BoxError> {
        Ok(())
    }

    /// Decides the command of this tick. `command` holds the last targets and no velocities;
    /// `notes` takes what the tape should keep.
    ///
    /// # Errors
    /// When the pilot cannot go on; the episode ends as a failure.
    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        notes: &mut Notes,
    ) -> Result<Verdict, BoxError>;

    /// The loop did not run for so long: what was asked for before is out of date. Called before
    /// [`Pilot::decide`], and only where a late tick is skipped ([`crate::Late::Skip`]) or
    /// the rig sets the pace.
    fn stalled(&mut self, _late: Duration) {}

    /// The command of a tick after it is done, until the frame ends; it stays by default.
    fn finish(&mut self, _command: &mut Command) {}

    /// Adds the pilot's memory to a snapshot, under names that begin with `pilot/`.
    fn save(&self, _memory: &mut Memory) {}

    /// Takes back what [`Pilot::save`] wrote, after [`Pilot::begin`]; what it does not know it
    /// leaves alone, and where there is nothing of its own it begins anew.
    ///
    /// # Errors
    /// When the memory is another robot's.
    fn load(&mut self, _memory: &Memory) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<P: Pilot + ?Sized> Pilot for &mut P {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        (**self).begin(start)
    }
    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        (**self).decide(seen, command, notes)
    }
    fn stalled(&mut self, late: Duration) {
        (**self).stalled(late);
    }
    fn finish(&mut self, command: &mut Command) {
        (**self).finish(command);
    }
    fn save(&self, memory: &mut Memory) {
        (**self).save(memory);
    }
    fn load(&mut self, memory: &Memory) -> Result<(), BoxError> {
        (**self).load(memory)
    }
}

impl<P: Pilot + ?Sized> Pilot for Box<P> {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        (**self).begin(start)
    }
    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        (**self).decide(seen, command, notes)
    }
    fn stalled(&mut self, late: Duration) {
        (**self).stalled(late);
    }
    fn finish(&mut self, command: &mut Command) {
        (**self).finish(command);
    }
    fn save(&self, memory: &mut Memory) {
        (**self).save(memory);
    }
    fn load(&mut self, memory: &Memory) -> Result<(), BoxError> {
        (**self).load(memory)
    }
}
