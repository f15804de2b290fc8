//! Our split step is the engine's own step, bit for bit; and asking changes nothing.

use citrange_sim::{CameraQuery, StateQuery, Threads, World};
use mujoco_rs::prelude::*;

use crate::common;

#[test]
fn a_world_steps_exactly_like_the_bare_engine() {
    for name in citrange_sim::catalog::scene_names() {
        let mut world = common::world(name, 1);
        let commands = common::sweep(&world, 600, 0.3);
        let mut bare = MjData::new(world.scene().model().clone());
        let start = world.snapshot(0).unwrap();
        bare.qpos_mut().copy_from_slice(&start.fields["mujoco/qpos"]);
        bare.ctrl_mut().copy_from_slice(&start.fields["mujoco/ctrl"]);
        let actuators = bare.ctrl().len();
        let mut touched = 0;
        for step in 0..600 {
            let command = &commands[step * actuators..(step + 1) * actuators];
            bare.ctrl_mut().copy_from_slice(command);
            bare.step();
            world.rollout(1, command).unwrap();
            let ours = world.data(0).unwrap();
            touched = touched.max(ours.contact().len());
            for (a, b) in
                ours.qpos().iter().zip(bare.qpos()).chain(ours.qvel().iter().zip(bare.qvel()))
            {
                assert_eq!(a.to_bits(), b.to_bits(), "{name} step {step}");
            }
        }
        assert!(touched > 0, "{name}: no contacts, the test says little");
    }
}

#[test]
fn asking_for_everything_does_not_change_the_future() {
    let mut quiet = common::world("orange_plate", 1);
    let mut asked = common::world("orange_plate", 1);
    let query = StateQuery {
        cameras: [("front".to_string(), CameraQuery::ALL)].into(),
        extras: [
            "contacts",
            "contact_force:plate,table",
            "joint_effort:robot0",
            "time",
            "site_pose:robot0/gripperframe",
        ]
        .map(String::from)
        .to_vec(),
    };
    let commands = common::sweep(&quiet, 300, 0.0);
    for chunk in commands.chunks(6 * 30) {
        quiet.rollout(30, chunk).unwrap();
        asked.get_state(None, &query).unwrap();
        asked.energy(0).unwrap();
        asked.rollout(30, chunk).unwrap();
    }
    common::assert_same(&common::read(&mut quiet), &common::read(&mut asked), "equal");
}

#[test]
fn threads_and_neighbours_do_not_matter() {
    let scene = common::scene("orange_plate");
    let run = |envs: usize, threads: usize, only: Option<usize>| {
        let mut world = World::new(scene.clone(), envs, Threads::Exactly(threads)).unwrap();
        let episodes: Vec<u64> = (0..envs).map(|e| only.unwrap_or(e) as u64).collect();
        world.reset(3, &episodes).unwrap();
        let steps = 400;
        let actuators = scene.model().ffi().nu as usize;
        let all = {
            let wide = World::new(scene.clone(), 8, Threads::Exactly(1)).unwrap();
            common::sweep(&wide, steps, 0.0)
        };
        let len = steps as usize * actuators;
        let commands: Vec<f64> =
            (0..envs).flat_map(|e| all[only.unwrap_or(e) * len..][..len].to_vec()).collect();
        world.rollout(steps, &commands).unwrap();
        world
    };
    let mut alone: Vec<World> = (0..8).map(|e| run(1, 1, Some(e))).collect();
    for threads in [1, 2, 4] {
        let mut world = run(8, threads, None);
        assert_eq!(world.num_threads(), threads);
        for (env, single) in alone.iter_mut().enumerate() {
            let ours = world.get_state(Some(&[env]), &StateQuery::default()).unwrap();
            assert_eq!(
                common::bits(&ours),
                common::bits(&common::read(single)),
                "env {env}, {threads} threads"
            );
        }
    }
}

#[test]
fn an_episode_starts_the_same_whatever_ran_before() {
    let mut world = common::world("orange_plate", 2);
    world.reset_env(0, 5, 17).unwrap();
    let fresh = world.get_state(Some(&[0]), &StateQuery::default()).unwrap();
    common::stir(&mut world, 200);
    for episode in 0..5 {
        world.reset_env(1, 5, episode).unwrap();
    }
    world.reset_env(1, 5, 17).unwrap();
    let again = world.get_state(Some(&[1]), &StateQuery::default()).unwrap();
    common::assert_same(&fresh, &again, "equal");
}

#[test]
fn a_diverging_world_says_so() {
    let mut world = common::world("orange_plate", 2);
    let mut state = common::read(&mut world);
    state.robots.clear();
    state.objects.retain(|name, _| name == "orange_1");
    let row = state.objects.get_mut("orange_1").unwrap().root_state.as_mut().unwrap();
    row[[1, 7]] = 1e200;
    row[[1, 2]] = 5.0;
    world.set_state(&state, None).unwrap();
    let error = (0..50).find_map(|_| world.step(10).err()).expect("it must diverge").to_string();
    assert!(
        error.contains("environment 1 diverged at step") && error.contains("not finite"),
        "{error}"
    );
}

#[test]
fn pictures_do_not_depend_on_threads_or_neighbours() {
    let scene = common::scene("orange_plate");
    let query = StateQuery {
        cameras: ["front", "wrist"].map(|c| (c.to_string(), CameraQuery::ALL)).into(),
        ..StateQuery::default()
    };
    let draw = |envs: usize, threads: usize, first: u64| {
        let mut world = World::new(scene.clone(), envs, Threads::Exactly(threads)).unwrap();
        world.reset(1, &(first..first + envs as u64).collect::<Vec<_>>()).unwrap();
        world.step(30).unwrap();
        world.get_state(None, &query).unwrap()
    };
    let alone = draw(1, 1, 2).to_dicts().unwrap().remove(0);
    for threads in [1, 2, 4] {
        let all = draw(4, threads, 0).to_dicts().unwrap();
        assert!(all[2].cameras == alone.cameras, "{threads} threads");
        assert!(all[1].cameras != alone.cameras, "another episode looks different");
    }
}
