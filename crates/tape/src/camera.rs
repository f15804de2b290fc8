//! One stream of pictures while recording: they go through a bounded queue to a thread that codes them
//! and appends them to the stream's log.
//!
//! Pictures may come before they are drawn: the coder waits for their pixels, the loop does not.
//! The control loop never waits for coding unless it was asked to. When the queue is full the
//! picture is dropped and counted, and the one before takes its place, so that pictures and rows
//! stay together.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use citrange_core::{CameraImage, PictureError};

use crate::coded::{Coded, CodedPicture, CodedPictures};
use crate::error::TapeError;
use crate::log::LogWriter;
use crate::record::kind;
use crate::recorder::{Failure, RecordSettings};
use crate::stream::{CodeError, Coder, Shot, Stream};

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

struct Message {
    /// Pictures dropped before this one.
    owed: u64,
    shot: Option<Shot>,
}

/// The control loop's end of a camera.
pub(crate) struct CameraWriter {
    pub(crate) name: String,
    stream: Stream,
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
        stream: Stream,
        (settings, sync_every): (&RecordSettings, Option<Duration>),
        failure: &Failure,
    ) -> Result<Self, TapeError> {
        // Made here, so that a size that cannot be coded is refused before the episode begins.
        let coder = stream.coder()?;
        let writer = LogWriter::create(&log)?;
        let (queue, pictures) = sync_channel(settings.queue_pictures.max(1));
        let name = stream.name.clone();
        let coded = Vec::new();
        let work = Worker { name: name.clone(), coder, writer, sync_every, coded };
        let told = failure.clone();
        let thread = std::thread::Builder::new()
            .name(format!("camera-{name}"))
            .spawn(move || {
                give_way();
                let done = work.run(&pictures, log);
                done.map_err(|error| told.set(error)).ok()
            })
            .map_err(|e| TapeError::Recording(format!("no thread for {name}: {e}")))?;
        let (when_full, queue, thread) = (settings.when_full, Some(queue), Some(thread));
        let dropped = Vec::new();
        Ok(Self { name, stream, queue, owed: 0, frames: 0, dropped, when_full, thread })
    }

    /// Hands over what belongs to its stream.
    pub(crate) fn push(&mut self, images: &[CameraImage]) -> Result<(), TapeError> {
        let cannot = || TapeError::Recording(format!("camera {} cannot be kept", self.name));
        let shot = self.stream.shot(images).map_err(TapeError::Recording)?;
        let queue = self.queue.as_ref().ok_or_else(cannot)?;
        let frame = self.frames;
        self.frames += 1;
        if matches!(shot, Shot::LeftOut) && frame > 0 {
            self.owed += 1;
            self.dropped.push(frame);
            return Ok(());
        }
        let message = Message { owed: self.owed, shot: Some(shot) };
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
            let _the_thread_says_why = queue.send(Message { owed: self.owed, shot: None });
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
    coded: Vec<CodedPicture>,
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
                let key = self.coder.repeat()?;
                self.keep(key)?;
            }
            if let Some(shot) = message.shot {
                let _span = tracing::trace_span!("encode", camera = self.name).entered();
                let key = self.coder.code(&shot).map_err(|error| match error {
                    CodeError::Picture(error) => self.cannot_see(&error),
                    CodeError::Tape(error) => error,
                })?;
                self.keep(key)?;
            }
            self.writer.flush()?;
            if self.sync_every.is_some_and(|every| synced.elapsed() > every) {
                self.writer.sync()?;
                synced = Instant::now();
            }
        }
        self.writer.sync()?;
        let (kind, head) = self.coder.head()?;
        let how = Coded::of(kind, &head).ok_or_else(|| {
            TapeError::Recording(format!("the head of {} cannot be read back", self.name))
        })?;
        let stats = Some(self.coder.stats);
        Ok(CodedPictures { log, how, pictures: self.coded, stats, damage: None })
    }

    fn cannot_see(&self, error: &PictureError) -> TapeError {
        let frame = self.coded.len();
        TapeError::Recording(format!("camera {}, frame {frame}: {error}", self.name))
    }

    /// Appends the picture that was coded last.
    fn keep(&mut self, key: bool) -> Result<(), TapeError> {
        if self.coded.is_empty() {
            let (kind, head) = self.coder.head()?;
            self.writer.append(kind, &[&head])?;
        }
        let bytes = &self.coder.bytes;
        let begins = self.writer.append(kind::PICTURE, &[&[u8::from(key)], bytes])?;
        self.coded.push(CodedPicture { at: begins + 1, size: bytes.len() as u32, key });
        Ok(())
    }
}

/// File name of a camera's log inside a recording's folder.
pub(crate) fn camera_log(folder: &Path, camera: &str) -> PathBuf {
    folder.join(format!("{camera}.camera"))
}
