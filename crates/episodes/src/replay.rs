//! Replay: repeats a recorded episode, exactly where the file allows it.
//!
//! [`repeat_exactly`] is the one place where a tape is repeated and every physics step compared:
//! `replay --verify`, the import of a file with a tape inside, and the demo all come here.

mod play;
mod report;
mod rows;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use citrange_core::{RunReport, RunSettings};
use citrange_tape::{
    Dataset, DemoEpisode, Episode, ExactReplay, TapeError, Unit, Verifier, VerifyReport,
};
use rayon::prelude::*;

use crate::cell::EpisodeRig;
use crate::context::RunContext;
use crate::error::{EpisodesError, Result, bad_input};
use crate::import::{PlayOptions, is_hdf5};
use crate::linked::LinkChoice;
use crate::objects::ObjectMeter;
use crate::simulated::play_file::{Prepared, prepare};
use crate::simulated::rig_of;
use play::Player;
use rows::{Rows, by_rows, near, on_link};

pub use play::{Audience, OpenPage};
pub use report::{EpisodeResult, ReplayReport, Replayed};

/// What a replay can be told.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// A dataset's folder, a tape, or an HDF5 file.
    pub path: PathBuf,
    /// Which episode; by default the first, to verify all of them.
    pub episode: Option<usize>,
    /// Compare every physics step with the recording.
    pub verify: bool,
    /// Times real time; by default as fast as it goes.
    pub speed: Option<f64>,
    /// Make a film of it, all cameras side by side.
    pub film: Option<PathBuf>,
    /// Begin at this frame.
    pub from: usize,
    /// Hold the dataset's one target per frame instead of repeating every command.
    pub frame_targets: bool,
    /// Scene for files that have none.
    pub scene: Option<String>,
    /// Robots of that scene; `None` for all, or the first alone where the file has one arm.
    pub robots: Option<Vec<String>>,
    /// What joint values of such a dataset mean, where it does not say.
    pub unit: Option<Unit>,
    /// How files without a tape are played.
    pub play: PlayOptions,
    /// Threads for several episodes.
    pub threads: usize,
    /// The real arm that repeats it, in the place of the first robot of `scene`.
    pub link: Option<LinkChoice>,
}

/// Plays the episodes that are asked for, before the eyes of an audience if there is one.
///
/// # Errors
/// When there are no such episodes. One that cannot be played is part of the report.
pub fn replay(
    options: &ReplayOptions,
    audience: Option<&dyn Audience>,
    ctx: RunContext<'_>,
) -> Result<ReplayReport> {
    let source = Source::open(options)?;
    let episodes: Vec<usize> = match options.episode {
        Some(episode) => vec![episode],
        None if options.verify => (0..source.len()).collect(),
        None => vec![0],
    };
    for episode in &episodes {
        source.check(*episode)?;
    }
    let bar = ctx.progress("replaying", episodes.len() as u64);
    let threads = options.threads.max(1);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| EpisodesError::Failed(error.to_string()))?;
    let player = Player { options, audience, ctx };
    let results = pool.install(|| {
        let one = |episode: usize| {
            if ctx.stopped() {
                return (episode, EpisodeResult::NotPlayed);
            }
            let result = player.replay(&source, episode);
            bar.add_one();
            (episode, result.map_or_else(EpisodeResult::Failed, EpisodeResult::Played))
        };
        if threads > 1 {
            episodes.into_par_iter().map(one).collect()
        } else {
            episodes.into_iter().map(one).collect()
        }
    });
    bar.finish();
    Ok(ReplayReport { episodes: results, verify: options.verify })
}

/// Repeats every command of a range of a tape on its rig, and compares every physics step with the
/// recording; `play` runs the three together, with whatever else is to be kept beside.
///
/// # Errors
/// When the tape has no state to begin with, or `play` fails.
pub fn repeat_exactly(
    rig: &mut dyn EpisodeRig,
    tape: &Arc<Episode>,
    range: Range<usize>,
    play: impl FnOnce(&mut dyn EpisodeRig, &mut ExactReplay, &mut Verifier) -> Result<RunReport>,
) -> Result<(RunReport, VerifyReport)> {
    rig.go_to(tape, range.start)?;
    let mut verifier = Verifier::new(Arc::clone(tape), range.clone());
    let mut pilot = ExactReplay::new(Arc::clone(tape), range);
    let report = play(rig, &mut pilot, &mut verifier)?;
    Ok((report, verifier.into_report()))
}

/// Repeats an episode of a dataset without pictures, as fast as it goes, and compares.
///
/// # Errors
/// When it has no tape, or the tape cannot be repeated.
pub fn verify(dataset: &Dataset, episode: usize, ctx: RunContext<'_>) -> Result<VerifyReport> {
    use crate::error::Context as _;
    let (tape, shown) = dataset.tape(episode)?.context("the episode has no tape")?;
    let tape = Arc::new(tape);
    let mut rig = rig_of(&tape, Some(&[]))?;
    let settings = RunSettings { stop: Some(ctx.stop), ..RunSettings::default() };
    let (_, report) = repeat_exactly(rig.as_mut(), &tape, shown, |rig, pilot, verifier| {
        Ok(citrange_core::run(pilot, rig, verifier, &settings)?)
    })?;
    Ok(report)
}

