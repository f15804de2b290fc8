//! What is asked of a check, and what it answers.

use serde::Serialize;

use crate::config::Config;
use crate::outcome::PlanOutcome;

/// No goal is asked for more exactly than this: it is what "exact" means.
const EXACT_M: f64 = 1e-4;
const EXACT_RAD: f64 = 0.1 * std::f64::consts::PI / 180.0;

/// What a radian counts in metres where no tolerance says it.
const ROTATION_WEIGHT_M: f64 = 0.5;

/// What counts as reaching a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalSettings {
    /// How near the tool must come where it cannot come exactly; 0: exactly, which is within
    /// 0.1 mm.
    pub tolerance_m: f64,
    /// And how nearly oriented as asked; 0: exactly, which is within 0.1 degrees.
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
            tolerance_m: 0.0,
            tolerance_rad: 0.0,
            proceed_anyway: false,
            starts: 64,
            seed: 0,
            most: 64,
        }
    }
}

impl GoalSettings {
    /// How far from the place and the orientation a goal may be.
    pub(super) fn allowed(&self) -> (f64, f64) {
        (self.tolerance_m.max(EXACT_M), self.tolerance_rad.max(EXACT_RAD))
    }

    /// What a radian of rotation counts in metres: what may be off is what is given up first.
    pub(super) fn rotation_weight_m(&self) -> f64 {
        if self.tolerance_m == 0.0 && self.tolerance_rad == 0.0 {
            return ROTATION_WEIGHT_M;
        }
        let (tolerance_m, tolerance_rad) = self.allowed();
        (tolerance_m / tolerance_rad).clamp(ROTATION_WEIGHT_M / 100.0, ROTATION_WEIGHT_M * 100.0)
    }
}

/// Where a search may lead, or why none can begin.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GoalReport {
    /// Free configurations at the goal, the one nearest to the start first.
    #[serde(skip)]
    pub candidates: Vec<Config>,
    /// Farthest that the tool is from the wanted point in any of them; of a plan that was found,
    /// at its end.
    pub reached_m: Option<f64>,
    /// The same of its orientation; none where any will do.
    pub reached_rad: Option<f64>,
    /// The reason when there is nothing to search for.
    pub outcome: Option<PlanOutcome>,
    /// Where to go first, slowly, when the start touches something: the straight motion there
    /// brings nothing in deeper.
    #[serde(skip)]
    pub escape: Option<Config>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

impl GoalReport {
    pub(super) fn refuse(mut self, why: PlanOutcome) -> Self {
        self.outcome = Some(why);
        self
    }
}

/// Goals that are free.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) candidates: Vec<Config>,
    pub(super) reached_m: f64,
    pub(super) reached_rad: Option<f64>,
}

impl Kept {
    pub(super) fn is_exact(&self) -> bool {
        self.reached_m <= EXACT_M && self.reached_rad.unwrap_or(0.0) <= EXACT_RAD
    }

    pub(super) fn into_report(self, report: GoalReport) -> GoalReport {
        let Self { candidates, reached_m, reached_rad } = self;
        GoalReport { candidates, reached_m: Some(reached_m), reached_rad, ..report }
    }
}
