//! The simulated rig, kept models, restore levels and inverse kinematics.

use std::sync::Arc;

use citrange_core::{Command, Commanded, Level, Observation, Rig, StartData, Want};
use citrange_sim::{CompiledScene, SimRig, Threads, World};

use crate::common;

#[test]
fn a_kept_model_is_the_model() {
    for name in citrange_sim::catalog::scene_names() {
        let scene = common::scene(name);
        let mjb = scene.to_mjb().unwrap();
        let again = CompiledScene::from_mjb(
            scene.scene.clone(),
            scene.robots.clone(),
            &mjb,
            &scene.model_hash,
        )
        .unwrap();
        assert_eq!(again.model_hash, scene.model_hash);
        let run = |scene: Arc<CompiledScene>| {
            let mut world = World::new(scene, 1, Threads::Exactly(1)).unwrap();
            world.reset(3, &[8]).unwrap();
            common::stir(&mut world, 200);
            common::bits(&common::read(&mut world))
        };
        assert_eq!(run(Arc::new(again)), run(Arc::clone(&scene)), "{name}");
        // Any other bytes are refused before the engine sees them.
        let mut damaged = mjb.clone();
        damaged[mjb.len() / 2] ^= 1;
        let error = CompiledScene::from_mjb(
            scene.scene.clone(),
            scene.robots.clone(),
            &damaged,
            &scene.model_hash,
        );
        assert!(error.unwrap_err().to_string().contains("damaged"));
    }
}

#[test]
fn the_rig_limits_refuses_and_counts() {
    let mut rig = SimRig::new(common::scene("orange_plate"), Some(&[])).unwrap();
    let start = rig.targets();
    let range = rig.spec().joints[1].range.unwrap();
    let mut targets = start.clone();
    targets[1] = 100.0;
    let mut commanded = Commanded::default();
    rig.tick(&Command::at(&targets), &mut commanded).unwrap();
    assert_eq!(commanded.limited[1], range[1]);
    assert_eq!(commanded.executed, commanded.limited);
    assert_eq!(commanded.digests.len(), 2);
    let mut seen = Observation::default();
    rig.observe(Want::Joints, &mut seen).unwrap();
    assert_eq!((seen.tick, seen.step, seen.joint_pos.len()), (1, 2, 6));
    // Nothing that is not a number ever reaches a servo.
    targets[2] = f64::NAN;
    let before = rig.snapshot().unwrap();
    let error = rig.tick(&Command::at(&targets), &mut commanded).unwrap_err().to_string();
    assert!(error.contains("elbow_flex") && error.contains("NaN"), "{error}");
    assert_eq!(rig.snapshot().unwrap(), before);
    assert!(rig.tick(&Command::at(&start[..5]), &mut commanded).is_err());
    let unknown = SimRig::new(common::scene("orange_plate"), Some(&["frnt".to_owned()]));
    assert!(unknown.err().unwrap().to_string().contains("front"));
    let gripper = rig.spec().joints[5].gripper.unwrap();
    assert!(gripper[0] < 0.0 && gripper[1] > 1.7);
}

#[test]
fn every_restore_level_is_as_good_as_its_data() {
    for name in ["multi_table_assembly", "orange_plate"] {
        let mut world = common::world(name, 1);
        world.reset(5, &[9]).unwrap();
        common::stir(&mut world, 300);
        let snapshot = world.snapshot(0).unwrap();
        let bodies = world.body_poses(0).unwrap();
        let state = common::read(&mut world);
        let (qpos, qvel) = (&snapshot.fields["mujoco/qpos"], &snapshot.fields["mujoco/qvel"]);
        let time = snapshot.fields["mujoco/time"][0];
        let mut named: std::collections::BTreeMap<_, _> = state
            .objects
            .iter()
            .map(|(n, o)| (n.clone(), o.root_state.as_ref().unwrap().row(0).to_vec()[..7].to_vec()))
            .collect();
        let joints = state.robots["robot0"].joint_pos.as_ref().unwrap().row(0).to_vec();
        named.insert("robot0".into(), joints);
        let flattened = [&[time], qpos.as_slice(), qvel].concat();
        let full = StartData {
            snapshot: Some(snapshot.clone()),
            qpos: Some(qpos.clone()),
            qvel: Some(qvel.clone()),
            time_s: Some(time),
            named,
            flattened: Some(flattened),
            bodies,
        };
        let arrays = StartData { snapshot: None, ..full.clone() };
        let names = StartData { qpos: None, ..arrays.clone() };
        let flat = StartData { named: Default::default(), ..names.clone() };
        let nothing = StartData { flattened: None, ..flat.clone() };
        let cases = [
            (full, Level::Snapshot),
            (arrays, Level::Arrays),
            (names, Level::NamedJoints),
            (flat, Level::Flattened),
            (nothing, Level::Current),
        ];
        for (start, expected) in cases {
            let mut other = common::world(name, 1);
            other.reset(1, &[2]).unwrap();
            common::stir(&mut other, 40);
            let before = other.snapshot(0).unwrap();
            let report = other.restore_best(0, &start).unwrap();
            assert_eq!(report.level, expected, "{report}");
            let check = report.check.clone().unwrap();
            assert_eq!(report.skipped.len(), expected as usize);
            match expected {
                Level::Current => {
                    assert!(check.position_m > 1e-3, "{report}");
                    assert_eq!(other.snapshot(0).unwrap(), before);
                }
                // Positions are those of the file to the last bit or two of a kinematic chain.
                _ => assert!(
                    check.position_m < 1e-14 && check.rotation_rad < 1e-13,
                    "{name}: {report}"
                ),
            }
            if expected == Level::Snapshot {
                assert_eq!(other.snapshot(0).unwrap(), snapshot);
            }
        }
        // Data of another model is named and skipped, not forced.
        let wrong = StartData {
            qpos: Some(vec![0.0; 5]),
            named: [("nobody".to_owned(), vec![0.0; 7])].into(),
            flattened: Some(vec![f64::NAN; 1 + qpos.len() + qvel.len()]),
            ..StartData::default()
        };
        let report = world.restore_best(0, &wrong).unwrap();
        assert_eq!((report.level, report.skipped.len()), (Level::Current, 4));
        let text = report.to_string();
        assert!(text.contains("5 positions") && text.contains("nobody"), "{text}");
        assert!(text.contains("NaN"), "{text}");
    }
}
