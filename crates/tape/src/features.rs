//! What a row's `observation.state` holds. This is the one place that makes it from what was seen:
//! saving uses it, and so does whoever compares rows with a tape.

use citrange_lerobot::Info;
use serde::{Deserialize, Serialize};

use crate::dataset::STATE;
use crate::record::TapedFrame;
use crate::units::JointUnit;

/// Names of the wrist's position, in metres of the world.
const WRIST: [&str; 3] = ["ee.pos_x", "ee.pos_y", "ee.pos_z"];
const POS: &str = ".pos";
const VEL: &str = ".vel";

/// What is in `observation.state` beside the joint positions, which always come first. LeRobot's
/// own arms have nothing more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateFeatures {
    /// Joint velocities, in the unit of the positions per second.
    #[serde(default)]
    pub vel: bool,
    /// Where the wrist is.
    #[serde(default)]
    pub ee: bool,
}

/// What was seen at a frame, in radians and metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenState<'a> {
    /// Joint positions.
    pub joint_pos: &'a [f64],
    /// Joint velocities.
    pub joint_vel: &'a [f64],
    /// Position of the wrist in the world, where the rig knows it.
    pub wrist_pos_m: Option<[f64; 3]>,
}

impl TapedFrame {
    /// What was seen, for [`StateFeatures::row`].
    #[must_use]
    pub fn seen(&self) -> SeenState<'_> {
        SeenState {
            joint_pos: &self.joint_pos,
            joint_vel: &self.joint_vel,
            wrist_pos_m: self.wrist_pos_m,
        }
    }
}

impl StateFeatures {
    /// Whether there are only positions.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// What a dataset has, by the names of its features.
    #[must_use]
    pub fn of(info: &Info) -> Self {
        let names = info.features.get(STATE).map(|f| f.component_names()).unwrap_or_default();
        Self {
            vel: names.iter().any(|name| name.ends_with(VEL)),
            ee: names.iter().any(|name| name == WRIST[0]),
        }
    }

    /// Names of the components: `pan.pos`, …, `pan.vel`, …, `ee.pos_x`, `ee.pos_y`, `ee.pos_z`.
    #[must_use]
    pub fn names(self, units: &[JointUnit]) -> Vec<String> {
        let joint = |unit: &JointUnit| unit.name.strip_suffix(POS).unwrap_or(&unit.name).to_owned();
        let mut names: Vec<String> = units.iter().map(|unit| unit.name.clone()).collect();
        if self.vel {
            names.extend(units.iter().map(|unit| joint(unit) + VEL));
        }
        if self.ee {
            names.extend(WRIST.map(str::to_owned));
        }
        names
    }

    /// A row of `observation.state`, in the dataset's units. A wrist that is not known is not a
    /// number.
    #[must_use]
    pub fn row(self, units: &[JointUnit], seen: SeenState<'_>) -> Vec<f32> {
        let pairs = |values: &'_ [f64]| units.iter().zip(values.to_vec());
        let mut row: Vec<f32> =
            pairs(seen.joint_pos).map(|(unit, v)| unit.show(v) as f32).collect();
        if self.vel {
            row.extend(pairs(seen.joint_vel).map(|(unit, v)| (v * unit.scale) as f32));
        }
        if self.ee {
            row.extend(seen.wrist_pos_m.unwrap_or([f64::NAN; 3]).map(|m| m as f32));
        }
        row
    }

    /// Factors and offsets that change the unit of rows.
    pub(crate) fn rescale(self, old: &[JointUnit], new: &[JointUnit]) -> (Vec<f64>, Vec<f64>) {
        let pairs = || old.iter().zip(new);
        let mut factors: Vec<f64> = pairs().map(|(old, new)| new.scale / old.scale).collect();
        let mut offsets: Vec<f64> =
            pairs().map(|(old, new)| (old.zero - new.zero) * new.scale).collect();
        if self.vel {
            factors.extend_from_within(..);
        }
        if self.ee {
            factors.extend([1.0; 3]);
        }
        offsets.resize(factors.len(), 0.0);
        (factors, offsets)
    }
}

impl std::str::FromStr for StateFeatures {
    type Err = String;

    /// `pos`, `pos,vel`, `pos,ee` or `pos,vel,ee`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (mut pos, mut features) = (false, Self::default());
        for word in text.split(',').map(str::trim) {
            match word {
                "pos" => pos = true,
                "vel" => features.vel = true,
                "ee" => features.ee = true,
                _ => {
                    let hint = citrange_core::names::suggestion(word, ["pos", "vel", "ee"]);
                    return Err(format!("unknown feature \"{word}\", {hint}"));
                }
            }
        }
        if !pos {
            return Err("pos is always there: give pos, pos,vel or pos,vel,ee".into());
        }
        Ok(features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_names_of_the_seed_and_the_unit_of_the_set() {
        let unit = |name: &str, zero, scale| JointUnit {
            name: name.into(),
            unit: "deg".into(),
            zero,
            scale,
        };
        let units = [unit("pan.pos", 0.5, 10.0), unit("jaw.pos", 0.0, 100.0)];
        let all: StateFeatures = "pos,vel,ee".parse().unwrap();
        let names = all.names(&units);
        assert_eq!(
            names,
            ["pan.pos", "jaw.pos", "pan.vel", "jaw.vel", "ee.pos_x", "ee.pos_y", "ee.pos_z"]
        );
        let seen = SeenState {
            joint_pos: &[1.5, 0.25],
            joint_vel: &[2.0, -1.0],
            wrist_pos_m: Some([0.1, 0.2, 0.3]),
        };
        assert_eq!(all.row(&units, seen), [10.0, 25.0, 20.0, -100.0, 0.1, 0.2, 0.3]);
        assert_eq!(StateFeatures::default().row(&units, seen), [10.0, 25.0]);
        let new = [unit("pan.pos", 0.0, 1.0), unit("jaw.pos", 0.0, 1.0)];
        let (factors, offsets) = all.rescale(&units, &new);
        let rescaled: Vec<f64> = all
            .row(&units, seen)
            .iter()
            .zip(factors.iter().zip(&offsets))
            .map(|(v, (factor, offset))| f64::from(*v) * factor + offset)
            .collect();
        let plain = all.row(&new, seen);
        assert!(rescaled.iter().zip(&plain).all(|(a, b)| (a - f64::from(*b)).abs() < 1e-6));
        for bad in ["vel", "pos,velocity", ""] {
            assert!(bad.parse::<StateFeatures>().is_err(), "{bad}");
        }
    }
}
