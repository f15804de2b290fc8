//! How a stand-in for hardware is spoken to beside its bus: pictures of its scene, and where its
//! things are. A socket of the file system; a line says what is wanted:
//!
//! | line | answer |
//! |---|---|
//! | `camera NAME FORMAT WIDTHxHEIGHT HZ`, each but the name `-` where any will do | a line `ok FORMAT WIDTH HEIGHT HZ`, then pictures: [`PictureHead`], bytes; or `no REASON` |
//! | `things` | a line of JSON ([`ThingsSeen`]) many times a second; `reset SEED EPISODE` lays them out anew |
//!
//! Times are those of the machine's monotonic clock, in nanoseconds.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use citrange_core::{ObjectSeen, Pose};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::camera::PixelFormat;
use crate::error::LinkError;

/// The most bytes of a picture.
pub const MOST_BYTES: usize = 32 << 20;

/// Now, by the clock that both sides have.
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// When it was by our own clock.
pub(crate) fn instant_of(monotonic: u64) -> Instant {
    let age = Duration::from_nanos(monotonic_ns().saturating_sub(monotonic));
    let now = Instant::now();
    now.checked_sub(age).unwrap_or(now)
}

/// What stands before the bytes of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureHead {
    /// How its pixels come.
    pub format: PixelFormat,
    /// How many bytes follow.
    pub bytes: u32,
    /// When it was taken.
    pub at_ns: u64,
}

impl PictureHead {
    /// Its length on the wire.
    pub const BYTES: usize = 20;
    const MAGIC: [u8; 4] = *b"CIPI";

    /// As bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        out[..4].copy_from_slice(&Self::MAGIC);
        out[4..8].copy_from_slice(&self.format.fourcc());
        out[8..12].copy_from_slice(&self.bytes.to_le_bytes());
        out[12..].copy_from_slice(&self.at_ns.to_le_bytes());
        out
    }

    /// From bytes; none when it is no such head.
    #[must_use]
    pub fn decode(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let four = |at: usize| bytes.get(at..)?.first_chunk::<4>().copied();
        let format = PixelFormat::of(four(4)?)?;
        let count = u32::from_le_bytes(four(8)?);
        let at_ns = u64::from_le_bytes(*bytes.get(12..)?.first_chunk()?);
        let is_one = four(0)? == Self::MAGIC && count as usize <= MOST_BYTES;
        is_one.then_some(Self { format, bytes: count, at_ns })
    }
}

/// Where a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThingSeen {
    /// Where.
    pub pos_m: [f64; 3],
    /// How it is turned.
    pub quat_wxyz: [f64; 4],
    /// How fast it moves.
    pub lin_vel_m_s: [f64; 3],
}

/// Where all things are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThingsSeen {
    /// When.
    pub at_ns: u64,
    /// How often they were laid out anew.
    pub laid_out: u64,
    /// Why they could not be, the last time.
    pub problem: Option<String>,
    /// By name.
    pub things: BTreeMap<String, ThingSeen>,
}

/// A connection on which something was asked for; waits for answers so long.
pub(crate) fn ask(socket: &Path, line: &str) -> Result<UnixStream, LinkError> {
    let failed = |cause: io::Error| LinkError::CannotOpen {
        port: socket.display().to_string(),
        reason: match cause.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                "no stand-in listens there: citrange rig emulate so101 --socket PATH".to_owned()
            }
            _ => cause.to_string(),
        },
    };
    let mut stream = UnixStream::connect(socket).map_err(failed)?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).map_err(failed)?;
    stream.set_write_timeout(Some(Duration::from_secs(5))).map_err(failed)?;
    stream.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
    Ok(stream)
}

