//! Recorded episodes as pilots: exactly, command by command, or by one target per frame.

use std::sync::Arc;

use citrange_core::{BoxError, Command, Notes, Observation, Outcome, Pilot, Rates, Verdict};

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
        let first = |frame: usize| episode.header.rig.rates.first_tick(frame as u64) as usize;
        let (next, end) = (first(range.start), first(range.end).min(episode.ticks.len()));
        Self { episode, next, end }
    }
}

impl Pilot for ExactReplay {
    fn name(&self) -> &str {
        "replay"
    }

    fn decide(
        &mut self,
        _seen: &Observation,
        command: &mut Command,
        events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        if self.next >= self.end {
            return Ok(Verdict::Done(self.episode.outcome()));
        }
        let tick = &self.episode.ticks[self.next];
        let targets = command.pos.as_mut_slice();
        if tick.limited.len() != targets.len() {
            let (found, expected) = (tick.limited.len(), targets.len());
            return Err(format!("the tape moves {found} joints, the rig has {expected}").into());
        }
        targets.copy_from_slice(&tick.limited);
        command.vel.clone_from(&tick.requested_vel);
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
    rates: Rates,
}

impl FrameReplay {
    /// Targets in radians and metres, one per frame of the rates.
    #[must_use]
    pub fn new(targets: Vec<Vec<f64>>, rates: Rates) -> Self {
        Self { targets, rates }
    }
}

impl Pilot for FrameReplay {
    fn name(&self) -> &str {
        "frame_replay"
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let targets = command.pos.as_mut_slice();
        let frame = self.rates.frame_of(seen.tick) as usize;
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
