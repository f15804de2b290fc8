//! 7: a plan is made for the gripper that is there: as the start or the scene has it, as asked, or
//! for every opening. (The sweep against brute force: `crates/plan/tests/stance.rs`.)

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
use std::path::Path;

use citrange_core::shape::Shape;
use citrange_robot::{Robot, RobotSettings};
use citrange_sim::{CompiledScene, load_scene};
use nalgebra::{Isometry3, Translation3, Vector3};
use serde_json::Value;

use crate::common::{citrange, stderr, temp};

const JAW: &str = "moving_jaw_so101_v1";

fn scene(folder: &Path, name: &str, robot: &str, fixture: &str) -> String {
    let text = format!(
        "name: t\ntitle: t\nrates: {{physics_hz: 500, control_hz: 100, frame_hz: 20}}\n\
         look: {{floor_z_m: -2}}\nrobots: {{robot0: {{{robot}}}}}\n{fixture}"
    );
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Poses of a robot's shapes in the world, with the poses of the links that carry them.
fn shapes(scene: &str, joints: &[f64]) -> Vec<(String, Isometry3<f64>, Isometry3<f64>, Shape)> {
    let scene = CompiledScene::new(&load_scene(scene).unwrap()).unwrap();
    let chain = scene.chain("robot0").unwrap();
    let shapes = scene.link_shapes("robot0").unwrap();
    let settings = RobotSettings { pair_samples: 1, ..RobotSettings::default() };
    let body = Robot::new(&chain, &shapes, &settings).unwrap();
    let mut poses = vec![Isometry3::identity(); joints.len() + 1];
    body.link_poses(joints, &mut poses).unwrap();
    let placed = shapes.iter().map(|shape| {
        let link = poses[shape.link.map_or(0, |joint| joint + 1)];
        let at = link * shape.link_from_shape.isometry();
        (shape.name.clone(), link, at, shape.shape.clone())
    });
    placed.collect()
}

/// A ball of 3 mm in the middle of a pad of the open jaw: 6 mm of pad around it, and more.
fn pin_in_the_jaw(folder: &Path, opening: f64) -> String {
    let robot = "model: so101, pose: teleop";
    let plain = scene(folder, "plain.yaml", robot, "");
    let joints = [0.0, -0.3, 0.6, 1.2, 0.0, opening];
    let pads = shapes(&plain, &joints);
    let (_, _, at, _) = pads.iter().find(|(name, ..)| name.ends_with("moving_pad2")).unwrap();
    let [x, y, z]: [f64; 3] = at.translation.vector.into();
    let pin = format!(
        "fixtures: {{pin: {{parts: [{{shape: {{sphere: {{radius_m: 0.003}}}}, \
         pos_m: [{x}, {y}, {z}]}}]}}}}\n"
    );
    scene(folder, &format!("pin_{opening}.yaml"), robot, &pin)
}

/// Plans a small turn of the base; the exit code, what was said, the answer.
fn plan(folder: &Path, scene: &str, goal: &str, more: &[&str]) -> (Option<i32>, String, Value) {
    let words = [&["plan", scene, "--json", "--goal-joints", goal], more].concat();
    let done = citrange(folder, &words, &[]);
    let told = serde_json::from_slice(&done.stdout).unwrap_or_default();
    (done.status.code(), stderr(&done), told)
}

#[test]
fn a_pin_in_the_open_jaw_is_seen() {
    let folder = temp();
    let open = pin_in_the_jaw(folder.path(), 1.745_329_2);
    let goal = "0.3 -0.3 0.6 1.2 0";
    let ask = |scene: &str, more: &[&str]| plan(folder.path(), scene, goal, more);
    // The jaws are open at the start, in numbers or as asked; or all openings count.
    for more in [
        ["--start", "0 -0.3 0.6 1.2 0 1.7453292"],
        ["--gripper", "open"],
        ["--gripper", "1.7453292"],
        ["--gripper", "sweep"],
    ] {
        let (code, said, told) = ask(&open, &more);
        assert_eq!(code, Some(4), "{more:?}: {said}");
        assert!(said.contains("where it stands") && said.contains(JAW), "{more:?}: {said}");
        assert!(said.contains("into pin"), "{more:?}: {said}");
        let plan = &told["plans"][0];
        assert_eq!(plan["outcome"], "start_in_collision", "{more:?}");
        assert_eq!(plan["contact"]["link"], JAW, "{more:?}");
        // Ball, margin, and half of the pad at least; what covers it reaches no more than 1.5 cm out.
        let depth_m = plan["contact"]["depth_m"].as_f64().unwrap();
        assert!((0.0125..0.035).contains(&depth_m), "{more:?}: {depth_m}");
    }
    // Half open, as the scene has them, or closed, they pass it.
    for (more, from) in [
        (&[][..], "the scene"),
        (&["--start", "teleop"], "the start pose teleop"),
        (&["--start", "0 -0.3 0.6 1.2 0"], "the scene"),
        (&["--gripper", "closed"], "--gripper"),
    ] {
        let (code, said, told) = ask(&open, more);
        assert_eq!(code, Some(0), "{more:?}: {said}");
        assert_eq!(told["gripper"]["from"], from, "{more:?}");
        let expected = if more.contains(&"closed") { -0.174_533 } else { 0.8 };
        let at = told["gripper"]["positions"][0].as_f64().unwrap();
        assert!((at - expected).abs() < 1e-9, "{more:?}: {at}");
    }
    // The scene's own opening counts without a word; home's would not touch.
    let half = pin_in_the_jaw(folder.path(), 0.8);
    let (code, said, _) = ask(&half, &[]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains(JAW), "{said}");
    assert_eq!(ask(&half, &["--gripper", "closed"]).0, Some(0));
    // A sweep is free where nothing is near, and says what it stands for.
    let plain = folder.path().join("plain.yaml");
    let (code, said, told) = ask(plain.to_str().unwrap(), &["--gripper", "sweep"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(told["gripper"]["sweep"][0][0].as_f64().unwrap() < -0.17);
    assert!(told["gripper"]["sweep"][1][0].as_f64().unwrap() > 1.7);
    // What makes no sense is said.
    for (wrong, words) in [("ajar", "open, closed, sweep"), ("5", "can be from"), ("1 2", "right")]
    {
        let (code, said, _) = ask(&open, &["--gripper", wrong]);
        assert_eq!(code, Some(3), "{wrong}: {said}");
        assert!(said.contains(words), "{wrong}: {said}");
    }
}

#[test]
fn open_fingers_in_a_plate_are_seen() {
    let folder = temp();
    let robot = "model: panda";
    let plain = scene(folder.path(), "plain.yaml", robot, "");
    let ready = [0.0, 0.0, 0.0, -FRAC_PI_2, 0.0, FRAC_PI_2, -FRAC_PI_4, 0.04, -0.04];
    let all = shapes(&plain, &ready);
    let finger: Vec<_> = all.iter().filter(|(name, ..)| name.starts_with("leftfinger")).collect();
    let link = finger[0].1;
    // The finger opens along its y axis: how far out it reaches, and a plate from 1.7 mm inside.
    let out = link * Vector3::y();
    let reach = |(_, _, at, shape): &&(String, Isometry3<f64>, Isometry3<f64>, Shape)| {
        let half = Vector3::from(shape.reach_m());
        let seen = at.rotation.inverse() * out;
        at.translation.vector.dot(&out) + half.dot(&seen.abs())
    };
    let outermost = finger.iter().map(reach).fold(f64::NEG_INFINITY, f64::max);
    let tip = (link * Translation3::new(0.0, 0.0, 0.045)).translation.vector;
    let centre = tip + out * (outermost - tip.dot(&out) - 0.0017 + 0.003);
    let turn = link.rotation;
    let plate = format!(
        "fixtures: {{plate: {{parts: [{{shape: {{box: {{half_m: [0.01, 0.003, 0.01]}}}}, \
         pos_m: [{}, {}, {}], quat_wxyz: [{}, {}, {}, {}]}}]}}}}\n",
        centre.x, centre.y, centre.z, turn.w, turn.i, turn.j, turn.k
    );
    let scene = scene(folder.path(), "plate.yaml", robot, &plate);
    let goal = "0.2 0 0 -1.57079 0 1.57079 -0.7853";
    for more in [&["--start", "ready"][..], &["--start", "ready", "--gripper", "sweep"]] {
        let (code, said, told) = plan(folder.path(), &scene, goal, more);
        assert_eq!(code, Some(4), "{more:?}: {said}");
        assert!(said.contains("leftfinger") && said.contains("into plate"), "{more:?}: {said}");
        // 1.7 mm and the margin of 5 mm; what covers it reaches no more than 1.5 cm out.
        let depth_m = told["plans"][0]["contact"]["depth_m"].as_f64().unwrap();
        assert!((0.0067..0.027).contains(&depth_m), "{more:?}: {depth_m}");
    }
    let swept = ["--start", "ready", "--gripper", "sweep"];
    let (code, said, _) = plan(folder.path(), &plain, goal, &swept);
    assert_eq!(code, Some(0), "{said}");
    for opening in ["closed", "0.005", "0.005 -0.005"] {
        let more = ["--start", "ready", "--gripper", opening];
        let (code, said, _) = plan(folder.path(), &scene, goal, &more);
        assert_eq!(code, Some(0), "{opening}: {said}");
    }
}
