//! What is in a scene, as numbers and names.

use std::collections::BTreeMap;

use citrange_core::Rates;
use citrange_core::scene::Camera;
use serde::Serialize;

use crate::compile::CompiledScene;
use crate::error::SimError;

/// What is in a scene.
#[derive(Clone, Debug, Serialize)]
pub struct SceneFacts<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is, for people.
    pub title: &'a str,
    /// What is to be done in it.
    pub task: &'a str,
    /// How often physics, control and frames happen.
    pub rates: Rates,
    /// The robots.
    pub robots: Vec<RobotFacts<'a>>,
    /// Names of what can be moved.
    pub objects: Vec<&'a str>,
    /// The cameras.
    pub cameras: &'a BTreeMap<String, Camera>,
    /// Checksum of the compiled model.
    pub model_sha256: &'a str,
    /// How large the model is.
    pub sizes: BTreeMap<&'static str, usize>,
}

/// A robot of a scene.
#[derive(Clone, Debug, Serialize)]
pub struct RobotFacts<'a> {
    /// Its name in the scene.
    pub name: &'a str,
    /// Which robot it is.
    pub model: &'a str,
    /// Its joints, in the order of its arrays.
    pub joints: Vec<&'a str>,
}

impl CompiledScene {
    /// What is in it.
    ///
    /// # Errors
    /// When a robot of it is not known.
    pub fn facts(&self) -> Result<SceneFacts<'_>, SimError> {
        let written = &self.scene;
        let robots = self.robot_names().map(|name| {
            let model = written.robots.get(name).map_or("", |placed| placed.model.as_str());
            Ok(RobotFacts { name, model, joints: self.joint_names(name)? })
        });
        Ok(SceneFacts {
            name: &written.name,
            title: &written.title,
            task: &written.task,
            rates: written.rates,
            robots: robots.collect::<Result<_, SimError>>()?,
            objects: self.object_names().collect(),
            cameras: &written.cameras,
            model_sha256: &self.model_hash,
            sizes: self.sizes(),
        })
    }
}

impl SceneFacts<'_> {
    /// In words.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let Rates { physics_hz, control_hz, frame_hz } = self.rates;
        let mut lines = vec![
            format!("{}: {}", self.name, self.title),
            format!("  task      {}", self.task),
            format!(
                "  rates     physics {physics_hz} Hz, control {control_hz} Hz, frames {frame_hz} Hz"
            ),
        ];
        for robot in &self.robots {
            let joints = robot.joints.join(" ");
            lines.push(format!("  robot     {} ({}): {joints}", robot.name, robot.model));
        }
        lines.push(format!("  objects   {}", self.objects.join(" ")));
        for (name, camera) in self.cameras {
            let mount = camera.mount.as_deref().unwrap_or("world");
            let (width, height) = (camera.width_px, camera.height_px);
            lines.push(format!("  camera    {name} {width}x{height} on {mount}"));
        }
        let sizes: Vec<String> = self.sizes.iter().map(|(k, v)| format!("{v} {k}")).collect();
        lines.push(format!("  model     {}", sizes.join(", ").replace('_', " ")));
        lines.push(format!("  sha256    {}", self.model_sha256));
        lines
    }
}
