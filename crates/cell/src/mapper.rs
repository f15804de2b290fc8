//! Frames one after the other into a map, with counts, times, and a look whether cameras moved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use citrange_calibrate::{Drift, DriftSettings, DriftVerdict, DriftWatch};
use citrange_cloud::Sidecar;
use citrange_space::{
    CellFrame, FrameReport, FrameRunner, MapSnapshot, RunnerSettings, save_frame,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::CellError;
use crate::reader::CellReader;

/// Frames count as too fast when they come before this part of their period.
const EARLY: f64 = 0.8;

/// Frames of several cameras in the order of their stamps, those of one camera as they were given:
/// the JSON files beside them say which camera took them, and when.
///
/// # Errors
/// When a file beside a frame cannot be read.
pub fn in_order_of_time(mut paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, CellError> {
    let mut stamps = BTreeMap::new();
    let mut cameras = BTreeMap::new();
    for path in &paths {
        let side = Sidecar::beside(path)?;
        stamps.insert(path.clone(), side.stamp_ns);
        cameras.insert(side.camera, ());
    }
    if cameras.len() > 1 && stamps.values().all(Option::is_some) {
        paths.sort_by_key(|path| stamps.get(path).copied().flatten());
    }
    Ok(paths)
}

/// How frames are mapped.
#[derive(Clone, Debug, Default)]
pub struct MapperSettings {
    /// Threads, and how often each frame is done.
    pub runner: RunnerSettings,
    /// Whether it is watched that the robot's links are seen where they should be.
    pub watch_drift: bool,
    /// Folder for the voxels, the fates of points and the counts of every frame.
    pub save: Option<PathBuf>,
}

/// A map being made of frames.
#[derive(Debug)]
pub struct FrameMapper {
    reader: CellReader,
    settings: MapperSettings,
    /// Begins with the first frame: it may say the workspace.
    runner: Option<FrameRunner>,
    watches: BTreeMap<u16, DriftWatch>,
    moved: Option<String>,
    /// Of every frame: how long the pipeline and the map took.
    times: Vec<[Duration; 2]>,
    /// Of every camera: stamp of the newest frame that was taken in, and frames left out because
    /// they came too fast.
    newest_ns: BTreeMap<u16, u64>,
    left_out: usize,
}

/// What one frame gave.
#[derive(Clone, Debug)]
pub struct MappedFrame {
    /// Counts and times.
    pub report: FrameReport,
    /// Whether its camera moved, where that is watched.
    pub drift: Option<Drift>,
}

/// What all frames gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MapSummary {
    /// Frames.
    pub frames: usize,
    /// Frames that were left out, because their camera's came faster than its `rate_hz`.
    pub left_out: usize,
    /// Cameras.
    pub cameras: usize,
    /// Voxels in the map.
    pub map_voxels: usize,
    /// Median time of the pipeline.
    pub pipeline_ms: f64,
    /// Median time of the map.
    pub map_ms: f64,
    /// Frames a second at this pace.
    pub hz: f64,
}

impl FrameMapper {
    /// Of nothing yet.
    #[must_use]
    pub fn new(reader: CellReader, settings: MapperSettings) -> Self {
        let (watches, times) = (BTreeMap::new(), Vec::new());
        let (newest_ns, left_out) = (BTreeMap::new(), 0);
        Self { reader, settings, runner: None, watches, moved: None, times, newest_ns, left_out }
    }

    /// Who reads the frames, for recordings.
    pub fn reader_mut(&mut self) -> &mut CellReader {
        &mut self.reader
    }

    /// Brings a frame on disk into the map; none where its camera's came too fast.
    ///
    /// # Errors
    /// When the frame cannot be read or makes no sense, or files cannot be written.
    pub fn add(&mut self, path: &Path) -> Result<Option<MappedFrame>, CellError> {
        let frame = self.reader.read(path)?;
        self.add_frame(frame)
    }

    /// Whether a frame comes faster than its camera's rate.
    fn is_too_fast(&self, frame: &CellFrame) -> bool {
        let camera = self.reader.cell().cameras.values().nth(usize::from(frame.camera));
        let rate_hz = camera.and_then(|camera| camera.rate_hz);
        let newest_ns = self.newest_ns.get(&frame.camera);
        rate_hz.zip(newest_ns).is_some_and(|(rate_hz, newest_ns)| {
            // A little early is in time: frames are not spaced evenly.
            let after_s = frame.cloud.stamp_ns.saturating_sub(*newest_ns) as f64 * 1e-9;
            frame.cloud.stamp_ns > *newest_ns && after_s < EARLY / rate_hz
        })
    }

    /// The same of a frame that is read already.
    ///
    /// # Errors
    /// When the frame makes no sense, or files cannot be written.
    pub fn add_frame(&mut self, mut frame: CellFrame) -> Result<Option<MappedFrame>, CellError> {
        if self.is_too_fast(&frame) {
            self.left_out += 1;
            return Ok(None);
        }
        let runner = match &mut self.runner {
            Some(runner) => runner,
            none => none.insert(FrameRunner::new(self.reader.cell(), self.settings.runner)?),
        };
        let report = runner.run(&mut frame)?;
        self.newest_ns.insert(frame.camera, frame.cloud.stamp_ns);
        let drift = self.settings.watch_drift.then(|| {
            let new = || DriftWatch::new(DriftSettings::default());
            let watch = self.watches.entry(frame.camera).or_insert_with(new);
            watch.look(&frame.cloud, &frame.view, &frame.looks)
        });
        let is_moved = drift.as_ref().is_some_and(|d| d.verdict == DriftVerdict::Alarm);
        if is_moved && self.moved.is_none() {
            self.moved = Some(report.name.clone());
        }
        self.times.push([report.order_time + report.pipeline_time, report.map_time]);
        let mapped = MappedFrame { report, drift };
        if let Some(folder) = &self.settings.save {
            let (pipeline, pose) = (&mut runner.pipeline, &frame.view.world_from_camera);
            pipeline.run_with_fates(&frame.cloud, pose, &frame.robot())?;
            let (name, told) = (&mapped.report.name, mapped.json());
            let (made, fates) = (pipeline.frame(), pipeline.fates());
            save_frame(folder, name, made, fates, &frame.pixel_of, &told)?;
        }
        Ok(Some(mapped))
    }

    /// The map of all frames so far; none before the first.
    #[must_use]
    pub fn map(&self) -> Option<Arc<MapSnapshot>> {
        self.runner.as_ref().map(|runner| runner.map.snapshot())
    }

    /// The frame at which a camera had moved at the latest.
    #[must_use]
    pub fn moved(&self) -> Option<&str> {
        self.moved.as_deref()
    }

    /// All frames so far, in numbers; `map` is theirs.
    #[must_use]
    pub fn summary(&self, map: &MapSnapshot) -> MapSummary {
        let median_ms = |part: usize| {
            let mut all: Vec<f64> =
                self.times.iter().map(|times| 1e3 * times[part].as_secs_f64()).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or(0.0)
        };
        let (pipeline_ms, map_ms) = (median_ms(0), median_ms(1));
        MapSummary {
            frames: self.times.len(),
            left_out: self.left_out,
            cameras: self.newest_ns.len(),
            map_voxels: map.voxels().len(),
            pipeline_ms,
            map_ms,
            hz: 1e3 / (pipeline_ms + map_ms),
        }
    }
}

impl MappedFrame {
    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let drift = self.drift.as_ref().map(|drift| {
            json!({
                "verdict": drift.verdict.to_string(),
                "shift_m": drift.offset.as_ref().map(|offset| offset.shift_m),
                "turn_deg": drift.offset.as_ref().map(|offset| offset.rotation_deg),
            })
        });
        let mut all = self.report.json();
        all["drift"] = json!(drift);
        all
    }
}
