//! `citrange collect`: records scripted episodes into a dataset.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Context as _;
use citrange_core::run::run as run_episode;
use citrange_core::{Rig as _, RunSettings};
use citrange_sim::SimRig;
use citrange_tape::{Dataset, Unit, WhenFull};
use serde_json::json;

use super::compiled;
use crate::recording::{Origin, Take, check_new, cut_short, tell_repaired};
use crate::session::{Choice, catch_stop, go_to, rig_of, stopped};
use crate::{say, scripts};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scene name or YAML file.
    scene: String,
    /// How many episodes.
    #[arg(long, default_value_t = 1)]
    episodes: u64,
    /// The dataset's folder.
    #[arg(short, long)]
    out: PathBuf,
    /// Go on with a dataset that exists.
    #[arg(long)]
    resume: bool,
    /// Seed of the run. With the episode's index it decides where things stand.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Index of the first episode; by default it goes on after those in the dataset.
    #[arg(long)]
    first: Option<u64>,
    /// The task in words; by default the scene's.
    #[arg(long)]
    task: Option<String>,
    /// Longest episode.
    #[arg(long)]
    seconds: Option<f64>,
    /// Cameras to record, separated by commas; all by default, "none" for none.
    #[arg(long, value_delimiter = ',')]
    cameras: Option<Vec<String>>,
    /// Cameras whose pictures are kept without loss (PNG) instead of as video.
    #[arg(long, value_delimiter = ',')]
    images: Vec<String>,
    /// What joint values in the dataset mean.
    #[arg(long, value_enum, default_value_t = UnitArg::Degrees)]
    unit: UnitArg,
    /// Times real time (1 is real time); by default as fast as it goes.
    #[arg(long)]
    speed: Option<f64>,
    /// Go on from a frame of a recorded episode: DATASET:EPISODE:FRAME.
    #[arg(long, value_name = "DATASET:EPISODE:FRAME")]
    from: Option<String>,
    /// Print one JSON object per event: repaired, begin, frame, saved.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum UnitArg {
    Degrees,
    Percent,
    Radians,
}

impl From<UnitArg> for Unit {
    fn from(unit: UnitArg) -> Self {
        match unit {
            UnitArg::Degrees => Self::Degrees,
            UnitArg::Percent => Self::Percent,
            UnitArg::Radians => Self::Radians,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    check_new(&args.out, args.resume)?;
    let origin = args.from.as_deref().map(Origin::read).transpose()?;
    let cameras = args
        .cameras
        .as_ref()
        .map(|names| names.iter().filter(|n| *n != "none").cloned().collect::<Vec<_>>());
    let mut rig = match &origin {
        Some(origin) => rig_of(&origin.tape, cameras.as_deref())?,
        None => SimRig::new(compiled(&args.scene)?, cameras.as_deref())?,
    };
    // Only a loop that keeps time may leave pictures out rather than wait.
    rig.leave_pictures_out(args.speed.is_some());
    let images: BTreeSet<String> = args.images.iter().cloned().collect();
    let (mut dataset, repaired) =
        Dataset::record(&args.out, rig.spec(), args.unit.into(), &images)?;
    tell_repaired(&repaired, args.json)?;
    let stop = catch_stop()?;
    let first = args.first.unwrap_or(dataset.len() as u64);
    let max_frames =
        args.seconds.map(|s| (s * f64::from(rig.spec().rates.frame_hz)).ceil().max(1.0) as u64);
    let settings = RunSettings {
        speed: args.speed,
        max_frames,
        stop: Some(stop),
        pictures: !rig.spec().cameras.is_empty(),
    };
    let voice = if args.json { say::Voice::JsonFrames } else { say::Voice::Talk };
    for episode in first..first + args.episodes {
        if stopped() {
            break;
        }
        match &origin {
            Some(origin) => drop(go_to(&mut rig, &origin.tape, origin.frame)?),
            None => rig.world_mut().reset_env(0, args.seed, episode)?,
        }
        let mut script = scripts::grasps(&mut rig)?;
        let targets = rig.begin();
        let choice = Choice {
            task: args.task.as_deref(),
            pilot: "script",
            seed: args.seed,
            episode,
            unit: args.unit.into(),
            images: &images,
            parent: origin.as_ref().map(Origin::parent),
            config: json!({ "seconds": args.seconds, "speed": args.speed }),
        };
        let when_full = if args.speed.is_some() { WhenFull::Drop } else { WhenFull::Wait };
        let ticks = script.ticks();
        let frames = ticks.div_ceil(u64::from(rig.spec().rates.ticks_per_frame()));
        let bar = say::progress("recording", frames.min(max_frames.unwrap_or(frames)));
        let mut tape = Take::begin(&dataset, &rig, choice, when_full, &bar, voice)?;
        let ran = run_episode(&mut script, &mut rig, &mut tape, &targets, &settings);
        bar.finish_and_clear();
        let report = ran.with_context(|| cut_short(episode, &args.out))?;
        if report.frames == 0 {
            tape.discard()?;
            break;
        }
        tape.save(&mut dataset, &report)?;
    }
    if !args.json {
        say::data(&args.out.display().to_string())?;
    }
    if stopped() {
        return Err(crate::exit::Interrupted.into());
    }
    Ok(())
}
