//! Arms of 4 or 5 joints: three place the wrist, one keeps the tool down, one may roll it.

use nalgebra::{Vector2, Vector3};

use crate::cartesian::CartesianController;
use crate::memory::ControllerMemory;
use crate::scratch::Scratch;
use crate::settings::{Gravity, KinematicsAt};
use crate::solve;
use crate::status::ControllerStatus;
use crate::velocity::Velocity;

/// Squared length of the horizontal part of the tilt axis below which tilting does nothing.
const TILT_COLUMN_MIN: f64 = 1e-8;
/// Fraction of the singularity setting below which tilt is left alone.
const SINGULAR_FRACTION_MIN: f64 = 1e-3;

/// What tilts the tool, seen in one tick.
pub(crate) struct Tilt {
    /// Horizontal part of the axis.
    column: Vector2<f64>,
    /// Its squared length with damping; infinite where tilting does nothing.
    square: f64,
    /// Horizontal part of the rotation that would bring the tool down: sine of the angle.
    error: Vector2<f64>,
}

impl CartesianController {
    /// The wrist's columns of the first three joints, at the kinematics' positions.
    pub(crate) fn wrist_columns(&self, scratch: &Scratch) -> (Vector3<f64>, [Vector3<f64>; 3]) {
        let wrist = scratch.kinematics.site(&self.chain.wrist).pos_m;
        let column = |j: usize| scratch.kinematics.column(j, self.chain.wrist.link, &wrist).0;
        (wrist, [column(0), column(1), column(2)])
    }

    pub(crate) fn tilt_of(
        &self,
        scratch: &Scratch,
        tilt: usize,
        status: &mut ControllerStatus,
    ) -> Tilt {
        let axis = self.tool_axis(&scratch.kinematics);
        let error = axis.cross(&-Vector3::z());
        status.tilt_rad = error.norm().atan2(-axis.z);
        let column = scratch.kinematics.axis(tilt).xy();
        let square = column.norm_squared();
        let square = if square > TILT_COLUMN_MIN {
            square + self.settings.lambda_tilt * self.settings.lambda_tilt
        } else {
            f64::INFINITY
        };
        Tilt { column, square, error: error.xy() }
    }

    /// Speed of the tilt joint that corrects what is wrong: nothing inside the dead zone at rest,
    /// less near singular poses and near the end of the joint that it would go to.
    pub(crate) fn tilt_feedback(
        &self,
        tilt: &Tilt,
        (joint, at): (usize, f64),
        is_moving: bool,
        sigma_min: f64,
    ) -> f64 {
        let s = &self.settings;
        let fraction = (sigma_min / s.singularity_m).clamp(0.0, 1.0);
        let is_wrong = tilt.error.norm() > s.dead_zone_rad;
        if !(is_moving || is_wrong) || fraction <= SINGULAR_FRACTION_MIN {
            return 0.0;
        }
        let angular = tilt.error * (s.ori_gain_per_s * fraction);
        let angular = angular
            * (s.ori_gain_per_s / angular.norm().max(s.ori_gain_per_s).max(f64::MIN_POSITIVE));
        let speed = tilt.column.dot(&angular) / tilt.square;
        let gap = match self.chain.joints[joint].range {
            Some([low, _]) if speed < 0.0 => at - low,
            Some([_, high]) => high - at,
            None => f64::INFINITY,
        };
        speed * (gap / s.limit_margin_rad).clamp(0.0, 1.0)
    }

