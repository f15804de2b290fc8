//! Plans of an earlier file, to begin with.

use std::path::Path;

use citrange_plan::GoalText;
use serde::Deserialize;

use super::PlanOptions;
use crate::error::{EpisodesError, Result};

/// What is needed of a file that `citrange plan -o` wrote; other keys are for others.
#[derive(Debug, Deserialize)]
pub(super) struct OldPlans {
    plans: Vec<OldPlan>,
}

#[derive(Debug, Deserialize)]
struct OldPlan {
    #[serde(default)]
    waypoints: Vec<Vec<f64>>,
}

/// Reads a file of plans.
pub(super) fn read(path: &Path) -> Result<OldPlans> {
    let bad = |reason: String| {
        EpisodesError::BadInput(format!(
            "{}: {reason}; a file that `citrange plan -o` wrote is right",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    let old: OldPlans = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let joints = old.plans.first().and_then(|plan| plan.waypoints.first()).map_or(0, Vec::len);
    if joints == 0 {
        return Err(bad("no plan in it has a path".to_owned()));
    }
    let numbers = |at: &Vec<f64>| at.len() == joints && at.iter().all(|p| p.is_finite());
    if !old.plans.iter().flat_map(|plan| &plan.waypoints).all(numbers) {
        return Err(bad(format!("way-points that are not {joints} numbers")));
    }
    Ok(old)
}

impl OldPlans {
    /// Their paths come first; their goals and their start where nothing else was said.
    pub(super) fn take_up(self, options: &mut PlanOptions) {
        let words = |at: &[f64]| at.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        let first = self.plans.first().and_then(|plan| plan.waypoints.first());
        if options.settings.start.is_none() {
            options.settings.start = first.map(|at| words(at));
        }
        if options.goals.is_empty() {
            let ends = self.plans.iter().filter_map(|plan| plan.waypoints.last());
            options.goals = ends.map(|at| GoalText::Joints(words(at))).collect();
        }
        options.settings.before = Some(self.plans.into_iter().map(|plan| plan.waypoints).collect());
    }
}
