//! Two arms in one scene: one rig with both, recorded, replayed bit for bit and exported by name
//! (`robot0`, `robot1`); files of others with two arms come in.

use std::path::Path;
use std::sync::Arc;

use citrange_core::script::{Move, Script};
use citrange_core::{Rig as _, RunSettings, run};
use citrange_hdf5::{AlohaEpisode, Array, Attr, Series, read_demo, read_robomimic, write_aloha};
use citrange_lerobot::{Column, Feature, Info, NewEpisode};
use citrange_sim::{CompiledScene, SimRig, load_scene};
use citrange_tape::{
    Dataset, Episode, ExactReplay, RecordSettings, Recorder, TapeHeader, Unit, Verifier, WhenFull,
    new_uid, utc_now,
};

mod common;

use common::{citrange, fails, json, ok, stderr, stdout, temp};

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
        depth: Default::default(),
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
fn a_program_records_two_arms() {
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
}

/// The scene, and a dataset `set` of both arms waving.
fn waved(folder: &Path) -> Arc<Episode> {
    std::fs::write(folder.join("two_arms.yaml"), SCENE).unwrap();
    ok(folder, "collect two_arms.yaml --seconds 1 --out set");
    tape_of(folder, "set")
}

fn tape_of(folder: &Path, set: &str) -> Arc<Episode> {
    Arc::new(Dataset::open(&folder.join(set)).unwrap().tape(0).unwrap().unwrap().0)
}

fn joint_names(tape: &Episode) -> Vec<&str> {
    tape.header.rig.joints.iter().map(|joint| joint.name.as_str()).collect()
}

#[test]
fn commands_record_every_robot_of_a_scene() {
    let folder = temp();
    let here = folder.path();
    let tape = waved(here);
    let names = joint_names(&tape);
    assert_eq!(
        (names.len(), names[0], names[6]),
        (12, "robot0_shoulder_pan", "robot1_shoulder_pan")
    );
    let last = tape.len() - 1;
    for joint in [0, 6] {
        let all = tape.frames.iter().map(|frame| frame.joint_pos[joint]);
        assert!(all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min) > 0.1);
    }
    assert_eq!(json(&ok(here, "replay set --verify --json"))["differing"], 0);
    ok(here, "data check set");
    let shown = json(&ok(here, "data show set --json"));
    assert_eq!(shown["units"][6]["name"], "robot1_shoulder_pan.pos");
    let shape = shown["features"].as_array().unwrap().iter().find(|f| f["name"] == "action");
    assert_eq!(shape.unwrap()["shape"], serde_json::json!([12]));
    ok(here, "report set --out page.html");

    // HDF5, and back exactly.
    ok(here, "data export set --to hdf5 --out demos");
    let file = std::fs::read_dir(here.join("demos")).unwrap().next().unwrap().unwrap().path();
    let demo = read_demo(&file).unwrap();
    for (name, joint) in [("robot0_joint_pos", 0), ("robot1_joint_pos", 6)] {
        let rows: &Array = &demo.robot_states[name];
        assert_eq!((rows.rows(), rows.cols()), (tape.len(), 5), "{name}");
        assert_eq!(rows.row(15).unwrap()[0], tape.frames[15].joint_pos[joint], "{name}");
    }
    ok(here, &format!("data import {} --out back", file.display()));
    assert_eq!(tape_of(here, "back").ticks, tape.ticks);

    // robomimic: an arm each, actions in the order of the robots; played again it is as near as
    // one target per frame allows.
    ok(here, "data export set --to robomimic --out r.hdf5");
    let robomimic = read_robomimic(here.join("r.hdf5")).unwrap();
    let args: serde_json::Value =
        serde_json::from_str(robomimic.header.env_args.as_deref().unwrap()).unwrap();
    assert_eq!(args["env_kwargs"]["robots"], serde_json::json!(["so101", "so101"]));
    let demo = robomimic.read_demo(0).unwrap();
    assert_eq!(demo.actions.as_ref().unwrap().cols(), 12);
    for (arm, first) in [("robot0", 0), ("robot1", 6)] {
        for (part, at, width) in [("joint_pos", 0, 5), ("gripper_qpos", 5, 1)] {
            let Series::Numbers(rows) = &demo.obs[&format!("{arm}_{part}")] else { panic!() };
            assert_eq!((rows.rows(), rows.cols()), (tape.len(), width), "{arm} {part}");
            let was = tape.frames[last].joint_pos[first + at];
            assert_eq!(rows.row(last).unwrap()[0], was, "{arm} {part}");
        }
    }
    ok(here, "data import r.hdf5 --scene two_arms.yaml --cameras none --out near");
    let near = tape_of(here, "near");
    assert_eq!(near.len(), tape.len());
    let off = |frame: usize| {
        let pairs = near.frames[frame].joint_pos.iter().zip(&tape.frames[frame].joint_pos);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let worst = (0..tape.len()).map(off).fold(0.0, f64::max);
    assert!(worst < 0.02, "{worst} rad");

    // LeRobot without tapes: rows, by the names of the joints.
    ok(here, "data export set --to lerobot --out plain");
    let report = json(&ok(here, "replay plain --scene two_arms.yaml --json"));
    let worst = report["episodes"][0]["largest_joint_error_rad"].as_f64().unwrap();
    assert!(worst < 0.02, "{report}");
}

