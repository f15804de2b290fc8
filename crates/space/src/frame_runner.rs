//! Frames one after the other through the pipeline into the map, with counts and times.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cell::Cell;
use crate::cell_frames::CellFrame;
use crate::error::SpaceError;
use citrange_cloud::PointOrder;

use crate::frame::{Counts, Fate, FrameWarning, PipelineStage};
use crate::map::{Map, MapReport};
use crate::pipeline::Pipeline;

/// Frames without stamps are taken to be this far apart.
const FRAME_NS: u64 = 33_333_333;

/// How frames are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunnerSettings {
    /// Threads of the pipeline.
    pub threads: usize,
    /// Do each frame this often; the median time is told.
    pub repeat: u32,
}

impl Default for RunnerSettings {
    fn default() -> Self {
        Self { threads: 1, repeat: 1 }
    }
}

/// A pipeline and the map of all that it was given.
#[derive(Debug)]
pub struct FrameRunner {
    settings: RunnerSettings,
    /// The pipeline; its last frame is the last that was run.
    pub pipeline: Pipeline,
    /// What all frames together show.
    pub map: Map,
    frames: u64,
}

/// What one frame gave.
#[derive(Clone, Debug)]
pub struct FrameReport {
    /// Its name.
    pub name: String,
    /// Points that the camera took.
    pub points: usize,
    /// In which order they came.
    pub order: PointOrder,
    /// How long putting them into pixels took.
    pub order_time: Duration,
    /// What somebody should know.
    pub warnings: Vec<FrameWarning>,
    /// Voxels that are left.
    pub voxels: usize,
    /// Groups of them.
    pub clusters: u32,
    /// What became of the points.
    pub counts: Counts,
    /// How long the stages took.
    pub stages: Vec<(PipelineStage, Duration)>,
    /// How long the pipeline took.
    pub pipeline_time: Duration,
    /// What changed in the map.
    pub map: MapReport,
    /// How long that took.
    pub map_time: Duration,
    /// Things that move: where, and how fast.
    pub moving: Vec<Value>,
}

impl FrameRunner {
    /// With the settings of a cell.
    ///
    /// # Errors
    /// When a setting is out of range.
    pub fn new(cell: &Cell, settings: RunnerSettings) -> Result<Self, SpaceError> {
        let pipeline = Pipeline::new(cell.pipeline.clone())?.with_threads(settings.threads);
        let map = Map::new(&cell.map, pipeline.grid())?;
        Ok(Self { settings, pipeline, map, frames: 0 })
    }

    /// Brings a frame into the map. One without a stamp gets that of a camera of 30 Hz.
    ///
    /// # Errors
    /// When the frame makes no sense, or is older than the map.
    pub fn run(&mut self, frame: &mut CellFrame) -> Result<FrameReport, SpaceError> {
        self.frames += 1;
        if frame.cloud.stamp_ns == 0 {
            frame.cloud.stamp_ns = FRAME_NS * self.frames;
        }
        let pose = &frame.view.world_from_camera;
        let mut tries = Vec::new();
        for _ in 0..self.settings.repeat.max(1) {
            let began = Instant::now();
            let made = self.pipeline.run(&frame.cloud, pose, &frame.robot())?;
            tries.push((began.elapsed(), made.times.clone()));
        }
        tries.sort_by_key(|(whole, _)| *whole);
        let (pipeline_time, stages) = tries.swap_remove(tries.len() / 2);
        let made = self.pipeline.frame();
        let began = Instant::now();
        let map = self.map.integrate_with_robot(
            frame.camera,
            &frame.cloud,
            &frame.view,
            made,
            &frame.shapes,
        )?;
        let map_time = began.elapsed();
        let moving = self.map.tracks().iter().filter(|track| track.is_moving).map(|track| {
            json!({
                "id": track.id,
                "camera": track.camera,
                "centroid_m": track.centroid_m,
                "velocity_m_s": track.velocity_m_s,
                "lower_m": track.bounds_m[0],
                "upper_m": track.bounds_m[1],
            })
        });
        let came = match frame.pixel_of.len() {
            0 => frame.cloud.xyz_m.len(),
            points => points,
        };
        Ok(FrameReport {
            name: frame.name.clone(),
            points: came,
            order: frame.order.clone(),
            order_time: frame.order_time,
            warnings: frame.warnings.clone(),
            voxels: made.voxels.len(),
            clusters: made.clusters,
            counts: made.counts.of_points(came),
            stages,
            pipeline_time,
            map,
            map_time,
            moving: moving.collect(),
        })
    }
}

impl FrameReport {
    /// Frames a second at this pace.
    #[must_use]
    pub fn hz(&self) -> f64 {
        1.0 / (self.order_time + self.pipeline_time + self.map_time).as_secs_f64()
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let ms = |time: Duration| 1e3 * time.as_secs_f64();
        let counts = Fate::ALL.map(|fate| (fate.name(), self.counts.of(fate)));
        let stages = self.stages.iter().map(|(stage, time)| (stage.name(), ms(*time)));
        json!({
            "frame": self.name,
            "points": self.points,
            "order": order_json(&self.order),
            "order_ms": ms(self.order_time),
            "warnings": self.warnings,
            "voxels": self.voxels,
            "clusters": self.clusters,
            "counts": counts.into_iter().collect::<BTreeMap<_, _>>(),
            "fates": Fate::ALL.map(Fate::name),
            "ms": stages.collect::<BTreeMap<_, _>>(),
            "pipeline_ms": ms(self.pipeline_time),
            "map_ms": ms(self.map_time),
            "hz": self.hz(),
            "map": {
                "appeared": self.map.appeared,
                "cleared": self.map.cleared,
                "forgotten": self.map.forgotten,
            },
            "motion": self.map.motion.name(),
            "moving": self.moving,
        })
    }
}

/// In which order points came: `as` is `picture`, `placed` or `unordered`.
fn order_json(order: &PointOrder) -> Value {
    match order {
        PointOrder::Picture => json!({"as": "picture"}),
        PointOrder::Unordered { reason } => json!({"as": "unordered", "reason": reason}),
        PointOrder::Placed(placed) => json!({
            "as": "placed",
            "intrinsics": if placed.found { "found" } else { "given" },
            "placed": placed.placed,
            "doubled": placed.doubled,
            "behind": placed.behind,
            "off_px": placed.off_px,
        }),
    }
}
