//! All numbers of a report, from the facts of its episodes.

use std::collections::BTreeMap;

use citrange_core::event::TaskState;
use serde::Serialize;

use crate::stats::{Rate, Spread};
use crate::survey::EpisodeFacts;

/// States in which an autopilot waits: how long says nothing about its work.
const RESTING: [TaskState; 3] = [TaskState::Idle, TaskState::Success, TaskState::Failed];

/// Where a state comes in the autopilot's work; others come after.
fn rank(state: &str) -> usize {
    let known = TaskState::ALL.iter().position(|known| known.name() == state);
    known.unwrap_or(TaskState::ALL.len())
}

/// What a report says in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Numbers {
    /// Number of episodes.
    pub episodes: usize,
    /// Those that somebody judged, and how many of them went well; `None` when none was judged.
    pub success: Option<Rate>,
    /// Recorded time, all episodes together.
    pub hours: f64,
    /// Lengths of episodes, in seconds.
    pub length_s: Option<Spread>,
    /// Things that were to be brought and how many were; `None` when no tape tells.
    pub things: Option<Rate>,
    /// Things placed by the first attempt.
    pub placed_at_once: usize,
    /// Things placed by a later attempt.
    pub placed_by_retry: usize,
    /// Time from the first attempt's begin to the placing, for things placed.
    pub thing_s: Option<Spread>,
    /// Episodes after which the world had to be set anew.
    pub hard_resets: usize,
    /// How episodes ended, the most frequent first.
    pub outcomes: Vec<OutcomeCount>,
    /// What failed, the most frequent first.
    pub failures: Vec<FailureCount>,
    /// Time spent in each state, in the order of the work.
    pub states: Vec<StateTimes>,
}

/// How often episodes ended in a way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutcomeCount {
    /// Why they ended; empty where nobody said.
    pub reason: String,
    /// Whether the task was done; `None` where nobody judged.
    pub success: Option<bool>,
    /// How many.
    pub count: usize,
}

/// How often something failed in a state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureCount {
    /// Why.
    pub reason: String,
    /// In which state; empty where nobody said.
    pub state: String,
    /// How often a later attempt made it good.
    pub recovered: usize,
    /// How often not.
    pub lost: usize,
}

/// Time spent in a state, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateTimes {
    /// The state.
    pub state: String,
    /// How long it lasted.
    pub seconds: Spread,
}

impl Numbers {
    /// Counts and measures.
    #[must_use]
    pub fn of(episodes: &[EpisodeFacts]) -> Self {
        let judged = || episodes.iter().filter_map(|facts| facts.success);
        let things = || episodes.iter().flat_map(|facts| &facts.things);
        let placed = || things().filter(|thing| thing.placed);
        let placed_at_once = placed().filter(|thing| thing.attempts <= 1).count();
        let seconds = episodes.iter().map(|facts| facts.seconds);
        Self {
            episodes: episodes.len(),
            success: Rate::new(judged().filter(|good| *good).count(), judged().count()),
            hours: seconds.clone().sum::<f64>() / 3600.0,
            length_s: Spread::of(seconds),
            things: Rate::new(placed().count(), things().count()),
            placed_at_once,
            placed_by_retry: placed().count() - placed_at_once,
            thing_s: Spread::of(placed().filter_map(|thing| thing.seconds)),
            hard_resets: episodes.iter().filter(|facts| facts.hard_reset).count(),
            outcomes: outcomes(episodes),
            failures: failures(episodes),
            states: states(episodes),
        }
    }
}

fn outcomes(episodes: &[EpisodeFacts]) -> Vec<OutcomeCount> {
    let mut counts = BTreeMap::new();
    for facts in episodes {
        *counts.entry((facts.reason.clone(), facts.success)).or_insert(0) += 1;
    }
    let count = |((reason, success), count)| OutcomeCount { reason, success, count };
    let mut all: Vec<_> = counts.into_iter().map(count).collect();
    all.sort_by_key(|outcome| std::cmp::Reverse(outcome.count));
    all
}

