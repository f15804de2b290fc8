//! Poses and rotations: metres, quaternions w,x,y,z, world frame unless a name says otherwise.

use nalgebra::{Isometry3, Matrix3, Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

/// A position and an orientation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pose {
    /// Position in metres.
    pub pos_m: [f64; 3],
    /// Orientation, w,x,y,z, unit length.
    pub quat_wxyz: [f64; 4],
}

impl Pose {
    /// The origin, unturned.
    pub const IDENTITY: Self = Self { pos_m: [0.0; 3], quat_wxyz: [1.0, 0.0, 0.0, 0.0] };

    /// A pose rotated by `yaw_rad` about the vertical.
    #[must_use]
    pub fn from_yaw(pos_m: [f64; 3], yaw_rad: f64) -> Self {
        let half = yaw_rad / 2.0;
        Self { pos_m, quat_wxyz: [half.cos(), 0.0, 0.0, half.sin()] }
    }

    /// As a nalgebra isometry (normalises the quaternion).
    #[must_use]
    pub fn isometry(&self) -> Isometry3<f64> {
        Isometry3::from_parts(Translation3::from(self.pos_m), unit(self.quat_wxyz))
    }
}

impl From<Isometry3<f64>> for Pose {
    fn from(iso: Isometry3<f64>) -> Self {
        let q = iso.rotation;
        Self { pos_m: iso.translation.vector.into(), quat_wxyz: [q.w, q.i, q.j, q.k] }
    }
}

fn unit(q: [f64; 4]) -> UnitQuaternion<f64> {
    UnitQuaternion::from_quaternion(Quaternion::new(q[0], q[1], q[2], q[3]))
}

/// The pose in the middle of two points whose z axis leads from the first to the second; unturned
/// where they are the same.
#[must_use]
pub fn between(from_m: [f64; 3], to_m: [f64; 3]) -> Isometry3<f64> {
    let (from, to) = (Vector3::from(from_m), Vector3::from(to_m));
    let along = to - from;
    let orientation =
        UnitQuaternion::rotation_between(&Vector3::z(), &along).unwrap_or_else(|| {
            // Straight down: a rotation of 180 degrees about x.
            let flip = if along.z < 0.0 { std::f64::consts::PI } else { 0.0 };
            UnitQuaternion::from_axis_angle(&Vector3::x_axis(), flip)
        });
    Isometry3::from_parts(((from + to) / 2.0).into(), orientation)
}

/// Orientation of a camera in the MuJoCo/OpenGL convention (looks along −Z, +Y up) that stands
/// at `eye` and looks at `target` with the world's +Z upwards in the picture.
///
/// Straight up or down has no such orientation; then the picture's top points to world +X
/// (looking down: the robot's front is up).
#[must_use]
pub fn look_at(eye: [f64; 3], target: [f64; 3]) -> [f64; 4] {
    let forward = Vector3::from(target) - Vector3::from(eye);
    let z = (-forward).try_normalize(1e-12).unwrap_or_else(Vector3::z);
    let x = Vector3::z()
        .cross(&z)
        .try_normalize(1e-9)
        .or_else(|| Vector3::x().cross(&z).try_normalize(1e-9))
        .unwrap_or_else(Vector3::x);
    let y = z.cross(&x);
    let rotation = Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[x, y, z]));
    let q = UnitQuaternion::from_rotation_matrix(&rotation);
    [q.w, q.i, q.j, q.k]
}

/// Converts a camera orientation from the MuJoCo/OpenGL convention (−Z forward, +Y up) into the
/// State's convention (+X forward, +Z up).
#[must_use]
pub fn forward_x_from_forward_minus_z(quat_wxyz: [f64; 4]) -> [f64; 4] {
    // Columns: where the forward-X camera's x, y, z axes lie in the OpenGL camera: x = -Z,
    // y (left) = -X, z (up) = +Y.
    let gl_from_forward_x = Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[
        -Vector3::z(),
        -Vector3::x(),
        Vector3::y(),
    ]));
    let q = unit(quat_wxyz) * UnitQuaternion::from_rotation_matrix(&gl_from_forward_x);
    [q.w, q.i, q.j, q.k]
}

/// Rotation matrix (row-major) of a quaternion that need not be normalised.
#[must_use]
pub fn matrix_from_quat(quat_wxyz: [f64; 4]) -> [f64; 9] {
    let m = unit(quat_wxyz).to_rotation_matrix();
    std::array::from_fn(|i| m[(i / 3, i % 3)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_at_points_the_minus_z_axis_at_the_target() {
        for (eye, target) in [
            ([1.0, 2.0, 3.0], [0.0, 0.0, 0.5]),
            ([0.0, 0.0, 1.0], [0.0, 0.0, 0.0]),
            ([0.0, 0.0, -1.0], [0.0, 0.0, 0.0]),
        ] {
            let q = unit(look_at(eye, target));
            let forward = q * -Vector3::z();
            let wanted = (Vector3::from(target) - Vector3::from(eye)).normalize();
            assert!((forward - wanted).norm() < 1e-12);
            let forward_x = unit(forward_x_from_forward_minus_z(look_at(eye, target)));
            assert!((forward_x * Vector3::x() - wanted).norm() < 1e-12);
            assert!((forward_x * Vector3::z() - q * Vector3::y()).norm() < 1e-12);
        }
    }
}
