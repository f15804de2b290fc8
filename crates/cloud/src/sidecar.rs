//! What stands beside a cloud: `<same name>.json` with the camera and the robot's joints.

use std::path::Path;

use citrange_core::Pose;
use citrange_core::shape::PosedLinkShape;
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::cell_robot::CellRobot;
use crate::cloud::{Pinhole, View};
use crate::distortion::Distortion;
use crate::error::CloudError;
use crate::pixel_order::CameraModel;
use crate::workspace::Workspace;

/// How far a rotation's columns may be from right angles and length 1 by rounding.
const ROTATION_TOLERANCE: f64 = 1e-6;
/// The same for matrices that people write with few decimals: they are mended, and it is said.
const MENDED_TOLERANCE: f64 = 1e-3;

/// What is known about a cloud; everything may be missing, a key that is not known is refused.
/// `seed` and `note` are for people.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sidecar {
    /// Columns of the picture.
    pub width: Option<usize>,
    /// Rows of the picture.
    pub height: Option<usize>,
    /// Focal length in pixels, across.
    pub fx: Option<f64>,
    /// Focal length in pixels, down.
    pub fy: Option<f64>,
    /// Column of the optical axis.
    pub cx: Option<f64>,
    /// Row of the optical axis.
    pub cy: Option<f64>,
    /// How its lens bends rays: 4, 5 or 8 numbers of `camera_info`.
    #[serde(default)]
    pub distortion: Distortion,
    /// World from camera, as rows of a 4 x 4 matrix.
    #[serde(rename = "T_cam_to_world")]
    pub world_from_camera: Option<[[f64; 4]; 4]>,
    /// Angles of the robot's joints when the picture was taken.
    #[serde(rename = "joints")]
    pub joints_rad: Option<Vec<f64>>,
    /// Metres of one whole number of a depth picture; a millimetre where it is not said.
    pub depth_scale_m: Option<f64>,
    /// When it was taken.
    pub stamp_ns: Option<u64>,
    /// Name of the camera that took it.
    pub camera: Option<String>,
    /// Where the robot's hand was.
    #[serde(rename = "ee_pos")]
    pub hand_m: Option<[f64; 3]>,
    /// The robot in the picture.
    pub robot: Option<CellRobot>,
    workspace_lower: Option<[f64; 3]>,
    workspace_upper: Option<[f64; 3]>,
    #[serde(default)]
    primitives: Vec<Primitive>,
    #[serde(default, rename = "seed")]
    _seed: IgnoredAny,
    #[serde(default, rename = "note")]
    _note: IgnoredAny,
}

/// A piece of the truth behind a made picture, whatever it says; only capsules of the robot are of
/// use here.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Primitive {
    kind: String,
    label: Option<u32>,
    a: Option<[f64; 3]>,
    b: Option<[f64; 3]>,
    r: Option<f64>,
}

/// Label of the robot's pixels and primitives.
const ROBOT_LABEL: u32 = 3;

