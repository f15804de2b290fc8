//! The short controller of the first teleoperation script, kept as it was.
//!
//! Its gravity term adds newton metres to radians per second: with the tool inside the dead zone
//! the tilt joint creeps. Its floor is the table itself. Use `method: careful` to drive.

use nalgebra::Vector3;

use crate::cartesian::CartesianController;
use crate::memory::ControllerMemory;
use crate::roles::ArmKind;
use crate::scratch::Scratch;
use crate::settings::Gravity;
use crate::solve;
use crate::status::ControllerStatus;
use crate::velocity::Velocity;

impl CartesianController {
    pub(crate) fn plain(
        &self,
        memory: &mut ControllerMemory,
        scratch: &mut Scratch,
        wanted: &Velocity,
        brake: bool,
        status: &mut ControllerStatus,
    ) {
        let ArmKind::ToolDown { tilt, roll } = self.roles.kind else { return };
        let s = &self.settings;
        scratch.kinematics.update(&scratch.at);
        let (_, columns) = self.wrist_columns(scratch);
        status.sigma_min = solve::sigma_min(columns.into_iter());
        status.singular = solve::is_singular(s.lambda_pos, status.sigma_min);
        scratch.rates.fill(0.0);
        let v = Vector3::from(wanted.linear_m_s);
        solve::damped(&columns, &v, s.lambda_pos, &mut scratch.rates[..3]);
        let seen = self.tilt_of(scratch, tilt, status);
        let here = (tilt, scratch.at[tilt]);
        scratch.rates[tilt] =
            self.tilt_feedback(&seen, here, wanted.moves_the_hand(), status.sigma_min);
        if let Some(roll) = roll {
            scratch.rates[roll] = self.roll_rate(scratch, roll, wanted);
        }
        if s.gravity == Gravity::Seed {
            scratch.rates[tilt] += s.wrist_gff_gain * self.torque(scratch, tilt);
        }
        for j in 0..self.chain.arm_joints {
            let is_wrist = j >= tilt;
            let limit = if is_wrist { s.vel_limit_wrist_rad_s } else { s.vel_limit_rad_s };
            let clipped = scratch.rates[j].clamp(-limit, limit);
            status.speed |= clipped != scratch.rates[j];
            // The brake is no part of the script; whoever pulls it wants the arm to stop.
            let (fraction, new) = match (brake, is_wrist) {
                (true, _) => (self.smooth_brake, 0.0),
                (false, true) => (self.smooth_wrist, clipped),
                (false, false) => (self.smooth, clipped),
            };
            memory.rates[j] = (1.0 - fraction) * memory.rates[j] + fraction * new;
            scratch.rates[j] = memory.rates[j];
        }
        let arm = self.chain.arm_joints;
        for (k, ratio) in self.grip.iter().enumerate() {
            scratch.rates[arm + k] = wanted.gripper_per_s * ratio;
        }
        for (j, joint) in self.chain.joints.iter().enumerate() {
            let free = memory.desired[j] + scratch.rates[j] * self.substep_s;
            scratch.next[j] = joint.clamp(free);
            if scratch.next[j] != free {
                status.joints_at_limit |= 1 << j;
            }
        }
    }
}
