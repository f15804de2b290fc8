//! The thread of a camera: keeps the newest picture, and knows when there is none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use citrange_core::picture::PicturePool;
use citrange_core::{Picture, rig::CameraSpec};

use super::{CameraMode, CameraSource, RawPicture, decode_rgb8};
use crate::error::LinkError;

/// How long a picture is waited for at once.
const WAIT: Duration = Duration::from_millis(50);
/// How often a lost camera is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Periods without a picture that are a stall, however slow the camera is.
const STALL_PERIODS: f64 = 2.5;
/// Bytes between two that are looked at when a picture is judged.
const SPARSE: usize = 97;

/// What counts as trouble.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraSettings {
    /// Time without a picture, or with the same one again and again, that counts as a stall.
    pub stall_s: f64,
    /// Mean of a picture's bytes below which it is black.
    pub black_below: f64,
    /// Fraction of the rate below which it is slow.
    pub slow_below: f64,
}

impl Default for CameraSettings {
    fn default() -> Self {
        Self { stall_s: 0.4, black_below: 4.0, slow_below: 0.7 }
    }
}

/// What happened since the camera was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CameraCounts {
    /// Pictures that came.
    pub pictures: u64,
    /// Pictures that could not be decoded.
    pub damaged: u64,
    /// Times that the camera was found again.
    pub reconnected: u64,
}

/// What is known of a camera.
#[derive(Clone, Debug)]
pub struct CameraState {
    /// The newest picture, when it was taken, and its number, from 1.
    pub newest: Option<(Picture, Instant, u64)>,
    /// Why there is no picture of now; none while there is.
    pub lost: Option<String>,
    /// What a person should look at, though there are pictures.
    pub warning: Option<String>,
    /// What happened so far.
    pub counts: CameraCounts,
}

/// The thread's notes.
struct Seen {
    newest: Option<(Picture, Instant, u64)>,
    /// Since when, of a camera that is gone.
    gone: Option<(String, Instant)>,
    /// When a picture came that was another one than before.
    changed: Instant,
    came: Instant,
    is_black: bool,
    hz: f64,
    counts: CameraCounts,
}

struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
    is_over: AtomicBool,
}

/// Makes the source anew when it is back.
pub type Reopen = Box<dyn FnMut() -> Result<Box<dyn CameraSource>, LinkError> + Send>;

/// A camera that is read by a thread of its own until this is dropped.
pub struct CameraDriver {
    name: String,
    mode: CameraMode,
    settings: CameraSettings,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for CameraDriver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CameraDriver").field("name", &self.name).finish_non_exhaustive()
    }
}

