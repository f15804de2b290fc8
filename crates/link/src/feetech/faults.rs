//! What a servo says is wrong with it.

use std::fmt;

/// Fault bits of an answer, and of the register [`STATUS`](super::register::STATUS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults(pub u8);

/// Bit, what it is, and what helps.
const KNOWN: [(u8, &str, &str); 5] = [
    (1, "voltage out of its limits", "check the supply and the plugs"),
    (2, "no sense of its angle", "the servo must be replaced"),
    (4, "too hot", "let it cool down, and hold less weight"),
    (8, "too much current", "look what blocks it"),
    (32, "overloaded", "look what blocks it, then switch its torque off and on"),
];

impl Faults {
    /// Supply voltage.
    pub const VOLTAGE: Self = Self(1);
    /// Angle sensor.
    pub const SENSOR: Self = Self(2);
    /// Temperature.
    pub const TEMPERATURE: Self = Self(4);
    /// Current.
    pub const CURRENT: Self = Self(8);
    /// Load.
    pub const OVERLOAD: Self = Self(32);

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of the other's bits are among these.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What a person can do about the first of them.
    #[must_use]
    pub fn cure(self) -> Option<&'static str> {
        KNOWN.iter().find(|(bit, ..)| self.0 & bit != 0).map(|(.., cure)| *cure)
    }
}

impl std::ops::BitOr for Faults {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<String> = Vec::new();
        names.extend(
            KNOWN.iter().filter(|(bit, ..)| self.0 & bit != 0).map(|(_, name, _)| (*name).into()),
        );
        let unknown = self.0 & !KNOWN.iter().fold(0, |bits, (bit, ..)| bits | bit);
        if unknown != 0 {
            names.push(format!("fault bits {unknown:#04x}"));
        }
        match names.is_empty() {
            true => f.write_str("no fault"),
            false => f.write_str(&names.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_named() {
        assert_eq!(Faults(0).to_string(), "no fault");
        assert_eq!((Faults::OVERLOAD | Faults::TEMPERATURE).to_string(), "too hot, overloaded");
        assert_eq!(Faults(0x41).to_string(), "voltage out of its limits, fault bits 0x40");
        assert!(Faults(1).cure().is_some() && Faults(0x40).cure().is_none());
    }
}
