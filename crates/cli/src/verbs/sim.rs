//! `citrange sim`: how fast, and is the physics sane?

use std::time::Instant;

use citrange_sim::{SimError, Threads, World, engine_messages};
use clap::ValueEnum;
use serde_json::json;

use super::compiled;
use crate::exit::problems_found;
use crate::output;

/// Overlap beyond which contacts are called too soft.
const DEEPEST_M: f64 = 0.003;
/// Energy that a scene at rest may gain, beside one part in a thousand.
const GAIN_J: f64 = 0.02;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scene name or YAML file.
    scene: String,
    /// Number of environments; environment i runs episode i.
    #[arg(long, default_value_t = 1)]
    envs: usize,
    /// Simulated time.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Threads; one per core when not given.
    #[arg(long)]
    threads: Option<usize>,
    /// Seed of the run.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// What the robots do.
    #[arg(long, value_enum, default_value_t = Motion::Hold)]
    motion: Motion,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Motion {
    /// Stand still: then energy must not grow.
    Hold,
    /// Sweep through the scene: a slow sine around home on every joint.
    Sweep,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let scene = compiled(&args.scene)?;
    let rates = scene.scene.rates;
    let threads = args.threads.map_or(Threads::Auto, Threads::Exactly);
    let mut world = World::new(scene.clone(), args.envs, threads)?;
    world.reset(args.seed, &(0..args.envs as u64).collect::<Vec<_>>())?;
    let energy_start = mean_energy(&mut world)?;
    let ticks = (args.seconds * f64::from(rates.control_hz)).round().max(1.0) as u64;
    let home: Vec<(String, Vec<f64>)> = homes(&mut world)?;
    let bar = output::progress("simulating", ticks);
    let mut busy = std::time::Duration::ZERO;
    let mut deepest = 0.0_f64;
    for tick in 0..ticks {
        let start = Instant::now();
        if args.motion == Motion::Sweep {
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
            for env in 0..args.envs {
                deepest = deepest.max(world.contact_summary(env)?.1);
            }
            bar.set_position(tick);
        }
    }
    bar.finish_and_clear();
    let energy_end = mean_energy(&mut world)?;
    let contacts =
        (0..args.envs).map(|e| world.contact_summary(e).map(|c| c.0)).sum::<Result<usize, _>>()?;
    let steps = ticks * u64::from(rates.steps_per_tick()) * args.envs as u64;
    let secs = busy.as_secs_f64();
    let simulated = ticks as f64 / f64::from(rates.control_hz) * args.envs as f64;
    let gain = energy_end - energy_start;
    let mut problems = Vec::new();
    if deepest > DEEPEST_M {
        problems.push(format!("contacts overlap by up to {:.1} mm", deepest * 1e3));
    }
    if args.motion == Motion::Hold && gain > GAIN_J + 1e-3 * energy_start.abs() {
        problems.push(format!("energy grew by {gain:.3} J although nothing was asked to move"));
    }
    problems.extend(engine_messages());
    let contacts_per_env = contacts as f64 / args.envs as f64;
    if args.json {
        let report = json!({
            "scene": scene.scene.name, "envs": args.envs, "threads": world.num_threads(),
            "physics_steps": steps, "steps_per_sec": steps as f64 / secs,
            "real_time_factor": simulated / secs, "wall_secs": secs,
            "energy_start_j": energy_start, "energy_end_j": energy_end,
            "contacts_per_env": contacts_per_env, "deepest_overlap_m": deepest,
            "problems": problems,
        });
        output::data(&report.to_string())?;
    } else {
        output::data(&format!(
            "{}: {} environments on {} threads, {:.1} s each",
            scene.scene.name,
            args.envs,
            world.num_threads(),
            args.seconds
        ))?;
        output::data(&format!(
            "  speed     {:.0} steps/s, {:.1} x real time",
            steps as f64 / secs,
            simulated / secs
        ))?;
        output::data(&format!(
            "  energy    {energy_start:.4} J at start, {energy_end:.4} J at end (mean)"
        ))?;
        output::data(&format!(
            "  contacts  {contacts_per_env:.1} per environment, deepest overlap {:.2} mm",
            deepest * 1e3
        ))?;
        output::data(&format!(
            "  sanity    {}",
            if problems.is_empty() { "OK" } else { "PROBLEMS" }
        ))?;
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(problems_found(problems.join("; ")))
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
