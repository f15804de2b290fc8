//! `citrange space run`: frames in, voxels and a map out, with counts and times.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use citrange_calibrate::{Drift, DriftSettings, DriftWatch, Verdict};
use citrange_space::{Counts, Fate, Map, MapReport, Pipeline, Robot, Stage};
use serde_json::{Value, json};

use super::given::{CellArgs, Loader};
use super::save;
use crate::exit::problems_found;
use crate::output;

/// Frames without stamps are taken to be this far apart.
const FRAME_NS: u64 = 33_333_333;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Frames in the order in which they were taken: .npz, .ply or .pcd.
    #[arg(required = true)]
    clouds: Vec<PathBuf>,
    #[command(flatten)]
    cell: CellArgs,
    /// Print what became of the points, and how long each stage took.
    #[arg(long)]
    stats: bool,
    /// Print JSON: an object per frame, then one for all.
    #[arg(long)]
    json: bool,
    /// Write the voxels (.npz and .ply), what became of every point (.npz) and the counts (.json)
    /// of each frame into a folder.
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    /// Write the map of all frames, for the planner.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Do each frame this often and tell the median time: a first run is slower.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Look whether the robot's links are seen where they should be; exit code 4 if a camera has
    /// moved.
    #[arg(long)]
    drift: bool,
}

/// What one frame gave.
struct Told {
    name: String,
    points: usize,
    voxels: usize,
    clusters: u32,
    counts: Counts,
    stages: Vec<(Stage, Duration)>,
    whole: Duration,
    map: MapReport,
    map_time: Duration,
    /// Things that move: where, and how fast.
    moving: Vec<Value>,
    /// Whether the camera stands where it should, if that was asked.
    drift: Option<Drift>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut loader = Loader::new(&args.cell)?;
    let mut work: Option<(Pipeline, Map)> = None;
    let mut told = Vec::new();
    let mut watches = BTreeMap::new();
    let bar = output::progress("frames", args.clouds.len() as u64);
    for (index, path) in args.clouds.iter().enumerate() {
        let mut given = loader.read(path)?;
        if given.cloud.stamp_ns == 0 {
            given.cloud.stamp_ns = FRAME_NS * (index as u64 + 1);
        }
        let (pipeline, map) = match &mut work {
            Some(work) => work,
            None => {
                let pipeline =
                    Pipeline::new(loader.cell.pipeline.clone())?.with_threads(args.threads);
                let map = Map::new(&loader.cell.map, pipeline.grid())?;
                work.insert((pipeline, map))
            }
        };
        let robot = Robot { solids: &given.solids, end_effector_m: given.hand_m };
        let pose = &given.view.world_from_camera;
        let mut tries = Vec::new();
        for _ in 0..args.repeat {
            let began = Instant::now();
            let frame = pipeline.run(&given.cloud, pose, &robot)?;
            tries.push((began.elapsed(), frame.times.clone()));
        }
        tries.sort_by_key(|(whole, _)| *whole);
        let (whole, stages) = tries.swap_remove(tries.len() / 2);
        let frame = pipeline.frame();
        let began = Instant::now();
        let report = map.integrate(given.camera, &given.cloud, &given.view, frame)?;
        let map_time = began.elapsed();
        let moving = map.tracks().iter().filter(|track| track.is_moving).map(
            |track| json!({"centroid_m": track.centroid_m, "velocity_m_s": track.velocity_m_s}),
        );
        let drift = args.drift.then(|| {
            let watch = watches
                .entry(given.camera)
                .or_insert_with(|| DriftWatch::new(DriftSettings::default()));
            watch.look(&given.cloud, &given.view, &given.looks)
        });
        let one = Told {
            name: given.name,
            points: frame.counts.total() as usize,
            voxels: frame.voxels.len(),
            clusters: frame.clusters,
            counts: frame.counts,
            stages,
            whole,
            map: report,
            map_time,
            moving: moving.collect(),
            drift,
        };
        if args.json {
            output::data(&one.json().to_string())?;
        } else if args.stats {
            bar.suspend(|| one.print())?;
        }
        if let Some(folder) = &args.save {
            pipeline.run_with_fates(&given.cloud, pose, &robot)?;
            save::frame(folder, &one.name, pipeline.frame(), pipeline.fates(), &one.json())?;
        }
        told.push(one);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let Some((_, map)) = work else { return Ok(()) };
    let snapshot = map.snapshot();
    if let Some(path) = &args.map {
        snapshot.save(path)?;
        output::talk(&format!("map of {} voxels -> {}", snapshot.voxels().len(), path.display()));
    }
    summary(args, &told, snapshot.voxels().len())?;
    let moved = |one: &&Told| one.drift.as_ref().is_some_and(|d| d.verdict == Verdict::Alarm);
    match told.iter().find(moved) {
        Some(one) => {
            let words = format!("a camera has moved: since {} at the latest", one.name);
            Err(problems_found(words))
        }
        None => Ok(()),
    }
}

impl Told {
    fn json(&self) -> Value {
        let counts = Fate::ALL.map(|fate| (fate.name(), self.counts.of(fate)));
        let stages = self.stages.iter().map(|(stage, time)| (stage.name(), ms(*time)));
        json!({
            "frame": self.name,
            "points": self.points,
            "voxels": self.voxels,
            "clusters": self.clusters,
            "counts": counts.into_iter().collect::<BTreeMap<_, _>>(),
            "fates": Fate::ALL.map(Fate::name),
            "ms": stages.collect::<BTreeMap<_, _>>(),
            "pipeline_ms": ms(self.whole),
            "map_ms": ms(self.map_time),
            "hz": 1.0 / (self.whole + self.map_time).as_secs_f64(),
            "map": {
                "appeared": self.map.appeared,
                "cleared": self.map.cleared,
                "forgotten": self.map.forgotten,
            },
            "moving": self.moving,
            "drift": self.drift.as_ref().map(drift_json),
        })
    }

