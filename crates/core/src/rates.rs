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

    /// Checks the rates of a rig with clocks of its own: they need not divide each other.
    ///
    /// # Errors
    /// When one is zero, or frames would come faster than ticks.
    pub fn check_own_clock(&self) -> Result<(), RateError> {
        let at_least = |upper_name, upper: u32, lower_name, lower: u32| match lower {
            1.. if upper >= lower => Ok(()),
            _ => Err(RateError { upper_name, upper, lower_name, lower, example: lower.max(1) }),
        };
        at_least("physics_hz", self.physics_hz, "control_hz", self.control_hz)?;
        at_least("control_hz", self.control_hz, "frame_hz", self.frame_hz)
    }

    /// The tick with which a frame begins: the first that is not before the frame's time. Where
    /// rates divide each other, every `ticks_per_frame`-th.
    #[must_use]
    pub fn first_tick(&self, frame: u64) -> u64 {
        let ticks = (u128::from(frame) * u128::from(self.control_hz))
            .div_ceil(u128::from(self.frame_hz.max(1)));
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// The frame that a tick belongs to.
    #[must_use]
    pub fn frame_of(&self, tick: u64) -> u64 {
        let frames =
            u128::from(tick) * u128::from(self.frame_hz) / u128::from(self.control_hz.max(1));
        u64::try_from(frames).unwrap_or(u64::MAX)
    }

    /// Whether a frame begins with this tick.
    #[must_use]
    pub fn is_frame(&self, tick: u64) -> bool {
        tick == 0 || self.frame_of(tick) != self.frame_of(tick - 1)
    }

    /// Frames whose ticks are all among the first `ticks`.
    #[must_use]
    pub fn whole_frames(&self, ticks: u64) -> u64 {
        self.frame_of(ticks)
    }

    /// Physics steps in one control tick.
    #[must_use]
    pub fn steps_per_tick(&self) -> u32 {
        self.physics_hz / self.control_hz
    }

    /// Control ticks in one frame, where rates divide each other; see [`Rates::first_tick`] for
    /// all others.
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
    pub fn timestep_s(&self) -> f64 {
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

    #[test]
    fn frames_begin_with_the_first_tick_of_their_time() {
        let whole = Rates { physics_hz: 360, control_hz: 180, frame_hz: 30 };
        // A UR at 500 and 125 Hz with a camera of 30 Hz: 4 or 5 ticks per frame.
        let odd = Rates { physics_hz: 500, control_hz: 125, frame_hz: 30 };
        odd.check_own_clock().unwrap();
        assert!(odd.check().is_err());
        for rates in [whole, odd, Rates { physics_hz: 1000, control_hz: 999, frame_hz: 7 }] {
            for frame in 0..5000 {
                let first = rates.first_tick(frame);
                assert!(rates.is_frame(first) && rates.frame_of(first) == frame);
                assert!(frame == 0 || rates.frame_of(first - 1) == frame - 1);
                assert_eq!(rates.whole_frames(first), frame);
            }
            let frames = (0..rates.first_tick(5000)).filter(|tick| rates.is_frame(*tick)).count();
            assert_eq!(frames, 5000);
        }
        assert_eq!(
            (0..7).map(|f| odd.first_tick(f)).collect::<Vec<_>>(),
            [0, 5, 9, 13, 17, 21, 25]
        );
        assert_eq!((whole.first_tick(7), whole.frame_of(41)), (42, 6));
        assert!(Rates { frame_hz: 200, ..odd }.check_own_clock().is_err());
        assert!(Rates { frame_hz: 0, ..odd }.check_own_clock().is_err());
    }
}
