//! Joint targets within speed, acceleration and jerk, whatever is asked, tick by tick: an online
//! trajectory generator with viability (every state it enters has a way to rest inside the limits).
//!
//! Everything is counted in control ticks: speed is the step between two targets over the length
//! of a tick, acceleration the step between two speeds, jerk between two accelerations. A target
//! is only sent when from there the joint can come to rest within its limits and inside its
//! range, so the next tick always has a choice that keeps them too.
//!
//! What knows its own speed (the controller) is steered by [`TargetLimiter::steer`]; a stream of positions
//! (an autopilot, a policy, a real rig's last guard) goes through [`TargetLimiter::follow`].

mod axis;

use axis::{At, Axis};

use citrange_robot::{Chain, ChainJoint};

/// Time in which a joint reaches its largest speed, where its description gives no acceleration.
const SPEED_REACHED_S: f64 = 0.25;
/// Time in which a joint reaches its largest acceleration, where its description gives no jerk.
const ACCELERATION_REACHED_S: f64 = 0.1;
/// Speed of a joint whose description gives none, rad/s and m/s.
const SPEED: [f64; 2] = [1.0, 0.1];

/// How fast a joint's target may move. Metres for slides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionLimits {
    /// rad/s.
    pub speed: f64,
    /// rad/s².
    pub acceleration: f64,
    /// rad/s³.
    pub jerk: f64,
}

impl MotionLimits {
    /// The limits of a joint's description. What that leaves open: 1 rad/s (0.1 m/s), reached in
    /// 0.25 s, by an acceleration that is reached in 0.1 s.
    #[must_use]
    pub fn of(joint: &ChainJoint) -> Self {
        let speed = joint.max_speed.unwrap_or(SPEED[usize::from(joint.is_slide)]);
        let acceleration = joint.max_acceleration.unwrap_or(speed / SPEED_REACHED_S);
        let jerk = joint.max_jerk.unwrap_or(acceleration / ACCELERATION_REACHED_S);
        Self { speed, acceleration, jerk }
    }
}

/// The motion of targets: what was last sent, and how it moved.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetMotion {
    /// Last targets.
    pub pos: Vec<f64>,
    /// Speeds of the last tick.
    pub speed: Vec<f64>,
    /// Accelerations of the last tick.
    pub acceleration: Vec<f64>,
    /// What a stream last asked for.
    asked: Vec<f64>,
}

impl TargetMotion {
    /// Targets that move like this.
    #[must_use]
    pub fn new(pos: Vec<f64>, speed: Vec<f64>, acceleration: Vec<f64>) -> Self {
        Self { asked: pos.clone(), pos, speed, acceleration }
    }

    /// Targets that stand still.
    #[must_use]
    pub fn at_rest(targets: &[f64]) -> Self {
        let still = vec![0.0; targets.len()];
        Self::new(targets.to_vec(), still.clone(), still)
    }

    /// Whether nothing moves.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.speed.iter().chain(&self.acceleration).all(|n| *n == 0.0)
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.pos.copy_from_slice(&other.pos);
        self.speed.copy_from_slice(&other.speed);
        self.acceleration.copy_from_slice(&other.acceleration);
    }

    fn at(&self, joint: usize) -> At {
        At { pos: self.pos[joint], speed: self.speed[joint], acc: self.acceleration[joint] }
    }

    fn set(&mut self, joint: usize, at: At) {
        (self.pos[joint], self.speed[joint], self.acceleration[joint]) = (at.pos, at.speed, at.acc);
    }
}

/// Keeps the targets of a robot within its limits; immutable.
#[derive(Clone, Debug)]
pub struct TargetLimiter {
    axes: Vec<Axis>,
    limits: Vec<MotionLimits>,
    arm_joints: usize,
}

impl TargetLimiter {
    /// For a robot whose targets are sent `control_hz` times a second.
    #[must_use]
    pub fn new(chain: &Chain, control_hz: u32) -> Self {
        let tick_s = 1.0 / f64::from(control_hz.max(1));
        let limits: Vec<MotionLimits> = chain.joints.iter().map(MotionLimits::of).collect();
        let axes = limits.iter().zip(&chain.joints);
        let axes = axes.map(|(limits, joint)| Axis::new(limits, joint.range, tick_s)).collect();
        Self { axes, limits, arm_joints: chain.arm_joints }
    }

    /// The limits, per joint.
    #[must_use]
    pub fn limits(&self) -> &[MotionLimits] {
        &self.limits
    }