impl Sidecar {
    /// Reads the JSON beside a cloud; nothing known if there is none.
    ///
    /// # Errors
    /// When there is one that cannot be read.
    pub fn beside(cloud: &Path) -> Result<Self, CloudError> {
        let path = cloud.with_extension("json");
        let name = path.display().to_string();
        match std::fs::read(&path) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map_err(|e| CloudError::bad(name, e.to_string()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(cause) => Err(CloudError::Io { path: name, cause }),
        }
    }

    /// The box of the world that matters, if it is said.
    #[must_use]
    pub fn workspace(&self) -> Option<Workspace> {
        Some(Workspace { lower_m: self.workspace_lower?, upper_m: self.workspace_upper? })
    }

    /// The robot's parts in the world, where they are given as capsules (label 3).
    #[must_use]
    pub fn robot_capsules(&self) -> Vec<PosedLinkShape> {
        let ours = |p: &&Primitive| p.kind == "capsule" && p.label == Some(ROBOT_LABEL);
        let capsule = |(link, p): (usize, &Primitive)| {
            Some(PosedLinkShape::capsule(link as u16, p.a?, p.b?, p.r?))
        };
        self.primitives.iter().filter(ours).enumerate().filter_map(capsule).collect()
    }

    /// How the camera sees, if all four numbers are there.
    #[must_use]
    pub fn pinhole(&self) -> Option<Pinhole> {
        Some(Pinhole { fx: self.fx?, fy: self.fy?, cx: self.cx?, cy: self.cy? })
    }

    /// How the camera sees, with its lens and the size of its picture, where that is known.
    #[must_use]
    pub fn camera_model(&self) -> Option<CameraModel> {
        let size_px = self.width.zip(self.height).map(|(width, height)| [width, height]);
        let distortion = self.distortion;
        self.pinhole().map(|pinhole| CameraModel { pinhole, distortion, size_px })
    }

    /// How far the matrix is from a rotation, where that is more than rounding.
    #[must_use]
    pub fn mended(&self) -> Option<f64> {
        let off = off_rotation(&rotation_of(&self.world_from_camera?));
        (off > ROTATION_TOLERANCE).then_some(off)
    }

    /// Where the picture was taken from, if that is known. A matrix that is a rotation but for
    /// 0.001 counts as the nearest one; [`Self::mended`] tells.
    ///
    /// # Errors
    /// When the matrix is no rotation with a translation.
    pub fn view(&self) -> Result<Option<View>, CloudError> {
        let Some(rows) = self.world_from_camera else { return Ok(None) };
        let mut rotation = rotation_of(&rows);
        let off = off_rotation(&rotation);
        let all_finite = rows.as_flattened().iter().all(|v| v.is_finite());
        let proper = off <= MENDED_TOLERANCE && rotation.determinant() > 0.0;
        if !(all_finite && proper && rows[3] == [0.0, 0.0, 0.0, 1.0]) {
            let reason = format!(
                "must be a rotation and a translation with a last row of 0, 0, 0, 1; its columns \
                 are {off:.1e} off right angles and length 1, {MENDED_TOLERANCE} is allowed"
            );
            return Err(CloudError::bad("T_cam_to_world", reason));
        }
        if off > ROTATION_TOLERANCE {
            rotation = nearest_rotation(rotation);
        }
        let rotation =
            UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation));
        let at = Translation3::new(rows[0][3], rows[1][3], rows[2][3]);
        let world_from_camera = Pose::from(Isometry3::from_parts(at, rotation));
        let (pinhole, distortion) = (self.pinhole(), self.distortion);
        Ok(Some(View { world_from_camera, pinhole, distortion }))
    }
}

fn rotation_of(rows: &[[f64; 4]; 4]) -> Matrix3<f64> {
    Matrix3::from_fn(|row, column| rows[row][column])
}

/// How far columns are from right angles and length 1.
fn off_rotation(rotation: &Matrix3<f64>) -> f64 {
    (rotation.transpose() * rotation - Matrix3::identity()).abs().max()
}

/// The nearest rotation of a matrix that nearly is one, by Newton's iteration for the polar factor.
fn nearest_rotation(mut rotation: Matrix3<f64>) -> Matrix3<f64> {
    // The error is squared each time: 1e-3, 1e-6, 1e-12, rounding.
    for _ in 0..4 {
        rotation = rotation * (Matrix3::identity() * 3.0 - rotation.transpose() * rotation) * 0.5;
    }
    rotation
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(decimals: i32) -> Sidecar {
        let turned = Rotation3::from_euler_angles(0.3, -1.1, 2.2);
        let unit = 10.0_f64.powi(decimals);
        let at = |r: usize, c: usize| match (r, c) {
            (0..3, 0..3) => (turned[(r, c)] * unit).round() / unit,
            (3, 3) => 1.0,
            _ => 0.0,
        };
        let rows = std::array::from_fn(|r| std::array::from_fn(|c| at(r, c)));
        Sidecar { world_from_camera: Some(rows), ..Sidecar::default() }
    }

    #[test]
    fn rounded_rotations_are_mended_and_it_is_said() {
        let want = Rotation3::from_euler_angles(0.3, -1.1, 2.2);
        for decimals in [4, 6] {
            let side = rounded(decimals);
            let view = side.view().unwrap().unwrap();
            let found = view.world_from_camera.isometry().rotation.to_rotation_matrix();
            assert!(found.angle_to(&want) < 2.0 * 10.0_f64.powi(-decimals));
            assert!(off_rotation(found.matrix()) < 1e-12);
        }
        assert!(rounded(4).mended().is_some_and(|off| off < 1e-3));
        assert_eq!(rounded(9).mended(), None);
        let error = rounded(2).view().unwrap_err().to_string();
        assert!(error.contains("0.001 is allowed"), "{error}");
    }
}
