//! Built-in scenes and robots, embedded in the binary; and loading others from files.

use std::fs;
use std::path::{Path, PathBuf};

use citrange_core::origin::{Layer, Traced};
use citrange_core::yaml::from_yaml;
use citrange_core::{RobotDescription, Scene};

use crate::error::SimError;

/// Name and text of every built-in scene.
const SCENES: [(&str, &str); 5] = [
    ("block_box", include_str!("../../../scenes/block_box.yaml")),
    ("multi_table_assembly", include_str!("../../../scenes/multi_table_assembly.yaml")),
    ("orange_plate", include_str!("../../../scenes/orange_plate.yaml")),
    ("reach", include_str!("../../../scenes/reach.yaml")),
    ("ur5_cell", include_str!("../../../scenes/ur5_cell.yaml")),
];

/// Name, description and model of every built-in robot.
const ROBOTS: [(&str, &str, &str); 4] = [
    (
        "panda",
        include_str!("../../../models/panda/robot.yaml"),
        include_str!("../../../models/panda/panda.xml"),
    ),
    (
        "so101",
        include_str!("../../../models/so101/robot.yaml"),
        include_str!("../../../models/so101/so101.xml"),
    ),
    (
        "ur5",
        include_str!("../../../models/ur5/robot.yaml"),
        include_str!("../../../models/ur5/ur5.xml"),
    ),
    (
        "ur5e",
        include_str!("../../../models/ur5e/robot.yaml"),
        include_str!("../../../models/ur5e/ur5e.xml"),
    ),
];

/// Names of the built-in scenes.
pub fn scene_names() -> impl Iterator<Item = &'static str> + Clone {
    SCENES.iter().map(|(name, _)| *name)
}

/// Names of the built-in robots.
pub fn robot_names() -> impl Iterator<Item = &'static str> + Clone {
    ROBOTS.iter().map(|(name, ..)| *name)
}

/// A scene and the folder that its relative paths start from.
#[derive(Clone, Debug)]
pub struct SceneSource {
    /// The scene.
    pub scene: Scene,
    /// Folder of the scene file; the current folder for built-in scenes.
    pub folder: PathBuf,
}

/// Loads a scene by name, or from a YAML file when `name_or_path` ends in `.yaml` or `.yml`.
///
/// # Errors
/// When there is no such scene, or it is not as it should be.
pub fn load_scene(name_or_path: &str) -> Result<SceneSource, SimError> {
    let path = Path::new(name_or_path);
    let is_file = path.extension().is_some_and(|ext| ext == "yaml" || ext == "yml");
    let (scene, folder) = if is_file {
        let text = read(path)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        (from_yaml::<Scene>(&text, name_or_path)?, folder)
    } else {
        let (name, text) = SCENES
            .iter()
            .find(|(name, _)| *name == name_or_path)
            .ok_or_else(|| SimError::unknown("scene", name_or_path, scene_names()))?;
        (from_yaml::<Scene>(text, &format!("{name}.yaml"))?, PathBuf::new())
    };
    scene.check().map_err(|reason| SimError::Scene { scene: name_or_path.to_owned(), reason })?;
    Ok(SceneSource { scene, folder })
}

/// A scene with who said each value of it: [`load_scene`], traced.
///
/// # Errors
/// As [`load_scene`].
pub fn traced_scene(name_or_path: &str) -> Result<Traced, SimError> {
    let source = load_scene(name_or_path)?;
    let built_in = SCENES.iter().find(|(name, _)| *name == name_or_path);
    let (file, text) = match built_in {
        Some((name, text)) => (format!("scenes/{name}.yaml"), (*text).to_owned()),
        None => (name_or_path.to_owned(), read(Path::new(name_or_path))?),
    };
    Ok(Traced::new(&source.scene, &[Layer { profile: None, file, text }])?)
}

/// The descriptions of a scene's robots by their names in the scene, with who said each value.
/// Robots that are a model without a description are left out.
///
/// # Errors
/// As [`load_scene`], or when a description cannot be read.
pub fn traced_robots(scene: &SceneSource) -> Result<Traced, SimError> {
    let mut robots = Traced::empty();
    for (name, robot) in &scene.scene.robots {
        let source = load_robot(&robot.model, &scene.folder)?;
        let Some(description) = source.description else { continue };
        let built_in = ROBOTS.iter().find(|(known, ..)| *known == robot.model);
        let (file, text) = match built_in {
            Some((known, text, _)) => (format!("models/{known}/robot.yaml"), (*text).to_owned()),
            None => {
                let path = scene.folder.join(&robot.model);
                (path.display().to_string(), read(&path)?)
            }
        };
        robots.put(name, Traced::new(&description, &[Layer { profile: None, file, text }])?);
    }
    Ok(robots)
}

/// Where a robot's or object's model comes from.
#[derive(Clone, Debug)]
pub(crate) enum ModelSource {
    /// A built-in MJCF text.
    Text(&'static str),
    /// An MJCF or URDF file.
    File(PathBuf),
}

/// A robot's description (if it has one) and its model.
#[derive(Clone, Debug)]
pub(crate) struct RobotSource {
    pub(crate) description: Option<RobotDescription>,
    pub(crate) model: ModelSource,
    /// Folder that relative paths of the description start from.
    pub(crate) folder: Option<PathBuf>,
}

/// A built-in robot's description.
///
/// # Errors
/// When there is no such robot.
pub fn robot_description(name: &str) -> Result<RobotDescription, SimError> {
    let (_, yaml, _) = ROBOTS
        .iter()
        .find(|(known, ..)| *known == name)
        .ok_or_else(|| SimError::unknown("robot", name, robot_names()))?;
    checked(from_yaml(yaml, &format!("{name}/robot.yaml"))?)
}

/// A robot by name, by its robot.yaml, or by an MJCF or URDF file.
pub(crate) fn load_robot(name_or_path: &str, folder: &Path) -> Result<RobotSource, SimError> {
    let extension = Path::new(name_or_path).extension().and_then(|e| e.to_str());
    match extension {
        Some("xml" | "urdf" | "mjcf") => Ok(RobotSource {
            description: None,
            model: ModelSource::File(existing(folder.join(name_or_path))?),
            folder: Some(folder.to_owned()),
        }),
        Some("yaml" | "yml") => {
            let path = folder.join(name_or_path);
            let description: RobotDescription =
                checked(from_yaml(&read(&path)?, &path.display().to_string())?)?;
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            Ok(RobotSource {
                model: ModelSource::File(existing(folder.join(&description.model))?),
                description: Some(description),
                folder: Some(folder),
            })
        }
        _ => {
            let description = robot_description(name_or_path)?;
            let text = ROBOTS.iter().find(|(known, ..)| *known == name_or_path);
            let (.., xml) =
                text.ok_or_else(|| SimError::unknown("robot", name_or_path, robot_names()))?;
            let model = ModelSource::Text(xml);
            Ok(RobotSource { description: Some(description), model, folder: None })
        }
    }
}

fn checked(description: RobotDescription) -> Result<RobotDescription, SimError> {
    let name = description.name.clone();
    description
        .check()
        .map_err(|reason| SimError::Scene { scene: format!("robot {name}"), reason })?;
    Ok(description)
}

pub(crate) fn existing(path: PathBuf) -> Result<PathBuf, SimError> {
    if path.is_file() {
        return Ok(path);
    }
    Err(SimError::File { path, reason: "no such file".into() })
}

fn read(path: &Path) -> Result<String, SimError> {
    fs::read_to_string(path)
        .map_err(|e| SimError::File { path: path.to_path_buf(), reason: e.to_string() })
}
