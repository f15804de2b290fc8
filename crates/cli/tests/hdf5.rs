//! Episodes out to HDF5 and back, as a user does it.

use std::path::{Path, PathBuf};
use std::process::Output;

use citrange_hdf5::{Series, read_demo, read_robomimic, write_demo};
use citrange_tape::{Dataset, DemoExtras, export_demo};

mod common;

use common::stderr;

fn citrange(folder: &Path, args: &[&str]) -> Output {
    common::citrange(folder, args, &[])
}

fn good(folder: &Path, args: &[&str]) -> String {
    let output = citrange(folder, args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(folder: &Path, args: &[&str], code: i32, part: &str) {
    let output = citrange(folder, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
    assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut all: Vec<PathBuf> = entries.filter(|p| p.to_string_lossy().ends_with(ending)).collect();
    all.sort();
    all
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Export, import into a new dataset, and compare tapes and rows.
fn there_and_back(scene: &str) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let collect =
        ["collect", scene, "--episodes", "3", "--seconds", "3", "--cameras", "none", "-o", "a"];
    good(root, &collect);
    good(root, &["data", "export", "a", "--to", "hdf5", "--out", "h"]);
    let demos = files(&root.join("h"), ".h5");
    assert_eq!(demos.len(), 3);
    for demo in &demos {
        assert!(good(root, &["replay", text(demo), "--verify"]).contains("bitwise equal"));
        good(root, &["data", "import", text(demo), "--out", "b", "--resume"]);
    }
    let tapes = |name: &str| {
        let all = files(&root.join(name).join("citrange/episodes"), ".tape");
        all.iter()
            .map(|p| (p.file_name().unwrap().to_owned(), std::fs::read(p).unwrap()))
            .collect::<Vec<_>>()
    };
    assert!(tapes("a") == tapes("b"), "tapes must come back byte for byte");
    let lines = good(root, &["replay", "b", "--verify"]);
    assert_eq!(lines.matches("bitwise equal").count(), 3, "{lines}");
    let (a, b) = (open(root, "a"), open(root, "b"));
    for number in 0..3 {
        let rows = |d: &Dataset| d.lerobot.read_episode(number).unwrap().columns;
        assert_eq!(rows(&a), rows(&b));
    }
}

fn open(root: &Path, name: &str) -> Dataset {
    Dataset::open(&root.join(name)).unwrap()
}

#[test]
fn oranges_come_back_bit_for_bit() {
    there_and_back("orange_plate");
}

#[test]
fn cubes_come_back_bit_for_bit() {
    there_and_back("multi_table_assembly");
}

fn short_panda(root: &Path) {
    good(root, &["collect", "multi_table_assembly", "--seconds", "0.4", "-o", "a"]);
}

#[test]
fn a_demo_file_has_what_its_readers_look_for() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    short_panda(root);
    good(root, &["data", "export", "a", "--to", "hdf5", "--out", "h"]);
    let path = files(&root.join("h"), ".h5").remove(0);
    let demo = read_demo(&path).unwrap();
    assert!(demo.skipped.is_empty());
    assert_eq!(demo.attrs.environment.as_deref(), Some("multi_table_assembly"));
    assert_eq!((demo.attrs.total_steps, demo.attrs.duration), (Some(8), Some(0.4)));
    assert!(demo.model_xml.as_ref().unwrap().contains("<mujoco"));
    assert_eq!(demo.initial_state.as_ref().unwrap().len(), 1 + 23 + 21);
    let start = demo.initial_state_data.as_ref().unwrap();
    let qpos = start.qpos.as_ref().unwrap();
    assert_eq!((qpos.len(), start.qvel.as_ref().unwrap().len(), start.time), (23, 21, Some(0.0)));
    assert_eq!(demo.joint_qpos("cubeA_joint").unwrap(), &qpos[..7]);
    assert_eq!(demo.joint_qpos("cubeB_joint").unwrap(), &qpos[7..14]);
    assert_eq!(demo.robot_joint_pos(0).unwrap(), &qpos[14..21]);
    assert_eq!(demo.actions.as_ref().unwrap().shape(), [8, 9]);
    assert_eq!(demo.robot_states["robot0_joint_vel"].shape(), [8, 7]);
    assert_eq!(demo.gripper_states["robot0_right_gripper_qpos"].row(0).unwrap(), &qpos[21..]);
    assert_eq!(demo.dones.as_ref().unwrap()[6..], [false, true]);
    assert!(demo.rewards.is_none(), "nobody judged it");
    let stamps = demo.timestamps.as_ref().unwrap();
    assert!(stamps[0] == 0.0 && stamps.windows(2).all(|w| w[1] > w[0]));
    let dataset = open(root, "a");
    for camera in ["agentview", "robot0_eye_in_hand"] {
        let (there, here) = (&demo.cameras[camera], dataset.pictures(0, camera).unwrap());
        assert_eq!((there.frames(), there.height(), there.width()), (8, 256, 256));
        // Out of order too: the film is then read from the key frame before.
        for frame in [0, 7, 3] {
            let picture = there.frame(frame).unwrap();
            assert!(picture == here.frame(frame).unwrap(), "{camera} {frame}");
            assert!(picture.iter().any(|p| *p != picture[0]), "a picture shows something");
        }
    }
    // The way back makes the films again: same pictures, same bytes.
    good(root, &["data", "import", text(&path), "--out", "b"]);
    let film = |d: &Dataset| d.lerobot.video_of(0, "observation.images.agentview").unwrap().path;
    let films = [film(&dataset), film(&open(root, "b"))].map(|p| std::fs::read(p).unwrap());
    assert!(films[0] == films[1]);
}

#[test]
fn robomimic_files_are_complete_and_play() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    short_panda(root);
    let more = ["collect", "multi_table_assembly", "--seconds", "0.3", "--resume", "-o", "a"];
    good(root, &more);
    good(root, &["data", "export", "a", "--to", "robomimic", "--out", "r.hdf5"]);
    let file = read_robomimic(root.join("r.hdf5")).unwrap();
    assert_eq!((file.demos.len(), file.total), (2, Some(14)));
    let args: serde_json::Value =
        serde_json::from_str(file.header.env_args.as_ref().unwrap()).unwrap();
    assert_eq!((&args["env_name"], &args["type"]), (&"multi_table_assembly".into(), &1.into()));
    let demo = file.read_demo(0).unwrap();
    let (tape, _) = open(root, "a").tape(0).unwrap().unwrap();
    let states = demo.states.as_ref().unwrap();
    assert_eq!(states.shape(), [8, 1 + 23 + 21]);
    let fields = tape.snapshot(5).unwrap().fields;
    let expected =
        [&fields["mujoco/time"][..], &fields["mujoco/qpos"], &fields["mujoco/qvel"]].concat();
    assert_eq!(states.row(5).unwrap(), expected);
    assert!(demo.model_file.as_ref().unwrap().contains("<mujoco"));
    let actions = demo.actions.as_ref().unwrap();
    assert_eq!(actions.shape(), [8, 9]);
    let targets = demo.obs["joint_targets"].numbers().unwrap();
    assert_eq!(targets.row(4).unwrap(), tape.action(4).unwrap());
    for row in 0..8 {
        for (joint, action) in actions.row(row).unwrap().iter().enumerate() {
            assert!((-1.0..=1.0).contains(action));
            let side = |key: &str| args["env_kwargs"][key][joint].as_f64().unwrap();
            let (low, high) = (side("action_low"), side("action_high"));
            let target = low + (action + 1.0) / 2.0 * (high - low);
            assert!((target - targets.row(row).unwrap()[joint]).abs() < 1e-12);
        }
    }
    let numbers = |key: &str| demo.obs[key].numbers().unwrap();
    assert_eq!(numbers("object").row(5).unwrap(), &expected[1..15]);
    for (key, width) in [
        ("robot0_joint_pos", 7),
        ("robot0_joint_vel", 7),
        ("robot0_gripper_qpos", 2),
        ("object", 14),
    ] {
        assert_eq!(numbers(key).shape(), [8, width], "{key}");
        let next = demo.next_obs[key].numbers().unwrap();
        assert_eq!(next.row(3), numbers(key).row(4), "{key}");
    }
    let last = tape.snapshot(8).unwrap().fields["mujoco/qpos"][14..21].to_vec();
    assert_eq!(demo.next_obs["robot0_joint_pos"].numbers().unwrap().row(7).unwrap(), last);
    let Series::Images(next) = &demo.next_obs["agentview_image"] else { panic!("pictures") };
    let Series::Images(now) = &demo.obs["agentview_image"] else { panic!("pictures") };
    assert!(next.frame(2).unwrap() == now.frame(3).unwrap());
    assert!(next.frame(7).unwrap() != now.frame(7).unwrap(), "the world after the last action");
    // It plays from its states, and becomes two episodes.
    let played = good(root, &["replay", "r.hdf5", "--episode", "1"]);
    assert!(played.contains("level 3") && played.contains("6 frames"), "{played}");
    let import = ["data", "import", "r.hdf5", "--out", "b", "--cameras", "none", "--json"];
    let lines = good(root, &import);
    assert_eq!(lines.matches("\"start\":\"flattened\"").count(), 2, "{lines}");
    let back = open(root, "b");
    let (again, _) = back.tape(1).unwrap().unwrap();
    assert_eq!((again.header.pilot.as_str(), again.len()), ("import", 6));
    assert_eq!(again.header.config["start"], "flattened");
}

#[test]
fn a_file_without_its_tape_says_its_level_and_is_no_proof() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    short_panda(root);
    good(root, &["data", "export", "a", "--to", "hdf5", "--out", "h"]);
    let path = files(&root.join("h"), ".h5").remove(0);
    let mut demo = read_demo(&path).unwrap();
    demo.blobs.clear();
    // The name as robosuite's classes have it.
    demo.attrs.environment = Some("MultiTableAssembly".into());
    write_demo(root.join("poor.h5"), &demo).unwrap();
    let played = citrange(root, &["replay", "poor.h5"]);
    assert!(played.status.success(), "{}", stderr(&played));
    assert!(stderr(&played).contains("restored by level 1"), "{}", stderr(&played));
    assert!(stderr(&played).contains("bodies within 0.0e0 m"), "{}", stderr(&played));
    refused(root, &["replay", "poor.h5", "--verify"], 4, "1 of 1 episodes differ");
    let import = ["data", "import", "poor.h5", "--out", "b", "--cameras", "none"];
    good(root, &import);
    assert!(good(root, &["replay", "b", "--verify"]).contains("bitwise equal"));
    demo.attrs.environment = None;
    write_demo(root.join("lost.h5"), &demo).unwrap();
    refused(root, &["replay", "lost.h5"], 3, "--scene");
    good(root, &["replay", "lost.h5", "--scene", "multi_table_assembly"]);
}

