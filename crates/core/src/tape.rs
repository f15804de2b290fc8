//! Tape: keeps what happened. What is kept is defined here; where and how, by who implements it.

use crate::pilot::{Event, Outcome};
use crate::rig::{BoxError, Commanded, Observation};
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
    /// What the pilot asked for.
    pub requested: &'a [f64],
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