    /// Longest time that a joint may take from any speed to rest.
    #[must_use]
    pub fn longest_stop_s(&self) -> f64 {
        let stop = |l: &MotionLimits| l.speed / l.acceleration + 2.0 * l.acceleration / l.jerk;
        self.limits.iter().map(stop).fold(0.0, f64::max)
    }

    /// One tick towards these speeds. Joints of the arm gain and lose speed together as far as
    /// they can, so that the hand keeps its direction.
    pub fn steer(&self, motion: &mut TargetMotion, speeds: &[f64]) {
        let mut accelerations = vec![0.0; self.axes.len()];
        self.accelerations(motion, speeds, &mut accelerations);
        self.advance(motion, &accelerations);
    }

    /// One tick towards rest, every joint as fast as it can.
    pub fn brake(&self, motion: &mut TargetMotion) {
        for (j, axis) in self.axes.iter().enumerate() {
            let at = motion.at(j);
            motion.set(j, axis.advance(at, axis.within_range(at, axis.stop(at))));
        }
    }

    /// One tick along a stream of positions, which it changes to those that may be sent. A stream
    /// within the limits passes unchanged; one that is not is followed as closely as they allow,
    /// without running past a place where it stands. Numbers that are not finite count as "stay".
    pub fn follow(&self, motion: &mut TargetMotion, targets: &mut [f64]) {
        for (j, axis) in self.axes.iter().enumerate() {
            let Some(target) = targets.get_mut(j) else { break };
            let at = motion.at(j);
            let acc = if target.is_finite() {
                axis.follow(at, motion.asked[j], *target)
            } else {
                axis.stop(at)
            };
            let next = axis.advance(at, acc);
            motion.asked[j] = if target.is_finite() { *target } else { next.pos };
            *target = next.pos;
            motion.set(j, next);
        }
    }

    /// Accelerations of the next tick towards these speeds.
    pub(crate) fn accelerations(&self, motion: &TargetMotion, speeds: &[f64], out: &mut [f64]) {
        for (j, axis) in self.axes.iter().enumerate() {
            out[j] = axis.steer(motion.at(j), speeds[j]);
        }
        self.together(motion, speeds, out);
        for (j, axis) in self.axes.iter().enumerate() {
            out[j] = axis.within_range(motion.at(j), out[j]);
        }
    }

    /// Accelerations of the next tick towards rest.
    pub(crate) fn stop_accelerations(&self, motion: &TargetMotion, out: &mut [f64]) {
        let still = [0.0; citrange_robot::MAX_JOINTS];
        self.accelerations(motion, &still[..self.axes.len().min(still.len())], out);
    }

    pub(crate) fn advance(&self, motion: &mut TargetMotion, accelerations: &[f64]) {
        for (j, axis) in self.axes.iter().enumerate() {
            motion.set(j, axis.advance(motion.at(j), accelerations[j]));
        }
    }

    /// How far a joint may go on at most until it is at rest.
    pub(crate) fn stop_way(&self, motion: &TargetMotion, joint: usize) -> f64 {
        self.axes[joint].longest_way(motion.at(joint))
    }

    /// A speed from which a joint comes to rest within a way, with some of it to spare.
    pub(crate) fn speed_with_stop(&self, joint: usize, way: f64) -> f64 {
        self.axes[joint].speed_with_stop(way)
    }

    /// Makes the arm's joints cover the same fraction of the way to their speeds in this tick, where
    /// their jerk allows.
    fn together(&self, motion: &TargetMotion, speeds: &[f64], out: &mut [f64]) {
        /// Changes of speed below this do not count.
        const NONE: f64 = 1e-9;
        let arm = 0..self.arm_joints;
        let missing = |j: usize| self.axes[j].allowed(speeds[j]) - motion.speed[j];
        let fraction = arm
            .clone()
            .filter(|j| missing(*j).abs() > NONE)
            .map(|j| out[j] / missing(j))
            .fold(f64::INFINITY, f64::min);
        let fits = |j: usize| {
            let acc = fraction * missing(j);
            missing(j).abs() <= NONE || self.axes[j].can_take(motion.at(j), acc)
        };
        if fraction.is_finite() && fraction >= 0.0 && arm.clone().all(fits) {
            for j in arm.filter(|j| missing(*j).abs() > NONE) {
                out[j] = fraction * missing(j);
            }
        }
    }
}
