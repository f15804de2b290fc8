//! Pilot: decides the next action from what is seen. Also the simplest one, which follows a script.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rig::{BoxError, Observation};

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
}

/// Something worth remembering that happened at a tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// What: `phase`, `key`, `drop`, …
    pub name: String,
    /// Details.
    pub detail: serde_json::Value,
}

/// What a pilot wants at a tick.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Carry the targets out.
    Go,
    /// The episode is over. It ends at the next frame; until then see [`Pilot::finish`].
    Done(Outcome),
}

/// Something that decides.
pub trait Pilot {
    /// Short name, stored with the episode.
    fn name(&self) -> &str;

    /// Decides the joint targets of this tick. `targets` holds the last ones; `events` takes what
    /// the tape should remember.
    ///
    /// # Errors
    /// When the pilot cannot go on; the episode ends as a failure.
    fn decide(
        &mut self,
        seen: &Observation,
        targets: &mut [f64],
        events: &mut Vec<Event>,
    ) -> Result<Verdict, BoxError>;

    /// The loop did not run for so long: what was asked for before is out of date. Called before
    /// [`Pilot::decide`], and only where a late tick is skipped ([`crate::run::Pace::Skip`]).
    fn stalled(&mut self, _late: Duration) {}

    /// The targets of a tick after it is done, until the frame ends; they stay by default.
    fn finish(&mut self, _targets: &mut [f64]) {}

    /// Adds the pilot's memory to a snapshot, under names that begin with `pilot/`.
    fn save(&self, _fields: &mut BTreeMap<String, Vec<f64>>) {}
}

/// A pose to move to, and how long the move takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Joint targets at its end.
    pub joints: Vec<f64>,
    /// Its length, in control ticks.
    pub ticks: u64,
    /// Noted as an event when the move begins.
    pub phase: &'static str,
}

/// Follows a list of moves, each blended with minimum jerk, then ends.
#[derive(Clone, Debug)]
pub struct Script {
    moves: Vec<Move>,
    from: Vec<f64>,
    at: usize,
    tick_of_move: u64,
}

impl Script {
    /// A script that starts from the targets `from`.
    #[must_use]
    pub fn new(from: Vec<f64>, moves: Vec<Move>) -> Self {
        Self { moves, from, at: 0, tick_of_move: 0 }
    }

    /// Its whole length in control ticks.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.moves.iter().map(|m| m.ticks.max(1)).sum()
    }
}

impl Pilot for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn decide(
        &mut self,
        _seen: &Observation,
        targets: &mut [f64],
        events: &mut Vec<Event>,
    ) -> Result<Verdict, BoxError> {
        let Some(next) = self.moves.get(self.at) else {
            return Ok(Verdict::Done(Outcome::unjudged("script_end")));
        };
        if next.joints.len() != targets.len() || self.from.len() != targets.len() {
            let (found, expected) = (next.joints.len(), targets.len());
            return Err(format!("the script moves {found} joints, the rig has {expected}").into());
        }
        if self.tick_of_move == 0 {
            let detail = serde_json::Value::from(next.phase);
            events.push(Event { name: "phase".to_owned(), detail });
        }
        self.tick_of_move += 1;
        let t = self.tick_of_move as f64 / next.ticks.max(1) as f64;
        // Minimum jerk: starts and ends at rest.
        let s = t * t * t * (10.0 - 15.0 * t + 6.0 * t * t);
        for ((target, from), to) in targets.iter_mut().zip(&self.from).zip(&next.joints) {
            *target = from + s * (to - from);
        }
        if self.tick_of_move >= next.ticks.max(1) {
            self.from.copy_from_slice(&next.joints);
            self.at += 1;
            self.tick_of_move = 0;
        }
        Ok(Verdict::Go)
    }

    fn save(&self, fields: &mut BTreeMap<String, Vec<f64>>) {
        fields.insert("pilot/script".into(), vec![self.at as f64, self.tick_of_move as f64]);
    }
}
