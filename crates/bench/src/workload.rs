//! The work that ours and the peers do: a scene, start states, commands that sweep the arm.

use std::error::Error;
use std::f64::consts::TAU;
use std::path::Path;
use std::sync::Arc;

use citrange_sim::{CompiledScene, Threads, World, load_scene};
use mujoco_rs::prelude::*;

/// The scene of the stepping and state benchmarks.
pub(crate) const SCENE: &str = "orange_plate";
/// Middle of the swing away from the start pose, and half its width, for each actuator in turn (the
/// last serves all that follow), in radians: an SO-101 pans low over the table, through oranges and
/// plate.
const SWINGS_RAD: [[f64; 2]; 4] = [[0.3, 0.9], [0.40, 0.08], [0.28, 0.06], [0.0, 0.3]];
/// Time to reach the middle of the swing.
const APPROACH_S: f64 = 0.25;
/// Swings per second of the first joint; each further joint is a little faster.
const SWING_HZ: f64 = 0.5;

/// The scene and a world of it.
pub(crate) fn world(scene: &str, envs: usize, threads: usize) -> Result<World, Box<dyn Error>> {
    let scene = Arc::new(CompiledScene::new(&load_scene(scene)?)?);
    let mut world = World::new(scene, envs, Threads::Exactly(threads))?;
    restart(&mut world)?;
    Ok(world)
}

/// Every environment at the start of its own episode.
pub(crate) fn restart(world: &mut World) -> Result<(), Box<dyn Error>> {
    let episodes: Vec<u64> = (0..world.num_envs() as u64).collect();
    Ok(world.reset(0, &episodes)?)
}

/// Commands (environments x steps x actuators): sines around the pose the environments are in,
/// kept inside the range of each actuator; each environment with another phase.
pub(crate) fn commands(world: &World, steps: usize) -> Result<Vec<f64>, Box<dyn Error>> {
    let model = world.scene().model();
    let dt = model.opt().timestep;
    let ranges = model.actuator_ctrlrange();
    let limited = model.actuator_ctrllimited();
    let mut all = Vec::with_capacity(world.num_envs() * steps * ranges.len());
    for env in 0..world.num_envs() {
        let home = world.data(env)?.ctrl().to_vec();
        let phase = TAU * env as f64 / world.num_envs() as f64;
        for step in 0..steps {
            let time = (step + 1) as f64 * dt;
            let approach = (time / APPROACH_S).min(1.0);
            for (actuator, middle) in home.iter().enumerate() {
                let [away, swing] = SWINGS_RAD[actuator.min(SWINGS_RAD.len() - 1)];
                let hz = SWING_HZ * (1.0 + 0.3 * actuator as f64);
                let angle = TAU * hz * time + phase;
                let wanted = middle + approach * (away + swing * angle.sin());
                let [low, high] = ranges[actuator];
                all.push(if limited[actuator] { wanted.clamp(low, high) } else { wanted });
            }
        }
    }
    Ok(all)
}

/// The engine's data of every environment, at the start state of `world`.
pub(crate) fn bare(world: &World) -> Result<Vec<MjData<Arc<MjModel>>>, Box<dyn Error>> {
    let model = world.scene().model();
    let all = (0..world.num_envs()).map(|_| MjData::try_new(Arc::clone(model)));
    Ok(all.collect::<Result<Vec<_>, _>>()?)
}

/// Puts bare data where `world` is at the start of its episodes.
pub(crate) fn copy_start(
    world: &World,
    bare: &mut [MjData<Arc<MjModel>>],
) -> Result<(), Box<dyn Error>> {
    for (env, data) in bare.iter_mut().enumerate() {
        data.reset();
        data.qpos_mut().copy_from_slice(world.data(env)?.qpos());
        data.ctrl_mut().copy_from_slice(world.data(env)?.ctrl());
    }
    Ok(())
}

/// FNV-1a over the bits of many numbers.
pub(crate) fn checksum<'a>(rows: impl Iterator<Item = &'a [f64]>) -> String {
    let bytes = rows.flatten().flat_map(|number| number.to_bits().to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// Checksum of the joint positions of all environments.
pub(crate) fn world_checksum(world: &World) -> Result<String, Box<dyn Error>> {
    let rows: Result<Vec<_>, _> = (0..world.num_envs()).map(|env| world.data(env)).collect();
    Ok(checksum(rows?.iter().map(|data| data.qpos())))
}

/// Raw little-endian numbers.
pub(crate) fn write_f64(path: &Path, numbers: &[f64]) -> Result<(), Box<dyn Error>> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    Ok(std::fs::write(path, bytes)?)
}
