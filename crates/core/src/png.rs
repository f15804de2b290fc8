//! Pictures as PNG files in memory: rgb with 8 bits per channel, the one kind that is written.

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
    let mut bytes = Vec::with_capacity(rgb.len() / 2);
    let mut encoder = Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    if effort == PngEffort::Fast {
        encoder.set_compression(Compression::Fast);
    }
    let fail = |e: ::png::EncodingError| PngError(e.to_string());
    let mut writer = encoder.write_header().map_err(fail)?;
    writer.write_image_data(rgb).map_err(fail)?;
    writer.finish().map_err(fail)?;
    Ok(bytes)
}

/// The picture of a file.
///
/// # Errors
/// When the bytes are no PNG, or one of another kind than rgb with 8 bits per channel.
pub fn decode(bytes: &[u8]) -> Result<RgbPicture, PngError> {
    let fail = |e: ::png::DecodingError| PngError(e.to_string());
    let mut reader = Decoder::new(std::io::Cursor::new(bytes)).read_info().map_err(fail)?;
    let size = reader.output_buffer_size().filter(|size| *size <= LARGEST_BYTES);
    let mut rgb = vec![0; size.ok_or_else(|| PngError("it is too large".into()))?];
    let info = reader.next_frame(&mut rgb).map_err(fail)?;
    if (info.color_type, info.bit_depth) != (ColorType::Rgb, BitDepth::Eight) {
        return Err(PngError("it is not rgb with 8 bits per channel".into()));
    }
    Ok(RgbPicture { width: info.width as usize, height: info.height as usize, rgb })
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
    }
}