#[test]
fn a_state_in_the_order_of_another_model_is_arranged_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let collect = ["collect", "multi_table_assembly", "--seconds", "0.4", "--cameras", "none"];
    good(root, &[&collect[..], &["-o", "a"]].concat());
    good(root, &["data", "export", "a", "--to", "hdf5", "--out", "h"]);
    let path = files(&root.join("h"), ".h5").remove(0);
    let mut demo = read_demo(&path).unwrap();
    demo.blobs.clear();
    // robosuite has the arm first, then the fingers, then the cubes.
    let free = |n: &str| format!("<body><joint name=\"{n}_joint0\" type=\"free\"/></body>");
    let arm: String = (1..8).map(|k| format!("<joint name=\"robot0_joint{k}\"/>")).collect();
    let fingers: String =
        (1..3).map(|k| format!("<joint name=\"gripper0_right_finger_joint{k}\"/>")).collect();
    let (a, b) = (free("cubeA"), free("cubeB"));
    let xml = format!("<mujoco><worldbody><body>{arm}{fingers}</body>{a}{b}</worldbody></mujoco>");
    demo.model_xml = Some(xml);
    let start = demo.initial_state_data.as_mut().unwrap();
    start.qpos.as_mut().unwrap().rotate_left(14);
    start.qvel.as_mut().unwrap().rotate_left(12);
    write_demo(root.join("other.h5"), &demo).unwrap();
    let played = citrange(root, &["replay", "other.h5"]);
    let said = stderr(&played);
    assert!(said.contains("arranged by name") && said.contains("by level 1"), "{said}");
    assert!(said.contains("bodies within 0.0e0 m"), "{said}");
    // Without the model the named cubes betray the order, and level 2 is used.
    demo.model_xml = None;
    write_demo(root.join("other.h5"), &demo).unwrap();
    let said = stderr(&citrange(root, &["replay", "other.h5"]));
    assert!(said.contains("another order") && said.contains("by level 2"), "{said}");
    assert!(said.contains("bodies within 0.0e0 m"), "{said}");
}

