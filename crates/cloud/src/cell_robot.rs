//! The robot that a cell or a picture has, as people write it.

use citrange_core::shape::Part;
use serde::{Deserialize, Serialize};

/// The robot of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellRobot {
    /// `ur5`, `ur5e`, `panda`, `so101`, or an MJCF or URDF file.
    pub model: String,
    /// Where its base stands.
    #[serde(default)]
    pub pos_m: [f64; 3],
    /// Rotation of its base about the vertical.
    #[serde(default)]
    pub yaw_deg: f64,
    /// Its joints, for frames that do not bring theirs along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joints_rad: Option<Vec<f64>>,
    /// What is mounted on the last link of the arm, in that link's frame.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<Part>,
}
