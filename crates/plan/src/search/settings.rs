//! Every number of a search, with its default.

use serde::{Deserialize, Serialize};

use crate::error::PlanError;

/// Settings of a [`crate::Planner`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Decides which configurations are tried. Same seed, same path.
    pub seed: u64,
    /// Longest edge of a tree.
    pub range_rad: f32,
    /// Most samples that are tried.
    pub max_iterations: usize,
    /// Most configurations that both trees may hold.
    pub max_nodes: usize,
    /// Most collision checks of a search, if there is a limit. The answer is the same on every
    /// machine.
    pub max_checks: Option<u64>,
    /// The search gives up after this time. A path that is found within it does not depend on it.
    pub time_limit_s: Option<f64>,
    /// A tree grows toward samples at most this far outside of the box that holds it. What
    /// stands in a narrow place is led out of it step by step, not run against its walls.
    pub around_rad: f32,
    /// How a path is shortened.
    pub simplify: SimplifySettings,
}

/// How a path is shortened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimplifySettings {
    /// Most rounds of shortcuts.
    pub max_rounds: usize,
    /// Shortcuts between points of the path that are tried in a round.
    pub shortcuts: usize,
    /// Rounds end when one shortened the path by less than this fraction.
    pub min_gain: f32,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            seed: 0,
            range_rad: 1.5,
            max_iterations: 200_000,
            max_nodes: 200_000,
            max_checks: None,
            time_limit_s: None,
            around_rad: 1.5,
            simplify: SimplifySettings::default(),
        }
    }
}

impl Default for SimplifySettings {
    fn default() -> Self {
        Self { max_rounds: 8, shortcuts: 30, min_gain: 0.01 }
    }
}

impl SearchSettings {
    /// # Errors
    /// When a number makes no sense.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        for (name, value) in [("range_rad", self.range_rad), ("around_rad", self.around_rad)] {
            if !(value.is_finite() && value > 0.0) {
                let reason = format!("{value} is not an angle above 0, such as 1.5");
                return Err(PlanError::bad(name, reason));
            }
        }
        let min_gain = self.simplify.min_gain;
        if !(0.0..=1.0).contains(&min_gain) {
            let reason = format!("{min_gain} is not a fraction from 0 to 1");
            return Err(PlanError::bad("simplify.min_gain", reason));
        }
        if self.max_nodes > MAX_NODES {
            let reason = format!("{}: at most {MAX_NODES} are right", self.max_nodes);
            return Err(PlanError::bad("max_nodes", reason));
        }
        if let Some(limit_s) = self.time_limit_s
            && !(0.0..=MAX_TIME_S).contains(&limit_s)
        {
            let reason = format!("{limit_s} is not a time from 0 to {MAX_TIME_S} s");
            return Err(PlanError::bad("time_limit_s", reason));
        }
        Ok(())
    }
}

/// Nodes are numbered by 32 bits, and more would not fit into sensible memory.
const MAX_NODES: usize = 1 << 26;

/// A day.
const MAX_TIME_S: f64 = 86_400.0;
