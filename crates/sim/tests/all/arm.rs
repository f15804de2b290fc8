//! Simulated arms with named actions, and the controller on simulated servos.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use citrange_control::{ControllerSettings, NamedAction, Velocity};
use citrange_core::rng::Rng;
use citrange_core::{Command, Commanded, Observation, Rig, Want};
use citrange_sim::{Arm, CompiledScene, Feature, SimRig};
use nalgebra::Vector3;

use crate::common;

fn settings() -> ControllerSettings {
    ControllerSettings::load("default").unwrap()
}

fn arm(scene: Arc<CompiledScene>) -> Arm {
    Arm::connect(scene, &settings(), Some(&[])).unwrap()
}

/// Each robot in the scene it is made for; the UR5 in a scene of its own.
fn scenes() -> Vec<(&'static str, Arc<CompiledScene>)> {
    let ur5 = "name: t\ntitle: t\nrates: {physics_hz: 500, control_hz: 100, frame_hz: 20}\n\
               robots: {robot0: {model: ur5, pose: ready}}\nlook: {floor_z_m: -1}\n";
    vec![
        ("so101", common::scene("orange_plate")),
        ("panda", common::scene("multi_table_assembly")),
        ("ur5e", common::scene("ur5_cell")),
        ("ur5", common::scene_from(ur5, Path::new("")).unwrap()),
    ]
}

