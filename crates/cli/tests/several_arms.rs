//! Two arms in one scene: one rig with both, recorded, replayed bit for bit and exported by name
//! (`robot0`, `robot1`).

use std::process::Command as Process;
use std::sync::Arc;

use citrange_core::script::{Move, Script};
use citrange_core::{Rig as _, RunSettings, run};
use citrange_hdf5::Array;
use citrange_sim::{CompiledScene, SimRig, load_scene};
use citrange_tape::{
    Dataset, Episode, ExactReplay, RecordSettings, Recorder, TapeHeader, Unit, Verifier, WhenFull,
    new_uid, utc_now,
};

const SCENE: &str = "
name: two_arms
title: Two arms
task: wave with both arms
rates: {physics_hz: 360, control_hz: 180, frame_hz: 30}
robots:
  left: {model: so101, pos_m: [0.0, 0.25, 0.0]}
  right: {model: so101, pos_m: [0.0, -0.25, 0.0]}
";

fn header(rig: &SimRig) -> (TapeHeader, Vec<u8>) {
    let scene = rig.world().scene();
    let header = TapeHeader {
        uid: new_uid(),
        tool_version: "0".into(),
        engine: rig.world().snapshot(0).unwrap().engine,
        model_hash: scene.model_hash.clone(),
        began_utc: utc_now(),
        repeatable: false,
        features: Default::default(),
        task: "wave with both arms".into(),
        pilot: "script".into(),
        seed: 0,
        episode: 0,
        rig: rig.spec().clone(),
        scene: Some(scene.scene.clone()),
        robots: scene.robots.clone(),
        unit: Unit::Degrees,
        images: [].into(),
        config: serde_json::Value::Null,
        bodies: rig.world().body_poses(0).unwrap(),
        parent: None,
    };
    (header, scene.to_mjb().unwrap())
}

#[test]
fn two_arms_are_recorded_replayed_and_exported_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("two_arms.yaml"), SCENE).unwrap();
    let source = load_scene(here.join("two_arms.yaml").to_str().unwrap()).unwrap();
    let scene = Arc::new(CompiledScene::new(&source).unwrap());
    let robots: Vec<String> = scene.robot_names().map(str::to_owned).collect();
    let mut rig = SimRig::with_robots(Arc::clone(&scene), &robots, Some(&[])).unwrap();
    rig.world_mut().reset_env(0, 0, 0).unwrap();
    let names: Vec<&str> = rig.spec().joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(
        (names.len(), names[0], names[6]),
        (12, "robot0_shoulder_pan", "robot1_shoulder_pan")
    );
    let arms = rig.spec().arms();
    assert_eq!((arms.len(), arms[1].name.as_str(), arms[1].joints.clone()), (2, "robot1", 6..12));

    // The arms do different things at the same time.
    let start = rig.targets();
    let to = |by: f64| start.iter().enumerate().map(move |(j, q)| q + if j < 6 { by } else { -by });
    let go = |by: f64| Move { joints: to(by).collect(), ticks: 90, phase: "wave" };
    let (mut dataset, _) =
        Dataset::record(&here.join("set"), rig.spec(), Unit::Degrees, &Default::default()).unwrap();
    let (header, model) = header(&rig);
    let place = dataset.recording_folder(&header.uid);
    let how = RecordSettings { when_full: WhenFull::Wait, ..RecordSettings::default() };
    let mut recorder = Recorder::begin(&place, header, &model, &how).unwrap();
    run(Script::new(vec![go(0.2), go(-0.1)]), &mut rig, &mut recorder, &RunSettings::default())
        .unwrap();
    dataset.save(recorder.finish().unwrap()).unwrap();
    let tape: Arc<Episode> = Arc::new(dataset.tape(0).unwrap().unwrap().0);
    let moved = |j: usize| tape.frames[15].joint_pos[j] - tape.frames[0].joint_pos[j];
    assert!(moved(0) > 0.1 && moved(6) < -0.1, "{} {}", moved(0), moved(6));

    // Bit for bit, by hand and by the command.
    let mut again = SimRig::like(scene, &tape.header.rig, Some(&[])).unwrap();
    again.world_mut().restore(0, &tape.snapshot(0).unwrap()).unwrap();
    let mut verifier = Verifier::new(Arc::clone(&tape), 0..tape.len());
    let replay = ExactReplay::new(Arc::clone(&tape), 0..tape.len());
    run(replay, &mut again, &mut verifier, &RunSettings::default()).unwrap();
    assert!(verifier.into_report().is_bitwise());
    drop(dataset);
    let citrange = |words: &str| {
        let mut process = Process::new(env!("CARGO_BIN_EXE_citrange"));
        let output = process.current_dir(here).args(words.split(' ')).output().unwrap();
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let report: serde_json::Value =
        serde_json::from_str(&citrange("replay set --verify --json")).unwrap();
    assert_eq!(report["differing"], 0, "{report}");
    citrange("data check set");

    // Both arms are in the files of others, and come back exactly.
    citrange("data export set --to hdf5 --out demos");
    let file = std::fs::read_dir(here.join("demos")).unwrap().next().unwrap().unwrap().path();
    let demo = citrange_hdf5::read_demo(&file).unwrap();
    for (name, joint) in [("robot0_joint_pos", 0), ("robot1_joint_pos", 6)] {
        let rows: &Array = &demo.robot_states[name];
        assert_eq!((rows.rows(), rows.cols()), (tape.len(), 5), "{name}");
        assert_eq!(rows.row(15).unwrap()[0], tape.frames[15].joint_pos[joint], "{name}");
    }
    citrange(&format!("data import {} --out back", file.display()));
    let back = Dataset::open(&here.join("back")).unwrap();
    assert_eq!(back.tape(0).unwrap().unwrap().0.ticks, tape.ticks);
}
