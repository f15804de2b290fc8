//! Webcams by Video4Linux: what they can do, and their pictures.

mod ioctl;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use super::{CameraMode, CameraSource, CameraWish, PixelFormat, RawPicture, choose_mode};
use crate::emulated::{instant_of, monotonic_ns};
use crate::error::LinkError;
use ioctl::{Buffer, Format, Fraction, Mapping};

/// Buffers that the driver fills in turn.
const BUFFERS: u32 = 4;
/// The most formats, sizes and rates that are asked for; no camera has so many.
const MOST: u32 = 256;

/// A webcam that takes pictures.
#[derive(Debug)]
pub struct V4l2Camera {
    file: File,
    path: PathBuf,
    mode: CameraMode,
    buffers: Vec<Mapping>,
}

impl V4l2Camera {
    /// Opens a webcam and begins to take pictures.
    ///
    /// # Errors
    /// When it is not there, may not be opened, is somebody else's, is no camera, or cannot do what
    /// is wished for; with what helps.
    pub fn open(path: &Path, wish: CameraWish) -> Result<Self, LinkError> {
        let cannot =
            |reason: String| LinkError::CannotOpen { port: path.display().to_string(), reason };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags((OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32)
            .open(path)
            .map_err(|error| cannot(cure(&error)))?;
        if !ioctl::can_stream(&file).map_err(|error| cannot(format!("no camera ({error})")))? {
            let reason = "gives no pictures: cameras have several devices, try the next one";
            return Err(cannot(reason.to_owned()));
        }
        let wanted = choose_mode(&modes(&file), wish).map_err(cannot)?;
        let failed = |error: io::Error| cannot(cure(&error));
        let format = Format {
            width: wanted.width_px,
            height: wanted.height_px,
            fourcc: wanted.format.fourcc(),
        };
        // The driver takes what is nearest; what it says is what comes.
        let has = ioctl::set_format(&file, format).map_err(failed)?;
        let rate = ioctl::set_interval(&file, interval(wanted.hz)).map_err(failed)?;
        let mode = CameraMode { hz: hz(rate).unwrap_or(wanted.hz), ..wanted };
        if has != format || (wish.hz.is_some() && (mode.hz - wanted.hz).abs() > 0.01) {
            let text = String::from_utf8_lossy(&has.fourcc).into_owned();
            return Err(cannot(format!(
                "asked for {wanted}, it takes {text} {}x{} at {:.3} Hz",
                has.width, has.height, mode.hz
            )));
        }
        let buffers = ioctl::map_buffers(&file, BUFFERS).map_err(failed)?;
        for index in 0..buffers.len() {
            ioctl::queue(&file, index as u32).map_err(failed)?;
        }
        ioctl::stream_on(&file).map_err(failed)?;
        Ok(Self { file, path: path.to_owned(), mode, buffers })
    }

    fn gone(&self, cause: io::Error) -> LinkError {
        LinkError::PortGone { port: self.path.display().to_string(), cause }
    }
}

impl CameraSource for V4l2Camera {
    fn mode(&self) -> CameraMode {
        self.mode
    }

    fn next(&mut self, wait: Duration, picture: &mut RawPicture) -> Result<bool, LinkError> {
        let timeout = Timespec::try_from(wait).ok();
        let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(false),
            Ok(_) if fds[0].revents().contains(PollFlags::IN) => {}
            Ok(_) => return Err(self.gone(io::ErrorKind::BrokenPipe.into())),
            Err(error) => return Err(self.gone(error.into())),
        }
        let mut has_one = false;
        // The newest of those that wait.
        loop {
            let buffer = match ioctl::dequeue(&self.file) {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(has_one),
                Err(error) => return Err(self.gone(error)),
            };
            if let Some(bytes) = self.taken(&buffer) {
                picture.bytes.clear();
                picture.bytes.extend_from_slice(bytes);
                picture.format = self.mode.format;
                picture.at = taken_at(&buffer);
                has_one = true;
            }
            ioctl::queue(&self.file, buffer.index).map_err(|error| self.gone(error))?;
        }
    }
}

