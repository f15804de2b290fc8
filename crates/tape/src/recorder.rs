//! Records an episode while it happens: every record goes through a queue to a thread that
//! appends it to the tape, pictures to a thread per camera. Nothing here waits for the disk.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{BoxError, Event, Outcome, Snapshot, Tape};
use citrange_video::EncoderSettings;

use crate::camera::{CameraWriter, WhenFull, camera_log, give_way};
use crate::episode::{End, deflate};
use crate::error::TapeError;
use crate::header::TapeHeader;
use crate::log::LogWriter;
use crate::record::{
    Layout, SensorTimes, frame_bytes, indexed_bytes, kind, put, tick_bytes, times_bytes,
    wrist_bytes,
};
use crate::recording::{Recording, Row};
use crate::stream::Stream;

/// Records that may wait for the disk: minutes of them.
const QUEUE_RECORDS: usize = 1 << 16;
/// How often what was written is forced to the disk, against power cuts.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// How long records gather before they are written together.
const GATHER: Duration = Duration::from_millis(20);
/// File name of the tape inside a recording's folder.
pub(crate) const TAPE_LOG: &str = "tape.log";

/// How to record.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordSettings {
    /// Quality of video; the frame rate is the rig's.
    pub video_qp: u8,
    /// Pictures from one key frame to the next.
    pub video_gop: u32,
    /// Pictures of one camera that may wait to be coded.
    pub queue_pictures: usize,
    /// What happens when more come.
    pub when_full: WhenFull,
}

impl Default for RecordSettings {
    fn default() -> Self {
        let video = EncoderSettings::default();
        Self {
            video_qp: video.qp,
            video_gop: video.gop,
            queue_pictures: 16,
            when_full: WhenFull::Drop,
        }
    }
}

/// An episode being recorded into a folder of its own.
pub struct Recorder {
    folder: PathBuf,
    header: TapeHeader,
    records: RecordWriter,
    failure: Failure,
    cameras: Vec<CameraWriter>,
    when_full: WhenFull,
    layout: Layout,
    rows: Vec<Row>,
    ticks: u64,
    end: Option<End>,
}

/// The queue of records and the thread at its end. Dropped, it waits until all is written.
struct RecordWriter {
    queue: Option<SyncSender<(u8, Vec<u8>)>>,
    thread: Option<JoinHandle<()>>,
}

impl RecordWriter {
    /// Whether the thread ended as it should.
    fn close(&mut self) -> bool {
        self.queue = None;
        self.thread.take().is_none_or(|thread| thread.join().is_ok())
    }
}

impl Drop for RecordWriter {
    fn drop(&mut self) {
        // A recorder given up in the middle of an episode keeps what it was told.
        self.close();
    }
}

/// Why a writing thread stopped.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<TapeError>>>);

impl Failure {
    /// Keeps the first error.
    pub(crate) fn set(&self, error: TapeError) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub(crate) fn take(&self) -> Option<TapeError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Recorder {
    /// Begins an episode in a new folder. `model` is the compiled model's binary file.
    ///
    /// # Errors
    /// When the folder or files cannot be made, or a camera cannot be coded.
    pub fn begin(
        folder: &Path,
        header: TapeHeader,
        model: &[u8],
        settings: &RecordSettings,
    ) -> Result<Self, TapeError> {
        std::fs::create_dir_all(folder).map_err(|e| TapeError::file("create", folder, e))?;
        let mut log = LogWriter::create(&folder.join(TAPE_LOG))?;
        let json = serde_json::to_vec(&header)
            .map_err(|e| TapeError::Recording(format!("the header cannot be written: {e}")))?;
        log.append(kind::HEADER, &[&json])?;
        if !model.is_empty() {
            log.append(kind::MODEL, &[&deflate(model)])?;
        }
        // What is made again when it is cut off need not outlive a power cut.
        let sync_every = (!header.repeatable).then_some(SYNC_EVERY);
        if sync_every.is_some() {
            log.sync()?;
        }
        let failure = Failure::default();
        let mut cameras = Vec::new();
        for stream in Stream::all(&header, settings)? {
            let (path, how) = (camera_log(folder, &stream.name), (settings, sync_every));
            cameras.push(CameraWriter::start(path, stream, how, &failure)?);
        }
        if sync_every.is_some() {
            sync_folders(folder)?;
        }
        let (queue, records) = sync_channel(QUEUE_RECORDS);
        let told = failure.clone();
        let thread = std::thread::Builder::new()
            .name("tape".into())
            .spawn(move || {
                if let Err(error) = write_records(log, &records, sync_every) {
                    told.set(error);
                }
            })
            .map_err(|e| TapeError::Recording(format!("no thread to write with: {e}")))?;
        Ok(Self {
            folder: folder.to_owned(),
            header,
            records: RecordWriter { queue: Some(queue), thread: Some(thread) },
            failure,
            cameras,
            when_full: settings.when_full,
            layout: Layout::new(),
            rows: Vec::new(),
            ticks: 0,
            end: None,
        })
    }

    /// Pictures dropped so far, by camera.
    pub fn dropped(&self) -> impl Iterator<Item = (&str, usize)> {
        self.cameras.iter().map(|c| (c.name.as_str(), c.dropped.len()))
    }

    /// Frames so far.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.rows.len()
    }

