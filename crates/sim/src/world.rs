//! World: N environments of one scene, stepped on all cores.
//!
//! A step is split so that everything read afterwards belongs to the same instant. The engine's
//! own step computes positions, velocities and contacts first and integrates last, which leaves
//! them one step behind the joints. Here the second half (actuation, acceleration, integration)
//! runs first and the first half (kinematics, contacts, velocities) last: the same work and the
//! same bits, but poses, velocities, contacts and sensors are those of the state reached.

use std::sync::Arc;

use citrange_core::placement::place_objects;
use mujoco_rs::prelude::*;
use rayon::prelude::*;

use crate::camera_pool::CameraPool;
use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::layout::Root;
use crate::row::publish;

/// The engine's data of one environment.
pub(crate) type Data = MjData<Arc<MjModel>>;

/// One environment.
pub(crate) struct Env {
    pub(crate) data: Data,
    /// Physics steps since the episode began.
    pub(crate) step: u64,
}

/// N environments of one scene.
///
/// Results do not depend on the number of threads or environments: every environment has its
/// own data, and all share one immutable model.
pub struct World {
    pub(crate) scene: Arc<CompiledScene>,
    pub(crate) envs: Vec<Env>,
    /// One row per environment, see `row.rs`.
    pub(crate) rows: Vec<f64>,
    pool: rayon::ThreadPool,
    pub(crate) camera_pool: Option<CameraPool>,
}

/// How many threads to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One per core, but not more than there are environments.
    Auto,
    /// Exactly so many.
    Exactly(usize),
}

