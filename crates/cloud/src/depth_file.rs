//! Depth pictures in files: 16-bit PNG, and depths in `.npz`. The camera's intrinsics stand beside.

use std::io::Cursor;

use super::contents::Contents;
use crate::cloud::Cloud;
use crate::depth::{DepthImage, Depths};
use crate::error::CloudError;
use crate::pixel_order::CameraModel;

/// Metres of a whole number, as most cameras write them.
pub(super) const MILLIMETRE_M: f64 = 0.001;
/// A decoded picture has at most so many bytes: 4096 x 4096 pixels of 16 bits.
const MOST_BYTES: usize = 1 << 25;

/// Numbers of a depth picture, row by row.
pub(super) enum DepthNumbers {
    /// Whole numbers; 0 where nothing was seen.
    Whole(Vec<u16>),
    /// Metres.
    Metres(Vec<f32>),
}

/// What says where the points of a depth picture are.
#[derive(Clone, Copy, Debug)]
pub(super) struct DepthCamera<'a> {
    /// How the camera sees, if anybody says so.
    pub(super) model: Option<&'a CameraModel>,
    /// Metres of a whole number.
    pub(super) scale_m: f64,
}

/// A PNG of depths.
///
/// # Errors
/// When it is no grey picture of 16 bits, or nobody says how the camera sees.
pub(super) fn read_png(
    file: &str,
    bytes: &[u8],
    camera: DepthCamera<'_>,
) -> Result<Contents, CloudError> {
    let bad = |reason: String| CloudError::bad(file, reason);
    let broken = |e: png::DecodingError| CloudError::bad(file, format!("is no PNG: {e}"));
    let limits = png::Limits { bytes: MOST_BYTES };
    let mut reader =
        png::Decoder::new_with_limits(Cursor::new(bytes), limits).read_info().map_err(broken)?;
    let (color, depth) = reader.output_color_type();
    if (color, depth) != (png::ColorType::Grayscale, png::BitDepth::Sixteen) {
        return Err(bad(format!("is a PNG of {color:?} {depth:?}, depths are grey with 16 bits")));
    }
    let size = reader.output_buffer_size().filter(|size| *size <= MOST_BYTES);
    let size = size.ok_or_else(|| bad("is larger than 4096 x 4096 pixels".to_owned()))?;
    let mut numbers = vec![0; size];
    let info = reader.next_frame(&mut numbers).map_err(broken)?;
    let (width, height) = (info.width as usize, info.height as usize);
    let whole = numbers.as_chunks::<2>().0.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
    points(file, [width, height], &DepthNumbers::Whole(whole), camera)
}

/// The points of a depth picture.
///
/// # Errors
/// When nobody says how the camera sees, or sizes do not fit.
pub(super) fn points(
    file: &str,
    [width, height]: [usize; 2],
    numbers: &DepthNumbers,
    camera: DepthCamera<'_>,
) -> Result<Contents, CloudError> {
    let DepthCamera { model, scale_m } = camera;
    let model = model.ok_or_else(|| {
        let reason = "holds depths, and nobody says how the camera sees: give pinhole in the \
                      config, or fx, fy, cx, cy in a JSON file of the same name";
        CloudError::bad(file, reason)
    })?;
    if let Some([w, h]) = model.size_px.filter(|size| *size != [width, height]) {
        let reason = format!("has {width} x {height} pixels, the camera {w} x {h}");
        return Err(CloudError::bad(file, reason));
    }
    let depths = match numbers {
        DepthNumbers::Whole(data) => Depths::U16 { data, scale_m: scale_m as f32 },
        DepthNumbers::Metres(data) => Depths::Metres(data),
    };
    let pinhole = model.pinhole;
    let image =
        DepthImage { width, height, depths, pinhole, rgb: None, range_m: None, stamp_ns: 0 };
    let mut cloud = Cloud::of_points(&image.points()?);
    if !model.distortion.is_none() {
        straighten(&mut cloud, model);
    }
    Ok(Contents { cloud, labels: None, organised: height > 1 })
}

