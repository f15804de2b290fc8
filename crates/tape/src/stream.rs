//! Streams of pictures: what of a camera is kept, and how each picture becomes bytes. The one place
//! in this crate that knows the kinds of cameras.

use std::collections::BTreeMap;

use citrange_core::png::{self, PngEffort};
use citrange_core::rig::CameraSpec;
use citrange_core::{CameraImage, DepthPicture, Picture, PictureError};
use citrange_lerobot::ImageStats;
use citrange_video::{Encoder, EncoderSettings};
use serde::{Deserialize, Serialize};

use crate::error::TapeError;
use crate::header::TapeHeader;
use crate::record::kind;
use crate::recorder::RecordSettings;

/// How depths are kept: whole numbers of a unit, 0 where nothing was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DepthFormat {
    /// Metres of one unit. A depth is kept to half of it, and up to 65,535 of it; what is beyond
    /// counts as not measured.
    pub metres_per_unit: f64,
}

impl Default for DepthFormat {
    /// Millimetres, up to 65.5 m.
    fn default() -> Self {
        Self { metres_per_unit: 0.001 }
    }
}

impl DepthFormat {
    /// As it is kept.
    #[must_use]
    pub fn units(self, depth_m: f32) -> u16 {
        let units = (f64::from(depth_m) / self.metres_per_unit).round();
        // What is not a number is in no range.
        if (1.0..=65_535.0).contains(&units) { units as u16 } else { 0 }
    }

    /// Back to metres; not a number where nothing was measured.
    #[must_use]
    pub fn metres(self, units: u16) -> f32 {
        if units == 0 { f32::NAN } else { (f64::from(units) * self.metres_per_unit) as f32 }
    }
}

/// What a file of depths begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DepthHead {
    pub(crate) camera: String,
    pub(crate) width_px: u32,
    pub(crate) height_px: u32,
    pub(crate) metres_per_unit: f64,
    /// The frame of the tape with which it begins: other than 0 where a part was imported.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) first: usize,
}

fn is_zero(first: &usize) -> bool {
    *first == 0
}

/// How the pictures of a stream are kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Storage {
    /// H.264 video.
    Video(EncoderSettings),
    /// Every picture as PNG, without loss.
    Images,
    /// Depths as PNG of 16 bits.
    Depth(DepthHead),
}

/// One stream of pictures of a camera.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stream {
    /// The camera's name; its depths are `<name>.depth`.
    pub(crate) name: String,
    /// Place of the camera among those of the rig.
    camera: usize,
    pub(crate) width_px: u32,
    pub(crate) height_px: u32,
    storage: Storage,
}

/// Name of the stream of a camera's depths.
pub(crate) fn depth_stream(camera: &str) -> String {
    format!("{camera}.depth")
}

impl Stream {
    /// All that is kept of a rig: colours in the order of the cameras, then depths.
    pub(crate) fn all(
        header: &TapeHeader,
        settings: &RecordSettings,
    ) -> Result<Vec<Self>, TapeError> {
        let cameras = &header.rig.cameras;
        let (qp, gop) = (settings.video_qp, settings.video_gop);
        let fps = header.rig.rates.frame_hz;
        let mut all = Vec::new();
        for (camera, spec) in cameras.iter().enumerate().filter(|(_, spec)| spec.kind.has_rgb()) {
            let storage = match header.images.contains(&spec.name) {
                true => Storage::Images,
                false => Storage::Video(EncoderSettings { fps, qp, gop }),
            };
            let (width_px, height_px) = (spec.width_px, spec.height_px);
            all.push(Self { name: spec.name.clone(), camera, width_px, height_px, storage });
        }
        for (name, format) in &header.depth {
            let known = cameras.iter().enumerate().find(|(_, spec)| spec.name == *name);
            let Some((camera, spec)) = known.filter(|(_, spec)| spec.kind.has_depth()) else {
                return Err(TapeError::Missing(format!("camera {name} measures no depths")));
            };
            let (width_px, height_px) = (spec.width_px, spec.height_px);
            let metres_per_unit = format.metres_per_unit;
            if !(metres_per_unit.is_finite() && metres_per_unit > 0.0) {
                return Err(TapeError::Missing(format!(
                    "camera {name}: {metres_per_unit} m is no unit of depths"
                )));
            }
            let camera_name = name.clone();
            let head =
                DepthHead { camera: camera_name, width_px, height_px, metres_per_unit, first: 0 };
            let name = depth_stream(name);
            all.push(Self { name, camera, width_px, height_px, storage: Storage::Depth(head) });
        }
        Ok(all)
    }

    /// Its camera.
    pub(crate) fn spec<'h>(&self, header: &'h TapeHeader) -> &'h CameraSpec {
        &header.rig.cameras[self.camera]
    }

    /// What is kept of the images of a frame.
    ///
    /// # Errors
    /// When there is no picture of this stream.
    pub(crate) fn shot(&self, images: &[CameraImage]) -> Result<Shot, String> {
        let image = images.get(self.camera);
        let shot = image.and_then(|image| match &self.storage {
            _ if image.is_left_out() => Some(Shot::LeftOut),
            Storage::Depth(_) => image.depth.clone().map(Shot::Depth),
            Storage::Video(_) | Storage::Images => image.rgb.clone().map(Shot::Rgb),
        });
        shot.ok_or_else(|| {
            format!("{} images of the rig, and none for stream {}", images.len(), self.name)
        })
    }

    /// What turns its pictures into bytes. Made before an episode begins, so that a size that
    /// cannot be coded is refused.
    pub(crate) fn coder(&self) -> Result<Coder, TapeError> {
        let how = match &self.storage {
            Storage::Video(settings) => {
                let (width, height) = (self.width_px, self.height_px);
                PictureCoder::Video(Box::new(Encoder::new(width, height, *settings)?))
            }
            Storage::Images => PictureCoder::Images,
            Storage::Depth(head) => PictureCoder::Depth(head.clone()),
        };
        let (width, height) = (self.width_px as usize, self.height_px as usize);
        Ok(Coder { how, width, height, stats: ImageStats::new(), bytes: Vec::new() })
    }
}

