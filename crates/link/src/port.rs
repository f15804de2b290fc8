//! A wire that bytes go over, and the serial ports of this machine.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::termios::{OptionalActions, QueueSelector, tcflush, tcgetattr, tcsetattr};

use crate::error::LinkError;

/// Something that carries bytes both ways.
pub trait Port: Send {
    /// For messages: a path.
    fn name(&self) -> String;
    /// Sends all of it.
    ///
    /// # Errors
    /// When the other side is gone.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Waits for bytes, at most so long; 0 when none came.
    ///
    /// # Errors
    /// When the other side is gone.
    fn receive(&mut self, into: &mut [u8], wait: Duration) -> io::Result<usize>;
    /// Forgets what has come and was not read.
    ///
    /// # Errors
    /// When the other side is gone.
    fn discard_input(&mut self) -> io::Result<()>;
}

/// A serial port, raw, of which we are the only owner.
#[derive(Debug)]
pub struct SerialPort {
    file: File,
    path: PathBuf,
}

impl SerialPort {
    /// Opens it at a speed in bits per second.
    ///
    /// # Errors
    /// When it is not there, may not be opened, is somebody else's, or cannot go at that speed;
    /// with what helps.
    pub fn open(path: &Path, baud: u32) -> Result<Self, LinkError> {
        let cannot =
            |reason: String| LinkError::CannotOpen { port: path.display().to_string(), reason };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags((OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32)
            .open(path)
            .map_err(|error| cannot(cure(&error)))?;
        let mut settings =
            tcgetattr(&file).map_err(|error| cannot(format!("no serial port ({error})")))?;
        // Ours keep each other out by a lock; others, who take none, are looked for.
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| cannot("another citrange has it: stop that one first".into()))?;
        if let Some(other) = holder(path) {
            return Err(cannot(format!("{other} has it open: stop that first")));
        }
        settings.make_raw();
        settings
            .set_speed(baud)
            .map_err(|error| cannot(format!("cannot go at {baud} baud ({error})")))?;
        tcsetattr(&file, OptionalActions::Now, &settings)
            .map_err(|error| cannot(format!("cannot go at {baud} baud ({error})")))?;
        Ok(Self { file, path: path.to_owned() })
    }

    fn wait(&self, flags: PollFlags, wait: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(wait).ok();
        let mut fds = [PollFd::new(&self.file, flags)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(false),
            Ok(_) if fds[0].revents().intersects(flags) => Ok(true),
            Ok(_) => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the other side hung up")),
            Err(error) => Err(error.into()),
        }
    }
}

impl Port for SerialPort {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        // A port that takes nothing for so long is stuck.
        const STUCK: Duration = Duration::from_millis(100);
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.wait(PollFlags::OUT, STUCK)? {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self, into: &mut [u8], wait: Duration) -> io::Result<usize> {
        if !self.wait(PollFlags::IN, wait)? {
            return Ok(0);
        }
        match self.file.read(into) {
            // Readable and at its end: unplugged.
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => Ok(count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn discard_input(&mut self) -> io::Result<()> {
        Ok(tcflush(&self.file, QueueSelector::IFlush)?)
    }
}

fn cure(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            let ports = serial_ports();
            let names: Vec<String> = ports.iter().map(|path| path.display().to_string()).collect();
            match names.is_empty() {
                true => "is not there, and no serial port is: plug the adapter in".to_owned(),
                false => format!("is not there; there are {}", names.join(", ")),
            }
        }
        io::ErrorKind::PermissionDenied => "permission denied: sudo usermod -aG dialout $USER, \
             then log out and in again (or once: sudo chmod a+rw of this port)"
            .to_owned(),
        _ => error.to_string(),
    }
}

/// Serial ports, each by the name that stays the same when it is plugged in again, where it has
/// one.
#[must_use]
pub fn serial_ports() -> Vec<PathBuf> {
    let entries = |folder: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let mut ports = entries("/dev/serial/by-id");
    let known: Vec<PathBuf> = ports.iter().flat_map(std::fs::canonicalize).collect();
    let is_usb = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("ttyACM") || name.starts_with("ttyUSB")
    };
    ports.extend(entries("/dev").into_iter().filter(is_usb).filter(|path| !known.contains(path)));
    ports
}

/// Another process that has the port open: `python3 lerobot-record (process 4711)`. The far end of
/// a pseudo-terminal is nobody's rival.
fn holder(path: &Path) -> Option<String> {
    let path = std::fs::canonicalize(path).ok()?;
    if path.starts_with("/dev/pts") {
        return None;
    }
    let own = std::process::id();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let files = std::fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten();
        let mut targets = files.flat_map(|file| std::fs::read_link(file.path()));
        if pid != own && targets.any(|target| target == path) {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&line).replace('\0', " ");
            let words: String = words.trim().chars().take(80).collect();
            return Some(format!("{words} (process {pid})"));
        }
    }
    None
}
