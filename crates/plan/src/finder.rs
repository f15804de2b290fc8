//! What can answer "from here to there, around this": a search, a policy, one after the other.

use crate::arm::PlannedArm;
use crate::collide::Collider;
use crate::config::Config;
use crate::error::PlanError;
use crate::goal::PlanGoal;
use crate::search::{Effort, Planner, SearchResult};

/// A question for a path. What is in the way is the collider's.
#[derive(Clone, Copy, Debug)]
pub struct PathQuestion<'a> {
    /// The arm, where it stands.
    pub arm: &'a PlannedArm,
    /// Where the path begins; it touches nothing there.
    pub from: &'a Config,
    /// What was asked for.
    pub goal: &'a PlanGoal,
    /// Configurations that are there and touch nothing, the nearest first.
    pub candidates: &'a [Config],
    /// Searches of which the best is taken.
    pub effort: &'a Effort,
}

/// An answer, and who gave it.
#[derive(Clone, Debug)]
pub struct FoundPath {
    /// A path of which every edge was proved free by the collider, or the reason for none.
    pub result: SearchResult,
    /// Who found it: `birrt`, `policy`, …
    pub by: &'static str,
    /// What people should know, such as that a policy found no way.
    pub notes: Vec<String>,
}

/// Finds paths. "Found" is a promise: every edge is proved free by the collider.
pub trait PathFinder {
    /// Looks for a path.
    ///
    /// # Errors
    /// When the question makes no sense, such as for another robot.
    fn find(
        &mut self,
        question: &PathQuestion<'_>,
        collider: &mut Collider,
        planner: &mut Planner,
    ) -> Result<FoundPath, PlanError>;
}

/// The search of this crate: two trees, then shortcuts.
#[derive(Clone, Copy, Debug, Default)]
pub struct BiRrt;

impl BiRrt {
    /// What its answers say of who gave them.
    pub const NAME: &'static str = "birrt";
}

impl PathFinder for BiRrt {
    fn find(
        &mut self,
        question: &PathQuestion<'_>,
        collider: &mut Collider,
        planner: &mut Planner,
    ) -> Result<FoundPath, PlanError> {
        let found = |result| FoundPath { result, by: BiRrt::NAME, notes: Vec::new() };
        let PathQuestion { from, candidates, effort, .. } = *question;
        if effort.rounds > 1 {
            let shared = &*collider;
            let improved = planner.improve(|| shared.clone(), from, candidates, effort);
            return Ok(found(improved.result));
        }
        let mut result = planner.plan(collider, from, candidates);
        if let SearchResult::Found { path, .. } = &mut result {
            planner.simplify(collider, path);
        }
        Ok(found(result))
    }
}
