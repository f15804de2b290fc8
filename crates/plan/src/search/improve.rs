//! A better path, given more effort: the whole search again and again with other samples.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::config::Config;
use crate::motions::Motions;
use crate::search::planner::{Planner, SearchResult};
use crate::search::tree::Tree;

/// How much may be spent on a better path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Searches; at least one is done.
    pub rounds: usize,
    /// No further searches begin after this time.
    pub time_limit: Option<Duration>,
}

/// The best of several searches.
#[derive(Clone, Debug, PartialEq)]
pub struct Improved {
    /// The shortest path, simplified; or why there is none.
    pub result: SearchResult,
    /// Its length; 0 where there is none.
    pub length_rad: f64,
    /// Searches that were done. Together with the seed it decides the result: time and threads
    /// do not.
    pub rounds: usize,
}

impl Planner {
    /// Searches and simplifies several times, on all threads, each with motions of its own, and
    /// keeps the shortest path (the earliest of equals). The first round is what
    /// [`Planner::plan`] and [`Planner::simplify`] do, the next ones have the seeds that follow.
    /// What is found is remembered for [`Planner::replan`].
    pub fn improve<M: Motions>(
        &mut self,
        new_motions: impl Fn() -> M + Sync,
        start: &Config,
        goals: &[Config],
        effort: &Effort,
    ) -> Improved {
        let began = Instant::now();
        let all_rounds = effort.rounds.max(1);
        let at_once = rayon::current_num_threads().max(1);
        let mut best = Improved { result: SearchResult::GoalBlocked, length_rad: 0.0, rounds: 0 };
        while best.rounds < all_rounds {
            let batch = best.rounds..(best.rounds + at_once).min(all_rounds);
            let ready = || (self.fresh(), new_motions());
            let tried: Vec<(SearchResult, f64)> = batch
                .into_par_iter()
                .map_init(ready, |(planner, motions), round| {
                    planner.settings.seed = self.settings.seed.wrapping_add(round as u64);
                    planner.round(motions, start, goals)
                })
                .collect();
            for (result, length_rad) in tried {
                best.consider(result, length_rad);
            }
            let late = effort.time_limit.is_some_and(|limit| began.elapsed() > limit);
            if late || best.cannot_be_better() {
                break;
            }
        }
        if let SearchResult::Found { path, .. } = &best.result {
            self.last.clone_from(path);
        }
        best
    }

    /// Another planner with the same settings and no memory.
    fn fresh(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            ranges: self.ranges.clone(),
            trees: std::array::from_fn(|_| Tree::new(self.ranges.joints())),
            last: Vec::new(),
        }
    }

    fn round<M: Motions>(
        &mut self,
        motions: &mut M,
        start: &Config,
        goals: &[Config],
    ) -> (SearchResult, f64) {
        let mut result = self.plan(motions, start, goals);
        let length_rad = match &mut result {
            SearchResult::Found { path, .. } => self.simplify(motions, path),
            _ => 0.0,
        };
        (result, length_rad)
    }
}

impl Improved {
    /// Takes the next round's result if it is the first or better.
    fn consider(&mut self, result: SearchResult, length_rad: f64) {
        let better = match (&self.result, &result) {
            (SearchResult::Found { .. }, SearchResult::Found { .. }) => {
                length_rad < self.length_rad
            }
            (_, SearchResult::Found { .. }) => true,
            _ => self.rounds == 0,
        };
        self.rounds += 1;
        if better {
            self.result = result;
            self.length_rad = length_rad;
        } else if let (
            SearchResult::NoPath { iterations, reason },
            SearchResult::NoPath { iterations: more, reason: newest },
        ) = (&mut self.result, result)
        {
            *iterations += more;
            *reason = newest;
        }
    }

    /// Whether no round can find anything else: the ends are blocked, or the way is straight.
    fn cannot_be_better(&self) -> bool {
        match &self.result {
            SearchResult::Found { path, .. } => path.len() <= 2,
            SearchResult::NoPath { .. } => false,
            SearchResult::StartBlocked | SearchResult::GoalBlocked => true,
        }
    }
}
