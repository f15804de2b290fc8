//! One episode onto two tapes.

use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{BoxError, Event, Outcome, Snapshot, Tape};

/// Keeps everything on both, on the first one first.
pub(crate) struct Both<'a>(pub(crate) &'a mut dyn Tape, pub(crate) &'a mut dyn Tape);

impl Tape for Both<'_> {
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
        self.0.end(outcome, last)?;
        self.1.end(outcome, last)
    }
}
