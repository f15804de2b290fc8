//! Every number of a twin, with its unit and its default, as people write them in one YAML file.
//! Keys of the first system of this kind work as aliases.

use std::collections::BTreeMap;
use std::path::Path;

use citrange_cloud::Workspace;
use citrange_core::origin::{Layer, Traced};
use citrange_core::schema::schema_of;
use citrange_core::yaml::from_yaml;
use citrange_space::{
    Clusters, EndEffectorSpheres, MapSettings, OutlierMode, Outliers, PipelineSettings, SelfFilter,
    Support,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::TwinError;
use crate::limits::Limits;

/// Settings of a twin. An empty file is right: every key has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TwinSettings {
    /// For people.
    pub name: String,
    /// Fraction of the arm's full speed, above 0 and at most 1.
    pub speed: f64,
    /// Who finds the way from here to there.
    pub finder: FinderKind,
    /// Whether a person confirms every motion before it is sent.
    pub confirm: bool,
    /// What cells are that no camera has seen.
    pub unknown: Unknown,
    /// What is waited out, and what a person must release.
    pub auto_resume: bool,
    /// Whether things in the cell stay where they are: cells that were seen once count for ever.
    #[serde(alias = "point_cloud_static")]
    #[schemars(extend("x-aliases" = ["point_cloud_static"]))]
    pub static_map: bool,
    /// Distances, times and speeds of the guard.
    pub guard: GuardSettings,
    /// How long a state may last.
    pub limits: Limits,
    /// How far ahead of the arm a policy may plan.
    pub horizon: Horizon,
    /// Edge of a voxel.
    #[serde(alias = "voxel_size")]
    #[schemars(extend("x-aliases" = ["voxel_size"]))]
    pub voxel_size_m: f64,
    /// Lowest corner of the workspace that is mapped, in the world.
    #[serde(alias = "points_lower_bound")]
    #[schemars(extend("x-aliases" = ["points_lower_bound"]))]
    pub workspace_lower_m: Corner,
    /// Its highest corner.
    #[serde(alias = "points_upper_bound")]
    #[schemars(extend("x-aliases" = ["points_upper_bound"]))]
    pub workspace_upper_m: Corner,
    /// Most voxels of a frame; more are an error, never a silent drop.
    pub num_voxels: usize,
    /// Points this near to a link, or to a fixture of the cell, are its own.
    pub self_filter_m: f64,
    /// Voxels nearer than this to a link are taken away: blind exactly where it matters.
    #[serde(alias = "robot_voxel_safe_distance")]
    #[schemars(extend("x-aliases" = ["robot_voxel_safe_distance"]))]
    pub robot_voxel_safe_distance_m: Option<f64>,
    /// A voxel with fewer points is noise.
    pub voxel_points: u32,
    /// Whether small groups of voxels are taken away.
    pub enable_clustering: bool,
    /// Groups with fewer voxels are.
    #[serde(alias = "voxel_cluster_threshold")]
    #[schemars(extend("x-aliases" = ["voxel_cluster_threshold"]))]
    pub cluster_voxels: usize,
    /// Whether statistical outliers are taken away.
    pub use_sor: bool,
    /// Accepted, and without effect: a map over time takes its place.
    pub min_collisions: Option<u32>,
    /// Cameras by name, where they stand elsewhere than the rig says.
    #[serde(alias = "camera_transform_to_pyb_origin")]
    #[schemars(extend("x-aliases" = ["camera_transform_to_pyb_origin"]))]
    pub cameras: BTreeMap<String, CameraPlace>,
    /// The simulated cell that is built in.
    pub embedded: Embedded,
}

/// A corner of a box: x, y, z. A fourth number, as homogeneous coordinates have, is not looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Corner(pub Vec<f64>);

/// Who finds the way from here to there.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FinderKind {
    /// A search with two trees.
    #[default]
    #[serde(alias = "rrt")]
    Birrt,
    /// A trained policy.
    #[serde(alias = "drl")]
    Policy,
    /// The policy, and where it finds nothing the search.
    PolicyThenBirrt,
}

