//! Pictures as PNG files in memory: rgb with 8 bits per channel, and grey with 16 bits for depths.

use ::png::{BitDepth, ColorType, Compression, Decoder, Encoder};

/// No picture of a camera is larger; a damaged header may say anything.
const LARGEST_BYTES: usize = 1 << 28;

/// Why a picture cannot be written, or bytes are no picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PngError(String);

/// What is saved: time or space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PngEffort {
    /// Time: for recordings, at the rate of the cameras.
    Fast,
    /// Space: for pictures inside of pages.
    Small,
}

/// An rgb8 picture, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbPicture {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three bytes for each pixel.
    pub rgb: Vec<u8>,
}

/// The file of an rgb8 picture.
///
/// # Errors
/// When there are not three bytes for each pixel, or no pixels at all.
///
/// ```
/// use citrange_core::png::{PngEffort, decode, encode};
///
/// let file = encode(&[255, 0, 0, 0, 0, 255], 2, 1, PngEffort::Small)?;
/// assert_eq!(decode(&file)?.rgb, [255, 0, 0, 0, 0, 255]);
/// # Ok::<_, citrange_core::png::PngError>(())
/// ```
pub fn encode(
    rgb: &[u8],
    width: usize,
    height: usize,
    effort: PngEffort,
) -> Result<Vec<u8>, PngError> {
    write(rgb, (width, height), (ColorType::Rgb, BitDepth::Eight), effort)
}

/// The file of a picture of 16-bit numbers, one for each pixel.
///
/// # Errors
/// When there is not one number for each pixel, or no pixels at all.
///
/// ```
/// use citrange_core::png::{PngEffort, decode_u16, encode_u16};
///
/// let file = encode_u16(&[0, 1234, 65535], 3, 1, PngEffort::Fast)?;
/// assert_eq!(decode_u16(&file)?.values, [0, 1234, 65535]);
/// # Ok::<_, citrange_core::png::PngError>(())
/// ```
pub fn encode_u16(
    values: &[u16],
    width: usize,
    height: usize,
    effort: PngEffort,
) -> Result<Vec<u8>, PngError> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
    write(&bytes, (width, height), (ColorType::Grayscale, BitDepth::Sixteen), effort)
}

/// A picture of 16-bit numbers, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct U16Picture {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// A number for each pixel.
    pub values: Vec<u16>,
}

/// The picture of a file that [`encode_u16`] wrote.
///
/// # Errors
/// When the bytes are no PNG, or one of another kind than grey with 16 bits.
pub fn decode_u16(bytes: &[u8]) -> Result<U16Picture, PngError> {
    let (pixels, width, height) = read(bytes, (ColorType::Grayscale, BitDepth::Sixteen))
        .map_err(|e| e.unwrap_or_else(|| PngError("it is not grey with 16 bits".into())))?;
    let values = pixels.as_chunks().0.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
    Ok(U16Picture { width, height, values })
}

fn write(
    pixels: &[u8],
    (width, height): (usize, usize),
    (color, depth): (ColorType, BitDepth),
    effort: PngEffort,
) -> Result<Vec<u8>, PngError> {
    let mut bytes = Vec::with_capacity(pixels.len() / 2);
    let mut encoder = Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if effort == PngEffort::Fast {
        encoder.set_compression(Compression::Fast);
    }
    let fail = |e: ::png::EncodingError| PngError(e.to_string());
    let mut writer = encoder.write_header().map_err(fail)?;
    writer.write_image_data(pixels).map_err(fail)?;
    writer.finish().map_err(fail)?;
    Ok(bytes)
}

/// Pixels, columns and rows; an error without words for a file of another kind.
fn read(
    bytes: &[u8],
    kind: (ColorType, BitDepth),
) -> Result<(Vec<u8>, usize, usize), Option<PngError>> {
    let fail = |e: ::png::DecodingError| PngError(e.to_string());
    let mut reader = Decoder::new(std::io::Cursor::new(bytes)).read_info().map_err(fail)?;
    let size = reader.output_buffer_size().filter(|size| *size <= LARGEST_BYTES);
    let mut pixels = vec![0; size.ok_or_else(|| PngError("it is too large".into()))?];
    let info = reader.next_frame(&mut pixels).map_err(fail)?;
    if (info.color_type, info.bit_depth) != kind {
        return Err(None);
    }
    Ok((pixels, info.width as usize, info.height as usize))
}

/// The picture of a file.
///
/// # Errors
/// When the bytes are no PNG, or one of another kind than rgb with 8 bits per channel.
pub fn decode(bytes: &[u8]) -> Result<RgbPicture, PngError> {
    let (rgb, width, height) = read(bytes, (ColorType::Rgb, BitDepth::Eight)).map_err(|e| {
        e.unwrap_or_else(|| PngError("it is not rgb with 8 bits per channel".into()))
    })?;
    Ok(RgbPicture { width, height, rgb })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_come_back() {
        let rgb: Vec<u8> = (0..5 * 3 * 3).map(|i| (i * 7 % 251) as u8).collect();
        let picture = RgbPicture { width: 5, height: 3, rgb };
        for effort in [PngEffort::Fast, PngEffort::Small] {
            let file = encode(&picture.rgb, 5, 3, effort).unwrap();
            assert_eq!(decode(&file).unwrap(), picture);
            for length in 0..file.len() - 16 {
                assert!(decode(&file[..length]).is_err(), "cut at {length}");
            }
        }
    }

    #[test]
    fn what_is_no_rgb_picture_is_refused() {
        assert!(encode(&[0; 5], 2, 1, PngEffort::Fast).is_err());
        assert!(encode(&[], 0, 0, PngEffort::Fast).is_err());
        let mut gray = Vec::new();
        let mut encoder = Encoder::new(&mut gray, 2, 1);
        encoder.set_color(ColorType::Grayscale);
        encoder.write_header().unwrap().write_image_data(&[1, 2]).unwrap();
        assert!(decode(&gray).unwrap_err().to_string().contains("not rgb"));
        assert!(decode_u16(&gray).unwrap_err().to_string().contains("not grey"));
        assert!(encode_u16(&[1], 2, 1, PngEffort::Fast).is_err());
    }
}