#[test]
fn robots_are_chosen_by_name() {
    let folder = temp();
    let here = folder.path();
    std::fs::write(here.join("two_arms.yaml"), SCENE).unwrap();
    ok(here, "collect two_arms.yaml --robots right --seconds 1 --out one");
    let tape = tape_of(here, "one");
    assert_eq!(joint_names(&tape).len(), 6);
    assert_eq!(joint_names(&tape)[0], "shoulder_pan");
    assert_eq!(tape.header.rig.robots_in_scene, ["right"]);
    // The right one moves again, not the first.
    assert_eq!(json(&ok(here, "replay one --verify --json"))["differing"], 0);
    ok(here, "collect --from one:0:5 --seconds 1 --out on");
    assert_eq!(tape_of(here, "on").header.rig.robots_in_scene, ["right"]);
    let said = fails(here, "collect --from one:0:5 --robots left --seconds 1 --out no", 3);
    assert!(said.contains("has right, not left"), "{said}");
    let said = fails(here, "collect two_arms.yaml --robots rigth --out no", 3);
    assert!(said.contains("right"), "{said}");
    let said = fails(here, "collect two_arms.yaml --robots left,left --out no", 3);
    assert!(said.contains("named twice"), "{said}");
    ok(here, "collect two_arms.yaml --robots right,left --seconds 1 --out turned");
    let turned = tape_of(here, "turned");
    assert_eq!(turned.header.rig.robots_in_scene, ["right", "left"]);
    assert_eq!(json(&ok(here, "replay turned --verify --json"))["differing"], 0);
}

/// Rows of two arms as another program would write them: the right arm first, in degrees.
fn of_others(folder: &Path, tape: &Episode) {
    let joints =
        ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"];
    let name = |side: &str, joint: &str| format!("{side}_{joint}.pos");
    let names: Vec<String> = ["right", "left"]
        .iter()
        .flat_map(|side| joints.iter().map(|joint| name(side, joint)))
        .collect();
    let features = vec![
        ("observation.state".to_owned(), Feature::vector(&names)),
        ("action".to_owned(), Feature::vector(&names)),
    ];
    let mut set = citrange_lerobot::Dataset::open_or_create(
        folder.join("others"),
        Info::new(Some("bi_so101_follower"), 30, features),
    )
    .unwrap();
    let units = Unit::Degrees.of(&tape.header.rig).unwrap();
    let shown = |row: &[f64]| -> Vec<f32> {
        let all: Vec<f32> = units.iter().zip(row).map(|(u, v)| u.show(*v) as f32).collect();
        [&all[6..], &all[..6]].concat()
    };
    let state = tape.frames.iter().flat_map(|frame| shown(&frame.joint_pos)).collect();
    let action = (0..tape.len()).flat_map(|frame| shown(tape.action(frame).unwrap())).collect();
    set.append(NewEpisode {
        task: "wave".into(),
        length: tape.len(),
        columns: vec![
            ("observation.state".into(), Column::F32(state)),
            ("action".into(), Column::F32(action)),
        ],
        ..NewEpisode::default()
    })
    .unwrap();
}

