//! What a driver asks for: how the hand should move, now.

use serde::{Deserialize, Serialize};

/// Speeds of the hand. Zero everywhere holds still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Velocity {
    /// Of the control point, along the world's axes.
    pub linear_m_s: [f64; 3],
    /// Angular velocity of the tool about its own axis; positive is counter-clockwise seen from above when
    /// the tool points down.
    pub roll_rad_s: f64,
    /// Tilt of the tool about the world's x and y axes, for arms with the joints for it.
    pub tilt_rad_s: [f64; 2],
    /// Speed of the gripper, in units of its first joint; positive opens.
    pub gripper_per_s: f64,
}

impl Velocity {
    /// Nothing moves.
    pub const ZERO: Self =
        Self { linear_m_s: [0.0; 3], roll_rad_s: 0.0, tilt_rad_s: [0.0; 2], gripper_per_s: 0.0 };

    /// All numbers, in order.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        let [x, y, z] = self.linear_m_s;
        let [tilt_x, tilt_y] = self.tilt_rad_s;
        [x, y, z, self.roll_rad_s, tilt_x, tilt_y, self.gripper_per_s].into_iter()
    }

    /// Whether every number is one.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.numbers().all(f64::is_finite)
    }

    /// Whether the hand (not only the gripper) is asked to move.
    #[must_use]
    pub fn moves_the_hand(&self) -> bool {
        self.numbers().take(6).any(|n| n != 0.0)
    }

    /// Everything slower (or faster) by a factor.
    #[must_use]
    pub fn scaled(&self, by: f64) -> Self {
        Self {
            linear_m_s: self.linear_m_s.map(|v| v * by),
            roll_rad_s: self.roll_rad_s * by,
            tilt_rad_s: self.tilt_rad_s.map(|v| v * by),
            gripper_per_s: self.gripper_per_s * by,
        }
    }
}
