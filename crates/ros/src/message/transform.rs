//! Where frames are: `tf2_msgs/TFMessage`.

use super::{HEADER, Header, Message};
use crate::error::RosError;
use crate::wire::{Reader, Writer};

/// Where a frame is in its parent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransformStamped {
    /// When, and in which parent.
    pub header: Header,
    /// The frame.
    pub child_frame_id: String,
    /// Its origin, m.
    pub translation: [f64; 3],
    /// Its orientation: x, y, z, w, as ROS writes quaternions.
    pub rotation_xyzw: [f64; 4],
}

/// Where frames are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TfMessage {
    /// Each in its parent.
    pub transforms: Vec<TransformStamped>,
}

impl Message for TfMessage {
    const TYPE: &'static str = "tf2_msgs/TFMessage";
    const MD5: &'static str = "94810edda583a504dfda3829e70d7eec";
    const FIELDS: &'static str = "geometry_msgs/TransformStamped[] transforms\n";
    const PARTS: &'static [(&'static str, &'static str)] = &[
        (
            "geometry_msgs/TransformStamped",
            "Header header\nstring child_frame_id\nTransform transform\n",
        ),
        HEADER,
        ("geometry_msgs/Transform", "Vector3 translation\nQuaternion rotation\n"),
        ("geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"),
        ("geometry_msgs/Quaternion", "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"),
    ];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        let transforms = reader.list("transforms", 72, |reader| {
            Ok(TransformStamped {
                header: Header::read(reader)?,
                child_frame_id: reader.string("child_frame_id")?,
                translation: reader.f64_array("translation")?,
                rotation_xyzw: reader.f64_array("rotation")?,
            })
        })?;
        Ok(Self { transforms })
    }

    fn write(&self, writer: &mut Writer) {
        writer.list(&self.transforms, |writer, transform| {
            transform.header.write(writer);
            writer.string(&transform.child_frame_id);
            writer.f64_array(&transform.translation);
            writer.f64_array(&transform.rotation_xyzw);
        });
    }
}