#[test]
fn lerobot_sets_of_others_are_mapped_by_the_names_of_arms() {
    let folder = temp();
    let here = folder.path();
    let tape = waved(here);
    of_others(here, &tape);
    let worst = |words: &str| {
        let report = json(&ok(here, words));
        report["episodes"][0]["largest_joint_error_rad"].as_f64().unwrap()
    };
    let near = worst("replay others --scene two_arms.yaml --unit deg --json");
    assert!(near < 0.02, "{near}");
    // One arm of the two.
    let near = worst("replay others --scene two_arms.yaml --robots right --unit deg --json");
    assert!(near < 0.02, "{near}");
    // Taken in: an episode with a tape, which repeats bit for bit.
    ok(here, "data import others --scene two_arms.yaml --cameras none --out taken");
    let taken = tape_of(here, "taken");
    assert_eq!((taken.len(), joint_names(&taken)[6]), (tape.len(), "robot1_shoulder_pan"));
    let off = |frame: &usize| {
        let pairs = taken.action(*frame).unwrap().iter().zip(tape.action(*frame).unwrap());
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    assert!((0..tape.len()).all(|frame| off(&frame) < 1e-5));
    ok(here, "replay taken --verify");
    let said = fails(here, "data import others --scene two_arms.yaml --out taken --resume", 3);
    assert!(said.contains("already"), "{said}");
    let said = fails(here, "data import others --out no", 3);
    assert!(said.contains("--scene"), "{said}");
    // A scene whose one arm has neither name.
    std::fs::write(here.join("one.yaml"), SCENE.replace("left:", "arm:").replace("  right:", "#"))
        .unwrap();
    let said = stderr(&citrange(here, &["replay", "others", "--scene", "one.yaml"], &[]));
    assert!(said.contains("12 numbers per frame") && said.contains("has 6 joints"), "{said}");
}

/// Two arms of six joints and a gripper: fourteen numbers, as ALOHA has them.
fn aloha_scene(folder: &Path) {
    let joint = |k: usize| {
        let axis = if k.is_multiple_of(2) { "0 0 1" } else { "0 1 0" };
        format!(
            r#"<body name="l{k}" pos="0 0 0.1"><joint name="j{k}" axis="{axis}" range="-2 2"/>
               <geom type="capsule" fromto="0 0 0 0 0 0.09" size="0.02" mass="0.2"/>"#
        )
    };
    let links: String = (1..=6).map(joint).collect();
    let xml = format!(
        r#"<mujoco model="six"><compiler angle="radian"/><worldbody><body name="base">
           <geom type="box" size="0.05 0.05 0.02" mass="1"/>{links}
           <site name="tool" pos="0 0 0.1"/>
           <body name="jaw" pos="0.03 0 0.1"><joint name="grip" type="slide" axis="1 0 0" range="0 0.04"/>
           <geom type="box" size="0.005 0.01 0.02" mass="0.05"/></body>{}</body></worldbody></mujoco>"#,
        "</body>".repeat(6)
    );
    let servo =
        |joint: String| format!(r#"<position name="{joint}" joint="{joint}" kp="100" kv="10"/>"#);
    let servos: String = (1..=6).map(|k| servo(format!("j{k}"))).collect();
    let servos = format!("</worldbody><actuator>{servos}{}</actuator>", servo("grip".into()));
    let xml = xml.replace("</worldbody>", &servos);
    std::fs::write(folder.join("six.xml"), xml).unwrap();
    let limits: String = (1..=6)
        .map(|k| format!("  j{k}: {{velocity_rad_s: 3, acceleration_rad_s2: 10, jerk_rad_s3: 100, effort_nm: 20}}\n"))
        .collect();
    let robot = format!(
        "name: six\ntitle: Six joints and a gripper\nmodel: six.xml\nbase_height_m: 0.02\n\
         arm_joints: [j1, j2, j3, j4, j5, j6]\n\
         gripper: {{joints: [grip], open: [0.04], closed: [0]}}\n\
         sites: {{tool: tool, wrist: tool}}\nhome: zero\nposes:\n  zero: [0, 0, 0, 0, 0, 0, 0]\n\
         joint_limits:\n{limits}\
         servos:\n  default: {{kp: 100, kv: 10, force: 50}}\n"
    );
    let robot = robot.replace(
        "servos:",
        "  grip: {velocity_m_s: 0.2, acceleration_m_s2: 2, jerk_m_s3: 20, effort_n: 20}\nservos:",
    );
    std::fs::write(folder.join("six.yaml"), robot).unwrap();
    let scene = "name: aloha\ntitle: Two arms\ntask: hand over\n\
                 rates: {physics_hz: 500, control_hz: 250, frame_hz: 50}\nrobots:\n  \
                 left: {model: six.yaml, pos_m: [0, 0.5, 0]}\n  \
                 right: {model: six.yaml, pos_m: [0, -0.5, 0]}\n";
    std::fs::write(folder.join("aloha.yaml"), scene).unwrap();
}

#[test]
fn fourteen_numbers_of_aloha_move_two_arms() {
    let folder = temp();
    let here = folder.path();
    aloha_scene(here);
    let row = |step: usize| {
        let t = step as f64 / 50.0;
        let arm = |sign: f64| [sign * 0.3 * (3.0 * t).sin(), 0.1, 0.0, 0.1, 0.0, 0.1];
        [&arm(1.0)[..], &[0.5], &arm(-1.0), &[1.0]].concat()
    };
    let steps = 50;
    let table = |shift: usize| {
        Array::matrix(steps, 14, (0..steps).flat_map(|k| row(k + shift)).collect()).ok()
    };
    let episode = AlohaEpisode {
        qpos: table(0),
        action: table(1),
        attrs: [("sim".to_owned(), Attr::Bool(true))].into(),
        ..AlohaEpisode::default()
    };
    write_aloha(here.join("episode_0.hdf5"), &episode).unwrap();
    let said = fails(here, "data import episode_0.hdf5 --out no", 3);
    assert!(said.contains("--scene"), "{said}");
    let output = ok(here, "data import episode_0.hdf5 --scene aloha.yaml --cameras none --out set");
    let said = stderr(&output) + &stdout(&output);
    assert!(said.contains("taken as 50 Hz") && said.contains("0 closed to 1 open"), "{said}");
    let tape = tape_of(here, "set");
    assert_eq!((tape.len(), joint_names(&tape).len()), (steps, 14));
    assert_eq!(joint_names(&tape)[13], "robot1_grip");
    // It begins where the file does, and follows its targets; a gripper's fraction is a way.
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    for (joint, value) in [(1, 0.1), (6, 0.02), (13, 0.04)] {
        close(tape.frames[0].joint_pos[joint], value);
    }
    close(tape.action(9).unwrap()[0], row(10)[0]);
    close(tape.action(9).unwrap()[7], row(10)[7]);
    let moved = |joint: usize| tape.frames[20].joint_pos[joint] - tape.frames[0].joint_pos[joint];
    assert!(moved(0) > 0.1 && moved(7) < -0.1, "{} {}", moved(0), moved(7));
    ok(here, "replay set --verify");

    // Names decide: the right arm first.
    let turned = |shift: usize| {
        let rows = (0..steps).flat_map(|k| {
            let row = row(k + shift);
            [&row[7..], &row[..7]].concat()
        });
        Array::matrix(steps, 14, rows.collect()).ok()
    };
    let joints = ["j1", "j2", "j3", "j4", "j5", "j6", "grip"];
    let names = ["right", "left"].iter().flat_map(|s| joints.map(|j| format!("{s}_{j}"))).collect();
    let named = AlohaEpisode {
        qpos: turned(0),
        action: turned(1),
        attrs: [("joint_names".to_owned(), Attr::Texts(names))].into(),
        ..episode
    };
    write_aloha(here.join("named.hdf5"), &named).unwrap();
    ok(here, "data import named.hdf5 --scene aloha.yaml --cameras none --out named");
    assert_eq!(tape_of(here, "named").ticks, tape.ticks);
}
