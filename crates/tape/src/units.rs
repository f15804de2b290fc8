//! Joint values as LeRobot users expect them: degrees, or percent of the range.

use citrange_core::RigSpec;
use citrange_core::rig::JointSpec;
use serde::{Deserialize, Serialize};

/// What the numbers in a LeRobot dataset mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Degrees; a gripper 0 (closed) to 100 (open); slides in metres.
    #[default]
    Degrees,
    /// -100 to 100 of the joint's range; a gripper 0 to 100.
    Percent,
    /// Radians and metres, as the simulation has them.
    Radians,
}

/// `shown = (position - zero) * scale`, for one joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointUnit {
    /// Feature name: `shoulder_pan.pos`.
    pub name: String,
    /// `deg`, `percent`, `rad` or `m`.
    pub unit: String,
    /// The position that is shown as 0.
    pub zero: f64,
    /// Shown units per radian or metre.
    pub scale: f64,
}

impl JointUnit {
    /// As shown.
    #[must_use]
    pub fn show(&self, position: f64) -> f64 {
        (position - self.zero) * self.scale
    }

    /// Back to radians or metres.
    #[must_use]
    pub fn read(&self, shown: f64) -> f64 {
        shown / self.scale + self.zero
    }
}

impl Unit {
    /// Its name, for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Degrees => "degrees",
            Self::Percent => "percent",
            Self::Radians => "radians",
        }
    }

    /// The unit of every joint of a rig.
    ///
    /// # Errors
    /// When percent is asked for and a joint has no range.
    pub fn of(self, rig: &RigSpec) -> Result<Vec<JointUnit>, String> {
        rig.joints.iter().map(|joint| self.of_joint(joint)).collect()
    }

    fn of_joint(self, joint: &JointSpec) -> Result<JointUnit, String> {
        let name = format!("{}.pos", joint.name);
        let unit = |unit: &str, zero, scale| JointUnit { name, unit: unit.to_owned(), zero, scale };
        let plain = if joint.is_slide { "m" } else { "rad" };
        Ok(match (self, joint.gripper) {
            (Self::Radians, _) => unit(plain, 0.0, 1.0),
            (_, Some([closed, open])) if open != closed => {
                unit("percent", closed, 100.0 / (open - closed))
            }
            (Self::Degrees, _) if joint.is_slide => unit("m", 0.0, 1.0),
            (Self::Degrees, _) => unit("deg", 0.0, 180.0 / std::f64::consts::PI),
            (Self::Percent, _) => {
                let [low, high] =
                    joint.range.filter(|[low, high]| high > low).ok_or_else(|| {
                        format!(
                            "joint {} has no range to take percent of; use degrees or radians",
                            joint.name
                        )
                    })?;
                unit("percent", (low + high) / 2.0, 200.0 / (high - low))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::Rates;

    fn rig() -> RigSpec {
        let joint = |name: &str, is_slide, range, gripper| JointSpec {
            name: name.into(),
            is_slide,
            range,
            gripper,
        };
        RigSpec::new(
            "so101",
            vec![
                joint("pan", false, Some([-1.0, 3.0]), None),
                joint("gripper", false, Some([-0.2, 1.8]), Some([-0.2, 1.8])),
            ],
            Rates { physics_hz: 60, control_hz: 60, frame_hz: 30 },
        )
    }

    #[test]
    fn grippers_are_percent_and_joints_degrees() {
        let units = Unit::Degrees.of(&rig()).unwrap();
        assert_eq!(units[0].name, "pan.pos");
        assert!((units[0].show(std::f64::consts::PI) - 180.0).abs() < 1e-12);
        assert!((units[1].show(1.8) - 100.0).abs() < 1e-12 && units[1].show(-0.2) == 0.0);
        let percent = Unit::Percent.of(&rig()).unwrap();
        assert_eq!((percent[0].show(-1.0), percent[0].show(3.0)), (-100.0, 100.0));
        for unit in units.iter().chain(&percent).chain(&Unit::Radians.of(&rig()).unwrap()) {
            assert!((unit.read(unit.show(0.7)) - 0.7).abs() < 1e-14);
        }
        let mut free = rig();
        free.joints[0].range = None;
        assert!(Unit::Percent.of(&free).unwrap_err().contains("pan"));
    }
}