/// A line of an answer, byte by byte: what follows it is not ours to take.
pub(crate) fn answer_line(stream: &mut UnixStream) -> io::Result<String> {
    const MOST: usize = 4096;
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < MOST {
        if stream.read(&mut byte)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if byte[0] == b'\n' {
            break;
        }
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Things that a stand-in says where they are.
pub struct EmulatedThings {
    orders: UnixStream,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for EmulatedThings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmulatedThings").finish_non_exhaustive()
    }
}

struct Shared {
    newest: Mutex<Option<(ThingsSeen, Instant)>>,
    changed: Condvar,
    is_gone: AtomicBool,
}

/// Age at which things count as not seen.
const OLD: Duration = Duration::from_millis(300);
/// How long a stand-in may take to lay things out.
const LAYS_OUT_WITHIN: Duration = Duration::from_secs(20);

impl EmulatedThings {
    /// Asks the stand-in behind a socket.
    ///
    /// # Errors
    /// When nobody listens there, or nothing is heard of it.
    pub fn open(socket: &Path) -> Result<Self, LinkError> {
        let orders = ask(socket, "things")?;
        let failed = |cause: io::Error| LinkError::Io { path: socket.display().to_string(), cause };
        let lines = BufReader::new(orders.try_clone().map_err(failed)?);
        let shared = Arc::new(Shared {
            newest: Mutex::default(),
            changed: Condvar::new(),
            is_gone: AtomicBool::new(false),
        });
        let told = shared.clone();
        std::thread::Builder::new()
            .name("things".into())
            .spawn(move || {
                for line in lines.lines().map_while(Result::ok) {
                    if let Ok(seen) = serde_json::from_str::<ThingsSeen>(&line) {
                        let at = instant_of(seen.at_ns);
                        let newest = told.newest.lock();
                        *newest.unwrap_or_else(PoisonError::into_inner) = Some((seen, at));
                        told.changed.notify_all();
                    }
                }
                told.is_gone.store(true, Ordering::Relaxed);
                told.changed.notify_all();
            })
            .map_err(failed)?;
        let own = Self { orders, shared };
        own.wait(|_| true)?;
        Ok(own)
    }

    /// Waits until something is so.
    fn wait(&self, is: impl Fn(&ThingsSeen) -> bool) -> Result<ThingsSeen, LinkError> {
        let newest = self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |newest: &mut Option<(ThingsSeen, Instant)>| {
            let is_gone = self.shared.is_gone.load(Ordering::Relaxed);
            !is_gone && !newest.as_ref().is_some_and(|(seen, _)| is(seen))
        };
        let waited = self.shared.changed.wait_timeout_while(newest, LAYS_OUT_WITHIN, waits);
        let (newest, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match newest.as_ref().filter(|(seen, _)| is(seen)) {
            Some((seen, _)) => Ok(seen.clone()),
            None => {
                let why = "nothing is heard of its things: is the stand-in still there?";
                Err(LinkError::NotReady { why: why.to_owned() })
            }
        }
    }

    /// Lays the things out as an episode of a run begins; the arm stays where it is.
    ///
    /// # Errors
    /// When it could not be done.
    pub fn lay_out(&mut self, seed: u64, episode: u64) -> Result<(), LinkError> {
        let before = self.wait(|_| true)?.laid_out;
        let sent = self.orders.write_all(format!("reset {seed} {episode}\n").as_bytes());
        sent.map_err(|cause| LinkError::PortGone { port: "the stand-in".to_owned(), cause })?;
        let seen = self.wait(|seen| seen.laid_out > before)?;
        match seen.problem {
            Some(reason) => Err(LinkError::bad("the stand-in's things", reason)),
            None => Ok(()),
        }
    }

    /// Where these things are, as far as they are seen; none when the last news is old.
    pub fn see<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        objects: &mut Vec<Option<ObjectSeen>>,
    ) {
        let newest = self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = newest.as_ref().filter(|(_, at)| at.elapsed() < OLD);
        objects.clear();
        objects.extend(names.map(|name| {
            let ThingSeen { pos_m, quat_wxyz, lin_vel_m_s } = *newest?.0.things.get(name)?;
            Some(ObjectSeen { pose: Pose { pos_m, quat_wxyz }, lin_vel_m_s, touch_n: None })
        }));
    }

    /// Why nothing is seen, while it is so.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let newest = self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let age = newest.as_ref().map_or(OLD, |(_, at)| at.elapsed());
        (age >= OLD).then(|| format!("nothing heard of its things for {:.1} s", age.as_secs_f64()))
    }
}

impl Drop for EmulatedThings {
    fn drop(&mut self) {
        // The thread that reads ends with it.
        let _closed_already = self.orders.shutdown(std::net::Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_back_and_others_are_none() {
        let head = PictureHead { format: PixelFormat::Mjpeg, bytes: 777, at_ns: 1 << 40 };
        let mut bytes = head.encode();
        assert_eq!(PictureHead::decode(&bytes), Some(head));
        bytes[11] = 0xFF;
        assert_eq!(PictureHead::decode(&bytes), None, "more than any picture has");
        assert_eq!(PictureHead::decode(&[7; 20]), None);
        let now = instant_of(monotonic_ns());
        assert!(now.elapsed() < Duration::from_secs(5));
    }
}
