//! Codes pictures as JPEG, once for all viewers, on a thread of its own so that keys never wait
//! for a picture.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use citrange_core::Picture;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

use crate::server::Shared;
use crate::wire;
use citrange_teleop::telemetry::CameraInfo;

const QUALITY: u8 = 75;
/// How often to look whether somebody has come.
const IDLE: Duration = Duration::from_millis(100);

/// The newest picture message of every camera, with its frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pictures {
    pub(crate) cameras: Vec<Option<(u64, Bytes)>>,
}

/// Works until the server stops.
pub(crate) fn paint(shared: &Shared) {
    let period = Duration::from_secs_f64(1.0 / wire::MOST_PICTURE_HZ);
    let cameras = &shared.board.stage.cameras;
    let mut newest = Pictures { cameras: vec![None; cameras.len()] };
    let mut due = Instant::now();
    while !*shared.stop.borrow() {
        let watched = shared.board.is_watched() && !cameras.is_empty();
        let wait = if watched { due.saturating_duration_since(Instant::now()) } else { IDLE };
        if !wait.is_zero() {
            thread::park_timeout(wait);
            continue;
        }
        due = Instant::now() + period;
        if code_all(shared, &mut newest) {
            shared.pictures.send_replace(Arc::new(newest.clone()));
        }
    }
}

/// Codes what is new; whether anything was.
fn code_all(shared: &Shared, newest: &mut Pictures) -> bool {
    let (frame, pictures) = shared.board.read(|live| (live.picture_frame, live.pictures.clone()));
    let mut changed = false;
    for (index, camera) in shared.board.stage.cameras.iter().enumerate() {
        let Some(picture) = pictures.get(index) else { break };
        if newest.cameras[index].as_ref().is_some_and(|(last, _)| *last == frame) {
            continue;
        }
        let (Some(pixels), Ok(number)) = (pixels(picture), u16::try_from(index)) else { continue };
        if let Some(jpeg) = code(pixels, camera) {
            let message = wire::encode_picture(number, frame, &jpeg);
            newest.cameras[index] = Some((frame, Bytes::from(message)));
            changed = true;
        }
    }
    changed
}

/// The pixels, when they are there already.
fn pixels(picture: &Picture) -> Option<&[u8]> {
    picture.is_ready().then(|| picture.pixels().ok()).flatten()
}

/// A JPEG; `None` when the picture has not the size that the stage says.
fn code(rgb: &[u8], camera: &CameraInfo) -> Option<Vec<u8>> {
    let (width, height) =
        (u16::try_from(camera.width_px).ok()?, u16::try_from(camera.height_px).ok()?);
    let wanted = 3 * usize::from(width) * usize::from(height);
    if wanted == 0 || rgb.len() != wanted {
        return None;
    }
    let mut jpeg = Vec::with_capacity(wanted / 8);
    let mut encoder = Encoder::new(&mut jpeg, QUALITY);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder.encode(rgb, width, height, ColorType::Rgb).ok()?;
    Some(jpeg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera(width_px: u32, height_px: u32) -> CameraInfo {
        CameraInfo { name: "front".into(), width_px, height_px }
    }

    #[test]
    fn pictures_become_jpegs() {
        let rgb: Vec<u8> = (0..64 * 48 * 3).map(|i| (i / 192) as u8).collect();
        let jpeg = code(&rgb, &camera(64, 48)).unwrap();
        assert_eq!((&jpeg[..2], &jpeg[jpeg.len() - 2..]), (&[0xff, 0xd8][..], &[0xff, 0xd9][..]));
        // Height and width stand behind the frame marker.
        let at = jpeg.windows(2).position(|w| w == [0xff, 0xc0]).unwrap();
        assert_eq!(jpeg[at + 5..at + 9], [0, 48, 0, 64]);
    }

    #[test]
    fn wrong_sizes_are_left_out() {
        assert!(code(&[0; 11], &camera(2, 2)).is_none());
        assert!(code(&[], &camera(0, 0)).is_none());
        assert!(code(&[0; 3], &camera(70_000, 1)).is_none());
    }
}
