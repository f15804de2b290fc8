//! Keys and sticks: what a person holds, and the motion it means.

use citrange_control::{ControllerSettings, Velocity};
use citrange_robot::Chain;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::key_table::{Binding, KEY_TABLE};

/// A direction that can be held. "Forward" is where the robot's base faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Key {
    Forward,
    Backward,
    Left,
    Right,
    Up,
    Down,
    RollLeft,
    RollRight,
    Open,
    Close,
    TiltForward,
    TiltBackward,
    TiltLeft,
    TiltRight,
}

impl Key {
    /// All keys, in their order.
    pub const ALL: [Self; 14] = [
        Self::Forward,
        Self::Backward,
        Self::Left,
        Self::Right,
        Self::Up,
        Self::Down,
        Self::RollLeft,
        Self::RollRight,
        Self::Open,
        Self::Close,
        Self::TiltForward,
        Self::TiltBackward,
        Self::TiltLeft,
        Self::TiltRight,
    ];

    /// The key with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The key with this letter, in either case.
    #[must_use]
    pub fn of_letter(letter: char) -> Option<Self> {
        let letter = letter.to_ascii_lowercase();
        Self::ALL.into_iter().find(|key| key.letter() == letter)
    }

    /// Its row of the table, which has the keys that are held first, in their order.
    #[must_use]
    pub fn binding(self) -> &'static Binding {
        &KEY_TABLE[self as usize]
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.binding().name
    }

    /// The letter that people press.
    #[must_use]
    pub fn letter(self) -> char {
        self.binding().cap().chars().next().unwrap_or(' ').to_ascii_lowercase()
    }

    /// Which stick it pushes, and which way.
    fn push(self) -> (usize, f64) {
        let index = self as usize;
        // Keys come in pairs. The first of left/right and of open/close is the positive one,
        // as for the others.
        (index / 2, if index.is_multiple_of(2) { 1.0 } else { -1.0 })
    }
}

/// What is held at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldKeys {
    keys: u16,
    /// Sticks from -1 to 1: forward, left, up, roll left, open, tilt forward, tilt left.
    sticks: [f64; HeldKeys::STICKS],
}

impl HeldKeys {
    /// Number of sticks.
    pub const STICKS: usize = 7;

    /// Nothing.
    pub const NOTHING: Self = Self { keys: 0, sticks: [0.0; Self::STICKS] };

    /// Keys and sticks. Sticks beyond their ends count as at their ends; what is no number is
    /// not held.
    #[must_use]
    pub fn new(keys: impl IntoIterator<Item = Key>, sticks: [f64; Self::STICKS]) -> Self {
        let keys = keys.into_iter().fold(0, |all, key| all | (1 << key as u8));
        let sticks = sticks.map(|s| if s.is_finite() { s.clamp(-1.0, 1.0) } else { 0.0 });
        Self { keys, sticks }
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        Key::ALL.into_iter().filter(|key| self.keys & (1 << *key as u8) != 0)
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::NOTHING
    }

    /// Where the sticks are when keys push them too.
    #[must_use]
    pub fn pushed(&self) -> [f64; Self::STICKS] {
        let mut sticks = self.sticks;
        for key in self.keys() {
            let (stick, way) = key.push();
            sticks[stick] += way;
        }
        sticks.map(|s| s.clamp(-1.0, 1.0))
    }
}

/// How fast a fully pushed stick moves things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speeds {
    /// The hand.
    pub linear_m_s: f64,
    /// Roll of the tool, and tilt.
    pub angular_rad_s: f64,
    /// The gripper, in units of its first joint.
    pub gripper_per_s: f64,
    /// Which way the robot's base faces: yaw about the vertical.
    pub facing_rad: f64,
}

