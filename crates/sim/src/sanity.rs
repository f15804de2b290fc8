//! How fast a scene is simulated, and whether its physics is sane.

use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::{CompiledScene, SimError, Threads, World, engine_messages};

/// Overlap beyond which contacts are called too soft.
const DEEPEST_M: f64 = 0.003;
/// Energy that a scene at rest may gain, beside one part in a thousand.
const GAIN_J: f64 = 0.02;

/// How a scene is tried.
#[derive(Clone, Copy, Debug)]
pub struct SanitySettings {
    /// Number of environments; environment i runs episode i.
    pub envs: usize,
    /// Simulated time.
    pub seconds: f64,
    /// Threads.
    pub threads: Threads,
    /// Seed of the run.
    pub seed: u64,
    /// Whether the robots sweep through the scene, a slow sine around home on every joint.
    /// Otherwise they stand still: then energy must not grow.
    pub sweep: bool,
}

/// What a trial showed.
#[derive(Clone, Debug, Serialize)]
pub struct SanityReport {
    /// The scene.
    pub scene: String,
    /// Environments.
    pub envs: usize,
    /// Threads that stepped them.
    pub threads: usize,
    /// Simulated time of each, as it was asked for.
    pub seconds: f64,
    /// Physics steps of all environments.
    pub physics_steps: u64,
    /// Of these per second of wall time.
    pub steps_per_sec: f64,
    /// Simulated over wall time, all environments together.
    pub real_time_factor: f64,
    /// Wall time spent on stepping.
    #[serde(rename = "wall_secs")]
    pub wall_s: f64,
    /// Mean energy of an environment at the start.
    pub energy_start_j: f64,
    /// At the end.
    pub energy_end_j: f64,
    /// Contacts at the end.
    pub contacts_per_env: f64,
    /// Deepest overlap of two shapes.
    pub deepest_overlap_m: f64,
    /// What is wrong.
    pub problems: Vec<String>,
}

impl fmt::Display for SanityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scene, envs, threads, energy_start_j, energy_end_j, .. } = self;
        let overlap_mm = 1e3 * self.deepest_overlap_m;
        let sanity = if self.problems.is_empty() { "OK" } else { "PROBLEMS" };
        write!(
            f,
            "{scene}: {envs} environments on {threads} threads, {:.1} s each\n  \
             speed     {:.0} steps/s, {:.1} x real time\n  \
             energy    {energy_start_j:.4} J at start, {energy_end_j:.4} J at end (mean)\n  \
             contacts  {:.1} per environment, deepest overlap {overlap_mm:.2} mm\n  \
             sanity    {sanity}",
            self.seconds, self.steps_per_sec, self.real_time_factor, self.contacts_per_env,
        )
    }
}

/// Simulates a scene and measures. `progress` is told how much of it is done, 0 to 1.
///
/// # Errors
/// When the scene cannot be simulated.
pub fn try_scene(
    scene: &std::sync::Arc<CompiledScene>,
    settings: &SanitySettings,
    progress: &mut dyn FnMut(f64),
) -> Result<SanityReport, SimError> {
    let envs = settings.envs;
    let rates = scene.scene.rates;
    let mut world = World::new(scene.clone(), envs, settings.threads)?;
    world.reset(settings.seed, &(0..envs as u64).collect::<Vec<_>>())?;
    let energy_start_j = mean_energy(&mut world)?;
    let ticks = (settings.seconds * f64::from(rates.control_hz)).round().max(1.0) as u64;
    let home: Vec<(String, Vec<f64>)> = homes(&mut world)?;
    let mut busy = Duration::ZERO;
    let mut deepest_overlap_m = 0.0_f64;
    let mut deepest_pair = String::new();
    for tick in 0..ticks {
        let start = Instant::now();
        if settings.sweep {
            let t = tick as f64 / f64::from(rates.control_hz);
            for (robot, home) in &home {
                let wave =
                    |(i, q): (usize, &f64)| q + 0.4 * (t + i as f64).sin() - 0.4 * (i as f64).sin();
                let targets: Vec<f64> = home.iter().enumerate().map(wave).collect();
                world.set_joint_targets(robot, &targets)?;
            }
        }
        world.step(rates.steps_per_tick())?;
        busy += start.elapsed();
        if tick % 16 == 0 {
            for env in 0..envs {
                if let Some(([a, b], depth_m)) = world.deepest_contact(env)?
                    && depth_m > deepest_overlap_m
                {
                    (deepest_overlap_m, deepest_pair) = (depth_m, format!("{a} and {b}"));
                }
            }
            progress(tick as f64 / ticks as f64);
        }
    }
    let energy_end_j = mean_energy(&mut world)?;
    let contacts =
        (0..envs).map(|e| world.contact_summary(e).map(|c| c.0)).sum::<Result<usize, _>>()?;
    let physics_steps = ticks * u64::from(rates.steps_per_tick()) * envs as u64;
    let wall_s = busy.as_secs_f64();
    let simulated_s = ticks as f64 / f64::from(rates.control_hz) * envs as f64;
    let gain = energy_end_j - energy_start_j;
    let mut problems = Vec::new();
    if deepest_overlap_m > DEEPEST_M {
        problems.push(format!(
            "contacts overlap by up to {:.1} mm ({deepest_pair})",
            deepest_overlap_m * 1e3
        ));
    }
    if !settings.sweep && gain > GAIN_J + 1e-3 * energy_start_j.abs() {
        problems.push(format!("energy grew by {gain:.3} J although nothing was asked to move"));
    }
    problems.extend(engine_messages());
    Ok(SanityReport {
        scene: scene.scene.name.clone(),
        envs,
        threads: world.num_threads(),
        seconds: settings.seconds,
        physics_steps,
        steps_per_sec: physics_steps as f64 / wall_s,
        real_time_factor: simulated_s / wall_s,
        wall_s,
        energy_start_j,
        energy_end_j,
        contacts_per_env: contacts as f64 / envs as f64,
        deepest_overlap_m,
        problems,
    })
}

fn mean_energy(world: &mut World) -> Result<f64, SimError> {
    let count = world.num_envs();
    let sum: Result<f64, SimError> = (0..count).map(|env| world.energy(env)).sum();
    Ok(sum? / count as f64)
}

/// Start targets of every robot whose joints all have position servos.
fn homes(world: &mut World) -> Result<Vec<(String, Vec<f64>)>, SimError> {
    let state = world.get_state(None, &Default::default())?;
    let robots = state.robots.into_iter().filter_map(|(name, robot)| {
        let targets: Vec<f64> = robot.joint_pos_target?.iter().copied().collect();
        targets.iter().all(|t| t.is_finite()).then_some((name, targets))
    });
    Ok(robots.collect())
}
