//! A scene becomes a model: world text, robots attached, gains and cameras set, all names found.

use std::collections::BTreeMap;
use std::sync::Arc;

use citrange_core::restore::JointSlot;
use citrange_core::robot::HandModel;
use citrange_core::{Pose, RobotDescription, Scene};
use mujoco_rs::prelude::*;
use sha2::{Digest, Sha256};

use crate::attach::Attachment;
use crate::catalog::{SceneSource, existing, load_robot};
use crate::describe::guess_missing;
use crate::engine::{engine_messages, start_engine};
use crate::error::SimError;
use crate::home::home;
use crate::layout::{Layout, Root};
use crate::mjcf::world_text;
use crate::model_file::{ModelFile, Origin};
use crate::options;
use crate::servos::set_gains;

/// Room for the model's XML; scenes are far smaller.
const XML_BYTES: usize = 16 << 20;

/// A scene that is ready to be simulated: one immutable model, shared by all environments.
#[derive(Debug)]
pub struct CompiledScene {
    /// The scene as written.
    pub scene: Scene,
    /// Descriptions of the robots that have one, by robot name.
    pub robots: BTreeMap<String, RobotDescription>,
    /// sha256 of the compiled model: equal hashes simulate equally.
    pub model_hash: String,
    /// The whole model as MJCF, for other tools; the engine rounds numbers to six digits. Empty
    /// for a model that was kept in binary form.
    pub xml: String,
    pub(crate) model: Arc<MjModel>,
    pub(crate) layout: Layout,
    /// Joint positions at the start of an episode, before objects are placed.
    pub(crate) home_qpos: Vec<f64>,
    /// Commands that hold the start pose.
    pub(crate) home_ctrl: Vec<f64>,
    /// What was read of the robots' model files.
    pub(crate) foreign: BTreeMap<String, Origin>,
    /// Robots whose description could not be guessed, and why.
    pub(crate) undescribed: BTreeMap<String, String>,
}

/// What is other than the scene has it, of one robot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change<'a> {
    /// The robot.
    pub(crate) robot: &'a str,
    /// Only what hangs on this body of its model.
    pub(crate) root: Option<&'a str>,
    /// A hand that is put onto its model.
    pub(crate) hand: Option<&'a HandModel>,
    /// Its description.
    pub(crate) description: Option<&'a RobotDescription>,
}

impl CompiledScene {
    /// Builds the model of a scene.
    ///
    /// # Errors
    /// When the engine is missing, a file cannot be read, or the model does not compile.
    pub fn new(source: &SceneSource) -> Result<Self, SimError> {
        Self::changed(source, Change::default())
    }

    /// As [`CompiledScene::new`], with one robot other than the scene has it.
    pub(crate) fn changed(source: &SceneSource, change: Change<'_>) -> Result<Self, SimError> {
        let _span = tracing::info_span!("compile_scene", scene = source.scene.name).entered();
        start_engine()?;
        let scene = source.scene.clone();
        let fail = |reason: String| SimError::Scene { scene: scene.name.clone(), reason };
        let mut spec = MjSpec::from_xml_string(&world_text(&scene))
            .map_err(|e| fail(format!("the world does not parse: {e}")))?;
        let mut robots = BTreeMap::new();
        let mut foreign = BTreeMap::new();
        for (name, placement) in &scene.robots {
            let mut read = load_robot(&placement.model, &source.folder)?;
            let change = if name == change.robot { change } else { Change::default() };
            read.description = change.description.cloned().or(read.description);
            let gains = placement.servo.as_deref();
            let mut opened = ModelFile::open(name, &read, change.hand, gains).map_err(&fail)?;
            let description = read.description.as_ref();
            let lift = description.map_or(0.0, |d| d.base_height_m);
            let [x, y, z] = placement.pos_m;
            let pose = Pose::from_yaw([x, y, z + lift], placement.yaw_deg.to_radians());
            let attachment = Attachment {
                name,
                pose: &pose,
                free: false,
                friction_factor: placement.friction_factor,
                root: change.root.or(description.and_then(|d| d.root.as_deref())),
            };
            opened.notes.extend(options::take(&mut spec, &opened, name, &scene.physics));
            attachment.attach(&mut spec, &mut opened.spec).map_err(&fail)?;
            // Which options clash is named above; the engine only says that some do.
            let heard = engine_messages().into_iter().filter(|m| !m.contains("Attach conflict"));
            opened.notes.extend(heard);
            set_gains(&mut spec, name, placement, description).map_err(&fail)?;
            for note in &opened.notes {
                tracing::warn!(robot = name, "{note}");
            }
            if let Some(description) = read.description {
                robots.insert(name.clone(), description);
            }
            foreign.insert(name.clone(), opened.origin());
        }
        for (name, object) in &scene.objects {
            if let Some(path) = &object.model {
                let file = existing(source.folder.join(path))?;
                let mut opened = ModelFile::open_file(name, &file, &[]).map_err(&fail)?;
                // A fixed root cannot move later, so it is built where it stands.
                let pose = object.fixed_pose().unwrap_or(Pose::IDENTITY);
                let free = !object.fixed_root;
                let attachment =
                    Attachment { name, pose: &pose, free, friction_factor: None, root: None };
                attachment.attach(&mut spec, &mut opened.spec).map_err(&fail)?;
            }
        }
        add_cameras(&mut spec, &scene).map_err(&fail)?;
        let model = spec.compile().map_err(|e| fail(format!("does not compile: {e}")))?;
        // What it says of meshes and textures is no matter of the physics.
        for message in engine_messages() {
            tracing::warn!(scene = scene.name, "{message}");
        }
        let xml = spec.save_xml_string(XML_BYTES).unwrap_or_default();
        let guesses = guess_missing(&model, &scene, &mut robots, &foreign)?;
        let mut compiled = Self::of_model(model, scene, robots, xml)?;
        (compiled.foreign, compiled.undescribed) = (foreign, guesses);
        Ok(compiled)
    }

