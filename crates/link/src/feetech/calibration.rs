//! LeRobot's calibration: which counts are a joint's middle and ends, in its file and on the bus.

use std::fmt;
use std::path::Path;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::register::{COUNTS, HOMING_OFFSET};
use crate::error::LinkError;

/// Counts that LeRobot takes for 360 degrees.
const TURN: f64 = (COUNTS - 1) as f64;

/// One motor's, with the names that LeRobot's file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MotorCalibration {
    /// On the bus.
    pub id: u8,
    /// 1 turns the percent of its range around.
    pub drive_mode: u8,
    /// What the servo takes from its magnet's angle: its middle reads 2047 then.
    pub homing_offset: i32,
    /// Lowest count of its range.
    pub range_min: i32,
    /// Highest.
    pub range_max: i32,
}

impl MotorCalibration {
    /// The count in the middle of the range, which LeRobot calls 0 degrees.
    #[must_use]
    pub fn middle(&self) -> f64 {
        f64::from(self.range_min + self.range_max) / 2.0
    }

    /// Degrees from the middle of the range; not limited by it.
    #[must_use]
    pub fn degrees(&self, count: i32) -> f64 {
        (f64::from(count) - self.middle()) * 360.0 / TURN
    }

    /// The count for so many degrees. LeRobot cuts towards 0 here; ours is the nearest.
    #[must_use]
    pub fn count_at_degrees(&self, degrees: f64) -> i32 {
        (degrees * TURN / 360.0 + self.middle()).round() as i32
    }

    /// -100 to 100 of the range, limited to it.
    #[must_use]
    pub fn percent(&self, count: i32) -> f64 {
        let percent = self.fraction(count) * 200.0 - 100.0;
        if self.drive_mode == 0 { percent } else { -percent }
    }

    /// The count at -100 to 100 of the range, limited to it.
    #[must_use]
    pub fn count_at_percent(&self, percent: f64) -> i32 {
        let percent = if self.drive_mode == 0 { percent } else { -percent };
        self.count_at_fraction((percent + 100.0) / 200.0)
    }

    /// 0 to 100 of the range, limited to it: a gripper, 0 is closed.
    #[must_use]
    pub fn gripper_percent(&self, count: i32) -> f64 {
        let percent = self.fraction(count) * 100.0;
        if self.drive_mode == 0 { percent } else { 100.0 - percent }
    }

    /// The count at 0 to 100 of the range, limited to it.
    #[must_use]
    pub fn count_at_gripper_percent(&self, percent: f64) -> i32 {
        let percent = if self.drive_mode == 0 { percent } else { 100.0 - percent };
        self.count_at_fraction(percent / 100.0)
    }

    fn fraction(&self, count: i32) -> f64 {
        let count = count.clamp(self.range_min, self.range_max);
        f64::from(count - self.range_min) / f64::from(self.range_max - self.range_min)
    }

    fn count_at_fraction(&self, fraction: f64) -> i32 {
        let width = f64::from(self.range_max - self.range_min);
        (fraction.clamp(0.0, 1.0) * width + f64::from(self.range_min)).round() as i32
    }

    fn check(&self, name: &str) -> Result<(), String> {
        let Self { id, drive_mode, homing_offset, range_min, range_max } = *self;
        let most = HOMING_OFFSET.most();
        let reason = match () {
            () if id > super::packet::LAST_ID => format!("id {id} is no servo's: 0 to 253"),
            () if drive_mode > 1 => format!("drive_mode {drive_mode} is neither 0 nor 1"),
            () if homing_offset.abs() > most => {
                format!("homing_offset {homing_offset} is not within -{most} to {most}")
            }
            () if range_min < 0 || range_max >= COUNTS || range_min >= range_max => {
                format!(
                    "range_min {range_min} to range_max {range_max} is no range within 0 to {}",
                    COUNTS - 1
                )
            }
            () => return Ok(()),
        };
        Err(format!("{name}: {reason}"))
    }
}

/// All motors of an arm, by name, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    motors: Vec<(String, MotorCalibration)>,
}

impl Calibration {
    /// Of these motors.
    ///
    /// # Errors
    /// Names the motor whose numbers cannot be, or the id that two have.
    pub fn new(motors: Vec<(String, MotorCalibration)>) -> Result<Self, LinkError> {
        let bad = |reason| LinkError::bad("calibration", reason);
        for (at, (name, motor)) in motors.iter().enumerate() {
            motor.check(name).map_err(bad)?;
            let twin = motors[..at].iter().find(|(other, own)| other == name || own.id == motor.id);
            if let Some((other, _)) = twin {
                return Err(bad(format!("{other} and {name} have one id ({})", motor.id)));
            }
        }
        Ok(Self { motors })
    }

    /// The motors in their order.
    pub fn motors(&self) -> impl ExactSizeIterator<Item = (&str, &MotorCalibration)> + Clone {
        self.motors.iter().map(|(name, motor)| (name.as_str(), motor))
    }

