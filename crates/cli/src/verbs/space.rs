//! `citrange space run|view|simulate|calibrate`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use citrange_calibrate::{Drift, DriftSettings, DriftVerdict, DriftWatch};
use citrange_space::{
    CellFrame, CellFrames, Fate, FramePicture, FrameReport, FrameRunner, Pipeline, RunnerSettings,
    save_frame,
};
use serde_json::{Value, json};

use super::{space_calibrate, space_simulate};
use crate::cell_body::body_of;
use crate::exit::problems_found;
use crate::output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make voxels of frames and a map of them; counts, times, files.
    Run(Run),
    /// Draw what became of a frame.
    View(View),
    /// Take frames in a simulated scene, with the noise of a real depth camera.
    Simulate(space_simulate::Args),
    /// Find where a camera stands.
    #[command(subcommand)]
    Calibrate(space_calibrate::Command),
}

/// Which cell the frames are of, on the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct CellArgs {
    /// The cell: cameras, robot, stages (YAML). Without it a JSON file beside each frame says
    /// where it was taken, and defaults do the rest.
    #[arg(long, value_name = "YAML")]
    config: Option<PathBuf>,
    /// Camera of the cell that took the frames, if it has several and the JSON beside a frame does
    /// not name it.
    #[arg(long)]
    camera: Option<String>,
    /// Columns of the picture, for files that do not say.
    #[arg(long)]
    width: Option<usize>,
}

impl CellArgs {
    pub(crate) fn frames(&self) -> anyhow::Result<CellFrames> {
        Ok(CellFrames::new(self.config.as_deref(), self.camera.clone(), self.width)?)
    }
}

/// A frame of a cell.
pub(crate) fn read(frames: &mut CellFrames, path: &Path) -> anyhow::Result<CellFrame> {
    frames.read(path, |robot, folder| {
        body_of(robot, folder).with_context(|| path.display().to_string())
    })
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
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

#[derive(Debug, clap::Args)]
pub(crate) struct View {
    /// A frame: .npz, .ply or .pcd.
    cloud: PathBuf,
    /// Where the picture goes.
    #[arg(short, long, value_name = "PNG")]
    output: PathBuf,
    #[command(flatten)]
    cell: CellArgs,
}

impl Command {
    /// Whether its `--json` is one object per line.
    pub(crate) fn tells_lines(&self) -> bool {
        matches!(self, Self::Run(_))
    }
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run_frames(args),
        Command::View(args) => view(args),
        Command::Simulate(args) => space_simulate::run(args),
        Command::Calibrate(command) => space_calibrate::run(command),
    }
}

fn view(args: &View) -> anyhow::Result<()> {
    let mut frames = args.cell.frames()?;
    let given = read(&mut frames, &args.cloud)?;
    let mut pipeline = Pipeline::new(frames.cell.pipeline.clone())?;
    pipeline.run_with_fates(&given.cloud, &given.view.world_from_camera, &given.robot())?;
    let shown = FramePicture {
        points: &given.cloud,
        pinhole: given.view.pinhole,
        world_from_camera: &given.view.world_from_camera,
        fates: pipeline.fates(),
        frame: pipeline.frame(),
        robot: &given.shapes,
    };
    shown.draw()?.save(&args.output)?;
    output::talk(&format!(
        "{}: {} voxels in {} groups -> {}",
        given.name,
        pipeline.frame().voxels.len(),
        pipeline.frame().clusters,
        args.output.display()
    ));
    Ok(())
}

fn run_frames(args: &Run) -> anyhow::Result<()> {
    let mut frames = args.cell.frames()?;
    let mut work: Option<FrameRunner> = None;
    let mut told = Vec::new();
    let mut watches = BTreeMap::new();
    let mut moved = None;
    let bar = output::progress("frames", args.clouds.len() as u64);
    for path in &args.clouds {
        let mut given = read(&mut frames, path)?;
        let settings = RunnerSettings { threads: args.threads, repeat: args.repeat };
        let runner = match &mut work {
            Some(runner) => runner,
            None => work.insert(FrameRunner::new(&frames.cell, settings)?),
        };
        let one = runner.run(&mut given)?;
        let drift = args.drift.then(|| {
            let watch = watches
                .entry(given.camera)
                .or_insert_with(|| DriftWatch::new(DriftSettings::default()));
            watch.look(&given.cloud, &given.view, &given.looks)
        });
        if moved.is_none() && drift.as_ref().is_some_and(|d| d.verdict == DriftVerdict::Alarm) {
            moved = Some(one.name.clone());
        }
        let mut shown = one.json();
        shown["drift"] = json!(drift.as_ref().map(drift_json));
        if args.json {
            output::data(&shown.to_string())?;
        } else if args.stats {
            bar.suspend(|| print(&one, drift.as_ref()))?;
        }
        if let Some(folder) = &args.save {
            let pipeline = &mut runner.pipeline;
            pipeline.run_with_fates(&given.cloud, &given.view.world_from_camera, &given.robot())?;
            save_frame(folder, &one.name, pipeline.frame(), pipeline.fates(), &shown)?;
        }
        told.push(one);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let Some(FrameRunner { map, .. }) = work else { return Ok(()) };
    let snapshot = map.snapshot();
    if let Some(path) = &args.map {
        snapshot.save(path)?;
        output::talk(&format!("map of {} voxels -> {}", snapshot.voxels().len(), path.display()));
    }
    summary(args, &told, snapshot.voxels().len())?;
    match moved {
        Some(name) => {
            let words = format!("a camera has moved: since {name} at the latest");
            Err(problems_found(words))
        }
        None => Ok(()),
    }
}

fn print(one: &FrameReport, drift: Option<&Drift>) -> anyhow::Result<()> {
    output::data(&format!("{}: {} points", one.name, one.points))?;
    for fate in Fate::ALL {
        let count = one.counts.of(fate);
        if count > 0 {
            let percent = 100.0 * count as f64 / one.points.max(1) as f64;
            output::data(&format!("  {:<14} {count:>9}  {percent:>5.1} %", fate.name()))?;
        }
    }
    output::data(&format!("  {} voxels in {} groups", one.voxels, one.clusters))?;
    for (stage, time) in &one.stages {
        output::data(&format!("  {:<14} {:>9.3} ms", stage.name(), ms(*time)))?;
    }
    for thing in &one.moving {
        output::data(&format!("  moving: {thing}"))?;
    }
    if let Some(drift) = drift {
        output::data(&format!("  camera: {}", drift.verdict))?;
    }
    let (pipeline, map) = (ms(one.pipeline_time), ms(one.map_time));
    output::data(&format!("  pipeline {pipeline:.3} ms, map {map:.3} ms: {:.0} Hz", one.hz()))
}

fn drift_json(drift: &Drift) -> Value {
    json!({
        "verdict": drift.verdict.to_string(),
        "shift_m": drift.offset.as_ref().map(|offset| offset.shift_m),
        "turn_deg": drift.offset.as_ref().map(|offset| offset.rotation_deg),
    })
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn summary(args: &Run, told: &[FrameReport], voxels: usize) -> anyhow::Result<()> {
    let pipeline = median(told.iter().map(|t| ms(t.pipeline_time)).collect());
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
