//! The box of the world that matters.

use serde::{Deserialize, Serialize};

/// A box of the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    /// Lower corner.
    #[serde(alias = "points_lower_bound")]
    #[schemars(extend("x-aliases" = ["points_lower_bound"]))]
    pub lower_m: [f64; 3],
    /// Upper corner.
    #[serde(alias = "points_upper_bound")]
    #[schemars(extend("x-aliases" = ["points_upper_bound"]))]
    pub upper_m: [f64; 3],
}

impl Default for Workspace {
    fn default() -> Self {
        Self { lower_m: [-0.5, -1.0, -0.1], upper_m: [1.2, 1.25, 1.5] }
    }
}
