//! Schemas are what is kept, fit our own files, and say the same as the readers.

use std::path::{Path, PathBuf};

use citrange_cloud::CameraPose;
use citrange_core::randomise::Randomise;
use citrange_core::yaml::from_yaml;
use citrange_core::{RobotDescription, Scene};
use citrange_space::Cell;
use serde_json::Value;

use crate::common::{citrange, json, temp};
use crate::sample::{Choice, closed_mappings, whole, with_one_more};
use crate::validator::problems;

const KINDS: [&str; 12] = [
    "scene",
    "robot",
    "control",
    "task",
    "randomise",
    "cell",
    "camera-pose",
    "drive",
    "world",
    "rig",
    "twin",
    "goals",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn generated(kind: &str) -> Value {
    json(&citrange(temp().path(), &["config", "schema", kind], &[]))
}

#[test]
fn kept_schemas_are_what_is_generated() {
    for kind in KINDS {
        let path = root().join("schemas").join(format!("{kind}.json"));
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        let made = citrange(temp().path(), &["config", "schema", kind], &[]);
        let made = String::from_utf8(made.stdout).unwrap();
        assert!(
            kept == made,
            "schemas/{kind}.json is old: citrange config schema {kind} > schemas/{kind}.json"
        );
        assert_eq!(generated(kind)["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
    assert_eq!(std::fs::read_dir(root().join("schemas")).unwrap().count(), KINDS.len());
}

/// YAML files of ours by kind.
fn ours(kind: &str) -> Vec<PathBuf> {
    let list = |folder: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let mut files = match kind {
        "scene" => list("scenes"),
        "robot" => list("models").iter().map(|folder| folder.join("robot.yaml")).collect(),
        "control" => list("crates/control/profiles"),
        "task" => list("crates/task/profiles"),
        "randomise" => list("crates/core/randomise"),
        _ => Vec::new(),
    };
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml") && file.exists());
    files
}

#[test]
fn every_yaml_of_ours_fits_its_schema() {
    let mut count = 0;
    for kind in KINDS {
        let schema = generated(kind);
        for file in ours(kind) {
            let text = std::fs::read_to_string(&file).unwrap();
            let value: Value = from_yaml(&text, &file.display().to_string()).unwrap();
            assert_eq!(problems(&schema, &value), Vec::<String>::new(), "{}", file.display());
            let wrong = with_one_more(&value, "");
            assert!(!problems(&schema, &wrong).is_empty(), "{}", file.display());
            count += 1;
        }
    }
    assert!(count >= 14, "{count} files were looked at");
    // What the documents show, and what calibration writes.
    let cell = "cameras: {left: {camera_xyz: [1, 0, 1], rpy: [0, 90, 0]}}\n\
                robot: {model: ur5}\npipeline: {voxel_size: 0.02, workspace: {lower_m: [0, 0, 0], \
                points_upper_bound: [1, 1, 1]}, clusters: {voxel_cluster_threshold: 2}}\n";
    assert_eq!(problems(&generated("cell"), &from_yaml(cell, "cell").unwrap()), [""; 0]);
    let folder = temp();
    let path = folder.path().join("pose.yaml");
    CameraPose { xyz_m: [1.0, 2.0, 3.0], rpy_deg: [0.0; 3] }.save(&path).unwrap();
    let pose = from_yaml(&std::fs::read_to_string(&path).unwrap(), "pose").unwrap();
    assert_eq!(problems(&generated("camera-pose"), &pose), [""; 0]);
}

/// What the reader of a kind says to a document.
fn read(kind: &str, document: &Value) -> Result<(), String> {
    let text = document.to_string();
    let said = |e: &dyn std::fmt::Display| e.to_string();
    match kind {
        "scene" => from_yaml::<Scene>(&text, kind).map(drop).map_err(|e| said(&e)),
        "robot" => from_yaml::<RobotDescription>(&text, kind).map(drop).map_err(|e| said(&e)),
        "randomise" => from_yaml::<Randomise>(&text, kind).map(drop).map_err(|e| said(&e)),
        "cell" => from_yaml::<Cell>(&text, kind).map(drop).map_err(|e| said(&e)),
        "world" => {
            from_yaml::<citrange_plan::WorldFile>(&text, kind).map(drop).map_err(|e| said(&e))
        }
        "rig" => from_yaml::<citrange_link::RigFile>(&text, kind).map(drop).map_err(|e| said(&e)),
        "twin" => {
            from_yaml::<citrange_twin::TwinSettings>(&text, kind).map(drop).map_err(|e| said(&e))
        }
        "goals" => {
            from_yaml::<citrange_twin::GoalFile>(&text, kind).map(drop).map_err(|e| said(&e))
        }
        "camera-pose" => CameraPose::from_yaml(&text, kind).map(drop).map_err(|e| said(&e)),
        "control" => {
            citrange_control::ControllerSettings::parse(&text, kind).map(drop).map_err(|e| said(&e))
        }
        "task" => {
            citrange_task::AutopilotSettings::parse(&text, kind).map(drop).map_err(|e| said(&e))
        }
        other => panic!("{other} is read from the command line"),
    }
}

#[test]
fn keys_of_a_schema_are_accepted_and_others_are_refused() {
    let mut mappings = 0;
    for kind in KINDS.into_iter().filter(|kind| *kind != "drive" && *kind != "task") {
        let schema = generated(kind);
        for form in 0..8 {
            for old_names in [false, true] {
                let document = whole(&schema, Choice { form, old_names });
                assert_eq!(problems(&schema, &document), [""; 0], "{kind}: {document:#}");
                if let Err(said) = read(kind, &document) {
                    panic!("{kind}, form {form}, old names {old_names}: {said}\n{document:#}");
                }
                for pointer in closed_mappings(&schema, &document) {
                    let wrong = with_one_more(&document, &pointer);
                    let said = read(kind, &wrong).expect_err(&format!("{kind}{pointer}"));
                    // A choice has one key: with two it is none.
                    let is_told = said.contains("not_a_key") || said.contains("expected a name");
                    assert!(is_told, "{kind}{pointer}: {said}");
                    mappings += 1;
                }
            }
        }
    }
    assert!(mappings > 300, "{mappings}");
}

/// Numbers of the autopilot depend on each other: each key with the value of the default profile.
#[test]
fn keys_of_the_autopilot_are_accepted_one_by_one() {
    let schema = generated("task");
    let text = include_str!("../../../task/profiles/default.yaml");
    let defaults: Value = from_yaml(text, "default").unwrap();
    let document = whole(&schema, Choice { form: 0, old_names: false });
    let named = document.as_object().unwrap().iter().filter(|(key, _)| *key != "profile");
    let mut count = 0;
    for (key, value) in named {
        let value = match value {
            Value::Object(inner) => {
                let inner = inner.keys().map(|k| (k.clone(), defaults[key][k].clone()));
                inner.collect()
            }
            _ => defaults[key].clone(),
        };
        let one = serde_json::json!({"profile": "default", key: value});
        assert_eq!(problems(&schema, &one), [""; 0]);
        read("task", &one).unwrap_or_else(|said| panic!("{key}: {said}"));
        for pointer in closed_mappings(&schema, &one) {
            let said = read("task", &with_one_more(&one, &pointer)).unwrap_err();
            assert!(said.contains("not_a_key"), "{key}{pointer}: {said}");
        }
        count += 1;
    }
    assert_eq!(count, defaults.as_object().unwrap().len());
}

#[test]
fn options_of_a_recording_are_keys_of_its_file() {
    let schema = generated("drive");
    let folder = temp();
    for (key, field) in schema["properties"].as_object().unwrap() {
        let value = match (&field["type"], &field["enum"]) {
            (Value::String(kind), _) if kind == "boolean" => "false",
            (_, Value::Array(values)) => values[0].as_str().unwrap(),
            _ => "1",
        };
        std::fs::write(folder.path().join("r.yaml"), format!("{key}: {value}\n")).unwrap();
        let done = citrange(folder.path(), &["config", "show", "drive", "--config", "r.yaml"], &[]);
        let said = crate::common::stderr(&done);
        assert!(!said.contains("unknown key"), "{key}: {said}");
    }
    std::fs::write(folder.path().join("r.yaml"), "not_a_key: 1\n").unwrap();
    let done = citrange(folder.path(), &["config", "show", "drive", "--config", "r.yaml"], &[]);
    assert_eq!(done.status.code(), Some(3));
}

/// Every old name that a reader accepts is in a schema.
#[test]
fn no_old_name_is_forgotten() {
    let all: Vec<String> = KINDS.iter().map(|kind| generated(kind).to_string()).collect();
    let mut count = 0;
    for folder in ["core/src", "control/src", "task/src", "cloud/src", "space/src"] {
        for file in rust_files(&root().join("crates").join(folder)) {
            let text = std::fs::read_to_string(&file).unwrap();
            // Files beside clouds are JSON that other programs write; tests have types of their own.
            if file.ends_with("sidecar.rs") || file.ends_with("origin.rs") {
                continue;
            }
            for part in text.split("alias = \"").skip(1) {
                let name = part.split('"').next().unwrap();
                assert!(
                    all.iter().any(|schema| schema.contains(&format!("\"{name}\":"))),
                    "{}: alias {name} needs #[schemars(extend(\"x-aliases\" = [\"{name}\"]))]",
                    file.display()
                );
                count += 1;
            }
        }
    }
    assert!(count >= 10, "{count}");
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { rust_files(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|e| e == "rs")).collect()
}
