//! Two trees, one from the start and one from the goals, that grow toward each other until they
//! meet (RRT-Connect: Kuffner and LaValle, 2000).

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::arm::JointLimit;
use crate::config::{Config, MAX_JOINTS};
use crate::error::PlanError;
use crate::motions::Motions;
use crate::search::informed::Informed;
use crate::search::samples::{Ranges, Samples};
use crate::search::settings::SearchSettings;
use crate::search::tree::Tree;

/// The clock is read once in so many samples.
const CLOCK_EVERY: usize = 16;

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchResult {
    /// A path: each of its edges was proved free.
    Found {
        /// From the start, exactly as it was given, to a goal, exactly as it was given.
        path: Vec<Config>,
        /// Which goal it leads to.
        goal: usize,
        /// Samples that were tried.
        iterations: usize,
    },
    /// None was found. There may be one.
    NoPath {
        /// Samples that were tried.
        iterations: usize,
        /// What ran out.
        reason: Spent,
    },
    /// The robot touches something at the start, or a joint is out of its range there.
    StartBlocked,
    /// The same for every goal, or there is none.
    GoalBlocked,
}

/// What a search that found nothing had used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spent {
    /// All samples.
    Iterations,
    /// All nodes.
    Nodes,
    /// All collision checks.
    Checks,
    /// All time.
    Time,
}

/// Searches for paths. Its memory is its own, starts small and is used again by the next search.
pub struct Planner {
    pub(super) settings: SearchSettings,
    pub(super) ranges: Ranges,
    /// From the start, and from the goals.
    pub(super) trees: [Tree; 2],
    /// The last path, for [`Planner::replan`].
    pub(super) last: Vec<Config>,
    /// Where to look, when only a shorter path is looked for.
    pub(super) informed: Option<Informed>,
}

