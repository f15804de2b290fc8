//! Bad input: a clear error that says what, where and what would be right; nothing changes.

use std::path::Path;

use citrange_core::{DictObjectState, DictRobotState, DictState, TensorState};
use citrange_sim::{StateQuery, Threads, World, load_scene};
use ndarray::Array2;

use crate::common;

fn says(error: impl std::fmt::Display, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{text:?} should say {part:?}");
    }
}

const RATES: &str = "rates: {physics_hz: 360, control_hz: 180, frame_hz: 30}";

fn broken(text: &str) -> String {
    let text = format!("name: t\ntitle: t\n{text}");
    let text = if text.contains("rates:") { text } else { format!("{text}\n{RATES}") };
    common::scene_from(&text, Path::new("")).expect_err("it must be refused")
}

/// A job names things that are there, once, and a goal that can be reached.
#[test]
fn jobs_that_make_no_sense_are_named() {
    let things = "objects: {cup: {parts: [{shape: {sphere: {radius_m: 0.02}}, mass_kg: 1}], place: {spot_m: [0, 0]}}, tray: {parts: [{shape: {sphere: {radius_m: 0.02}}, mass_kg: 1}], place: {spot_m: [1, 0]}}}";
    let plate = "goal: {plate: {object: tray, radius_m: 0.1, surface_m: 0}}";
    for (job, expected) in [
        (format!("{{targets: [cop], {plate}}}"), "\"cop\""),
        (format!("{{targets: [], {plate}}}"), "1 to 9"),
        (format!("{{targets: [cup, cup], {plate}}}"), "twice"),
        (format!("{{targets: [tray], {plate}}}"), "target itself"),
        (
            "{targets: [cup], goal: {plate: {object: try, radius_m: 0.1, surface_m: 0}}}".into(),
            "tray",
        ),
        (
            "{targets: [cup], goal: {virtual_plate: {center_m: [0, 0, 0], radius_m: 0}}}".into(),
            "above 0",
        ),
        ("{targets: [cup, tray], goal: {top_of: {object: cup}}}".into(), "target itself"),
        ("{targets: [cup], goal: {under: {object: cup}}}".into(), "under"),
    ] {
        says(broken(&format!("{things}\njob: {job}")), &["job", expected]);
    }
}

#[test]
fn unknown_scenes_and_keys_name_the_nearest() {
    says(
        load_scene("orange_plat").unwrap_err(),
        &["unknown scene", "did you mean \"orange_plate\"?", "ur5_cell"],
    );
    says(load_scene("nowhere.yaml").unwrap_err(), &["nowhere.yaml", "No such file"]);
    says(
        broken("robotz: {}"),
        &["test.yaml", "unknown key \"robotz\"", "did you mean \"robots\"?"],
    );
    says(
        broken("robots: {robot0: {model: so100}}"),
        &["unknown robot \"so100\"", "did you mean \"so101\"?"],
    );
    says(
        broken("robots: {robot0: {model: so101, pose: pik}}"),
        &["robots.robot0.pose", "did you mean \"pick\"?"],
    );
    says(
        broken("robots: {robot0: {model: so101, servo: sofft}}"),
        &["robots.robot0.servo", "did you mean \"soft\"?"],
    );
    says(
        broken("robots: {robot0: {model: so101, joints: {elbow: 1}}}"),
        &["unknown joint \"elbow\"", "elbow_flex"],
    );
    says(broken("robots: {robot0: {model: missing.xml}}"), &["missing.xml", "no such file"]);
}

