//! TensorState and DictState: what is read can be set, into any environments, whole or in part.

use citrange_core::{DictObjectState, DictRobotState, DictState, Extra, TensorState};
use citrange_sim::{CameraQuery, StateQuery, Threads, World};

use crate::common;

/// A world that has been stirred, so that everything moves and touches.
fn stirred(name: &str, envs: usize) -> World {
    let mut world = common::world(name, envs);
    world.reset(9, &(0..envs as u64).collect::<Vec<_>>()).unwrap();
    common::stir(&mut world, 150);
    world
}

#[test]
fn what_is_read_sets_and_reads_back_bit_for_bit() {
    for name in citrange_sim::catalog::scene_names() {
        let mut source = stirred(name, 3);
        let state = common::read(&mut source);
        // Into a world in quite another state.
        let mut target = common::world(name, 3);
        target.reset(1, &[5, 6, 7]).unwrap();
        common::stir(&mut target, 60);
        assert_ne!(common::bits(&common::read(&mut target)), common::bits(&state));
        let report = target.set_state(&state, None).unwrap();
        assert!(report.observations.is_empty());
        let back = common::read(&mut target);
        common::assert_same(&back, &state, name);
    }
}

#[test]
fn dictionaries_set_and_read_back_bit_for_bit() {
    let mut source = stirred("multi_table_assembly", 2);
    let state = common::read(&mut source);
    let dicts = state.to_dicts().unwrap();
    let mut target = common::world("multi_table_assembly", 2);
    target.set_dict_states(&dicts, None).unwrap();
    common::assert_same(&common::read(&mut target), &state, "read back");
    assert_eq!(target.get_dict_states(None, &StateQuery::default()).unwrap(), dicts);
    // Through tensors once more: joints come in the order of their names, and names decide.
    let sorted = TensorState::from_dicts(&dicts).unwrap();
    let mut third = common::world("multi_table_assembly", 2);
    third.set_state(&sorted, None).unwrap();
    common::assert_same(&common::read(&mut third), &state, "read back");
}

#[test]
fn some_environments_in_the_order_given() {
    let mut world = stirred("orange_plate", 4);
    let all = common::read(&mut world);
    let two = world.get_state(Some(&[3, 1]), &StateQuery::default()).unwrap();
    let row = |s: &TensorState, r: usize| {
        s.objects["orange_2"].root_state.as_ref().unwrap().row(r).to_vec()
    };
    assert_eq!(two.num_envs, 2);
    assert_eq!(row(&two, 0), row(&all, 3));
    assert_eq!(row(&two, 1), row(&all, 1));
    // Row 0 into environment 0, row 1 into environment 2; 1 and 3 stay as they are.
    world.set_state(&two, Some(&[0, 2])).unwrap();
    let after = common::read(&mut world);
    assert_eq!(row(&after, 0), row(&all, 3));
    assert_eq!(row(&after, 2), row(&all, 1));
    assert_eq!(row(&after, 1), row(&all, 1));
    assert_eq!(row(&after, 3), row(&all, 3));
}

#[test]
fn a_partial_state_changes_what_it_names_and_nothing_else() {
    let mut world = stirred("orange_plate", 1);
    let before = common::read(&mut world);
    let object = DictObjectState { pos: Some([0.3, 0.2, 0.4]), ..DictObjectState::default() };
    let joint = DictObjectState {
        dof_pos: Some([("elbow_flex".to_string(), 0.25)].into()),
        ..DictObjectState::default()
    };
    let state = DictState {
        objects: [("orange_1".to_string(), object)].into(),
        robots: [(
            "robot0".to_string(),
            DictRobotState { object: joint, ..DictRobotState::default() },
        )]
        .into(),
        ..DictState::default()
    };
    world.set_dict_states(&[state], None).unwrap();
    let after = common::read(&mut world);
    let mut expected = before.clone();
    let root = expected.objects.get_mut("orange_1").unwrap().root_state.as_mut().unwrap();
    for (i, v) in [0.3, 0.2, 0.4].into_iter().enumerate() {
        root[[0, i]] = v;
    }
    let robot = expected.robots.get_mut("robot0").unwrap();
    let elbow = robot.joint_names.iter().position(|j| j == "elbow_flex").unwrap();
    robot.object.joint_pos.as_mut().unwrap()[[0, elbow]] = 0.25;
    // Bodies beyond the elbow have moved: they follow from the joints.
    robot.object.body_state.clone_from(&after.robots["robot0"].body_state);
    assert_eq!(after, expected);
}