impl CameraDriver {
    /// Opens a camera and begins to take its pictures.
    ///
    /// # Errors
    /// When it cannot be opened, or there is no thread.
    pub fn start(
        name: &str,
        mut open: Reopen,
        settings: CameraSettings,
    ) -> Result<Self, LinkError> {
        let source = open()?;
        let mode = source.mode();
        let now = Instant::now();
        let seen = Seen {
            newest: None,
            gone: None,
            changed: now,
            came: now,
            is_black: false,
            hz: mode.hz,
            counts: CameraCounts::default(),
        };
        let shared = Arc::new(Shared {
            seen: Mutex::new(seen),
            changed: Condvar::new(),
            is_over: AtomicBool::new(false),
        });
        let pool = PicturePool::default();
        let (raw, before) = (RawPicture::default(), Vec::new());
        let own = Reader {
            source: Some(source),
            open,
            mode,
            pool,
            raw,
            before,
            settings,
            shared: shared.clone(),
        };
        let thread = std::thread::Builder::new()
            .name(format!("camera-{name}"))
            .spawn(move || own.run())
            .map_err(|cause| LinkError::Io {
                path: format!("a thread for camera {name}"),
                cause,
            })?;
        Ok(Self { name: name.to_owned(), mode, settings, shared, thread: Some(thread) })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Size, rate and pixels.
    #[must_use]
    pub fn mode(&self) -> CameraMode {
        self.mode
    }

    /// As rigs describe it.
    #[must_use]
    pub fn spec(&self) -> CameraSpec {
        let CameraMode { width_px, height_px, hz, .. } = self.mode;
        CameraSpec { own_hz: Some(hz), ..CameraSpec::rgb(&self.name, width_px, height_px) }
    }

    /// What is known now.
    #[must_use]
    pub fn state(&self) -> CameraState {
        let seen = self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.told(&seen)
    }

    /// Waits for a first picture.
    ///
    /// # Errors
    /// When none comes in time.
    pub fn first(&self, wait: Duration) -> Result<(), LinkError> {
        let seen = self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_empty = |seen: &mut Seen| seen.newest.is_none();
        let (seen, _) = self
            .shared
            .changed
            .wait_timeout_while(seen, wait, is_empty)
            .unwrap_or_else(PoisonError::into_inner);
        if seen.newest.is_some() {
            return Ok(());
        }
        let lost = self.told(&seen).lost.unwrap_or_else(|| "no picture came".to_owned());
        Err(LinkError::NotReady { why: format!("camera {}: {lost}", self.name) })
    }

    fn told(&self, seen: &Seen) -> CameraState {
        let stall_s = self.settings.stall_s.max(STALL_PERIODS / self.mode.hz.max(1e-3));
        let (silent_s, same_s) =
            (seen.came.elapsed().as_secs_f64(), seen.changed.elapsed().as_secs_f64());
        let lost = match &seen.gone {
            Some((why, _)) => Some(why.clone()),
            None if silent_s > stall_s => Some(format!("no picture for {silent_s:.1} s")),
            None if same_s > stall_s => {
                Some(format!("the same picture again and again for {same_s:.1} s"))
            }
            None => None,
        };
        let warning = match () {
            () if seen.is_black => Some("its pictures are black: a cover on the lens?".to_owned()),
            () if seen.hz < self.settings.slow_below * self.mode.hz => Some(format!(
                "{:.0} pictures a second, not {:.0}: a dark room, or a USB hub that is full",
                seen.hz, self.mode.hz
            )),
            () => None,
        };
        CameraState { newest: seen.newest.clone(), lost, warning, counts: seen.counts }
    }
}

impl Drop for CameraDriver {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _it_is_closed = thread.join();
        }
    }
}

/// The thread's own.
struct Reader {
    source: Option<Box<dyn CameraSource>>,
    open: Reopen,
    mode: CameraMode,
    pool: PicturePool,
    raw: RawPicture,
    /// The picture before, to know it again.
    before: Vec<u8>,
    settings: CameraSettings,
    shared: Arc<Shared>,
}

impl Reader {
    fn run(mut self) {
        let mut since = (Instant::now(), 0_u32);
        while !self.shared.is_over.load(Ordering::Relaxed) {
            let came = match &mut self.source {
                Some(source) => source.next(WAIT, &mut self.raw),
                None => {
                    self.look_again();
                    continue;
                }
            };
            match came {
                Ok(true) => {
                    since.1 += 1;
                    self.keep();
                }
                Ok(false) => {}
                Err(error) => {
                    self.source = None;
                    self.tell(|seen| {
                        seen.gone.get_or_insert((error.to_string(), Instant::now()));
                    });
                }
            }
            let passed_s = since.0.elapsed().as_secs_f64();
            if passed_s > 1.0 {
                let hz = f64::from(since.1) / passed_s;
                self.tell(|seen| seen.hz = hz);
                since = (Instant::now(), 0);
            }
        }
    }

