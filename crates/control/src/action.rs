//! Actions as named numbers, as datasets and scripts write them: speeds of the hand, or
//! positions of the joints. The names tell which.

use std::collections::BTreeMap;

use citrange_core::names::suggestion;

use crate::error::ControlError;
use crate::velocity::Velocity;

/// Ends the name of a joint's position.
const POSITION: &str = ".pos";

/// What to do for one frame.
#[derive(Clone, Debug, PartialEq)]
pub enum NamedAction {
    /// Drive the hand.
    Velocity(Velocity),
    /// Send the joints there, in the order of the robot's joint vector.
    Positions(Vec<f64>),
}

impl NamedAction {
    /// Names of the speeds: metres per second, radians per second, and the gripper's first
    /// joint per second. Those that are absent are 0.
    pub const SPEEDS: [&str; 5] = ["vx", "vy", "vz", "yaw_rate", "gripper_delta"];

    /// Names of the positions of these joints.
    pub fn positions(joints: &[impl AsRef<str>]) -> Vec<String> {
        joints.iter().map(|j| format!("{}{POSITION}", j.as_ref())).collect()
    }

    /// Reads named numbers: either some of [`NamedAction::SPEEDS`], or `<joint>.pos` for every joint.
    ///
    /// # Errors
    /// When there are none, both kinds are mixed, a name is not known, a joint is missing, or a
    /// number is not finite.
    pub fn from_named(
        numbers: &BTreeMap<String, f64>,
        joints: &[impl AsRef<str>],
    ) -> Result<Self, ControlError> {
        let fail = |reason: String| Err(ControlError::Action(reason));
        let positions = Self::positions(joints);
        let is_speed = |name: &String| Self::SPEEDS.contains(&name.as_str());
        let known = || Self::SPEEDS.into_iter().chain(positions.iter().map(String::as_str));
        if let Some(name) = numbers.keys().find(|name| !is_speed(name) && !positions.contains(name))
        {
            let known: Vec<&str> = known().collect();
            return fail(format!(
                "unknown name \"{name}\", {}",
                suggestion(name, known.iter().copied())
            ));
        }
        if let Some((name, value)) = numbers.iter().find(|(_, value)| !value.is_finite()) {
            return fail(format!("{name} is {value}; it must be a finite number"));
        }
        let Some(first) = numbers.keys().next() else {
            return fail(format!(
                "it is empty; give speeds ({}) or a position for every joint ({})",
                Self::SPEEDS.join(", "),
                positions.join(", ")
            ));
        };
        let speeds = is_speed(first);
        if let Some(other) = numbers.keys().find(|name| is_speed(name) != speeds) {
            return fail(format!("{first} and {other} are mixed; give speeds or positions"));
        }
        if speeds {
            let get = |name: &str| numbers.get(name).copied().unwrap_or(0.0);
            return Ok(Self::Velocity(Velocity {
                linear_m_s: [get("vx"), get("vy"), get("vz")],
                roll_rad_s: get("yaw_rate"),
                gripper_per_s: get("gripper_delta"),
                ..Velocity::ZERO
            }));
        }
        let mut values = Vec::with_capacity(positions.len());
        for name in &positions {
            match numbers.get(name) {
                Some(value) => values.push(*value),
                None => {
                    return fail(format!("{name} is missing; positions are needed for all joints"));
                }
            }
        }
        Ok(Self::Positions(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, f64)]) -> Result<NamedAction, String> {
        let numbers = pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        NamedAction::from_named(&numbers, &["pan", "lift"]).map_err(|e| e.to_string())
    }

    #[test]
    fn the_names_tell_the_kind() {
        let velocity = Velocity {
            linear_m_s: [0.0, 0.1, 0.0],
            roll_rad_s: -1.0,
            gripper_per_s: 0.7,
            ..Velocity::ZERO
        };
        let got = read(&[("vy", 0.1), ("yaw_rate", -1.0), ("gripper_delta", 0.7)]);
        assert_eq!(got, Ok(NamedAction::Velocity(velocity)));
        let got = read(&[("lift.pos", 2.0), ("pan.pos", 1.0)]);
        assert_eq!(got, Ok(NamedAction::Positions(vec![1.0, 2.0])));
    }

    #[test]
    fn mistakes_are_named() {
        let cases: [(&[(&str, f64)], &str); 6] = [
            (&[], "action: it is empty"),
            (&[("vx", 0.0), ("pan.pos", 0.0)], "mixed"),
            (&[("pan.pos", 0.0)], "lift.pos is missing"),
            (&[("yaw_rat", 0.0)], "did you mean \"yaw_rate\"?"),
            (&[("lft.pos", 0.0), ("pan.pos", 0.0)], "did you mean \"lift.pos\"?"),
            (&[("vx", f64::NAN)], "vx is NaN"),
        ];
        for (pairs, wanted) in cases {
            let got = read(pairs).unwrap_err();
            assert!(got.contains(wanted), "{pairs:?}: {got}");
        }
    }
}