/// A picture of a stream, perhaps still to be drawn.
#[derive(Clone)]
pub(crate) enum Shot {
    Rgb(Picture),
    Depth(DepthPicture),
    /// It was not made: drawing was too far behind.
    LeftOut,
}

/// Codes the pictures of a stream, one after the other.
pub(crate) struct Coder {
    how: PictureCoder,
    width: usize,
    height: usize,
    /// Of colours; depths have none.
    pub(crate) stats: ImageStats,
    /// The last coded picture.
    pub(crate) bytes: Vec<u8>,
}

enum PictureCoder {
    Video(Box<Encoder>),
    Images,
    Depth(DepthHead),
}

impl Coder {
    /// Codes a picture into [`Coder::bytes`]; answers whether it stands for itself. Waits until it
    /// is drawn.
    pub(crate) fn code(&mut self, shot: &Shot) -> Result<bool, CodeError> {
        match (&mut self.how, shot) {
            (PictureCoder::Video(encoder), Shot::Rgb(picture)) => {
                let rgb = picture.pixels()?;
                let sample = encoder.encode(rgb).map_err(TapeError::from)?;
                self.bytes.clear();
                self.bytes.extend_from_slice(sample.data);
                self.stats.add_rgb(rgb, self.width, self.height);
                Ok(sample.key)
            }
            (PictureCoder::Images, Shot::Rgb(picture)) => {
                let rgb = picture.pixels()?;
                self.bytes = png::encode(rgb, self.width, self.height, PngEffort::Fast)?;
                self.stats.add_rgb(rgb, self.width, self.height);
                Ok(true)
            }
            (PictureCoder::Depth(head), Shot::Depth(picture)) => {
                let format = DepthFormat { metres_per_unit: head.metres_per_unit };
                let units: Vec<u16> = picture.pixels()?.iter().map(|d| format.units(*d)).collect();
                self.bytes = png::encode_u16(&units, self.width, self.height, PngEffort::Fast)?;
                Ok(true)
            }
            (_, Shot::LeftOut) => Err(CodeError::Picture(PictureError::LeftOut)),
            _ => Err(CodeError::Tape(TapeError::Recording("a picture of another kind".into()))),
        }
    }

    /// The picture before once more, in the place of one that was lost.
    pub(crate) fn repeat(&mut self) -> Result<bool, TapeError> {
        match &mut self.how {
            PictureCoder::Video(encoder) => {
                let sample = encoder.repeat()?;
                self.bytes.clear();
                self.bytes.extend_from_slice(sample.data);
                Ok(sample.key)
            }
            // The bytes of the picture before are still there.
            PictureCoder::Images | PictureCoder::Depth(_) => Ok(true),
        }
    }

    /// The record with which a stream's log begins: what a decoder needs.
    pub(crate) fn head(&self) -> Result<(u8, Vec<u8>), TapeError> {
        Ok(match &self.how {
            PictureCoder::Video(encoder) => {
                (kind::CAMERA, encoder.avc_config().unwrap_or_default().to_vec())
            }
            PictureCoder::Images => (kind::CAMERA, Vec::new()),
            PictureCoder::Depth(head) => {
                let fail = |e| TapeError::Recording(format!("the head of depths: {e}"));
                (kind::BESIDE, serde_json::to_vec(head).map_err(fail)?)
            }
        })
    }
}

/// Why a picture could not be coded.
pub(crate) enum CodeError {
    /// It was never drawn.
    Picture(PictureError),
    /// Coding failed.
    Tape(TapeError),
}

impl From<PictureError> for CodeError {
    fn from(error: PictureError) -> Self {
        Self::Picture(error)
    }
}

impl From<TapeError> for CodeError {
    fn from(error: TapeError) -> Self {
        Self::Tape(error)
    }
}

impl From<png::PngError> for CodeError {
    fn from(error: png::PngError) -> Self {
        Self::Tape(TapeError::Recording(format!("a picture as PNG: {error}")))
    }
}

/// Depths of all cameras of a rig that measure them, in millimetres.
#[must_use]
pub fn all_depths(rig: &citrange_core::RigSpec) -> BTreeMap<String, DepthFormat> {
    let cameras = rig.cameras.iter().filter(|camera| camera.kind.has_depth());
    cameras.map(|camera| (camera.name.clone(), DepthFormat::default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_kept_to_half_a_unit_and_what_is_no_depth_is_none() {
        let mm = DepthFormat::default();
        for depth_m in [0.001_f32, 0.0456, 1.0, 2.5, 65.0] {
            let back = mm.metres(mm.units(depth_m));
            assert!((back - depth_m).abs() <= 0.000_501, "{depth_m} {back}");
            assert_eq!(mm.units(back), mm.units(depth_m), "twice is once");
        }
        for nothing in [0.0, -1.0, 0.0004, 65.6, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(mm.units(nothing), 0, "{nothing}");
        }
        assert!(mm.metres(0).is_nan());
        let tenth = DepthFormat { metres_per_unit: 0.0001 };
        assert!((tenth.metres(tenth.units(1.234_56)) - 1.234_56).abs() <= 0.000_051);
    }
}
