//! `citrange space run|view|simulate|calibrate`.

mod calibrate;
mod simulate;

use std::collections::BTreeSet;
use std::path::PathBuf;

use citrange_cell::{CellReader, FrameMapper, MapperSettings, draw_frame};
use citrange_space::RunnerSettings;
use serde_json::json;

use crate::exit::{Result, problems_found};
use crate::output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make voxels of frames and a map of them; counts, times, files.
    Run(Run),
    /// Draw what became of a frame.
    View(View),
    /// Take frames in a simulated scene, with the noise of a real depth camera.
    Simulate(simulate::Args),
    /// Find where a camera stands.
    #[command(subcommand)]
    Calibrate(calibrate::Command),
}

/// Which cell the frames are of, on the command line.
#[derive(Debug, clap::Args)]
struct CellArgs {
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
    /// Write the map for other programs, by extension: .npz (states, ages, gaps), .ply and .obj
    /// (faces), .bt (OctoMap). May be given again.
    #[arg(long, value_name = "FILE")]
    export: Vec<PathBuf>,
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

impl CellArgs {
    fn open(&self) -> Result<CellReader> {
        Ok(CellReader::open(self.config.as_deref(), self.camera.clone(), self.width)?)
    }
}

pub(crate) fn run(command: &Command) -> Result {
    match command {
        Command::Run(args) => map(args),
        Command::View(args) => view(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Calibrate(command) => calibrate::run(command),
    }
}

fn view(args: &View) -> Result {
    let drawn = draw_frame(&mut args.cell.open()?, &args.cloud)?;
    drawn.save(&args.output)?;
    output::talk(&format!("{drawn} -> {}", args.output.display()));
    Ok(())
}

fn map(args: &Run) -> Result {
    let runner = RunnerSettings { threads: args.threads, repeat: args.repeat };
    let settings = MapperSettings { runner, watch_drift: args.drift, save: args.save.clone() };
    let mut mapper = FrameMapper::new(args.cell.open()?, settings);
    let bar = output::progress("frames", args.clouds.len() as u64);
    let mut warned = BTreeSet::new();
    for path in &args.clouds {
        let mapped = mapper.add(path)?;
        // Once each: a camera's frames are all alike. With --stats they stand in every frame.
        for warning in mapped.report.warnings.iter().filter(|_| !args.stats) {
            if warned.insert(warning.about) {
                bar.suspend(|| output::talk(&format!("WARNING: {}", warning.text)));
            }
        }
        if args.json {
            output::data(&mapped.json().to_string())?;
        } else if args.stats {
            bar.suspend(|| output::lines(&mapped.lines()))?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let Some(map) = mapper.map() else { return Ok(()) };
    if let Some(path) = &args.map {
        map.save(path)?;
        output::talk(&format!("map of {} voxels -> {}", map.voxels().len(), path.display()));
    }
    for path in &args.export {
        map.export(path)?;
        output::talk(&format!("map -> {}", path.display()));
    }
    let summary = mapper.summary(&map);
    let line = if args.json { json!(summary).to_string() } else { summary.to_string() };
    output::data(&line)?;
    let moved = |name| problems_found(format!("a camera has moved: since {name} at the latest"));
    mapper.moved().map_or(Ok(()), |name| Err(moved(name)))
}
