//! N environments with a job: stepped, judged, begun anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use citrange_core::{Observation, RigSpec};
use citrange_sim::{CompiledScene, SceneSource, Senses, StateQuery, World};
use citrange_task::{AutopilotSettings, JobWatch, Remaining};

use crate::error::EnvError;
use crate::pictures::CameraPictures;
use crate::reward::{potential, reward};
use crate::settings::{Actions, Autoreset, EnvSettings, Hold};
use crate::spaces::{Entry, Limit, entries, limits, write};

/// Which episodes come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seeding {
    /// Episodes of one run: environment `i` of `N` has the episodes `i`, `i + N`, `i + 2 N`, …
    Run(u64),
    /// A run for each environment, which has its episodes 0, 1, 2, …
    Each(Vec<u64>),
    /// The next episode of every environment.
    Next,
}

/// What is known of one environment.
#[derive(Clone, Debug)]
struct Course {
    seed: u64,
    episode: u64,
    /// The one after it, and how many further the one after that is.
    next: u64,
    stride: u64,
    steps: u32,
    potential: f64,
    /// Over, and not yet begun anew.
    over: bool,
    remaining: Option<Remaining>,
}

/// N environments of a scene.
pub struct Batch {
    world: World,
    senses: Senses,
    settings: EnvSettings,
    brings: bool,
    names: Vec<Entry>,
    limits: Vec<Limit>,
    /// How far each joint may be sent in a step, with [`Actions::Deltas`].
    most: Vec<f64>,
    watches: Vec<JobWatch>,
    courses: Vec<Course>,
    // What is handed out: never moved while the batch lives.
    observations: Box<[f32]>,
    rewards: Box<[f64]>,
    terminated: Box<[bool]>,
    truncated: Box<[bool]>,
    success: Box<[bool]>,
    ended: Box<[bool]>,
    final_observations: Box<[f32]>,
    pictures: BTreeMap<String, CameraPictures>,
    final_pictures: BTreeMap<String, CameraPictures>,
    query: StateQuery,
    targets: Vec<f64>,
    row: Vec<f64>,
    seen: Observation,
}

impl Batch {
    /// Environments of a scene, each at the start of an episode of seed 0. A scene without a job
    /// has no rewards and no ends of its own.
    ///
    /// # Errors
    /// When the scene cannot be built, or robots or cameras are not there.
    pub fn new(
        mut source: SceneSource,
        num_envs: usize,
        settings: EnvSettings,
    ) -> Result<Self, EnvError> {
        if settings.max_steps == Some(0) {
            return Err(EnvError::argument("max_steps", "0 steps are no episode; 1 or more"));
        }
        if let Some([width, height]) = settings.picture_px {
            if width == 0 || height == 0 || width > 8192 || height > 8192 {
                let reason = format!("{width} x {height} pixels; 1 to 8192 are possible");
                return Err(EnvError::argument("picture size", reason));
            }
            for camera in source.scene.cameras.values_mut() {
                (camera.width_px, camera.height_px) = (width, height);
            }
        }
        let scene = Arc::new(CompiledScene::new(&source)?);
        let world = World::new(Arc::clone(&scene), num_envs, settings.threads)?;
        let senses = Senses::new(&world, settings.robots.as_deref())?;
        let (spec, job) = (senses.spec(), scene.scene.job.as_ref());
        let watch = match job {
            Some(job) => {
                let profile = job.profile.as_deref().unwrap_or("default");
                let judge = AutopilotSettings::load(profile)?.placement;
                Some(JobWatch::new(spec, job, &judge)?)
            }
            None => None,
        };
        let job_targets = job.map(|job| job.targets.clone()).unwrap_or_default();
        let names = entries(spec, senses.knows_tool(), &job_targets);
        let per_second = match settings.hold {
            Hold::Frame => spec.rates.frame_hz,
            Hold::Tick => spec.rates.control_hz,
        };
        let descriptions: Vec<_> =
            senses.robots().iter().map(|robot| scene.robots.get(robot)).collect();
        let (limits, most) =
            limits(spec, &descriptions, settings.actions, 1.0 / f64::from(per_second));
        let mut pictures = BTreeMap::new();
        for (name, query) in &settings.cameras {
            let Some(camera) = scene.scene.cameras.get(name) else {
                let known = scene.camera_names();
                let hint = citrange_core::names::suggestion(name, known);
                return Err(EnvError::argument("cameras", format!("no camera \"{name}\", {hint}")));
            };
            let size = [camera.height_px as usize, camera.width_px as usize];
            pictures.insert(name.clone(), CameraPictures::new(*query, size, num_envs));
        }
        let course = Course {
            seed: 0,
            episode: 0,
            next: 0,
            stride: num_envs as u64,
            steps: 0,
            potential: 0.0,
            over: false,
            remaining: None,
        };
        let joints = limits.len();
        let width = names.len();
        let query = StateQuery { cameras: settings.cameras.clone(), ..StateQuery::default() };
        let mut batch = Self {
            brings: job.is_some_and(citrange_core::scene::Job::brings),
            watches: watch.map(|watch| vec![watch; num_envs]).unwrap_or_default(),
            courses: vec![course; num_envs],
            observations: vec![0.0; num_envs * width].into(),
            final_observations: vec![0.0; num_envs * width].into(),
            rewards: vec![0.0; num_envs].into(),
            terminated: vec![false; num_envs].into(),
            truncated: vec![false; num_envs].into(),
            success: vec![false; num_envs].into(),
            ended: vec![false; num_envs].into(),
            final_pictures: pictures.clone(),
            pictures,
            query,
            targets: vec![0.0; num_envs * joints],
            row: Vec::with_capacity(joints),
            seen: Observation::default(),
            world,
            senses,
            settings,
            names,
            limits,
            most,
        };
        batch.reset(&Seeding::Run(0))?;
        Ok(batch)
    }

