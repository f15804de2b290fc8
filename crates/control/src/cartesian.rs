//! The controller: one tick turns a wanted motion of the hand into joint targets.
//!
//! A [`CartesianController`] never changes. Everything it remembers is in [`ControllerMemory`], so the same memory and the
//! same input give the same bits. [`Scratch`] holds nothing that counts from tick to tick.
//!
//! Arms of 4 or 5 joints are driven by their wrist, with the tool held down (`tool_down.rs`);
//! arms of 6 or 7 by their tool, with its orientation held (`twist.rs`).

use nalgebra::{Quaternion, Rotation3, UnitQuaternion, Vector3};

use crate::error::ControlError;
use crate::limiter::{TargetLimiter, TargetMotion};
use crate::memory::ControllerMemory;
use crate::roles::{ArmKind, Roles};
use crate::scratch::Scratch;
use crate::settings::{ControllerSettings, Gravity, KinematicsAt, Method};
use crate::status::ControllerStatus;
use crate::velocity::Velocity;
use citrange_robot::{Chain, ChainJoint, ChainSite, Kinematics, RigidTransform, RobotError};

/// Time in which speed towards a limit (floor, workspace, end of a joint) would use up what is
/// left; so it fades as the limit comes near.
const FADE_S: f64 = 0.1;

/// Slow loops integrate in several steps per tick: a hand that turns while it moves leaves its
/// line within 50 ms.
const SUBSTEP_HZ: u32 = 100;

/// Speeds and positions beyond this are mistakes, and could overflow.
const ABSURD: f64 = 1e6;

/// How one arm is driven; immutable.
#[derive(Clone, Debug)]
pub struct CartesianController {
    pub(crate) chain: Chain,
    pub(crate) settings: ControllerSettings,
    pub(crate) roles: Roles,
    /// Steps of integration in a tick, and the length of one. Everything that is counted once a
    /// tick (soft start, targets, windup) goes by `tick_s`, never by this.
    substeps: u32,
    pub(crate) substep_s: f64,
    /// Length of a control tick, at whose end targets are sent.
    pub(crate) tick_s: f64,
    pub(crate) limiter: TargetLimiter,
    pub(crate) fade_s: f64,
    /// Fraction of the new speed per tick: arm, wrist, brake.
    pub(crate) smooth: f64,
    pub(crate) smooth_wrist: f64,
    pub(crate) smooth_brake: f64,
    /// Fastest speed per joint.
    pub(crate) limits: Vec<f64>,
    /// Gripper joints' speeds per speed of the first one.
    pub(crate) grip: Vec<f64>,
    /// Lowest height of the hand.
    pub(crate) floor_m: Option<f64>,
    /// No point of the robot is further from a joint's axis.
    pub(crate) span_m: f64,
}

impl CartesianController {
    /// A controller for an arm. `floor_z_m` is the height of the floor, where there is one.
    ///
    /// # Errors
    /// When settings or chain make no sense, or the arm is of no kind that can be driven.
    pub fn new(
        chain: Chain,
        settings: &ControllerSettings,
        control_hz: u32,
        floor_z_m: Option<f64>,
    ) -> Result<Self, ControlError> {
        settings.check()?;
        chain.check()?;
        let roles = Roles::of(&chain)?;
        let refuse = |reason: &str| {
            Err(RobotError::Chain { robot: chain.robot.clone(), reason: reason.to_owned() }.into())
        };
        if control_hz == 0 || floor_z_m.is_some_and(|z| !z.is_finite()) {
            return refuse("control_hz must be above 0 and the floor's height a number");
        }
        if settings.method == Method::Plain && roles.kind == ArmKind::Twist {
            return refuse("method: plain is for arms of 4 or 5 joints; use profile default");
        }
        let substeps = SUBSTEP_HZ.div_ceil(control_hz);
        let steps_hz = control_hz.saturating_mul(substeps);
        let substep_s = 1.0 / f64::from(steps_hz);
        let floor_m = floor_z_m.filter(|_| settings.floor_guard);
        Ok(Self {
            roles,
            substeps,
            substep_s,
            tick_s: 1.0 / f64::from(control_hz),
            limiter: TargetLimiter::new(&chain, control_hz),
            span_m: span_m(&chain),
            fade_s: FADE_S.max(2.0 * substep_s),
            smooth: ControllerSettings::smoothing_at(settings.smooth_dq, steps_hz),
            smooth_wrist: ControllerSettings::smoothing_at(settings.smooth_dq_wrist, steps_hz),
            smooth_brake: 1.0 - (-substep_s / settings.brake_s).exp(),
            limits: limits(&chain, settings, roles.kind),
            grip: grip(&chain),
            floor_m: floor_m.map(|z| z + settings.floor_clearance_m),
            settings: settings.clone(),
            chain,
        })
    }

