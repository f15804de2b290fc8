//! `citrange replay`: repeats a recorded episode, exactly where the file allows it.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use citrange_core::run::run as run_episode;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{Event, Fault, Outcome, Rig as _, RunSettings, Snapshot, Tape};
use citrange_sim::SimRig;
use citrange_tape::{
    Dataset, DemoEpisode, Episode, ExactReplay, FrameReplay, TapeError, Verifier, VerifyReport,
};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::compiled;
use crate::exit::ProblemsFound;
use crate::film::Film;
use crate::hdf5_in::{Prepared, is_demo, prepare};
use crate::say;
use crate::session::{catch_stop, go_to, rig_of};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A dataset's folder, a tape, or an HDF5 file.
    path: PathBuf,
    /// Which episode of the dataset; with --verify all of them by default.
    #[arg(long)]
    episode: Option<usize>,
    /// Compare every physics step with the recording; exit code 4 if anything differs.
    #[arg(long)]
    verify: bool,
    /// Times real time; by default as fast as it goes.
    #[arg(long)]
    speed: Option<f64>,
    /// Make a film of it, all cameras side by side.
    #[arg(long, value_name = "MP4")]
    render: Option<PathBuf>,
    /// Begin at this frame.
    #[arg(long, default_value_t = 0)]
    from: usize,
    /// Hold the dataset's one target per frame instead of repeating every command.
    #[arg(long)]
    frame_targets: bool,
    /// Scene for files that have none, as LeRobot datasets of others.
    #[arg(long)]
    scene: Option<String>,
    /// Threads for verifying several episodes.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let source = Source::open(args)?;
    let episodes: Vec<usize> = match args.episode {
        Some(episode) => vec![episode],
        None if args.verify => (0..source.len()).collect(),
        None => vec![0],
    };
    for episode in &episodes {
        source.check(*episode)?;
    }
    catch_stop()?;
    let bar = say::progress("replaying", episodes.len() as u64);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.max(1)).build()?;
    let results: Vec<anyhow::Result<Replayed>> = pool.install(|| {
        let one = |episode: &usize| {
            let result = replay(args, &source, *episode);
            bar.inc(1);
            result
        };
        if args.threads > 1 {
            episodes.par_iter().map(one).collect()
        } else {
            episodes.iter().map(one).collect()
        }
    });
    bar.finish_and_clear();
    let mut differing = 0;
    let mut lines = Vec::new();
    for (episode, result) in episodes.iter().zip(results) {
        let replayed = result.with_context(|| format!("episode {episode}"))?;
        differing += usize::from(!replayed.good(args.verify));
        if args.json {
            lines.push(replayed.json(*episode));
        } else {
            say::data(&format!("episode {episode}: {}", replayed.text()))?;
        }
    }
    if args.json {
        say::data(&json!({ "episodes": lines, "differing": differing }).to_string())?;
    }
    if args.verify && differing > 0 {
        let all = episodes.len();
        return Err(ProblemsFound(format!("{differing} of {all} episodes differ")).into());
    }
    Ok(())
}

/// Where episodes come from.
enum Source {
    Dataset(Box<Dataset>),
    Tape(Arc<Episode>),
    Demos(Vec<DemoEpisode>),
}

impl Source {
    fn open(args: &Args) -> anyhow::Result<Self> {
        let path = &args.path;
        if path.is_dir() {
            return Ok(Self::Dataset(Box::new(Dataset::open(path)?)));
        }
        if !path.exists() {
            bail!(TapeError::Missing(format!("there is no {}", path.display())));
        }
        if is_demo(path) {
            return Ok(Self::Demos(DemoEpisode::read(path)?));
        }
        Ok(Self::Tape(Arc::new(Episode::read(path)?)))
    }

    fn len(&self) -> usize {
        match self {
            Self::Dataset(dataset) => dataset.len(),
            Self::Tape(_) => 1,
            Self::Demos(demos) => demos.len(),
        }
    }

    fn check(&self, episode: usize) -> anyhow::Result<()> {
        match self {
            Self::Dataset(dataset) => Ok(dataset.check_episode(episode)?),
            _ if episode < self.len() => Ok(()),
            Self::Tape(_) => {
                bail!(TapeError::Missing(format!("there is one episode, number 0, not {episode}")))
            }
            Self::Demos(demos) => bail!(TapeError::Missing(format!(
                "there is no episode {episode}; the file has {}, numbered from 0",
                demos.len()
            ))),
        }
    }
}

/// What came of a replay.
enum Replayed {
    Exact {
        verify: VerifyReport,
        frames: u64,
    },
    /// Played only, nothing compared.
    Played {
        frames: u64,
        late_ticks: u64,
    },
    Near {
        frames: u64,
        level: String,
        largest_rad: f64,
        mean_rad: f64,
    },
}

