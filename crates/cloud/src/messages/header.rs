//! When and in which frame a message was made.

use crate::error::CloudError;
use crate::wire::{WireFormat, WireReader, WireWriter};

const NS_PER_S: u64 = 1_000_000_000;

/// `std_msgs/Header`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageHeader {
    /// Number of the message; ROS 1 only, otherwise 0.
    pub seq: u32,
    /// When, in nanoseconds. Stamps end in the year 2106 in ROS 1, 2038 in ROS 2.
    pub stamp_ns: u64,
    /// Name of the frame.
    pub frame_id: String,
}

impl MessageHeader {
    /// Reads it.
    ///
    /// # Errors
    /// When the stamp is no time, or the message is cut off.
    pub fn read(reader: &mut WireReader<'_>) -> Result<Self, CloudError> {
        let is_ros1 = reader.format() == WireFormat::Ros1;
        let seq = if is_ros1 { reader.u32("header.seq")? } else { 0 };
        let stamp_ns = read_time(reader, "header.stamp")?;
        Ok(Self { seq, stamp_ns, frame_id: reader.string("header.frame_id")? })
    }

    /// Writes it.
    pub fn write(&self, writer: &mut WireWriter) {
        if writer.format() == WireFormat::Ros1 {
            writer.u32(self.seq);
        }
        writer.u32((self.stamp_ns / NS_PER_S) as u32);
        writer.u32((self.stamp_ns % NS_PER_S) as u32);
        writer.string(&self.frame_id);
    }
}

/// A `time` in nanoseconds.
fn read_time(reader: &mut WireReader<'_>, of: &str) -> Result<u64, CloudError> {
    let seconds = reader.u32(&format!("{of}.sec"))?;
    if reader.format() != WireFormat::Ros1 && i32::try_from(seconds).is_err() {
        return Err(reader.bad(&format!("{of}.sec is negative, must be 0 or above")));
    }
    let nanoseconds = u64::from(reader.u32(&format!("{of}.nanosec"))?);
    if nanoseconds >= NS_PER_S {
        let reason = format!("{of}.nanosec is {nanoseconds}, must be below 1 second");
        return Err(reader.bad(&reason));
    }
    Ok(u64::from(seconds) * NS_PER_S + nanoseconds)
}
