//! Motions in a scene: planned in one call, followed by its arm, filmed.
//!
//! ```no_run
//! use citrange_episodes::planning::{PlanOptions, plan_in_scene};
//! use citrange_plan::GoalText;
//!
//! let options = PlanOptions {
//!     scene: "ur5_cell".to_owned(),
//!     goals: vec![GoalText::Place("0.5 0.2 0.4".to_owned())],
//!     ..PlanOptions::default()
//! };
//! let plan = plan_in_scene(&options)?;
//! for motion in plan.legs.legs.iter().flat_map(|leg| leg.motions()) {
//!     println!("{:.2} s", motion.duration_s());
//! }
//! # Ok::<(), citrange_episodes::EpisodesError>(())
//! ```
//!
//! What it does in a scene of the simulator [`citrange_plan::plan_in_scene`] does for any robot
//! and what stands around it.

mod film;
mod old_plan;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use citrange_core::RunSettings;
use citrange_core::run::run as run_episode;
use citrange_plan::{
    GoalText, Legs, PilotSettings, PlanError, PlanPilot, SceneSettings, WorldFile,
};
use citrange_policy::ReachFinder;
use citrange_space::MapSnapshot;
use serde_json::{Value, json};

use crate::cell::EpisodeRig;
use crate::context::RunContext;
use crate::error::{EpisodesError, Result, bad_input};
use crate::simulated::filmed;
use crate::simulated::plan_scene::lone_robot;
use film::PlanFilm;

/// A scene and where its robot is to go.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Scene by name or file; its first robot moves.
    pub scene: String,
    /// Instead of a scene: a robot alone at the world's origin, by its name or its robot.yaml, MJCF
    /// or URDF file.
    pub robot: Option<String>,
    /// Files of obstacles: see [`citrange_plan::WorldFile`].
    pub obstacles: Vec<PathBuf>,
    /// A file of plans that were made before, to be proved again first. Without goals theirs are
    /// the goals, without a start they begin where the first of them did.
    pub replan_from: Option<PathBuf>,
    /// Seed of where the scene's objects are: that of a collection, to plan in its episodes.
    pub seed: u64,
    /// Episode index: where the scene's objects are.
    pub episode: u64,
    /// A map of voxels that takes the place of everything that can move.
    pub map: Option<PathBuf>,
    /// Where to go, one after the other.
    pub goals: Vec<GoalText>,
    /// A policy that is asked before the planner: its file, or the folder of its training.
    pub with: Option<PathBuf>,
    /// How it is planned.
    pub settings: SceneSettings,
    /// The camera of a film; the scene's last if none is named.
    pub camera: Option<String>,
}

/// Motions in a scene, and the arm that can follow them.
pub struct ScenePlan {
    /// The motions.
    pub legs: Legs,
    options: PlanOptions,
    /// None for a robot alone.
    rig: Option<Box<dyn EpisodeRig>>,
}

/// Plans from goal to goal in a scene of the simulator, until one cannot be reached.
///
/// # Errors
/// When scene, map, goals or settings make no sense. That a goal cannot be reached is an answer:
/// [`Legs::reason`].
pub fn plan_in_scene(options: &PlanOptions) -> Result<ScenePlan> {
    let (rig, mut scene) = match &options.robot {
        Some(model) => (None, lone_robot(model)?),
        None => {
            let mut rig = filmed(&options.scene, options.camera.as_deref())?;
            rig.reset(options.seed, options.episode)?;
            let scene = rig.plan_scene()?;
            (Some(rig), scene)
        }
    };
    if let Some(path) = &options.map {
        scene.map = Some(Arc::new(MapSnapshot::load(path).map_err(PlanError::from)?));
    }
    for path in &options.obstacles {
        scene.solids.extend(WorldFile::load(path)?);
    }
    let mut options = options.clone();
    if let Some(path) = &options.replan_from {
        let old = old_plan::read(path)?;
        old.take_up(&mut options);
    }
    let (goals, settings) = (&options.goals, &options.settings);
    let legs = match &options.with {
        Some(policy) => {
            let mut finder = ReachFinder::load(policy, settings.request.search.seed)?;
            citrange_plan::plan_in_scene_with(&scene, goals, settings, &mut finder)?
        }
        None => citrange_plan::plan_in_scene(&scene, goals, settings)?,
    };
    Ok(ScenePlan { legs, options, rig })
}

impl ScenePlan {
    /// Everything that was asked and found, with `hz` moments per second.
    #[must_use]
    pub fn json(&self, hz: u32) -> Value {
        let mut all = self.legs.json(hz);
        all["scene"] = json!(Some(&self.options.scene).filter(|scene| !scene.is_empty()));
        all["with"] = json!(self.options.with);
        all["obstacles"] = json!(self.options.obstacles);
        all["replan_from"] = json!(self.options.replan_from);
        all["map"] = json!(self.options.map);
        all["episode_seed"] = json!(self.options.seed);
        all["episode"] = json!(self.options.episode);
        all
    }

    /// Lets the simulated arm follow all motions and films it; no film where there is no motion.
    /// Says whether one was made.
    ///
    /// # Errors
    /// When the scene has no camera, the arm did not follow, or the user asked to stop.
    pub fn film(&mut self, path: &Path, ctx: RunContext<'_>) -> Result<bool> {
        let legs = &self.legs;
        let Some(rig) = self.rig.as_deref_mut() else {
            bad_input!("a robot alone has no scene to be filmed in: put it into one");
        };
        if legs.legs.first().is_none_or(|leg| leg.made.trajectory.is_none()) {
            return Ok(false);
        }
        rig.stand_at(&legs.first_joints())?;
        let mut film = PlanFilm::begin(path, rig)?;
        for (number, leg) in legs.legs.iter().enumerate() {
            for motion in leg.motions() {
                let caption = format!("plan {} of {}: {}", number + 1, legs.legs.len(), leg.goal);
                let way = legs.way_of_tool(motion)?;
                film.show(caption, way, legs.obstacles.map.as_deref());
                let feedforward = legs.feedforward.clone();
                let settings = PilotSettings::default();
                let mut pilot = PlanPilot::new(motion.clone(), rig.spec(), feedforward, settings)?;
                let settings =
                    RunSettings { pictures: true, stop: Some(ctx.stop), ..RunSettings::default() };
                let ran = run_episode(&mut pilot, &mut *rig, &mut film, &settings)?;
                if ctx.stopped() {
                    return Err(EpisodesError::Interrupted);
                }
                if ran.outcome.success != Some(true) {
                    let reason =
                        format!("the simulated arm did not follow: {}", ran.outcome.reason);
                    return Err(EpisodesError::ProblemsFound(reason));
                }
            }
        }
        film.finish()?;
        Ok(true)
    }
}

impl std::fmt::Debug for ScenePlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScenePlan").field("options", &self.options).finish_non_exhaustive()
    }
}