    /// Number of environments.
    #[must_use]
    pub fn num_envs(&self) -> usize {
        self.courses.len()
    }

    /// The world below.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world below, to read its state or take snapshots; whoever sets it must
    /// [`Batch::look_again`].
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Joints, rates and things.
    #[must_use]
    pub fn spec(&self) -> &RigSpec {
        self.senses.spec()
    }

    /// What was chosen.
    #[must_use]
    pub fn settings(&self) -> &EnvSettings {
        &self.settings
    }

    /// Steps in a second of simulated time.
    #[must_use]
    pub fn steps_per_second(&self) -> u32 {
        let rates = self.spec().rates;
        match self.settings.hold {
            Hold::Frame => rates.frame_hz,
            Hold::Tick => rates.control_hz,
        }
    }

    /// Names and units of an observation.
    #[must_use]
    pub fn observation_names(&self) -> &[Entry] {
        &self.names
    }

    /// Names, units and limits of an action.
    #[must_use]
    pub fn action_limits(&self) -> &[Limit] {
        &self.limits
    }

    /// What is seen, a row of numbers per environment.
    #[must_use]
    pub fn observations(&self) -> &[f32] {
        &self.observations
    }

    /// What was seen last before an environment began anew in the same step; of use where
    /// [`Batch::ended`].
    #[must_use]
    pub fn final_observations(&self) -> &[f32] {
        &self.final_observations
    }

    /// What the last step was worth.
    #[must_use]
    pub fn rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// Where the job is done and the episode over with it.
    #[must_use]
    pub fn terminated(&self) -> &[bool] {
        &self.terminated
    }

    /// Where the episode was cut off.
    #[must_use]
    pub fn truncated(&self) -> &[bool] {
        &self.truncated
    }

    /// Where the job was done at the end of the last step.
    #[must_use]
    pub fn success(&self) -> &[bool] {
        &self.success
    }

    /// Where an episode ended in the last step.
    #[must_use]
    pub fn ended(&self) -> &[bool] {
        &self.ended
    }

    /// Pictures by camera.
    #[must_use]
    pub fn pictures(&self) -> &BTreeMap<String, CameraPictures> {
        &self.pictures
    }

    /// As [`Batch::final_observations`].
    #[must_use]
    pub fn final_pictures(&self) -> &BTreeMap<String, CameraPictures> {
        &self.final_pictures
    }

    /// Joint targets in force, a row per environment.
    #[must_use]
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// Seed and index of the episode that an environment is in.
    #[must_use]
    pub fn episode(&self, env: usize) -> Option<(u64, u64)> {
        self.courses.get(env).map(|course| (course.seed, course.episode))
    }

    /// Steps of an environment since its episode began.
    #[must_use]
    pub fn steps(&self, env: usize) -> Option<u32> {
        self.courses.get(env).map(|course| course.steps)
    }

    /// Begins an episode in every environment.
    ///
    /// # Errors
    /// When the number of seeds is wrong or things find no room.
    pub fn reset(&mut self, seeding: &Seeding) -> Result<(), EnvError> {
        let count = self.courses.len();
        match seeding {
            Seeding::Next => {}
            Seeding::Run(seed) => {
                for (env, course) in self.courses.iter_mut().enumerate() {
                    (course.seed, course.next, course.stride) = (*seed, env as u64, count as u64);
                }
            }
            Seeding::Each(seeds) => {
                if seeds.len() != count {
                    let reason = format!("{} seeds for {count} environments", seeds.len());
                    return Err(EnvError::argument("seed", reason));
                }
                for (course, seed) in self.courses.iter_mut().zip(seeds) {
                    (course.seed, course.next, course.stride) = (*seed, 0, 1);
                }
            }
        }
        self.rewards.fill(0.0);
        self.terminated.fill(false);
        self.truncated.fill(false);
        self.ended.fill(false);
        self.begin(&(0..count).collect::<Vec<_>>())
    }

