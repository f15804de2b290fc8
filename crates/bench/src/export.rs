//! What a peer needs to do the same work: model, start states, commands, and where they lead.

use std::error::Error;
use std::path::Path;

use citrange_sim::World;
use mujoco_rs::mujoco_c::mjtState;
use serde_json::{Value, json};

use crate::args::Args;
use crate::workload::{self, SCENE};

pub(crate) fn run(args: &Args) -> Result<Value, Box<dyn Error>> {
    let dir = args.required_folder("dir")?;
    let (envs, steps) = (args.number("envs", 64)?, args.number("steps", 360)?);
    let mut world = workload::world(SCENE, envs, 1)?;
    let commands = workload::commands(&world, steps)?;
    write_model(&world, &dir)?;
    let start = states(&world, mjtState::mjSTATE_FULLPHYSICS)?;
    workload::write_f64(&dir.join("start.f64"), &start)?;
    workload::write_f64(&dir.join("commands.f64"), &commands)?;
    // How much contact the work holds, seen ten times a second of simulated time.
    let (mut contacts, mut looks) = (0, 0);
    let actuators = commands.len() / (envs * steps);
    let chunk = 36.min(steps);
    for from in (0..steps).step_by(chunk) {
        let count = chunk.min(steps - from);
        let part: Vec<f64> = commands
            .chunks_exact(steps * actuators)
            .flat_map(|env| &env[from * actuators..(from + count) * actuators])
            .copied()
            .collect();
        world.rollout(count as u32, &part)?;
        for env in 0..envs {
            contacts += world.contact_summary(env)?.0;
            looks += 1;
        }
    }
    workload::write_f64(&dir.join("final_qpos.f64"), &states(&world, mjtState::mjSTATE_QPOS)?)?;
    let meta = json!({
        "scene": SCENE, "envs": envs, "steps": steps, "actuators": actuators,
        "sizes": world.scene().sizes(),
        "checksum": workload::world_checksum(&world)?,
        "mean_contacts": contacts as f64 / looks as f64,
    });
    std::fs::write(dir.join("meta.json"), meta.to_string())?;
    Ok(meta)
}

/// The compiled model as the engine's own binary file.
pub(crate) fn write_model(world: &World, dir: &Path) -> Result<(), Box<dyn Error>> {
    Ok(world.scene().model().save_to_file(dir.join("model.mjb"))?)
}

/// The same part of the state of all environments, row by row.
pub(crate) fn states(world: &World, part: mjtState) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut all = Vec::new();
    for env in 0..world.num_envs() {
        all.extend_from_slice(&world.data(env)?.state(part as u32));
    }
    Ok(all)
}
