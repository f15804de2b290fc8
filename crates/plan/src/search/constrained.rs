//! The same two trees where a motion must keep something all the way, such as a tool upright:
//! every step is brought back to where it is kept, and every edge is proved to keep it
//! (CBiRRT: Berenson and others, 2009).

use std::time::{Duration, Instant};

use citrange_core::rng::Rng;

use crate::config::Config;
use crate::motions::Motions;
use crate::search::path_length_rad;
use crate::search::planner::{Planner, SearchResult, Spent};
use crate::search::samples::{Ranges, Samples};

/// Longest step between two projections.
const STEP_RAD: f32 = 0.4;
/// Halvings of a step whose edge is not proved.
const HALVINGS: u32 = 3;
/// Steps toward a sample.
const STEPS: usize = 4;
/// Steps toward the other tree.
const MOST_STEPS: usize = 120;
/// A step must come nearer by this share of it.
const PROGRESS: f32 = 0.1;
/// Most samples: each costs much more than without a constraint.
const MOST_SAMPLES: usize = 20_000;
/// The clock is read once in so many samples.
const CLOCK_EVERY: usize = 16;
/// Shortcuts that gain less than this are not worth a proof.
const LEAST_GAIN_RAD: f64 = 0.02;

/// Motions that keep something; "free" means that it is kept as well.
pub(crate) trait Constrained: Motions {
    /// A configuration near to this one that keeps it; within the joints' ranges.
    fn project(&mut self, at: &Config) -> Option<Config>;
}

impl Planner {
    /// As [`Planner::plan`], shortened too.
    pub(crate) fn plan_constrained<M: Constrained>(
        &mut self,
        motions: &mut M,
        start: &Config,
        goals: &[Config],
    ) -> SearchResult {
        self.last.clear();
        if !self.is_possible(motions, start) {
            return SearchResult::StartBlocked;
        }
        self.trees.iter_mut().for_each(super::tree::Tree::clear);
        self.trees[0].add_root(start);
        for goal in goals {
            if self.is_possible(motions, goal) {
                self.trees[1].add_root(goal);
            }
        }
        if self.trees[1].len() == 0 {
            return SearchResult::GoalBlocked;
        }
        let mut found = match self.straight(motions, start, goals) {
            Some(path) => self.found(path, goals, 0),
            None => self.grow_constrained(motions, goals),
        };
        if let SearchResult::Found { path, .. } = &mut found {
            self.shorten_constrained(motions, path);
            self.last.clone_from(path);
        }
        found
    }

    fn grow_constrained<M: Constrained>(
        &mut self,
        motions: &mut M,
        goals: &[Config],
    ) -> SearchResult {
        let began = Instant::now();
        let time_limit = self.settings.time_limit_s.map(Duration::from_secs_f64);
        let mut samples = Samples::new(self.settings.seed);
        let most = self.settings.max_iterations.min(MOST_SAMPLES);
        let last_check = self.settings.max_checks.map(|most| motions.checks().saturating_add(most));
        let mut turn = 0;
        for iteration in 0..most {
            if last_check.is_some_and(|last| motions.checks() > last) {
                return SearchResult::NoPath { iterations: iteration, reason: Spent::Checks };
            }
            let late = |limit: Duration| began.elapsed() > limit;
            if iteration % CLOCK_EVERY == 0 && time_limit.is_some_and(late) {
                return SearchResult::NoPath { iterations: iteration, reason: Spent::Time };
            }
            if self.trees[0].len() + self.trees[1].len() >= self.settings.max_nodes {
                return SearchResult::NoPath { iterations: iteration, reason: Spent::Nodes };
            }
            let (growing, other) = (turn, 1 - turn);
            turn = other;
            let (low, high) = self.trees[growing].bounds();
            let region = self.ranges.around(low, high, self.settings.around_rad);
            // The first sample of each tree is the other's root: the straightest way.
            let sample =
                if iteration < 2 { *self.trees[other].at(0) } else { samples.next(&region) };
            let Some((new, _)) = self.walk_tree(motions, growing, &sample, STEPS) else { continue };
            let to = *self.trees[growing].at(new);
            if let Some((met, true)) = self.walk_tree(motions, other, &to, MOST_STEPS) {
                let ends = if growing == 0 { [new, met] } else { [met, new] };
                let path = self.path_through(ends);
                return self.found(path, goals, iteration + 1);
            }
        }
        SearchResult::NoPath { iterations: most, reason: Spent::Iterations }
    }

