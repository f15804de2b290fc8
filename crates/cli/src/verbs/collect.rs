//! `citrange collect`: records scripted episodes into a dataset.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail};
use citrange_core::run::run as run_episode;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{Event, Fault, Outcome, Rig as _, RunSettings, Snapshot, Tape};
use citrange_sim::SimRig;
use citrange_tape::{Dataset, Parent, RecordSettings, Recorder, Repaired, Unit, WhenFull};
use indicatif::ProgressBar;
use serde_json::json;

use super::compiled;
use crate::session::{Choice, catch_stop, go_to, header, rig_of, stopped};
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
    if args.out.join("meta/info.json").exists() && !args.resume {
        bail!(citrange_tape::TapeError::Missing(format!(
            "{} is a dataset already; --resume adds to it",
            args.out.display()
        )));
    }
    let origin = args.from.as_deref().map(Origin::read).transpose()?;
    let cameras = args
        .cameras
        .as_ref()
        .map(|names| names.iter().filter(|n| *n != "none").cloned().collect::<Vec<_>>());
    let mut rig = match &origin {
        Some(origin) => rig_of(&origin.tape, cameras.as_deref())?,
        None => SimRig::new(compiled(&args.scene)?, cameras.as_deref())?,
    };
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
        let (header, model) = header(&rig, choice)?;
        if args.json {
            say::data(
                &json!({"event": "begin", "uid": header.uid, "episode": episode}).to_string(),
            )?;
        }
        let how = RecordSettings {
            // Only a loop that keeps time may drop pictures rather than wait.
            when_full: if args.speed.is_some() { WhenFull::Drop } else { WhenFull::Wait },
            ..RecordSettings::default()
        };
        let folder = dataset.recording_folder(&header.uid);
        let ticks = script.ticks();
        let frames = ticks.div_ceil(u64::from(rig.spec().rates.ticks_per_frame()));
        let bar = say::progress("recording", frames.min(max_frames.unwrap_or(frames)));
        let recorder = Recorder::begin(&folder, header, &model, &how)?;
        let mut tape = Shown { recorder, bar: &bar, json: args.json };
        let ran = run_episode(&mut script, &mut rig, &mut tape, &targets, &settings);
        bar.finish_and_clear();
        let begun_saving = Instant::now();
        let report = match ran {
            Ok(report) => report,
            Err(error) => {
                // What was recorded up to the failure is kept by the next start.
                return Err(error).context(format!(
                    "episode {episode} was cut short; `citrange data repair {}` keeps what there is",
                    args.out.display()
                ));
            }
        };
        if report.frames == 0 {
            tape.recorder.discard()?;
            break;
        }
        let recording = tape.recorder.finish()?;
        let dropped: usize = recording.dropped.values().map(Vec::len).sum();
        let number = dataset.save(recording)?;
        let saved_ms = begun_saving.elapsed().as_secs_f64() * 1e3;
        if args.json {
            let line = json!({
                "event": "saved", "number": number, "frames": report.frames,
                "outcome": report.outcome, "dropped_pictures": dropped,
                "late_ticks": report.late_ticks,
                "worst_late_ms": report.worst_late.as_secs_f64() * 1e3, "save_ms": saved_ms,
            });
            say::data(&line.to_string())?;
        } else {
            say::talk(&format!(
                "episode {number}: {} frames, {}, saved in {saved_ms:.0} ms{}{}",
                report.frames,
                report.outcome.reason,
                if dropped > 0 { format!(", {dropped} PICTURES DROPPED") } else { String::new() },
                if report.late_ticks > 0 {
                    format!(", {} ticks late", report.late_ticks)
                } else {
                    String::new()
                },
            ));
        }
    }
    if !args.json {
        say::data(&args.out.display().to_string())?;
    }
    if stopped() {
        return Err(crate::exit::Interrupted.into());
    }
    Ok(())
}

/// Where an episode goes on from.
struct Origin {
    tape: Arc<citrange_tape::Episode>,
    frame: usize,
}

impl Origin {
    fn read(text: &str) -> anyhow::Result<Self> {
        let mut parts = text.rsplitn(3, ':');
        let (frame, episode, path) = (parts.next(), parts.next(), parts.next());
        let number = |part: Option<&str>| part.and_then(|p| p.parse::<usize>().ok());
        let (Some(frame), Some(episode), Some(path)) = (number(frame), number(episode), path)
        else {
            bail!(citrange_tape::TapeError::Missing(format!(
                "--from {text}: give DATASET:EPISODE:FRAME, for example oranges:3:120"
            )));
        };
        let dataset = Dataset::open(Path::new(path))?;
        let (tape, shown) = dataset.tape(episode)?.with_context(|| {
            format!("episode {episode} of {path} has no tape: only its rows and videos are known")
        })?;
        if frame >= shown.len() {
            bail!(citrange_tape::TapeError::Missing(format!(
                "episode {episode} of {path} has no frame {frame}; it has {}, numbered from 0",
                shown.len()
            )));
        }
        Ok(Self { tape: Arc::new(tape), frame: shown.start + frame })
    }

    fn parent(&self) -> Parent {
        Parent { uid: self.tape.header.uid.clone(), frame: self.frame as u64 }
    }
}

/// Says what an earlier recorder left and what became of it.
pub(crate) fn tell_repaired(repaired: &[Repaired], as_json: bool) -> anyhow::Result<()> {
    for one in repaired {
        if as_json {
            let line = json!({
                "event": "repaired", "uid": one.uid, "number": one.episode,
                "frames": one.frames, "problem": one.problem,
            });
            say::data(&line.to_string())?;
            continue;
        }
        say::talk(&match (&one.problem, one.episode) {
            (Some(problem), Some(number)) => format!(
                "recording {} was cut off and damaged; its first {} frames are now episode \
                 {number} ({problem}); its files are in citrange/damaged",
                one.uid, one.frames
            ),
            (Some(problem), None) => format!(
                "recording {} cannot be repaired ({problem}); its files are in citrange/damaged",
                one.uid
            ),
            (None, Some(number)) => format!(
                "recording {} was cut off; its {} whole frames are now episode {number}",
                one.uid, one.frames
            ),
            (None, None) => format!("recording {} was cut off before its first frame", one.uid),
        });
    }
    Ok(())
}

/// A recorder whose progress is seen.
struct Shown<'a> {
    recorder: Recorder,
    bar: &'a ProgressBar,
    json: bool,
}

impl Tape for Shown<'_> {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), Fault> {
        self.recorder.frame(frame)?;
        self.bar.set_position(frame.index + 1);
        let dropped: usize = self.recorder.dropped().map(|(_, n)| n).sum();
        if dropped > 0 {
            self.bar.set_message(format!("recording ({dropped} pictures dropped)"));
        }
        if self.json {
            let line = json!({"event": "frame", "frame": frame.index, "wall_ns": frame.wall_ns});
            say::data(&line.to_string())?;
        }
        Ok(())
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), Fault> {
        self.recorder.tick(tick)
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), Fault> {
        self.recorder.event(tick, event)
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), Fault> {
        self.recorder.end(outcome, last)
    }
}
