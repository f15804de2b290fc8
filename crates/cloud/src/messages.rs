//! Messages of ROS that a cell needs, of both generations: what a topic of a running system or of a
//! recording carries.

mod camera_info;
mod definitions;
mod header;
mod image;
mod joint_state;
mod transforms;

use crate::error::CloudError;
use crate::message::PointCloud2Message;
use crate::wire::{WireFormat, WireReader, WireWriter};

pub use camera_info::CameraInfo;
pub use definitions::{ros1_definition, ros2_definition};
pub use header::MessageHeader;
pub use image::{CompressedImage, ImageMessage};
pub use joint_state::JointState;
pub use transforms::{StampedTransform, TransformMessage};

/// How the bytes of a message are to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageEncoding {
    /// As ROS 1 serialises it.
    Ros1,
    /// As ROS 2 serialises it, with an encapsulation header.
    Cdr,
    /// Something else, by its name: `json`, `protobuf`.
    Other(String),
}

/// A message that is read from bytes and written as bytes; `'a` is how long the bytes live that it
/// looks into.
pub trait RosMessage<'a>: Sized {
    /// Package and type: `["sensor_msgs", "JointState"]`.
    const TYPE: [&'static str; 2];
    /// For errors.
    const WHAT: &'static str;
    /// Sum of the definition that ROS 1 compares before it connects.
    const ROS1_MD5: &'static str;

    /// Reads all fields.
    ///
    /// # Errors
    /// Names the byte where the message is cut off or wrong.
    fn read(reader: &mut WireReader<'a>) -> Result<Self, CloudError>;

    /// Writes all fields.
    fn write(&self, writer: &mut WireWriter);

    /// The message in these bytes.
    ///
    /// # Errors
    /// When the encoding is none of ROS; else names the byte where the message is cut off or wrong.
    fn decode(encoding: &MessageEncoding, bytes: &'a [u8]) -> Result<Self, CloudError> {
        let mut reader = match encoding {
            MessageEncoding::Ros1 => WireReader::ros1(bytes, Self::WHAT),
            MessageEncoding::Cdr => WireReader::cdr(bytes, Self::WHAT)?,
            MessageEncoding::Other(name) => {
                let reason = format!("is encoded as \"{name}\", must be ros1 or cdr");
                return Err(CloudError::bad(Self::WHAT, reason));
            }
        };
        let message = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(message)
    }

    /// The bytes of the message.
    fn encode(&self, format: WireFormat) -> Vec<u8> {
        let mut writer = WireWriter::new(format, 256);
        self.write(&mut writer);
        writer.finish()
    }
}

impl<'a> RosMessage<'a> for PointCloud2Message<'a> {
    const TYPE: [&'static str; 2] = ["sensor_msgs", "PointCloud2"];
    const WHAT: &'static str = "PointCloud2 message";
    const ROS1_MD5: &'static str = "1158d486dd51d683ce2f1be655c3c181";

    fn read(reader: &mut WireReader<'a>) -> Result<Self, CloudError> {
        Self::read_fields(reader)
    }

    fn write(&self, writer: &mut WireWriter) {
        self.write_fields(writer);
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    /// Written and read again in every format; cut off anywhere it is an error.
    fn round<'a, M: RosMessage<'a> + PartialEq + Debug>(
        message: &M,
        keep: &'a mut Vec<Vec<u8>>,
        is_same: impl Fn(&M) -> bool,
    ) {
        let cdr = |big_endian| WireFormat::Cdr { big_endian };
        for format in [WireFormat::Ros1, cdr(false), cdr(true)] {
            keep.push(message.encode(format));
        }
        for (number, bytes) in keep.iter().enumerate() {
            let encoding = if number == 0 { MessageEncoding::Ros1 } else { MessageEncoding::Cdr };
            let again = M::decode(&encoding, bytes).unwrap();
            assert!(is_same(&again), "{again:?}");
            for length in 0..bytes.len() {
                // Padding at the end is no loss.
                assert!(M::decode(&encoding, &bytes[..length]).is_err(), "{length}");
            }
        }
    }

    fn header(seq: u32) -> MessageHeader {
        MessageHeader { seq, stamp_ns: 1_000_000_002, frame_id: "f".to_owned() }
    }

    #[test]
    fn joint_states_are_those_of_ros() {
        // As genpy serialises it: sequence 7, stamp 1.000000002, frame f, joints a and bc.
        let hex = "07000000 01000000 02000000 01000000 66 02000000 01000000 61 02000000 6263 \
                   02000000 000000000000f03f 0000000000000040 00000000 00000000";
        let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
        let bytes: Vec<u8> = digits.chunks(2).map(|p| (16 * p[0] + p[1]) as u8).collect();
        let message = JointState::decode(&MessageEncoding::Ros1, &bytes).unwrap();
        assert_eq!(
            (message.name.join(" "), &message.position[..]),
            ("a bc".into(), &[1.0, 2.0][..])
        );
        assert_eq!(message.header, header(7));
        assert_eq!(message.encode(WireFormat::Ros1), bytes);
        let mut message = message;
        message.header.seq = 0;
        round(&message.clone(), &mut Vec::new(), |again| *again == message);
    }

    #[test]
    fn messages_come_back_as_they_were() {
        let info = CameraInfo {
            header: header(0),
            height: 480,
            width: 640,
            distortion_model: "plumb_bob".to_owned(),
            d: vec![0.1, 0.2, 0.3, 0.4, 0.5],
            k: std::array::from_fn(|i| i as f64),
            r: std::array::from_fn(|i| 9.0 + i as f64),
            p: std::array::from_fn(|i| 18.0 + i as f64),
            binning: [1, 2],
            roi: [3, 4, 5, 6],
            do_rectify: true,
        };
        // As long as what genpy makes of it, with a frame of one letter.
        assert_eq!(info.encode(WireFormat::Ros1).len(), 346 + 1);
        round(&info.clone(), &mut Vec::new(), |again| *again == info);
        let transforms = TransformMessage(vec![StampedTransform {
            header: header(0),
            child_frame: "t".to_owned(),
            translation_m: [1.0, 2.0, 3.0],
            rotation_xyzw: [0.0, 0.0, 0.6, 0.8],
        }]);
        round(&transforms.clone(), &mut Vec::new(), |again| *again == transforms);
        let data = [1, 2, 3, 4];
        let image = ImageMessage {
            header: header(0),
            height: 1,
            width: 2,
            encoding: "16UC1".to_owned(),
            is_bigendian: false,
            step: 4,
            data: &data,
        };
        round(&image.clone(), &mut Vec::new(), |again| *again == image);
    }
}