    /// The arm.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The point that is driven: the wrist where the tool is held down, else the tool.
    #[must_use]
    pub fn hand(&self) -> &ChainSite {
        match self.roles.kind {
            ArmKind::ToolDown { .. } => &self.chain.wrist,
            ArmKind::Twist => &self.chain.tool,
        }
    }

    /// The numbers in use.
    #[must_use]
    pub fn settings(&self) -> &ControllerSettings {
        &self.settings
    }

    /// Length of a control tick, at whose end targets are sent.
    #[must_use]
    pub fn tick_s(&self) -> f64 {
        self.tick_s
    }

    /// Takes the arm over without a jump: the first targets continue those in force.
    ///
    /// The controller then aims at where the arm is, and what `targets` pull beyond that fades within
    /// `soft_start_s`. Grippers keep their targets, so that nothing held is dropped. Numbers that
    /// are missing or not finite count as 0.
    #[must_use]
    pub fn begin(&self, targets: &[f64], measured: &[f64]) -> ControllerMemory {
        let count = self.chain.joints.len();
        let number = |from: &[f64], j: usize| from.get(j).copied().filter(|n| n.is_finite());
        let mut desired = Vec::with_capacity(count);
        for (j, joint) in self.chain.joints.iter().enumerate() {
            let target = number(targets, j);
            let is_carried = self.sends_ahead(j);
            let start = if is_carried { number(measured, j).or(target) } else { target };
            desired.push(joint.clamp(start.or(number(measured, j)).unwrap_or(0.0)));
        }
        let mut scratch = self.scratch();
        scratch.kinematics.update(&desired);
        scratch.kinematics.gravity_torques(&mut scratch.torques);
        let offset = (0..count).map(|j| {
            let sent = desired[j] + self.ahead(j, &scratch.torques);
            number(targets, j).map_or(0.0, |target| target - sent)
        });
        let offset = offset.collect();
        let held = quaternion(&scratch.kinematics.site(&self.chain.tool));
        let in_force = |j: usize| number(targets, j).unwrap_or(desired[j]);
        let in_force: Vec<f64> = (0..count).map(in_force).collect();
        ControllerMemory {
            rates: vec![0.0; count],
            motion: TargetMotion::at_rest(&in_force),
            offset,
            blocked: vec![0.0; count],
            posture: desired.clone(),
            measured: (0..count).map(|j| number(measured, j).unwrap_or(desired[j])).collect(),
            desired,
            feedback: 0.0,
            ticks: 0.0,
            held: [held.w, held.i, held.j, held.k],
            angular_rad_s: [0.0; 3],
        }
    }

    /// One tick. `targets` takes the joint targets to send. Without a wish, and with `brake`,
    /// everything comes to rest as fast as the limits of the robot's description allow (with
    /// `method: plain`, with the time constant `brake_s`).
    ///
    /// Input that is not finite (or absurdly large) is a brake too, flagged as refused, and never
    /// enters the memory.
    /// Slices of the wrong length change nothing at all.
    pub fn step(
        &self,
        memory: &mut ControllerMemory,
        scratch: &mut Scratch,
        measured: &[f64],
        wanted: &Velocity,
        brake: bool,
        targets: &mut [f64],
    ) -> ControllerStatus {
        let count = self.chain.joints.len();
        let lengths = [measured.len(), targets.len(), memory.desired.len(), scratch.next.len()];
        if lengths.iter().any(|n| *n != count) {
            return ControllerStatus { refused: true, ..ControllerStatus::default() };
        }
        let is_sane = |n: f64| n.abs() < ABSURD;
        let refused = !(wanted.numbers().all(is_sane) && measured.iter().copied().all(is_sane));
        scratch.measured.copy_from_slice(if refused { &memory.desired } else { measured });
        let brake = brake || refused;
        let wanted = if brake { &Velocity::ZERO } else { wanted };
        let mut status = ControllerStatus::default();
        scratch.before.copy_from_slice(&memory.desired);
        if self.roles.kind == ArmKind::Twist {
            scratch.kinematics.update(&memory.desired);
            let is = quaternion(&scratch.kinematics.site(&self.chain.tool));
            let [w, i, j, k] = memory.held;
            let held = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
            scratch.held_off = (held * is.inverse()).scaled_axis();
        }
        for _ in 0..self.substeps {
            status = ControllerStatus { refused, ..ControllerStatus::default() };
            self.integrate(memory, scratch, wanted, brake, &mut status);
        }
        let bits = memory.blocked.iter().enumerate().map(|(j, is)| u32::from(*is != 0.0) << j);
        status.blocked = bits.sum();
        self.send(memory, scratch, wanted, brake, &mut status);
        memory.measured.copy_from_slice(&scratch.measured);
        targets.copy_from_slice(&memory.motion.pos);
        status
    }

