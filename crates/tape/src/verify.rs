//! Whether a replay is the recorded episode: a tape that compares instead of keeping.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{BoxError, Outcome, Snapshot, Tape};
use serde::Serialize;

use crate::episode::Episode;

/// Compares what happens with what a tape says happened.
#[derive(Debug)]
pub struct Verifier {
    episode: Arc<Episode>,
    range: Range<usize>,
    report: VerifyReport,
}

/// How much a comparison must cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Complete states, the last one included.
    pub frames: u64,
    /// Control ticks.
    pub ticks: u64,
    /// Physics steps.
    pub steps: u64,
}

/// What the comparison found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VerifyReport {
    /// Frames whose complete state was compared.
    pub frames: u64,
    /// Physics steps whose state was compared by its digest.
    pub steps: u64,
    /// Ticks whose commands were compared.
    pub ticks: u64,
    /// What all of it would be.
    pub expected: Extent,
    /// The first difference, if there is one.
    pub first: Option<Difference>,
    /// The largest difference of any number of any compared state.
    pub largest: f64,
}

/// Where a replay left the recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// First physics step after which the states differ.
    pub step: u64,
    /// The frame it belongs to.
    pub frame: u64,
    /// The field that differs most, at the next frame: `mujoco/qvel[3]`.
    pub field: Option<String>,
    /// What was recorded there.
    pub was: f64,
    /// What the replay has.
    pub is: f64,
    /// Why, as far as can be told.
    pub likely_cause: String,
}

impl VerifyReport {
    /// Whether all that there is was compared.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let Extent { frames, ticks, steps } = self.expected;
        self.frames >= frames && self.ticks >= ticks && self.steps >= steps
    }

    /// Whether everything was compared and nothing differed.
    #[must_use]
    pub fn is_bitwise(&self) -> bool {
        self.first.is_none() && self.frames > 0 && self.is_complete()
    }
}

impl fmt::Display for VerifyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = &self.first else {
            let Self { frames, ticks, steps, expected, .. } = self;
            if self.is_bitwise() {
                return write!(
                    f,
                    "bitwise equal: {frames} frames, {ticks} ticks, {steps} physics steps"
                );
            }
            return write!(
                f,
                "not verified: {frames} of {} frames and {steps} of {} physics steps were \
                 compared; those are equal",
                expected.frames, expected.steps
            );
        };
        write!(f, "differs from step {} (frame {}) on", first.step, first.frame)?;
        if let Some(field) = &first.field {
            let size = (first.is - first.was).abs();
            write!(f, ": {field} was {}, is {} ({size:.1e} apart)", first.was, first.is)?;
        }
        write!(f, "; largest difference {:.1e}", self.largest)?;
        write!(f, "; likely cause: {}", first.likely_cause)?;
        if !self.is_complete() {
            write!(f, "; only {} of {} frames were compared", self.frames, self.expected.frames)?;
        }
        Ok(())
    }
}

impl Verifier {
    /// Compares a replay of these frames of the tape, all of them.
    #[must_use]
    pub fn new(episode: Arc<Episode>, range: Range<usize>) -> Self {
        let first = |frame: usize| episode.header.rig.rates.first_tick(frame as u64) as usize;
        let ticks = first(range.start)..first(range.end);
        let digests = episode.ticks.get(ticks.clone()).unwrap_or_default().iter();
        let expected = Extent {
            frames: (range.start..=range.end).filter(|f| episode.has_snapshot(*f)).count() as u64,
            ticks: ticks.len() as u64,
            steps: digests.map(|tick| tick.digests.len() as u64).sum(),
        };
        Self { episode, range, report: VerifyReport { expected, ..VerifyReport::default() } }
    }

    /// What was found.
    #[must_use]
    pub fn into_report(self) -> VerifyReport {
        self.report
    }

    fn differ(&mut self, step: u64, frame: u64, cause: &str) {
        if self.report.first.is_none() {
            self.report.first = Some(Difference {
                step,
                frame,
                field: None,
                was: f64::NAN,
                is: f64::NAN,
                likely_cause: cause.to_owned(),
            });
        }
    }

    /// Compares a complete state with the tape's at a frame.
    fn compare(&mut self, frame: usize, is: &Snapshot) {
        let Some(was) = self.episode.snapshot(frame) else { return };
        self.report.frames += 1;
        let mut worst: Option<(String, f64, f64, f64)> = None;
        // A pilot's memory is its own; the replaying pilot has another.
        let shared = was.fields.iter().filter(|(name, _)| !name.starts_with("pilot/"));
        for (name, was) in shared {
            let is = is.fields.get(name).map(Vec::as_slice).unwrap_or_default();
            for index in 0..was.len().max(is.len()) {
                let value = |of: &[f64]| of.get(index).copied().unwrap_or(f64::NAN);
                let (was, is) = (value(was), value(is));
                if was.to_bits() == is.to_bits() {
                    continue;
                }
                let size = (is - was).abs();
                if worst.as_ref().is_none_or(|w| size > w.3 || w.3.is_nan()) {
                    worst = Some((format!("{name}[{index}]"), was, is, size));
                }
            }
        }
        if let Some((field, was, is, size)) = worst {
            self.report.largest = self.report.largest.max(size);
            let at_start = frame == self.range.start;
            let cause = if at_start { START } else { ENGINE };
            self.differ(self.step_of(frame), frame as u64, cause);
            if let Some(first) = self.report.first.as_mut().filter(|d| d.field.is_none()) {
                (first.field, first.was, first.is) = (Some(field), was, is);
            }
        }
    }

    fn step_of(&self, frame: usize) -> u64 {
        let rates = self.episode.header.rig.rates;
        rates.first_tick(frame as u64) * u64::from(rates.steps_per_tick())
    }
}

const START: &str = "the start state was not restored exactly";
const ENGINE: &str = "the engine computes differently here: another build of it, another kind of \
                      processor, or state outside the snapshot";
const COMMANDS: &str = "the commands differ: limits or joints of the rig are not those of the \
                        recording";

impl Tape for Verifier {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        if let Some(snapshot) = frame.snapshot {
            self.compare(self.range.start + frame.index as usize, snapshot);
        }
        Ok(())
    }

    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        let rates = self.episode.header.rig.rates;
        let index = rates.first_tick(self.range.start as u64) as usize + tick.index as usize;
        let episode = Arc::clone(&self.episode);
        let Some(was) = episode.ticks.get(index) else { return Ok(()) };
        let per_tick = u64::from(rates.steps_per_tick());
        let (step, frame) = (index as u64 * per_tick, rates.frame_of(index as u64));
        self.report.ticks += 1;
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        if bits(&was.executed) != bits(&tick.commanded.executed) {
            self.differ(step, frame, COMMANDS);
        }
        let digests = was.digests.iter().zip(&tick.commanded.digests);
        for (offset, (was, is)) in digests.enumerate() {
            self.report.steps += 1;
            if was != is {
                self.differ(step + offset as u64 + 1, frame, ENGINE);
            }
        }
        Ok(())
    }

    fn end(&mut self, _: &Outcome, last: Option<&Snapshot>) -> Result<(), BoxError> {
        let rates = self.episode.header.rig.rates;
        let at = rates.first_tick(self.range.start as u64) + self.report.ticks;
        // In the middle of a frame there is no state to compare it with.
        if let Some(snapshot) = last.filter(|_| rates.is_frame(at)) {
            self.compare(rates.frame_of(at) as usize, snapshot);
        }
        Ok(())
    }
}
