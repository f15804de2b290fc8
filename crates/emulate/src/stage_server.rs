//! The socket on which a stage is seen: `citrange_link::emulated` has the words.

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::thread::JoinHandle;
use std::time::Duration;

use citrange_link::camera::{CameraMode, CameraWish, PixelFormat, choose_mode, encode_yuyv};
use citrange_link::emulated::{PictureHead, monotonic_ns};
use jpeg_encoder::{ColorType, Encoder};

use crate::stage::{CameraFault, Stage};

/// How often whether it is over is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How often it is said where things are.
const THINGS_EVERY: Duration = Duration::from_millis(16);
/// Quality of pictures as webcams have it.
const QUALITY: u8 = 90;
/// Rates that the cameras can do.
const RATES_HZ: [f64; 5] = [30.0, 25.0, 15.0, 10.0, 5.0];

/// A server, until it is dropped.
#[derive(Debug)]
pub(crate) struct StageServer {
    path: PathBuf,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StageServer {
    /// Listens on a new socket, for this user alone; one that a dead process left is replaced.
    pub(crate) fn start(path: &Path, stage: &Arc<Stage>) -> io::Result<Self> {
        if path.exists() {
            if UnixStream::connect(path).is_ok() {
                return Err(io::Error::new(
                    io::ErrorKind::AddrInUse,
                    "another stand-in listens there",
                ));
            }
            use std::os::unix::fs::FileTypeExt as _;
            if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    "is there, and no socket",
                ));
            }
            std::fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, stage) = (is_over.clone(), stage.clone());
        let listen = move || {
            while !over.load(Ordering::Relaxed) {
                let Ok((stream, _)) = listener.accept() else {
                    std::thread::sleep(LOOK);
                    continue;
                };
                let one = Connection { stream, stage: stage.clone(), is_over: over.clone() };
                let serve = move || {
                    let _whoever_asked_is_gone = one.serve();
                };
                let _no_thread_no_answer =
                    std::thread::Builder::new().name("stage".into()).spawn(serve);
            }
        };
        let thread = std::thread::Builder::new().name("stages".into()).spawn(listen)?;
        Ok(Self { path: path.to_owned(), is_over, thread: Some(thread) })
    }
}

impl Drop for StageServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
        let _gone_already = std::fs::remove_file(&self.path);
    }
}

struct Connection {
    stream: UnixStream,
    stage: Arc<Stage>,
    is_over: Arc<AtomicBool>,
}