#[test]
fn impossible_scenes_are_refused_with_the_reason() {
    says(
        broken("rates: {physics_hz: 350, control_hz: 180, frame_hz: 30}"),
        &["physics_hz 350", "whole multiple of control_hz 180", "360"],
    );
    says(
        broken("cameras: {front: {pos_m: [0, 0, 1], fovy_deg: 50}}"),
        &["cameras.front", "quat_wxyz", "look_at_m"],
    );
    says(
        broken(
            "cameras: {w: {mount: robot9/hand, pos_m: [0, 0, 1], look_at_m: [0, 0, 0], fovy_deg: 50}}",
        ),
        &["cameras.w.mount", "unknown body \"robot9/hand\""],
    );
    says(
        broken("cameras: {w: {pos_m: [0, 0, 1], look_at_m: [0, 0, 0], fovy_deg: 190}}"),
        &["cameras.w", "fovy_deg < 180"],
    );
    let ball = "parts: [{shape: {sphere: {radius_m: 0.02}}, mass_kg: 0.1}]";
    says(
        broken(&format!("objects: {{ball: {{{ball}, place: {{}}}}}}")),
        &["objects.ball.place", "exactly one of spot_m, rectangle and ring"],
    );
    says(
        broken(
            "objects: {ball: {parts: [{shape: {sphere: {radius_m: 0.02}}}], place: {spot_m: [0, 0]}}}",
        ),
        &["objects.ball.parts", "mass_kg above 0"],
    );
    says(
        broken(
            "objects: {ball: {parts: [{shape: {sphere: {radius_m: -1}}, mass_kg: 1}], place: {spot_m: [0, 0]}}}",
        ),
        &["objects.ball.parts[0]", "above 0"],
    );
    let shelf = "parts: [{shape: {sphere: {radius_m: 0.02}}}], fixed_root: true";
    says(
        broken(&format!(
            "objects: {{shelf: {{{shelf}, place: {{spot_m: [0, 0], yaw_deg: [0, 9]}}}}}}"
        )),
        &["objects.shelf", "fixed_root needs place.spot_m and one yaw_deg"],
    );
    says(
        broken("objects: {toy: {model: toy.xml, place: {spot_m: [0, 0]}}}"),
        &["objects.toy", "footprint"],
    );
    says(
        broken("look: {lights: [{pos_m: [0, 0, 1], target_m: [0, 0, 1]}]}"),
        &["look.lights[0]", "must differ"],
    );
    says(broken("fixtures: {floor: {parts: []}}"), &["\"floor\" is taken"]);
    says(broken("fixtures: {'a b': {parts: []}}"), &["\"a b\" is no name"]);
    let file = tempfile::tempdir().unwrap();
    std::fs::write(
        file.path().join("own.xml"),
        "<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>",
    )
    .unwrap();
    let text =
        format!("name: t\ntitle: t\n{RATES}\nrobots: {{robot0: {{model: own.xml, kp: 5}}}}\n");
    says(common::scene_from(&text, file.path()).unwrap_err(), &["robots.robot0.kp", "robot.yaml"]);
    std::fs::write(file.path().join("bad.xml"), "<mujoco><worldbody><geomm/></worldbody></mujoco>")
        .unwrap();
    let text = format!("name: t\ntitle: t\n{RATES}\nrobots: {{robot0: {{model: bad.xml}}}}\n");
    says(common::scene_from(&text, file.path()).unwrap_err(), &["bad.xml", "geomm"]);
}

#[test]
fn objects_that_find_no_room_are_named() {
    let ball = |i: u32| {
        format!(
            "  ball_{i}: {{parts: [{{shape: {{sphere: {{radius_m: 0.05}}}}, mass_kg: 0.1}}], place: {{rectangle: {{x_m: [0, 0.1], y_m: [0, 0.1]}}}}}}\n"
        )
    };
    let text = format!(
        "name: crowd\ntitle: t\n{RATES}\nobjects:\n{}",
        (0..9).map(ball).collect::<String>()
    );
    let scene = common::scene_from(&text, Path::new("")).unwrap();
    let error = World::new(scene, 1, Threads::Auto).err().unwrap();
    says(error, &["scene crowd", "ball_", "cannot be placed", "enlarge objects.ball_"]);
}

fn one(objects: &[(&str, DictObjectState)], robots: &[(&str, DictRobotState)]) -> DictState {
    DictState {
        objects: objects.iter().map(|(n, o)| ((*n).to_string(), o.clone())).collect(),
        robots: robots.iter().map(|(n, r)| ((*n).to_string(), r.clone())).collect(),
        ..DictState::default()
    }
}

fn robot(object: DictObjectState) -> DictRobotState {
    DictRobotState { object, ..DictRobotState::default() }
}

