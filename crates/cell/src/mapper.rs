//! Frames one after the other into a map, with counts, times, and a look whether cameras moved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use citrange_calibrate::{Drift, DriftSettings, DriftVerdict, DriftWatch};
use citrange_space::{FrameReport, FrameRunner, MapSnapshot, RunnerSettings, save_frame};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::CellError;
use crate::reader::CellReader;

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
        Self { reader, settings, runner: None, watches, moved: None, times }
    }

    /// Brings a frame into the map.
    ///
    /// # Errors
    /// When the frame cannot be read or makes no sense, or files cannot be written.
    pub fn add(&mut self, path: &Path) -> Result<MappedFrame, CellError> {
        let mut frame = self.reader.read(path)?;
        let runner = match &mut self.runner {
            Some(runner) => runner,
            none => none.insert(FrameRunner::new(self.reader.cell(), self.settings.runner)?),
        };
        let report = runner.run(&mut frame)?;
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
        Ok(mapped)
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
