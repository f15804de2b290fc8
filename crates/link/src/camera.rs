//! Cameras: a source gives raw pictures with the time at which they were taken; a thread of its own
//! decodes the newest and tells what is wrong. Nobody who asks it waits for a camera.
//!
//! | to change | look in |
//! |---|---|
//! | which camera, as people write it | `address.rs` |
//! | the thread, what counts as trouble | `driver.rs` |
//! | bytes to colours | `decode.rs`; what webcams leave out of JPEGs `jpeg_tables.rs` |
//! | webcams | `v4l2.rs`; its system calls `v4l2/ioctl.rs` |
//! | the emulator's | `emulated.rs` |
//! | a topic of ROS 1 | `ros1.rs` |

mod address;
mod decode;
mod driver;
mod emulated;
mod jpeg_tables;
mod ros1;
mod v4l2;

use std::fmt;
use std::time::{Duration, Instant};

use crate::error::LinkError;

pub use address::{CameraAddress, CameraChoice};
pub use decode::{decode_rgb8, encode_yuyv};
pub use driver::{CameraCounts, CameraDriver, CameraSettings, CameraState, Reopen};
pub use emulated::EmulatedCamera;
pub use ros1::Ros1Camera;
pub use v4l2::{V4l2Camera, video_devices};

/// How pixels come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PixelFormat {
    /// A JPEG per picture.
    Mjpeg,
    /// Two pixels in four bytes: Y, U, Y, V; BT.601, 16 to 235.
    Yuyv,
    /// Three bytes per pixel: red, green, blue.
    Rgb8,
    /// Three bytes per pixel: blue, green, red.
    Bgr8,
}

impl PixelFormat {
    /// The four letters that it is known by.
    #[must_use]
    pub fn fourcc(self) -> [u8; 4] {
        match self {
            Self::Mjpeg => *b"MJPG",
            Self::Yuyv => *b"YUYV",
            Self::Rgb8 => *b"RGB3",
            Self::Bgr8 => *b"BGR3",
        }
    }

    /// The one of these letters.
    #[must_use]
    pub fn of(fourcc: [u8; 4]) -> Option<Self> {
        let all = [Self::Mjpeg, Self::Yuyv, Self::Rgb8, Self::Bgr8];
        all.into_iter().find(|format| format.fourcc() == fourcc)
    }
}

/// Size, rate and pixels of a camera's pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraMode {
    /// How pixels come.
    pub format: PixelFormat,
    /// Pixels across.
    pub width_px: u32,
    /// Pixels down.
    pub height_px: u32,
    /// Pictures per second.
    pub hz: f64,
}

impl fmt::Display for CameraMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = String::from_utf8_lossy(&self.format.fourcc()).into_owned();
        let hz = (self.hz * 1e3).round() / 1e3;
        write!(f, "{format} {}x{} at {hz} Hz", self.width_px, self.height_px)
    }
}

/// A picture as it comes from a camera. Buffers are used again.
#[derive(Clone, Debug)]
pub struct RawPicture {
    /// How its pixels come.
    pub format: PixelFormat,
    /// They.
    pub bytes: Vec<u8>,
    /// When it was taken.
    pub at: Instant,
}

impl Default for RawPicture {
    fn default() -> Self {
        Self { format: PixelFormat::Rgb8, bytes: Vec::new(), at: Instant::now() }
    }
}

/// Somebody who takes pictures.
pub trait CameraSource: Send {
    /// Size, rate and pixels of its pictures.
    fn mode(&self) -> CameraMode;

    /// Waits for a picture, at most so long; the newest that there is. False when none came.
    ///
    /// # Errors
    /// When the camera is gone.
    fn next(&mut self, wait: Duration, picture: &mut RawPicture) -> Result<bool, LinkError>;
}

/// What is wanted of a camera; what is not said is 640x480 at 30 pictures a second where it can.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CameraWish {
    /// Pixels across and down.
    pub size_px: Option<[u32; 2]>,
    /// Pictures per second.
    pub hz: Option<f64>,
}

/// What is taken where nothing is wished for.
const USUAL: ([u32; 2], f64) = ([640, 480], 30.0);
/// Rates are told apart this well: 29.97 is no 30.
const SAME_HZ: f64 = 0.01;

/// The mode that is wished for. JPEGs before bare pixels: they leave room on the cable.
///
/// # Errors
/// What the camera can do, where it cannot do what was asked for.
pub fn choose_mode(modes: &[CameraMode], wish: CameraWish) -> Result<CameraMode, String> {
    let fits = |mode: &&CameraMode| {
        wish.size_px.is_none_or(|size| size == [mode.width_px, mode.height_px])
            && wish.hz.is_none_or(|hz| (mode.hz - hz).abs() <= SAME_HZ)
    };
    let badness = |mode: &CameraMode| {
        let area = |[width, height]: [u32; 2]| f64::from(width) * f64::from(height);
        let size = (area([mode.width_px, mode.height_px]) / area(USUAL.0)).ln().abs();
        let rate = (mode.hz / USUAL.1).max(1e-9).ln().abs();
        (size, rate, mode.format)
    };
    let best = modes.iter().filter(fits).min_by(|a, b| {
        let (a, b) = (badness(a), badness(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    });
    best.copied().ok_or_else(|| {
        let mut can: Vec<String> = modes.iter().map(ToString::to_string).collect();
        can.dedup();
        let wanted = [
            wish.size_px.map(|[width, height]| format!("{width}x{height}")),
            wish.hz.map(|hz| format!("{hz} Hz")),
        ];
        let wanted: Vec<String> = wanted.into_iter().flatten().collect();
        match can.is_empty() {
            true => "it gives neither MJPG nor YUYV".to_owned(),
            false => format!("it cannot do {}; it can: {}", wanted.join(" at "), can.join(", ")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wished_for_is_taken_or_refused_with_what_there_is() {
        let mode = |format, width_px, height_px, hz| CameraMode { format, width_px, height_px, hz };
        let modes = [
            mode(PixelFormat::Yuyv, 640, 480, 30.0),
            mode(PixelFormat::Mjpeg, 640, 480, 30.0),
            mode(PixelFormat::Mjpeg, 1280, 720, 30.0),
            mode(PixelFormat::Yuyv, 1280, 720, 10.0),
        ];
        let pick = |size_px, hz| choose_mode(&modes, CameraWish { size_px, hz });
        assert_eq!(pick(None, None), Ok(modes[1]), "the usual size, packed");
        assert_eq!(pick(Some([1280, 720]), None), Ok(modes[2]));
        assert_eq!(pick(None, Some(10.0)), Ok(modes[3]));
        let refused = pick(Some([1280, 720]), Some(60.0)).unwrap_err();
        assert!(refused.starts_with("it cannot do 1280x720 at 60 Hz; it can: YUYV 640x480 at 30"));
        assert!(choose_mode(&[], CameraWish::default()).unwrap_err().contains("MJPG"));
    }
}
