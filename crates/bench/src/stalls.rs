//! How long a tape holds the control loop.

use std::time::Instant;

use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{BoxError, Event, Outcome, Snapshot, Tape};
use citrange_tape::Recorder;
use serde_json::{Value, json};

/// A recorder and the time spent in it.
pub(crate) struct Timed {
    pub(crate) recorder: Recorder,
    /// Seconds of each tick.
    ticks: Vec<f64>,
    ticks_per_frame: usize,
    /// Seconds of the tick in hand.
    held: f64,
}

impl Timed {
    pub(crate) fn new(recorder: Recorder, ticks_per_frame: u32) -> Self {
        Self { recorder, ticks: Vec::new(), ticks_per_frame: ticks_per_frame as usize, held: 0.0 }
    }

    fn time<R>(&mut self, work: impl FnOnce(&mut Recorder) -> R) -> R {
        let begun = Instant::now();
        let result = work(&mut self.recorder);
        self.held += begun.elapsed().as_secs_f64();
        result
    }

    /// Milliseconds of each tick.
    pub(crate) fn per_tick(&self) -> Value {
        summary(self.ticks.clone())
    }

    /// Milliseconds of each frame with all its ticks: what a step is to those who have no ticks.
    pub(crate) fn per_frame(&self) -> Value {
        summary(self.ticks.chunks(self.ticks_per_frame).map(|ticks| ticks.iter().sum()).collect())
    }
}

fn summary(mut times_s: Vec<f64>) -> Value {
    times_s.sort_by(f64::total_cmp);
    // Between neighbours by linear interpolation, as numpy does on the other side.
    let quantile = |q: f64| {
        let at = q * (times_s.len().max(1) - 1) as f64;
        let value = |rank: f64| times_s.get(rank as usize).map(|time_s| 1e3 * time_s);
        let (low, high) = (value(at.floor())?, value(at.ceil())?);
        Some(low + at.fract() * (high - low))
    };
    json!({
        "worst": quantile(1.0), "p999": quantile(0.999), "p99": quantile(0.99),
        "p50": quantile(0.5),
    })
}

impl Tape for Timed {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        self.time(|recorder| recorder.frame(frame))
    }

    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        let kept = self.time(|recorder| recorder.tick(tick));
        self.ticks.push(std::mem::take(&mut self.held));
        kept
    }

    fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
        self.time(|recorder| recorder.event(tick, event))
    }

    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), BoxError> {
        self.recorder.end(outcome, last)
    }
}
