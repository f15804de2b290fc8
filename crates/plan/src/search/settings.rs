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
    /// The search gives up after this time. A path that is found within it does not depend on it.
    pub time_limit_s: Option<f64>,
    /// A tree waits while it has this many times as many nodes as the other.
    pub balance: f32,
    /// A node from which a motion was blocked is extended only toward samples that are nearer
    /// than this; others would most likely be blocked too.
    pub blocked_reach_rad: f32,
    /// How much a node's reach grows with each motion that was free, as a share of it.
    pub reach_growth: f32,
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
    /// Rounds end when one shortened the path by less than this share.
    pub min_gain: f32,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            seed: 0,
            range_rad: 2.0,
            max_iterations: 200_000,
            max_nodes: 200_000,
            time_limit_s: None,
            balance: 2.0,
            blocked_reach_rad: 4.0,
            reach_growth: 0.0001,
            simplify: SimplifySettings::default(),
        }
    }
}

impl Default for SimplifySettings {
    fn default() -> Self {
        Self { max_rounds: 8, shortcuts: 20, min_gain: 0.01 }
    }
}

impl SearchSettings {
    /// # Errors
    /// When a number makes no sense.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        let positive = [
            ("range_rad", self.range_rad),
            ("blocked_reach_rad", self.blocked_reach_rad),
            ("balance", self.balance - 1.0),
        ];
        for (name, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                let right = if name == "balance" { "a number above 1" } else { "an angle above 0" };
                return Err(PlanError::bad(name, format!("must be {right}, such as 2.0")));
            }
        }
        let shares =
            [("reach_growth", self.reach_growth), ("simplify.min_gain", self.simplify.min_gain)];
        for (name, value) in shares {
            if !(0.0..=1.0).contains(&value) {
                return Err(PlanError::bad(name, format!("{value} is not a share from 0 to 1")));
            }
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
