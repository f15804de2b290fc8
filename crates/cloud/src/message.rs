//! Serialised `PointCloud2` messages: ROS 1 and ROS 2 (CDR), read without copying the points.

use super::pointcloud2::{PointCloud2, PointField};
use crate::cloud::Points;
use crate::error::CloudError;
use crate::messages::{MessageEncoding, MessageHeader, RosMessage as _};
use crate::wire::{WireFormat, WireReader, WireWriter};

/// A message with its header; the points stay where they are.
#[derive(Clone, Debug, PartialEq)]
pub struct PointCloud2Message<'a> {
    /// Number of the message; ROS 1 only, otherwise 0.
    pub seq: u32,
    /// When it was taken.
    pub stamp_ns: u64,
    /// Name of the camera's frame.
    pub frame_id: String,
    /// Rows.
    pub height: u32,
    /// Points in a row.
    pub width: u32,
    /// What a point holds.
    pub fields: Vec<PointField>,
    /// Whether numbers in the data begin with their highest byte.
    pub is_bigendian: bool,
    /// Bytes from point to point.
    pub point_step: u32,
    /// Bytes from row to row.
    pub row_step: u32,
    /// The points.
    pub data: &'a [u8],
    /// Whether all points were seen.
    pub is_dense: bool,
}

impl<'a> PointCloud2Message<'a> {
    /// Reads a message as ROS 1 serialises it.
    ///
    /// # Errors
    /// Names the byte where the message is cut off or wrong.
    pub fn from_ros1(bytes: &'a [u8]) -> Result<Self, CloudError> {
        Self::decode(&MessageEncoding::Ros1, bytes)
    }

    /// Reads a message as ROS 2 serialises it: CDR with its encapsulation header.
    ///
    /// # Errors
    /// Names the byte where the message is cut off or wrong.
    pub fn from_cdr(bytes: &'a [u8]) -> Result<Self, CloudError> {
        Self::decode(&MessageEncoding::Cdr, bytes)
    }

    /// All fields.
    pub(crate) fn read_fields(reader: &mut WireReader<'a>) -> Result<Self, CloudError> {
        let MessageHeader { seq, stamp_ns, frame_id } = MessageHeader::read(reader)?;
        let height = reader.u32("height")?;
        let width = reader.u32("width")?;
        // The smallest field: an empty name, offset, datatype, count.
        let count = reader.count("fields", 13)?;
        let mut fields = Vec::with_capacity(count);
        for _ in 0..count {
            fields.push(PointField {
                name: reader.string("fields.name")?,
                offset: reader.u32("fields.offset")?,
                datatype: reader.u8("fields.datatype")?,
                count: reader.u32("fields.count")?,
            });
        }
        Ok(Self {
            seq,
            stamp_ns,
            frame_id,
            height,
            width,
            fields,
            is_bigendian: reader.bool("is_bigendian")?,
            point_step: reader.u32("point_step")?,
            row_step: reader.u32("row_step")?,
            data: reader.blob("bytes of data")?,
            is_dense: reader.bool("is_dense")?,
        })
    }

    /// The message without its header, to be checked and read.
    #[must_use]
    pub fn cloud(&self) -> PointCloud2<'_> {
        PointCloud2 {
            height: self.height,
            width: self.width,
            fields: &self.fields,
            is_bigendian: self.is_bigendian,
            point_step: self.point_step,
            row_step: self.row_step,
            data: self.data,
            stamp_ns: self.stamp_ns,
        }
    }

    /// The message as ROS 1 serialises it. Stamps end in the year 2106 there.
    #[must_use]
    pub fn to_ros1(&self) -> Vec<u8> {
        self.written(WireFormat::Ros1)
    }

    /// The message as ROS 2 serialises it. Stamps end in the year 2038 there.
    #[must_use]
    pub fn to_cdr(&self, big_endian: bool) -> Vec<u8> {
        self.written(WireFormat::Cdr { big_endian })
    }

    fn written(&self, format: WireFormat) -> Vec<u8> {
        let mut writer = WireWriter::new(format, self.data.len() + 256);
        self.write_fields(&mut writer);
        writer.finish()
    }

    pub(crate) fn write_fields(&self, writer: &mut WireWriter) {
        let (seq, stamp_ns, frame_id) = (self.seq, self.stamp_ns, self.frame_id.clone());
        MessageHeader { seq, stamp_ns, frame_id }.write(writer);
        writer.u32(self.height);
        writer.u32(self.width);
        writer.u32(self.fields.len() as u32);
        for field in &self.fields {
            writer.string(&field.name);
            writer.u32(field.offset);
            writer.u8(field.datatype);
            writer.u32(field.count);
        }
        writer.bool(self.is_bigendian);
        writer.u32(self.point_step);
        writer.u32(self.row_step);
        writer.blob(self.data);
        writer.bool(self.is_dense);
    }
}

/// Bytes of a cloud as x, y, z and packed rgb, 16 bytes a point: the data of a message.
#[must_use]
pub fn pack_xyz_rgb(points: &dyn Points) -> Vec<u8> {
    let mut data = Vec::with_capacity(points.len() * 16);
    let (mut x, mut y, mut z) = ([0.0], [0.0], [0.0]);
    for index in 0..points.len() {
        points.fill(index, &mut x, &mut y, &mut z);
        let [r, g, b] = points.rgb(index);
        for value in [x[0], y[0], z[0]] {
            data.extend(value.to_le_bytes());
        }
        data.extend([b, g, r, 0]);
    }
    data
}

/// The message of a cloud whose bytes [`pack_xyz_rgb`] made.
#[must_use]
pub fn message_of<'a>(
    points: &dyn Points,
    frame_id: &str,
    data: &'a [u8],
) -> PointCloud2Message<'a> {
    let fields = ["x", "y", "z", "rgb"].iter().enumerate();
    let field =
        |(i, name): (usize, &&str)| PointField::new(name, 4 * i as u32, PointField::FLOAT32);
    PointCloud2Message {
        seq: 0,
        stamp_ns: points.stamp_ns(),
        frame_id: frame_id.to_owned(),
        height: points.height() as u32,
        width: points.width() as u32,
        fields: fields.map(field).collect(),
        is_bigendian: false,
        point_step: 16,
        row_step: 16 * points.width() as u32,
        data,
        is_dense: false,
    }
}
