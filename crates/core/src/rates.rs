//! Exact rates: integers with integer ratios, checked when something is built from them.

use serde::{Deserialize, Serialize};

/// The three clocks of a rig. Physics runs a whole number of steps per control tick, control a
/// whole number of ticks per recorded frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Physics steps per second.
    pub physics_hz: u32,
    /// Control ticks per second.
    pub control_hz: u32,
    /// Recorded frames per second.
    pub frame_hz: u32,
}

/// Rates that do not divide each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{upper_name} {upper} must be a whole multiple of {lower_name} {lower} (and both above 0); for example {upper_name} {example}"
)]
pub struct RateError {
    upper_name: &'static str,
    upper: u32,
    lower_name: &'static str,
    lower: u32,
    example: u32,
}

impl Rates {
    /// Checks that the ratios are whole numbers.
    ///
    /// # Errors
    /// Names the pair that does not divide, with a value that would.
    pub fn check(&self) -> Result<(), RateError> {
        let divides = |upper_name, upper: u32, lower_name, lower: u32| {
            if upper == 0 || lower == 0 || !upper.is_multiple_of(lower) {
                let example = upper.div_ceil(lower.max(1)).max(1).saturating_mul(lower.max(1));
                return Err(RateError { upper_name, upper, lower_name, lower, example });
            }
            Ok(())
        };
        divides("physics_hz", self.physics_hz, "control_hz", self.control_hz)?;
        divides("control_hz", self.control_hz, "frame_hz", self.frame_hz)
    }

    /// Physics steps in one control tick.
    #[must_use]
    pub fn steps_per_tick(&self) -> u32 {
        self.physics_hz / self.control_hz
    }

    /// Control ticks in one frame.
    #[must_use]
    pub fn ticks_per_frame(&self) -> u32 {
        self.control_hz / self.frame_hz
    }

    /// Physics steps in one frame.
    #[must_use]
    pub fn steps_per_frame(&self) -> u32 {
        self.physics_hz / self.frame_hz
    }

    /// Length of one physics step.
    #[must_use]
    pub fn timestep_secs(&self) -> f64 {
        1.0 / f64::from(self.physics_hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_exact_or_refused() {
        let good = Rates { physics_hz: 360, control_hz: 180, frame_hz: 30 };
        good.check().unwrap();
        assert_eq!((good.steps_per_tick(), good.ticks_per_frame()), (2, 6));
        assert_eq!(good.steps_per_frame(), 12);
        let bad = Rates { physics_hz: 350, ..good };
        let message = bad.check().unwrap_err().to_string();
        assert!(message.contains("physics_hz 350") && message.contains("360"), "{message}");
        assert!(Rates { frame_hz: 0, ..good }.check().is_err());
    }
}
