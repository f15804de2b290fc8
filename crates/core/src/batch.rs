//! Pilots for many environments at once: what a learned policy is, of which one pilot for one
//! environment is a case.

use crate::command::Command;
use crate::observation::Observation;
use crate::pilot::{Notes, Outcome, Pilot, Start, Verdict};
use crate::rig::BoxError;

/// What one environment gives and gets at a tick.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    /// What is seen there.
    pub seen: Observation,
    /// Its command: the last one before the decision, the next one after it.
    pub command: Command,
    /// Events.
    pub notes: Notes,
    /// Set when its episode is over; such a slot is left alone until it begins anew.
    pub done: Option<Outcome>,
}

/// Something that decides for N environments at once.
pub trait BatchPilot {
    /// Short name, stored with episodes.
    fn name(&self) -> &str;

    /// How many environments it decides for.
    fn num_envs(&self) -> usize;

    /// An episode begins in an environment.
    ///
    /// # Errors
    /// When it cannot drive this rig, or there is no such environment.
    fn begin(&mut self, env: usize, start: &Start<'_>) -> Result<(), BoxError>;

    /// Decides the commands of all slots that are not done, one per environment.
    ///
    /// # Errors
    /// When it cannot go on, or the number of slots is another.
    fn decide_all(&mut self, slots: &mut [Slot]) -> Result<(), BoxError>;
}

/// One pilot per environment, each for itself.
#[derive(Clone, Debug)]
pub struct EachAlone<P>(pub Vec<P>);

impl<P: Pilot> BatchPilot for EachAlone<P> {
    fn name(&self) -> &str {
        self.0.first().map_or("nobody", Pilot::name)
    }

    fn num_envs(&self) -> usize {
        self.0.len()
    }

    fn begin(&mut self, env: usize, start: &Start<'_>) -> Result<(), BoxError> {
        let count = self.0.len();
        let pilot = self.0.get_mut(env);
        pilot.ok_or_else(|| format!("environment {env} of {count}"))?.begin(start)
    }

    fn decide_all(&mut self, slots: &mut [Slot]) -> Result<(), BoxError> {
        if slots.len() != self.0.len() {
            let (found, expected) = (slots.len(), self.0.len());
            return Err(format!("{found} environments for a pilot of {expected}").into());
        }
        for (pilot, slot) in self.0.iter_mut().zip(slots) {
            if slot.done.is_none() {
                slot.command.vel.clear();
                let verdict = pilot.decide(&slot.seen, &mut slot.command, &mut slot.notes)?;
                if let Verdict::Done(outcome) = verdict {
                    slot.done = Some(outcome);
                }
            }
        }
        Ok(())
    }
}

/// One environment of a batch as a pilot of its own: for a rig that is alone.
#[derive(Clone, Debug)]
pub struct Alone<B> {
    batch: B,
    slot: [Slot; 1],
}

impl<B: BatchPilot> Alone<B> {
    /// A batch of one environment.
    ///
    /// # Errors
    /// When it is for another number of environments.
    pub fn new(batch: B) -> Result<Self, BoxError> {
        match batch.num_envs() {
            1 => Ok(Self { batch, slot: [Slot::default()] }),
            n => Err(format!("a pilot of {n} environments cannot drive one rig").into()),
        }
    }
}

impl<B: BatchPilot> Pilot for Alone<B> {
    fn name(&self) -> &str {
        self.batch.name()
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        self.slot = [Slot::default()];
        self.batch.begin(0, start)
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let [slot] = &mut self.slot;
        slot.seen.clone_from(seen);
        slot.command.clone_from(command);
        self.batch.decide_all(&mut self.slot)?;
        let [slot] = &mut self.slot;
        command.clone_from(&slot.command);
        notes.append(&mut slot.notes);
        Ok(slot.done.take().map_or(Verdict::Go, Verdict::Done))
    }
}
