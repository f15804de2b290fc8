//! How fast spheres can move during a motion, whatever the configuration: bounds from levers.

use super::robot::KernelRobot;
use crate::config::MAX_JOINTS;

/// Bounds for one motion. "From joint `j`" counts the joints from there to the hand only: that
/// is how a sphere moves as seen from link `j`.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// How far each joint goes, with its sign.
    pub(super) rates: [f32; MAX_JOINTS],
    /// Whether `rates` are a direction; otherwise they are half widths of a box.
    pub(super) has_direction: bool,
    width: usize,
    speeds: Vec<f32>,
    bends: Vec<f32>,
    angular: [f32; MAX_JOINTS + 1],
}

impl Sweep {
    pub(super) fn new(robot: &KernelRobot) -> Self {
        let width = robot.spheres.len();
        let rows = robot.joints.len() + 1;
        Self {
            width,
            speeds: vec![0.0; width * rows],
            bends: vec![0.0; width * rows],
            ..Self::default()
        }
    }

    /// Sets it up for a motion.
    #[inline(always)]
    pub(super) fn set(
        &mut self,
        robot: &KernelRobot,
        rates: [f32; MAX_JOINTS],
        has_direction: bool,
    ) {
        self.rates = rates;
        self.has_direction = has_direction;
        let width = self.width;
        for (joint, levers) in robot.levers.iter().enumerate().rev() {
            let rate = rates[joint].abs();
            self.angular[joint] = self.angular[joint + 1] + rate;
            let (own, beyond) = self.speeds[joint * width..].split_at_mut(width);
            let (bends, bends_beyond) = self.bends[joint * width..].split_at_mut(width);
            let own = own.iter_mut().zip(bends).zip(levers);
            let beyond = beyond[..width].iter().zip(&bends_beyond[..width]);
            for (((speed, bend), lever), (speed_beyond, bend_beyond)) in own.zip(beyond) {
                let alone = rate * lever;
                *speed = speed_beyond + alone;
                *bend = bend_beyond + rate * (alone + 2.0 * speed_beyond);
            }
        }
    }

    /// The fastest that a sphere can move.
    #[inline(always)]
    pub(super) fn speed(&self, from: usize, sphere: usize) -> f32 {
        self.speeds[from * self.width + sphere]
    }

    /// The largest that the second derivative of its centre's place can be.
    #[inline(always)]
    pub(super) fn bend(&self, from: usize, sphere: usize) -> f32 {
        self.bends[from * self.width + sphere]
    }

    /// The fastest that a link can rotate.
    #[inline(always)]
    pub(super) fn angular_speed(&self, from: usize) -> f32 {
        self.angular[from]
    }
}
