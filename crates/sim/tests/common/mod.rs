//! Helpers shared by the tests.
#![allow(dead_code, unreachable_pub)] // every test file uses some of them

use std::sync::Arc;

use citrange_core::TensorState;
use citrange_core::rng::Rng;
use citrange_core::yaml::from_yaml;
use citrange_sim::{CompiledScene, SceneSource, StateQuery, Threads, World, load_scene};

/// A compiled built-in scene. Fails, never skips, when the engine is missing.
pub fn scene(name: &str) -> Arc<CompiledScene> {
    Arc::new(CompiledScene::new(&load_scene(name).unwrap()).unwrap())
}

/// A scene from YAML text, with paths relative to `folder`.
pub fn scene_from(text: &str, folder: &std::path::Path) -> Result<Arc<CompiledScene>, String> {
    let scene = from_yaml(text, "test.yaml").map_err(|e| e.to_string())?;
    let source = SceneSource { scene, folder: folder.to_path_buf() };
    source.scene.check()?;
    CompiledScene::new(&source).map(Arc::new).map_err(|e| e.to_string())
}

pub fn world(name: &str, envs: usize) -> World {
    World::new(scene(name), envs, Threads::Exactly(1)).unwrap()
}

pub fn read(world: &mut World) -> TensorState {
    world.get_state(None, &StateQuery::default()).unwrap()
}

/// Bits of every number of a state, in a fixed order: equal bits are equal states.
pub fn bits(state: &TensorState) -> Vec<u64> {
    let mut all = Vec::new();
    let mut add =
        |numbers: Option<Vec<f64>>| all.extend(numbers.into_iter().flatten().map(f64::to_bits));
    let objects = state.objects.values().chain(state.robots.values().map(|r| &r.object));
    for o in objects {
        add(o.root_state.as_ref().map(|a| a.iter().copied().collect()));
        add(o.body_state.as_ref().map(|a| a.iter().copied().collect()));
        add(o.joint_pos.as_ref().map(|a| a.iter().copied().collect()));
        add(o.joint_vel.as_ref().map(|a| a.iter().copied().collect()));
    }
    for r in state.robots.values() {
        add(r.joint_pos_target.as_ref().map(|a| a.iter().copied().collect()));
        add(r.joint_vel_target.as_ref().map(|a| a.iter().copied().collect()));
        add(r.joint_effort_target.as_ref().map(|a| a.iter().copied().collect()));
    }
    all
}

/// Asserts that two states are the same bits, without printing thousands of numbers.
#[track_caller]
pub fn assert_same(a: &TensorState, b: &TensorState, what: &str) {
    let (a, b) = (bits(a), bits(b));
    assert_eq!(a.len(), b.len(), "{what}");
    if let Some(at) = (0..a.len()).find(|i| a[*i] != b[*i]) {
        let (x, y) = (f64::from_bits(a[at]), f64::from_bits(b[at]));
        panic!("{what}: number {at} of {} differs: {x:?} and {y:?}, by {:e}", a.len(), x - y);
    }
}

/// Commands that sweep every arm through its surroundings: a sine per actuator around home.
pub fn sweep(world: &World, steps: u32, phase: f64) -> Vec<f64> {
    let model = world.scene().model();
    let actuators = model.ffi().nu as usize;
    let mut commands = Vec::new();
    for env in 0..world.num_envs() {
        for step in 0..steps {
            for a in 0..actuators {
                let [low, high] = model.actuator_ctrlrange()[a];
                let t = f64::from(step) * 0.01 + phase + env as f64 * 0.7 + a as f64;
                let span = (high - low).min(2.0);
                commands.push((low + high) / 2.0 + 0.45 * span * t.sin());
            }
        }
    }
    commands
}

/// Runs environments into contact-rich states.
pub fn stir(world: &mut World, steps: u32) {
    let commands = sweep(world, steps, 0.0);
    world.rollout(steps, &commands).unwrap();
}

pub fn rng(seed: u64) -> Rng {
    Rng::new(seed)
}