    /// Begins the next episode in these environments; `seeds` for runs of their own.
    ///
    /// # Errors
    /// When there is no such environment, the number of seeds is wrong, or things find no room.
    pub fn reset_envs(&mut self, envs: &[usize], seeds: Option<&[u64]>) -> Result<(), EnvError> {
        let count = self.courses.len();
        if let Some(bad) = envs.iter().find(|env| **env >= count) {
            let reason = format!("there is no environment {bad}; there are {count}, from 0");
            return Err(EnvError::argument("env_ids", reason));
        }
        if let Some(seeds) = seeds {
            if seeds.len() != envs.len() {
                let reason = format!("{} seeds for {} environments", seeds.len(), envs.len());
                return Err(EnvError::argument("seed", reason));
            }
            for (env, seed) in envs.iter().zip(seeds) {
                let course = &mut self.courses[*env];
                (course.seed, course.next, course.stride) = (*seed, 0, 1);
            }
        }
        self.begin(envs)
    }

    /// Puts an environment at the start of one episode; those that follow come after it.
    ///
    /// # Errors
    /// As [`Batch::reset_envs`].
    pub fn begin_episode(&mut self, env: usize, seed: u64, episode: u64) -> Result<(), EnvError> {
        if let Some(course) = self.courses.get_mut(env) {
            (course.seed, course.next) = (seed, episode);
        }
        self.reset_envs(&[env], None)
    }

    /// Carries out one action per environment: steps physics, looks, judges.
    ///
    /// # Errors
    /// When the length is wrong, a number is not finite, or an environment diverged.
    pub fn step(&mut self, actions: &[f32]) -> Result<(), EnvError> {
        self.advance(actions)?;
        self.settle(None)
    }

    /// The first half of [`Batch::step`]: everything but ends and beginnings.
    ///
    /// # Errors
    /// As [`Batch::step`].
    pub fn advance(&mut self, actions: &[f32]) -> Result<(), EnvError> {
        self.command(actions)?;
        let rates = self.spec().rates;
        let steps = match self.settings.hold {
            Hold::Frame => rates.steps_per_tick() * rates.ticks_per_frame(),
            Hold::Tick => rates.steps_per_tick(),
        };
        self.world.step(steps)?;
        let late = self.settings.autoreset == Autoreset::NextStep;
        let anew: Vec<usize> =
            (0..self.courses.len()).filter(|env| late && self.courses[*env].over).collect();
        self.ended.fill(false);
        self.truncated.fill(false);
        for env in 0..self.courses.len() {
            // Judges count frames; whether a place is reached can be asked at any time.
            let ticks = self.courses[env].steps + 1;
            let as_frame = self.settings.hold == Hold::Frame
                || !self.brings
                || ticks.is_multiple_of(rates.ticks_per_frame());
            self.look(env, as_frame)?;
            let before = self.courses[env].potential;
            let course = &mut self.courses[env];
            course.steps += 1;
            let (done, after) = match &course.remaining {
                Some(remaining) => (remaining.done, potential(remaining, self.brings)),
                None => (false, 0.0),
            };
            course.potential = after;
            self.success[env] = done;
            self.rewards[env] = reward(self.settings.reward, done, before, after);
            self.terminated[env] = done && self.settings.ends_when_done;
        }
        if !anew.is_empty() {
            self.begin(&anew)?;
            for env in anew {
                (self.rewards[env], self.terminated[env]) = (0.0, false);
            }
        }
        let all: Vec<usize> = (0..self.courses.len()).collect();
        self.draw(&all)
    }

    /// The second half of [`Batch::step`]: ends episodes and begins the next ones. `terminated`
    /// takes the place of what the job says.
    ///
    /// # Errors
    /// When its length is wrong or things find no room.
    pub fn settle(&mut self, terminated: Option<&[bool]>) -> Result<(), EnvError> {
        if let Some(terminated) = terminated {
            let (found, count) = (terminated.len(), self.courses.len());
            if found != count {
                let reason = format!("{found} given for {count} environments");
                return Err(EnvError::argument("terminated", reason));
            }
            self.terminated.copy_from_slice(terminated);
        }
        for (env, course) in self.courses.iter_mut().enumerate() {
            let is_late = self.settings.max_steps.is_some_and(|most| course.steps >= most);
            self.truncated[env] = is_late && !self.terminated[env];
            self.ended[env] = is_late || self.terminated[env];
            course.over = self.ended[env];
        }
        if self.settings.autoreset != Autoreset::SameStep {
            return Ok(());
        }
        let over: Vec<usize> = (0..self.courses.len()).filter(|env| self.ended[*env]).collect();
        if over.is_empty() {
            return Ok(());
        }
        let width = self.names.len();
        for env in &over {
            let row = env * width..(env + 1) * width;
            self.final_observations[row.clone()].copy_from_slice(&self.observations[row]);
            for (name, last) in &mut self.final_pictures {
                if let Some(now) = self.pictures.get(name) {
                    last.copy_env(now, *env);
                }
            }
        }
        self.begin(&over)
    }