#[test]
fn parts_of_an_episode_share_their_tape() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    good(root, &["collect", "orange_plate", "--seconds", "1", "--cameras", "none", "-o", "a"]);
    let (tape, shown) = open(root, "a").tape(0).unwrap().unwrap();
    assert_eq!(shown, 0..30);
    for (name, range) in [("one.h5", 4..14), ("two.h5", 14..30)] {
        let extras = DemoExtras { robot: "robot0".into(), ..DemoExtras::default() };
        write_demo(root.join(name), &export_demo(&tape, range, extras).unwrap()).unwrap();
        good(root, &["data", "import", name, "--out", "b", "--resume"]);
    }
    let lines = good(root, &["replay", "b", "--verify"]);
    assert_eq!(lines.matches("bitwise equal").count(), 2, "{lines}");
    let back = open(root, "b");
    assert_eq!(back.entry(1).unwrap().frames, 14..30);
    assert_eq!(files(&root.join("b/citrange/episodes"), ".tape").len(), 1);
    let column = |d: &Dataset, n: usize| {
        let rows = d.lerobot.read_episode(n).unwrap();
        rows.column("action").unwrap().floats().unwrap().to_vec()
    };
    assert_eq!(column(&back, 1), column(&open(root, "a"), 0)[14 * 6..]);
    refused(root, &["data", "import", "two.h5", "--out", "b", "--resume"], 3, "has it already");
}

