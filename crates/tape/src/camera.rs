//! One camera while recording: pictures go through a bounded queue to a thread that codes them
//! and appends them to the camera's log.
//!
//! Pictures may come before they are drawn: the coder waits for their pixels, the loop does not.
//! The control loop never waits for coding unless it was asked to. When the queue is full the
//! picture is dropped and counted, and the one before takes its place, so that pictures and rows
//! stay together.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use citrange_core::png::{self, PngEffort};
use citrange_core::rig::CameraSpec;
use citrange_core::{Picture, PictureError};
use citrange_lerobot::ImageStats;
use citrange_video::{Encoder, EncoderSettings};

use crate::coded::{Coded, CodedPicture, CodedPictures};
use crate::error::TapeError;
use crate::log::LogWriter;
use crate::record::kind;
use crate::recorder::{Failure, RecordSettings};

/// How far threads stand back behind the control loop. On Linux this counts per thread.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// How often a coder without work looks for some.
const LOOK_EVERY: Duration = Duration::from_millis(8);

/// What to do when pictures come faster than they can be coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Drop the picture and count it: for a loop that must keep its time.
    Drop,
    /// Wait: for a simulation that has all the time in the world.
    Wait,
}

/// How a camera's pictures are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// H.264 video.
    Video(EncoderSettings),
    /// Every picture as PNG, without loss.
    Images,
}

struct Message {
    /// Pictures dropped before this one.
    owed: u64,
    rgb: Option<Picture>,
}

/// The control loop's end of a camera.
pub(crate) struct CameraWriter {
    pub(crate) name: String,
    queue: Option<SyncSender<Message>>,
    owed: u64,
    frames: u64,
    pub(crate) dropped: Vec<u64>,
    when_full: WhenFull,
    thread: Option<JoinHandle<Option<CodedPictures>>>,
}

impl CameraWriter {
    pub(crate) fn start(
        log: PathBuf,
        spec: &CameraSpec,
        storage: Storage,
        (settings, sync_every): (&RecordSettings, Option<Duration>),
        failure: &Failure,
    ) -> Result<Self, TapeError> {
        // Made here, so that a size that cannot be coded is refused before the episode begins.
        let coder = Coder::new(spec, storage)?;
        let writer = LogWriter::create(&log)?;
        let (queue, pictures) = sync_channel(settings.queue_pictures.max(1));
        let work = Worker {
            name: spec.name.clone(),
            coder,
            writer,
            sync_every,
            stats: ImageStats::new(),
            coded: Vec::new(),
            bytes: Vec::new(),
        };
        let told = failure.clone();
        let thread = std::thread::Builder::new()
            .name(format!("camera-{}", spec.name))
            .spawn(move || {
                give_way();
                let done = work.run(&pictures, log);
                done.map_err(|error| told.set(error)).ok()
            })
            .map_err(|e| TapeError::Recording(format!("no thread for {}: {e}", spec.name)))?;
        let (name, when_full) = (spec.name.clone(), settings.when_full);
        let (queue, thread) = (Some(queue), Some(thread));
        Ok(Self { name, queue, owed: 0, frames: 0, dropped: Vec::new(), when_full, thread })
    }

    /// Hands a picture over.
    pub(crate) fn push(&mut self, rgb: &Picture) -> Result<(), TapeError> {
        let cannot = || TapeError::Recording(format!("camera {} cannot be kept", self.name));
        let queue = self.queue.as_ref().ok_or_else(cannot)?;
        let frame = self.frames;
        self.frames += 1;
        if rgb.is_left_out() && frame > 0 {
            self.owed += 1;
            self.dropped.push(frame);
            return Ok(());
        }
        let message = Message { owed: self.owed, rgb: Some(Picture::clone(rgb)) };
        // The very first picture has none before it that could take its place: it waits.
        let sent = match self.when_full {
            WhenFull::Drop if frame > 0 => queue.try_send(message),
            _ => queue.send(message).map_err(|e| TrySendError::Disconnected(e.0)),
        };
        match sent {
            Ok(()) => self.owed = 0,
            Err(TrySendError::Full(_)) => {
                self.owed += 1;
                self.dropped.push(frame);
            }
            Err(TrySendError::Disconnected(_)) => return Err(cannot()),
        }
        Ok(())
    }

    /// Waits until every picture is coded and with the system.
    pub(crate) fn finish(mut self) -> Result<CodedPictures, TapeError> {
        match self.close() {
            Some(Ok(Some(done))) => Ok(done),
            // Why is in the shared failure.
            Some(Ok(None)) | None => {
                Err(TapeError::Recording(format!("{} cannot be kept", self.name)))
            }
            Some(Err(_)) => {
                Err(TapeError::Recording(format!("the coder of {} crashed", self.name)))
            }
        }
    }

    /// No more pictures will come.
    pub(crate) fn wind_up(&mut self) {
        if let Some(queue) = self.queue.take()
            && self.owed > 0
        {
            let _the_thread_says_why = queue.send(Message { owed: self.owed, rgb: None });
        }
    }

