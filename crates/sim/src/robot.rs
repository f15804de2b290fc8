//! A robot of a scene with all that is known of it, for use without an engine.

use std::collections::BTreeMap;
use std::path::Path;

use citrange_core::scene::{Appearance, Physics, RobotPlacement};
use citrange_core::{Rates, Scene};
use citrange_robot::{Robot, RobotDetails, RobotSettings};

use crate::catalog::SceneSource;
use crate::compile::CompiledScene;
use crate::error::SimError;

impl CompiledScene {
    /// A robot of the scene: its chain, its shapes and the spheres that cover them, its inertias.
    /// Written down ([`Robot::to_json`]) it needs no engine any more.
    ///
    /// # Errors
    /// When there is no such robot, or its description or its model do not say enough.
    pub fn robot(&self, robot: &str) -> Result<Robot, SimError> {
        let allowed_pairs = self.allowed_pairs(robot)?;
        let settings = RobotSettings { allowed_pairs, ..RobotSettings::default() };
        let made = Robot::new(&self.chain(robot)?, &self.link_shapes(robot)?, &settings)?;
        let details = RobotDetails {
            base_height_m: self.robots.get(robot).map_or(0.0, |d| d.base_height_m),
            seen: self.seen_shapes(robot)?,
            inertias: self.link_inertias(robot)?,
            ..RobotDetails::default()
        };
        Ok(made.with_details(details)?)
    }
}

/// A robot alone, standing at the world's origin, compiled from its model: a name, or the path of
/// a robot.yaml that starts in `folder`. Robots of ours need no engine: see [`Robot::load`].
///
/// # Errors
/// As [`CompiledScene::new`] and [`CompiledScene::robot`].
pub fn compiled_robot(model: &str, folder: &Path) -> Result<Robot, SimError> {
    const NAME: &str = "robot";
    let placement = RobotPlacement {
        model: model.to_owned(),
        pos_m: [0.0; 3],
        yaw_deg: 0.0,
        pose: None,
        joints: BTreeMap::new(),
        servo: None,
        kp: None,
        friction_factor: None,
        floor_z_m: None,
    };
    let scene = Scene {
        name: "cell".into(),
        title: "A robot alone".into(),
        task: String::new(),
        rates: Rates { physics_hz: 100, control_hz: 100, frame_hz: 100 },
        physics: Physics::default(),
        look: Appearance::default(),
        robots: [(NAME.to_owned(), placement)].into(),
        fixtures: BTreeMap::new(),
        objects: BTreeMap::new(),
        cameras: BTreeMap::new(),
        job: None,
        roots: BTreeMap::new(),
    };
    CompiledScene::new(&SceneSource { scene, folder: folder.to_owned() })?.robot(NAME)
}
