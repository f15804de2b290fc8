//! Pictures: depths, colours.

use std::io::Cursor;

use super::RosMessage;
use super::header::MessageHeader;
use crate::depth_file::DepthNumbers;
use crate::error::CloudError;
use crate::wire::{WireReader, WireWriter};

/// Bytes before the PNG of a `compressedDepth` picture.
const DEPTH_HEADER_BYTES: usize = 12;
/// A decoded picture has at most so many bytes.
const MOST_BYTES: usize = 1 << 26;

/// `sensor_msgs/Image`; the pixels stay where they are.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageMessage<'a> {
    /// When, and in which frame.
    pub header: MessageHeader,
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
    /// `16UC1` (millimetres) and `32FC1` (metres) for depths; `rgb8`, `bgr8`, `rgba8`, `bgra8`,
    /// `mono8` for colours.
    pub encoding: String,
    /// Whether numbers begin with their highest byte.
    pub is_bigendian: bool,
    /// Bytes from row to row.
    pub step: u32,
    /// The pixels.
    pub data: &'a [u8],
}

/// `sensor_msgs/CompressedImage`; the bytes stay where they are.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedImage<'a> {
    /// When, and in which frame.
    pub header: MessageHeader,
    /// `jpeg`, `png`, `16UC1; compressedDepth png`, …
    pub format: String,
    /// The file.
    pub data: &'a [u8],
}

impl ImageMessage<'_> {
    /// Its rows of `bytes` a pixel, without what pads them.
    fn rows(&self, bytes: usize) -> Result<impl Iterator<Item = &[u8]>, CloudError> {
        let (width, height) = (self.width as usize, self.height as usize);
        let (step, row) = (self.step as usize, width * bytes);
        let bad = |reason: String| CloudError::bad("Image message", reason);
        if step < row {
            return Err(bad(format!("step is {step}, {width} {} are {row} bytes", self.encoding)));
        }
        let need = step.checked_mul(height).filter(|need| *need <= self.data.len());
        if need.is_none() {
            let found = self.data.len();
            return Err(bad(format!("{height} rows of {step} bytes are not in {found}")));
        }
        Ok((0..height).map(move |at| &self.data[at * step..at * step + row]))
    }

    /// The depths, if it is a picture of depths.
    pub(crate) fn depths(&self) -> Result<DepthNumbers, CloudError> {
        match self.encoding.as_str() {
            "16UC1" | "mono16" => {
                let number = |pair: &[u8; 2]| match self.is_bigendian {
                    true => u16::from_be_bytes(*pair),
                    false => u16::from_le_bytes(*pair),
                };
                let rows = self.rows(2)?;
                Ok(DepthNumbers::Whole(
                    rows.flat_map(|row| row.as_chunks::<2>().0.iter().map(number)).collect(),
                ))
            }
            "32FC1" => {
                let number = |four: &[u8; 4]| match self.is_bigendian {
                    true => f32::from_be_bytes(*four),
                    false => f32::from_le_bytes(*four),
                };
                let rows = self.rows(4)?;
                Ok(DepthNumbers::Metres(
                    rows.flat_map(|row| row.as_chunks::<4>().0.iter().map(number)).collect(),
                ))
            }
            other => {
                let reason = format!("encoding \"{other}\" is no depth, must be 16UC1 or 32FC1");
                Err(CloudError::bad("Image message", reason))
            }
        }
    }

    /// Whether it is a picture of depths.
    #[must_use]
    pub fn is_depth(&self) -> bool {
        matches!(self.encoding.as_str(), "16UC1" | "mono16" | "32FC1")
    }

    /// The colours, row by row, if it is a picture of colours.
    ///
    /// # Errors
    /// When sizes do not fit, or the encoding is none of those.
    pub fn colours(&self) -> Result<Vec<[u8; 3]>, CloudError> {
        let (bytes, order) = match self.encoding.as_str() {
            "rgb8" => (3, [0, 1, 2]),
            "bgr8" => (3, [2, 1, 0]),
            "rgba8" => (4, [0, 1, 2]),
            "bgra8" => (4, [2, 1, 0]),
            "mono8" | "8UC1" => (1, [0, 0, 0]),
            other => {
                let reason = format!(
                    "encoding \"{other}\" is not read as colours, must be rgb8, bgr8, rgba8, bgra8 \
                     or mono8"
                );
                return Err(CloudError::bad("Image message", reason));
            }
        };
        let rows = self.rows(bytes)?;
        Ok(rows.flat_map(|row| row.chunks_exact(bytes).map(|p| order.map(|at| p[at]))).collect())
    }
}