/// What cells are that no camera has seen.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// As occupied, but for the arm's own place.
    Blocked,
    /// Around them where there is a way; else through them, slowly.
    #[default]
    Slow,
    /// As free.
    Free,
}

/// Where a camera stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CameraPlace {
    /// Position in the world.
    #[serde(alias = "xyz")]
    #[schemars(extend("x-aliases" = ["xyz"]))]
    pub xyz_m: [f64; 3],
    /// Rotations about the world's x, then y, then z.
    #[serde(alias = "rpy")]
    #[schemars(extend("x-aliases" = ["rpy"]))]
    pub rpy_deg: [f64; 3],
}

/// How far ahead of the arm a policy may plan: whichever is longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Horizon {
    /// Way-points.
    #[serde(alias = "drl_horizon")]
    #[schemars(extend("x-aliases" = ["drl_horizon"]))]
    pub waypoints: u32,
    /// Way of the tool between two of them.
    #[serde(alias = "dist_threshold")]
    #[schemars(extend("x-aliases" = ["dist_threshold"]))]
    pub waypoint_m: f64,
    /// Time.
    pub time_s: f64,
    /// Steps of the policy for one goal.
    #[serde(alias = "max_inference_steps")]
    #[schemars(extend("x-aliases" = ["max_inference_steps"]))]
    pub max_steps: u32,
}

/// Numbers of the guard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GuardSettings {
    /// Distance that everything must keep from the arm.
    pub margin_m: f64,
    /// From the taking of a frame to the first changed command; what is measured counts where it
    /// is longer.
    pub t_react_s: f64,
    /// How far a joint may be from the plan besides its lag, before it is proved with more.
    pub off_rad: f64,
    /// How much later than it is told the arm is where it should be, at most.
    pub lag_s: f64,
    /// A map older than this slows the arm down.
    pub map_slow_s: f64,
    /// A map older than this stops it.
    pub map_stop_s: f64,
    /// Joints older than this stop it.
    pub joints_stop_s: f64,
    /// What the arm enters must have been seen free within this time.
    pub see_again_s: f64,
    /// Fraction of speed while the map is old or cells ahead are not known.
    pub slow_share: f64,
    /// Fraction of speed by the distance of what moves: the first row that is farther counts.
    pub separation: Vec<Separation>,
    /// Added to the speed of what moves.
    pub speed_error_m_s: f64,
    /// A joint farther from the plan than this, for `lost_for_s`, is not following.
    pub lost_rad: f64,
    /// See `lost_rad`.
    pub lost_for_s: f64,
    /// A picture with more than this fraction of its pixels near or not seen is covered.
    pub covered_share: f64,
    /// What is nearer than this to a camera covers it.
    pub covered_m: f64,
}

/// A row of the table of speed and separation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Separation {
    /// What moves is nearer than this.
    pub nearer_m: f64,
    /// Fraction of the speed then; 0 stops.
    pub share: f64,
}

/// The simulated cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Embedded {
    /// Cameras of the scene that measure depths for the map; the scene's first where none is named.
    pub depth_cameras: Vec<String>,
    /// Columns of their pictures; rows keep the proportions.
    pub width_px: u32,
    /// Joints a second.
    pub joints_hz: u32,
    /// Frames a second.
    pub frames_hz: u32,
    /// From the taking of a frame to its arrival.
    pub camera_latency_s: f64,
    /// From a command to its acceptance.
    pub driver_latency_s: f64,
    /// How long a plan takes to be made, in simulated time: the same in every run.
    pub plan_latency_s: f64,
}

impl FinderKind {
    /// By its name.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn named(name: &str) -> Result<Self, TwinError> {
        Ok(from_yaml(name, "--finder")?)
    }
}

impl Unknown {
    /// By its name.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn named(name: &str) -> Result<Self, TwinError> {
        Ok(from_yaml(name, "--unknown")?)
    }
}

