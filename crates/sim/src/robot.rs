//! A robot of a scene with all that is known of it, for use without an engine.

use std::collections::BTreeMap;
use std::path::Path;

use citrange_core::scene::{Appearance, Physics, RobotPlacement};
use citrange_core::{Rates, RobotDescription, Scene};
use citrange_robot::{Robot, RobotDetails, RobotSettings};

use mujoco_rs::prelude::*;

use crate::catalog::{SceneSource, robot_description};
use crate::chain::Bodies;
use crate::compile::{Change, CompiledScene};
use crate::describe::describe;
use crate::error::SimError;

impl CompiledScene {
    /// A robot of the scene: its chain, its shapes and the spheres that cover them, its inertias.
    /// Written down ([`Robot::to_json`]) it needs no engine any more.
    ///
    /// # Errors
    /// When there is no such robot, or its description or its model do not say enough.
    pub fn robot(&self, robot: &str) -> Result<Robot, SimError> {
        let allowed_pairs = self.allowed_pairs(robot)?;
        let mut settings = RobotSettings { allowed_pairs, ..RobotSettings::default() };
        let (chain, shapes) = (self.chain(robot)?, self.link_shapes(robot)?);
        let mut made = Robot::new(&chain, &shapes, &settings)?;
        let coarse = self.coarse_pairs(robot, &made)?;
        if !coarse.is_empty() {
            settings.allowed_pairs.extend(coarse);
            made = Robot::new(&chain, &shapes, &settings)?;
        }
        let details = RobotDetails {
            base_height_m: self.robots.get(robot).map_or(0.0, |d| d.base_height_m),
            seen: self.seen_shapes(robot)?,
            inertias: self.link_inertias(robot)?,
            ..RobotDetails::default()
        };
        Ok(made.with_details(details)?)
    }
}

impl CompiledScene {
    /// Pairs of links that only touch at home because boxes stand for their meshes: the engine,
    /// which knows the meshes, has them apart. Nobody looks at those pairs.
    fn coarse_pairs(&self, robot: &str, made: &Robot) -> Result<Vec<[String; 2]>, SimError> {
        let tree = self.layout.robot(robot)?;
        let model = self.model.as_ref();
        let has_meshes = (0..model.ffi().ngeom as usize).any(|geom| {
            model.geom_type()[geom] == MjtGeomBase::mjGEOM_MESH
                && tree.bodies.contains(&(model.geom_bodyid()[geom] as usize))
        });
        if !has_meshes {
            return Ok(Vec::new());
        }
        let home: Vec<f64> = tree.driven_joints().map(|j| self.home_qpos[j.qpos]).collect();
        let touching = made.touching_pairs(&home)?;
        let mut data = MjData::new(model);
        data.qpos_mut().copy_from_slice(&self.home_qpos);
        data.step1();
        let bodies = Bodies::new(self, tree);
        let link = |geom: i32| {
            let body = model.geom_bodyid()[usize::try_from(geom).ok()?] as usize;
            let is_own = tree.bodies.contains(&body);
            is_own.then(|| bodies.place(body).0.map_or(0, |joint| joint as u16 + 1))
        };
        let met: Vec<[Option<u16>; 2]> = data
            .contact()
            .iter()
            .filter(|contact| contact.dist < 0.0)
            .map(|contact| contact.geom.map(link))
            .collect();
        let apart = touching.into_iter().filter(|[a, b]| {
            let [a, b] = [Some(*a), Some(*b)];
            !met.contains(&[a, b]) && !met.contains(&[b, a])
        });
        let name = |link: u16| made.links().nth(usize::from(link)).unwrap_or_default().to_owned();
        let pairs: Vec<[String; 2]> = apart.map(|pair| pair.map(name)).collect();
        for [a, b] in &pairs {
            tracing::info!(
                robot,
                "boxes around the meshes of {a} and {b} touch at home: not checked"
            );
        }
        Ok(pairs)
    }
}

/// A robot alone, standing at the world's origin, compiled from its model: a name, or the path of
/// a robot.yaml that starts in `folder`. Robots of ours need no engine: see [`Robot::load`].
///
/// # Errors
/// As [`CompiledScene::new`] and [`CompiledScene::robot`].
pub fn compiled_robot(model: &str, folder: &Path) -> Result<Robot, SimError> {
    const NAME: &str = "robot";
    let scene = scene_of(NAME, model);
    CompiledScene::new(&SceneSource { scene, folder: folder.to_owned() })?.robot(NAME)
}

/// A robot alone, standing at the world's origin, with its description: a robot of ours by name, or
/// a robot.yaml, MJCF or URDF file that starts in `folder`. What a model alone does not say is
/// guessed, and servos are no matter.
///
/// # Errors
/// As [`compiled_robot`], and when nothing sensible can be guessed.
pub fn described_robot(model: &str, folder: &Path) -> Result<(RobotDescription, Robot), SimError> {
    const NAME: &str = "robot";
    if let Ok(robot) = Robot::load(model)
        && let Ok(description) = robot_description(model)
    {
        return Ok((description, robot));
    }
    let source = SceneSource { scene: scene_of(NAME, model), folder: folder.to_owned() };
    let compiled = CompiledScene::with_servos(&source)?;
    let robot = compiled.robot(NAME)?;
    let description = compiled.robots.get(NAME).cloned();
    let description = description.ok_or_else(|| SimError::Scene {
        scene: model.to_owned(),
        reason: "it has no description".to_owned(),
    })?;
    Ok((description, robot))
}

impl CompiledScene {
    /// As [`CompiledScene::new`]; the first robot gets position servos where its model has none
    /// and no description says which, such as a plain URDF: gains as `citrange robot describe`
    /// makes them.
    ///
    /// # Errors
    /// As [`CompiledScene::new`].
    pub fn with_servos(source: &SceneSource) -> Result<Self, SimError> {
        let plain = Self::new(source)?;
        let Some((name, placed)) = source.scene.robots.iter().next() else { return Ok(plain) };
        if plain.robots.contains_key(name) {
            return Ok(plain);
        }
        // What cannot be guessed is said when it is needed, with the reason.
        let Ok(guess) = describe(&placed.model, &source.folder, None, None) else {
            return Ok(plain);
        };
        let description = RobotDescription { base_height_m: 0.0, ..guess.description };
        let description = Some(&description);
        Self::changed(source, Change { robot: name, description, ..Change::default() })
    }
}

/// A scene of nothing but one robot.
pub(crate) fn scene_of(name: &str, model: &str) -> Scene {
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
    Scene {
        name: "cell".into(),
        title: "A robot alone".into(),
        task: String::new(),
        rates: Rates { physics_hz: 100, control_hz: 100, frame_hz: 100 },
        physics: Physics::default(),
        look: Appearance::default(),
        robots: [(name.to_owned(), placement)].into(),
        fixtures: BTreeMap::new(),
        objects: BTreeMap::new(),
        cameras: BTreeMap::new(),
        job: None,
        roots: BTreeMap::new(),
    }
}
