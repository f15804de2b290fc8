//! `citrange space run|view|simulate|calibrate`.

mod calibrate;
mod simulate;

use std::collections::BTreeSet;
use std::path::PathBuf;

use citrange_cell::{
    CellError, CellReader, FrameMapper, MappedFrame, MapperSettings, RecordedFrames,
    RecordedWanted, draw_frame, in_order_of_time,
};
use citrange_cloud::{Recording, Workspace};
use citrange_space::{OutlierMode, Outliers, RunnerSettings};
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

/// What of a recording is read.
#[derive(Debug, clap::Args)]
struct RecordedArgs {
    /// Topic of clouds or depths in a recording, with the camera of the cell where it has several.
    /// May be given again.
    #[arg(long, value_name = "[CAMERA=]TOPIC")]
    topic: Vec<String>,
    /// Topic of the robot's joints in a recording, if there are several.
    #[arg(long, value_name = "TOPIC")]
    joints_topic: Option<String>,
    /// Frame of a recording that is the world, if no --config says where cameras stand.
    #[arg(long, value_name = "FRAME")]
    world_frame: Option<String>,
}

/// Numbers of the cell, on the command line.
#[derive(Debug, clap::Args)]
struct NumberArgs {
    /// Edge of the voxels, in metres; instead of the cell's.
    #[arg(long, value_name = "M")]
    voxel_size: Option<f64>,
    /// The box that matters: x0,y0,z0,x1,y1,z1 in metres; instead of the cell's or the frames'.
    #[arg(
        long,
        value_name = "BOX",
        value_delimiter = ',',
        num_args = 6,
        allow_negative_numbers = true
    )]
    workspace: Vec<f64>,
    /// Statistical outliers; instead of what the cell says.
    #[arg(long, value_enum)]
    outliers: Option<OutlierWord>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OutlierWord {
    /// Left in.
    Off,
    /// The same points as Open3D takes away.
    Exact,
    /// Nearly the same, faster.
    Fast,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// Frames in the order in which they were taken (.npz, .ply, .pcd, depth .png), those of several
    /// cameras in any order; or recordings (.bag, .mcap).
    #[arg(required = true)]
    clouds: Vec<PathBuf>,
    #[command(flatten)]
    cell: CellArgs,
    #[command(flatten)]
    recorded: RecordedArgs,
    #[command(flatten)]
    numbers: NumberArgs,
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

impl NumberArgs {
    fn apply(&self, reader: &mut CellReader) {
        if let [x0, y0, z0, x1, y1, z1] = self.workspace[..] {
            let (lower_m, upper_m) = ([x0, y0, z0], [x1, y1, z1]);
            reader.fix_workspace(Workspace { lower_m, upper_m });
        }
        let pipeline = &mut reader.cell_mut().pipeline;
        if let Some(voxel_m) = self.voxel_size {
            pipeline.voxel_size_m = voxel_m;
        }
        let known = pipeline.outliers.unwrap_or_default();
        match self.outliers {
            None => {}
            Some(OutlierWord::Off) => pipeline.outliers = None,
            Some(OutlierWord::Exact) => {
                pipeline.outliers = Some(Outliers { mode: OutlierMode::Exact, ..known });
            }
            Some(OutlierWord::Fast) => {
                pipeline.outliers = Some(Outliers { mode: OutlierMode::Fast, ..known });
            }
        }
    }
}

impl RecordedArgs {
    fn wanted(&self) -> RecordedWanted {
        let topic = |word: &String| match word.split_once('=') {
            Some((camera, topic)) => (Some(camera.to_owned()), topic.to_owned()),
            None => (None, word.clone()),
        };
        RecordedWanted {
            topics: self.topic.iter().map(topic).collect(),
            joints: self.joints_topic.clone(),
            world: self.world_frame.clone(),
        }
    }
}

/// Tells of frames as they come.
struct Teller<'a> {
    args: &'a Run,
    bar: indicatif::ProgressBar,
    warned: BTreeSet<&'static str>,
}

impl Teller<'_> {
    fn tell(&mut self, mapped: Option<MappedFrame>) -> Result {
        self.bar.inc(1);
        let Some(mapped) = mapped else { return Ok(()) };
        // Once each: a camera's frames are all alike. With --stats they stand in every frame.
        for warning in mapped.report.warnings.iter().filter(|_| !self.args.stats) {
            if self.warned.insert(warning.about) {
                self.bar.suspend(|| output::talk(&format!("WARNING: {}", warning.text)));
            }
        }
        if self.args.json {
            output::data(&mapped.json().to_string())?;
        } else if self.args.stats {
            self.bar.suspend(|| output::lines(&mapped.lines()))?;
        }
        Ok(())
    }
}

fn map(args: &Run) -> Result {
    let runner = RunnerSettings { threads: args.threads, repeat: args.repeat };
    let settings = MapperSettings { runner, watch_drift: args.drift, save: args.save.clone() };
    let mut reader = args.cell.open()?;
    args.numbers.apply(&mut reader);
    let mut mapper = FrameMapper::new(reader, settings);
    let (mut clouds, mut recordings) = (Vec::new(), Vec::new());
    for path in &args.clouds {
        let is_recording = Recording::is_one(path).map_err(CellError::from)?;
        if is_recording { &mut recordings } else { &mut clouds }.push(path.clone());
    }
    let bar = output::progress("frames", clouds.len() as u64);
    let mut teller = Teller { args, bar, warned: BTreeSet::new() };
    for path in in_order_of_time(clouds)? {
        let mapped = mapper.add(&path)?;
        teller.tell(mapped)?;
    }
    let mut damage = Vec::new();
    for path in &recordings {
        let mut frames = RecordedFrames::open(path, mapper.reader_mut(), &args.recorded.wanted())?;
        while let Some(frame) = frames.next(mapper.reader_mut())? {
            let mapped = mapper.add_frame(frame)?;
            teller.tell(mapped)?;
        }
        damage.extend_from_slice(frames.damage());
    }
    teller.bar.finish_and_clear();
    for text in &damage {
        output::talk(&format!("WARNING: {text}"));
    }
    if let Some(map) = mapper.map() {
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
    }
    if let Some(first) = damage.first() {
        let text = format!("a recording is damaged; what is readable was mapped: {first}");
        return Err(problems_found(text));
    }
    let moved = |name| problems_found(format!("a camera has moved: since {name} at the latest"));
    mapper.moved().map_or(Ok(()), |name| Err(moved(name)))
}
