//! A worker's hands: a rig of its own, with which it makes one episode after the other.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use citrange_core::run::{RunError, run as run_episode};
use citrange_core::{Clock, Outcome, Rig as _, RunReport, RunSettings};
use citrange_tape::{RecordSettings, Recorder, WhenFull};

use super::plan::Plan;
use crate::cell::EpisodeRig;
use crate::error::{EpisodesError, Result};

/// What came of an index.
pub(crate) enum Attempt {
    /// An episode whose recorder may still have to write.
    Finished(Box<UnsavedEpisode>),
    /// Pilot or rig failed: there is no such episode, and there never will be.
    Failed(EpisodesError),
    /// It was not finished, because the collection ends.
    Stopped,
}

/// An episode that is not saved yet.
pub(crate) struct UnsavedEpisode {
    pub(crate) recorder: Recorder,
    pub(crate) report: RunReport,
    pub(crate) took: Duration,
}

pub(crate) struct Worker<'a> {
    pub(crate) plan: &'a Plan,
    /// Folder of recordings that are under way.
    pub(crate) recordings: &'a Path,
    /// Becomes true when episodes are to end.
    pub(crate) halted: &'a AtomicBool,
    rig: Option<Box<dyn EpisodeRig>>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(plan: &'a Plan, recordings: &'a Path, halted: &'a AtomicBool) -> Self {
        Self { plan, recordings, halted, rig: None }
    }

    /// Makes an episode.
    ///
    /// # Errors
    /// When no episode could be made, not only this one.
    pub(crate) fn make(&mut self, episode: u64) -> Result<Attempt> {
        let begun = Instant::now();
        let plan = self.plan;
        let rig = match self.rig.take() {
            Some(rig) if !plan.is_randomised() => self.rig.insert(rig),
            _ => self.rig.insert(plan.rig(episode)?),
        };
        let rig = rig.as_mut();
        plan.set(rig, episode)?;
        let mut pilot = match plan.pilot(rig, episode) {
            Ok(pilot) => pilot,
            Err(error) => return Ok(Attempt::Failed(error)),
        };
        let (header, model) = plan.header(rig, pilot.name(), episode)?;
        let how = RecordSettings { when_full: WhenFull::Wait, ..RecordSettings::default() };
        let folder = self.recordings.join(&header.uid);
        let mut recorder = Recorder::begin(&folder, header, &model, &how)?;
        let settings = RunSettings {
            max_frames: plan.max_frames,
            stop: Some(self.halted),
            pictures: !rig.spec().cameras.is_empty(),
            clock: Clock::Ticks,
            ..RunSettings::default()
        };
        let ran = run_episode(pilot.as_mut(), &mut *rig, &mut recorder, &settings);
        let halted = self.halted.load(Ordering::Acquire);
        match ran {
            Ok(report) if halted && report.outcome == Outcome::unjudged("stopped") => {
                recorder.discard()?;
                Ok(Attempt::Stopped)
            }
            Ok(report) if report.frames == 0 => {
                recorder.discard()?;
                let reason = report.outcome.reason;
                Ok(Attempt::Failed(EpisodesError::Failed(format!(
                    "it was over before it began: {reason}"
                ))))
            }
            Ok(report) => {
                // The writer comes to it later; until then it is written beside the next episode.
                recorder.wind_up();
                let took = begun.elapsed();
                Ok(Attempt::Finished(Box::new(UnsavedEpisode { recorder, report, took })))
            }
            Err(error @ RunError::Tape { .. }) => Err(error.into()),
            Err(error @ (RunError::Pilot { .. } | RunError::Rig { .. })) => {
                recorder.discard()?;
                // What failed may have left the rig in any state.
                self.rig = None;
                Ok(Attempt::Failed(error.into()))
            }
        }
    }
}
