//! A scene becomes a model: world text, robots attached, gains and cameras set, all names found.

use std::collections::BTreeMap;
use std::sync::Arc;

use citrange_core::restore::JointSlot;
use citrange_core::robot::PerJoint;
use citrange_core::scene::RobotPlacement;
use citrange_core::{Pose, RobotDescription, Scene};
use mujoco_rs::prelude::*;
use sha2::{Digest, Sha256};

use crate::catalog::{ModelSource, SceneSource, existing, load_robot};
use crate::engine::start_engine;
use crate::error::SimError;
use crate::layout::{Layout, Root};
use crate::mjcf::world_text;

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
}

impl CompiledScene {
    /// Builds the model of a scene.
    ///
    /// # Errors
    /// When the engine is missing, a file cannot be read, or the model does not compile.
    pub fn new(source: &SceneSource) -> Result<Self, SimError> {
        let _span = tracing::info_span!("compile_scene", scene = source.scene.name).entered();
        start_engine()?;
        let scene = source.scene.clone();
        let fail = |reason: String| SimError::Scene { scene: scene.name.clone(), reason };
        let mut spec = MjSpec::from_xml_string(&world_text(&scene))
            .map_err(|e| fail(format!("the world does not parse: {e}")))?;
        let mut robots = BTreeMap::new();
        for (name, placement) in &scene.robots {
            let robot = load_robot(&placement.model, &source.folder)?;
            let lift = robot.description.as_ref().map_or(0.0, |d| d.base_height_m);
            let [x, y, z] = placement.pos_m;
            let pose = Pose::from_yaw([x, y, z + lift], placement.yaw_deg.to_radians());
            let friction = placement.friction_factor;
            attach(&mut spec, name, &robot.model, &pose, false, friction).map_err(&fail)?;
            set_gains(&mut spec, name, placement, robot.description.as_ref()).map_err(&fail)?;
            if let Some(description) = robot.description {
                robots.insert(name.clone(), description);
            }
        }
        for (name, object) in &scene.objects {
            if let Some(path) = &object.model {
                let file = existing(source.folder.join(path))?;
                // A fixed root cannot move later, so it is built where it stands.
                let pose = object.fixed_pose().unwrap_or(Pose::IDENTITY);
                let source = ModelSource::File(file);
                let free = !object.fixed_root;
                attach(&mut spec, name, &source, &pose, free, None).map_err(&fail)?;
            }
        }
        add_cameras(&mut spec, &scene).map_err(&fail)?;
        let model = spec.compile().map_err(|e| fail(format!("does not compile: {e}")))?;
        let xml = spec.save_xml_string(XML_BYTES).unwrap_or_default();
        Self::of_model(model, scene, robots, xml)
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
        let layout = Layout::new(&model, &scene)?;
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
        })
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

/// Puts a model into the world with its names prefixed `name/`, its friction times a factor.
fn attach(
    spec: &mut MjSpec,
    name: &str,
    source: &ModelSource,
    pose: &Pose,
    free: bool,
    friction_factor: Option<f64>,
) -> Result<(), String> {
    let mut child = match source {
        ModelSource::Text(text) => MjSpec::from_xml_string(text),
        ModelSource::File(path) => MjSpec::from_xml(path),
    }
    .map_err(|e| match source {
        ModelSource::Text(_) => format!("model of {name}: {e}"),
        ModelSource::File(path) => format!("model of {name} ({}): {e}", path.display()),
    })?;
    if free {
        let root = child.world_body_mut().body_iter_mut().next();
        let root = root.ok_or_else(|| format!("model of {name} has no body"))?;
        root.add_free_joint();
    }
    if let Some(factor) = friction_factor {
        for geom in child.world_body_mut().geom_iter_mut(true) {
            geom.friction_mut().iter_mut().for_each(|f| *f *= factor);
        }
    }
    let frame = spec.world_body_mut().add_frame();
    frame.with_pos(pose.pos_m).with_quat(pose.quat_wxyz);
    frame
        .attach_by_deep_copy(&mut child, &format!("{name}/"), "")
        .map_err(|e| format!("model of {name} cannot be attached: {e}"))
}