impl Default for TwinSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            speed: 0.8,
            finder: FinderKind::default(),
            confirm: true,
            unknown: Unknown::default(),
            auto_resume: true,
            static_map: false,
            guard: GuardSettings::default(),
            limits: Limits::default(),
            horizon: Horizon::default(),
            voxel_size_m: 0.04,
            workspace_lower_m: Corner(vec![-0.5, -1.0, -0.1]),
            workspace_upper_m: Corner(vec![1.2, 1.25, 1.5]),
            num_voxels: 40_000,
            self_filter_m: 0.035,
            robot_voxel_safe_distance_m: None,
            voxel_points: 5,
            enable_clustering: true,
            cluster_voxels: 3,
            use_sor: false,
            min_collisions: None,
            cameras: BTreeMap::new(),
            embedded: Embedded::default(),
        }
    }
}

impl Default for Horizon {
    fn default() -> Self {
        Self { waypoints: 5, waypoint_m: 0.03, time_s: 0.5, max_steps: 5000 }
    }
}

impl Default for GuardSettings {
    fn default() -> Self {
        let row = |nearer_m, share| Separation { nearer_m, share };
        Self {
            margin_m: 0.005,
            t_react_s: 0.15,
            off_rad: 0.004,
            lag_s: 0.06,
            map_slow_s: 0.1,
            map_stop_s: 0.3,
            joints_stop_s: 0.1,
            see_again_s: 0.5,
            slow_share: 0.25,
            separation: vec![row(0.25, 0.0), row(0.5, 0.25), row(0.9, 0.5)],
            speed_error_m_s: 0.25,
            lost_rad: 5_f64.to_radians(),
            lost_for_s: 0.1,
            covered_share: 0.6,
            covered_m: 0.3,
        }
    }
}

impl Default for Embedded {
    fn default() -> Self {
        Self {
            depth_cameras: Vec::new(),
            width_px: 640,
            joints_hz: 150,
            frames_hz: 30,
            camera_latency_s: 0.03,
            driver_latency_s: 0.008,
            plan_latency_s: 0.05,
        }
    }
}

