//! Pictures and how their camera sees.

use super::{HEADER, Header, Message};
use crate::error::RosError;
use crate::wire::{Reader, Writer};

/// `sensor_msgs/Image`: rows of pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// When, and in which camera's frame.
    pub header: Header,
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
    /// `rgb8`, `bgr8`, `mono8`, `16UC1`, `32FC1`, …
    pub encoding: String,
    /// Not 0 where numbers begin with their highest byte.
    pub is_bigendian: u8,
    /// Bytes from row to row.
    pub step: u32,
    /// The pixels.
    pub data: Vec<u8>,
}

impl Message for Image {
    const TYPE: &'static str = "sensor_msgs/Image";
    const MD5: &'static str = "060021388200f6f0f447d0fcd9c64743";
    const FIELDS: &'static str = "Header header\nuint32 height\nuint32 width\nstring encoding\n\
                                  uint8 is_bigendian\nuint32 step\nuint8[] data\n";
    const PARTS: &'static [(&'static str, &'static str)] = &[HEADER];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self {
            header: Header::read(reader)?,
            height: reader.u32("height")?,
            width: reader.u32("width")?,
            encoding: reader.string("encoding")?,
            is_bigendian: reader.u8("is_bigendian")?,
            step: reader.u32("step")?,
            data: reader.blob("data")?.to_vec(),
        })
    }

    fn write(&self, writer: &mut Writer) {
        self.header.write(writer);
        writer.u32(self.height);
        writer.u32(self.width);
        writer.string(&self.encoding);
        writer.u8(self.is_bigendian);
        writer.u32(self.step);
        writer.blob(&self.data);
    }
}

/// `sensor_msgs/CompressedImage`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompressedImage {
    /// When, and in which camera's frame.
    pub header: Header,
    /// `jpeg`, `png`, with words about the pixels.
    pub format: String,
    /// The file.
    pub data: Vec<u8>,
}

impl Message for CompressedImage {
    const TYPE: &'static str = "sensor_msgs/CompressedImage";
    const MD5: &'static str = "8f7a12909da2c9d3332d540a0977563f";
    const FIELDS: &'static str = "Header header\nstring format\nuint8[] data\n";
    const PARTS: &'static [(&'static str, &'static str)] = &[HEADER];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self {
            header: Header::read(reader)?,
            format: reader.string("format")?,
            data: reader.blob("data")?.to_vec(),
        })
    }

    fn write(&self, writer: &mut Writer) {
        self.header.write(writer);
        writer.string(&self.format);
        writer.blob(&self.data);
    }
}

/// Part of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionOfInterest {
    /// Left edge, px.
    pub x_offset: u32,
    /// Upper edge, px.
    pub y_offset: u32,
    /// Rows; 0 for all.
    pub height: u32,
    /// Columns; 0 for all.
    pub width: u32,
    /// Whether the rectified picture is meant.
    pub do_rectify: bool,
}

/// `sensor_msgs/CameraInfo`: how a camera sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraInfo {
    /// When, and in which camera's frame.
    pub header: Header,
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
    /// `plumb_bob`, `rational_polynomial`, …
    pub distortion_model: String,
    /// Its numbers.
    pub d: Vec<f64>,
    /// fx 0 cx, 0 fy cy, 0 0 1.
    pub k: [f64; 9],
    /// Rotation to the rectified picture.
    pub r: [f64; 9],
    /// Projection of the rectified picture.
    pub p: [f64; 12],
    /// Pixels of the sensor in one, across.
    pub binning_x: u32,
    /// And down.
    pub binning_y: u32,
    /// Which part of the sensor.
    pub roi: RegionOfInterest,
}

impl CameraInfo {
    /// A pinhole without distortion.
    #[must_use]
    pub fn pinhole(header: Header, size: [u32; 2], [fx, fy, cx, cy]: [f64; 4]) -> Self {
        Self {
            header,
            width: size[0],
            height: size[1],
            distortion_model: "plumb_bob".to_owned(),
            d: vec![0.0; 5],
            k: [fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
            r: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            p: [fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
            ..Self::default()
        }
    }
}

impl Message for CameraInfo {
    const TYPE: &'static str = "sensor_msgs/CameraInfo";
    const MD5: &'static str = "c9a58c1b0b154e0e6da7578cb991d214";
    const FIELDS: &'static str = "Header header\nuint32 height\nuint32 width\nstring \
        distortion_model\nfloat64[] D\nfloat64[9] K\nfloat64[9] R\nfloat64[12] P\nuint32 \
        binning_x\nuint32 binning_y\nRegionOfInterest roi\n";
    const PARTS: &'static [(&'static str, &'static str)] = &[
        HEADER,
        (
            "sensor_msgs/RegionOfInterest",
            "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n",
        ),
    ];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self {
            header: Header::read(reader)?,
            height: reader.u32("height")?,
            width: reader.u32("width")?,
            distortion_model: reader.string("distortion_model")?,
            d: reader.f64s("D")?,
            k: reader.f64_array("K")?,
            r: reader.f64_array("R")?,
            p: reader.f64_array("P")?,
            binning_x: reader.u32("binning_x")?,
            binning_y: reader.u32("binning_y")?,
            roi: RegionOfInterest {
                x_offset: reader.u32("roi")?,
                y_offset: reader.u32("roi")?,
                height: reader.u32("roi")?,
                width: reader.u32("roi")?,
                do_rectify: reader.bool("roi.do_rectify")?,
            },
        })
    }

    fn write(&self, writer: &mut Writer) {
        self.header.write(writer);
        writer.u32(self.height);
        writer.u32(self.width);
        writer.string(&self.distortion_model);
        writer.f64s(&self.d);
        writer.f64_array(&self.k);
        writer.f64_array(&self.r);
        writer.f64_array(&self.p);
        writer.u32(self.binning_x);
        writer.u32(self.binning_y);
        let roi = &self.roi;
        for number in [roi.x_offset, roi.y_offset, roi.height, roi.width] {
            writer.u32(number);
        }
        writer.bool(roi.do_rectify);
    }
}
