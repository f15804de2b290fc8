//! Reading the TensorState of many environments against stepping them once.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use citrange_core::{ObjectState, TensorState};
use citrange_sim::StateQuery;
use mujoco_rs::mujoco_c::mjtState;
use mujoco_rs::prelude::*;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::args::Args;
use crate::clock::Samples;
use crate::export;
use crate::workload::{self, SCENE};

/// Steps before the first measurement: the arms are among the oranges.
const WARM_UP_STEPS: usize = 90;

pub(crate) fn run(args: &Args) -> Result<Value, Box<dyn Error>> {
    let (envs, threads) = (args.number("envs", 1024)?, args.number("threads", 2)?);
    let rounds = args.number("rounds", 10)?;
    let mut world = workload::world(SCENE, envs, threads)?;
    let commands = workload::commands(&world, WARM_UP_STEPS)?;
    world.rollout(WARM_UP_STEPS as u32, &commands)?;
    let query = StateQuery::default();
    let first = world.get_state(None, &query)?;
    if let Some(dir) = args.folder("dir")? {
        export::write_model(&world, &dir)?;
        let integration = export::states(&world, mjtState::mjSTATE_INTEGRATION)?;
        workload::write_f64(&dir.join("states.f64"), &integration)?;
        let meta = write_tensors(&first, &dir)?;
        std::fs::write(dir.join("meta.json"), meta.to_string())?;
    }
    // The same environments for the bare step, from the same instant.
    let mut bare = workload::bare(&world)?;
    for (env, data) in bare.iter_mut().enumerate() {
        let part = mjtState::mjSTATE_INTEGRATION as u32;
        data.set_state(&world.data(env)?.state(part), part)?;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let bare_step = |bare: &mut [MjData<Arc<MjModel>>]| {
        if threads > 1 {
            pool.install(|| bare.par_iter_mut().for_each(MjData::step));
        } else {
            bare.iter_mut().for_each(MjData::step);
        }
    };
    let (mut step, mut read, mut mj_step) =
        (Samples::default(), Samples::default(), Samples::default());
    // What memory allows: as many bytes as the state holds, into an array of their own.
    let source = vec![1_u8; bytes(&first)];
    let mut copy = Samples::default();
    world.step(1)?;
    bare_step(&mut bare);
    for _ in 0..rounds {
        step.time(|| world.step(1))?;
        let state = read.time(|| world.get_state(None, &query))?;
        black_box(&state);
        mj_step.time(|| bare_step(&mut bare));
        black_box(copy.time(|| source.clone()));
    }
    let reached = workload::checksum(bare.iter().map(|data| data.qpos()));
    if reached != workload::world_checksum(&world)? {
        return Err("the bare loop reached other joint positions".into());
    }
    Ok(json!({
        "envs": envs, "threads": threads, "bytes": source.len(),
        "step": step.json(), "read": read.json(), "bare_step": mj_step.json(), "copy": copy.json(),
    }))
}

/// The arrays of one object, by name.
fn arrays(object: &ObjectState) -> Vec<(&'static str, Vec<f64>)> {
    let mut all = Vec::new();
    for (name, array) in [
        ("root_state", &object.root_state),
        ("joint_pos", &object.joint_pos),
        ("joint_vel", &object.joint_vel),
    ] {
        all.extend(array.as_ref().map(|a| (name, a.iter().copied().collect())));
    }
    all.extend(object.body_state.as_ref().map(|a| ("body_state", a.iter().copied().collect())));
    all
}

fn named_arrays(state: &TensorState) -> Vec<(String, Vec<f64>)> {
    let mut all = Vec::new();
    for (name, object) in &state.objects {
        all.extend(arrays(object).into_iter().map(|(field, a)| (format!("{name}.{field}"), a)));
    }
    for (name, robot) in &state.robots {
        all.extend(
            arrays(&robot.object).into_iter().map(|(field, a)| (format!("{name}.{field}"), a)),
        );
        for (field, array) in [
            ("joint_pos_target", &robot.joint_pos_target),
            ("joint_vel_target", &robot.joint_vel_target),
            ("joint_effort_target", &robot.joint_effort_target),
        ] {
            let numbers = array.as_ref().map(|a| a.iter().copied().collect());
            all.extend(numbers.map(|a| (format!("{name}.{field}"), a)));
        }
    }
    all
}

fn bytes(state: &TensorState) -> usize {
    named_arrays(state).iter().map(|(_, a)| a.len() * size_of::<f64>()).sum()
}

/// The numbers, so that a peer can show that it reads the same.
fn write_tensors(state: &TensorState, dir: &Path) -> Result<Value, Box<dyn Error>> {
    let all = named_arrays(state);
    for (name, numbers) in &all {
        workload::write_f64(&dir.join(format!("{name}.f64")), numbers)?;
    }
    let names: Vec<&String> = all.iter().map(|(name, _)| name).collect();
    Ok(json!({
        "envs": state.num_envs, "arrays": names,
        "robots": state.robots.keys().collect::<Vec<_>>(),
        "objects": state.objects.keys().collect::<Vec<_>>(),
    }))
}