    /// A scene whose model was kept as MuJoCo's binary file ([`CompiledScene::to_mjb`]): exactly
    /// the model that was, whatever became of the scene's and robots' files since.
    ///
    /// # Errors
    /// When the engine is missing or the bytes are not the model with this hash.
    pub fn from_mjb(
        scene: Scene,
        robots: BTreeMap<String, RobotDescription>,
        mjb: &[u8],
        model_hash: &str,
    ) -> Result<Self, SimError> {
        let _span = tracing::info_span!("load_kept_model", scene = scene.name).entered();
        start_engine()?;
        let fail = |reason: String| SimError::Scene { scene: scene.name.clone(), reason };
        // The engine trusts these bytes, so they must be the ones that were written.
        if hex(&Sha256::digest(mjb)) != model_hash {
            return Err(fail("the kept model is damaged: its checksum does not match".into()));
        }
        let model = MjModel::from_buffer(mjb)
            .map_err(|e| fail(format!("the kept model does not load in this engine: {e}")))?;
        Self::of_model(model, scene, robots, String::new())
    }

    pub(crate) fn of_model(
        model: MjModel,
        scene: Scene,
        robots: BTreeMap<String, RobotDescription>,
        xml: String,
    ) -> Result<Self, SimError> {
        let fail = |reason: String| SimError::Scene { scene: scene.name.clone(), reason };
        let layout = Layout::new(&model, &scene, &robots)?;
        let (home_qpos, home_ctrl) = home(&model, &layout, &scene, &robots).map_err(fail)?;
        Ok(Self {
            model_hash: hash(&model)?,
            model: Arc::new(model),
            scene,
            robots,
            xml,
            layout,
            home_qpos,
            home_ctrl,
            foreign: BTreeMap::new(),
            undescribed: BTreeMap::new(),
        })
    }

    /// What was done differently when the robots' files were read, for people: by robot.
    pub fn notes(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.foreign.iter();
        all.flat_map(|(name, origin)| {
            origin.notes.iter().map(|note| (name.as_str(), note.as_str()))
        })
    }

    /// Why a robot has no description, for people.
    pub(crate) fn why_not_described(&self, robot: &str) -> String {
        let reason = self.undescribed.get(robot).map_or_else(
            || "its model has no robot.yaml that names arm joints and sites".to_owned(),
            Clone::clone,
        );
        let model = self.scene.robots.get(robot).map_or("model.xml", |placed| &placed.model);
        format!(
            "{reason}; `citrange robot describe {model} -o robot.yaml` writes what it finds, to mend"
        )
    }

