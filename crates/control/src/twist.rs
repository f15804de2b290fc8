//! Arms of 6 or 7 joints: the tool goes where it is asked to and keeps its orientation.
//!
//! The orientation to hold is part of the memory. It turns as asked, and the arm is pulled
//! towards it, so that it neither drifts nor is lost while other things limit the motion.

use nalgebra::{Quaternion, UnitQuaternion, Vector3, Vector6};

use crate::cartesian::{CartesianController, quaternion};
use crate::memory::ControllerMemory;
use crate::scratch::Scratch;
use crate::settings::KinematicsAt;
use crate::solve;
use crate::status::ControllerStatus;
use crate::velocity::Velocity;

/// Metres that weigh as much as a radian. Long against the ways of a hand, so that where a joint
/// ends the hand rather stays behind than turns.
const RADIAN_M: f64 = 1.0;
/// The same for telling how near a singular pose is: about the length of a hand.
const HAND_M: f64 = 0.2;
/// The held orientation never runs further from the tool's than this.
const HELD_AHEAD_RAD: f64 = 0.1;
/// A tool that turns slower than this, unasked, does not turn.
const ANGULAR_MIN_RAD_S: f64 = 1e-3;
/// Pull of a spare joint towards the posture at the start, per second.
const POSTURE_PER_S: f64 = 0.5;

impl CartesianController {
    pub(crate) fn twist(
        &self,
        memory: &mut ControllerMemory,
        scratch: &mut Scratch,
        wanted: &Velocity,
        brake: bool,
        status: &mut ControllerStatus,
    ) {
        let s = &self.settings;
        let arm = self.chain.arm_joints;
        scratch.kinematics.update(&memory.desired);
        let lowest_m = scratch.kinematics.lowest_m();
        if s.state == KinematicsAt::Measured {
            scratch.kinematics.update(&scratch.at);
        }
        let tool = scratch.kinematics.site(&self.chain.tool);
        let v = Vector3::from(wanted.linear_m_s);
        let v = self.fade_linear(v, &tool.pos_m, scratch, lowest_m, status);
        for j in 0..arm {
            let (p, r) = scratch.kinematics.column(j, self.chain.tool.link, &tool.pos_m);
            scratch.twists[j] = weighed(&p, &r);
        }
        let [one, less] = [1.0, HAND_M / RADIAN_M];
        let shorter = Vector6::new(one, one, one, less, less, less);
        status.sigma_min =
            solve::sigma_min(scratch.twists.iter().map(|c| c.component_mul(&shorter)));
        status.singular = solve::is_singular(s.lambda_pos, status.sigma_min);

        // The wish, and the pull towards the held orientation.
        let [tilt_x, tilt_y] = wanted.tilt_rad_s;
        let asked = Vector3::new(tilt_x, tilt_y, 0.0)
            - self.tool_axis(&scratch.kinematics) * wanted.roll_rad_s;
        let is = quaternion(&tool);
        let [w, i, j, k] = memory.held;
        let held = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
        let error = (held * is.inverse()).scaled_axis();
        status.tilt_rad = error.norm();
        let is_driven = wanted.moves_the_hand() && !brake;
        // A tool that turns as asked is not pulled at the same time: see `hold_on`.
        let is_turning = asked != Vector3::zeros() || memory.angular_rad_s != [0.0; 3];
        let is_pulled = is_driven && !is_turning;
        let pull = if is_pulled { error * s.ori_gain_per_s } else { Vector3::zeros() };
        let goal = weighed(&v, &(asked + pull));

        let lambda = [solve::damping(s.lambda_pos, status.sigma_min), s.lambda_pos];
        let room = |j: usize| self.room(j, memory.desired[j]);
        let mut speeds = [0.0; 8];
        let speeds = &mut speeds[..arm];
        let columns = &scratch.twists;
        status.joints_at_limit |= solve::bounded(columns, &goal, lambda, room, speeds);
        if arm > 6 && wanted.moves_the_hand() && status.joints_at_limit == 0 {
            to_posture(memory, columns, s.lambda_pos, &mut scratch.spare[..arm]);
            let within = (0..arm).all(|j| {
                let [low, high] = room(j);
                (low..=high).contains(&(speeds[j] + scratch.spare[j]))
            });
            if within {
                (0..arm).for_each(|j| speeds[j] += scratch.spare[j]);
            }
        }
        let before = speeds[arm - 1];
        let slowed = self.slow(speeds, 0..arm);
        status.speed |= slowed;
        let slower = if slowed && before != 0.0 { speeds[arm - 1] / before } else { 1.0 };
        // Without a wish the limiter alone brings the arm to rest.
        let fraction = if is_driven { self.smooth } else { 1.0 };
        for j in 0..arm {
            scratch.rates[j] = memory.rates[j] + fraction * (speeds[j] - memory.rates[j]);
        }
        let waits = self.wait_for_arm(memory, scratch, 0..arm);
        self.grip_rates(wanted.gripper_per_s, &mut scratch.rates);

        // What is held turns as smoothly as the arm does, and waits for it (and see `hold_on`).
        if is_driven {
            let mut angular = Vector3::from(memory.angular_rad_s);
            angular += (asked * slower - angular) * fraction;
            let is_over =
                waits || (asked == Vector3::zeros() && angular.norm() < ANGULAR_MIN_RAD_S);
            memory.angular_rad_s = if is_over { [0.0; 3] } else { angular.into() };
            let ahead = error + Vector3::from(memory.angular_rad_s) * self.substep_s;
            let most = HELD_AHEAD_RAD.min(ahead.norm());
            let kept = ahead.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vector3::zeros) * most;
            if kept != Vector3::zeros() && (kept != error || memory.angular_rad_s != [0.0; 3]) {
                let next = UnitQuaternion::from_scaled_axis(kept) * is;
                memory.held = [next.w, next.i, next.j, next.k];
            }
        }

        scratch.lift.fill(0.0);
        let up = weighed(&Vector3::z(), &Vector3::zeros());
        solve::damped(&scratch.twists, &up, s.lambda_pos, &mut scratch.lift[..arm]);
        self.finish(memory, scratch, lowest_m, status);
    }
}

/// Speeds that bring the arm towards its posture without moving the tool: projection onto the null
/// space of the Jacobian.
fn to_posture(memory: &ControllerMemory, columns: &[Vector6<f64>], lambda: f64, spare: &mut [f64]) {
    let pull = |j: usize| POSTURE_PER_S * (memory.posture[j] - memory.desired[j]);
    let moved = columns.iter().enumerate().map(|(j, c)| c * pull(j)).sum::<Vector6<f64>>();
    solve::damped(columns, &moved, lambda * 0.01, spare);
    for (j, speed) in spare.iter_mut().enumerate() {
        *speed = pull(j) - *speed;
    }
}

fn weighed(linear: &Vector3<f64>, angular: &Vector3<f64>) -> Vector6<f64> {
    let a = angular * RADIAN_M;
    Vector6::new(linear.x, linear.y, linear.z, a.x, a.y, a.z)
}