    fn send(&self, kind: u8, bytes: Vec<u8>) -> Result<(), TapeError> {
        let Some(queue) = &self.records.queue else { return Err(self.why()) };
        if self.when_full == WhenFull::Wait {
            return queue.send((kind, bytes)).map_err(|_| self.why());
        }
        queue.try_send((kind, bytes)).map_err(|error| match error {
            TrySendError::Full(_) => TapeError::Recording(format!(
                "the disk does not keep up: {QUEUE_RECORDS} records wait to be written"
            )),
            TrySendError::Disconnected(_) => self.why(),
        })
    }

    fn why(&self) -> TapeError {
        let ended = || TapeError::Recording("a writing thread ended".into());
        self.failure.take().unwrap_or_else(ended)
    }

    /// Nothing more will come: what is still to be coded and written is, beside whatever the caller
    /// does before it calls [`Recorder::finish`].
    pub fn wind_up(&mut self) {
        self.records.queue = None;
        self.cameras.iter_mut().for_each(CameraWriter::wind_up);
    }

    /// Waits until everything is on disk. The recording can then be saved into a dataset.
    ///
    /// # Errors
    /// When something could not be written, or the episode was not ended.
    pub fn finish(self) -> Result<Recording, TapeError> {
        let _span = tracing::debug_span!("finish_recording").entered();
        for (camera, pictures) in self.dropped().filter(|(_, count)| *count > 0) {
            tracing::error!(camera, pictures, "lost: the picture before stands for each of them");
        }
        let Self { folder, header, mut records, failure, cameras, mut rows, ticks, end, .. } = self;
        let ended_well = records.close();
        let cameras: Result<Vec<_>, _> = cameras.into_iter().map(CameraWriter::finish).collect();
        if let Some(error) = failure.take() {
            return Err(error);
        }
        if !ended_well {
            return Err(TapeError::Recording("the writing thread crashed".into()));
        }
        let mut cameras = cameras?;
        let end = end.ok_or_else(|| TapeError::Recording("the episode was not ended".into()))?;
        let (outcome, mut dropped) = (end.outcome, end.dropped);
        // An episode is a whole number of frames; a stop or a failure may have cut the last one.
        let whole = header.rig.rates.whole_frames(ticks).min(rows.len() as u64) as usize;
        rows.truncate(whole);
        cameras.iter_mut().for_each(|camera| camera.truncate(whole));
        dropped.values_mut().for_each(|frames| frames.retain(|frame| *frame < whole as u64));
        dropped.retain(|_, frames| !frames.is_empty());
        let tape = folder.join(TAPE_LOG);
        Ok(Recording { folder, tape, header, rows, cameras, outcome, first: 0, dropped })
    }

    /// Throws the episode away.
    ///
    /// # Errors
    /// When its folder cannot be removed.
    pub fn discard(self) -> Result<(), TapeError> {
        let folder = self.folder.clone();
        // Whatever went wrong with it does not matter any more.
        let _thrown_away = self.finish();
        std::fs::remove_dir_all(&folder).map_err(|e| TapeError::file("remove", &folder, e))
    }
}

/// Makes the names of the new files and folders durable; the folder above the dataset is the
/// user's.
fn sync_folders(folder: &Path) -> Result<(), TapeError> {
    for folder in folder.ancestors().take(4).filter(|f| cfg!(unix) && f.is_dir()) {
        std::fs::File::open(folder)
            .and_then(|handle| handle.sync_all())
            .map_err(|e| TapeError::file("sync", folder, e))?;
    }
    Ok(())
}

fn write_records(
    mut log: LogWriter,
    records: &Receiver<(u8, Vec<u8>)>,
    sync_every: Option<Duration>,
) -> Result<(), TapeError> {
    give_way();
    let mut synced = Instant::now();
    while let Ok((kind, bytes)) = records.recv() {
        log.append(kind, &[&bytes])?;
        // All that waits, then one call to the system.
        while let Ok((kind, bytes)) = records.try_recv() {
            log.append(kind, &[&bytes])?;
        }
        log.flush()?;
        if sync_every.is_some_and(|every| synced.elapsed() > every) {
            log.sync()?;
            synced = Instant::now();
        }
        // While it sleeps here, the control loop need not wake it: a tick costs a push.
        std::thread::sleep(GATHER);
    }
    log.sync()
}