impl Replayed {
    fn good(&self, verify: bool) -> bool {
        match self {
            Self::Exact { verify, .. } => verify.is_bitwise(),
            Self::Played { .. } => true,
            Self::Near { .. } => !verify,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Exact { verify, .. } => verify.to_string(),
            Self::Played { frames, late_ticks } => {
                format!("{frames} frames, every command, {late_ticks} ticks late")
            }
            Self::Near { frames, level, largest_rad, .. } if largest_rad.is_nan() => {
                format!("{frames} frames by one target per frame; {level}; no joints to compare")
            }
            Self::Near { frames, level, largest_rad, mean_rad } => format!(
                "{frames} frames by one target per frame; {level}; joints within {largest_rad:.4} \
                 rad of the recorded ones (mean {mean_rad:.4})"
            ),
        }
    }

    fn json(&self, episode: usize) -> Value {
        match self {
            Self::Exact { verify, frames } => json!({
                "episode": episode, "kind": "exact", "frames": frames,
                "bitwise": verify.is_bitwise(), "verify": verify,
            }),
            Self::Played { frames, late_ticks } => json!({
                "episode": episode, "kind": "exact", "frames": frames, "late_ticks": late_ticks,
            }),
            Self::Near { frames, level, largest_rad, mean_rad } => json!({
                "episode": episode, "kind": "frame_targets", "frames": frames, "start": level,
                "largest_joint_error_rad": largest_rad, "mean_joint_error_rad": mean_rad,
            }),
        }
    }
}

fn replay(args: &Args, source: &Source, episode: usize) -> anyhow::Result<Replayed> {
    match source {
        Source::Demos(demos) => demo(args, &demos[episode]),
        Source::Tape(tape) if !args.frame_targets => exact(args, Arc::clone(tape), 0..tape.len()),
        Source::Tape(tape) => {
            let rows = Rows {
                targets: (0..tape.len())
                    .filter_map(|f| tape.action(f))
                    .map(<[f64]>::to_vec)
                    .collect(),
                seen: tape.frames.iter().map(|f| f.joint_pos.clone()).collect(),
            };
            let mut rig = rig_for(args, tape)?;
            go_to(&mut rig, tape, args.from.min(tape.len().saturating_sub(1)))?;
            near(args, rig, rows, "exact start".into())
        }
        Source::Dataset(dataset) => match dataset.tape(episode)? {
            Some((tape, shown)) if !args.frame_targets => exact(args, Arc::new(tape), shown),
            tape => by_rows(args, dataset, episode, tape),
        },
    }
}

/// An episode of an HDF5 file: exactly if its tape is inside, else from the best start it allows.
fn demo(args: &Args, demo: &DemoEpisode) -> anyhow::Result<Replayed> {
    if let Some(problem) = &demo.tape_problem {
        say::talk(&format!("the tape inside cannot be used: {problem}"));
    }
    if let Some((tape, shown)) = demo.tape.as_ref().filter(|_| !args.frame_targets) {
        return exact(args, Arc::new(tape.clone()), shown.clone());
    }
    if args.from > 0 {
        bail!(TapeError::Missing(
            "without a tape only the start is known: leave --from out".into()
        ));
    }
    let cameras: Option<&[String]> = args.render.is_none().then_some(&[]);
    let Prepared { rig, motion, report } = prepare(demo, args.scene.as_deref(), cameras)?;
    let rows = Rows { targets: motion.targets, seen: motion.seen };
    near(args, rig, rows, report.level.to_string())
}

fn rig_for(args: &Args, tape: &Episode) -> anyhow::Result<SimRig> {
    match &args.render {
        Some(_) => rig_of(tape, None),
        None => rig_of(tape, Some(&[])),
    }
}

fn exact(
    args: &Args,
    tape: Arc<Episode>,
    shown: std::ops::Range<usize>,
) -> anyhow::Result<Replayed> {
    if args.from >= shown.len() {
        bail!(TapeError::Missing(format!(
            "there is no frame {}; the episode has {}, numbered from 0",
            args.from,
            shown.len()
        )));
    }
    let range = shown.start + args.from..shown.end;
    let mut rig = rig_for(args, &tape)?;
    let targets = go_to(&mut rig, &tape, range.start)?;
    let mut verifier = Verifier::new(Arc::clone(&tape), range.start);
    let mut pilot = ExactReplay::new(Arc::clone(&tape), range);
    let report = play(args, &mut rig, &mut pilot, &mut verifier, &targets)?;
    if args.verify {
        return Ok(Replayed::Exact { verify: verifier.into_report(), frames: report.frames });
    }
    Ok(Replayed::Played { frames: report.frames, late_ticks: report.late_ticks })
}

/// What a LeRobot dataset knows: a target and the joints seen per frame, radians and metres.
struct Rows {
    targets: Vec<Vec<f64>>,
    seen: Vec<Vec<f64>>,
}