impl Speeds {
    /// The speeds that settings give an arm.
    #[must_use]
    pub fn of(settings: &ControllerSettings, chain: &Chain) -> Self {
        let gripper = chain.joints.iter().find(|joint| joint.gripper.is_some());
        let gripper_per_s = match gripper {
            Some(joint) if joint.is_slide => settings.grip_speed_m_s,
            _ => settings.grip_speed_rad_s,
        };
        let ahead = chain.world_from_base.isometry().rotation * Vector3::x();
        Self {
            linear_m_s: settings.lin_speed_m_s,
            angular_rad_s: settings.yaw_speed_rad_s,
            gripper_per_s,
            facing_rad: ahead.y.atan2(ahead.x),
        }
    }

    /// The motion that is asked for, in the world's axes.
    #[must_use]
    pub fn velocity(&self, held: &HeldKeys) -> Velocity {
        let [forward, left, up, roll, open, tilt_forward, tilt_left] = held.pushed();
        let (sin, cos) = self.facing_rad.sin_cos();
        let turned =
            |along: f64, across: f64| [along * cos - across * sin, along * sin + across * cos];
        let [x, y] = turned(forward, left).map(|v| v * self.linear_m_s);
        // Tilting forward turns about the axis that points left; tilting left, against forward.
        let tilt = turned(-tilt_left, tilt_forward).map(|w| w * self.angular_rad_s);
        Velocity {
            linear_m_s: [x, y, up * self.linear_m_s],
            roll_rad_s: roll * self.angular_rad_s,
            tilt_rad_s: tilt,
            gripper_per_s: open * self.gripper_per_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_table::Action;

    const DESK: Speeds = Speeds {
        linear_m_s: 0.04,
        angular_rad_s: 1.2,
        gripper_per_s: 0.7,
        facing_rad: std::f64::consts::FRAC_PI_2,
    };

    fn holding(letters: &str) -> Velocity {
        DESK.velocity(&HeldKeys::new(letters.chars().filter_map(Key::of_letter), [0.0; 7]))
    }

    #[test]
    fn an_arm_that_faces_y_moves_as_people_know_it() {
        let close = |found: [f64; 3], wanted: [f64; 3]| {
            assert!(found.iter().zip(wanted).all(|(f, w)| (f - w).abs() < 1e-12), "{found:?}");
        };
        close(holding("w").linear_m_s, [0.0, 0.04, 0.0]);
        close(holding("S").linear_m_s, [0.0, -0.04, 0.0]);
        close(holding("a").linear_m_s, [-0.04, 0.0, 0.0]);
        close(holding("d").linear_m_s, [0.04, 0.0, 0.0]);
        close(holding("q").linear_m_s, [0.0, 0.0, 0.04]);
        close(holding("we").linear_m_s, [0.0, 0.04, -0.04]);
        assert_eq!(holding("[").roll_rad_s, 1.2);
        assert_eq!((holding("o").gripper_per_s, holding("c").gripper_per_s), (0.7, -0.7));
        // Against each other they cancel.
        assert_eq!(holding("wsad[]oc"), Velocity::ZERO);
        // The top goes forward (+y): a rotation about -x.
        assert!((holding("i").tilt_rad_s[0] + 1.2).abs() < 1e-12, "{:?}", holding("i"));
    }

    #[test]
    fn sticks_have_ends_and_numbers() {
        let held =
            HeldKeys::new([Key::Forward], [0.5, f64::NAN, -7.0, 0.0, 0.0, f64::INFINITY, 0.25]);
        assert_eq!(held.pushed(), [1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.25]);
        assert!(!held.is_nothing() && HeldKeys::new([], [0.0; 7]).is_nothing());
    }

    #[test]
    fn names_and_letters_are_found_again() {
        for (index, key) in Key::ALL.into_iter().enumerate() {
            assert_eq!(index, key as usize);
            assert_eq!(key.binding().action, Action::Hold(key));
            let (name, letter) = (key.name(), key.letter());
            assert_eq!((Key::named(name), Key::of_letter(letter)), (Some(key), Some(key)));
            assert_eq!(serde_json::to_value(key).unwrap(), name);
            assert_eq!(HeldKeys::new([key], [0.0; 7]).keys().collect::<Vec<_>>(), [key]);
        }
        assert_eq!((Key::named("fly"), Key::of_letter('x')), (None, None));
    }
}
