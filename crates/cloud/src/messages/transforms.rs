//! Where frames are in other frames.

use super::RosMessage;
use super::header::MessageHeader;
use crate::error::CloudError;
use crate::wire::{WireReader, WireWriter};

/// `tf2_msgs/TFMessage`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransformMessage(pub Vec<StampedTransform>);

/// `geometry_msgs/TransformStamped`: where a frame is in the frame of the header.
#[derive(Clone, Debug, PartialEq)]
pub struct StampedTransform {
    /// When, and in which frame.
    pub header: MessageHeader,
    /// The frame whose pose it is.
    pub child_frame: String,
    /// Its origin.
    pub translation_m: [f64; 3],
    /// Its orientation; x, y, z, w as ROS orders them.
    pub rotation_xyzw: [f64; 4],
}

impl RosMessage<'_> for TransformMessage {
    const TYPE: [&'static str; 2] = ["tf2_msgs", "TFMessage"];
    const WHAT: &'static str = "TFMessage message";
    const ROS1_MD5: &'static str = "94810edda583a504dfda3829e70d7eec";

    fn read(reader: &mut WireReader<'_>) -> Result<Self, CloudError> {
        // The smallest transform: stamp, two empty strings, seven numbers.
        let count = reader.count("transforms", 8 + 4 + 4 + 56)?;
        let one = |_| {
            let header = MessageHeader::read(reader)?;
            let child_frame = reader.string("child_frame_id")?;
            let mut numbers = [0.0; 7];
            for number in &mut numbers {
                *number = reader.f64("transform")?;
            }
            let [x, y, z, rotation_xyzw @ ..] = numbers;
            Ok(StampedTransform { header, child_frame, translation_m: [x, y, z], rotation_xyzw })
        };
        (0..count).map(one).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self, writer: &mut WireWriter) {
        writer.u32(self.0.len() as u32);
        for one in &self.0 {
            one.header.write(writer);
            writer.string(&one.child_frame);
            one.translation_m.iter().chain(&one.rotation_xyzw).for_each(|v| writer.f64(*v));
        }
    }
}
