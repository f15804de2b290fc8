//! The end of a tick: what the controller wants becomes targets that may be sent.
//!
//! Targets are where the joints should be, plus what carries their weight, plus what is left of the
//! targets in force at the start. All of that goes through the limiter, and where the limiter
//! holds it back the controller is told: it goes on from where the targets are, so nothing winds up and
//! nothing is made up for later.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use crate::cartesian::{CartesianController, quaternion};
use crate::memory::ControllerMemory;
use crate::roles::ArmKind;
use crate::scratch::Scratch;
use crate::settings::{Gravity, Method};
use crate::status::ControllerStatus;
use crate::velocity::Velocity;
use citrange_robot::Kinematics;
use citrange_robot::MAX_JOINTS;

/// Halvings between the wanted motion and a stop, where the wanted one would meet the floor.
const HALVINGS: usize = 8;
/// More ticks than any stop takes.
const MOST_TICKS: usize = 2_000;
/// Kept above the lowest height that is allowed, for rounding and for what is carried.
const CARRIED_M: f64 = 1e-5;
/// So far above what it could reach the floor is not looked at.
const FAR_M: f64 = 0.005;
/// Part of `soft_start_s` after which a third of an offset is left: hardly any is at its end.
const OFFSET_FADES: f64 = 3.0;

type SmallJoints = [f64; MAX_JOINTS];

impl CartesianController {
    /// `memory.desired` is where the controller wants the joints; afterwards it is where they may be, and
    /// `memory.motion` holds the targets.
    pub(crate) fn send(
        &self,
        memory: &mut ControllerMemory,
        scratch: &mut Scratch,
        wanted: &Velocity,
        brake: bool,
        status: &mut ControllerStatus,
    ) {
        // Taking an arm over, its weight is taken over too; then nothing moves unless it is driven.
        let is_new = memory.ticks * self.tick_s < self.settings.soft_start_s;
        let is_driven = (wanted.moves_the_hand() || is_new) && !brake;
        scratch.offset.copy_from_slice(&memory.offset);
        self.carry(memory, scratch, is_driven);
        if self.settings.method == Method::Plain {
            return self.send_as_it_is(memory, scratch);
        }
        let tick_s = self.tick_s;
        for j in 0..memory.desired.len() {
            let target = memory.desired[j] + scratch.carry[j];
            scratch.rates[j] = (target - memory.motion.pos[j]) / tick_s;
        }
        let is_weighed = self.choose(memory, scratch, is_driven, status);
        self.limiter.advance(&mut memory.motion, &scratch.accelerations[0]);
        if is_weighed {
            let Scratch { kinematics, torques, carry, .. } = &mut *scratch;
            self.weigh_at(&memory.motion.pos, carry, &memory.offset, kinematics, torques);
        }
        for j in 0..memory.desired.len() {
            memory.desired[j] = memory.motion.pos[j] - scratch.carry[j];
            memory.rates[j] = (memory.desired[j] - scratch.before[j]) / tick_s;
        }
        if !is_weighed {
            self.weigh(memory, scratch);
            for j in 0..memory.desired.len() {
                memory.offset[j] = scratch.carry[j] - self.ahead(j, &scratch.torques);
            }
        }
        if self.roles.kind == ArmKind::Twist {
            self.hold_on(memory, scratch, brake);
        }
    }

    /// The short controller sends what it wants.
    fn send_as_it_is(&self, memory: &mut ControllerMemory, scratch: &Scratch) {
        for (j, joint) in self.chain.joints.iter().enumerate() {
            let target = joint.clamp(memory.desired[j] + scratch.carry[j]);
            let speed = (target - memory.motion.pos[j]) / self.tick_s;
            memory.motion.acceleration[j] = (speed - memory.motion.speed[j]) / self.tick_s;
            (memory.motion.speed[j], memory.motion.pos[j]) = (speed, target);
        }
    }

    /// Torques of gravity where the controller wants the joints.
    fn weigh(&self, memory: &ControllerMemory, scratch: &mut Scratch) {
        scratch.kinematics.update(&memory.desired);
        if self.settings.gravity == Gravity::Torque {
            scratch.kinematics.gravity_torques(&mut scratch.torques);
        }
    }

    /// What is added to the wanted positions. While nothing is asked of the hand it stays as it is:
    /// an arm that nobody drives does not move.
    fn carry(&self, memory: &mut ControllerMemory, scratch: &mut Scratch, is_driven: bool) {
        if self.settings.method == Method::Plain || is_driven {
            self.weigh(memory, scratch);
            let left = self.offset_left(memory.ticks);
            memory.ticks += 1.0;
            for j in 0..memory.desired.len() {
                memory.offset[j] *= left;
                scratch.carry[j] = self.ahead(j, &scratch.torques) + memory.offset[j];
            }
        } else {
            for j in 0..memory.desired.len() {
                scratch.carry[j] = memory.motion.pos[j] - scratch.before[j];
            }
        }
    }

    /// Part of the offset that is left after another tick. At the start it goes with minimum jerk
    /// (the quintic 10 t³ - 15 t⁴ + 6 t⁵: at rest at both ends, so nothing is felt);
    /// what comes later (weight that changed on the way to rest) is little, and fades.
    fn offset_left(&self, ticks: f64) -> f64 {
        let all = self.settings.soft_start_s / self.tick_s;
        let left = |t: f64| 1.0 - t * t * t * (10.0 - 15.0 * t + 6.0 * t * t);
        if ticks + 1.0 < all {
            left((ticks + 1.0) / all) / left(ticks / all)
        } else if ticks < all {
            0.0
        } else {
            1.0 - (OFFSET_FADES / all).clamp(0.0, 1.0)
        }
    }

