//! The simplest pilot: a list of moves.

use crate::command::Command;
use crate::event::Event;
use crate::observation::Observation;
use crate::pilot::{Memory, Notes, Outcome, Pilot, Start, Verdict};
use crate::rig::BoxError;

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
    /// Where the move began; nothing before the first.
    from: Vec<f64>,
    at: usize,
    tick_of_move: u64,
}

impl Script {
    /// A script that starts from the targets in force.
    #[must_use]
    pub fn new(moves: Vec<Move>) -> Self {
        Self { moves, from: Vec::new(), at: 0, tick_of_move: 0 }
    }

    /// One move to these joints.
    #[must_use]
    pub fn to(joints: &[f64], ticks: u64) -> Self {
        Self::new(vec![Move { joints: joints.to_vec(), ticks, phase: "move" }])
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

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        (self.at, self.tick_of_move) = (0, 0);
        self.from = start.targets.to_vec();
        Ok(())
    }

    fn decide(
        &mut self,
        _seen: &Observation,
        command: &mut Command,
        notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let targets = &mut command.pos;
        let Some(next) = self.moves.get(self.at) else {
            return Ok(Verdict::Done(Outcome::unjudged("script_end")));
        };
        if next.joints.len() != targets.len() || self.from.len() != targets.len() {
            let (found, expected) = (next.joints.len(), targets.len());
            return Err(format!("the script moves {found} joints, the rig has {expected}").into());
        }
        if self.tick_of_move == 0 {
            notes.push(Event::Phase(next.phase.to_owned()));
        }
        self.tick_of_move += 1;
        let t = self.tick_of_move as f64 / next.ticks.max(1) as f64;
        // The minimum-jerk quintic: starts and ends at rest.
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

    fn save(&self, memory: &mut Memory) {
        memory.insert("pilot/script".into(), vec![self.at as f64, self.tick_of_move as f64]);
        memory.insert("pilot/script_from".into(), self.from.clone());
    }

    fn load(&mut self, memory: &Memory) -> Result<(), BoxError> {
        let (Some([at, tick]), Some(from)) =
            (memory.get("pilot/script").map(Vec::as_slice), memory.get("pilot/script_from"))
        else {
            return Ok(());
        };
        (self.at, self.tick_of_move, self.from) = (*at as usize, *tick as u64, from.clone());
        Ok(())
    }
}
