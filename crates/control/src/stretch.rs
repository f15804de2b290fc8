//! The end of an arm's reach: a soft wall in front of the stretched arm.
//!
//! A stretched arm cannot move along itself, so least squares neither drive into that pose in
//! finite time nor out of it. Outward speed therefore fades before it is reached, and inward speed
//! bends the elbow however far it is stretched.

use nalgebra::{Matrix3, Vector3};

use crate::cartesian::CartesianController;
use crate::scratch::Scratch;
use crate::solve;
use crate::status::ControllerStatus;

/// The wall stands where the smallest singular value is this many times the damping.
const WALL: f64 = 1.5;
/// Way along the weakest joint direction over which its effect is judged.
const PROBE_RAD: f64 = 1e-3;
/// Slope of the singular value, in metres per radian squared, that tells a stretched arm from one
/// that is singular for another reason (a wrist above the pan axis).
const SLOPE: f64 = 0.01;
/// Below this the weakest direction is lost in rounding.
const SIGMA_MIN: f64 = 1e-6;

impl CartesianController {
    /// Splits a wanted speed of the wrist near the end of reach: what least squares do, and the
    /// speeds of the first three joints that do the rest.
    pub(crate) fn split_stretch(
        &self,
        scratch: &mut Scratch,
        columns: &[Vector3<f64>; 3],
        v: Vector3<f64>,
        status: &ControllerStatus,
    ) -> (Vector3<f64>, [f64; 3]) {
        let all = (v, [0.0; 3]);
        if !status.singular || status.sigma_min < SIGMA_MIN {
            return all;
        }
        let jacobian = Matrix3::from_columns(columns);
        let eigen = (jacobian * jacobian.transpose()).symmetric_eigen();
        let weak: Vector3<f64> = eigen.eigenvectors.column(eigen.eigenvalues.imin()).into();
        let Some(joints) = (jacobian.transpose() * weak).try_normalize(SIGMA_MIN * 0.1) else {
            return all;
        };
        let Some(slope) = self.slope(scratch, &joints, status.sigma_min) else { return all };
        let wall = WALL * self.settings.lambda_pos;
        let full = solve::FADE * self.settings.lambda_pos;
        let along = v.dot(&weak);
        let allowed = if along * slope > 0.0 {
            along
        } else {
            along * ((status.sigma_min - wall) / (full - wall)).clamp(0.0, 1.0)
        };
        let speeds = joints * (allowed / status.sigma_min.max(wall));
        (v - weak * along, speeds.into())
    }

    /// How the smallest singular value changes along a direction of the first three joints;
    /// `None` where it hardly does.
    fn slope(&self, scratch: &mut Scratch, joints: &Vector3<f64>, sigma: f64) -> Option<f64> {
        for j in 0..3 {
            scratch.at[j] += PROBE_RAD * joints[j];
        }
        scratch.kinematics.update(&scratch.at);
        let (_, columns) = self.wrist_columns(scratch);
        for j in 0..3 {
            scratch.at[j] -= PROBE_RAD * joints[j];
        }
        scratch.kinematics.update(&scratch.at);
        let slope = (solve::sigma_min(columns.into_iter()) - sigma) / PROBE_RAD;
        (slope.abs() > SLOPE).then_some(slope)
    }
}