    /// One of them.
    #[must_use]
    pub fn motor(&self, name: &str) -> Option<&MotorCalibration> {
        self.motors.iter().find(|(own, _)| own == name).map(|(_, motor)| motor)
    }

    /// Reads LeRobot's text.
    ///
    /// # Errors
    /// When it is not JSON of that kind, or its numbers cannot be.
    pub fn from_json(text: &str) -> Result<Self, LinkError> {
        let read: Self = serde_json::from_str(text)
            .map_err(|error| LinkError::bad("calibration", error.to_string()))?;
        Self::new(read.motors)
    }

    /// LeRobot's text, byte for byte as it writes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut bytes = Vec::new();
        let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        let mut writer = serde_json::Serializer::with_formatter(&mut bytes, format);
        // Numbers and names into memory: nothing of it can fail.
        let _cannot_fail = self.serialize(&mut writer);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it is not there or not LeRobot's.
    pub fn load(path: &Path) -> Result<Self, LinkError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|cause| LinkError::Io { path: shown.clone(), cause })?;
        Self::from_json(&text).map_err(|error| match error {
            LinkError::BadInput { reason, .. } => LinkError::bad(shown, reason),
            other => other,
        })
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), LinkError> {
        let failed = |cause| LinkError::Io { path: path.display().to_string(), cause };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let new = path.with_extension("json.new");
        std::fs::write(&new, self.to_json()).map_err(failed)?;
        std::fs::File::open(&new).and_then(|file| file.sync_all()).map_err(failed)?;
        std::fs::rename(&new, path).map_err(failed)
    }
}

impl Serialize for Calibration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.motors.len()))?;
        for (name, motor) in &self.motors {
            map.serialize_entry(name, motor)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Calibration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Calibration;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "motors by name, each with id, drive_mode, homing_offset, range_min, range_max",
                )
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Calibration, A::Error> {
                let mut motors = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    motors.push(entry);
                }
                Ok(Calibration { motors })
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pan() -> MotorCalibration {
        MotorCalibration {
            id: 1,
            drive_mode: 0,
            homing_offset: -20,
            range_min: 750,
            range_max: 3450,
        }
    }

    #[test]
    fn the_middle_is_zero_and_the_ends_are_a_hundred() {
        let pan = pan();
        assert_eq!((pan.degrees(2100), pan.percent(2100)), (0.0, 0.0));
        assert_eq!((pan.percent(0), pan.percent(4095)), (-100.0, 100.0));
        assert_eq!((pan.gripper_percent(750), pan.gripper_percent(3450)), (0.0, 100.0));
        let turned = MotorCalibration { drive_mode: 1, ..pan };
        assert_eq!((turned.percent(750), turned.gripper_percent(750)), (100.0, 100.0));
    }

    #[test]
    fn every_count_comes_back_in_every_unit() {
        for motor in [pan(), MotorCalibration { drive_mode: 1, range_min: 751, ..pan() }] {
            for count in 0..COUNTS {
                assert_eq!(motor.count_at_degrees(motor.degrees(count)), count);
                let kept = count.clamp(motor.range_min, motor.range_max);
                assert_eq!(motor.count_at_percent(motor.percent(count)), kept);
                assert_eq!(motor.count_at_gripper_percent(motor.gripper_percent(count)), kept);
            }
        }
    }

    #[test]
    fn lerobots_file_is_read_and_written_byte_for_byte() {
        let text = "{\n    \"shoulder_pan\": {\n        \"id\": 1,\n        \"drive_mode\": 0,\n        \
                    \"homing_offset\": -20,\n        \"range_min\": 750,\n        \"range_max\": 3450\n    \
                    },\n    \"gripper\": {\n        \"id\": 6,\n        \"drive_mode\": 0,\n        \
                    \"homing_offset\": 1200,\n        \"range_min\": 1500,\n        \"range_max\": 2900\n    \
                    }\n}";
        let read = Calibration::from_json(text).unwrap();
        assert_eq!(read.motor("shoulder_pan"), Some(&pan()));
        assert_eq!(read.to_json(), text);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/arm.json");
        read.save(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(Calibration::load(&path).unwrap(), read);
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_name() {
        let reason = |change: fn(&mut MotorCalibration)| {
            let mut motor = pan();
            change(&mut motor);
            Calibration::new(vec![("elbow_flex".into(), motor)]).unwrap_err().to_string()
        };
        assert!(reason(|motor| motor.range_max = 700).contains("elbow_flex: range_min 750"));
        assert!(reason(|motor| motor.range_max = 5000).contains("0 to 4095"));
        assert!(reason(|motor| motor.homing_offset = 2048).contains("-2047 to 2047"));
        assert!(reason(|motor| motor.drive_mode = 2).contains("drive_mode"));
        let twice = vec![("a".into(), pan()), ("b".into(), pan())];
        assert!(Calibration::new(twice).unwrap_err().to_string().contains("a and b have one id"));
        for text in ["", "[]", "{\"a\": {\"id\": 1}}", "{\"a\": {\"id\": 300}}", "{\"a\": 1}"] {
            assert!(Calibration::from_json(text).is_err(), "{text}");
        }
    }
}
