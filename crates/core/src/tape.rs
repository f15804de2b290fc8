//! Tape: keeps what happened. What is kept is defined here; where and how, by who implements it.

use std::time::Duration;

use crate::command::{Command, Commanded};
use crate::event::Event;
use crate::observation::Observation;
use crate::pilot::Outcome;
use crate::rig::BoxError;
use crate::snapshot::Snapshot;

/// The world at a frame, before its ticks are carried out.
#[derive(Clone, Copy, Debug)]
pub struct FrameRecord<'a> {
    /// Frames since the episode began.
    pub index: u64,
    /// Monotonic wall time since the episode began.
    pub wall_ns: u64,
    /// Joints and pictures.
    pub seen: &'a Observation,
    /// The complete state, where the rig has one.
    pub snapshot: Option<&'a Snapshot>,
}

/// One control tick.
#[derive(Clone, Copy, Debug)]
pub struct TickRecord<'a> {
    /// Ticks since the episode began.
    pub index: u64,
    /// Monotonic time since the episode began, at its beginning.
    pub at_ns: u64,
    /// How late it began, against its due time; zero where nobody keeps time.
    pub late: Duration,
    /// What the pilot saw.
    pub seen: &'a Observation,
    /// What the pilot asked for.
    pub requested: &'a Command,
    /// What the rig made of it.
    pub commanded: &'a Commanded,
}

/// Something that keeps an episode. What is not implemented is not kept.
pub trait Tape {
    /// Keeps a frame.
    ///
    /// # Errors
    /// When it cannot be kept; the episode ends.
    fn frame(&mut self, _frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        Ok(())
    }

    /// Keeps a tick.
    ///
    /// # Errors
    /// When it cannot be kept; the episode ends.
    fn tick(&mut self, _tick: &TickRecord<'_>) -> Result<(), BoxError> {
        Ok(())
    }

    /// Keeps an event of the tick that follows.
    ///
    /// # Errors
    /// When it cannot be kept; the episode ends.
    fn event(&mut self, _tick: u64, _event: &Event) -> Result<(), BoxError> {
        Ok(())
    }

    /// The episode is over; `last` is the state it ended in.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn end(&mut self, _outcome: &Outcome, _last: Option<&Snapshot>) -> Result<(), BoxError> {
        Ok(())
    }
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTape;

impl Tape for NoTape {}

/// Two tapes that hear the same; what the first cannot keep, the second is not told.
impl<A: Tape, B: Tape> Tape for (A, B) {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        self.0.frame(frame)?;
        self.1.frame(frame)
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        self.0.tick(tick)?;
        self.1.tick(tick)
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
        self.0.event(tick, event)?;
        self.1.event(tick, event)
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), BoxError> {
        // Both are ended, whatever becomes of the first.
        let first = self.0.end(outcome, last);
        self.1.end(outcome, last).and(first)
    }
}

impl<T: Tape + ?Sized> Tape for &mut T {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        (**self).frame(frame)
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        (**self).tick(tick)
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
        (**self).event(tick, event)
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), BoxError> {
        (**self).end(outcome, last)
    }
}

/// A tape that may not be there.
impl<T: Tape> Tape for Option<T> {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        self.as_mut().map_or(Ok(()), |tape| tape.frame(frame))
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        self.as_mut().map_or(Ok(()), |tape| tape.tick(tick))
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
        self.as_mut().map_or(Ok(()), |tape| tape.event(tick, event))
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), BoxError> {
        self.as_mut().map_or(Ok(()), |tape| tape.end(outcome, last))
    }
}
