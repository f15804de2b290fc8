//! A first look: an autopilot works in a scene, is recorded, and the recording is replayed and
//! compared.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use citrange_core::run::run as run_episode;
use citrange_core::{Outcome, RunSettings, Snapshot};
use citrange_render::Image;
use citrange_sim::{Threads, World};
use citrange_tape::{Dataset, Unit, VerifyReport, WhenFull};

use crate::context::RunContext;
use crate::error::{Context as _, EpisodesError, Result};
use crate::pilots::PilotOptions;
use crate::recording::Take;
use crate::replay::verify;
use crate::session::Choice;
use crate::simulated::{compiled, simulated};

/// About as many frames as an episode has, to show how far it is.
const USUAL_FRAMES: u64 = 600;

/// What is shown.
#[derive(Clone, Debug)]
pub struct DemoOptions {
    /// Scene by name or file; it needs a job.
    pub scene: String,
    /// Folder of the dataset; one that is there is replaced.
    pub dataset: PathBuf,
    /// Seed of the run.
    pub seed: u64,
    /// Episode index.
    pub episode: u64,
}

/// What the arm did.
#[derive(Clone, Debug)]
pub struct Demo {
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took, in simulated time.
    pub seconds: f64,
    /// What became of the replay.
    pub replay: VerifyReport,
    scene: String,
    end: Snapshot,
}

/// Records an episode of the scene's autopilot, replays it and compares every physics step.
///
/// # Errors
/// When the scene or the folder cannot be used, or the user asked to stop.
pub fn demo(options: &DemoOptions, ctx: RunContext<'_>) -> Result<Demo> {
    let root = &options.dataset;
    let mut rig = simulated(&options.scene, None)?;
    rig.reset(options.seed, options.episode)?;
    let plan = PilotOptions::default().plan(rig.scene(), &rig.spec().objects)?;
    let mut pilot = plan.pilot(rig.as_mut(), (0, 0), None)?;
    if root.exists() {
        std::fs::remove_dir_all(root)
            .with_context(|| format!("cannot replace {}", root.display()))?;
    }
    let images = BTreeSet::new();
    let (mut dataset, _) = Dataset::record(root, rig.spec(), Unit::Degrees, &images)?;
    let choice = Choice {
        task: None,
        pilot: pilot.name(),
        seed: options.seed,
        episode: options.episode,
        unit: Unit::Degrees,
        images: &images,
        parent: None,
        config: serde_json::to_value(&plan)?,
    };
    let bar = ctx.progress("the arm is at work", USUAL_FRAMES);
    let seen = |frame, _dropped| bar.set(frame + 1);
    let mut tape = Take::begin(&dataset, rig.as_ref(), choice, WhenFull::Wait, &seen, ctx)?;
    let settings = RunSettings { pictures: true, stop: Some(ctx.stop), ..RunSettings::default() };
    let ran = run_episode(pilot.as_mut(), rig.as_mut(), &mut tape, &settings)?;
    bar.finish();
    if ctx.stopped() {
        return Err(EpisodesError::Interrupted);
    }
    tape.save(&mut dataset, &ran)?;
    let seconds = ran.frames as f64 / f64::from(rig.spec().rates.frame_hz);
    let end = rig.snapshot()?.context("a simulated rig has a state")?;
    let replay = verify(&dataset, 0, ctx)?;
    Ok(Demo { outcome: ran.outcome, seconds, replay, scene: options.scene.clone(), end })
}

impl Demo {
    /// Draws how it ended, as a camera sees it: colours, distances and ids, as `front.png`,
    /// `depth.png` and `ids.png` in a folder.
    ///
    /// # Errors
    /// When the scene has no such camera, or a picture cannot be written.
    pub fn draw_end(&self, camera: &str, folder: &Path) -> Result<()> {
        let mut world = World::new(compiled(&self.scene)?, 1, Threads::Exactly(1))?;
        world.restore(0, &self.end)?;
        let seen = world.frame(0, camera)?;
        for (name, image) in [
            ("front.png", Image::colors(seen)),
            ("depth.png", Image::distances(seen)),
            ("ids.png", Image::ids(seen)),
        ] {
            image.save(&folder.join(name))?;
        }
        Ok(())
    }
}
