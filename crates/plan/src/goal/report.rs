//! What is asked of a check, and what it answers.

use serde::Serialize;

use crate::config::Config;
use crate::outcome::Outcome;

/// What counts as reaching a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalSettings {
    /// How near the tool must come where it cannot come exactly.
    pub tolerance_m: f64,
    /// And how nearly turned as asked.
    pub tolerance_rad: f64,
    /// Whether to go to the nearest free place instead of a goal in collision, and to back out
    /// of a collision at the start.
    pub proceed_anyway: bool,
    /// Starts of inverse kinematics.
    pub starts: usize,
    /// Decides where those are.
    pub seed: u64,
    /// Most candidates that are kept.
    pub most: usize,
}

impl Default for GoalSettings {
    fn default() -> Self {
        Self {
            tolerance_m: 0.05,
            tolerance_rad: 0.1,
            proceed_anyway: false,
            starts: 64,
            seed: 0,
            most: 64,
        }
    }
}

/// Where a search may lead, or why none can begin.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GoalReport {
    /// Free configurations at the goal, the one nearest to the start first.
    #[serde(skip)]
    pub candidates: Vec<Config>,
    /// Farthest that the tool is from the wanted point in any of them.
    pub reached_m: Option<f64>,
    /// The reason when there is nothing to search for.
    pub outcome: Option<Outcome>,
    /// Where to go first, slowly, when the start touches something: the straight motion there
    /// brings nothing in deeper.
    #[serde(skip)]
    pub escape: Option<Config>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

impl GoalReport {
    pub(super) fn refuse(mut self, why: Outcome) -> Self {
        self.outcome = Some(why);
        self
    }
}

/// Goals that are free.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) candidates: Vec<Config>,
    pub(super) reached_m: f64,
}

impl Kept {
    pub(super) fn into_report(self, report: GoalReport) -> GoalReport {
        GoalReport { candidates: self.candidates, reached_m: Some(self.reached_m), ..report }
    }
}