#[test]
fn turning_a_spinning_body_keeps_its_spin_in_the_world() {
    let mut world = common::world("orange_plate", 1);
    let set = |world: &mut World, object: DictObjectState| {
        let state = DictState {
            objects: [("orange_1".to_string(), object)].into(),
            ..DictState::default()
        };
        world.set_dict_states(&[state], None).unwrap();
    };
    set(
        &mut world,
        DictObjectState { ang_vel: Some([1.0, 2.0, 3.0]), ..DictObjectState::default() },
    );
    let half = 0.5_f64.sqrt();
    set(
        &mut world,
        DictObjectState { rot: Some([half, half, 0.0, 0.0]), ..DictObjectState::default() },
    );
    let state = world.get_dict_states(None, &StateQuery::default()).unwrap();
    let spin = state[0].objects["orange_1"].ang_vel.unwrap();
    for (got, want) in spin.iter().zip([1.0, 2.0, 3.0]) {
        assert!((got - want).abs() < 1e-12, "{spin:?}");
    }
}

#[test]
fn equal_states_have_equal_futures() {
    let mut source = stirred("orange_plate", 1);
    let state = common::read(&mut source);
    let mut futures = Vec::new();
    for past in [0, 80] {
        let mut world = common::world("orange_plate", 1);
        common::stir(&mut world, past);
        world.set_state(&state, None).unwrap();
        world.step(200).unwrap();
        futures.push(common::bits(&common::read(&mut world)));
    }
    assert_eq!(futures[0], futures[1]);
}

#[test]
fn targets_move_the_arm() {
    let mut world = common::world("orange_plate", 2);
    let targets = [0.4, -0.5, 0.6, 1.0, 0.2, 0.5, -0.4, -0.5, 0.6, 1.0, -0.2, 0.8];
    world.set_joint_targets("robot0", &targets).unwrap();
    let set = common::read(&mut world);
    let got = set.robots["robot0"].joint_pos_target.as_ref().unwrap();
    assert_eq!(got.iter().copied().collect::<Vec<_>>(), targets);
    world.step(720).unwrap();
    let state = common::read(&mut world);
    let reached = state.robots["robot0"].joint_pos.as_ref().unwrap();
    for (got, want) in reached.iter().zip(targets) {
        assert!((got - want).abs() < 0.02, "{reached:?}");
    }
}

fn numbers(extra: Extra) -> Vec<f64> {
    match extra {
        Extra::Tensor(a) => a.iter().copied().collect(),
        Extra::Contacts(_) => panic!("numbers expected"),
    }
}

#[test]
fn feed_forward_effort_is_felt_and_read_back() {
    let mut world = common::world("ur5_cell", 1);
    let droop = |world: &mut World| {
        world.step(2000).unwrap();
        let state = common::read(world);
        let robot = &state.robots["robot0"];
        let off = robot.joint_pos.as_ref().unwrap() - robot.joint_pos_target.as_ref().unwrap();
        off.iter().fold(0.0_f64, |a, b| a.max(b.abs()))
    };
    let without = droop(&mut world);
    let gravity = numbers(world.extra("bias_effort:robot0", &[0]).unwrap());
    let mut state = common::read(&mut world);
    let robot = state.robots.get_mut("robot0").unwrap();
    let effort = robot.joint_effort_target.as_mut().unwrap();
    effort.row_mut(0).iter_mut().zip(&gravity).for_each(|(e, g)| *e = *g);
    world.set_state(&state, None).unwrap();
    assert_eq!(common::read(&mut world), state);
    let with = droop(&mut world);
    assert!(with < 0.05 * without, "droop {without} without, {with} with");
}

