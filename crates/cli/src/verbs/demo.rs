//! `citrange demo`: an SO-101 puts three oranges on a plate by itself; the episode is recorded,
//! replayed and compared, and becomes a report with a film.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use citrange_core::RunSettings;
use citrange_core::run::run as run_episode;
use citrange_episodes::{Choice, EpisodesError, PilotOptions, Take, replay, simulated};
use citrange_render::Image;
use citrange_sim::{Threads, World};
use citrange_tape::{Dataset, Unit, WhenFull};

use super::{compiled, report};
use crate::exit::problems_found;
use crate::output::{self, Output};
use crate::stop::{catch_stop, stopped};

const SCENE: &str = "orange_plate";
/// About as many frames as an episode has, for the progress bar.
const FRAMES: u64 = 600;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder for the dataset, the report and the film; those of an earlier demo are replaced.
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
    let mut rig = simulated(SCENE, None)?;
    rig.reset(args.seed, args.episode)?;
    let plan = PilotOptions::default().plan(rig.scene())?;
    let mut pilot = plan.pilot(rig.as_mut(), None)?;
    let root = args.output.join("dataset");
    if root.exists() {
        std::fs::remove_dir_all(&root)
            .with_context(|| format!("cannot replace {}", root.display()))?;
    }
    let images = std::collections::BTreeSet::new();
    let (mut dataset, _) = Dataset::record(&root, rig.spec(), Unit::Degrees, &images)?;
    let choice = Choice {
        task: None,
        pilot: pilot.name(),
        seed: args.seed,
        episode: args.episode,
        unit: Unit::Degrees,
        images: &images,
        parent: None,
        config: serde_json::to_value(&plan)?,
    };
    let bar = output::progress("the arm is at work", FRAMES);
    let seen = |frame, _dropped| bar.set_position(frame + 1);
    let mut tape = Take::begin(
        &dataset,
        rig.as_ref(),
        choice,
        WhenFull::Wait,
        &seen,
        Output::Quiet.context(),
    )?;
    let settings =
        RunSettings { pictures: true, stop: Some(catch_stop()?), ..RunSettings::default() };
    let ran = run_episode(pilot.as_mut(), rig.as_mut(), &mut tape, &settings)?;
    bar.finish_and_clear();
    if stopped() {
        return Err(EpisodesError::Interrupted.into());
    }
    tape.save(&mut dataset, &ran)?;
    let secs = ran.frames as f64 / f64::from(rig.spec().rates.frame_hz);
    output::talk(&format!("{} after {secs:.0} s of simulation.", ran.outcome.reason));
    verify(&dataset)?;
    report::make(&root, &args.output)?;
    let mut world = World::new(compiled(SCENE)?, 1, Threads::Exactly(1))?;
    let end = rig.snapshot().map_err(|error| anyhow!("{error}"))?;
    world.restore(0, &end.context("a simulated rig has a state")?)?;
    let front = world.frame(0, "front")?;
    for (name, image) in [
        ("front.png", Image::colors(front)),
        ("depth.png", Image::distances(front)),
        ("ids.png", Image::ids(front)),
    ] {
        image.save(&args.output.join(name))?;
    }
    for name in ["report.html", "film.mp4", "contact_sheet.png", "dataset"] {
        output::data(&args.output.join(name).display().to_string())?;
    }
    output::talk("report.html: open it in a browser; dataset: opens in lerobot.");
    if ran.outcome.success != Some(true) {
        return Err(problems_found(format!("not all is placed: {}", ran.outcome.reason)));
    }
    Ok(())
}

/// Plays the recorded episode again and compares every physics step.
fn verify(dataset: &Dataset) -> anyhow::Result<()> {
    let report = replay::verify(dataset, 0, Output::Quiet.context())?;
    output::talk(&format!("replayed: {report}."));
    if !report.is_bitwise() {
        return Err(problems_found("the replay differs from the recording"));
    }
    Ok(())
}