    fn integrate(
        &self,
        memory: &mut ControllerMemory,
        scratch: &mut Scratch,
        wanted: &Velocity,
        brake: bool,
        status: &mut ControllerStatus,
    ) {
        let from = match self.settings.state {
            KinematicsAt::Targets => &memory.desired,
            KinematicsAt::Measured => &scratch.measured,
        };
        scratch.at.copy_from_slice(from);
        match (self.settings.method, self.roles.kind) {
            (Method::Careful, ArmKind::Twist) => self.twist(memory, scratch, wanted, brake, status),
            (Method::Careful, ArmKind::ToolDown { tilt, roll }) => {
                self.tool_down(memory, scratch, (tilt, roll), (wanted, brake), status);
            }
            (Method::Plain, _) => self.plain(memory, scratch, wanted, brake, status),
        }
        memory.desired.copy_from_slice(&scratch.next);
    }

    /// A tick towards rest for whoever has no measurement: an episode that ends.
    pub fn rest(&self, memory: &mut ControllerMemory, targets: &mut [f64]) {
        if targets.len() == memory.motion.pos.len() && self.settings.method != Method::Plain {
            self.limiter.brake(&mut memory.motion);
            targets.copy_from_slice(&memory.motion.pos);
        }
    }

    /// Keeps targets within the limits of the robot.
    #[must_use]
    pub fn limiter(&self) -> &TargetLimiter {
        &self.limiter
    }

    fn sends_ahead(&self, joint: usize) -> bool {
        let stiff = self.chain.joints[joint].stiffness.is_some();
        self.settings.gravity == Gravity::Torque && stiff && joint < self.chain.arm_joints
    }

    /// How far ahead of the wanted position a target must be to carry the arm's weight.
    pub(crate) fn ahead(&self, joint: usize, torques: &[f64]) -> f64 {
        match self.chain.joints[joint].stiffness {
            Some(stiffness) if self.sends_ahead(joint) => torques[joint] / stiffness,
            _ => 0.0,
        }
    }

    /// Direction of the tool in the world.
    pub(crate) fn tool_axis(&self, kinematics: &Kinematics) -> Vector3<f64> {
        kinematics.link(self.chain.tool.link).rot * self.roles.tool_axis
    }

    /// Torque that a joint needs against gravity, at the kinematics' positions.
    pub(crate) fn torque(&self, scratch: &mut Scratch, joint: usize) -> f64 {
        scratch.kinematics.gravity_torques(&mut scratch.torques);
        scratch.torques[joint]
    }
}

fn limits(chain: &Chain, settings: &ControllerSettings, kind: ArmKind) -> Vec<f64> {
    let first_of_wrist = match kind {
        ArmKind::ToolDown { tilt, .. } => tilt,
        ArmKind::Twist => chain.arm_joints - 3,
    };
    let limit = |(j, own): (usize, Option<f64>)| {
        let own = own.unwrap_or(f64::INFINITY);
        match j {
            _ if j >= chain.arm_joints => own,
            _ if j >= first_of_wrist => own.min(settings.vel_limit_wrist_rad_s),
            _ => own.min(settings.vel_limit_rad_s),
        }
    };
    chain.joints.iter().map(|j| j.max_speed).enumerate().map(limit).collect()
}

/// All links in a line.
fn span_m(chain: &Chain) -> f64 {
    let length = |v: &[f64; 3]| Vector3::from(*v).norm();
    let way = |joint: &ChainJoint| {
        let slides = joint.range.filter(|_| joint.is_slide).map_or(0.0, |[low, high]| high - low);
        length(&joint.parent_from_link.pos_m) + 2.0 * length(&joint.anchor_m) + slides
    };
    let guard = chain.guards.iter().map(|g| length(&g.point_m) + g.radius_m).fold(0.0, f64::max);
    chain.joints.iter().map(way).sum::<f64>() + guard
}

fn grip(chain: &Chain) -> Vec<f64> {
    let spans = chain.joints.iter().filter_map(|j| j.gripper).map(|[closed, open]| open - closed);
    let first = spans.clone().next().unwrap_or(1.0).abs();
    spans.map(|span| span / first).collect()
}

pub(crate) fn quaternion(frame: &RigidTransform) -> UnitQuaternion<f64> {
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(frame.rot))
}
