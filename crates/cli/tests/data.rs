//! Editing, checking and repairing datasets with the binary.

mod common;

use common::{fails, json, ok, small_set, stdout, temp};

#[test]
fn edits_keep_everything_replayable_and_the_old_in_the_trash() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 3);
    let lengths = |set: &str| -> Vec<u64> {
        let list = json(&ok(here, &format!("data list {set} --json")));
        let episodes = list["episodes"].as_array().unwrap();
        assert!(episodes.iter().all(|e| e["exact"] == true));
        episodes.iter().map(|e| e["frames"].as_u64().unwrap()).collect()
    };
    assert_eq!(lengths("set"), [30, 30, 30]);

    // A dry run says what would happen and touches nothing.
    let said = stdout(&ok(here, "data delete set --episodes 1 --dry-run"));
    assert!(said.contains("3 -> 2"), "{said}");
    assert_eq!(lengths("set"), [30, 30, 30]);
    // Out of range: refused before anything is touched.
    let said = fails(here, "data delete set --episodes 0,3", 3);
    assert!(said.contains('3'), "{said}");
    fails(here, "data trim set --episode 0 --frames 10:31", 3);
    fails(here, "data trim set --episode 0 --frames 10:10", 3);
    fails(here, "data split set --episode 0 --at 30", 3);
    fails(here, "data delete set --episodes 0-2", 3);
    assert_eq!(lengths("set"), [30, 30, 30]);
    assert!(!here.join(".citrange-trash").exists());

    ok(here, "data trim set --episode 0 --frames 7:");
    ok(here, "data split set --episode 2 --at 11");
    ok(here, "data delete set --episodes 1");
    assert_eq!(lengths("set"), [23, 11, 19]);
    assert_eq!(std::fs::read_dir(here.join(".citrange-trash")).unwrap().count(), 3);
    let report = json(&ok(here, "replay set --verify --json"));
    assert_eq!(report["differing"], 0);
    ok(here, "data check set --deep");

    ok(here, "data merge set set --out twice");
    assert_eq!(lengths("twice"), [23, 11, 19, 23, 11, 19]);
    ok(here, "replay twice --verify");
    ok(here, "data split twice --into train=0.5,val=0.5 --out parts");
    assert_eq!(lengths("parts/val"), [23, 11, 19]);
    fails(here, "data merge set set --out twice", 3);
}

#[test]
fn labels_and_tasks_change() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 2);
    ok(here, "data label set --episodes 1 --success false --add slipped --note almost");
    ok(here, "data label set --episodes 0 --task another");
    let list = json(&ok(here, "data list set --json"));
    let (first, second) = (&list["episodes"][0], &list["episodes"][1]);
    assert_eq!(first["tasks"][0], "another");
    assert_eq!(second["outcome"]["success"], false);
    assert_eq!((&second["labels"][0], &second["note"]), (&"slipped".into(), &"almost".into()));
    ok(here, "data label set --remove slipped");
    let list = json(&ok(here, "data list set --json"));
    assert_eq!(list["episodes"][1]["labels"].as_array().unwrap().len(), 0);
    fails(here, "data label set", 2);
    fails(here, "data label set --episodes 5 --note x", 3);
    ok(here, "data check set");
}

#[test]
fn somebody_elses_dataset_is_edited_without_tapes() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 2);
    std::fs::remove_dir_all(here.join("set/citrange")).unwrap();
    ok(here, "data delete set --episodes 0");
    let list = json(&ok(here, "data list set --json"));
    assert_eq!(list["episodes"][0]["exact"], false);
    let said = fails(here, "data label set --success true", 3);
    assert!(said.contains("not recorded by Citrange"), "{said}");
    ok(here, "data check set --deep");
}

#[test]
fn check_finds_what_is_wrong() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 2);
    ok(here, "data check set");
    let video = here.join("set/videos/observation.images.front/chunk-000/file-001.mp4");
    std::fs::remove_file(&video).unwrap();
    let args = ["data", "check", "set", "--json"];
    let output = common::citrange(here, &args, &[]);
    assert_eq!(output.status.code(), Some(4));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let codes: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["code"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"video-missing"), "{codes:?}");
}

#[test]
fn exports_change_the_unit() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 2);
    ok(here, "data export set --to lerobot --out percent --unit percent");
    ok(here, "data export set --to lerobot --out radians --unit radians");
    ok(here, "data check percent --deep");
    let shown = json(&ok(here, "data show percent --json"));
    assert_eq!(shown["units"][0]["unit"], "percent");
    let states = |set: &str| -> Vec<f32> {
        let set = citrange_lerobot::Dataset::open(here.join(set)).unwrap();
        let rows = set.read_episode(1).unwrap();
        rows.column("observation.state").unwrap().floats().unwrap().to_vec()
    };
    let (degrees, radians, percent) = (states("set"), states("radians"), states("percent"));
    for joint in 0..5 {
        assert!((degrees[joint] - radians[joint].to_degrees()).abs() < 1e-4);
        assert!(percent[joint].abs() <= 100.0);
    }
    // A gripper is in percent of its opening either way.
    assert!((degrees[5] - percent[5]).abs() < 1e-4 && degrees[5] != radians[5]);
    // The same motion, whatever the unit.
    let error = |set: &str| {
        let words = format!("replay {set} --episode 1 --frame-targets --json --scene small.yaml");
        let report = json(&ok(here, &words));
        report["episodes"][0]["mean_joint_error_rad"].as_f64().unwrap()
    };
    let (radians, percent) = (error("radians"), error("percent"));
    assert!((percent - radians).abs() < 1e-3 && radians < 0.05, "{radians} {percent}");
}
