//! What the events of a tape tell: states, things brought or not, failures.
//!
//! Autopilots note `state`, `target`, `placed`, `failed` and `summary`; scripts note `phase`;
//! people mostly nothing. What is missing or makes no sense is left out, never an error.

use citrange_core::event::Summary;
use citrange_core::{Event, Rates};
use serde::Serialize;

/// A time in one state.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The state or a script's phase.
    pub state: String,
    /// Its first frame.
    pub frame: usize,
    /// How long it lasted.
    pub seconds: f64,
}

/// A thing that was to be brought to the goal.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Thing {
    /// Its name in the scene.
    pub name: String,
    /// Whether it lies at the goal.
    pub placed: bool,
    /// How often it was tried.
    pub attempts: u64,
    /// Why it was given up.
    pub reason: Option<String>,
    /// Where it lay before the first attempt.
    pub start_m: Option<[f64; 3]>,
    /// Where it lies in the end.
    pub end_m: Option<[f64; 3]>,
    /// From the first attempt's begin until it was placed.
    pub seconds: Option<f64>,
}

/// An attempt that failed, or an episode that did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Failure {
    /// The thing; empty when the episode failed as a whole.
    pub target: String,
    /// Which attempt; `None` when the episode failed as a whole.
    pub attempt: Option<u64>,
    /// The state it happened in; empty when nobody said.
    pub state: String,
    /// Why, as a short code.
    pub reason: String,
    /// The frame it happened at.
    pub frame: usize,
    /// Whether a later attempt brought the thing to the goal.
    pub recovered: bool,
}

/// The part of a tape that an episode shows, in ticks and frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    rates: Rates,
    first_frame: usize,
    frames: usize,
}

impl Clock {
    pub(crate) fn new(rates: Rates, first_frame: usize, frames: usize) -> Self {
        Self { rates, first_frame, frames }
    }

    fn first_tick(&self) -> u64 {
        self.rates.first_tick(self.first_frame as u64)
    }

    fn end_tick(&self) -> u64 {
        self.rates.first_tick((self.first_frame + self.frames) as u64)
    }

    fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 / f64::from(self.rates.control_hz.max(1))
    }

    /// The frame of a tick, counted from the episode's begin.
    fn frame(&self, tick: u64) -> usize {
        let frame = self.rates.frame_of(tick);
        (frame as usize).saturating_sub(self.first_frame).min(self.frames.saturating_sub(1))
    }
}

/// Everything the events tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Story {
    pub(crate) stages: Vec<Stage>,
    pub(crate) things: Vec<Thing>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) hard_reset: bool,
}

impl Story {
    /// Reads the events that lie in the episode; its end belongs to it.
    pub(crate) fn read(events: &[(u64, Event)], clock: &Clock) -> Self {
        let shown = clock.first_tick()..=clock.end_tick();
        let events: Vec<_> = events.iter().filter(|(tick, _)| shown.contains(tick)).collect();
        let mut story = Self { stages: stages(&events, clock), ..Self::default() };
        let mut fetched_at = Vec::new();
        for (tick, event) in events {
            match event {
                Event::Target(chosen) => {
                    let thing = story.thing(&chosen.target);
                    thing.start_m = thing.start_m.or(chosen.object_m);
                    thing.attempts = thing.attempts.max(chosen.attempt.unwrap_or(1));
                    if !fetched_at.iter().any(|(name, _)| *name == chosen.target) {
                        fetched_at.push((chosen.target.clone(), *tick));
                    }
                }
                Event::Placed(placed) => {
                    let begun = fetched_at.iter().find(|(name, _)| *name == placed.target);
                    let seconds = begun.map(|(_, at)| clock.seconds(tick - at));
                    let thing = story.thing(&placed.target);
                    (thing.placed, thing.seconds) = (true, seconds);
                    thing.end_m = placed.object_m.or(thing.end_m);
                    thing.attempts = thing.attempts.max(placed.attempt.unwrap_or(1));
                }
                Event::Failed(failed) => {
                    let target = failed.target.clone().unwrap_or_default();
                    let (reason, attempt) = (failed.reason.name().to_owned(), failed.attempt);
                    let thing = story.thing(&target);
                    thing.attempts = thing.attempts.max(attempt.unwrap_or(1));
                    thing.reason = Some(reason.clone());
                    let state = failed.state.as_ref().map(|state| state.name().to_owned());
                    let (state, frame) = (state.unwrap_or_default(), clock.frame(*tick));
                    let recovered = false;
                    let failure = Failure { target, attempt, state, reason, frame, recovered };
                    story.failures.push(failure);
                }
                Event::Summary(summary) => story.sum_up(summary),
                _ => {}
            }
        }
        story.settle();
        story
    }

    /// The summary has the last word on every thing.
    fn sum_up(&mut self, summary: &Summary) {
        self.hard_reset |= summary.hard_reset;
        for told in &summary.targets {
            let thing = self.thing(&told.name);
            thing.placed = told.placed.unwrap_or(thing.placed);
            thing.attempts = told.attempts.unwrap_or(thing.attempts);
            let reason = told.reason.as_ref().map(|reason| reason.name().to_owned());
            thing.reason = reason.or(thing.reason.take());
            thing.start_m = told.start_m.or(thing.start_m);
            thing.end_m = told.end_m.or(thing.end_m);
        }
    }

