//! Bytes of a camera to colours.

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::jpeg_tables::with_tables;
use super::{CameraMode, PixelFormat};

/// Decodes a picture of this mode to rgb8.
///
/// # Errors
/// When its bytes are not what they should be: damaged, cut short, of another size.
pub fn decode_rgb8(mode: CameraMode, bytes: &[u8], rgb: &mut Vec<u8>) -> Result<(), String> {
    let pixels = mode.width_px as usize * mode.height_px as usize;
    let need = |length: usize| match bytes.len() {
        has if has < length => Err(format!("{has} bytes where a picture has {length}")),
        _ => Ok(&bytes[..length]),
    };
    rgb.clear();
    match mode.format {
        PixelFormat::Mjpeg => return decode_jpeg(mode, bytes, rgb),
        PixelFormat::Yuyv => {
            rgb.reserve(3 * pixels);
            for pair in need(2 * pixels)?.chunks_exact(4) {
                let [y0, u, y1, v] = [pair[0], pair[1], pair[2], pair[3]].map(i32::from);
                for y in [y0, y1] {
                    rgb.extend(rgb_of(y, u, v));
                }
            }
        }
        PixelFormat::Rgb8 => rgb.extend_from_slice(need(3 * pixels)?),
        PixelFormat::Bgr8 => {
            rgb.reserve(3 * pixels);
            rgb.extend(need(3 * pixels)?.chunks_exact(3).flat_map(|bgr| [bgr[2], bgr[1], bgr[0]]));
        }
    }
    match rgb.len() == 3 * pixels {
        true => Ok(()),
        false => Err(format!("an odd number of pixels across: {}", mode.width_px)),
    }
}

/// ITU-R BT.601, 16 to 235, in 1/256.
fn rgb_of(y: i32, u: i32, v: i32) -> [u8; 3] {
    let (y, u, v) = (298 * (y - 16) + 128, u - 128, v - 128);
    let [r, g, b] = [y + 409 * v, y - 100 * u - 208 * v, y + 516 * u];
    [r, g, b].map(|c| (c >> 8).clamp(0, 255) as u8)
}

/// The other way, for stand-ins; a pair of pixels shares its colour.
pub fn encode_yuyv(rgb: &[u8], out: &mut Vec<u8>) {
    out.clear();
    for pair in rgb.chunks_exact(6) {
        let at = |p: usize, c: usize| i32::from(pair[3 * p + c]);
        let luma = |p: usize| 16 + ((66 * at(p, 0) + 129 * at(p, 1) + 25 * at(p, 2) + 128) >> 8);
        let mean = |c: usize| (at(0, c) + at(1, c) + 1) / 2;
        let (r, g, b) = (mean(0), mean(1), mean(2));
        let u = 128 + ((-38 * r - 74 * g + 112 * b + 128) >> 8);
        let v = 128 + ((112 * r - 94 * g - 18 * b + 128) >> 8);
        out.extend([luma(0), u, luma(1), v].map(|c| c.clamp(0, 255) as u8));
    }
}

