//! Our models against the numbers measured from the reference models: every frame of every one
//! of the 200 poses per robot, and the gravity torques.

use citrange_core::dict::Dof;
use citrange_core::{DictObjectState, DictRobotState, DictState, Extra};
use citrange_sim::{StateQuery, Threads, World};
use serde_json::Value;

use crate::common;

const ORACLE: &str = include_str!("../../../../models/oracle/fk_reference.json");

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// Largest position error (m), rotation error (rad) and relative gravity error of a robot.
fn errors(robot: &str, reference: &str) -> (f64, f64, f64) {
    let text = format!(
        "name: t\ntitle: t\nrates: {{physics_hz: 500, control_hz: 500, frame_hz: 50}}\n\
         robots: {{robot0: {{model: {robot}}}}}\nlook: {{floor_z_m: -5}}\n"
    );
    let scene = common::scene_from(&text, std::path::Path::new("")).unwrap();
    let lift = scene.robots["robot0"].base_height_m;
    let mut world = World::new(scene, 1, Threads::Exactly(1)).unwrap();
    let oracle: Value = serde_json::from_str(ORACLE).unwrap();
    let oracle = &oracle[reference];
    let joints: Vec<&str> =
        oracle["joints"].as_array().unwrap().iter().map(|j| j.as_str().unwrap()).collect();
    let cases = oracle["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 200);
    let (mut worst_pos, mut worst_rot, mut worst_gravity) = (0.0_f64, 0.0_f64, 0.0_f64);
    for case in cases {
        let q = numbers(&case["q"]);
        let dof: Dof = joints.iter().map(|j| j.to_string()).zip(q.iter().copied()).collect();
        let object = DictObjectState { dof_pos: Some(dof), ..DictObjectState::default() };
        let state = DictRobotState { object, ..DictRobotState::default() };
        let state =
            DictState { robots: [("robot0".to_string(), state)].into(), ..DictState::default() };
        world.set_dict_states(&[state], None).unwrap();
        let read = world.get_state(None, &StateQuery::default()).unwrap();
        let tree = &read.robots["robot0"];
        let bodies = tree.body_state.as_ref().unwrap();
        for (frame, expected) in case["frames"].as_object().unwrap() {
            let expected = numbers(expected);
            let name = if frame == "moving_jaw" { "moving_jaw_so101_v1" } else { frame };
            let pose: Vec<f64> = match tree.body_names.iter().position(|b| b == name) {
                Some(index) => (0..7).map(|i| bodies[[0, index, i]]).collect(),
                None => match world.extra(&format!("site_pose:robot0/{name}"), &[0]).unwrap() {
                    Extra::Tensor(pose) => pose.iter().copied().collect(),
                    Extra::Contacts(_) => unreachable!(),
                },
            };
            let at = [pose[0], pose[1], pose[2] - lift];
            let off = (0..3).map(|i| (at[i] - expected[i]).powi(2)).sum::<f64>().sqrt();
            worst_pos = worst_pos.max(off);
            worst_rot = worst_rot.max(angle(&pose[3..7], &expected[3..7]));
        }
        let expected = numbers(&case["gravity_torque"]);
        let bias = world.data(0).unwrap().qfrc_bias().to_vec();
        let largest = expected.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for (got, want) in bias.iter().zip(&expected) {
            worst_gravity = worst_gravity.max((got - want).abs() / (want.abs() + 0.01 * largest));
        }
    }
    (worst_pos, worst_rot, worst_gravity)
}

/// Angle between two quaternions, exact for small angles too (the sine of half of it).
fn angle(a: &[f64], b: &[f64]) -> f64 {
    let norm = |q: &[f64]| q.iter().map(|c| c * c).sum::<f64>().sqrt();
    let (na, nb) = (norm(a), norm(b));
    let a: Vec<f64> = a.iter().map(|c| c / na).collect();
    let b: Vec<f64> = b.iter().map(|c| c / nb).collect();
    let minus = (0..4).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>();
    let plus = (0..4).map(|i| (a[i] + b[i]).powi(2)).sum::<f64>();
    2.0 * minus.min(plus).sqrt()
}

fn check(robot: &str, reference: &str) {
    let (pos, rot, gravity) = errors(robot, reference);
    println!("{robot}: position {pos:.1e} m, rotation {rot:.1e} rad, gravity {gravity:.1e}");
    assert!(pos <= 1e-6, "{robot}: position off by {pos} m");
    assert!(rot <= 1e-6, "{robot}: rotation off by {rot} rad");
    assert!(gravity <= 0.01, "{robot}: gravity torque off by {} %", 100.0 * gravity);
}

#[test]
fn so101_agrees_with_the_reference() {
    check("so101", "so101");
}

#[test]
fn panda_agrees_with_the_reference() {
    check("panda", "panda_robosuite");
}

#[test]
fn ur5e_agrees_with_the_reference() {
    check("ur5e", "ur5e");
}

#[test]
fn ur5_agrees_with_the_reference() {
    check("ur5", "ur5");
}