    /// Grows a tree toward a configuration; the last node, and whether that is it.
    fn walk_tree<M: Constrained>(
        &mut self,
        motions: &mut M,
        tree: usize,
        to: &Config,
        steps: usize,
    ) -> Option<(u32, bool)> {
        let (near, _) = self.trees[tree].nearest(to, motions)?;
        let from = *self.trees[tree].at(near);
        let mut way = Vec::new();
        let arrived = walk(motions, &self.ranges, &from, to, steps, &mut way);
        let mut last = near;
        for at in &way {
            last = self.trees[tree].add(at, last);
        }
        (arrived || !way.is_empty()).then_some((last, arrived))
    }

    fn shorten_constrained<M: Constrained>(&self, motions: &mut M, path: &mut Vec<Config>) {
        let settings = &self.settings.simplify;
        let mut rng = Rng::new(self.settings.seed);
        let mut length_rad = path_length_rad(path);
        for _ in 0..settings.max_rounds {
            for _ in 0..settings.shortcuts {
                if path.len() < 3 {
                    return;
                }
                let mut pick = || (rng.unit() * path.len() as f64) as usize;
                let (a, b) = (pick(), pick());
                let (a, b) = (a.min(b), a.max(b).min(path.len() - 1));
                if b < a + 2 {
                    continue;
                }
                let now_rad = path_length_rad(&path[a..=b]);
                if now_rad - f64::from(path[a].distance(&path[b])) < LEAST_GAIN_RAD {
                    continue;
                }
                let mut way = vec![path[a]];
                let to = path[b];
                let from = path[a];
                if walk(motions, &self.ranges, &from, &to, MOST_STEPS, &mut way)
                    && path_length_rad(&way) < now_rad - LEAST_GAIN_RAD
                {
                    path.splice(a..=b, way);
                }
            }
            super::simplify::reduce(motions, path);
            let before_rad = std::mem::replace(&mut length_rad, path_length_rad(path));
            if before_rad - length_rad <= f64::from(settings.min_gain) * before_rad {
                return;
            }
        }
    }
}

/// From a configuration toward another one, step by step; the steps are appended. Whether it got
/// there: then the last one is it.
fn walk<M: Constrained>(
    motions: &mut M,
    ranges: &Ranges,
    from: &Config,
    to: &Config,
    steps: usize,
    way: &mut Vec<Config>,
) -> bool {
    let mut last = *from;
    for _ in 0..steps {
        let left_rad = last.distance(to);
        if left_rad == 0.0 {
            return true;
        }
        if left_rad <= STEP_RAD && motions.is_motion_free(&last, to) {
            way.push(*to);
            return true;
        }
        let mut step_rad = STEP_RAD.min(left_rad);
        let mut next = None;
        for _ in 0..HALVINGS {
            let there = ranges.clamp(last.toward(to, step_rad / left_rad));
            let made = motions.project(&there).filter(|at| ranges.contain(at));
            let near = |at: &Config| at.distance(to) <= left_rad - PROGRESS * step_rad;
            if let Some(at) = made.filter(near)
                && motions.is_motion_free(&last, &at)
            {
                next = Some(at);
                break;
            }
            step_rad /= 2.0;
        }
        let Some(at) = next else { return false };
        way.push(at);
        last = at;
    }
    last == *to
}