    /// What is carried for targets, given what is carried now: the weight differs so little from
    /// tick to tick that one look is enough.
    fn weigh_at(
        &self,
        targets: &[f64],
        carry: &mut [f64],
        offset: &[f64],
        kinematics: &mut Kinematics,
        torques: &mut [f64],
    ) {
        if self.settings.gravity == Gravity::Torque {
            let at: SmallJoints = std::array::from_fn(|j| match targets.get(j) {
                Some(target) => target - carry[j],
                None => 0.0,
            });
            kinematics.update(&at[..targets.len()]);
            kinematics.gravity_torques(torques);
        }
        for (j, carry) in carry.iter_mut().enumerate() {
            *carry = self.ahead(j, torques) + offset[j];
        }
    }

    /// Accelerations of this tick: towards `scratch.rates` as far as the limits allow, and so
    /// that the hand can still come to rest above the floor. Answers whether what is carried
    /// changes with the pose; near the floor it stays as it is, and so does the way to rest.
    fn choose(
        &self,
        memory: &mut ControllerMemory,
        scratch: &mut Scratch,
        is_driven: bool,
        status: &mut ControllerStatus,
    ) -> bool {
        let [mut chosen, mut wanted, mut stop] = std::mem::take(&mut scratch.accelerations);
        self.limiter.accelerations(&memory.motion, &scratch.rates, &mut chosen);
        let carried = |memory: &ControllerMemory, scratch: &mut Scratch| {
            for j in 0..memory.desired.len() {
                scratch.carry[j] = memory.motion.pos[j] - scratch.before[j];
            }
        };
        carried(memory, scratch);
        let mut is_weighed = is_driven;
        if let Some(floor_m) = self.floor_m {
            if !self.rests_above(memory, scratch, &chosen, is_driven, floor_m) {
                is_weighed = false;
                status.floor = true;
                memory.offset.copy_from_slice(&scratch.offset);
                wanted.copy_from_slice(&chosen);
                self.limiter.stop_accelerations(&memory.motion, &mut stop);
                let (mut good, mut bad) = (0.0, 1.0);
                let mix = |fraction: f64, into: &mut [f64]| {
                    for (j, into) in into.iter_mut().enumerate() {
                        *into = stop[j] + fraction * (wanted[j] - stop[j]);
                    }
                };
                for _ in 0..HALVINGS {
                    let middle = (good + bad) / 2.0;
                    mix(middle, &mut chosen);
                    carried(memory, scratch);
                    if self.rests_above(memory, scratch, &chosen, false, floor_m) {
                        good = middle;
                    } else {
                        bad = middle;
                    }
                }
                mix(good, &mut chosen);
            }
            carried(memory, scratch);
        }
        scratch.accelerations = [chosen, wanted, stop];
        is_weighed
    }

    /// Whether the hand stays above the floor when it takes these accelerations and then brakes.
    /// Below the floor it may go anywhere but down.
    fn rests_above(
        &self,
        memory: &ControllerMemory,
        scratch: &mut Scratch,
        accelerations: &[f64],
        is_weighed: bool,
        floor_m: f64,
    ) -> bool {
        let floor_m = floor_m + CARRIED_M;
        scratch.kinematics.update(&scratch.before);
        let mut low_m = scratch.kinematics.lowest_m();
        let joints = self.chain.joints.iter().enumerate();
        let way = joints.map(|(j, joint)| {
            let way = self.limiter.stop_way(&memory.motion, j);
            if joint.is_slide { way } else { way * self.span_m }
        });
        if low_m - floor_m > FAR_M + way.sum::<f64>() {
            return true;
        }
        let Scratch { rest, kinematics, torques, carry, next, spare, .. } = scratch;
        rest.copy_from(&memory.motion);
        let mut taken = std::mem::take(spare);
        taken.copy_from_slice(accelerations);
        let mut is_above = true;
        for tick in 0..MOST_TICKS {
            self.limiter.advance(rest, &taken);
            if tick == 0 && is_weighed {
                self.weigh_at(&rest.pos, carry, &memory.offset, kinematics, torques);
            }
            for ((next, pos), carry) in next.iter_mut().zip(&rest.pos).zip(carry.iter()) {
                *next = pos - carry;
            }
            kinematics.update(next);
            let then_m = kinematics.lowest_m();
            is_above = then_m >= floor_m.min(low_m);
            if !is_above || rest.is_at_rest() {
                break;
            }
            low_m = then_m;
            self.limiter.stop_accelerations(rest, &mut taken);
        }
        *spare = taken;
        is_above
    }

    /// A tool that turns as asked is held where the limiter lets it be, not where it would have
    /// been without.
    fn hold_on(&self, memory: &mut ControllerMemory, scratch: &Scratch, brake: bool) {
        let is_turning = memory.angular_rad_s != [0.0; 3];
        if memory.motion.is_at_rest() {
            memory.angular_rad_s = [0.0; 3];
        }
        let is = quaternion(&scratch.kinematics.site(&self.chain.tool));
        if is_turning || brake {
            let off = if brake { Vector3::zeros() } else { scratch.held_off };
            let held: UnitQuaternion<f64> = UnitQuaternion::from_scaled_axis(off) * is;
            let Quaternion { coords } = *held.quaternion();
            memory.held = [coords.w, coords.x, coords.y, coords.z];
        }
    }
}