impl World {
    /// Creates the environments, each at the start of episode 0 of seed 0.
    ///
    /// # Errors
    /// When there are none, memory runs out, or objects cannot be placed.
    pub fn new(
        scene: Arc<CompiledScene>,
        num_envs: usize,
        threads: Threads,
    ) -> Result<Self, SimError> {
        if num_envs == 0 {
            let what = "environments".into();
            return Err(SimError::Length { what, found: 0, expected: 1 });
        }
        let mut envs = Vec::with_capacity(num_envs);
        for _ in 0..num_envs {
            let data = MjData::try_new(Arc::clone(&scene.model))
                .map_err(|e| SimError::Mujoco(e.to_string()))?;
            envs.push(Env { data, step: 0 });
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let wanted = match threads {
            Threads::Auto => cores.min(num_envs),
            Threads::Exactly(n) => n.max(1),
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(wanted).build();
        let pool = pool.map_err(|e| SimError::Mujoco(format!("threads: {e}")))?;
        let rows = vec![0.0; num_envs * scene.layout.row_len];
        let mut world = Self { scene, envs, rows, pool, camera_pool: None };
        world.reset(0, &vec![0; num_envs])?;
        Ok(world)
    }

    /// The scene.
    #[must_use]
    pub fn scene(&self) -> &Arc<CompiledScene> {
        &self.scene
    }

    /// Number of environments.
    #[must_use]
    pub fn num_envs(&self) -> usize {
        self.envs.len()
    }

    /// Number of threads in use.
    #[must_use]
    pub fn num_threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Physics steps of an environment since its episode began.
    #[must_use]
    pub fn steps(&self, env: usize) -> u64 {
        self.envs.get(env).map_or(0, |e| e.step)
    }

    /// Puts every environment at the start of an episode: `episodes[i]` for environment `i`.
    ///
    /// # Errors
    /// When the number of episodes is wrong or objects cannot be placed; then nothing changes.
    pub fn reset(&mut self, seed: u64, episodes: &[u64]) -> Result<(), SimError> {
        if episodes.len() != self.envs.len() {
            let (found, expected) = (episodes.len(), self.envs.len());
            return Err(SimError::Length { what: "episodes".into(), found, expected });
        }
        let scene = Arc::clone(&self.scene);
        let starts = self.in_pool(|| {
            let start = |episode: &u64| start_qpos(&scene, seed, *episode);
            episodes.par_iter().map(start).collect::<Result<Vec<_>, _>>()
        })?;
        for (env, qpos) in starts.into_iter().enumerate() {
            self.begin(env, &qpos);
        }
        Ok(())
    }

    /// Puts one environment at the start of an episode.
    ///
    /// # Errors
    /// When the index is out of range or objects cannot be placed; then nothing changes.
    pub fn reset_env(&mut self, env: usize, seed: u64, episode: u64) -> Result<(), SimError> {
        self.check_env(env)?;
        let qpos = start_qpos(&self.scene, seed, episode)?;
        self.begin(env, &qpos);
        Ok(())
    }

    fn begin(&mut self, env: usize, qpos: &[f64]) {
        let data = &mut self.envs[env].data;
        data.reset();
        data.qpos_mut().copy_from_slice(qpos);
        data.ctrl_mut().copy_from_slice(&self.scene.home_ctrl);
        data.step1();
        self.envs[env].step = 0;
        self.publish(env);
    }

    /// Advances every environment by `count` physics steps with the commands that are set.
    ///
    /// # Errors
    /// When an environment diverged (first one named); the others have advanced.
    pub fn step(&mut self, count: u32) -> Result<(), SimError> {
        self.advance(count, |_, _, _| {})
    }

    /// Advances every environment through a sequence of commands: `commands` holds, for every
    /// environment, `count` rows of one number per actuator; each is held for one physics step.
    ///
    /// # Errors
    /// When the length is wrong, a command is not finite, or an environment diverged.
    pub fn rollout(&mut self, count: u32, commands: &[f64]) -> Result<(), SimError> {
        let actuators = self.scene.home_ctrl.len();
        let per_env = count as usize * actuators;
        let expected = per_env * self.envs.len();
        if commands.len() != expected {
            let what = "commands (environments x steps x actuators)".into();
            return Err(SimError::Length { what, found: commands.len(), expected });
        }
        if let Some(bad) = commands.iter().position(|c| !c.is_finite()) {
            return Err(SimError::State {
                env: bad / per_env.max(1),
                field: format!("commands[{}]", bad % per_env.max(1)),
                reason: format!("{} is not a finite number", commands[bad]),
            });
        }
        self.advance(count, |env, step, ctrl| {
            let at = env * per_env + step as usize * actuators;
            ctrl.copy_from_slice(&commands[at..at + actuators]);
        })
    }

    /// The one stepping loop. `command` may write the actuator commands before each step.
    fn advance(
        &mut self,
        count: u32,
        command: impl Fn(usize, u32, &mut [f64]) + Sync,
    ) -> Result<(), SimError> {
        let layout = &self.scene.layout;
        let work = |(index, (env, row)): (usize, (&mut Env, &mut [f64]))| {
            for step in 0..count {
                command(index, step, env.data.ctrl_mut());
                env.data.step2();
                env.data.step1();
                env.step += 1;
                if let Some(what) = not_finite(&env.data) {
                    return Err(SimError::Diverged { env: index, step: env.step, what });
                }
            }
            publish(layout, &env.data, row);
            Ok(())
        };
        if self.num_threads() == 1 {
            // Here and now: handing work to another thread would cost more than a step.
            let mut outcome = Ok(());
            for job in
                self.envs.iter_mut().zip(self.rows.chunks_exact_mut(layout.row_len)).enumerate()
            {
                outcome = outcome.and(work(job));
            }
            return outcome;
        }
        self.pool.install(|| {
            let rows = self.rows.par_chunks_exact_mut(layout.row_len);
            let results = self.envs.par_iter_mut().zip(rows).enumerate().map(work);
            // The lowest environment's error, whatever thread met one first.
            results.reduce(|| Ok(()), |a, b| a.and(b))
        })
    }

    /// Runs `job` on this world's threads.
    pub(crate) fn in_pool<R: Send>(&self, job: impl FnOnce() -> R + Send) -> R {
        self.pool.install(job)
    }

    /// Writes an environment's row after its data changed.
    pub(crate) fn publish(&mut self, env: usize) {
        let len = self.scene.layout.row_len;
        let row = &mut self.rows[env * len..(env + 1) * len];
        publish(&self.scene.layout, &self.envs[env].data, row);
    }

    /// Brings kinematics, contacts and velocities up to date after joints were written.
    pub(crate) fn refresh(&mut self, env: usize) {
        self.envs[env].data.step1();
        self.publish(env);
    }

    pub(crate) fn check_env(&self, env: usize) -> Result<(), SimError> {
        let count = self.envs.len();
        if env < count {
            return Ok(());
        }
        Err(SimError::Env { env, reason: "does not exist", count })
    }

    /// The ids asked for (all when `None`), checked: in range and none twice.
    pub(crate) fn env_ids(&self, ids: Option<&[usize]>) -> Result<Vec<usize>, SimError> {
        let Some(ids) = ids else { return Ok((0..self.envs.len()).collect()) };
        let mut seen = vec![false; self.envs.len()];
        for &env in ids {
            self.check_env(env)?;
            if std::mem::replace(&mut seen[env], true) {
                let count = self.envs.len();
                return Err(SimError::Env { env, reason: "is given twice", count });
            }
        }
        Ok(ids.to_vec())
    }

    /// Kinetic plus potential energy of an environment in joules.
    ///
    /// # Errors
    /// When the index is out of range.
    pub fn energy(&mut self, env: usize) -> Result<f64, SimError> {
        self.check_env(env)?;
        let data = &mut self.envs[env].data;
        data.energy_pos();
        data.energy_vel();
        let [potential, kinetic] = data.ffi().energy;
        Ok(potential + kinetic)
    }

    /// Number of contacts and the deepest overlap in metres in an environment.
    ///
    /// # Errors
    /// When the index is out of range.
    pub fn contact_summary(&self, env: usize) -> Result<(usize, f64), SimError> {
        self.check_env(env)?;
        let contacts = self.envs[env].data.contact();
        let deepest = contacts.iter().map(|c| -c.dist).fold(0.0, f64::max);
        Ok((contacts.len(), deepest))
    }

    /// The two bodies that overlap most in an environment, and how deep in metres.
    ///
    /// # Errors
    /// When the index is out of range.
    pub fn deepest_contact(&self, env: usize) -> Result<Option<([String; 2], f64)>, SimError> {
        self.check_env(env)?;
        let contacts = self.envs[env].data.contact().iter();
        let Some(deepest) = contacts.min_by(|a, b| a.dist.total_cmp(&b.dist)) else {
            return Ok(None);
        };
        let bodies = self.scene.model.geom_bodyid();
        let name = |geom: i32| match usize::try_from(geom) {
            Ok(geom) => self.scene.layout.body_names[bodies[geom] as usize].clone(),
            Err(_) => "flex".to_owned(),
        };
        Ok(Some((deepest.geom.map(name), -deepest.dist)))
    }

    /// The engine's data of an environment, for code that needs what State does not offer.
    ///
    /// # Errors
    /// When the index is out of range.
    pub fn data(&self, env: usize) -> Result<&MjData<Arc<MjModel>>, SimError> {
        self.check_env(env)?;
        Ok(&self.envs[env].data)
    }
}

/// Joint positions at the start of an episode: robots at home, objects where the draw puts them.
fn start_qpos(scene: &CompiledScene, seed: u64, episode: u64) -> Result<Vec<f64>, SimError> {
    let mut qpos = scene.home_qpos.clone();
    // In a recording's own model things stand where its states have them.
    if !scene.scene.roots.is_empty() {
        return Ok(qpos);
    }
    for (name, pose) in place_objects(&scene.scene, seed, episode)? {
        if let Root::Free { qpos: at, .. } = scene.layout.objects[&name].root {
            qpos[at..at + 3].copy_from_slice(&pose.pos_m);
            qpos[at + 3..at + 7].copy_from_slice(&pose.quat_wxyz);
        }
    }
    Ok(qpos)
}

/// Which of the engine's numbers stopped being finite, if any.
fn not_finite(data: &Data) -> Option<String> {
    // The engine counts bad positions, velocities, accelerations and commands; looking at the
    // four counters costs nothing beside scanning the arrays.
    const NAMES: [(usize, &str); 4] =
        [(3, "joint positions"), (4, "joint velocities"), (5, "accelerations"), (6, "commands")];
    let warnings = &data.ffi().warning;
    let bad = NAMES.iter().find(|(index, _)| warnings[*index].number > 0)?;
    Some(format!("{} are not finite", bad.1))
}