impl TwinSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or a key or value is wrong: with file and line.
    pub fn load(path: &Path) -> Result<Self, TwinError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(TwinError::file("read", path))?;
        let settings: Self = from_yaml(&text, &name)?;
        settings.check()?;
        Ok(settings)
    }

    /// The settings of a file with who said each value; without one, all defaults.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn traced(path: Option<&Path>) -> Result<Traced, TwinError> {
        let settings = path.map(Self::load).transpose()?.unwrap_or_default();
        let mut layers = Vec::new();
        if let Some(path) = path {
            let text = std::fs::read_to_string(path).map_err(TwinError::file("read", path))?;
            layers.push(Layer { profile: None, file: path.display().to_string(), text });
        }
        Ok(Traced::new(&settings, &layers)?)
    }

    /// The JSON schema of such a file.
    #[must_use]
    pub fn schema() -> Value {
        schema_of::<Self>("A twin")
    }

    /// Checks all numbers.
    ///
    /// # Errors
    /// Names the one that makes no sense, and what would be right.
    pub fn check(&self) -> Result<(), TwinError> {
        let bad = |what: &str, reason: String| Err(TwinError::bad(what, reason));
        let guard = &self.guard;
        let shares = [
            ("speed", self.speed, true),
            ("guard.slow_share", guard.slow_share, true),
            ("guard.covered_share", guard.covered_share, false),
        ];
        for (key, share, above_0) in shares {
            if !(0.0..=1.0).contains(&share) || (above_0 && share == 0.0) {
                return bad(key, format!("{share} is not a fraction above 0 and up to 1"));
            }
        }
        let times = [
            ("guard.t_react_s", guard.t_react_s),
            ("guard.map_slow_s", guard.map_slow_s),
            ("guard.map_stop_s", guard.map_stop_s - guard.map_slow_s),
            ("guard.joints_stop_s", guard.joints_stop_s),
            ("guard.see_again_s", guard.see_again_s),
            ("guard.lost_rad", guard.lost_rad),
            ("guard.lost_for_s", guard.lost_for_s),
            ("horizon.waypoint_m", self.horizon.waypoint_m),
            ("horizon.time_s", self.horizon.time_s),
        ];
        if let Some((key, value)) = times.iter().find(|(_, v)| !(v.is_finite() && *v > 0.0)) {
            return bad(key, format!("{value} is not above 0 (map_stop_s: above map_slow_s)"));
        }
        let lengths = [
            ("guard.margin_m", guard.margin_m),
            ("guard.off_rad", guard.off_rad),
            ("guard.lag_s", guard.lag_s),
            ("guard.covered_m", guard.covered_m),
            ("guard.speed_error_m_s", guard.speed_error_m_s),
            ("self_filter_m", self.self_filter_m),
            ("embedded.camera_latency_s", self.embedded.camera_latency_s),
            ("embedded.driver_latency_s", self.embedded.driver_latency_s),
            ("embedded.plan_latency_s", self.embedded.plan_latency_s),
        ];
        if let Some((key, value)) = lengths.iter().find(|(_, v)| !(0.0..10.0).contains(v)) {
            return bad(key, format!("{value} is not from 0 to 10"));
        }
        for row in &guard.separation {
            if !((0.0..=1.0).contains(&row.share) && row.nearer_m > 0.0) {
                return bad("guard.separation", format!("{row:?}: a distance and a share, 0 to 1"));
            }
        }
        self.limits.check()?;
        self.pipeline()?.grid()?;
        Ok(())
    }

    /// How a frame becomes voxels.
    ///
    /// # Errors
    /// When the workspace is none.
    pub fn pipeline(&self) -> Result<PipelineSettings, TwinError> {
        let corner = |key: &str, corner: &Corner| match *corner.0 {
            [x, y, z] | [x, y, z, _] => Ok([x, y, z]),
            _ => Err(TwinError::bad(key, format!("{:?}: three numbers are right", corner.0))),
        };
        let lower_m = corner("workspace_lower_m", &self.workspace_lower_m)?;
        let upper_m = corner("workspace_upper_m", &self.workspace_upper_m)?;
        Ok(PipelineSettings {
            workspace: Workspace { lower_m, upper_m },
            voxel_size_m: self.voxel_size_m,
            num_voxels: self.num_voxels,
            self_filter: Some(SelfFilter { padding_m: self.self_filter_m }),
            end_effector_spheres: None::<EndEffectorSpheres>,
            robot_voxel_safe_distance_m: self.robot_voxel_safe_distance_m,
            outliers: self
                .use_sor
                .then(|| Outliers { mode: OutlierMode::Fast, ..Outliers::default() }),
            support: Some(Support::default()),
            min_points: self.voxel_points,
            clusters: self
                .enable_clustering
                .then_some(Clusters { min_voxels: self.cluster_voxels }),
        })
    }

    /// How voxels become a map.
    #[must_use]
    pub fn map(&self) -> MapSettings {
        MapSettings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_document_are_understood() {
        let text = "voxel_size: 0.1\nrobot_voxel_safe_distance: 0.15\nvoxel_cluster_threshold: 5\n\
                    points_lower_bound: [-0.5, -1, -0.1, 1]\nmin_collisions: 3\n\
                    point_cloud_static: true\nfinder: drl\n\
                    horizon: {drl_horizon: 7, dist_threshold: 0.05, max_inference_steps: 99}\n\
                    camera_transform_to_pyb_origin: {depth: {xyz: [0, 1, 2], rpy: [90, 90, 0]}}\n";
        let settings: TwinSettings = from_yaml(text, "config.yaml").unwrap();
        settings.check().unwrap();
        assert_eq!(settings.voxel_size_m, 0.1);
        assert_eq!(settings.horizon.waypoints, 7);
        assert_eq!(settings.finder, FinderKind::Policy);
        assert_eq!(settings.cameras["depth"].rpy_deg, [90.0, 90.0, 0.0]);
        assert_eq!(settings.pipeline().unwrap().workspace.lower_m, [-0.5, -1.0, -0.1]);
        let wrong = from_yaml::<TwinSettings>("voxelsize: 0.1\n", "config.yaml").unwrap_err();
        assert!(wrong.to_string().contains("voxel_size"), "{wrong}");
        let slow = TwinSettings { speed: 0.0, ..TwinSettings::default() };
        assert!(slow.check().unwrap_err().to_string().contains("speed"));
    }
}