fn decode_jpeg(mode: CameraMode, bytes: &[u8], rgb: &mut Vec<u8>) -> Result<(), String> {
    let (width, height) = (mode.width_px as usize, mode.height_px as usize);
    let whole = with_tables(bytes);
    let bytes = whole.as_deref().unwrap_or(bytes);
    // What says that it is larger than it should be gets no memory for that.
    let options = DecoderOptions::default()
        .set_max_width(width)
        .set_max_height(height)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| format!("no JPEG: {error}"))?;
    let size = decoder.dimensions();
    if size != Some((width, height)) {
        return Err(format!("a JPEG of {size:?}, not {width}x{height}"));
    }
    rgb.resize(3 * width * height, 0);
    decoder.decode_into(rgb).map_err(|error| format!("a damaged JPEG: {error}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mode(format: PixelFormat, width_px: u32, height_px: u32) -> CameraMode {
        CameraMode { format, width_px, height_px, hz: 30.0 }
    }

    /// A picture of soft colours, and its JPEG.
    fn soft(width: usize, height: usize) -> (Vec<u8>, Vec<u8>) {
        let pixel = |at: usize| {
            let (x, y) = (at % width, at / width);
            [(x * 255 / width) as u8, (y * 255 / height) as u8, 120]
        };
        let rgb: Vec<u8> = (0..width * height).flat_map(pixel).collect();
        let mut jpeg = Vec::new();
        let encoder = jpeg_encoder::Encoder::new(&mut jpeg, 95);
        encoder.encode(&rgb, width as u16, height as u16, jpeg_encoder::ColorType::Rgb).unwrap();
        (rgb, jpeg)
    }

    fn worst(a: &[u8], b: &[u8]) -> u8 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap()
    }

    #[test]
    fn jpegs_and_pairs_of_pixels_come_back() {
        let (rgb, jpeg) = soft(64, 48);
        let mut back = Vec::new();
        decode_rgb8(mode(PixelFormat::Mjpeg, 64, 48), &jpeg, &mut back).unwrap();
        assert!(worst(&rgb, &back) < 20, "{}", worst(&rgb, &back));
        let mut yuyv = Vec::new();
        encode_yuyv(&rgb, &mut yuyv);
        decode_rgb8(mode(PixelFormat::Yuyv, 64, 48), &yuyv, &mut back).unwrap();
        assert!(worst(&rgb, &back) < 8, "{}", worst(&rgb, &back));
        let white = rgb_of(235, 128, 128);
        assert_eq!((white, rgb_of(16, 128, 128)), ([255; 3], [0; 3]));
        decode_rgb8(mode(PixelFormat::Bgr8, 1, 1), &[1, 2, 3], &mut back).unwrap();
        assert_eq!(back, [3, 2, 1]);
    }

    /// As webcams write them: without the tables that every decoder knows.
    #[test]
    fn jpegs_of_webcams_have_no_tables() {
        let (rgb, jpeg) = soft(64, 48);
        let mut bare = jpeg[..2].to_vec();
        let mut at = 2;
        while jpeg[at + 1] != 0xDA {
            let length = 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
            if jpeg[at + 1] != 0xC4 {
                bare.extend_from_slice(&jpeg[at..at + length]);
            }
            at += length;
        }
        bare.extend_from_slice(&jpeg[at..]);
        assert!(bare.len() < jpeg.len() - 300);
        let mut back = Vec::new();
        decode_rgb8(mode(PixelFormat::Mjpeg, 64, 48), &bare, &mut back).unwrap();
        assert!(worst(&rgb, &back) < 20);
    }

    #[test]
    fn what_is_too_short_or_of_another_size_is_refused() {
        let (_, jpeg) = soft(64, 48);
        let mut rgb = Vec::new();
        let other = decode_rgb8(mode(PixelFormat::Mjpeg, 32, 48), &jpeg, &mut rgb);
        assert!(other.is_err(), "{other:?}");
        assert!(decode_rgb8(mode(PixelFormat::Yuyv, 64, 48), &[0; 64], &mut rgb).is_err());
        assert!(decode_rgb8(mode(PixelFormat::Mjpeg, 64, 48), b"no picture", &mut rgb).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// Damaged pictures are pictures or errors, and nothing worse.
        #[test]
        fn damaged_jpegs_do_no_harm(
            cut in 0_usize..3000, changes in prop::collection::vec((0_usize..3000, any::<u8>()), 0..8),
        ) {
            let (_, mut jpeg) = soft(32, 24);
            for (at, byte) in changes {
                let at = at % jpeg.len();
                jpeg[at] = byte;
            }
            jpeg.truncate(cut.max(4));
            let mut rgb = Vec::new();
            if decode_rgb8(mode(PixelFormat::Mjpeg, 32, 24), &jpeg, &mut rgb).is_ok() {
                prop_assert_eq!(rgb.len(), 32 * 24 * 3);
            }
        }
    }
}