fn failures(episodes: &[EpisodeFacts]) -> Vec<FailureCount> {
    let mut counts: BTreeMap<(String, String), [usize; 2]> = BTreeMap::new();
    for failure in episodes.iter().flat_map(|facts| &facts.failures) {
        let key = (failure.reason.clone(), failure.state.clone());
        counts.entry(key).or_default()[usize::from(failure.recovered)] += 1;
    }
    let counts = counts.into_iter();
    let mut all: Vec<_> = counts
        .map(|((reason, state), [lost, recovered])| FailureCount { reason, state, recovered, lost })
        .collect();
    all.sort_by_key(|failure| std::cmp::Reverse(failure.lost + failure.recovered));
    all
}

fn states(episodes: &[EpisodeFacts]) -> Vec<StateTimes> {
    let mut times: Vec<(&str, Vec<f64>)> = Vec::new();
    for stage in episodes.iter().flat_map(|facts| &facts.stages) {
        if RESTING.iter().any(|resting| resting.name() == stage.state) {
            continue;
        }
        match times.iter_mut().find(|(state, _)| *state == stage.state) {
            Some((_, seconds)) => seconds.push(stage.seconds),
            None => times.push((&stage.state, vec![stage.seconds])),
        }
    }
    // A stable sort: unknown states stay in the order in which they were met.
    times.sort_by_key(|(state, _)| rank(state));
    let spread = |(state, seconds): (&str, Vec<f64>)| {
        Some(StateTimes { state: state.to_owned(), seconds: Spread::of(seconds)? })
    };
    times.into_iter().filter_map(spread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::{Failure, Stage, Thing};

    fn thing(attempts: u64, placed: bool) -> Thing {
        Thing {
            name: "a".into(),
            placed,
            attempts,
            seconds: placed.then_some(attempts as f64 * 8.0),
            ..Thing::default()
        }
    }

    fn facts(episode: usize, success: Option<bool>, things: Vec<Thing>) -> EpisodeFacts {
        let stage = |state: &str, seconds| Stage { state: state.into(), frame: 0, seconds };
        let failure = |recovered| Failure {
            state: "LIFT".into(),
            reason: "slip".into(),
            recovered,
            ..Failure::default()
        };
        EpisodeFacts {
            episode,
            frames: 540,
            seconds: 18.0,
            success,
            reason: if success == Some(true) { "placed_all" } else { "slip" }.into(),
            failures: things.iter().filter(|t| t.attempts > 1).map(|t| failure(t.placed)).collect(),
            things,
            stages: vec![stage("odd", 1.0), stage("LIFT", 2.0), stage("IDLE", 9.0)],
            ..EpisodeFacts::default()
        }
    }

    #[test]
    fn everything_is_counted_once() {
        let numbers = Numbers::of(&[
            facts(0, Some(true), vec![thing(1, true), thing(2, true)]),
            facts(1, Some(false), vec![thing(3, false)]),
            facts(2, None, vec![]),
        ]);
        let rate = |rate: Option<Rate>| rate.map(|r| (r.good, r.of));
        assert_eq!((rate(numbers.success), rate(numbers.things)), (Some((1, 2)), Some((2, 3))));
        assert_eq!((numbers.placed_at_once, numbers.placed_by_retry), (1, 1));
        assert_eq!(numbers.thing_s.unwrap().mean, 12.0);
        assert_eq!(numbers.hours, 3.0 * 18.0 / 3600.0);
        let [slip] = &numbers.failures[..] else { panic!("{:?}", numbers.failures) };
        assert_eq!((slip.recovered, slip.lost), (1, 1));
        let states: Vec<_> = numbers.states.iter().map(|s| s.state.as_str()).collect();
        assert_eq!(states, ["LIFT", "odd"]);
        assert_eq!(numbers.outcomes.iter().map(|o| o.count).sum::<usize>(), 3);
    }

    #[test]
    fn no_episode_gives_no_rates() {
        let numbers = Numbers::of(&[]);
        assert_eq!(numbers, Numbers::default());
    }
}