impl Connection {
    fn serve(mut self) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_write_timeout(Some(Duration::from_secs(5)))?;
        self.stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let mut line = Vec::new();
        let mut byte = [0];
        while line.len() < 256 {
            if self.stream.read(&mut byte)? == 0 || byte[0] == b'\n' {
                break;
            }
            line.push(byte[0]);
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["things"] => self.things(),
            ["camera", name, format, size, hz] => match self.mode(name, format, size, hz) {
                Ok((camera, mode)) => self.pictures(camera, mode),
                Err(reason) => writeln!(self.stream, "no {reason}"),
            },
            _ => writeln!(self.stream, "no \"{line}\" is nothing that can be asked for"),
        }
    }

    /// Which camera, and how: what it cannot do is refused.
    fn mode(
        &self,
        name: &str,
        format: &str,
        size: &str,
        hz: &str,
    ) -> Result<(usize, CameraMode), String> {
        let cameras = self.stage.cameras();
        let camera = cameras.iter().position(|camera| camera.name == *name).ok_or_else(|| {
            let names: Vec<&str> = cameras.iter().map(|camera| camera.name.as_str()).collect();
            format!("there is no camera {name}; there are: {}", names.join(", "))
        })?;
        if self.stage.fault(name) == CameraFault::Gone {
            return Err("it is unplugged".to_owned());
        }
        let (width_px, height_px) = (cameras[camera].width_px, cameras[camera].height_px);
        let formats = [PixelFormat::Mjpeg, PixelFormat::Yuyv];
        let formats =
            formats.into_iter().filter(|f| format == "-" || format.as_bytes() == f.fourcc());
        let modes: Vec<CameraMode> = formats
            .flat_map(|format| RATES_HZ.map(|hz| CameraMode { format, width_px, height_px, hz }))
            .collect();
        let number = |text: &str| text.parse::<f64>().ok();
        let size_px =
            size.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
        let wish = CameraWish { size_px, hz: number(hz) };
        Ok((camera, choose_mode(&modes, wish)?))
    }

    fn pictures(&mut self, camera: usize, mode: CameraMode) -> io::Result<()> {
        let CameraMode { format, width_px, height_px, hz } = mode;
        let letters = String::from_utf8_lossy(&format.fourcc()).into_owned();
        writeln!(self.stream, "ok {letters} {width_px} {height_px} {hz}")?;
        let name = self.stage.cameras()[camera].name.clone();
        let pictures = self.stage.watch(camera, hz);
        let (mut rgb, mut bytes, mut count) = (Vec::new(), Vec::new(), 0_usize);
        while !self.is_over.load(Ordering::Relaxed) {
            let fault = self.stage.fault(&name);
            if fault == CameraFault::Gone {
                return Ok(());
            }
            let (picture, at_ns) = match pictures.recv_timeout(LOOK) {
                Ok(taken) => taken,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            count += 1;
            let is_left_out = match fault {
                CameraFault::Hang => true,
                CameraFault::Slow => !count.is_multiple_of(3),
                _ => false,
            };
            // One that could not be drawn never was.
            let Ok(pixels) = picture.pixels() else { continue };
            if is_left_out {
                continue;
            }
            if fault != CameraFault::Freeze || bytes.is_empty() {
                rgb.clear();
                match fault {
                    CameraFault::Black => rgb.resize(pixels.len(), 0),
                    _ => rgb.extend_from_slice(pixels),
                }
                sensor_noise(&mut rgb, width_px as usize, count);
                code(&rgb, mode, &mut bytes)?;
            }
            // A frozen camera goes on to say that its picture is new.
            let at_ns = if fault == CameraFault::Freeze { monotonic_ns() } else { at_ns };
            let head = PictureHead { format, bytes: bytes.len() as u32, at_ns };
            self.stream.write_all(&head.encode())?;
            self.stream.write_all(&bytes)?;
        }
        Ok(())
    }

    /// Says where things are, and lays them out when asked to.
    fn things(&mut self) -> io::Result<()> {
        self.stream.set_read_timeout(Some(THINGS_EVERY))?;
        let (mut heard, mut bytes) = (Vec::new(), [0; 256]);
        while !self.is_over.load(Ordering::Relaxed) {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Ok(()),
                Ok(count) => heard.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            while let Some(end) = heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = heard.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line).into_owned();
                let words: Vec<&str> = line.split_whitespace().collect();
                if let ["reset", seed, episode] = words.as_slice()
                    && let (Ok(seed), Ok(episode)) = (seed.parse(), episode.parse())
                {
                    self.stage.order(seed, episode);
                }
            }
            if heard.len() > 4096 {
                return Err(io::ErrorKind::InvalidData.into());
            }
            serde_json::to_writer(&mut self.stream, &self.stage.things())?;
            self.stream.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// No two pictures of a camera are the same: a block of them, another one each time, is a little
/// brighter.
fn sensor_noise(rgb: &mut [u8], width: usize, count: usize) {
    const BLOCK: usize = 8;
    let columns = (width / BLOCK).max(1);
    let rows = (rgb.len() / 3 / width.max(1) / BLOCK).max(1);
    let (column, row) = (count % columns, count / columns % rows);
    for y in 0..BLOCK {
        let from = 3 * ((row * BLOCK + y) * width + column * BLOCK);
        for byte in rgb.iter_mut().skip(from).take(3 * BLOCK) {
            *byte = byte.saturating_add(3);
        }
    }
}

fn code(rgb: &[u8], mode: CameraMode, bytes: &mut Vec<u8>) -> io::Result<()> {
    if mode.format == PixelFormat::Yuyv {
        encode_yuyv(rgb, bytes);
        return Ok(());
    }
    bytes.clear();
    let (width, height) = (mode.width_px as u16, mode.height_px as u16);
    let encoder = Encoder::new(&mut *bytes, QUALITY);
    encoder.encode(rgb, width, height, ColorType::Rgb).map_err(io::Error::other)
}
