//! `citrange demo`: an SO-101 puts three oranges on a plate by a fixed script; the episode is
//! recorded, replayed and compared, and becomes a film and pictures.
//!
//! The script knows where the oranges are and does not look whether it holds them. The autopilot
//! that judges itself comes with the task crate.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use citrange_core::run::run as run_episode;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{Event, Fault, Outcome, Rig as _, RunSettings, Snapshot, Tape};
use citrange_sim::SimRig;
use citrange_tape::{Dataset, ExactReplay, RecordSettings, Recorder, Unit, Verifier, WhenFull};
use indicatif::ProgressBar;

use super::compiled;
use crate::exit::{Interrupted, ProblemsFound};
use crate::film::Film;
use crate::images::Image;
use crate::session::{Choice, catch_stop, go_to, header, rig_of, stopped};
use crate::{say, scripts};

const SCENE: &str = "orange_plate";
/// Phases of the script of which a still is taken when they begin.
const STILLS: [&str; 4] = ["over_orange", "lift", "lower", "home"];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder for the dataset, the film and the pictures; those of an earlier demo are replaced.
    #[arg(short, long, default_value = "out/demo")]
    output: PathBuf,
    /// Seed of the run.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Episode index.
    #[arg(long, default_value_t = 0)]
    episode: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut rig = SimRig::new(compiled(SCENE)?, None)?;
    rig.world_mut().reset_env(0, args.seed, args.episode)?;
    let mut script = scripts::grasps(&mut rig)?;
    let targets = rig.begin();
    let root = args.output.join("dataset");
    if root.exists() {
        std::fs::remove_dir_all(&root)
            .with_context(|| format!("cannot replace {}", root.display()))?;
    }
    let images = BTreeSet::new();
    let (mut dataset, _) = Dataset::record(&root, rig.spec(), Unit::Degrees, &images)?;
    let choice = Choice {
        task: None,
        pilot: "script",
        seed: args.seed,
        episode: args.episode,
        unit: Unit::Degrees,
        images: &images,
        parent: None,
        config: serde_json::Value::Null,
    };
    let (header, model) = header(&rig, choice)?;
    let how = RecordSettings { when_full: WhenFull::Wait, ..RecordSettings::default() };
    let recorder = Recorder::begin(&dataset.recording_folder(&header.uid), header, &model, &how)?;
    let film = args.output.join("film.mp4");
    let rates = rig.spec().rates;
    let bar =
        say::progress("the arm is at work", script.ticks() / u64::from(rates.ticks_per_frame()));
    let mut tape = Show {
        recorder,
        film: Film::begin(&film, &rig.spec().cameras, rates.frame_hz)?,
        bar: &bar,
        still_due: false,
        stills: Vec::new(),
        size: rig.spec().cameras.first().map_or((0, 0), |c| (c.width_px, c.height_px)),
    };
    let settings =
        RunSettings { pictures: true, stop: Some(catch_stop()?), ..RunSettings::default() };
    let report = run_episode(&mut script, &mut rig, &mut tape, &targets, &settings)?;
    bar.finish_and_clear();
    if stopped() {
        return Err(Interrupted.into());
    }
    let Show { recorder, film: reel, mut stills, .. } = tape;
    dataset.save(recorder.finish()?)?;
    reel.finish()?;
    let front = rig.world_mut().frame(0, "front")?;
    stills.push(Image::colors(front).halved());
    let views = [
        ("front.png", Image::colors(front)),
        ("depth.png", Image::distances(front)),
        ("ids.png", Image::ids(front)),
        ("sheet.png", Image::sheet(&stills, 5)),
    ];
    say::data(&root.display().to_string())?;
    say::data(&film.display().to_string())?;
    for (name, image) in &views {
        image.save(&args.output.join(name))?;
        say::data(&args.output.join(name).display().to_string())?;
    }
    let placed = scripts::oranges_on_plate(rig.world_mut())?;
    let secs = report.frames as f64 / f64::from(rates.frame_hz);
    say::talk(&format!("{placed} of 3 oranges lie on the plate after {secs:.0} s of simulation."));
    verify(&dataset)?;
    say::talk("dataset: opens in lerobot; film.mp4: both cameras; the other files are stills.");
    if placed < 3 {
        return Err(ProblemsFound(format!("only {placed} of 3 oranges lie on the plate")).into());
    }
    Ok(())
}

/// Plays the recorded episode again and compares every physics step.
fn verify(dataset: &Dataset) -> anyhow::Result<()> {
    let (tape, shown) = dataset.tape(0)?.context("the episode has no tape")?;
    let tape = Arc::new(tape);
    let mut rig = rig_of(&tape, Some(&[]))?;
    let targets = go_to(&mut rig, &tape, shown.start)?;
    let mut verifier = Verifier::new(Arc::clone(&tape), shown.start);
    let mut pilot = ExactReplay::new(Arc::clone(&tape), shown);
    run_episode(&mut pilot, &mut rig, &mut verifier, &targets, &RunSettings::default())?;
    let report = verifier.into_report();
    say::talk(&format!("replayed: {report}."));
    if !report.is_bitwise() {
        return Err(ProblemsFound("the replay differs from the recording".into()).into());
    }
    Ok(())
}

/// Records, films, and takes stills where phases of the script begin.
struct Show<'a> {
    recorder: Recorder,
    film: Film,
    bar: &'a ProgressBar,
    still_due: bool,
    stills: Vec<Image>,
    size: (u32, u32),
}

impl Tape for Show<'_> {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), Fault> {
        self.film.add(&frame.seen.pictures)?;
        if std::mem::take(&mut self.still_due)
            && let Some(picture) = frame.seen.pictures.first()
        {
            let (width, height) = (self.size.0 as usize, self.size.1 as usize);
            self.stills.push(Image { width, height, rgb: picture.pixels()?.to_vec() }.halved());
        }
        self.bar.set_position(frame.index + 1);
        self.recorder.frame(frame)
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), Fault> {
        self.recorder.tick(tick)
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), Fault> {
        self.still_due |= event.detail.as_str().is_some_and(|phase| STILLS.contains(&phase));
        self.recorder.event(tick, event)
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), Fault> {
        self.recorder.end(outcome, last)
    }
}