    /// Names of the joints that a rig of a robot commands, in the order of its commands.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn driven_joints(&self, robot: &str) -> Result<Vec<&str>, SimError> {
        Ok(self.layout.robot(robot)?.driven_joints().map(|j| j.name.as_str()).collect())
    }

    /// Names of the robots.
    pub fn robot_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.layout.robots.keys().map(String::as_str)
    }

    /// Names of the objects.
    pub fn object_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.layout.objects.keys().map(String::as_str)
    }

    /// Names of the cameras.
    pub fn camera_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.layout.cameras.keys().map(String::as_str)
    }

    /// Joint names of a robot, in the order of its arrays.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn joint_names(&self, robot: &str) -> Result<Vec<&str>, SimError> {
        Ok(self.layout.robot(robot)?.joints.iter().map(|j| j.name.as_str()).collect())
    }

    /// Where the joints of a robot are among all joint positions.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn joint_places(&self, robot: &str) -> Result<Vec<usize>, SimError> {
        Ok(self.layout.robot(robot)?.joints.iter().map(|j| j.qpos).collect())
    }

    /// Objects that are free to move, and where their 7 positions begin among all joint positions.
    #[must_use]
    pub fn free_objects(&self) -> BTreeMap<String, usize> {
        let objects = self.layout.objects.iter();
        objects
            .filter_map(|(name, object)| match object.root {
                Root::Free { qpos, .. } => Some((name.clone(), qpos)),
                Root::Fixed => None,
            })
            .collect()
    }

    /// All joints of robots and objects, in the order of the model.
    #[must_use]
    pub fn joint_slots(&self) -> Vec<JointSlot> {
        let mut slots = Vec::new();
        for (tree, of) in self.layout.objects.iter().chain(&self.layout.robots) {
            if let Root::Free { qpos, dof } = of.root {
                let name = tree.clone();
                slots.push(JointSlot { name, is_free: true, qpos, dof, range: None });
            }
            slots.extend(of.joints.iter().map(|joint| JointSlot {
                name: format!("{tree}/{}", joint.name),
                is_free: false,
                qpos: joint.qpos,
                dof: joint.dof,
                range: joint.range,
            }));
        }
        slots.sort_by_key(|slot| slot.qpos);
        slots
    }

    /// The model as MuJoCo's binary file, exact to the bit: its sha256 is the model hash.
    ///
    /// # Errors
    /// When the engine cannot write it.
    pub fn to_mjb(&self) -> Result<Vec<u8>, SimError> {
        mjb(&self.model)
    }

    /// Sizes of the model, for people: bodies, joints, actuators, geoms.
    #[must_use]
    pub fn sizes(&self) -> BTreeMap<&'static str, usize> {
        let m = self.model.ffi();
        BTreeMap::from([
            ("bodies", m.nbody as usize),
            ("joints", m.njnt as usize),
            ("degrees_of_freedom", m.nv as usize),
            ("actuators", m.nu as usize),
            ("geoms", m.ngeom as usize),
            ("cameras", m.ncam as usize),
        ])
    }

    /// The engine's own model, for code that needs what State does not offer.
    #[must_use]
    pub fn model(&self) -> &Arc<MjModel> {
        &self.model
    }
}

/// The model as the engine's binary file.
fn mjb(model: &MjModel) -> Result<Vec<u8>, SimError> {
    let mut bytes = vec![0; model.size()];
    model.save_to_buffer(&mut bytes).map_err(|e| SimError::Mujoco(e.to_string()))?;
    Ok(bytes)
}

fn hash(model: &MjModel) -> Result<String, SimError> {
    Ok(hex(&Sha256::digest(mjb(model)?)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn add_cameras(spec: &mut MjSpec, scene: &Scene) -> Result<(), String> {
    for (name, camera) in &scene.cameras {
        let pose = camera.pose()?;
        let mount = camera.mount.as_deref().unwrap_or("world");
        let names: Vec<String> = spec.body_iter().map(|b| b.name().to_owned()).collect();
        let body = spec.body_mut(mount).ok_or_else(|| {
            let known = citrange_core::names::suggestion(mount, names.iter().map(String::as_str));
            format!("cameras.{name}.mount: unknown body \"{mount}\", {known}")
        })?;
        let added = body.add_camera();
        added.set_name(name).map_err(|e| format!("cameras.{name}: {e}"))?;
        added
            .with_pos(pose.pos_m)
            .with_quat(pose.quat_wxyz)
            .with_fovy(camera.fovy_deg)
            .with_resolution([camera.width_px as i32, camera.height_px as i32]);
    }
    Ok(())
}