/// Where episodes come from.
enum Source {
    Dataset(Box<Dataset>),
    Tape(Arc<Episode>),
    Demos(Vec<DemoEpisode>),
}

impl Source {
    fn open(options: &ReplayOptions) -> Result<Self> {
        let path = &options.path;
        if path.is_dir() {
            return Ok(Self::Dataset(Box::new(Dataset::open(path)?)));
        }
        if !path.exists() {
            bad_input!("there is no {}", path.display());
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

    fn check(&self, episode: usize) -> Result<()> {
        match self {
            Self::Dataset(dataset) => Ok(dataset.check_episode(episode)?),
            _ if episode < self.len() => Ok(()),
            Self::Tape(_) => bad_input!("there is one episode, number 0, not {episode}"),
            Self::Demos(demos) => bad_input!(
                "there is no episode {episode}; the file has {}, numbered from 0",
                demos.len()
            ),
        }
    }
}

impl Player<'_> {
    fn replay(&self, source: &Source, episode: usize) -> Result<Replayed> {
        let options = self.options;
        if let Some(link) = &options.link {
            return on_link(self, source, episode, link);
        }
        match source {
            Source::Demos(demos) => self.demo(&demos[episode]),
            Source::Tape(tape) if options.verify && !tape.damage.is_empty() => {
                let frames = tape.len();
                let reason = tape.damage.first().map_or_else(String::new, |damage| {
                    format!(
                        "it is damaged from byte {} to {}: the {frames} frames before that can be \
                         played without --verify",
                        damage.from, damage.to
                    )
                });
                Err(TapeError::Log { path: tape.path.clone(), reason }.into())
            }
            Source::Tape(tape) if !options.frame_targets => self.exact(tape, 0..tape.len()),
            Source::Tape(tape) => {
                let targets = (0..tape.len()).filter_map(|f| tape.action(f)).map(<[f64]>::to_vec);
                let rows = Rows {
                    targets: targets.collect(),
                    seen: tape.frames.iter().map(|f| f.joint_pos.clone()).collect(),
                };
                let mut rig = self.rig_for(tape)?;
                rig.go_to(tape, options.from.min(tape.len().saturating_sub(1)))?;
                near(self, rig, rows, "exact start".into(), tape.snapshot(tape.len()), None)
            }
            Source::Dataset(dataset) => match dataset.tape(episode) {
                Ok(tape) => {
                    // Rows that were taken as they are were never simulated.
                    let tape = tape.filter(|(tape, _)| tape.header.scene.is_some());
                    match tape {
                        Some((tape, shown)) if !options.frame_targets => {
                            self.exact(&Arc::new(tape), shown)
                        }
                        tape => by_rows(self, dataset, episode, tape),
                    }
                }
                // Rows can be played without it.
                Err(problem) if options.frame_targets => {
                    self.ctx.say(&format!("the tape cannot be used: {problem}"));
                    by_rows(self, dataset, episode, None)
                }
                Err(problem) => Err(problem.into()),
            },
        }
    }

    /// An episode of an HDF5 file: exactly if its tape is inside, else from the best start it
    /// allows.
    fn demo(&self, demo: &DemoEpisode) -> Result<Replayed> {
        let options = self.options;
        if let Some(problem) = &demo.tape_problem {
            self.ctx.say(&format!("the tape inside cannot be used: {problem}"));
        }
        if let Some((tape, shown)) = demo.tape.as_ref().filter(|_| !options.frame_targets) {
            return self.exact(&Arc::new(tape.clone()), shown.clone());
        }
        if options.from > 0 {
            bad_input!("without a tape only the start is known: leave --from out");
        }
        let Prepared { rig, motion, report } =
            prepare(demo, options.scene.as_deref(), &options.play, &self.choice(), self.ctx)?;
        let tolerance_m = options.play.object_tolerance_m;
        let objects = ObjectMeter::new(rig.spec(), &motion, &report, tolerance_m);
        let rows = Rows { targets: motion.targets, seen: motion.seen };
        near(self, rig, rows, report.level.to_string(), None, Some(objects))
    }

    fn rig_for(&self, tape: &Episode) -> Result<Box<dyn EpisodeRig>> {
        rig_of(tape, self.cameras())
    }

    fn exact(&self, tape: &Arc<Episode>, shown: Range<usize>) -> Result<Replayed> {
        let from = self.options.from;
        if from >= shown.len() {
            bad_input!(
                "there is no frame {from}; the episode has {}, numbered from 0",
                shown.len()
            );
        }
        let range = shown.start + from..shown.end;
        let of = range.len() as u64;
        let mut rig = self.rig_for(tape)?;
        let (report, verify) =
            repeat_exactly(rig.as_mut(), tape, range, |rig, pilot, verifier| {
                self.play(rig, pilot, verifier, of)
            })?;
        let frames = report.frames;
        if self.options.verify {
            return Ok(Replayed::Exact { verify, frames, of });
        }
        Ok(Replayed::Commands { frames, of, late_ticks: report.late_ticks })
    }
}