#[test]
fn states_that_cannot_be_set_are_refused_whole() {
    let mut world = common::world("orange_plate", 2);
    common::stir(&mut world, 30);
    let before = common::bits(&common::read(&mut world));
    let mut refuse = |state: DictState, parts: &[&str]| {
        // The good first state must not go in when the second is bad.
        let good = one(
            &[("orange_1", DictObjectState { pos: Some([0.0, 0.0, 1.0]), ..Default::default() })],
            &[],
        );
        says(world.set_dict_states(&[good, state], None).unwrap_err(), parts);
        assert_eq!(common::bits(&common::read(&mut world)), before);
    };
    let obj = |o: DictObjectState| one(&[("orange_1", o)], &[]);
    let dof = |name: &str, v: f64| Some([(name.to_string(), v)].into());
    refuse(
        one(&[("orange_9", Default::default())], &[]),
        &["unknown object \"orange_9\"", "did you mean \"orange_1\""],
    );
    refuse(one(&[], &[("robot1", Default::default())]), &["unknown robot \"robot1\"", "robot0"]);
    refuse(
        obj(DictObjectState { pos: Some([0.0, f64::NAN, 0.0]), ..Default::default() }),
        &["environment 1", "objects.orange_1.pos", "NaN is not a finite number"],
    );
    refuse(
        obj(DictObjectState { rot: Some([0.5, 0.0, 0.0, 0.0]), ..Default::default() }),
        &["objects.orange_1.rot", "length 0.5"],
    );
    let joint = DictObjectState { dof_pos: dof("elbow", 0.1), ..Default::default() };
    refuse(
        one(&[], &[("robot0", robot(joint))]),
        &["unknown joint \"elbow\"", "did you mean \"elbow_flex\""],
    );
    let velocity = DictRobotState { dof_vel_target: dof("gripper", 0.1), ..Default::default() };
    refuse(
        one(&[], &[("robot0", velocity)]),
        &["robots.robot0.dof_vel_target.gripper", "no velocity servo"],
    );
    let base = DictObjectState { pos: Some([1.0, 0.0, 0.0]), ..Default::default() };
    refuse(one(&[], &[("robot0", robot(base))]), &["robots.robot0.pos", "fixed to the world"]);
    let body =
        DictObjectState { bodies: Some(vec![("gripper".into(), [0.0; 13])]), ..Default::default() };
    refuse(
        one(&[], &[("robot0", robot(body))]),
        &["robots.robot0.bodies.gripper", "set root_state and joint_pos instead"],
    );
    let target =
        DictRobotState { dof_pos_target: dof("gripper", f64::INFINITY), ..Default::default() };
    refuse(
        one(&[], &[("robot0", target)]),
        &["robots.robot0.dof_pos_target.gripper", "inf is not a finite number"],
    );
}

#[test]
fn wrong_shapes_counts_and_ids_are_refused() {
    let mut world = common::world("orange_plate", 3);
    let state = common::read(&mut world);
    let mut narrow = state.clone();
    narrow.objects.get_mut("plate").unwrap().root_state = Some(Array2::zeros((3, 12)));
    says(
        world.set_state(&narrow, None).unwrap_err(),
        &["objects.plate.root_state", "[3, 12]", "[3, 13]"],
    );
    says(
        world.set_state(&state, Some(&[0, 1])).unwrap_err(),
        &["environments in the state", "3 given, 2 needed"],
    );
    says(
        world.get_state(Some(&[3]), &StateQuery::default()).unwrap_err(),
        &["environment 3 does not exist", "there are 3"],
    );
    says(
        world.get_state(Some(&[1, 1]), &StateQuery::default()).unwrap_err(),
        &["environment 1 is given twice"],
    );
    says(world.set_state(&TensorState::default(), None).unwrap_err(), &["0 given, 3 needed"]);
    says(
        world.set_joint_targets("robot0", &[0.0; 6]).unwrap_err(),
        &["targets of robot0", "6 given, 18 needed"],
    );
    let mut targets = [0.0; 18];
    targets[7] = f64::NAN;
    says(
        world.set_joint_targets("robot0", &targets).unwrap_err(),
        &["environment 1", "shoulder_lift", "NaN"],
    );
    says(world.rollout(2, &[0.0; 10]).unwrap_err(), &["commands", "10 given, 36 needed"]);
    says(world.reset(0, &[1]).unwrap_err(), &["episodes: 1 given, 3 needed"]);
    let query = StateQuery { extras: vec!["contact".into()], ..Default::default() };
    says(
        world.get_state(None, &query).unwrap_err(),
        &["unknown query", "did you mean \"contacts\""],
    );
    let query =
        StateQuery { extras: vec!["site_pose:robot0/gripperfram".into()], ..Default::default() };
    says(
        world.get_state(None, &query).unwrap_err(),
        &["unknown site", "did you mean \"robot0/gripperframe\""],
    );
    let query = StateQuery {
        cameras: [("frnt".to_string(), citrange_sim::CameraQuery::RGB)].into(),
        ..Default::default()
    };
    says(world.get_state(None, &query).unwrap_err(), &["unknown camera", "did you mean \"front\""]);
    says(
        World::new(common::scene("orange_plate"), 0, Threads::Auto).err().unwrap(),
        &["environments: 0 given, 1 needed"],
    );
}