    fn close(&mut self) -> Option<std::thread::Result<Option<CodedPictures>>> {
        self.wind_up();
        Some(self.thread.take()?.join())
    }
}

impl Drop for CameraWriter {
    fn drop(&mut self) {
        // A recorder given up in the middle of an episode keeps the pictures it was given.
        let _nobody_asks = self.close();
    }
}

/// Coding and writing may wait a moment; the control loop may not. Where priorities cannot be set
/// it is tried in vain, and nothing is lost.
pub(crate) fn give_way() {
    #[cfg(target_os = "linux")]
    {
        // The loop that started this thread may stand ahead of others, and threads inherit that.
        let now = rustix::process::getpriority_process(None).unwrap_or(0);
        let _in_vain = rustix::process::setpriority_process(None, now.max(NICE));
    }
}

struct Worker {
    name: String,
    coder: Coder,
    writer: LogWriter,
    /// How often what was written is forced to the disk.
    sync_every: Option<Duration>,
    stats: ImageStats,
    coded: Vec<CodedPicture>,
    /// The last coded picture.
    bytes: Vec<u8>,
}

impl Worker {
    fn run(
        mut self,
        pictures: &Receiver<Message>,
        log: PathBuf,
    ) -> Result<CodedPictures, TapeError> {
        let mut synced = Instant::now();
        // It looks for pictures by itself: waking it would cost the control loop its turn.
        loop {
            let message = match pictures.try_recv() {
                Ok(message) => message,
                Err(TryRecvError::Empty) => {
                    std::thread::sleep(LOOK_EVERY);
                    continue;
                }
                Err(TryRecvError::Disconnected) => break,
            };
            for _ in 0..message.owed {
                self.keep(None)?;
            }
            if let Some(rgb) = message.rgb {
                let rgb = rgb.pixels().map_err(|e| self.cannot_see(&e))?;
                self.keep(Some(rgb))?;
                self.stats.add_rgb(rgb, self.coder.width, self.coder.height);
            }
            self.writer.flush()?;
            if self.sync_every.is_some_and(|every| synced.elapsed() > every) {
                self.writer.sync()?;
                synced = Instant::now();
            }
        }
        self.writer.sync()?;
        let how = match &self.coder.kind {
            PictureCoder::Video(encoder) => {
                Coded::Video { config: encoder.avc_config().unwrap_or_default().to_vec() }
            }
            PictureCoder::Images => Coded::Png,
        };
        Ok(CodedPictures { log, how, pictures: self.coded, stats: Some(self.stats), damage: None })
    }

    fn cannot_see(&self, error: &PictureError) -> TapeError {
        let frame = self.coded.len();
        TapeError::Recording(format!("camera {}, frame {frame}: {error}", self.name))
    }

    fn keep(&mut self, rgb: Option<&[u8]>) -> Result<(), TapeError> {
        let _span = tracing::trace_span!("encode", camera = self.name).entered();
        let (width, height) = (self.coder.width, self.coder.height);
        let key = match (&mut self.coder.kind, rgb) {
            (PictureCoder::Video(encoder), rgb) => {
                let sample = match rgb {
                    Some(rgb) => encoder.encode(rgb)?,
                    None => encoder.repeat()?,
                };
                self.bytes.clear();
                self.bytes.extend_from_slice(sample.data);
                sample.key
            }
            (PictureCoder::Images, Some(rgb)) => {
                self.bytes = png::encode(rgb, width, height, PngEffort::Fast)
                    .map_err(|e| TapeError::Recording(format!("a picture as PNG: {e}")))?;
                true
            }
            // The bytes of the picture before are still there.
            (PictureCoder::Images, None) => true,
        };
        if self.coded.is_empty() {
            let config = match &self.coder.kind {
                PictureCoder::Video(encoder) => encoder.avc_config().unwrap_or_default(),
                PictureCoder::Images => &[],
            };
            self.writer.append(kind::CAMERA, &[config])?;
        }
        let begins = self.writer.append(kind::PICTURE, &[&[u8::from(key)], &self.bytes])?;
        self.coded.push(CodedPicture { at: begins + 1, size: self.bytes.len() as u32, key });
        Ok(())
    }
}

struct Coder {
    kind: PictureCoder,
    width: usize,
    height: usize,
}

enum PictureCoder {
    Video(Box<Encoder>),
    Images,
}

impl Coder {
    fn new(spec: &CameraSpec, storage: Storage) -> Result<Self, TapeError> {
        let kind = match storage {
            Storage::Video(settings) => PictureCoder::Video(Box::new(Encoder::new(
                spec.width_px,
                spec.height_px,
                settings,
            )?)),
            Storage::Images => PictureCoder::Images,
        };
        Ok(Self { kind, width: spec.width_px as usize, height: spec.height_px as usize })
    }
}

/// File name of a camera's log inside a recording's folder.
pub(crate) fn camera_log(folder: &Path, camera: &str) -> PathBuf {
    folder.join(format!("{camera}.camera"))
}
