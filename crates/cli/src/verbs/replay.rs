//! `citrange replay`: repeats a recorded episode, exactly where the file allows it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use citrange_core::Rig as _;
use citrange_sim::SimRig;
use citrange_tape::{Dataset, DemoEpisode, Episode, ExactReplay, TapeError, Verifier};
use rayon::prelude::*;

use super::replay_play::play;
use super::replay_report::{Replayed, Told, conclude};
use super::replay_rows::{Rows, by_rows, near, near_demo};
use crate::hdf5_in::is_hdf5;
use crate::hdf5_play::{PlayArgs, Prepared, prepare};
use crate::objects::ObjectMeter;
use crate::output;
use crate::recording::UnitArg;
use crate::session::{catch_stop, go_to, rig_of, stopped};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A dataset's folder, a tape, or an HDF5 file.
    pub(super) path: PathBuf,
    /// Which episode of the dataset; with --verify all of them by default.
    #[arg(long)]
    pub(super) episode: Option<usize>,
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
    /// What joint values of such a dataset mean, where it does not say: deg, percent (-100 to 100
    /// of a joint's range, grippers 0 to 100) or rad; by default a guess, which is said.
    #[arg(long, value_enum)]
    pub(super) unit: Option<UnitArg>,
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
    catch_stop()?;
    let source = Source::open(args)?;
    let episodes: Vec<usize> = match args.episode {
        Some(episode) => vec![episode],
        None if args.verify => (0..source.len()).collect(),
        None => vec![0],
    };
    for episode in &episodes {
        source.check(*episode)?;
    }
    let bar = output::progress("replaying", episodes.len() as u64);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.max(1)).build()?;
    let results: Vec<Told> = pool.install(|| {
        let one = |episode: &usize| {
            if stopped() {
                return Told::NotPlayed;
            }
            let result = replay(args, &source, *episode);
            bar.inc(1);
            result.map_or_else(Told::Failed, Told::Played)
        };
        if args.threads > 1 {
            episodes.par_iter().map(one).collect()
        } else {
            episodes.iter().map(one).collect()
        }
    });
    bar.finish_and_clear();
    conclude(episodes.into_iter().zip(results).collect(), args.verify, args.json)
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

fn replay(args: &Args, source: &Source, episode: usize) -> anyhow::Result<Replayed> {
    match source {
        Source::Demos(demos) => demo(args, &demos[episode]),
        Source::Tape(tape) if args.verify && !tape.damage.is_empty() => {
            let frames = tape.len();
            let reason = tape.damage.first().map_or_else(String::new, |damage| {
                format!(
                    "it is damaged from byte {} to {}: the {frames} frames before that can be \
                     played without --verify",
                    damage.from, damage.to
                )
            });
            bail!(TapeError::Log { path: tape.path.clone(), reason })
        }
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
        Source::Dataset(dataset) => match dataset.tape(episode) {
            Ok(tape) => {
                // Rows that were taken as they are were never simulated.
                let tape = tape.filter(|(tape, _)| tape.header.scene.is_some());
                match tape {
                    Some((tape, shown)) if !args.frame_targets => {
                        exact(args, Arc::new(tape), shown)
                    }
                    tape => by_rows(args, dataset, episode, tape),
                }
            }
            // Rows can be played without it.
            Err(problem) if args.frame_targets => {
                output::talk(&format!("the tape cannot be used: {problem}"));
                by_rows(args, dataset, episode, None)
            }
            Err(problem) => Err(problem.into()),
        },
    }
}

/// An episode of an HDF5 file: exactly if its tape is inside, else from the best start it allows.
fn demo(args: &Args, demo: &DemoEpisode) -> anyhow::Result<Replayed> {
    if let Some(problem) = &demo.tape_problem {
        output::talk(&format!("the tape inside cannot be used: {problem}"));
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
    go_to(&mut rig, &tape, range.start)?;
    let of = range.len() as u64;
    let mut verifier = Verifier::new(Arc::clone(&tape), range.clone());
    let mut pilot = ExactReplay::new(Arc::clone(&tape), range);
    let report = play(args, &mut rig, &mut pilot, &mut verifier, of)?;
    let frames = report.frames;
    if args.verify {
        return Ok(Replayed::Exact { verify: verifier.into_report(), frames, of });
    }
    Ok(Replayed::Commands { frames, of, late_ticks: report.late_ticks })
}