    fn print(&self) -> anyhow::Result<()> {
        output::data(&format!("{}: {} points", self.name, self.points))?;
        for fate in Fate::ALL {
            let count = self.counts.of(fate);
            if count > 0 {
                let share = 100.0 * count as f64 / self.points.max(1) as f64;
                output::data(&format!("  {:<14} {count:>9}  {share:>5.1} %", fate.name()))?;
            }
        }
        output::data(&format!("  {} voxels in {} groups", self.voxels, self.clusters))?;
        for (stage, time) in &self.stages {
            output::data(&format!("  {:<14} {:>9.3} ms", stage.name(), ms(*time)))?;
        }
        for thing in &self.moving {
            output::data(&format!("  moving: {thing}"))?;
        }
        if let Some(drift) = &self.drift {
            output::data(&format!("  camera: {}", drift.verdict))?;
        }
        let (whole, map) = (ms(self.whole), ms(self.map_time));
        let hz = 1e3 / (whole + map);
        output::data(&format!("  pipeline {whole:.3} ms, map {map:.3} ms: {hz:.0} Hz"))
    }
}

fn drift_json(drift: &Drift) -> Value {
    json!({
        "verdict": drift.verdict.to_string(),
        "shift_m": drift.offset.as_ref().map(|offset| offset.shift_m),
        "turn_deg": drift.offset.as_ref().map(|offset| offset.turn_deg),
    })
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn summary(args: &Args, told: &[Told], voxels: usize) -> anyhow::Result<()> {
    let pipeline = median(told.iter().map(|t| ms(t.whole)).collect());
    let map = median(told.iter().map(|t| ms(t.map_time)).collect());
    let hz = 1e3 / (pipeline + map);
    if args.json {
        let all = json!({
            "frames": told.len(), "map_voxels": voxels,
            "pipeline_ms": pipeline, "map_ms": map, "hz": hz,
        });
        return output::data(&all.to_string());
    }
    output::data(&format!(
        "{} frames, {voxels} voxels in the map; median pipeline {pipeline:.3} ms, map {map:.3} ms: \
         {hz:.0} Hz",
        told.len()
    ))
}
