//! LeRobot datasets of others: what their numbers mean is said, guessed aloud, or refused.

use std::path::Path;

use serde_json::Value;

use crate::common::{fails, json, ok, small_set, stderr, temp};

/// Somebody else's dataset: no tapes, no word about units, LeRobot's name of the arm.
fn foreign(folder: &Path, unit: &str) {
    ok(folder, &format!("data export set --to lerobot --out {unit} --unit {unit} --failures"));
    let path = folder.join(unit).join("meta/info.json");
    let mut info: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    info.as_object_mut().unwrap().remove("citrange").unwrap();
    info["robot_type"] = "so101_follower".into();
    std::fs::write(&path, info.to_string()).unwrap();
}

fn mean_error(folder: &Path, words: &str) -> f64 {
    let report = json(&ok(folder, &format!("replay {words} --scene small.yaml --json")));
    report["episodes"][0]["mean_joint_error_rad"].as_f64().unwrap()
}

#[test]
fn units_of_others_are_named_guessed_or_refused() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 1);
    for unit in ["degrees", "percent", "radians"] {
        foreign(here, unit);
    }
    // Degrees taken for radians used to play "within 94.8 rad".
    for (set, unit) in [("degrees", "rad"), ("percent", "rad"), ("degrees", "radians")] {
        let said = fails(here, &format!("replay {set} --scene small.yaml --unit {unit}"), 3);
        assert!(said.contains("radians, as told") && said.contains("limits are"), "{said}");
        assert!(said.contains("--unit deg") && said.contains("of 30 frames"), "{said}");
    }
    // Nobody says anything: the guess is said, and right.
    for (set, guess) in [("degrees", "degrees"), ("radians", "radians")] {
        let output = ok(here, &format!("replay {set} --scene small.yaml"));
        let said = stderr(&output);
        assert!(said.contains(&format!("read in {guess}, a guess")), "{said}");
        assert!(said.contains("so101_follower"), "{said}");
    }
    // The same motion whatever the unit, when it is named.
    let radians = mean_error(here, "radians --unit rad");
    assert!(radians < 0.05, "{radians}");
    for words in ["degrees --unit deg", "percent --unit percent", "degrees", "radians"] {
        let error = mean_error(here, words);
        assert!((error - radians).abs() < 1e-3, "{words}: {error} {radians}");
    }
}

#[test]
fn columns_are_joints_by_name_or_refused() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 1);
    foreign(here, "radians");
    let path = here.join("radians/meta/info.json");
    let mut info: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let right = mean_error(here, "radians");
    // Two columns with their names exchanged are two other joints.
    for feature in ["observation.state", "action"] {
        let names = info["features"][feature]["names"].as_array_mut().unwrap();
        names.swap(0, 3);
    }
    std::fs::write(&path, info.to_string()).unwrap();
    let other = mean_error(here, "radians");
    assert!((other - right).abs() > 1e-6, "{other} {right}");
    // An arm of seven joints does not follow six numbers.
    let said = fails(here, "replay radians --scene multi_table_assembly --unit rad", 3);
    assert!(said.contains("6 numbers per frame") && said.contains("joints"), "{said}");
}
