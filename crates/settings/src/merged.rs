//! Files merged with profiles and defaults, and who said each value.

use std::path::Path;

use citrange_control::ControllerSettings;
use citrange_core::origin::{Origin, Traced};
use citrange_core::randomise::Randomise;
use citrange_core::yaml::lines;
use citrange_sim::catalog::{load_scene, traced_robots, traced_scene};
use citrange_space::Cell;
use citrange_task::AutopilotSettings;
use citrange_twin::TwinSettings;
use serde_json::json;

use crate::command_line::TracedLine;
use crate::error::SettingsError;

/// A scene by name or file.
///
/// # Errors
/// When it cannot be read.
pub fn scene(name_or_path: &str) -> Result<Traced, SettingsError> {
    Ok(traced_scene(name_or_path)?)
}

/// How an arm answers to keys: a profile's name or a file.
///
/// # Errors
/// When it cannot be read.
pub fn controller(profile: &str) -> Result<Traced, SettingsError> {
    Ok(ControllerSettings::traced(profile)?)
}

/// Numbers of the autopilot: of the profile or file that is named, else of the one that the scene's
/// job names. `retries` is said by an option.
///
/// # Errors
/// When scene or profile cannot be read.
pub fn autopilot(
    scene: Option<&str>,
    profile: Option<&str>,
    retries: Option<u32>,
) -> Result<Traced, SettingsError> {
    let job = scene.map(load_scene).transpose()?.and_then(|source| source.scene.job);
    let of_scene = job.and_then(|job| job.profile);
    let profile = profile.or(of_scene.as_deref()).unwrap_or("default");
    let mut traced = AutopilotSettings::traced(profile)?;
    if let Some(retries) = retries {
        traced.set("retries", json!(retries), Origin::Option("--retries".to_owned()));
    }
    Ok(traced)
}

/// What differs from episode to episode: a file, or the built-in ranges by the name `default`.
///
/// # Errors
/// When it cannot be read.
pub fn ranges(name_or_path: &str) -> Result<Traced, SettingsError> {
    if name_or_path == "default" {
        return Ok(Randomise::traced(None)?);
    }
    let text = std::fs::read_to_string(name_or_path).map_err(SettingsError::file(name_or_path))?;
    Ok(Randomise::traced(Some((name_or_path, &text)))?)
}

/// A cell with the poses that calibration wrote beside it; without a file, all defaults.
///
/// # Errors
/// When a file cannot be read.
pub fn cell(path: Option<&Path>) -> Result<Traced, SettingsError> {
    let mut traced = Cell::traced(path)?;
    let Some(path) = path else { return Ok(traced) };
    let folder = path.parent().unwrap_or(Path::new("."));
    for (name, camera) in Cell::load(path)?.cameras {
        let Some(file) = camera.pose_file.map(|file| folder.join(file)) else { continue };
        let text = std::fs::read_to_string(&file).map_err(SettingsError::file(&file))?;
        let file = file.display().to_string();
        let lines = lines(&text, &file)?;
        for key in ["xyz_m", "rpy_deg"] {
            let line = lines.get(&format!("/{key}")).copied().unwrap_or(1);
            let origin = Origin::File { file: file.clone(), line };
            traced.set_origin(&["cameras", &name, key], origin);
        }
    }
    Ok(traced)
}

/// Adds what stands in the files and profiles that the options of a verb name, each kind of file by
/// the option that names it everywhere. `usual_scene` is the verb's when none is named.
///
/// # Errors
/// When a file cannot be read.
pub fn add_files(line: &mut TracedLine, usual_scene: Option<&str>) -> Result<(), SettingsError> {
    // What goes on from an episode has that one's scene.
    let usual = usual_scene.filter(|_| line.text("from").is_none());
    let scene_name = line.text("scene").or(usual.map(str::to_owned));
    if let Some(profile) = line.text("profile") {
        line.traced.put("controller", controller(&profile)?);
    }
    if line.has("autopilot") || usual_scene.is_some() {
        let (profile, retries) = (line.text("autopilot"), line.text("retries"));
        let retries = retries.and_then(|retries| retries.parse().ok());
        let pilot = autopilot(scene_name.as_deref(), profile.as_deref(), retries)?;
        line.traced.put("pilot", pilot);
    }
    if let Some(name) = line.text("randomise") {
        line.traced.put("ranges", ranges(&name)?);
    }
    if line.has("config") && line.has("width") {
        line.traced.put("cell", cell(line.text("config").as_deref().map(Path::new))?);
    }
    if line.verb == "twin" {
        let path = line.text("config");
        line.traced.put("twin", TwinSettings::traced(path.as_deref().map(Path::new))?);
    }
    if let Some(name) = scene_name {
        // Where the scene is all that there is to show it takes the place of its name.
        let key =
            if ["show", "render"].contains(&line.verb.as_str()) { "scene" } else { "scene_file" };
        line.traced.put(key, scene(&name)?);
        line.traced.put("robot_files", traced_robots(&load_scene(&name)?)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pose_of_calibration_is_said_by_its_own_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        let text = "cameras:\n  a/b: {pose_file: pose.yaml, xyz_m: [9, 9, 9]}\n  c: {}\n";
        write("cell.yaml", text).unwrap();
        let pose = "format: 1\ntool: by hand\nrpy_deg: [0, 90, 0]\nxyz_m: [1, 2, 3]\n";
        write("pose.yaml", pose).unwrap();
        let traced = cell(Some(&folder.path().join("cell.yaml"))).unwrap();
        let said = |pointer: &str| traced.origin(pointer).to_string();
        assert_eq!(traced.json()["settings"]["cameras"]["a/b"]["xyz_m"], json!([1.0, 2.0, 3.0]));
        assert!(said("/cameras/a~1b/xyz_m").ends_with("pose.yaml:4"));
        assert!(said("/cameras/a~1b/rpy_deg").ends_with("pose.yaml:3"));
        assert!(said("/cameras/a~1b/pose_file").contains("cell.yaml"));
        assert_eq!(said("/cameras/c/xyz_m"), "default");
    }
}
