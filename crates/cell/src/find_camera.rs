//! Where a camera stands, from points that are known in both frames, or from a cube in sight.

use std::path::Path;

use citrange_calibrate::{
    CalibrateError, Calibration, Cube, CubeCalibration, CubeSettings, cube_points, from_cube,
    from_pairs, from_pairs_robust,
};
use citrange_space::{CellFrame, SpaceError};
use serde::Deserialize;

use crate::error::CellError;

/// Points around a cube's sides are looked at within so much at first: it may be off.
const FAR_BESIDE_M: f64 = 0.06;
/// The lowest part of a cube that is left out at first: what it stands on may be there.
const LOW_FRACTION: f64 = 0.35;
/// The same once the camera's pose is nearly right.
const NEAR_BESIDE_M: f64 = 0.01;
const NEAR_ABOVE_M: f64 = 0.012;

/// Points known in the camera's frame and in the world, as a file has them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointPairs {
    /// In the camera's frame (x right, y down, z forward), metres.
    pub camera: Vec<[f64; 3]>,
    /// In the world, metres.
    pub world: Vec<[f64; 3]>,
}

impl PointPairs {
    /// Reads a JSON file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn load(path: &Path) -> Result<Self, CellError> {
        let name = path.display().to_string();
        let text =
            std::fs::read(path).map_err(|cause| SpaceError::Io { path: name.clone(), cause })?;
        let bad = |e: serde_json::Error| SpaceError::BadInput { what: name, reason: e.to_string() };
        Ok(serde_json::from_slice(&text).map_err(bad)?)
    }

    /// The camera's pose; pairs that are off by more than `limit_m` are left out, where it is
    /// given.
    ///
    /// # Errors
    /// When the points say nothing about it.
    pub fn camera_pose(&self, limit_m: Option<f64>) -> Result<Calibration, CalibrateError> {
        match limit_m {
            Some(limit_m) => from_pairs_robust(&self.camera, &self.world, limit_m),
            None => from_pairs(&self.camera, &self.world),
        }
    }
}

/// The camera's pose from a cube in a frame. First around where the cube is believed to be, without
/// what it stands on; then closer.
///
/// # Errors
/// When the cube is not seen well enough.
pub fn find_cube(frame: &CellFrame, cube: &Cube) -> Result<CubeCalibration, CalibrateError> {
    let look = |guess, beside_m, above_m| {
        let points = cube_points(&frame.cloud.xyz_m, cube, guess, beside_m, above_m);
        from_cube(&points, cube, guess, &CubeSettings::default())
    };
    let about = look(&frame.view.world_from_camera, FAR_BESIDE_M, LOW_FRACTION * cube.edge_m)?;
    look(&about.world_from_camera, NEAR_BESIDE_M, NEAR_ABOVE_M)
}
