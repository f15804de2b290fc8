//! `citrange replay`: repeats a recorded episode, exactly where the file allows it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use citrange_core::Rig as _;
use citrange_sim::SimRig;
use citrange_tape::{
    Dataset, DemoEpisode, Episode, ExactReplay, TapeError, Verifier, VerifyReport,
};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::replay_play::play;
use super::replay_rows::{Rows, by_rows, near, near_demo};
use crate::exit::ProblemsFound;
use crate::hdf5_in::is_hdf5;
use crate::hdf5_play::{PlayArgs, Prepared, prepare};
use crate::objects::{ObjectMeter, ObjectReport};
use crate::say;
use crate::session::{catch_stop, go_to, rig_of};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A dataset's folder, a tape, or an HDF5 file.
    pub(super) path: PathBuf,
    /// Which episode of the dataset; with --verify all of them by default.
    #[arg(long)]
    episode: Option<usize>,
    /// Compare every physics step with the recording; exit code 4 if anything differs.
    #[arg(long)]
    verify: bool,
    /// Times real time; by default as fast as it goes.
    #[arg(long)]
    pub(super) speed: Option<f64>,
    /// Make a film of it, all cameras side by side.
    #[arg(long, value_name = "MP4")]
    pub(super) render: Option<PathBuf>,
    /// Show it live in a browser, at real time unless --speed says otherwise.
    #[arg(long, conflicts_with = "render")]
    pub(super) show: bool,
    /// Where the page is served; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "show")]
    pub(super) listen: Option<SocketAddr>,
    /// Begin at this frame.
    #[arg(long, default_value_t = 0)]
    pub(super) from: usize,
    /// Hold the dataset's one target per frame instead of repeating every command.
    #[arg(long)]
    frame_targets: bool,
    /// Scene for files that have none, as LeRobot datasets of others.
    #[arg(long)]
    pub(super) scene: Option<String>,
    #[command(flatten)]
    own: PlayArgs,
    /// Threads for verifying several episodes.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Whether no camera is needed.
    pub(super) fn sees_nothing(&self) -> bool {
        self.render.is_none() && !self.show
    }
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
    let mut problems = Vec::new();
    for (episode, result) in episodes.iter().zip(results) {
        let replayed = result.with_context(|| format!("episode {episode}"))?;
        differing += usize::from(!replayed.good(args.verify));
        problems.extend(replayed.problem().map(|problem| format!("episode {episode}: {problem}")));
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
    if !problems.is_empty() {
        return Err(ProblemsFound(problems.join("; ")).into());
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
        if is_hdf5(path) {
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
pub(super) enum Replayed {
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
        /// How far objects ended from where they were; none where that is not known.
        objects_m: BTreeMap<String, f64>,
    },
    /// An episode of a file of others, its objects compared with the file's.
    Demo {
        near: Box<Replayed>,
        objects: ObjectReport,
    },
}

impl Replayed {
    fn good(&self, verify: bool) -> bool {
        match self {
            Self::Exact { verify, .. } => verify.is_bitwise(),
            Self::Played { .. } => true,
            Self::Near { .. } => !verify,
            Self::Demo { near, objects } => near.good(verify) && objects.problem().is_none(),
        }
    }

    /// Why what was played is not what the file shows.
    fn problem(&self) -> Option<String> {
        match self {
            Self::Demo { objects, .. } => objects.problem(),
            _ => None,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Exact { verify, .. } => verify.to_string(),
            Self::Played { frames, late_ticks } => {
                format!("{frames} frames, every command, {late_ticks} ticks late")
            }
            Self::Demo { near, objects } => format!("{}; {objects}", near.text()),
            Self::Near { frames, level, largest_rad, .. } if largest_rad.is_nan() => {
                format!("{frames} frames by one target per frame; {level}; no joints to compare")
            }
            Self::Near { frames, level, largest_rad, mean_rad, objects_m } => {
                let mut text = format!(
                    "{frames} frames by one target per frame; {level}; joints within \
                     {largest_rad:.4} rad of the recorded ones (mean {mean_rad:.4})"
                );
                if let Some(worst) = objects_m.values().copied().reduce(f64::max) {
                    text += &format!("; objects end within {:.1} mm", worst * 1e3);
                }
                text
            }
        }
    }

    fn json(&self, episode: usize) -> Value {
        match self {
            Self::Exact { verify, frames } => json!({
                "episode": episode, "kind": "exact", "frames": frames,
                "bitwise": verify.is_bitwise(), "verify": verify,
            }),
            Self::Demo { near, objects } => {
                let mut line = near.json(episode);
                line["objects"] = json!(objects);
                line["problem"] = json!(objects.problem());
                line
            }
            Self::Played { frames, late_ticks } => json!({
                "episode": episode, "kind": "exact", "frames": frames, "late_ticks": late_ticks,
            }),
            Self::Near { frames, level, largest_rad, mean_rad, objects_m } => json!({
                "episode": episode, "kind": "frame_targets", "frames": frames, "start": level,
                "largest_joint_error_rad": largest_rad, "mean_joint_error_rad": mean_rad,
                "object_end_errors_m": objects_m,
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
            near(args, rig, rows, "exact start".into(), tape.snapshot(tape.len()))
        }
        Source::Dataset(dataset) => match dataset.tape(episode)? {
            Some((tape, shown)) if !args.frame_targets && tape.header.scene.is_some() => {
                exact(args, Arc::new(tape), shown)
            }
            tape => {
                // Rows that were taken as they are were never simulated.
                let tape = tape.filter(|(tape, _)| tape.header.scene.is_some());
                by_rows(args, dataset, episode, tape)
            }
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
    let cameras: Option<&[String]> = args.sees_nothing().then_some(&[]);
    let Prepared { rig, motion, report } =
        prepare(demo, args.scene.as_deref(), &args.own, cameras)?;
    let objects = ObjectMeter::new(rig.spec(), &motion, &report, args.own.object_tolerance_m);
    let rows = Rows { targets: motion.targets, seen: motion.seen };
    near_demo(args, rig, rows, report.level.to_string(), objects)
}

pub(super) fn rig_for(args: &Args, tape: &Episode) -> anyhow::Result<SimRig> {
    let cameras: Option<&[String]> = args.sees_nothing().then_some(&[]);
    rig_of(tape, cameras)
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
