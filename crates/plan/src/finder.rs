//! What can answer "from here to there, around this": a search, a policy, one after the other.

use crate::arm::PlannedArm;
use crate::collide::Collider;
use crate::config::Config;
use crate::error::PlanError;
use crate::goal::PlanGoal;
use crate::search::{Effort, Improved, Planner, Reused, SearchResult};

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
    /// How much is spent on a better path than the first.
    pub effort: &'a Effort,
    /// Way-points of a path that was planned before, for a world that has changed since.
    pub before: Option<&'a [Vec<f64>]>,
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
    /// What was spent on a better path than the first, and what came of it.
    pub improved: Option<Improved>,
    /// How much of the path before is in this one, where there was one.
    pub reused: Option<Reused>,
}

impl FoundPath {
    /// An answer with nothing more to say of it.
    #[must_use]
    pub fn new(result: SearchResult, by: &'static str) -> Self {
        Self { result, by, notes: Vec::new(), improved: None, reused: None }
    }
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

/// The search of this crate: two trees, then shortcuts and better paths; a path from before is kept
/// or mended first.
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
        let PathQuestion { from, candidates, effort, before, .. } = *question;
        let (result, reused) = match before {
            None => (planner.plan(collider, from, candidates), None),
            Some(before) => {
                planner.remember(&before.iter().map(|at| Config::of(at)).collect::<Vec<_>>());
                let (result, reused) = planner.replan_from(collider, from, candidates);
                (result, Some(reused))
            }
        };
        let mut found = FoundPath { reused, ..FoundPath::new(result, Self::NAME) };
        // What is still right stays as it is: the robot may be on its way along it.
        if reused != Some(Reused::Kept)
            && let SearchResult::Found { path, goal, .. } = &mut found.result
        {
            planner.simplify(collider, path);
            found.improved = Some(planner.improve(collider, candidates, path, effort));
            *goal = candidates.iter().position(|at| path.last() == Some(at)).unwrap_or(*goal);
        }
        Ok(found)
    }
}
