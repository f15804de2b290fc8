//! Recorded episodes as pilots: exactly, command by command, or by one target per frame.

use std::sync::Arc;

use citrange_core::{BoxError, Event, Observation, Outcome, Pilot, Verdict};

use crate::episode::Episode;

/// Repeats every command of a tape. From the state in which its first frame began, the motion
/// comes out bit for bit.
#[derive(Clone, Debug)]
pub struct ExactReplay {
    episode: Arc<Episode>,
    next: usize,
    end: usize,
}

impl ExactReplay {
    /// Repeats the frames of `range`.
    #[must_use]
    pub fn new(episode: Arc<Episode>, range: std::ops::Range<usize>) -> Self {
        let per_frame = episode.header.rig.rates.ticks_per_frame() as usize;
        let end = (range.end * per_frame).min(episode.ticks.len());
        Self { episode, next: range.start * per_frame, end }
    }
}

impl Pilot for ExactReplay {
    fn name(&self) -> &str {
        "replay"
    }

    fn decide(
        &mut self,
        _seen: &Observation,
        targets: &mut [f64],
        events: &mut Vec<Event>,
    ) -> Result<Verdict, BoxError> {
        if self.next >= self.end {
            return Ok(Verdict::Done(self.episode.outcome()));
        }
        let tick = &self.episode.ticks[self.next];
        if tick.limited.len() != targets.len() {
            let (found, expected) = (tick.limited.len(), targets.len());
            return Err(format!("the tape moves {found} joints, the rig has {expected}").into());
        }
        targets.copy_from_slice(&tick.limited);
        let now = self.next as u64;
        events.extend(
            self.episode.events.iter().filter(|(tick, _)| *tick == now).map(|(_, e)| e.clone()),
        );
        self.next += 1;
        Ok(Verdict::Go)
    }
}

/// Holds one target per frame: what a LeRobot dataset keeps. Close to the recorded motion, not
/// equal to it.
#[derive(Clone, Debug)]
pub struct FrameReplay {
    targets: Vec<Vec<f64>>,
    ticks_per_frame: u64,
}

impl FrameReplay {
    /// Targets in radians and metres, one per frame.
    #[must_use]
    pub fn new(targets: Vec<Vec<f64>>, ticks_per_frame: u32) -> Self {
        Self { targets, ticks_per_frame: u64::from(ticks_per_frame.max(1)) }
    }
}

impl Pilot for FrameReplay {
    fn name(&self) -> &str {
        "frame_replay"
    }

    fn decide(
        &mut self,
        seen: &Observation,
        targets: &mut [f64],
        _events: &mut Vec<Event>,
    ) -> Result<Verdict, BoxError> {
        let frame = (seen.tick / self.ticks_per_frame) as usize;
        let Some(wanted) = self.targets.get(frame) else {
            return Ok(Verdict::Done(Outcome::unjudged("replayed")));
        };
        if wanted.len() != targets.len() {
            let (found, expected) = (wanted.len(), targets.len());
            return Err(format!("the file moves {found} joints, the rig has {expected}").into());
        }
        if let Some(bad) = wanted.iter().find(|v| !v.is_finite()) {
            return Err(format!("frame {frame} commands {bad}").into());
        }
        targets.copy_from_slice(wanted);
        Ok(Verdict::Go)
    }
}
