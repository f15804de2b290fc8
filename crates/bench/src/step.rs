//! Stepping: our worlds against a bare `mj_step` loop over the same model, commands and threads.

use std::error::Error;
use std::sync::Arc;

use citrange_sim::World;
use mujoco_rs::prelude::*;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::args::Args;
use crate::clock::Samples;
use crate::workload::{self, SCENE};

type Data = MjData<Arc<MjModel>>;

pub(crate) fn run(args: &Args) -> Result<Value, Box<dyn Error>> {
    let (envs, threads) = (args.number("envs", 64)?, args.number("threads", 2)?);
    let (steps, rounds) = (args.number("steps", 360)?, args.number("rounds", 3)?);
    let mut world = workload::world(SCENE, envs, threads)?;
    let commands = workload::commands(&world, steps)?;
    let robot = world.scene().robot_names().next().unwrap_or_default().to_owned();
    let mut bare = Bare::new(&world, threads)?;
    let (mut rollout, mut calls) = (Samples::default(), Samples::default());
    let (mut loop_, mut loop_joined) = (Samples::default(), Samples::default());
    let mut warm_up = Samples::default();
    let mut expected = None;
    for round in 0..=rounds {
        // The first round only warms up. Within a round the order turns, so that nobody is
        // always first.
        for turn in 0..4 {
            workload::restart(&mut world)?;
            let pick = (turn + round) % 4;
            let samples = match pick {
                _ if round == 0 => &mut warm_up,
                0 => &mut rollout,
                1 => &mut loop_,
                2 => &mut calls,
                _ => &mut loop_joined,
            };
            let checksum = match pick {
                0 => {
                    samples.time(|| world.rollout(steps as u32, &commands))?;
                    workload::world_checksum(&world)?
                }
                2 => {
                    samples.time(|| step_by_step(&mut world, &robot, steps, &commands))?;
                    workload::world_checksum(&world)?
                }
                _ => {
                    workload::copy_start(&world, &mut bare.datas)?;
                    let joined = pick == 3;
                    samples.time(|| bare.advance(steps, &commands, joined));
                    workload::checksum(bare.datas.iter().map(|data| data.qpos()))
                }
            };
            if *expected.get_or_insert_with(|| checksum.clone()) != checksum {
                return Err(format!("way {pick} reached other joint positions").into());
            }
        }
    }
    Ok(json!({
        "envs": envs, "threads": threads, "steps": steps, "checksum": expected,
        "rollout": rollout.json(), "step_calls": calls.json(),
        "bare_loop": loop_.json(), "bare_loop_joined": loop_joined.json(),
    }))
}

/// New targets for all environments, then one step, `steps` times.
fn step_by_step(
    world: &mut World,
    robot: &str,
    steps: usize,
    commands: &[f64],
) -> Result<(), citrange_sim::SimError> {
    let actuators = commands.len() / (steps * world.num_envs());
    let mut targets = Vec::with_capacity(world.num_envs() * actuators);
    for step in 0..steps {
        targets.clear();
        for env in commands.chunks_exact(steps * actuators) {
            targets.extend_from_slice(&env[step * actuators..(step + 1) * actuators]);
        }
        world.set_joint_targets(robot, &targets)?;
        world.step(1)?;
    }
    Ok(())
}

/// The bare loop.
struct Bare {
    datas: Vec<Data>,
    pool: Option<rayon::ThreadPool>,
}

impl Bare {
    fn new(world: &World, threads: usize) -> Result<Self, Box<dyn Error>> {
        let build = || rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = if threads > 1 { Some(build()?) } else { None };
        Ok(Self { datas: workload::bare(world)?, pool })
    }

    /// Writes the commands and calls `mj_step`. `joined`: all environments take a step before
    /// any takes the next, as code that decides in between must.
    fn advance(&mut self, steps: usize, commands: &[f64], joined: bool) {
        let per_env = commands.len() / self.datas.len();
        let actuators = per_env / steps;
        let one = |env: usize, data: &mut Data, step: usize| {
            let at = env * per_env + step * actuators;
            data.ctrl_mut().copy_from_slice(&commands[at..at + actuators]);
            data.step();
        };
        let rounds = if joined { steps } else { 1 };
        for round in 0..rounds {
            let mine = if joined { round..round + 1 } else { 0..steps };
            let work = |(env, data): (usize, &mut Data)| {
                for step in mine.clone() {
                    one(env, data, step);
                }
            };
            match &self.pool {
                None => self.datas.iter_mut().enumerate().for_each(work),
                Some(pool) => {
                    pool.install(|| self.datas.par_iter_mut().enumerate().for_each(work));
                }
            }
        }
    }
}
