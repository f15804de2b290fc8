//! What a hand may not do: go through the floor, leave its workspace, outrun the arm.
//! All of this bounds what is wanted; what is sent is bounded once more in `send.rs`.

use nalgebra::Vector3;

use crate::cartesian::CartesianController;
use crate::memory::ControllerMemory;
use crate::scratch::Scratch;
use crate::status::ControllerStatus;

/// How often a step that would touch the floor is lifted before it is given up.
const LIFTS: usize = 4;
/// Lifts aim this much above the floor, so that one is enough where the path is straight.
const LIFT_MARGIN_M: f64 = 1e-7;

/// Part of its servo's strength that a joint presses with against what is in its way.
const PRESS: f64 = 0.1;
/// The wanted position of a joint may always run so far ahead of the measured one.
const LEAD_MIN: f64 = 0.005;
/// Part of what a joint may run ahead below which it counts as back.
const BACK: f64 = 0.3;

/// The hand is driven down to so much above the lowest height that is allowed, so that braking
/// near it always has room.
const SOFT_FLOOR_M: f64 = 0.0005;

/// Speed at which a point outside of the workspace is led back, as a fraction of the wish.
const PUSH_BACK: f64 = 0.1;

impl CartesianController {
    /// Wanted speed of a point, less what leads into the floor or out of the workspace. What
    /// leads along the border stays.
    pub(crate) fn fade_linear(
        &self,
        wanted: Vector3<f64>,
        point: &Vector3<f64>,
        scratch: &Scratch,
        lowest_m: f64,
        status: &mut ControllerStatus,
    ) -> Vector3<f64> {
        let mut v = wanted;
        if let Some(floor_m) = self.floor_m {
            let most = ((lowest_m - floor_m - SOFT_FLOOR_M) / self.fade_s).max(0.0);
            if v.z < -most {
                v.z = -most;
                status.floor = true;
            }
        }
        let Some(space) = self.settings.workspace else { return v };
        // A point that is outside is led back gently, and only while it is asked to move.
        let back = PUSH_BACK * v.norm();
        let mut fade = |v: &mut Vector3<f64>, along: Vector3<f64>, at: f64, span: [f64; 2]| {
            let speed = v.dot(&along);
            let most = ((span[1] - at) / self.fade_s).max(-back);
            let least = ((span[0] - at) / self.fade_s).min(back).min(most);
            let allowed = speed.clamp(least, most);
            if allowed != speed {
                *v += along * (allowed - speed);
                status.workspace = true;
            }
        };
        if let Some(span) = space.z_m {
            fade(&mut v, Vector3::z(), point.z, span);
        }
        if let Some(span) = space.radius_m {
            let axis = scratch.kinematics.axis(0);
            let out = point - scratch.kinematics.anchor(0);
            let out = out - axis * axis.dot(&out);
            let radius = out.norm();
            if let Some(along) = out.try_normalize(1e-9) {
                fade(&mut v, along, radius, span);
            }
        }
        v
    }

    /// Smallest and largest speed of a joint so that it comes to rest at the end of its range.
    pub(crate) fn room(&self, joint: usize, at: f64) -> [f64; 2] {
        match self.chain.joints[joint].range {
            Some([low, high]) => {
                [((low - at) / self.fade_s).min(0.0), ((high - at) / self.fade_s).max(0.0)]
            }
            None => [f64::NEG_INFINITY, f64::INFINITY],
        }
    }

    /// Slows the joints from `first` to `last` together, so that none is too fast.
    pub(crate) fn slow(&self, rates: &mut [f64], joints: std::ops::Range<usize>) -> bool {
        let over = |j: usize| rates[j].abs() / self.limits[j];
        let most = joints.clone().map(over).fold(1.0, f64::max);
        if most > 1.0 {
            joints.for_each(|j| rates[j] /= most);
        }
        most > 1.0
    }

    /// How far a joint's wanted position may run ahead of the measured one: what its servo needs
    /// for its speed, and to press with a part of its strength. Where the servo is not known,
    /// `windup_rad`.
    fn lead(&self, joint: usize, memory: &ControllerMemory, scratch: &Scratch) -> f64 {
        let most = self.settings.windup_rad;
        let joint_is = &self.chain.joints[joint];
        let (Some(stiffness), Some(effort)) = (joint_is.stiffness, joint_is.max_effort) else {
            return most;
        };
        let moved = (scratch.measured[joint] - memory.measured[joint]).abs();
        let damping = joint_is.damping.unwrap_or(0.0);
        let needed = (PRESS * effort + damping * moved / self.tick_s) / stiffness;
        (LEAD_MIN + needed + scratch.rates[joint].abs() * self.tick_s).min(most)
    }