#[test]
fn pictures_and_measurements_in_a_state_are_reported_not_set() {
    let mut world = common::world("orange_plate", 2);
    let query = StateQuery {
        cameras: [
            ("front".to_string(), CameraQuery::ALL),
            ("wrist".to_string(), CameraQuery::POSE),
        ]
        .into(),
        extras: vec!["time".into()],
    };
    let state = world.get_state(None, &query).unwrap();
    let front = &state.cameras["front"];
    assert_eq!(front.rgb.as_ref().unwrap().shape(), [2, 480, 640, 3]);
    assert_eq!(front.depth.as_ref().unwrap().shape(), [2, 480, 640]);
    assert_eq!(front.instance_seg.as_ref().unwrap().shape(), [2, 480, 640]);
    assert!(state.cameras["wrist"].rgb.is_none() && state.cameras["wrist"].pos.is_some());
    let report = world.set_state(&state, None).unwrap();
    assert_eq!(report.observations, ["cameras.front", "cameras.wrist", "extras.time"]);
    let dicts = state.to_dicts().unwrap();
    assert_eq!(dicts[1].cameras["front"].rgb.as_ref().unwrap().shape(), [1, 480, 640, 3]);
    assert_eq!(TensorState::from_dicts(&dicts).unwrap().cameras, state.cameras);
}

#[test]
fn extras_tell_contacts_sites_efforts_and_time() {
    let mut world = common::world("orange_plate", 2);
    world.step(360).unwrap();
    let weight = numbers(world.extra("contact_force:orange_1,table", &[0, 1]).unwrap());
    for w in weight {
        assert!((w - 0.15 * 9.81).abs() < 0.01, "an orange weighs 1.47 N, the table feels {w}");
    }
    assert_eq!(numbers(world.extra("contact_force:orange_1,robot0", &[0]).unwrap()), [0.0]);
    let Extra::Contacts(lists) = world.extra("contacts", &[0, 1]).unwrap() else { panic!() };
    assert_eq!(lists.len(), 2);
    let total: f64 = lists[0].iter().map(|c| c.normal[2].abs() * c.force_n[0]).sum();
    assert!((total - (3.0 * 0.15 + 0.5) * 9.81).abs() < 0.05, "all weights: {total}");
    let time = numbers(world.extra("time", &[1]).unwrap());
    assert!((time[0] - 1.0).abs() < 1e-9);
    let tool = numbers(world.extra("site_pose:robot0/gripperframe", &[0]).unwrap());
    assert!(tool[2] > 0.05 && tool[2] < 0.1, "the tool hangs over the table: {tool:?}");
    let effort = numbers(world.extra("joint_effort:robot0", &[0]).unwrap());
    let bias = numbers(world.extra("bias_effort:robot0", &[0]).unwrap());
    for (e, b) in effort.iter().zip(&bias) {
        // At rest the servos carry what gravity asks, up to dry friction.
        assert!((e - b).abs() < 0.06, "{effort:?} {bias:?}");
    }
}

#[test]
fn many_environments_share_little_and_stay_apart() {
    let scene = common::scene("orange_plate");
    let mut world = World::new(scene, 64, Threads::Exactly(2)).unwrap();
    world.reset(2, &(100..164).collect::<Vec<_>>()).unwrap();
    let state = common::read(&mut world);
    let oranges = state.objects["orange_1"].root_state.as_ref().unwrap();
    let mut places: Vec<u64> = oranges.column(0).iter().map(|x| x.to_bits()).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 64, "every episode has its own placement");
}