#[test]
fn mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    good(root, &["collect", "orange_plate", "--seconds", "0.2", "--cameras", "none", "-o", "a"]);
    let to = |format: &'static str, out: &'static str| {
        ["data", "export", "a", "--to", format, "--out", out]
    };
    for (format, out) in [("hdf5", "h"), ("robomimic", "r.hdf5"), ("lerobot", "l")] {
        good(root, &to(format, out));
        refused(root, &to(format, out), 3, "exists already");
    }
    assert!(!root.join("l/citrange").exists());
    let export = ["data", "export", "l", "--to", "hdf5", "--out", "x"];
    refused(root, &export, 3, "episode 0 of l has no tape");
    assert!(!root.join("x").exists());
    let list = |list: &'static str| [&to("hdf5", "x")[..], &["--episodes", list]].concat();
    refused(root, &list("7"), 3, "has no episode 7");
    refused(root, &list("first"), 3, "give numbers like 1,3,5-7");
    let demo = files(&root.join("h"), ".h5").remove(0);
    refused(root, &["data", "import", text(&demo), "--out", "a"], 3, "--resume adds to it");
    refused(
        root,
        &["data", "import", text(&demo), "--out", "a", "--resume"],
        3,
        "has it already: episode 0",
    );
    std::fs::write(root.join("no.h5"), "nothing").unwrap();
    refused(root, &["data", "import", "no.h5", "--out", "x"], 3, "not an HDF5 file");
    assert!(!root.join("x").exists());
}
