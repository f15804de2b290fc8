//! Running the binary, and small datasets to run it on.
#![allow(dead_code)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

pub fn citrange(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
    command.current_dir(folder).args(args).env_remove("LD_LIBRARY_PATH").stdin(Stdio::null());
    command.env_remove("CITRANGE_MUJOCO");
    for (key, value) in env {
        command.env(key, value);
    }
    command.output().unwrap()
}

/// Runs and expects success; the words are separated by spaces.
pub fn ok(folder: &Path, words: &str) -> Output {
    let args: Vec<&str> = words.split(' ').collect();
    let output = citrange(folder, &args, &[]);
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    output
}

/// Runs and expects this exit code; answers what was said.
pub fn fails(folder: &Path, words: &str, code: i32) -> String {
    let args: Vec<&str> = words.split(' ').collect();
    let output = citrange(folder, &args, &[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{words}: {said}{}", stdout(&output));
    said
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

pub fn temp() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// `orange_plate` with small pictures, as a scene file.
pub fn small_scene(folder: &Path) {
    let yaml = include_str!("../../../../scenes/orange_plate.yaml");
    let yaml = yaml.replace("fovy_deg: 52.94", "fovy_deg: 52.94, width_px: 64, height_px: 48");
    let yaml = yaml.replace("fovy_deg: 60}", "fovy_deg: 60, width_px: 64, height_px: 48}");
    assert_eq!(yaml.matches("width_px: 64").count(), 2);
    std::fs::write(folder.join("small.yaml"), yaml).unwrap();
}

/// A dataset `set` of short episodes.
pub fn small_set(folder: &Path, episodes: u32) {
    small_scene(folder);
    ok(folder, &format!("collect small.yaml --episodes {episodes} --seconds 1 --out set"));
}