impl CompressedImage<'_> {
    /// Whether it is a picture of depths, as the transport of that name packs it.
    #[must_use]
    pub fn is_depth(&self) -> bool {
        self.format.contains("compressedDepth")
    }

    /// Columns and rows, and the depths, if it is a picture of them.
    pub(crate) fn depths(&self) -> Result<([usize; 2], DepthNumbers), CloudError> {
        let bad = |reason: String| CloudError::bad("CompressedImage message", reason);
        if !self.is_depth() || !self.format.starts_with("16UC1") {
            let reason = format!(
                "format \"{}\" is no depth that is read, must be 16UC1; compressedDepth",
                self.format
            );
            return Err(bad(reason));
        }
        let file = self.data.get(DEPTH_HEADER_BYTES..).unwrap_or_default();
        let broken = |e: png::DecodingError| bad(format!("is no PNG after 12 bytes: {e}"));
        let limits = png::Limits { bytes: MOST_BYTES };
        let mut reader =
            png::Decoder::new_with_limits(Cursor::new(file), limits).read_info().map_err(broken)?;
        if reader.output_color_type() != (png::ColorType::Grayscale, png::BitDepth::Sixteen) {
            return Err(bad("is a PNG of colours, depths are grey with 16 bits".to_owned()));
        }
        let size = reader.output_buffer_size().filter(|size| *size <= MOST_BYTES);
        let size = size.ok_or_else(|| bad("has more than 33 million pixels".to_owned()))?;
        let mut bytes = vec![0; size];
        let info = reader.next_frame(&mut bytes).map_err(broken)?;
        let whole = bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
        Ok(([info.width as usize, info.height as usize], DepthNumbers::Whole(whole)))
    }
}

impl<'a> RosMessage<'a> for ImageMessage<'a> {
    const TYPE: [&'static str; 2] = ["sensor_msgs", "Image"];
    const WHAT: &'static str = "Image message";
    const ROS1_MD5: &'static str = "060021388200f6f0f447d0fcd9c64743";

    fn read(reader: &mut WireReader<'a>) -> Result<Self, CloudError> {
        Ok(Self {
            header: MessageHeader::read(reader)?,
            height: reader.u32("height")?,
            width: reader.u32("width")?,
            encoding: reader.string("encoding")?,
            is_bigendian: reader.bool("is_bigendian")?,
            step: reader.u32("step")?,
            data: reader.blob("bytes of data")?,
        })
    }

    fn write(&self, writer: &mut WireWriter) {
        self.header.write(writer);
        writer.u32(self.height);
        writer.u32(self.width);
        writer.string(&self.encoding);
        writer.bool(self.is_bigendian);
        writer.u32(self.step);
        writer.blob(self.data);
    }
}

impl<'a> RosMessage<'a> for CompressedImage<'a> {
    const TYPE: [&'static str; 2] = ["sensor_msgs", "CompressedImage"];
    const WHAT: &'static str = "CompressedImage message";
    const ROS1_MD5: &'static str = "8f7a12909da2c9d3332d540a0977563f";

    fn read(reader: &mut WireReader<'a>) -> Result<Self, CloudError> {
        let header = MessageHeader::read(reader)?;
        Ok(Self { header, format: reader.string("format")?, data: reader.blob("bytes of data")? })
    }

    fn write(&self, writer: &mut WireWriter) {
        self.header.write(writer);
        writer.string(&self.format);
        writer.blob(self.data);
    }
}
