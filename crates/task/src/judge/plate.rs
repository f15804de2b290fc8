//! Was the plate pushed? Then what was planned for it no longer holds.

use citrange_core::ObjectSeen;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::checks::{between, positive, usable};
use super::memory::{count, put, take};

/// Samples in a row with too much speed that count: one alone is noise.
const FAST_SAMPLES: u32 = 2;

/// What a plate may do without having been pushed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlateSettings {
    /// Metres from where it was.
    pub plate_move_threshold: f64,
    /// Speed, m/s.
    pub plate_velocity_threshold: f64,
    /// How far it may lean away from how it lay.
    pub plate_tilt_deg: f64,
}

impl PlateSettings {
    /// Checks every number.
    ///
    /// # Errors
    /// Names the key, its value and what would be right.
    pub fn check(&self) -> Result<(), String> {
        positive("plate_move_threshold", self.plate_move_threshold)?;
        positive("plate_velocity_threshold", self.plate_velocity_threshold)?;
        between("plate_tilt_deg", self.plate_tilt_deg, 0.0, 180.0)
    }
}

/// What became of the plate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlateState {
    /// It is where it was.
    Still,
    /// It was pushed.
    Moved {
        /// How far it is from where it was.
        moved_m: f64,
        /// How fast it moves.
        speed_m_s: f64,
        /// How far it leans away from how it lay.
        tilt_deg: f64,
    },
    /// It is not seen, or a number is not finite.
    Unknown,
}

/// Watches a plate.
#[derive(Clone, Debug, PartialEq)]
pub struct PlateWatch {
    /// Where the plate was; a virtual plate is nowhere.
    start: Option<Start>,
    /// Samples in a row with too much speed, up to [`FAST_SAMPLES`].
    fast_samples: u32,
}

/// A plate's place and its own vertical.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start {
    pos_m: [f64; 3],
    up: [f64; 3],
}

impl PlateWatch {
    /// Begins to watch a plate that lies still.
    #[must_use]
    pub fn begin(plate: &ObjectSeen) -> Self {
        // From no place nothing can be measured: every answer will be `Unknown`.
        let pos_m = if usable(plate) { plate.pose.pos_m } else { [f64::NAN; 3] };
        let start = Start { pos_m, up: up(plate).into() };
        Self { start: Some(start), fast_samples: 0 }
    }

    /// A plate that is only a place on the table: it never moves.
    #[must_use]
    pub fn of_virtual_plate() -> Self {
        Self { start: None, fast_samples: 0 }
    }

    /// Takes a sample and judges.
    pub fn check(&mut self, settings: &PlateSettings, plate: Option<&ObjectSeen>) -> PlateState {
        let Some(start) = self.start else { return PlateState::Still };
        let Some(plate) = plate.filter(|plate| usable(plate)) else {
            self.fast_samples = 0;
            return PlateState::Unknown;
        };
        let moved_m = (Vector3::from(plate.pose.pos_m) - Vector3::from(start.pos_m)).norm();
        let tilt_deg = up(plate).angle(&Vector3::from(start.up)).to_degrees();
        let speed_m_s = Vector3::from(plate.lin_vel_m_s).norm();
        if !moved_m.is_finite() {
            return PlateState::Unknown;
        }
        let is_fast = speed_m_s > settings.plate_velocity_threshold;
        self.fast_samples = if is_fast { (self.fast_samples + 1).min(FAST_SAMPLES) } else { 0 };
        if moved_m > settings.plate_move_threshold
            || tilt_deg > settings.plate_tilt_deg
            || self.fast_samples >= FAST_SAMPLES
        {
            PlateState::Moved { moved_m, speed_m_s, tilt_deg }
        } else {
            PlateState::Still
        }
    }

    /// Adds everything it remembers to a list of numbers.
    pub fn save(&self, out: &mut Vec<f64>) {
        put(out, self.start.map(|Start { pos_m: [x, y, z], up: [a, b, c] }| [x, y, z, a, b, c]));
        out.push(f64::from(self.fast_samples));
    }

    /// Takes back what [`PlateWatch::save`] wrote; `None` where that is something else.
    pub fn load(numbers: &mut impl Iterator<Item = f64>) -> Option<Self> {
        let start =
            take(numbers)?.map(|[x, y, z, a, b, c]| Start { pos_m: [x, y, z], up: [a, b, c] });
        Some(Self { start, fast_samples: count(numbers, FAST_SAMPLES)? })
    }
}

/// A plate's own vertical in the world.
fn up(plate: &ObjectSeen) -> Vector3<f64> {
    plate.pose.isometry().rotation * Vector3::z()
}