impl V4l2Camera {
    /// The bytes of a buffer; none of one that was damaged on its way.
    fn taken(&self, buffer: &Buffer) -> Option<&[u8]> {
        let bytes = self.buffers.get(buffer.index as usize)?.bytes();
        let used = bytes.get(..buffer.used as usize)?;
        (!buffer.is_damaged && !used.is_empty()).then_some(used)
    }
}

impl Drop for V4l2Camera {
    fn drop(&mut self) {
        let _it_may_be_gone = ioctl::stream_off(&self.file);
    }
}

/// By the driver's clock where it is ours, else now.
fn taken_at(buffer: &Buffer) -> Instant {
    match buffer.monotonic_ns {
        Some(at) if at <= monotonic_ns() => instant_of(at),
        _ => Instant::now(),
    }
}

/// All that it can do of what we can read.
fn modes(file: &File) -> Vec<CameraMode> {
    let mut modes = Vec::new();
    for fourcc in (0..MOST).map_while(|index| ioctl::format_at(file, index)) {
        let Some(format) =
            PixelFormat::of(fourcc).filter(|f| matches!(f, PixelFormat::Mjpeg | PixelFormat::Yuyv))
        else {
            continue;
        };
        for [width_px, height_px] in (0..MOST).map_while(|i| ioctl::size_at(file, fourcc, i)) {
            let of = Format { width: width_px, height: height_px, fourcc };
            let rates = (0..MOST).map_while(|index| ioctl::interval_at(file, of, index));
            let rates: Vec<f64> = rates.filter_map(hz).collect();
            // A driver that does not tell its rates is asked for the usual one.
            let rates = if rates.is_empty() { vec![super::USUAL.1] } else { rates };
            modes.extend(rates.into_iter().map(|hz| CameraMode {
                format,
                width_px,
                height_px,
                hz,
            }));
        }
    }
    modes
}

fn hz(interval: Fraction) -> Option<f64> {
    let is_one = interval.numerator > 0 && interval.denominator > 0;
    is_one.then(|| f64::from(interval.denominator) / f64::from(interval.numerator))
}

/// Seconds from picture to picture, as a fraction.
fn interval(hz: f64) -> Fraction {
    let numerator = if hz.fract() == 0.0 { 1 } else { 1000 };
    Fraction { numerator, denominator: (hz * f64::from(numerator)).round() as u32 }
}

fn cure(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            let there = video_devices();
            let names: Vec<String> = there.iter().map(|path| path.display().to_string()).collect();
            match names.is_empty() {
                true => "is not there, and no camera is: plug it in".to_owned(),
                false => format!("is not there; there are {}", names.join(", ")),
            }
        }
        io::ErrorKind::PermissionDenied => {
            "permission denied: sudo usermod -aG video $USER, then log out and in again".to_owned()
        }
        io::ErrorKind::ResourceBusy => {
            "another program takes its pictures: stop that first".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Cameras, each by the name that stays the same when it is plugged in again, where it has one.
#[must_use]
pub fn video_devices() -> Vec<PathBuf> {
    let entries = |folder: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    // Devices beyond the first of a camera tell about it and give no pictures.
    let mut found = entries("/dev/v4l/by-id");
    found.retain(|path| path.to_string_lossy().ends_with("index0"));
    let known: Vec<PathBuf> =
        entries("/dev/v4l/by-id").iter().flat_map(std::fs::canonicalize).collect();
    let is_video = |path: &PathBuf| {
        path.file_name().unwrap_or_default().to_string_lossy().starts_with("video")
    };
    found.extend(entries("/dev").into_iter().filter(is_video).filter(|path| !known.contains(path)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_camera_is_said() {
        let open = |path: &str| {
            V4l2Camera::open(Path::new(path), CameraWish::default()).unwrap_err().to_string()
        };
        assert!(open("/dev/videoNONE7").contains("is not there"));
        assert!(open("/dev/null").contains("no camera"), "{}", open("/dev/null"));
    }

    #[test]
    fn rates_are_fractions_of_a_second() {
        assert_eq!(interval(30.0), Fraction { numerator: 1, denominator: 30 });
        assert_eq!(interval(7.5), Fraction { numerator: 1000, denominator: 7500 });
        assert_eq!(hz(Fraction { numerator: 0, denominator: 5 }), None);
        assert_eq!(hz(interval(7.5)), Some(7.5));
    }
}
