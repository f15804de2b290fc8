//! Many episodes in one file, as robomimic and robosuite keep them: what such a file holds.

use std::collections::BTreeMap;

use crate::{Array, Attr, Series};

/// What all demonstrations of a file share: attributes of its group `data`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RobomimicHeader {
    /// Name of the environment.
    pub env: Option<String>,
    /// How robosuite makes it, as JSON text.
    pub env_info: Option<String>,
    /// How robomimic makes it, as JSON text: `env_name`, `type`, `env_version`, `env_kwargs`.
    pub env_args: Option<String>,
    /// Version of the simulator.
    pub repository_version: Option<String>,
    /// Day of the recording, as text.
    pub date: Option<String>,
    /// Time of the recording, as text.
    pub time: Option<String>,
    /// Attributes with other names.
    pub other: BTreeMap<String, Attr>,
}

/// One demonstration: the group `data/demo_<n>`.
#[derive(Clone, Debug, Default)]
pub struct RobomimicDemo {
    /// The model as MJCF text.
    pub model_file: Option<String>,
    /// What the environment needs to make this episode again, as JSON text.
    pub ep_meta: Option<String>,
    /// Time, joint positions and joint velocities before each action, one row per step.
    pub states: Option<Array>,
    /// An action per step.
    pub actions: Option<Array>,
    /// A reward per step.
    pub rewards: Option<Vec<f64>>,
    /// Whether the episode was over, per step.
    pub dones: Option<Vec<bool>>,
    /// Observations before each action.
    pub obs: BTreeMap<String, Series>,
    /// Observations after each action.
    pub next_obs: BTreeMap<String, Series>,
    /// Attributes with other names.
    pub attrs: BTreeMap<String, Attr>,
    /// Paths of what was found but is not understood; never written.
    pub skipped: Vec<String>,
    /// Paths of what cannot be read here (virtual datasets, filters of others), and why; never
    /// written.
    pub unread: BTreeMap<String, String>,
}

impl RobomimicDemo {
    /// Number of steps: rows of the actions, or of the states, or of any observation.
    #[must_use]
    pub fn steps(&self) -> usize {
        let first = self.actions.as_ref().or(self.states.as_ref()).map(Array::rows);
        first.or_else(|| self.obs.values().next().map(Series::rows)).unwrap_or(0)
    }
}

/// Number of a demonstration: 7 for `demo_7`.
pub(crate) fn demo_number(name: &str) -> Option<u64> {
    name.strip_prefix("demo_")?.parse().ok()
}

/// Whether a group is a demonstration.
pub(crate) fn is_demo_name(name: &str) -> bool {
    demo_number(name).is_some()
}