    pub(crate) fn tool_down(
        &self,
        memory: &mut ControllerMemory,
        scratch: &mut Scratch,
        (tilt, roll): (usize, Option<usize>),
        (wanted, brake): (&Velocity, bool),
        status: &mut ControllerStatus,
    ) {
        let s = &self.settings;
        scratch.kinematics.update(&memory.desired);
        let lowest_m = scratch.kinematics.lowest_m();
        if s.state == KinematicsAt::Measured {
            scratch.kinematics.update(&scratch.at);
        }
        let (wrist, columns) = self.wrist_columns(scratch);
        let v = Vector3::from(wanted.linear_m_s);
        let v = self.fade_linear(v, &wrist, scratch, lowest_m, status);
        status.sigma_min = solve::sigma_min(columns.into_iter());
        status.singular = solve::is_singular(s.lambda_pos, status.sigma_min);
        let seen = self.tilt_of(scratch, tilt, status);

        // Three joints carry the wrist; their speeds keep its direction.
        let lambda = [solve::damping(s.lambda_pos, status.sigma_min), s.lambda_pos];
        let room = |j: usize| self.room(j, memory.desired[j]);
        let (rest, stretch) = self.split_stretch(scratch, &columns, v, status);
        let mut speeds = [0.0; 3];
        let mut at_limit = solve::bounded(&columns, &rest, lambda, room, &mut speeds);
        let is_free = |j: usize| (room(j)[0]..=room(j)[1]).contains(&(speeds[j] + stretch[j]));
        if at_limit == 0 && (0..3).all(is_free) {
            (0..3).for_each(|j| speeds[j] += stretch[j]);
        } else {
            at_limit = solve::bounded(&columns, &v, lambda, room, &mut speeds);
        }
        status.joints_at_limit |= at_limit;
        // Joints at their ends or a singular pose never make the wrist faster than asked.
        let got = (0..3).map(|j| columns[j] * speeds[j]).sum::<Vector3<f64>>().norm();
        if got > v.norm() {
            speeds.iter_mut().for_each(|speed| *speed *= v.norm() / got);
        }
        status.speed |= self.slow(&mut speeds, 0..3);
        // Without a wish the limiter alone brings the arm to rest.
        let is_driven = wanted.moves_the_hand() && !brake;
        let fraction = if is_driven { self.smooth } else { 1.0 };
        for j in 0..3 {
            scratch.rates[j] = memory.rates[j] + fraction * (speeds[j] - memory.rates[j]);
        }
        let asked: [f64; 3] = std::array::from_fn(|j| scratch.rates[j]);
        self.wait_for_arm(memory, scratch, 0..3);

        // Feed-forward and feedback: the tilt joint takes back the pitch that they cause, and corrects what is left.
        let fraction = if is_driven { self.smooth_wrist } else { 1.0 };
        let mut feedback = 0.0;
        if is_driven {
            let here = (tilt, memory.desired[tilt]);
            feedback = self.tilt_feedback(&seen, here, true, status.sigma_min);
            if s.gravity == Gravity::Seed {
                feedback += s.wrist_gff_gain * self.torque(scratch, tilt);
            }
        }
        memory.feedback += fraction * (feedback - memory.feedback);
        // What blocked joints give up does not move the arm.
        let moves: [f64; 3] =
            std::array::from_fn(|j| scratch.rates[j].clamp(-asked[j].abs(), asked[j].abs()));
        let pitch = self.pitch_back(scratch, &seen, &moves);
        let forward = if s.feed_forward { pitch } else { 0.0 };
        scratch.rates[tilt] = self.wrist_rate(tilt, memory, forward + memory.feedback, status);
        self.wait_for_arm(memory, scratch, tilt..tilt + 1);
        if let Some(roll) = roll {
            let smoothed = memory.rates[roll]
                + fraction * (self.roll_rate(scratch, roll, wanted) - memory.rates[roll]);
            scratch.rates[roll] = self.wrist_rate(roll, memory, smoothed, status);
            self.wait_for_arm(memory, scratch, roll..roll + 1);
        }
        self.grip_rates(wanted.gripper_per_s, &mut scratch.rates);

        scratch.lift.fill(0.0);
        let mut up = [0.0; 3];
        solve::damped(&columns, &Vector3::z(), s.lambda_pos, &mut up);
        scratch.lift[..3].copy_from_slice(&up);
        scratch.lift[tilt] = self.pitch_back(scratch, &seen, &scratch.lift);
        self.finish(memory, scratch, lowest_m, status);
    }

    /// Speed of the tilt joint that takes back the pitch of the first three.
    fn pitch_back(&self, scratch: &Scratch, tilt: &Tilt, rates: &[f64]) -> f64 {
        let angular = (0..3).map(|j| scratch.kinematics.axis(j) * rates[j]).sum::<Vector3<f64>>();
        -tilt.column.dot(&angular.xy()) / tilt.square
    }

    /// Counter-clockwise seen from above when the tool points down: about the other way than the
    /// tool points.
    pub(crate) fn roll_rate(&self, scratch: &Scratch, roll: usize, wanted: &Velocity) -> f64 {
        let along = scratch.kinematics.axis(roll).dot(&self.tool_axis(&scratch.kinematics));
        -along.signum() * wanted.roll_rad_s
    }

    /// A wrist joint's speed within its limits.
    fn wrist_rate(
        &self,
        joint: usize,
        memory: &ControllerMemory,
        rate: f64,
        status: &mut ControllerStatus,
    ) -> f64 {
        let slow = rate.clamp(-self.limits[joint], self.limits[joint]);
        status.speed |= slow != rate;
        let [low, high] = self.room(joint, memory.desired[joint]);
        let kept = slow.clamp(low, high);
        if kept != slow {
            status.joints_at_limit |= 1 << joint;
        }
        kept
    }
}
