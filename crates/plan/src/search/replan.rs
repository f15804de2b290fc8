//! A path when the world has changed: what is still free of the last search is used again.

use serde::Serialize;

use crate::config::Config;
use crate::motions::Motions;
use crate::search::planner::{Planner, SearchResult};
use crate::search::tighten::nearest_on_edge;
use crate::search::tree::Tree;

/// Trees with more nodes than this are not taken over: it would take longer than a new search.
const MAX_KEPT_NODES: usize = 20_000;

/// How much of an earlier path is in a newer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reused {
    /// All that is ahead: it was proved again.
    Kept,
    /// Parts of it were proved again, others are new.
    Mended,
    /// Nothing.
    Replanned,
}

impl Reused {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "the old path, proved again",
            Self::Mended => "the old path, mended",
            Self::Replanned => "a new path: nothing of the old one could be kept",
        }
    }
}

impl Planner {
    /// Takes a path as if it had been found by the last search: [`Planner::replan`] begins with
    /// it. Nothing of it counts as proved.
    pub fn remember(&mut self, path: &[Config]) {
        self.trees.iter_mut().for_each(Tree::clear);
        self.last = path.to_vec();
    }

    /// As [`Planner::replan`], with how much of the path before is in the answer.
    pub fn replan_from<M: Motions>(
        &mut self,
        motions: &mut M,
        start: &Config,
        goals: &[Config],
    ) -> (SearchResult, Reused) {
        let before = from_here(&self.last, start);
        let result = self.replan(motions, start, goals);
        let SearchResult::Found { path, .. } = &result else { return (result, Reused::Replanned) };
        let is_old = |edge: &[Config]| before.windows(2).any(|old| old == edge);
        let reused = if *path == before {
            Reused::Kept
        } else if path.windows(2).any(is_old) {
            Reused::Mended
        } else {
            Reused::Replanned
        };
        (result, reused)
    }

    /// Searches like [`Planner::plan`], in a world, from a start or to goals that may differ from
    /// the last search's. The last path is proved again from where the robot is now; if it is
    /// blocked, the free parts of it and of both trees are where the search begins. Nothing is
    /// taken over that was not proved again.
    pub fn replan<M: Motions>(
        &mut self,
        motions: &mut M,
        start: &Config,
        goals: &[Config],
    ) -> SearchResult {
        if !self.is_possible(motions, start) {
            return SearchResult::StartBlocked;
        }
        let free_goals: Vec<Config> =
            goals.iter().filter(|goal| self.is_possible(motions, goal)).copied().collect();
        if free_goals.is_empty() {
            return SearchResult::GoalBlocked;
        }
        let way = from_here(&self.last, start);
        let leads_to_goal = way.last().is_some_and(|end| free_goals.contains(end));
        let edges = way.windows(2);
        let proved: Vec<bool> = edges.map(|e| motions.is_motion_free(&e[0], &e[1])).collect();
        if leads_to_goal && proved.iter().all(|free| *free) {
            return self.found(way, goals, 0);
        }
        if let Some(path) = self.straight(motions, start, &free_goals) {
            return self.found(path, goals, 0);
        }
        self.take_over(start, &free_goals);
        let first_blocked = proved.iter().position(|free| !free).unwrap_or(proved.len());
        self.add_way(0, way.iter().take(first_blocked + 1));
        if leads_to_goal {
            let free_at_end = proved.iter().rev().take_while(|free| **free).count();
            self.add_way(1, way.iter().rev().take(free_at_end + 1));
        }
        self.grow(motions, goals)
    }

    /// Makes trees of this start and these goals of the last ones, nothing of them proved.
    fn take_over(&mut self, start: &Config, goals: &[Config]) {
        let nodes = self.trees[0].len() + self.trees[1].len();
        let alive = self.trees[0].alive() + self.trees[1].alive();
        let most = MAX_KEPT_NODES.min(self.settings.max_nodes / 2);
        if nodes > most || alive * 2 < nodes {
            self.trees.iter_mut().for_each(Tree::clear);
        }
        let [from_start, from_goals] = &mut self.trees;
        if from_start.root_at(start).is_none() {
            from_start.hang_on(start);
        }
        if let Some(goal) = goals.first()
            && !goals.iter().any(|goal| from_goals.root_at(goal).is_some())
        {
            from_goals.hang_on(goal);
        }
        from_start.doubt(|root| root == start);
        from_goals.doubt(|root| goals.contains(root));
        for goal in goals {
            if from_goals.root_at(goal).is_none() {
                from_goals.add_root(goal);
            }
        }
    }

    /// Adds a way that was proved, root first, to a tree.
    fn add_way<'a>(&mut self, tree: usize, mut way: impl Iterator<Item = &'a Config>) {
        let tree = &mut self.trees[tree];
        let Some(mut last) = way.next().and_then(|root| tree.root_at(root)) else { return };
        for at in way {
            last = tree.add(at, last);
        }
    }
}

/// The rest of a path from a configuration that may be beside it: straight to the end of its
/// nearest edge, then along it.
fn from_here(path: &[Config], here: &Config) -> Vec<Config> {
    if path.first() == Some(here) {
        return path.to_vec();
    }
    let mut nearest = (f32::INFINITY, path.len());
    for (edge, ends) in path.windows(2).enumerate() {
        let distance = here.distance(&nearest_on_edge(&ends[0], &ends[1], here));
        if distance <= nearest.0 {
            nearest = (distance, edge + 1);
        }
    }
    let mut way = vec![*here];
    way.extend(path.iter().skip(nearest.1).skip_while(|at| *at == here));
    way
}