    /// Looks anew at all environments, after the world was set from outside.
    ///
    /// # Errors
    /// When a picture cannot be drawn.
    pub fn look_again(&mut self) -> Result<(), EnvError> {
        let all: Vec<usize> = (0..self.courses.len()).collect();
        for env in &all {
            self.read_targets(*env);
            self.look(*env, false)?;
            self.measure(*env);
        }
        self.draw(&all)
    }

    /// Turns actions into joint targets, and sends them.
    fn command(&mut self, actions: &[f32]) -> Result<(), EnvError> {
        let joints = self.limits.len();
        let expected = joints * self.courses.len();
        if actions.len() != expected {
            let count = self.courses.len();
            let reason = format!("{} numbers; {count} x {joints} are needed", actions.len());
            return Err(EnvError::argument("actions", reason));
        }
        if let Some(bad) = actions.iter().position(|action| !action.is_finite()) {
            let (env, joint) = (bad / joints, &self.limits[bad % joints].name);
            let reason = format!("{} is no number ({joint}, environment {env})", actions[bad]);
            return Err(EnvError::argument("actions", reason));
        }
        let spec = self.senses.spec();
        for (at, action) in actions.iter().enumerate() {
            let (joint, action) = (at % joints, f64::from(*action));
            let wanted = match self.settings.actions {
                Actions::Targets => action,
                Actions::Deltas => self.targets[at] + action.clamp(-1.0, 1.0) * self.most[joint],
            };
            self.targets[at] = match spec.joints[joint].range {
                Some([low, high]) => wanted.clamp(low, high),
                None => wanted,
            };
        }
        for (robot, arm) in self.senses.robots().iter().zip(spec.arms()) {
            self.row.clear();
            for targets in self.targets.chunks_exact(joints) {
                self.row.extend_from_slice(&targets[arm.joints.clone()]);
            }
            self.world.set_driven_targets(robot, &self.row)?;
        }
        Ok(())
    }

    /// Begins the next episode of some environments, and looks.
    fn begin(&mut self, envs: &[usize]) -> Result<(), EnvError> {
        for env in envs {
            let course = &mut self.courses[*env];
            self.world.reset_env(*env, course.seed, course.next)?;
            course.episode = course.next;
            course.next = course.next.wrapping_add(course.stride);
            (course.steps, course.over) = (0, false);
            if let Some(watch) = self.watches.get_mut(*env) {
                watch.begin();
            }
            self.read_targets(*env);
            self.look(*env, false)?;
            self.measure(*env);
        }
        self.draw(envs)
    }

    /// The potential as it is now, which the next step is measured from.
    fn measure(&mut self, env: usize) {
        let course = &mut self.courses[env];
        course.potential =
            course.remaining.as_ref().map_or(0.0, |left| potential(left, self.brings));
    }

    fn read_targets(&mut self, env: usize) {
        let joints = self.limits.len();
        self.senses.targets(&self.world, env, &mut self.row);
        self.targets[env * joints..(env + 1) * joints].copy_from_slice(&self.row);
    }

    /// Looks into an environment; as a frame of its job, or only so.
    fn look(&mut self, env: usize, as_frame: bool) -> Result<(), EnvError> {
        self.senses.look(&mut self.world, env, &mut self.seen)?;
        let tool_m = self.senses.tool_m(&self.world, env);
        let job = self.watches.get_mut(env).map(|watch| {
            let remaining = match as_frame {
                true => watch.sample(&self.seen, tool_m),
                false => watch.remaining(&self.seen, tool_m),
            };
            self.courses[env].remaining = Some(remaining);
            (watch.goal_m(&self.seen), watch.placed())
        });
        let (width, joints) = (self.names.len(), self.limits.len());
        let targets = &self.targets[env * joints..(env + 1) * joints];
        let out = &mut self.observations[env * width..(env + 1) * width];
        write(&self.seen, targets, tool_m, job, out);
        Ok(())
    }

    /// Draws the pictures of some environments.
    fn draw(&mut self, envs: &[usize]) -> Result<(), EnvError> {
        if self.pictures.is_empty() {
            return Ok(());
        }
        let state = self.world.get_state(Some(envs), &self.query)?;
        for (name, pictures) in &mut self.pictures {
            if let Some(camera) = state.cameras.get(name) {
                pictures.take(envs, camera);
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").field("num_envs", &self.num_envs()).finish_non_exhaustive()
    }
}