    /// Anti-windup: holds back joints that the arm does not follow, each for itself. Coming back is free at
    /// once in every joint: what it was asked for in vain is given up as fast as limits allow.
    pub(crate) fn wait_for_arm(
        &self,
        memory: &mut ControllerMemory,
        scratch: &mut Scratch,
        joints: std::ops::Range<usize>,
    ) -> bool {
        if self.settings.windup_rad == 0.0 {
            return false;
        }
        let mut waits = false;
        for j in joints {
            let ahead = memory.desired[j] - scratch.measured[j];
            let (rate, lead) = (scratch.rates[j], self.lead(j, memory, scratch));
            let is_out = memory.blocked[j] != 0.0;
            if is_out && ahead.abs() < BACK * lead {
                memory.blocked[j] = 0.0;
            } else if is_out && rate * ahead < 0.0 {
                let back = self.limiter.speed_with_stop(j, ahead.abs()).min(self.limits[j]);
                scratch.rates[j] = rate.abs().max(back).copysign(-ahead);
            } else if rate * ahead > 0.0 && (ahead + rate * self.substep_s).abs() > lead {
                let room = (lead - ahead.abs()).max(0.0) / self.substep_s;
                scratch.rates[j] = rate.clamp(-room, room);
                memory.blocked[j] = 1.0;
                waits = true;
            }
        }
        waits
    }

    /// Speeds of the gripper's joints.
    pub(crate) fn grip_rates(&self, wanted_per_s: f64, rates: &mut [f64]) {
        let first = self.chain.arm_joints;
        for (k, ratio) in self.grip.iter().enumerate() {
            rates[first + k] = wanted_per_s * ratio;
        }
        self.slow(rates, first..rates.len());
    }

    /// Ends a tick: `scratch.next` takes the positions, kept in range and above the floor.
    ///
    /// A step that would bring the hand below the floor is lifted by the arm (`scratch.lift`);
    /// where that does not help the arm stays, and if need be the gripper too. A hand that is
    /// below already may go anywhere but down.
    pub(crate) fn finish(
        &self,
        memory: &mut ControllerMemory,
        scratch: &mut Scratch,
        lowest_m: f64,
        status: &mut ControllerStatus,
    ) {
        let arm = self.chain.arm_joints;
        let bound = self.floor_m.map(|floor| (floor + SOFT_FLOOR_M).min(lowest_m));
        let is_above = |scratch: &mut Scratch, missing: &mut f64| {
            self.place(memory, scratch);
            let Some(bound) = bound else { return true };
            scratch.kinematics.update(&scratch.next);
            *missing = bound - scratch.kinematics.lowest_m();
            *missing <= 0.0
        };
        let mut missing = 0.0;
        let mut done = is_above(scratch, &mut missing);
        for _ in 0..LIFTS {
            if done {
                break;
            }
            status.floor = true;
            let up_m_s = (missing + LIFT_MARGIN_M) / self.substep_s;
            for j in 0..arm {
                scratch.rates[j] += scratch.lift[j] * up_m_s;
            }
            let all = scratch.rates.len();
            let over = (0..arm).map(|j| scratch.rates[j].abs() / self.limits[j]);
            let over = over.fold(1.0, f64::max);
            (0..all).for_each(|j| scratch.rates[j] /= over);
            done = is_above(scratch, &mut missing);
        }
        if !done {
            scratch.rates[..arm].fill(0.0);
            if !is_above(scratch, &mut missing) {
                scratch.rates.fill(0.0);
                scratch.next.copy_from_slice(&memory.desired);
            }
        }
        memory.rates.copy_from_slice(&scratch.rates);
    }

    /// Positions after the tick, in range; speeds that led out of it are cut.
    fn place(&self, memory: &ControllerMemory, scratch: &mut Scratch) {
        for (j, joint) in self.chain.joints.iter().enumerate() {
            let free = memory.desired[j] + scratch.rates[j] * self.substep_s;
            // What carries the weight may hold a wanted position a little outside: it stays there.
            scratch.next[j] = match joint.range {
                Some([low, high]) => {
                    free.clamp(low.min(memory.desired[j]), high.max(memory.desired[j]))
                }
                None => free,
            };
            if scratch.next[j] != free {
                scratch.rates[j] = (scratch.next[j] - memory.desired[j]) / self.substep_s;
            }
        }
    }
}