fn named(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn wrist(values: &BTreeMap<String, f64>) -> Vector3<f64> {
    Vector3::new(values["ee.pos_x"], values["ee.pos_y"], values["ee.pos_z"])
}

#[test]
fn features_are_known_before_any_step() {
    let cameras = ["front".to_owned()];
    let scene = common::scene("orange_plate");
    let mut arm = Arm::connect(scene, &settings(), Some(&cameras)).unwrap();
    let features = arm.observation_features();
    assert_eq!(features.len(), 6 + 6 + 3 + 1);
    assert_eq!(features[0], ("shoulder_pan.pos".to_owned(), Feature::Number));
    let picture = Feature::Picture { height_px: 480, width_px: 640 };
    assert_eq!(features[15], ("front".to_owned(), picture));
    assert_eq!(arm.action_features()[5], "gripper.pos");
    let seen = arm.observe().unwrap();
    let names: Vec<&String> = seen.values.keys().chain(seen.pictures.keys()).collect();
    assert_eq!(names.len(), features.len());
    assert!(features.iter().all(|(name, _)| names.contains(&name)));
    // The wrist where the engine has it.
    let scene = arm.rig().world().scene();
    let data = arm.rig().world().data(0).unwrap();
    let site = scene
        .model()
        .name_to_id(mujoco_rs::prelude::MjtObjBase::mjOBJ_SITE, "robot0/wrist_site")
        .unwrap();
    assert!((wrist(&seen.values) - Vector3::from(data.site_xpos()[site])).norm() < 1e-12);
    assert_eq!(data.time(), 0.0);
    assert!(Arm::connect(Arc::clone(scene), &settings(), Some(&["frnt".to_owned()])).is_err());
    arm.disconnect();
}

/// One action is one frame, and the same as the controller driven tick by tick over the bare rig.
#[test]
fn a_frame_is_the_law_tick_by_tick() {
    for (robot, scene) in scenes() {
        let mut arm = arm(Arc::clone(&scene));
        let mut rig = SimRig::new(Arc::clone(&scene), Some(&[])).unwrap();
        rig.world_mut().reset_env(0, 5, 3).unwrap();
        arm.reset(5, 3).unwrap();
        let mut targets = rig.targets();
        let controller = arm.controller().clone();
        let (mut seen, mut commanded) = (Observation::default(), Commanded::default());
        rig.observe(Want::Joints, &mut seen).unwrap();
        let mut memory = controller.begin(&targets, &seen.joint_pos);
        let mut scratch = controller.scratch();
        let rates = scene.scene.rates;
        let mut rng = Rng::new(2);
        for frame in 1..=20_u64 {
            let mut number = |most: f64| rng.uniform(-most, most);
            let numbers = named(&[
                ("vx", number(0.04)),
                ("vy", number(0.04)),
                ("vz", number(0.04)),
                ("yaw_rate", number(1.0)),
                ("gripper_delta", number(0.02)),
            ]);
            let action = NamedAction::from_named(&numbers, arm.joints()).unwrap();
            let answer = arm.send(&action).unwrap();
            let NamedAction::Velocity(wanted) = &action else { panic!("{action:?}") };
            for _ in 0..rates.ticks_per_frame() {
                rig.observe(Want::Joints, &mut seen).unwrap();
                controller.step(
                    &mut memory,
                    &mut scratch,
                    &seen.joint_pos,
                    wanted,
                    false,
                    &mut targets,
                );
                rig.tick(&Command::at(&targets), &mut commanded).unwrap();
            }
            let steps = frame * u64::from(rates.steps_per_frame());
            assert_eq!((arm.rig().world().steps(0), rig.world().steps(0)), (steps, steps));
            for (name, target) in NamedAction::positions(arm.joints()).iter().zip(&targets) {
                assert_eq!(answer[name].to_bits(), target.to_bits(), "{robot}: {name}");
            }
        }
        let state = |rig: &SimRig| rig.world().data(0).unwrap().qpos().to_vec();
        assert_eq!(state(arm.rig()), state(&rig), "{robot}");
        if robot == "so101" {
            assert_eq!((rates.ticks_per_frame(), rates.steps_per_frame()), (6, 12));
        }
    }
}

/// What `send` answered, sent as positions, brings the arm to the same place.
#[test]
fn recorded_positions_replay() {
    for (robot, scene) in scenes() {
        let mut arm = arm(scene);
        arm.reset(1, 1).unwrap();
        let wanted = Velocity { linear_m_s: [0.02, 0.02, 0.01], ..Velocity::ZERO };
        let mut record = Vec::new();
        for frame in 0..60 {
            let way = if frame < 30 { 1.0 } else { -0.5 };
            record.push(arm.send(&NamedAction::Velocity(wanted.scaled(way))).unwrap());
        }
        let end = wrist(&arm.observe().unwrap().values);
        arm.reset(1, 1).unwrap();
        let start = wrist(&arm.observe().unwrap().values);
        for numbers in &record {
            let action = NamedAction::from_named(numbers, arm.joints()).unwrap();
            let echo = arm.send(&action).unwrap();
            assert_eq!(echo, *numbers, "{robot}");
        }
        let replayed = wrist(&arm.observe().unwrap().values);
        let off = (replayed - end).norm();
        println!("{robot}: {:.1} mm off after {:.1} mm", 1e3 * off, 1e3 * (end - start).norm());
        assert!(off < 2e-3, "{robot}: {off}");
    }
}

#[test]
fn bad_actions_change_nothing() {
    let mut arm = arm(common::scene("orange_plate"));
    let before = arm.rig().world().steps(0);
    let error = arm.send(&NamedAction::Positions(vec![0.0; 5])).unwrap_err().to_string();
    assert!(error.contains("5 given, 6 needed"), "{error}");
    let mut positions = vec![0.0; 6];
    positions[2] = f64::NAN;
    let error = arm.send(&NamedAction::Positions(positions)).unwrap_err().to_string();
    assert!(error.contains("elbow_flex.pos is NaN"), "{error}");
    assert_eq!(arm.rig().world().steps(0), before);
    // A speed that is no number is a brake, and said so.
    let wanted = Velocity { roll_rad_s: f64::NAN, ..Velocity::ZERO };
    arm.send(&NamedAction::Velocity(wanted)).unwrap();
    assert!(arm.status().refused);
}

/// The simulated wrist, not only the targets, moves as asked 0.15 s after the keys went down, and
/// the tool stays down.
#[test]
fn the_simulated_wrist_moves_as_asked() {
    // Alone, so that nothing is in the way.
    let text = "name: t\ntitle: t\nrates: {physics_hz: 360, control_hz: 180, frame_hz: 30}\n\
                robots: {robot0: {model: so101}}\n";
    let scene = common::scene_from(text, Path::new("")).unwrap();
    let mut rng = Rng::new(6);
    let (mut checked, mut worst, mut worst_tilt) = (0, 0.0_f64, 0.0_f64);
    let mut kinematics = citrange_robot::Kinematics::new(&scene.chain("robot0").unwrap());
    let chain = scene.chain("robot0").unwrap();
    for _ in 0..60 {
        // A vertical tool in the middle of the workspace.
        let (mut q, lift) = (vec![0.0; 6], rng.uniform(-0.6, 0.1));
        (q[0], q[1], q[2]) = (rng.uniform(-1.2, 1.2), lift, -lift + rng.uniform(-0.1, 0.25));
        q[3] = std::f64::consts::FRAC_PI_2 - q[1] - q[2];
        let mut arm = arm(Arc::clone(&scene));
        arm.reset(0, 0).unwrap();
        // Go there slowly, as positions.
        let start: Vec<f64> = {
            let seen = arm.observe().unwrap();
            arm.joints().iter().map(|j| seen.values[&format!("{j}.pos")]).collect()
        };
        for frame in 1..=90 {
            let t = f64::from(frame.min(60)) / 60.0;
            let to = start.iter().zip(&q).map(|(a, b)| a + t * (b - a)).collect();
            arm.send(&NamedAction::Positions(to)).unwrap();
        }
        let v = loop {
            let v = Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0));
            if (0.1..1.0).contains(&v.norm()) {
                break v.normalize() * 0.04;
            }
        };
        let action = NamedAction::Velocity(Velocity { linear_m_s: v.into(), ..Velocity::ZERO });
        let mut limited = false;
        let (mut at, mut tilt) = (Vec::new(), 0.0_f64);
        for _ in 0..12 {
            arm.send(&action).unwrap();
            limited |= arm.status().is_limited();
            let seen = arm.observe().unwrap().values;
            at.push(wrist(&seen));
            let q: Vec<f64> = arm.joints().iter().map(|j| seen[&format!("{j}.pos")]).collect();
            kinematics.update(&q);
            let tool = kinematics.link(chain.tool.link).rot * -Vector3::z();
            tilt = tilt.max(tool.xy().norm().asin());
        }
        if limited {
            continue;
        }
        checked += 1;
        worst_tilt = worst_tilt.max(tilt);
        // From 0.17 s on, over windows of 0.1 s.
        for pair in at[4..].windows(4) {
            let got = (pair[3] - pair[0]) * 10.0;
            worst = worst.max((got - v).norm() / 0.04);
        }
    }
    println!(
        "{checked} checked, worst {:.1} % of speed, tilt {:.2} degrees",
        100.0 * worst,
        worst_tilt.to_degrees()
    );
    assert!(checked > 30 && worst < 0.05, "{checked} {worst}");
    assert!(worst_tilt < 5_f64.to_radians(), "{worst_tilt}");
}