    fn tell(&self, change: impl FnOnce(&mut Seen)) {
        let mut seen = self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut seen);
        drop(seen);
        self.shared.changed.notify_all();
    }

    fn keep(&mut self) {
        let mode = CameraMode { format: self.raw.format, ..self.mode };
        let (picture, mut undrawn) = self.pool.order();
        if let Err(reason) = decode_rgb8(mode, &self.raw.bytes, undrawn.pixels_mut()) {
            tracing::debug!(reason, "a picture is damaged");
            undrawn.fail(reason);
            self.tell(|seen| seen.counts.damaged += 1);
            return;
        }
        let looked = undrawn.pixels_mut().iter().step_by(SPARSE).map(|byte| f64::from(*byte));
        let (sum, count) = looked.fold((0.0, 0.0), |(sum, count), byte| (sum + byte, count + 1.0));
        undrawn.finish();
        let is_other = self.before != self.raw.bytes;
        std::mem::swap(&mut self.before, &mut self.raw.bytes);
        let (now, at) = (Instant::now(), self.raw.at);
        let is_black = sum < self.settings.black_below * count;
        self.tell(|seen| {
            seen.counts.pictures += 1;
            seen.newest = Some((picture, at, seen.counts.pictures));
            seen.came = now;
            seen.is_black = is_black;
            // What is black all over is the same for another reason.
            if is_other || is_black {
                seen.changed = now;
            }
        });
    }

    fn look_again(&mut self) {
        std::thread::sleep(LOOK_AGAIN);
        match (self.open)() {
            Ok(source) if CameraMode { format: self.mode.format, ..source.mode() } == self.mode => {
                self.source = Some(source);
                self.tell(|seen| {
                    seen.gone = None;
                    (seen.came, seen.changed) = (Instant::now(), Instant::now());
                    seen.counts.reconnected += 1;
                });
            }
            // Another camera has its name, or it is not there yet.
            Ok(_) | Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PixelFormat;
    use super::*;

    /// What a camera does next.
    #[derive(Clone, Copy, PartialEq)]
    enum Does {
        Well,
        Nothing,
        Same,
        Black,
        Gone,
    }

    struct Fake {
        does: Arc<Mutex<Does>>,
        number: u8,
    }

    const MODE: CameraMode =
        CameraMode { format: PixelFormat::Rgb8, width_px: 16, height_px: 16, hz: 50.0 };

    impl CameraSource for Fake {
        fn mode(&self) -> CameraMode {
            MODE
        }

        fn next(&mut self, wait: Duration, picture: &mut RawPicture) -> Result<bool, LinkError> {
            let does = *self.does.lock().unwrap();
            std::thread::sleep(Duration::from_millis(10).min(wait));
            match does {
                Does::Nothing => return Ok(false),
                Does::Gone => {
                    let cause = std::io::ErrorKind::BrokenPipe.into();
                    return Err(LinkError::PortGone { port: "fake".into(), cause });
                }
                _ => {}
            }
            self.number = if does == Does::Same { 7 } else { self.number.wrapping_add(1) };
            let level = if does == Does::Black { 0 } else { 100 + self.number % 50 };
            *picture = RawPicture {
                format: PixelFormat::Rgb8,
                bytes: vec![level; 16 * 16 * 3],
                at: Instant::now(),
            };
            Ok(true)
        }
    }

    fn camera() -> (CameraDriver, Arc<Mutex<Does>>) {
        let does = Arc::new(Mutex::new(Does::Well));
        let own = does.clone();
        let open: Reopen = Box::new(move || {
            if *own.lock().unwrap() == Does::Gone {
                return Err(LinkError::bad("fake", "not there"));
            }
            Ok(Box::new(Fake { does: own.clone(), number: 0 }))
        });
        let driver = CameraDriver::start("front", open, CameraSettings::default()).unwrap();
        driver.first(Duration::from_secs(10)).unwrap();
        (driver, does)
    }

    /// Waits for a state; answers how long it took.
    fn until(driver: &CameraDriver, is: impl Fn(&CameraState) -> bool) -> f64 {
        let begun = Instant::now();
        while !is(&driver.state()) {
            assert!(begun.elapsed().as_secs() < 20, "{:?}", driver.state());
            std::thread::sleep(Duration::from_millis(5));
        }
        begun.elapsed().as_secs_f64()
    }

    #[test]
    fn a_camera_that_stands_still_or_is_gone_is_seen_in_half_a_second_and_found_again() {
        let (driver, does) = camera();
        assert!(driver.state().lost.is_none());
        for (bad, word) in
            [(Does::Nothing, "no picture"), (Does::Same, "the same"), (Does::Gone, "fake is gone")]
        {
            *does.lock().unwrap() = bad;
            let seen_s = until(&driver, |state| state.lost.is_some());
            let lost = driver.state().lost.unwrap();
            assert!(lost.contains(word), "{lost}");
            // A little more than 0.4 s, and what a busy machine adds.
            assert!(seen_s < 1.5, "{seen_s}");
            *does.lock().unwrap() = Does::Well;
            until(&driver, |state| state.lost.is_none());
        }
        assert_eq!(driver.state().counts.reconnected, 1);
        *does.lock().unwrap() = Does::Black;
        // After the silence before it is slow, too, for a moment.
        let is_black =
            |state: &CameraState| state.warning.as_ref().is_some_and(|w| w.contains("black"));
        until(&driver, is_black);
        assert!(driver.state().lost.is_none(), "a black picture is one");
    }
}
