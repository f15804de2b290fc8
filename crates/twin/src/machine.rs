//! Where the twin is in its table, since when and why; every transition is kept.

use citrange_core::{Event, Notes};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cause::Cause;
use crate::state::State;

/// What a tape keeps of a transition, under the name [`TRANSITION`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// When, by the rig's clock.
    pub at_ns: u64,
    /// From which state.
    pub from: State,
    /// Into which.
    pub to: State,
    /// Why.
    #[serde(flatten)]
    pub why: Cause,
}

/// Name of a transition on tapes.
pub const TRANSITION: &str = "twin_state";

/// The state machine's memory.
#[derive(Clone, Debug)]
pub struct Machine {
    state: State,
    since_ns: u64,
    why: Cause,
    log: Vec<Transition>,
    /// Transitions that the table does not have: a defect, counted and not made.
    refused: u64,
}

impl Machine {
    /// Without a link.
    #[must_use]
    pub fn new() -> Self {
        let why = Cause::Missing { what: "a link".to_owned() };
        Self { state: State::Offline, since_ns: 0, why, log: Vec::new(), refused: 0 }
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Why it is in it.
    #[must_use]
    pub fn why(&self) -> &Cause {
        &self.why
    }

    /// For how long it has been in it.
    #[must_use]
    pub fn age_s(&self, now_ns: u64) -> f64 {
        now_ns.saturating_sub(self.since_ns) as f64 * 1e-9
    }

    /// All transitions so far.
    #[must_use]
    pub fn log(&self) -> &[Transition] {
        &self.log
    }

    /// Transitions that were asked for and are not in the table.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Goes over into another state, if the table has it.
    pub fn go(&mut self, to: State, why: Cause, now_ns: u64, notes: &mut Notes) {
        if !self.state.may_become(to) {
            self.refused += 1;
            tracing::warn!(from = self.state.name(), to = to.name(), "no such transition");
            let detail = json!({"from": self.state, "to": to, "why": why});
            notes.push(Event::other("twin_refused_transition", detail));
            return;
        }
        tracing::debug!(from = self.state.name(), to = to.name(), why = why.words(), "state");
        let transition = Transition { at_ns: now_ns, from: self.state, to, why: why.clone() };
        // Plain data: there is nothing that could not be written.
        notes.push(Event::other(TRANSITION, serde_json::to_value(&transition).unwrap_or_default()));
        self.log.push(transition);
        (self.state, self.since_ns, self.why) = (to, now_ns, why);
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_is_an_event_and_what_the_table_lacks_is_not_made() {
        let (mut machine, mut notes) = (Machine::new(), Notes::new());
        machine.go(State::Moving, Cause::Accepted, 5, &mut notes);
        assert_eq!((machine.state(), machine.refused()), (State::Offline, 1));
        machine.go(State::Syncing, Cause::LinkUp, 7_000_000, &mut notes);
        assert_eq!(machine.state(), State::Syncing);
        assert!((machine.age_s(1_007_000_000) - 1.0).abs() < 1e-12);
        let event = notes.last().unwrap();
        assert_eq!(event.name(), TRANSITION);
        let back: Transition = serde_json::from_value(event.detail()).unwrap();
        assert_eq!(back, machine.log()[0]);
    }
}