    /// What only the end tells: which failures were made good, which reasons still hold.
    fn settle(&mut self) {
        self.things.retain(|thing| !thing.name.is_empty());
        for thing in &mut self.things {
            match thing.placed {
                true => thing.reason = None,
                false => thing.seconds = None,
            }
        }
        for failure in &mut self.failures {
            let placed = |thing: &Thing| thing.name == failure.target && thing.placed;
            failure.recovered = self.things.iter().any(placed);
        }
    }

    fn thing(&mut self, name: &str) -> &mut Thing {
        let index = self.things.iter().position(|thing| thing.name == name);
        let index = index.unwrap_or_else(|| {
            self.things.push(Thing { name: name.to_owned(), ..Thing::default() });
            self.things.len() - 1
        });
        &mut self.things[index]
    }
}

/// Times from one state to the next; phases of a script where no state was noted.
fn stages(events: &[&(u64, Event)], clock: &Clock) -> Vec<Stage> {
    let states = events.iter().filter_map(|(tick, event)| match event {
        Event::State(entered) => Some((*tick, entered.state.name().to_owned())),
        _ => None,
    });
    let mut begins: Vec<(u64, String)> = states.collect();
    if begins.is_empty() {
        let phases = events.iter().filter_map(|(tick, event)| match event {
            Event::Phase(phase) => Some((*tick, phase.clone())),
            _ => None,
        });
        begins = phases.collect();
    }
    let ends = begins.iter().skip(1).map(|(tick, _)| *tick).chain([clock.end_tick()]);
    let stage = |((tick, state), end): (&(u64, String), u64)| Stage {
        state: state.clone(),
        frame: clock.frame(*tick),
        seconds: clock.seconds(end.saturating_sub(*tick)),
    };
    begins.iter().zip(ends).map(stage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::event::RawEvent;
    use serde_json::{Value, json};

    const RATES: Rates = Rates { physics_hz: 240, control_hz: 120, frame_hz: 30 };

    fn event(tick: u64, name: &str, detail: Value) -> (u64, Event) {
        (tick, Event::from(RawEvent { name: name.into(), detail }))
    }

    fn retried() -> Vec<(u64, Event)> {
        let failed = json!({"target": "a", "attempt": 1, "state": "LIFT", "reason": "slip"});
        vec![
            event(0, "state", json!({"state": "APPROACH", "target": "a", "attempt": 1})),
            event(0, "target", json!({"target": "a", "attempt": 1, "object_m": [0.1, 0.2, 0.3]})),
            event(120, "state", json!({"state": "LIFT"})),
            event(180, "failed", failed),
            event(180, "target", json!({"target": "a", "attempt": 2, "object_m": [0.5, 0, 0]})),
            event(300, "placed", json!({"target": "a", "attempt": 2, "object_m": [1, 2, 3]})),
        ]
    }

    #[test]
    fn a_retried_thing_is_told_from_its_events_alone() {
        let story = Story::read(&retried(), &Clock::new(RATES, 0, 90));
        let thing = &story.things[0];
        assert_eq!((thing.placed, thing.attempts, thing.seconds), (true, 2, Some(2.5)));
        assert_eq!((thing.start_m, thing.end_m), (Some([0.1, 0.2, 0.3]), Some([1.0, 2.0, 3.0])));
        assert_eq!(thing.reason, None);
        let failure = &story.failures[0];
        assert_eq!((failure.frame, failure.recovered, failure.attempt), (45, true, Some(1)));
        let times: Vec<_> = story.stages.iter().map(|s| (s.state.as_str(), s.seconds)).collect();
        assert_eq!(times, [("APPROACH", 1.0), ("LIFT", 2.0)]);
    }

    #[test]
    fn the_summary_has_the_last_word() {
        let mut events = retried();
        let told = json!({"name": "a", "placed": false, "attempts": 3, "reason": "fell_off",
            "start_m": [0, 0, 0], "end_m": [9, 9, 0]});
        events.push(event(360, "summary", json!({"targets": [told], "hard_reset": true})));
        let story = Story::read(&events, &Clock::new(RATES, 0, 90));
        let thing = &story.things[0];
        assert_eq!((thing.placed, thing.attempts, thing.seconds), (false, 3, None));
        assert_eq!(thing.reason.as_deref(), Some("fell_off"));
        assert!(story.hard_reset && !story.failures[0].recovered);
    }

    #[test]
    fn a_trimmed_episode_shows_only_its_part() {
        let story = Story::read(&retried(), &Clock::new(RATES, 30, 20));
        assert_eq!(story.stages, [Stage { state: "LIFT".into(), frame: 0, seconds: 80.0 / 120.0 }]);
        assert_eq!(story.failures[0].frame, 15);
        assert!(!story.things[0].placed);
    }

    #[test]
    fn odd_and_missing_details_are_left_out() {
        let odd = [
            event(0, "state", json!("APPROACH")),
            event(0, "target", json!(null)),
            event(1, "placed", json!({"target": 7, "object_m": ["x"]})),
            event(2, "summary", json!({"targets": "none"})),
        ];
        let story = Story::read(&odd, &Clock::new(RATES, 0, 1));
        assert_eq!(story, Story::default());
        assert_eq!(Story::read(&[], &Clock::new(RATES, 0, 0)), Story::default());
    }

    #[test]
    fn phases_of_a_script_stand_in_for_states() {
        let events = [event(0, "phase", json!("down")), event(60, "phase", json!("up"))];
        let story = Story::read(&events, &Clock::new(RATES, 0, 30));
        let times: Vec<_> = story.stages.iter().map(|s| (s.state.as_str(), s.seconds)).collect();
        assert_eq!(times, [("down", 0.5), ("up", 0.5)]);
    }
}