impl Planner {
    /// For joints with these limits.
    ///
    /// # Errors
    /// When there are too many joints, or a setting makes no sense.
    pub fn new(limits: &[JointLimit], settings: SearchSettings) -> Result<Self, PlanError> {
        settings.check()?;
        if limits.is_empty() || limits.len() > MAX_JOINTS {
            let reason = format!("{}: 1 to {MAX_JOINTS} are right", limits.len());
            return Err(PlanError::bad("joints to plan for", reason));
        }
        let ranges = Ranges::of(limits);
        let trees = std::array::from_fn(|_| Tree::new(ranges.joints()));
        Ok(Self { settings, ranges, trees, last: Vec::new(), informed: None })
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &SearchSettings {
        &self.settings
    }

    /// Other samples from now on.
    pub fn set_seed(&mut self, seed: u64) {
        self.settings.seed = seed;
    }

    /// Searches for a path from the start to any of the goals. What was searched before has no
    /// influence.
    pub fn plan<M: Motions>(
        &mut self,
        motions: &mut M,
        start: &Config,
        goals: &[Config],
    ) -> SearchResult {
        self.last.clear();
        if !self.is_possible(motions, start) {
            return SearchResult::StartBlocked;
        }
        let [from_start, from_goals] = &mut self.trees;
        from_start.clear();
        from_goals.clear();
        from_start.add_root(start);
        for goal in goals {
            if self.ranges.contain(goal) && motions.is_free(goal) {
                self.trees[1].add_root(goal);
            }
        }
        if self.trees[1].len() == 0 {
            return SearchResult::GoalBlocked;
        }
        if let Some(path) = self.straight(motions, start, goals) {
            return self.found(path, goals, 0);
        }
        self.grow(motions, goals)
    }

    /// Whether the robot may be there.
    pub(super) fn is_possible<M: Motions>(&self, motions: &mut M, at: &Config) -> bool {
        self.ranges.contain(at) && motions.is_free(at)
    }

    /// The straight way to the nearest goal that has one.
    pub(super) fn straight<M: Motions>(
        &self,
        motions: &mut M,
        start: &Config,
        goals: &[Config],
    ) -> Option<Vec<Config>> {
        let mut goals: Vec<&Config> = goals.iter().filter(|g| self.ranges.contain(g)).collect();
        goals.sort_by(|a, b| start.distance(a).total_cmp(&start.distance(b)));
        let goal = goals.into_iter().find(|goal| motions.is_motion_free(start, goal))?;
        Some(vec![*start, *goal])
    }

    /// A path as the answer; it is remembered.
    pub(super) fn found(
        &mut self,
        path: Vec<Config>,
        goals: &[Config],
        iterations: usize,
    ) -> SearchResult {
        let goal = goals.iter().position(|goal| path.last() == Some(goal)).unwrap_or(0);
        self.last.clone_from(&path);
        SearchResult::Found { path, goal, iterations }
    }

    /// Grows both trees until they meet or the effort is spent.
    pub(super) fn grow<M: Motions>(&mut self, motions: &mut M, goals: &[Config]) -> SearchResult {
        let began = Instant::now();
        let time_limit = self.settings.time_limit_s.map(Duration::from_secs_f64);
        let mut samples = Samples::new(self.settings.seed);
        let last_check = self.settings.max_checks.map(|most| motions.checks().saturating_add(most));
        let mut turn = 0;
        for iteration in 0..self.settings.max_iterations {
            let late = |limit: Duration| began.elapsed() > limit;
            if iteration % CLOCK_EVERY == 0 && time_limit.is_some_and(late) {
                return SearchResult::NoPath { iterations: iteration, reason: Spent::Time };
            }
            if last_check.is_some_and(|last| motions.checks() > last) {
                return SearchResult::NoPath { iterations: iteration, reason: Spent::Checks };
            }
            if self.trees[0].len() + self.trees[1].len() >= self.settings.max_nodes {
                return SearchResult::NoPath { iterations: iteration, reason: Spent::Nodes };
            }
            // The smaller tree grows; in turn, where they are the same.
            let [size, other] = [turn, 1 - turn].map(|tree| self.trees[tree].alive());
            let growing = if size <= other { turn } else { 1 - turn };
            turn = 1 - growing;
            let (low, high) = self.trees[growing].bounds();
            let region = self.ranges.around(low, high, self.settings.around_rad);
            let sample = match &self.informed {
                None => samples.next(&region),
                Some(informed) => samples.next_informed(informed, &region, &self.ranges),
            };
            let Some(new) = self.extend(motions, growing, &sample) else { continue };
            if let Some(met) = self.connect(motions, 1 - growing, growing, new) {
                let ends = if growing == 0 { [new, met] } else { [met, new] };
                let path = self.path_through(ends);
                return self.found(path, goals, iteration + 1);
            }
        }
        SearchResult::NoPath { iterations: self.settings.max_iterations, reason: Spent::Iterations }
    }

    /// One step of a tree toward a sample; the new node, if the way to it is free.
    fn extend<M: Motions>(&mut self, motions: &mut M, tree: usize, to: &Config) -> Option<u32> {
        let from_start = tree == 0;
        let tree = &mut self.trees[tree];
        let (near, distance) = tree.nearest(to, motions)?;
        let range = self.settings.range_rad;
        let next = if distance > range {
            self.ranges.clamp(tree.at(near).toward(to, range / distance))
        } else {
            *to
        };
        if let Some(informed) = &self.informed {
            let so_far_rad = tree.to_root_rad(near) + tree.at(near).distance(&next);
            if !informed.is_promising(&next, so_far_rad, from_start) {
                return None;
            }
        }
        motions.is_motion_free(tree.at(near), &next).then(|| tree.add(&next, near))
    }

    /// Grows a tree straight toward a node of the other, as far as it gets. The last node of it
    /// when it arrived.
    fn connect<M: Motions>(
        &mut self,
        motions: &mut M,
        tree: usize,
        other: usize,
        toward: u32,
    ) -> Option<u32> {
        let to = *self.trees[other].at(toward);
        let tree = &mut self.trees[tree];
        let (near, distance) = tree.nearest(&to, motions)?;
        let from = *tree.at(near);
        let steps = (distance / self.settings.range_rad).ceil().max(1.0);
        let mut last = near;
        let mut step = 1.0;
        while step < steps {
            let next = self.ranges.clamp(from.toward(&to, step / steps));
            if !motions.is_motion_free(tree.at(last), &next) {
                return None;
            }
            last = tree.add(&next, last);
            step += 1.0;
        }
        motions.is_motion_free(tree.at(last), &to).then_some(last)
    }

    /// From the start to a goal through two nodes between which the way is free.
    pub(super) fn path_through(&self, [from_start, from_goal]: [u32; 2]) -> Vec<Config> {
        let mut path = Vec::new();
        self.trees[0].walk_to_root(from_start, &mut path);
        path.reverse();
        self.trees[1].walk_to_root(from_goal, &mut path);
        path.dedup();
        path
    }
}
