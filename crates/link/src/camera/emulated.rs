//! A camera of a stand-in's scene: [`crate::emulated`] has the words.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{CameraMode, CameraSource, CameraWish, PixelFormat, RawPicture};
use crate::emulated::{PictureHead, answer_line, ask, instant_of};
use crate::error::LinkError;

/// A camera behind a socket.
#[derive(Debug)]
pub struct EmulatedCamera {
    stream: UnixStream,
    mode: CameraMode,
    name: String,
    /// What came of the next picture, its head included.
    half: Vec<u8>,
}

impl EmulatedCamera {
    /// Asks a stand-in for pictures of one of its cameras.
    ///
    /// # Errors
    /// When nobody listens there, or it cannot do what is wished for.
    pub fn open(socket: &Path, camera: &str, wish: CameraWish) -> Result<Self, LinkError> {
        let name = format!("emulated:{}:{camera}", socket.display());
        let size = wish.size_px.map_or("-".to_owned(), |[w, h]| format!("{w}x{h}"));
        let hz = wish.hz.map_or("-".to_owned(), |hz| hz.to_string());
        let mut stream = ask(socket, &format!("camera {camera} - {size} {hz}"))?;
        let said = answer_line(&mut stream)
            .map_err(|cause| LinkError::PortGone { port: name.clone(), cause })?;
        let refused =
            |reason: &str| LinkError::CannotOpen { port: name.clone(), reason: reason.to_owned() };
        if let Some(reason) = said.strip_prefix("no ") {
            return Err(refused(reason));
        }
        let words: Vec<&str> = said.split(' ').collect();
        let mode = match words.as_slice() {
            ["ok", format, width, height, hz] => (|| {
                let format = PixelFormat::of(format.as_bytes().try_into().ok()?)?;
                let (width_px, height_px) = (width.parse().ok()?, height.parse().ok()?);
                Some(CameraMode { format, width_px, height_px, hz: hz.parse().ok()? })
            })(),
            _ => None,
        };
        let mode = mode.ok_or_else(|| refused(&format!("it answers \"{said}\"")))?;
        Ok(Self { stream, mode, name, half: Vec::new() })
    }

    fn gone(&self, cause: io::Error) -> LinkError {
        LinkError::PortGone { port: self.name.clone(), cause }
    }

    /// Reads until so many bytes are there; false when the time is up.
    fn fill(&mut self, length: usize, end: Instant) -> Result<bool, LinkError> {
        let mut bytes = [0; 16 << 10];
        while self.half.len() < length {
            let left =
                end.saturating_duration_since(Instant::now()).max(Duration::from_micros(100));
            let want = bytes.len().min(length - self.half.len());
            let read = self.stream.set_read_timeout(Some(left));
            match read.and_then(|()| self.stream.read(&mut bytes[..want])) {
                Ok(0) => return Err(self.gone(io::ErrorKind::UnexpectedEof.into())),
                Ok(count) => self.half.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    if Instant::now() >= end {
                        return Ok(false);
                    }
                }
                Err(error) => return Err(self.gone(error)),
            }
        }
        Ok(true)
    }
}

impl CameraSource for EmulatedCamera {
    fn mode(&self) -> CameraMode {
        self.mode
    }

    fn next(&mut self, wait: Duration, picture: &mut RawPicture) -> Result<bool, LinkError> {
        let end = Instant::now() + wait;
        if !self.fill(PictureHead::BYTES, end)? {
            return Ok(false);
        }
        let head = self.half.first_chunk().and_then(PictureHead::decode);
        let Some(head) = head else {
            let cause = io::Error::new(io::ErrorKind::InvalidData, "no picture's head");
            return Err(self.gone(cause));
        };
        if !self.fill(PictureHead::BYTES + head.bytes as usize, end)? {
            return Ok(false);
        }
        picture.format = head.format;
        picture.bytes.clear();
        picture.bytes.extend_from_slice(&self.half[PictureHead::BYTES..]);
        picture.at = instant_of(head.at_ns);
        self.half.clear();
        Ok(true)
    }
}
