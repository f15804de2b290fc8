//! The shape of the workspace: a crate depends only on crates of lower layers.

use std::process::Command;

/// Layer of every crate, as in ARCHITECTURE.md. A new crate must be put here.
const LAYERS: [(&str, u32); 32] = [
    ("citrange-core", 0),
    ("citrange-lanes", 0),
    ("citrange-cloud", 1),
    ("citrange-hdf5", 1),
    ("citrange-mujoco", 1),
    ("citrange-render", 1),
    ("citrange-robot", 1),
    ("citrange-ros", 1),
    ("citrange-video", 1),
    ("citrange-control", 2),
    ("citrange-lerobot", 2),
    ("citrange-space", 2),
    ("citrange-calibrate", 3),
    ("citrange-link", 3),
    ("citrange-plan", 3),
    ("citrange-sim", 3),
    ("citrange-tape", 3),
    ("citrange-teleop", 3),
    ("citrange-cell", 4),
    ("citrange-emulate", 4),
    ("citrange-policy", 4),
    ("citrange-task", 4),
    ("citrange-env", 5),
    ("citrange-episodes", 5),
    ("citrange-report", 6),
    ("citrange-studio", 6),
    ("citrange-twin", 7),
    ("citrange-settings", 8),
    ("citrange-bench", 9),
    ("citrange-cli", 9),
    ("citrange-examples", 9),
    ("citrange-py", 10),
];

fn layer(name: &str) -> Option<u32> {
    LAYERS.iter().find(|(known, _)| *known == name).map(|(_, layer)| *layer)
}

#[test]
fn crates_depend_only_on_lower_layers() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert_eq!(packages.len(), LAYERS.len(), "every crate needs a layer in this test");
    let mut checked = 0;
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let own = layer(name).unwrap_or_else(|| panic!("{name} has no layer: add it here"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let is_dev = dependency["kind"].as_str() == Some("dev");
            let other = dependency["name"].as_str().unwrap();
            if let Some(theirs) = layer(other).filter(|_| !is_dev) {
                assert!(theirs < own, "{name} (layer {own}) depends on {other} (layer {theirs})");
                checked += 1;
            }
        }
    }
    assert!(checked >= 5, "only {checked} dependencies were seen");
}
