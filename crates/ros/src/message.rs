//! Messages: what they hold, and how they lie in memory. Types, md5sums and layouts are ROS's; ROS 2
//! has the same fields but for the header's number.

mod action;
mod joint_state;
mod picture;
mod plain;
mod trajectory;
mod transform;

pub use action::{
    ActionFeedback, ActionGoal, ActionResult, FollowJointTrajectoryFeedback,
    FollowJointTrajectoryGoal, FollowJointTrajectoryResult, GoalId, GoalStatus, GoalStatusArray,
    JointTolerance, Status, error_code,
};
pub use joint_state::JointState;
pub use picture::{CameraInfo, CompressedImage, Image, RegionOfInterest};
pub use plain::{Bool, Clock, Float64, Int8, Text, TriggerAnswer};
pub use trajectory::{JointTrajectory, JointTrajectoryPoint};
pub use transform::{TfMessage, TransformStamped};

use crate::error::RosError;
use crate::wire::{Format, Reader, Writer};

/// A type of message.
pub trait Message: Sized {
    /// `sensor_msgs/JointState`.
    const TYPE: &'static str;
    /// What both sides of a ROS 1 connection compare.
    const MD5: &'static str;
    /// Its fields, one per line.
    const FIELDS: &'static str;
    /// Types of its fields that are messages themselves, with their fields.
    const PARTS: &'static [(&'static str, &'static str)];

    /// Reads one, without looking at what follows.
    ///
    /// # Errors
    /// Names the byte where it is cut off or wrong.
    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError>;

    /// Writes one.
    fn write(&self, writer: &mut Writer);

    /// Reads a whole message.
    ///
    /// # Errors
    /// As [`Message::read`], or when bytes follow.
    fn from_bytes(bytes: &[u8], format: Format) -> Result<Self, RosError> {
        let mut reader = Reader::new(bytes, format, Self::TYPE)?;
        let own = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(own)
    }

    /// The whole message.
    fn to_bytes(&self, format: Format) -> Vec<u8> {
        let mut writer = Writer::new(format);
        self.write(&mut writer);
        writer.finish()
    }

    /// Its definition as recorders want it: fields, then those of its parts.
    #[must_use]
    fn definition() -> String {
        let mut text = Self::FIELDS.to_owned();
        for (name, fields) in Self::PARTS {
            text.push_str(&format!("{}\nMSG: {name}\n{fields}", "=".repeat(80)));
        }
        text
    }
}

/// The fields of `std_msgs/Header` in ROS 1.
pub(crate) const HEADER: (&str, &str) =
    ("std_msgs/Header", "uint32 seq\ntime stamp\nstring frame_id\n");

/// A moment: seconds and nanoseconds since 1970, or since a simulation began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Seconds.
    pub sec: u32,
    /// Nanoseconds beyond them.
    pub nanosec: u32,
}

impl Time {
    /// Now, by this machine's clock.
    #[must_use]
    pub fn now() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self::from_ns(since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// So many nanoseconds.
    #[must_use]
    pub fn from_ns(ns: u64) -> Self {
        let sec = u32::try_from(ns / 1_000_000_000).unwrap_or(u32::MAX);
        Self { sec, nanosec: (ns % 1_000_000_000) as u32 }
    }

    /// In nanoseconds.
    #[must_use]
    pub fn ns(self) -> u64 {
        u64::from(self.sec) * 1_000_000_000 + u64::from(self.nanosec)
    }

    pub(crate) fn read(reader: &mut Reader<'_>, of: &str) -> Result<Self, RosError> {
        Ok(Self { sec: reader.u32(of)?, nanosec: reader.u32(of)? })
    }

    pub(crate) fn write(self, writer: &mut Writer) {
        writer.u32(self.sec);
        writer.u32(self.nanosec);
    }
}

/// A length of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Seconds.
    pub sec: i32,
    /// Nanoseconds beyond them.
    pub nanosec: i32,
}

impl Span {
    /// So many seconds, to the nanosecond.
    #[must_use]
    pub fn from_s(seconds: f64) -> Self {
        let ns = (seconds * 1e9).round().clamp(-2e18, 2e18) as i64;
        let sec = ns.div_euclid(1_000_000_000);
        let sec = i32::try_from(sec).unwrap_or(if sec < 0 { i32::MIN } else { i32::MAX });
        Self { sec, nanosec: ns.rem_euclid(1_000_000_000) as i32 }
    }

    /// In seconds.
    #[must_use]
    pub fn s(self) -> f64 {
        f64::from(self.sec) + f64::from(self.nanosec) * 1e-9
    }

    pub(crate) fn read(reader: &mut Reader<'_>, of: &str) -> Result<Self, RosError> {
        Ok(Self { sec: reader.i32(of)?, nanosec: reader.i32(of)? })
    }

    pub(crate) fn write(self, writer: &mut Writer) {
        writer.i32(self.sec);
        writer.i32(self.nanosec);
    }
}

/// What stands in front of most messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Number of the message; ROS 1 only.
    pub seq: u32,
    /// When it was measured.
    pub stamp: Time,
    /// In which frame.
    pub frame_id: String,
}

impl Header {
    /// Of something measured now.
    #[must_use]
    pub fn now(frame_id: &str) -> Self {
        Self { seq: 0, stamp: Time::now(), frame_id: frame_id.to_owned() }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        let seq = match reader.format() {
            Format::Ros1 => reader.u32("header.seq")?,
            Format::Cdr => 0,
        };
        let stamp = Time::read(reader, "header.stamp")?;
        Ok(Self { seq, stamp, frame_id: reader.string("header.frame_id")? })
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        if writer.format() == Format::Ros1 {
            writer.u32(self.seq);
        }
        self.stamp.write(writer);
        writer.string(&self.frame_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_exact_to_the_nanosecond_and_negative_ones_count_down() {
        assert_eq!(Span::from_s(1.25), Span { sec: 1, nanosec: 250_000_000 });
        assert_eq!(Span::from_s(-0.25), Span { sec: -1, nanosec: 750_000_000 });
        assert_eq!(Span::from_s(-0.25).s(), -0.25);
        assert_eq!(Time::from_ns(3_000_000_007), Time { sec: 3, nanosec: 7 });
    }

    /// The bytes that genpy writes for the same message.
    #[test]
    fn a_joint_state_is_written_as_genpy_writes_it() {
        let state = JointState {
            header: Header { seq: 1, stamp: Time { sec: 2, nanosec: 3 }, frame_id: "a".into() },
            name: vec!["j".into()],
            position: vec![1.0],
            velocity: vec![],
            effort: vec![],
        };
        let bytes = state.to_bytes(Format::Ros1);
        let golden = "010000000200000003000000010000006101000000010000006a01000000000000000000f03f\
                      0000000000000000";
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, golden);
        assert_eq!(JointState::from_bytes(&bytes, Format::Ros1).unwrap(), state);
        for cut in 0..bytes.len() {
            assert!(JointState::from_bytes(&bytes[..cut], Format::Ros1).is_err());
        }
    }
}
