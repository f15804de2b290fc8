//! `citrange collect`: records scripted episodes into a dataset.

use std::path::PathBuf;

use anyhow::Context as _;
use citrange_core::run::run as run_episode;
use citrange_core::{Rig as _, RunSettings};
use citrange_tape::{Dataset, WhenFull};
use serde_json::json;

use crate::recording::{Origin, RecordArgs, Take, check_new, cut_short, tell_repaired};
use crate::session::{Choice, catch_stop, stopped};
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
    #[command(flatten)]
    record: RecordArgs,
    /// Longest episode.
    #[arg(long)]
    seconds: Option<f64>,
    /// Times real time (1 is real time); by default as fast as it goes.
    #[arg(long)]
    speed: Option<f64>,
    /// Print one JSON object per event: repaired, begin, frame, saved.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let record = &args.record;
    check_new(&args.out, record.resume)?;
    let (mut rig, origin) = record.rig(&args.scene)?;
    // Only a loop that keeps time may leave pictures out rather than wait.
    rig.leave_pictures_out(args.speed.is_some());
    let (unit, images) = (record.unit(), record.images());
    let (mut dataset, repaired) = Dataset::record(&args.out, rig.spec(), unit, &images)?;
    tell_repaired(&repaired, args.json)?;
    let stop = catch_stop()?;
    let first = record.first.unwrap_or(dataset.len() as u64);
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
            Some(origin) => origin.set(&mut rig)?,
            None => rig.world_mut().reset_env(0, record.seed, episode)?,
        }
        let mut script = scripts::grasps(&mut rig)?;
        let targets = rig.begin();
        let choice = Choice {
            task: record.task.as_deref(),
            pilot: "script",
            seed: record.seed,
            episode,
            unit,
            images: &images,
            parent: origin.as_ref().map(Origin::parent),
            config: json!({ "seconds": args.seconds, "speed": args.speed }),
        };
        let when_full = if args.speed.is_some() { WhenFull::Drop } else { WhenFull::Wait };
        let ticks = script.ticks();
        let frames = ticks.div_ceil(u64::from(rig.spec().rates.ticks_per_frame()));
        let bar = say::progress("recording", frames.min(max_frames.unwrap_or(frames)));
        let seen = |frame, dropped| {
            bar.set_position(frame + 1);
            if dropped > 0 {
                bar.set_message(format!("recording ({dropped} pictures dropped)"));
            }
        };
        let mut tape = Take::begin(&dataset, &rig, choice, when_full, &seen, voice)?;
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
