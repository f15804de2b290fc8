//! Imports: whole or not at all, once, in the right order of joints, and refused in the right words.
//! h5py's lzf and virtual datasets: `peers/test_hdf5.py`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use citrange_hdf5::{Array, Demo, read_demo, read_robomimic, write_demo};

use crate::common::{citrange, fails, json, ok, stderr, stdout, temp};

/// A robomimic file `r.hdf5` of two episodes and a demo file without its tape.
fn files(root: &Path) {
    let collect = "collect multi_table_assembly --seconds 0.4 --cameras none --out";
    ok(root, &format!("{collect} a --episodes 2"));
    ok(root, "data export a --to robomimic --out r.hdf5");
    ok(root, "data export a --to hdf5 --out h");
}

fn poor(root: &Path) -> Demo {
    let first = std::fs::read_dir(root.join("h")).unwrap().map(|e| e.unwrap().path()).min();
    let mut demo = read_demo(first.unwrap()).unwrap();
    demo.blobs.clear();
    demo
}

fn left(root: &Path, part: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path());
    all.filter(|path| path.to_string_lossy().contains(part)).collect()
}

#[test]
fn the_same_file_is_imported_once_unless_asked() {
    let folder = temp();
    let root = folder.path();
    files(root);
    ok(root, "data import r.hdf5 --out set --cameras none");
    let said = fails(root, "data import r.hdf5 --out set --cameras none --resume", 3);
    assert!(said.contains("has all 2 episodes") && said.contains("--again"), "{said}");
    ok(root, "data delete set --episodes 1");
    // The part that is missing comes.
    let said = stderr(&ok(root, "data import r.hdf5 --out set --cameras none --resume"));
    assert!(said.contains("1 of 2 episodes of the file are in set already"), "{said}");
    ok(root, "data import r.hdf5 --out set --cameras none --resume --again");
    let listed = json(&ok(root, "data list set --json"));
    assert_eq!(listed["episodes"].as_array().unwrap().len(), 4);
}

#[test]
fn an_interrupted_import_leaves_nothing() {
    let folder = temp();
    let root = folder.path();
    let collect = "collect multi_table_assembly --seconds 3 --cameras none --out a";
    ok(root, collect);
    ok(root, "data export a --to robomimic --out r.hdf5");
    for signal in ["INT", "KILL"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_citrange"))
            .current_dir(root)
            .args(["data", "import", "r.hdf5", "--out", "set"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The line about the targets comes right before it plays, with cameras for seconds.
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let begun = lines.by_ref().map_while(Result::ok).any(|line| line.contains("targets:"));
        assert!(begun);
        let pid = child.id().to_string();
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success()
        );
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        let status = child.wait().unwrap();
        assert!(!status.success(), "{rest:?}");
        assert!(!root.join("set").exists(), "{signal}: a part is published: {rest:?}");
        if signal == "INT" {
            assert_eq!(status.code(), Some(130), "{rest:?}");
            assert_eq!(left(root, ".set."), Vec::<PathBuf>::new());
        }
    }
    // What the kill left is named and goes.
    assert_eq!(left(root, ".set.").len(), 1);
    let said = stderr(&ok(root, "data import r.hdf5 --out set --cameras none"));
    assert!(said.contains(".set.") && said.contains("removed"), "{said}");
    assert_eq!(left(root, ".set."), Vec::<PathBuf>::new());
    let listed = json(&ok(root, "data list set --json"));
    assert_eq!(listed["episodes"].as_array().unwrap().len(), 1);
}

#[test]
fn another_order_of_joints_is_seen() {
    let folder = temp();
    let root = folder.path();
    files(root);
    let replay = |demo: &Demo| {
        write_demo(root.join("x.h5"), demo).unwrap();
        let output = citrange(root, &["replay", "x.h5"], &[]);
        (output.status.code(), stderr(&output) + &stdout(&output))
    };
    // Nothing but arrays, the arm's first and fourth joint exchanged: limits tell.
    let mut bare = poor(root);
    bare.model_xml = None;
    bare.named_joints.clear();
    bare.attrs.other.remove("joint_names");
    let start = bare.initial_state_data.as_mut().unwrap();
    (start.body_pos, start.body_rot, start.body_names) = (None, None, None);
    let mut turned = bare.clone();
    turned.initial_state_data.as_mut().unwrap().qpos.as_mut().unwrap().swap(14, 17);
    turned.initial_state.as_mut().unwrap().swap(15, 18);
    let (_, said) = replay(&turned);
    assert!(said.contains("outside of its limits"), "{said}");
    assert!(!said.contains("restored by level 1"), "{said}");
    // What cannot be compared is said.
    let (_, said) = replay(&bare);
    assert!(said.contains("NOTHING IN THE FILE SAYS THE ORDER of its 23"), "{said}");
    // The recorded joint positions contradict the arrays; 0.2 rad, within all limits.
    let mut named = poor(root);
    named.model_xml = None;
    named.named_joints.retain(|name, _| name == "robot0_joint_pos");
    let qpos = named.initial_state_data.as_mut().unwrap().qpos.as_mut().unwrap();
    (qpos[14], qpos[16]) = (qpos[14] + 0.2, qpos[16] - 0.2);
    named.initial_state = None;
    let (_, said) = replay(&named);
    assert!(said.contains("robot0/joint1") && said.contains("0.20 off"), "{said}");
    assert!(said.contains("restored by level 2"), "{said}");
    // Names decide: the file's columns in another order become the arm's.
    let mut columns = poor(root);
    let Some(citrange_hdf5::Attr::Texts(names)) = columns.attrs.other.get_mut("joint_names") else {
        panic!("names of joints")
    };
    names.swap(0, 3);
    let array = columns.actions.as_mut().unwrap();
    let mut data = array.data().to_vec();
    data.chunks_mut(9).for_each(|row| row.swap(0, 3));
    *array = Array::matrix(array.rows(), 9, data).unwrap();
    for (key, width) in [("robot0_joint_pos", 7), ("robot0_joint_vel", 7)] {
        let array = columns.robot_states.get_mut(key).unwrap();
        let mut data = array.data().to_vec();
        data.chunks_mut(width).for_each(|row| row.swap(0, 3));
        *array = Array::matrix(array.rows(), width, data).unwrap();
    }
    columns.named_joints.get_mut("robot0_joint_pos").unwrap().swap(0, 3);
    let (code, said) = replay(&columns);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("arranged by the names") && said.contains("level 1"), "{said}");
    assert!(said.contains("joints within 0.0"), "{said}");
}