/// Replaces the servo gains by the set that the scene asks for.
fn set_gains(
    spec: &mut MjSpec,
    name: &str,
    placement: &RobotPlacement,
    description: Option<&RobotDescription>,
) -> Result<(), String> {
    let set = match (&placement.servo, description) {
        (None, _) => None,
        (Some(servo), Some(d)) => Some(d.servos.get(servo).ok_or_else(|| {
            let known =
                citrange_core::names::suggestion(servo, d.servos.keys().map(String::as_str));
            format!("robots.{name}.servo: unknown gain set \"{servo}\", {known}")
        })?),
        (Some(_), None) => {
            return Err(format!("robots.{name}.servo: {} has no gain sets", placement.model));
        }
    };
    let Some(description) = description else {
        return match &placement.kp {
            None => Ok(()),
            Some(_) => Err(format!(
                "robots.{name}.kp: {} has no robot.yaml that names its joints; set the gains in \
                 the model file",
                placement.model
            )),
        };
    };
    for (index, joint) in description.joints().enumerate() {
        let kp = placement.kp.as_ref().or(set.map(|s| &s.kp));
        let at = |value: Option<&PerJoint>| value.and_then(|v| v.at(index));
        let (kp, kv, force) = (at(kp), at(set.map(|s| &s.kv)), at(set.map(|s| &s.force)));
        if kp.is_none() && kv.is_none() && force.is_none() {
            continue;
        }
        let full = format!("{name}/{joint}");
        let actuator = spec
            .actuator_mut(&full)
            .ok_or_else(|| format!("robots.{name}: joint {joint} has no servo of its name"))?;
        if let Some(kp) = kp {
            actuator.gainprm_mut()[0] = kp;
            actuator.biasprm_mut()[1] = -kp;
        }
        if let Some(kv) = kv {
            actuator.biasprm_mut()[2] = -kv;
        }
        if let Some(force) = force {
            *actuator.forcerange_mut() = [-force, force];
        }
    }
    Ok(())
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

/// Start positions of all joints and the commands that hold them.
fn home(
    model: &MjModel,
    layout: &Layout,
    scene: &Scene,
    robots: &BTreeMap<String, RobotDescription>,
) -> Result<(Vec<f64>, Vec<f64>), String> {
    let mut qpos = model.qpos0().to_vec();
    let mut ctrl = vec![0.0; model.ffi().nu as usize];
    for (name, placement) in &scene.robots {
        let robot = &layout.robots[name];
        let mut pose: BTreeMap<&str, f64> = BTreeMap::new();
        if let Some(description) = robots.get(name) {
            let wanted = placement.pose.as_ref().unwrap_or(&description.home);
            let values =
                description.pose(wanted).map_err(|e| format!("robots.{name}.pose: {e}"))?;
            pose.extend(description.joints().zip(values.iter().copied()));
        } else if placement.pose.is_some() {
            return Err(format!(
                "robots.{name}.pose: {} has no named poses, use joints",
                placement.model
            ));
        }
        for (joint, value) in &placement.joints {
            if !robot.joints.iter().any(|j| j.name == *joint) {
                let known = robot.joints.iter().map(|j| j.name.as_str());
                let known = citrange_core::names::suggestion(joint, known);
                return Err(format!("robots.{name}.joints: unknown joint \"{joint}\", {known}"));
            }
            pose.insert(joint, *value);
        }
        for joint in &robot.joints {
            if let Some(value) = pose.get(joint.name.as_str()) {
                qpos[joint.qpos] = *value;
            }
            if let Some(index) = joint.position_servo {
                ctrl[index] = qpos[joint.qpos];
            }
        }
    }
    Ok((qpos, ctrl))
}