impl Rows {
    fn read(dataset: &Dataset, episode: usize) -> anyhow::Result<Self> {
        let rows = dataset.lerobot.read_episode(episode)?;
        let units = &dataset.index.units;
        let read = |name: &str| {
            let column = rows.column(name).and_then(|c| c.floats()).with_context(|| {
                format!("{} has no feature {name} of floats", dataset.root().display())
            })?;
            let width = column.len() / rows.length.max(1);
            if !units.is_empty() && units.len() != width {
                bail!("{name} has {width} numbers per frame, the dataset's units {}", units.len());
            }
            let value = |(i, shown): (usize, &f32)| match units.get(i) {
                Some(unit) => unit.read(f64::from(*shown)),
                // Nobody said: LeRobot's arms are in degrees, grippers in percent; without a
                // description of the joints only radians can be taken literally.
                None => f64::from(*shown),
            };
            let rows = column.chunks(width.max(1));
            Ok(rows.map(|row| row.iter().enumerate().map(value).collect()).collect())
        };
        Ok(Self { targets: read("action")?, seen: read("observation.state")? })
    }
}

/// Plays rows of a dataset: in the tape's scene if there is a tape, else in the scene named.
fn by_rows(
    args: &Args,
    dataset: &Dataset,
    episode: usize,
    tape: Option<(Episode, std::ops::Range<usize>)>,
) -> anyhow::Result<Replayed> {
    let rows = Rows::read(dataset, episode)?;
    if let Some((tape, shown)) = tape {
        let mut rig = rig_for(args, &tape)?;
        go_to(&mut rig, &tape, shown.start + args.from.min(shown.len().saturating_sub(1)))?;
        return near(args, rig, rows, "exact start".into());
    }
    let name = args.scene.as_deref().with_context(|| {
        format!(
            "episode {episode} of {} has no tape: name a scene to play it in, for example \
             --scene orange_plate",
            dataset.root().display()
        )
    })?;
    let mut rig = SimRig::new(compiled(name)?, args.render.is_none().then_some(&[]))?;
    if dataset.index.units.is_empty() {
        say::talk("the dataset does not say its units: taken as radians");
    }
    // Without a kept state the arm at least begins where it was seen.
    let joints = rows.seen.get(args.from).context("there is no such frame")?;
    let start = citrange_core::StartData {
        named: [(rig.robot().to_owned(), joints.clone())].into(),
        ..citrange_core::StartData::default()
    };
    let report = rig.world_mut().restore_best(0, &start)?;
    near(args, rig, rows, report.to_string())
}

/// Holds a target per frame and measures how far the joints are from those recorded.
fn near(args: &Args, mut rig: SimRig, rows: Rows, level: String) -> anyhow::Result<Replayed> {
    let from = args.from.min(rows.targets.len());
    let per_frame = rig.spec().rates.ticks_per_frame();
    let mut pilot = FrameReplay::new(rows.targets[from..].to_vec(), per_frame);
    let mut meter = Meter { seen: rows.seen[from..].to_vec(), largest: 0.0, sum: 0.0, count: 0 };
    let targets = rig.begin();
    let report = play(args, &mut rig, &mut pilot, &mut meter, &targets)?;
    Ok(Replayed::Near {
        frames: report.frames,
        level,
        // A file without recorded joints leaves nothing to compare.
        largest_rad: if meter.count == 0 { f64::NAN } else { meter.largest },
        mean_rad: meter.sum / (meter.count.max(1) as f64),
    })
}

/// Compares joints with recorded ones.
struct Meter {
    seen: Vec<Vec<f64>>,
    largest: f64,
    sum: f64,
    count: u64,
}

impl Tape for Meter {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), Fault> {
        let Some(was) = self.seen.get(frame.index as usize) else { return Ok(()) };
        for (is, was) in frame.seen.joint_pos.iter().zip(was) {
            let error = (is - was).abs();
            self.largest = self.largest.max(error);
            self.sum += error;
            self.count += 1;
        }
        Ok(())
    }
}

/// Runs a pilot, filming it if asked to.
fn play(
    args: &Args,
    rig: &mut SimRig,
    pilot: &mut dyn citrange_core::Pilot,
    tape: &mut dyn Tape,
    targets: &[f64],
) -> anyhow::Result<citrange_core::RunReport> {
    let stop = &crate::session::STOP;
    let settings = RunSettings {
        speed: args.speed,
        stop: Some(stop),
        pictures: args.render.is_some(),
        max_frames: None,
    };
    let Some(path) = &args.render else {
        return Ok(run_episode(pilot, rig, tape, targets, &settings)?);
    };
    let film = Film::begin(path, &rig.spec().cameras, rig.spec().rates.frame_hz)?;
    let mut filming = Filming { tape, film };
    let report = run_episode(pilot, rig, &mut filming, targets, &settings)?;
    filming.film.finish()?;
    say::talk(&format!("film: {}", path.display()));
    Ok(report)
}

/// A tape with a film camera beside it.
struct Filming<'a> {
    tape: &'a mut dyn Tape,
    film: Film,
}

impl Tape for Filming<'_> {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), Fault> {
        self.film.add(&frame.seen.pictures)?;
        self.tape.frame(frame)
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), Fault> {
        self.tape.tick(tick)
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), Fault> {
        self.tape.event(tick, event)
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), Fault> {
        self.tape.end(outcome, last)
    }
}