#[test]
fn lengths_and_foreign_files_are_named() {
    let folder = temp();
    let root = folder.path();
    files(root);
    let mut short = poor(root);
    short.initial_state_data.as_mut().unwrap().qpos.as_mut().unwrap().pop();
    write_demo(root.join("short.h5"), &short).unwrap();
    let said = stderr(&citrange(root, &["replay", "short.h5"], &[]));
    assert!(
        said.contains("qpos has 22 numbers, its own model needs 23: cubeA (7), cubeB"),
        "{said}"
    );
    // Rows of a wrong length are not "no positions".
    let mut thin = poor(root);
    thin.model_xml = None;
    thin.actions = Some(Array::matrix(2, 5, vec![0.0; 10]).unwrap());
    thin.robot_states.clear();
    thin.gripper_states.clear();
    write_demo(root.join("thin.h5"), &thin).unwrap();
    let said = fails(root, "data import thin.h5 --out x", 3);
    assert!(said.contains("9 joints of panda (joint1, joint2"), "{said}");
    assert!(said.contains("actions have 5 numbers per row"), "{said}");
    // Cut off, and something else.
    let whole = std::fs::read(root.join("r.hdf5")).unwrap();
    for end in [whole.len() / 2, 600, 40] {
        std::fs::write(root.join("cut.h5"), &whole[..end]).unwrap();
        for verb in ["replay cut.h5", "data import cut.h5 --out x"] {
            let said = fails(root, verb, 3);
            assert!(said.contains(&format!("truncated at byte {end}")), "{verb} {end}: {said}");
        }
    }
    std::fs::write(root.join("no.h5"), "nothing of the kind").unwrap();
    for verb in ["replay no.h5", "data import no.h5 --out x"] {
        let said = fails(root, verb, 3);
        assert!(said.contains("not an HDF5 file"), "{verb}: {said}");
    }
    assert!(!root.join("x").exists() && left(root, ".set.").is_empty());
    read_robomimic(root.join("r.hdf5")).unwrap();
}