/// Moves points from the rays of a pinhole to those of a lens that bends them.
fn straighten(cloud: &mut Cloud, model: &CameraModel) {
    let p = &model.pinhole;
    let width = cloud.width;
    for (index, point) in cloud.xyz_m.iter_mut().enumerate().filter(|(_, p)| p[2].is_finite()) {
        let (column, row) = ((index % width) as f64, (index / width) as f64);
        let bent = [(column - p.cx) / p.fx, (row - p.cy) / p.fy];
        let z = f64::from(point[2]);
        *point = match model.distortion.straighten(bent) {
            Some([x, y]) => [x * z, y * z, z].map(|v| v as f32),
            None => [f32::NAN; 3],
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::Pinhole;
    use crate::distortion::Distortion;

    const SIZE: [usize; 2] = [40, 30];

    fn png_of(depths: &[u16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, SIZE[0] as u32, SIZE[1] as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Sixteen);
        let data: Vec<u8> = depths.iter().flat_map(|d| d.to_be_bytes()).collect();
        encoder.write_header().unwrap().write_image_data(&data).unwrap();
        bytes
    }

    fn model(coefficients: &[f64]) -> CameraModel {
        let pinhole = Pinhole { fx: 33.0, fy: 34.0, cx: 19.2, cy: 14.9 };
        let distortion = Distortion::new(coefficients).unwrap();
        CameraModel { pinhole, distortion, size_px: Some(SIZE) }
    }

    #[test]
    fn a_depth_png_becomes_points_on_the_rays_of_its_lens() {
        let depths: Vec<u16> =
            (0..SIZE[0] * SIZE[1]).map(|i| if i % 7 == 0 { 0 } else { 4000 + i as u16 }).collect();
        let bytes = png_of(&depths);
        for model in [model(&[]), model(&[0.1, -0.2, 0.001, 0.0, 0.0])] {
            let camera = DepthCamera { model: Some(&model), scale_m: 0.0001 };
            let cloud = read_png("d.png", &bytes, camera).unwrap().cloud;
            assert_eq!(cloud.width, SIZE[0]);
            for (i, point) in cloud.xyz_m.iter().enumerate() {
                assert_eq!(point[2].is_nan(), depths[i] == 0);
                if depths[i] > 0 {
                    assert!((point[2] - f32::from(depths[i]) * 1e-4).abs() < 1e-6);
                    let at = model.pixel(point.map(f64::from));
                    let pixel = [i % SIZE[0], i / SIZE[0]];
                    assert!((0..2).all(|a| (at[a] - pixel[a] as f64).abs() < 1e-3), "{at:?}");
                }
            }
        }
    }

    #[test]
    fn depths_without_a_camera_say_what_is_missing() {
        let bytes = png_of(&[7; 1200]);
        let unknown = DepthCamera { model: None, scale_m: MILLIMETRE_M };
        let error = read_png("d.png", &bytes, unknown).err().unwrap().to_string();
        assert!(error.contains("fx, fy, cx, cy"), "{error}");
        let model = CameraModel { size_px: Some([640, 480]), ..model(&[]) };
        let camera = DepthCamera { model: Some(&model), scale_m: MILLIMETRE_M };
        let error = read_png("d.png", &bytes, camera).err().unwrap().to_string();
        assert!(error.contains("40 x 30"), "{error}");
    }

    #[test]
    fn broken_pngs_are_refused() {
        let (bytes, model) = (png_of(&[7; 1200]), model(&[]));
        let camera = DepthCamera { model: Some(&model), scale_m: MILLIMETRE_M };
        for length in 0..bytes.len() {
            assert!(
                read_png("d.png", &bytes[..length], camera).is_err() || length + 16 > bytes.len()
            );
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x5a;
            // Whatever comes of it, it is an answer.
            let _ = read_png("d.png", &flipped, camera);
        }
    }
}
