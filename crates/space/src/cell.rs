//! A cell as people write it: where cameras and the robot stand, and how frames become a map.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use citrange_cloud::{CameraModel, CameraPose, CellRobot, Distortion, Pinhole};
use citrange_core::Pose;
use citrange_core::origin::{Layer, Traced};
use citrange_core::yaml::from_yaml;
use serde::{Deserialize, Serialize};

use crate::error::SpaceError;
use crate::map::MapSettings;
use crate::settings::PipelineSettings;

/// A cell. Everything has a default: an empty file is a cell without robot and cameras.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cell {
    /// For people.
    pub name: String,
    /// Cameras by name.
    pub cameras: BTreeMap<String, CellCamera>,
    /// The robot, if there is one.
    pub robot: Option<CellRobot>,
    /// How a frame becomes voxels.
    pub pipeline: PipelineSettings,
    /// How voxels become a map.
    pub map: MapSettings,
}

/// Where a camera stands: in the cell's file, or in a file of its own that calibration writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CellCamera {
    /// Position in the world.
    #[serde(alias = "camera_xyz", alias = "xyz")]
    #[schemars(extend("x-aliases" = ["camera_xyz", "xyz"]))]
    pub xyz_m: [f64; 3],
    /// Rotations about the world's x, then y, then z.
    #[serde(alias = "camera_rpy", alias = "rpy")]
    #[schemars(extend("x-aliases" = ["camera_rpy", "rpy"]))]
    pub rpy_deg: [f64; 3],
    /// A file with `xyz_m` and `rpy_deg`, used instead of those here; relative to the cell's.
    pub pose_file: Option<PathBuf>,
    /// How it sees; found from the points where it is not said.
    pub pinhole: Option<Pinhole>,
    /// How its lens bends rays: k1 k2 p1 p2 k3 k4 k5 k6 of `camera_info` (4, 5 or 8 numbers).
    pub distortion: Option<Distortion>,
    /// Columns and rows of its whole picture.
    pub size_px: Option<[usize; 2]>,
    /// Topic of its clouds or depths in recordings.
    pub topic: Option<String>,
    /// Frames that come faster than this are left out.
    pub rate_hz: Option<f64>,
}

impl Cell {
    /// Reads a cell and the pose files that it names.
    ///
    /// # Errors
    /// When a file cannot be read, or a key or value is wrong: with file and line.
    pub fn load(path: &Path) -> Result<Self, SpaceError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|cause| SpaceError::Io { path: name.clone(), cause })?;
        let mut cell: Self =
            from_yaml(&text, &name).map_err(|e| SpaceError::bad("cell", e.to_string()))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        for camera in cell.cameras.values_mut() {
            if let Some(file) = &camera.pose_file {
                let pose = CameraPose::load(&folder.join(file))?;
                (camera.xyz_m, camera.rpy_deg) = (pose.xyz_m, pose.rpy_deg);
            }
        }
        for (name, camera) in &cell.cameras {
            if let Some(rate) = camera.rate_hz.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
                let reason = format!("{rate} is not above 0");
                return Err(SpaceError::bad(format!("camera {name}: rate_hz"), reason));
            }
        }
        cell.pipeline.grid()?;
        Ok(cell)
    }

    /// The cell of a file with who said each value; without one, all defaults.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn traced(path: Option<&Path>) -> Result<Traced, SpaceError> {
        let cell = path.map(Self::load).transpose()?.unwrap_or_default();
        let mut layers = Vec::new();
        if let Some(path) = path {
            let file = path.display().to_string();
            let text = std::fs::read_to_string(path)
                .map_err(|cause| SpaceError::Io { path: file.clone(), cause })?;
            layers.push(Layer { profile: None, file, text });
        }
        Traced::new(&cell, &layers).map_err(|e| SpaceError::bad("cell", e.to_string()))
    }

    /// The camera of that name; the only one if no name is given.
    ///
    /// # Errors
    /// When there is none of that name, or several and none is named.
    pub fn camera(&self, name: Option<&str>) -> Result<Option<(&str, &CellCamera)>, SpaceError> {
        let known: Vec<&str> = self.cameras.keys().map(String::as_str).collect();
        match name {
            Some(name) => match self.cameras.get_key_value(name) {
                Some((name, camera)) => Ok(Some((name, camera))),
                None => Err(SpaceError::bad(
                    "camera",
                    format!("the cell has no camera {name}; it has: {}", known.join(", ")),
                )),
            },
            None if known.len() > 1 => Err(SpaceError::bad(
                "camera",
                format!("the cell has {}: say which one the frames are from", known.join(", ")),
            )),
            None => Ok(self.cameras.iter().next().map(|(n, c)| (n.as_str(), c))),
        }
    }
}

impl CellCamera {
    /// Pose in the world.
    #[must_use]
    pub fn world_from_camera(&self) -> Pose {
        CameraPose { xyz_m: self.xyz_m, rpy_deg: self.rpy_deg }.pose()
    }

    /// How it sees, where that is said.
    #[must_use]
    pub fn model(&self) -> Option<CameraModel> {
        let (distortion, size_px) = (self.distortion.unwrap_or_default(), self.size_px);
        self.pinhole.map(|pinhole| CameraModel { pinhole, distortion, size_px })
    }
}