impl Tape for Recorder {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        if let Some(snapshot) = frame.snapshot {
            self.check_layout(snapshot)?;
        }
        let (found, expected) = (frame.seen.images.len(), self.header.rig.cameras.len());
        if found != expected {
            return Err(format!("{found} pictures for {expected} cameras").into());
        }
        self.send(kind::FRAME, frame_bytes(frame))?;
        if !frame.seen.joint_effort.is_empty() {
            self.send(kind::EFFORT, indexed_bytes(frame.index, &frame.seen.joint_effort))?;
        }
        if self.has_own_clocks() {
            let all = frame.seen.images.iter().zip(&self.header.rig.cameras);
            let kept = |name: &str| self.header.kept_cameras().any(|spec| spec.name == name);
            let images = all.filter(|(_, spec)| kept(&spec.name)).map(|(image, _)| image);
            let times = SensorTimes {
                at_ns: frame.seen.at_ns,
                joints_at_ns: frame.seen.joints_at_ns,
                cameras: images.map(|image| (image.at_ns, image.fresh)).collect(),
            };
            self.send(kind::TIMES, times_bytes(frame.index, &times))?;
        }
        let wrist_pos_m = frame.seen.wrist_pos_m.filter(|_| self.header.features.ee);
        match &wrist_pos_m {
            Some(pos_m) => self.send(kind::WRIST, wrist_bytes(frame.index, pos_m))?,
            None if self.header.features.ee => {
                return Err("the rig does not say where its wrist is: leave ee out".into());
            }
            None => {}
        }
        for camera in &mut self.cameras {
            camera.push(&frame.seen.images).map_err(|e| self.failure.take().unwrap_or(e))?;
        }
        let (joint_pos, joint_vel) = (frame.seen.joint_pos.clone(), frame.seen.joint_vel.clone());
        self.rows.push(Row { joint_pos, joint_vel, wrist_pos_m, action: Vec::new() });
        Ok(())
    }

    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        self.send(kind::TICK, tick_bytes(tick))?;
        if !tick.requested.vel.is_empty() {
            self.send(kind::VELOCITY, indexed_bytes(tick.index, &tick.requested.vel))?;
        }
        self.ticks = tick.index + 1;
        if let Some(row) = self.rows.last_mut() {
            row.action.clear();
            row.action.extend_from_slice(&tick.commanded.limited);
        }
        Ok(())
    }

    fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
        Ok(self.send(kind::EVENT, serde_json::to_vec(&(tick, event))?)?)
    }

    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), BoxError> {
        if let Some(snapshot) = last {
            // The pilot's memory belongs to frames; the last state is the rig's.
            self.check_layout(snapshot)?;
            let mut bytes = snapshot.step.to_le_bytes().to_vec();
            snapshot.fields.values().for_each(|numbers| put(&mut bytes, numbers));
            self.send(kind::LAST, bytes)?;
        }
        let dropped = self.cameras.iter().filter(|c| !c.dropped.is_empty());
        let dropped = dropped.map(|c| (c.name.clone(), c.dropped.clone())).collect();
        let end = End { outcome: outcome.clone(), dropped };
        self.send(kind::END, serde_json::to_vec(&end)?)?;
        self.end = Some(end);
        Ok(())
    }
}

impl Recorder {
    /// Whether times of measurement are worth a record: else they follow from the frame's number.
    fn has_own_clocks(&self) -> bool {
        let rig = &self.header.rig;
        rig.own_clock || rig.cameras.iter().any(|camera| camera.own_hz.is_some())
    }

    /// Names the state's fields before the first state that has them.
    fn check_layout(&mut self, snapshot: &Snapshot) -> Result<(), TapeError> {
        let fields = || snapshot.fields.iter().map(|(name, v)| (name, v.len()));
        let same = fields().len() == self.layout.len()
            && fields()
                .zip(&self.layout)
                .all(|((name, n), known)| *name == known.0 && n == known.1);
        if !same {
            self.layout = fields().map(|(name, n)| (name.clone(), n)).collect();
            let json = serde_json::to_vec(&self.layout)
                .map_err(|e| TapeError::Recording(format!("a layout cannot be written: {e}")))?;
            self.send(kind::LAYOUT, json)?;
        }
        Ok(())
    }
}
