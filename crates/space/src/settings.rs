//! How a frame becomes voxels: every number of the pipeline, with its default.

use citrange_cloud::Workspace;
use serde::{Deserialize, Serialize};

use crate::error::SpaceError;
use crate::grid::Grid;

/// Settings of a [`crate::Pipeline`]. A stage that is `None` is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PipelineSettings {
    /// The box of the world that matters; everything else is cropped away.
    pub workspace: Workspace,
    /// Edge of a voxel.
    #[serde(alias = "voxel_size")]
    #[schemars(extend("x-aliases" = ["voxel_size"]))]
    pub voxel_size_m: f64,
    /// Most voxels that a frame may have; more are an error.
    pub num_voxels: usize,
    /// Takes the robot's own links away.
    pub self_filter: Option<SelfFilter>,
    /// Takes spheres around the hand away, as in the first system of this kind.
    pub end_effector_spheres: Option<EndEffectorSpheres>,
    /// Takes voxels away whose surface is nearer than this to a link's surface. Blind exactly
    /// where it matters most: for comparison; prefer `self_filter`.
    #[serde(alias = "robot_voxel_safe_distance")]
    #[schemars(extend("x-aliases" = ["robot_voxel_safe_distance"]))]
    pub robot_voxel_safe_distance_m: Option<f64>,
    /// Statistical outlier removal.
    pub outliers: Option<Outliers>,
    /// Takes points away that their neighbours in the picture do not confirm.
    pub support: Option<Support>,
    /// A voxel with fewer points is left out.
    pub min_points: u32,
    /// Takes small groups of voxels away.
    pub clusters: Option<Clusters>,
}

/// The robot's own links are not obstacles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SelfFilter {
    /// Points within this distance of a link's surface are the robot's.
    pub padding_m: f64,
}

/// Two spheres around the hand, as the first system of this kind had them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EndEffectorSpheres {
    /// Centres from the hand, along the world's axes.
    pub offsets_m: Vec<[f64; 3]>,
    /// Their radius.
    pub radius_m: f64,
}

/// Statistical outlier removal: a point whose mean distance to its nearest neighbours is above
/// `mean + std_ratio * standard deviation` of all points is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Outliers {
    /// How many neighbours, the point itself included.
    pub neighbours: usize,
    /// How many standard deviations are too many.
    pub std_ratio: f64,
    /// Exactly, or nearly and faster.
    pub mode: OutlierMode,
}

/// How neighbours are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutlierMode {
    /// The same points as Open3D and scikit-learn take away.
    Exact,
    /// Neighbours are looked for close by in the picture only.
    Fast,
}

/// Points in the air at the edges of things have hardly any neighbours in the picture at their
/// depth. A point is confirmed by the 24 pixels around it; a voxel stays when one of its points
/// is. Only for clouds that are a picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Support {
    /// Neighbours agree when their depths differ by less than this fraction of the depth, times their
    /// distance in pixels.
    pub depth_ratio: f64,
    /// How many neighbours must agree.
    pub neighbours: u32,
    /// Which fraction of the neighbours that were seen must agree.
    #[serde(alias = "share")]
    #[schemars(extend("x-aliases" = ["share"]))]
    pub fraction: f64,
}

/// Voxels that touch at a face or an edge are one group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Clusters {
    /// Groups with fewer voxels are taken away.
    #[serde(alias = "voxel_cluster_threshold")]
    #[schemars(extend("x-aliases" = ["voxel_cluster_threshold"]))]
    pub min_voxels: usize,
}

impl Default for PipelineSettings {
    fn default() -> Self {
        Self {
            workspace: Workspace::default(),
            voxel_size_m: 0.05,
            num_voxels: 20_000,
            self_filter: Some(SelfFilter::default()),
            end_effector_spheres: None,
            robot_voxel_safe_distance_m: None,
            outliers: None,
            support: Some(Support::default()),
            min_points: 1,
            clusters: Some(Clusters::default()),
        }
    }
}

impl Default for SelfFilter {
    fn default() -> Self {
        Self { padding_m: 0.025 }
    }
}

impl Default for EndEffectorSpheres {
    fn default() -> Self {
        Self { offsets_m: vec![[0.1, -0.1, 0.2], [0.0, 0.0, 0.15]], radius_m: 0.15 }
    }
}

impl Default for Outliers {
    fn default() -> Self {
        Self { neighbours: 20, std_ratio: 2.0, mode: OutlierMode::Exact }
    }
}

impl Default for Support {
    fn default() -> Self {
        Self { depth_ratio: 0.006, neighbours: 2, fraction: 0.3 }
    }
}

impl Default for Clusters {
    fn default() -> Self {
        Self { min_voxels: 3 }
    }
}

impl PipelineSettings {
    /// The cells of the workspace; checks everything else on the way.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn grid(&self) -> Result<Grid, SpaceError> {
        let lengths = [
            ("self_filter.padding_m", self.self_filter.map(|f| f.padding_m)),
            (
                "end_effector_spheres.radius_m",
                self.end_effector_spheres.as_ref().map(|s| s.radius_m),
            ),
            ("robot_voxel_safe_distance_m", self.robot_voxel_safe_distance_m),
            ("outliers.std_ratio", self.outliers.map(|o| o.std_ratio)),
            ("support.depth_ratio", self.support.map(|s| s.depth_ratio)),
            ("support.fraction", self.support.map(|s| s.fraction)),
        ];
        for (key, value) in lengths {
            if let Some(value) = value.filter(|v| !(v.is_finite() && *v >= 0.0)) {
                return Err(SpaceError::setting(key, format!("{value} is not 0 or above")));
            }
        }
        if self.outliers.is_some_and(|o| !(2..=64).contains(&o.neighbours)) {
            return Err(SpaceError::setting("outliers.neighbours", "must be 2 to 64"));
        }
        if self.support.is_some_and(|s| s.neighbours > 24) {
            return Err(SpaceError::setting("support.neighbours", "24 neighbours are asked"));
        }
        if self.support.is_some_and(|s| s.fraction > 1.0) {
            return Err(SpaceError::setting("support.fraction", "must be 0 to 1"));
        }
        if self.num_voxels == 0 {
            return Err(SpaceError::setting("num_voxels", "must be above 0"));
        }
        Grid::new(self.workspace.lower_m, self.workspace.upper_m, self.voxel_size_m)
    }
}
