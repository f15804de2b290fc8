//! A camera's pose as people adjust it: position and roll, pitch, yaw.

use citrange_core::Pose;
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use serde::{Deserialize, Serialize};

/// Pose of a camera in the world. The angles rotate about the world's x, then y, then z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CameraPose {
    /// Position.
    pub xyz_m: [f64; 3],
    /// Roll, pitch, yaw.
    pub rpy_deg: [f64; 3],
}

/// One of the six numbers of a [`CameraPose`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Position along x.
    X,
    /// Position along y.
    Y,
    /// Position along z.
    Z,
    /// Rotation about x.
    Roll,
    /// Rotation about y.
    Pitch,
    /// Rotation about z.
    Yaw,
}

/// How far a key moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// 1 mm or 0.1 degrees.
    Fine,
    /// 1 cm or 1 degree.
    Coarse,
}

/// One press of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjust {
    /// Which number.
    pub axis: Axis,
    /// How far.
    pub step: Step,
    /// Whether it rises or falls.
    pub rise: bool,
}

impl CameraPose {
    /// The pose after a press of a key. Angles stay within -180 and 180 degrees.
    #[must_use]
    pub fn adjusted(mut self, adjust: Adjust) -> Self {
        let sign = if adjust.rise { 1.0 } else { -1.0 };
        let (shift_m, rotation_deg) = match adjust.step {
            Step::Fine => (sign * 0.001, sign * 0.1),
            Step::Coarse => (sign * 0.01, sign),
        };
        match adjust.axis {
            Axis::X => self.xyz_m[0] += shift_m,
            Axis::Y => self.xyz_m[1] += shift_m,
            Axis::Z => self.xyz_m[2] += shift_m,
            Axis::Roll => self.rpy_deg[0] = wrapped(self.rpy_deg[0] + rotation_deg),
            Axis::Pitch => self.rpy_deg[1] = wrapped(self.rpy_deg[1] + rotation_deg),
            Axis::Yaw => self.rpy_deg[2] = wrapped(self.rpy_deg[2] + rotation_deg),
        }
        self
    }

    /// As a pose.
    #[must_use]
    pub fn pose(&self) -> Pose {
        let [roll, pitch, yaw] = self.rpy_deg.map(f64::to_radians);
        let rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
        Isometry3::from_parts(Translation3::from(self.xyz_m), rotation).into()
    }
}

impl From<Pose> for CameraPose {
    fn from(pose: Pose) -> Self {
        let m = pose.isometry().rotation.to_rotation_matrix();
        let yaw = m[(1, 0)].atan2(m[(0, 0)]);
        let pitch = (-m[(2, 0)]).atan2(m[(0, 0)].hypot(m[(1, 0)]));
        // Roll is what is left after the yaw: right also where pitch is a right angle and only
        // the sum of both is known.
        let (sin, cos) = yaw.sin_cos();
        let roll = (sin * m[(0, 2)] - cos * m[(1, 2)]).atan2(cos * m[(1, 1)] - sin * m[(0, 1)]);
        Self { xyz_m: pose.pos_m, rpy_deg: [roll, pitch, yaw].map(f64::to_degrees) }
    }
}

/// The same angle within -180 and 180 degrees.
fn wrapped(angle_deg: f64) -> f64 {
    if (-180.0..=180.0).contains(&angle_deg) {
        return angle_deg;
    }
    (angle_deg + 180.0).rem_euclid(360.0) - 180.0
}
