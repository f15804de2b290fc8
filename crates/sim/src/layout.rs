//! Where everything stands in the engine's arrays: looked up once, by name.

use std::collections::BTreeMap;
use std::ops::Range;

use citrange_core::scene::Camera;
use citrange_core::{RobotDescription, Scene};
use mujoco_rs::mujoco_c::{mjtBias, mjtGain, mjtTrn};
use mujoco_rs::prelude::*;

use crate::drive::{Follow, PositionDrive, find_drives};
use crate::error::SimError;
use crate::row::TreeRow;

/// Indices of robots, objects and cameras.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) robots: BTreeMap<String, Tree>,
    pub(crate) objects: BTreeMap<String, Tree>,
    pub(crate) cameras: BTreeMap<String, CameraLayout>,
    /// Name of every body: `robot0/gripper`, `orange_1`, `world`.
    pub(crate) body_names: Vec<String>,
    /// Name of the robot, object or fixture that every body belongs to; `floor` for the world.
    pub(crate) owners: Vec<String>,
    /// Numbers in an environment's published row.
    pub(crate) row_len: usize,
}

/// A robot or object: a tree of bodies with one root.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) bodies: Range<usize>,
    /// Names without the prefix.
    pub(crate) body_names: Vec<String>,
    pub(crate) root: Root,
    /// Whether joints of its own move the root, as those of a gantry do.
    pub(crate) root_moves: bool,
    pub(crate) joints: Vec<Joint>,
    /// Joints that a rig commands, in the order of its commands: of a robot those of its
    /// description, all where there is none.
    pub(crate) driven: Vec<usize>,
    /// Its actuators.
    pub(crate) actuators: Vec<usize>,
    /// Whether State shows its bodies: always for robots, for objects of several bodies.
    pub(crate) articulated: bool,
    pub(crate) row: TreeRow,
}

/// How the root is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// Part of the world.
    Fixed,
    /// Free to move; where its 7 positions and 6 velocities start.
    Free { qpos: usize, dof: usize },
}

/// What a joint's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A hinge or slide joint: one position, one velocity.
    Whole,
    /// A coordinate of a free joint below the root.
    Number,
    /// The first number of an orientation; its velocity is always 0.
    QuatW,
    /// The others; velocities are turns about the body's own axes. The orientation's first
    /// position is at `start`.
    Quat { start: usize },
}

/// A hinge or slide joint and what drives it, or one number of a ball joint.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    pub(crate) name: String,
    /// Index in the model.
    pub(crate) id: usize,
    pub(crate) part: Part,
    pub(crate) qpos: usize,
    pub(crate) dof: usize,
    /// From, to, where it has limits.
    pub(crate) range: Option<[f64; 2]>,
    /// The position servo that moves it.
    pub(crate) drive: Option<PositionDrive>,
    /// The joint that takes it along, where it has no servo of its own.
    pub(crate) follows: Option<Follow>,
    pub(crate) velocity_servo: Option<usize>,
    pub(crate) motor: Option<usize>,
}

/// A camera's index and picture.
#[derive(Clone, Debug)]
pub(crate) struct CameraLayout {
    pub(crate) index: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) fovy_deg: f64,
    pub(crate) near_m: f64,
    pub(crate) far_m: f64,
}

impl Tree {
    /// The joints that a rig commands, in the order of its commands.
    pub(crate) fn driven_joints(&self) -> impl Iterator<Item = &Joint> {
        self.driven.iter().map(|joint| &self.joints[*joint])
    }
}

impl Layout {
    pub(crate) fn new(
        model: &MjModel,
        scene: &Scene,
        descriptions: &BTreeMap<String, RobotDescription>,
    ) -> Result<Self, SimError> {
        let sizes = model.ffi();
        let nbody = sizes.nbody as usize;
        let body_names: Vec<String> =
            (0..nbody).map(|id| name_of(model, MjtObjBase::mjOBJ_BODY, id, "body")).collect();
        let mut owners = vec!["floor".to_owned(); nbody];
        let mut tree = |name: &str, prefixed: bool| {
            let root = scene.roots.get(name).map(String::as_str);
            tree(model, &body_names, name, prefixed, root).inspect(|tree| {
                owners[tree.bodies.clone()].fill(name.to_owned());
            })
        };
        let mut robots = BTreeMap::new();
        for name in scene.robots.keys() {
            robots.insert(name.clone(), tree(name, true)?);
        }
        let mut objects = BTreeMap::new();
        for (name, object) in &scene.objects {
            objects.insert(name.clone(), tree(name, object.model.is_some())?);
        }
        for name in scene.fixtures.keys() {
            tree(name, false)?;
        }
        for (name, robot) in &mut robots {
            robot.articulated = true;
            if let Some(description) = descriptions.get(name) {
                robot.driven = described(robot, description)
                    .map_err(|reason| SimError::Scene { scene: scene.name.clone(), reason })?;
            }
        }
        let mut row_len = 0;
        for tree in objects.values_mut().chain(robots.values_mut()) {
            tree.row = TreeRow::take(tree, &mut row_len);
        }
        Ok(Self { robots, objects, cameras: cameras(model, scene), body_names, owners, row_len })
    }

    pub(crate) fn robot(&self, name: &str) -> Result<&Tree, SimError> {
        let known = self.robots.keys().map(String::as_str);
        self.robots.get(name).ok_or_else(|| SimError::unknown("robot", name, known))
    }

    pub(crate) fn object(&self, name: &str) -> Result<&Tree, SimError> {
        let known = self.objects.keys().map(String::as_str);
        self.objects.get(name).ok_or_else(|| SimError::unknown("object", name, known))
    }

    pub(crate) fn camera(&self, name: &str) -> Result<&CameraLayout, SimError> {
        let known = self.cameras.keys().map(String::as_str);
        let found = self.cameras.get(name).or_else(|| self.cameras.get(&name.replace('/', "_")));
        found.ok_or_else(|| SimError::unknown("camera", name, known))
    }
}

/// Where the joints of a description are among those of the model.
fn described(tree: &Tree, description: &RobotDescription) -> Result<Vec<usize>, String> {
    let known = tree.joints.iter().map(|j| j.name.as_str());
    let place = |joint: &str| {
        known.clone().position(|name| name == joint).ok_or_else(|| {
            let hint = citrange_core::names::suggestion(joint, known.clone());
            format!("robot.yaml of {} names the joint \"{joint}\", {hint}", description.name)
        })
    };
    description.joints().map(place).collect()
}

/// The engine's name for a thing, or a made-up one where the model gives none.
pub(crate) fn name_of(model: &MjModel, kind: MjtObjBase, id: usize, what: &str) -> String {
    match model.id_to_name(kind, id) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("{what}{id}"),
    }
}

fn tree(
    model: &MjModel,
    body_names: &[String],
    name: &str,
    prefixed: bool,
    root: Option<&str>,
) -> Result<Tree, SimError> {
    let broken = |reason: String| SimError::Scene { scene: name.to_owned(), reason };
    let prefix = format!("{name}/");
    let belongs = |body: &String| match root {
        Some(root) => body == root,
        None if prefixed => body.starts_with(&prefix),
        None => body == name,
    };
    let first = body_names.iter().position(belongs);
    let first = first.ok_or_else(|| broken("its model has no body".into()))?;
    let bodies = match root {
        // Bodies are in depth-first order: those below come right after.
        Some(_) => {
            let below = |body: &i32| *body as usize >= first;
            let count = model.body_parentid()[first + 1..].iter().take_while(|b| below(b)).count();
            first..first + 1 + count
        }
        None => first..first + body_names[first..].iter().take_while(|body| belongs(body)).count(),
    };
    let short = |full: &str| full.strip_prefix(&prefix).unwrap_or(full).to_owned();
    let (held, mut joints) = joints_of(model, &bodies);
    for joint in &mut joints {
        joint.name = short(&joint.name);
    }
    let actuators = (0..model.ffi().nu as usize)
        .filter(|index| {
            let name = name_of(model, MjtObjBase::mjOBJ_ACTUATOR, *index, "actuator");
            prefixed && name.starts_with(&prefix)
        })
        .collect();
    let body_names = body_names[bodies.clone()].iter().map(|b| short(b)).collect();
    let articulated = bodies.len() > 1;
    let driven = (0..joints.len()).collect();
    let row = TreeRow::default();
    let root_moves = held == Root::Fixed && model.body_jntnum()[first] > 0;
    Ok(Tree {
        root_moves,
        bodies,
        body_names,
        root: held,
        joints,
        driven,
        actuators,
        articulated,
        row,
    })
}

/// How the first of some bodies is held, and all their joints with what drives them.
pub(crate) fn joints_of(model: &MjModel, bodies: &Range<usize>) -> (Root, Vec<Joint>) {
    let mut held = Root::Fixed;
    let mut joints = Vec::new();
    for id in 0..model.ffi().njnt as usize {
        let body = model.jnt_bodyid()[id] as usize;
        if !bodies.contains(&body) {
            continue;
        }
        let qpos = model.jnt_qposadr()[id] as usize;
        let dof = model.jnt_dofadr()[id] as usize;
        let name = name_of(model, MjtObjBase::mjOBJ_JOINT, id, "joint");
        let (velocity_servo, motor) = actuators(model, id);
        let range = model.jnt_limited()[id].then(|| model.jnt_range()[id]);
        let one = Joint {
            name,
            id,
            part: Part::Whole,
            qpos,
            dof,
            range,
            drive: None,
            follows: None,
            velocity_servo,
            motor,
        };
        match model.jnt_type()[id] {
            MjtJoint::mjJNT_FREE if body == bodies.start => held = Root::Free { qpos, dof },
            MjtJoint::mjJNT_HINGE | MjtJoint::mjJNT_SLIDE => joints.push(one),
            MjtJoint::mjJNT_BALL => joints.extend(one.ball(0, 0)),
            MjtJoint::mjJNT_FREE => {
                for (axis, word) in ["px", "py", "pz"].into_iter().enumerate() {
                    let name = format!("{}:{word}", one.name);
                    let (qpos, dof) = (qpos + axis, dof + axis);
                    joints.push(Joint { name, part: Part::Number, qpos, dof, ..one.clone() });
                }
                joints.extend(one.ball(3, 3));
            }
        }
    }
    find_drives(model, &mut joints);
    (held, joints)
}

impl Joint {
    /// The four numbers of a quaternion that starts `qpos` and `dof` behind the joint's first.
    fn ball(&self, qpos: usize, dof: usize) -> impl Iterator<Item = Self> {
        let start = self.qpos + qpos;
        let words = ["qw", "qx", "qy", "qz"].into_iter().enumerate();
        words.map(move |(number, word)| Self {
            name: format!("{}:{word}", self.name),
            part: if number == 0 { Part::QuatW } else { Part::Quat { start } },
            qpos: start + number,
            dof: self.dof + dof + number.saturating_sub(1),
            range: None,
            velocity_servo: None,
            motor: None,
            ..self.clone()
        })
    }
}

/// The actuators that act on a joint otherwise than by a position: velocity servo, motor.
fn actuators(model: &MjModel, joint: usize) -> (Option<usize>, Option<usize>) {
    let (mut velocity, mut motor) = (None, None);
    for index in 0..model.ffi().nu as usize {
        let on_joint = model.actuator_trntype()[index] == mjtTrn::mjTRN_JOINT;
        if !on_joint || model.actuator_trnid()[index][0] as usize != joint {
            continue;
        }
        if model.actuator_gaintype()[index] != mjtGain::mjGAIN_FIXED {
            continue;
        }
        let gain = model.actuator_gainprm()[index][0];
        let bias = &model.actuator_biasprm()[index];
        match model.actuator_biastype()[index] {
            mjtBias::mjBIAS_NONE => motor = Some(index),
            mjtBias::mjBIAS_AFFINE if bias[1] == 0.0 && bias[2] == -gain => velocity = Some(index),
            _ => {}
        }
    }
    (velocity, motor)
}

fn cameras(model: &MjModel, scene: &Scene) -> BTreeMap<String, CameraLayout> {
    (0..model.ffi().ncam as usize)
        .map(|index| {
            let name = name_of(model, MjtObjBase::mjOBJ_CAMERA, index, "camera");
            let written = scene.cameras.get(&name);
            let [width, height] = model.cam_resolution()[index];
            // A model's own camera that says nothing about its picture has one pixel.
            let (width, height) = if width > 1 && height > 1 {
                (width as usize, height as usize)
            } else {
                (Camera::DEFAULT_WIDTH_PX as usize, Camera::DEFAULT_HEIGHT_PX as usize)
            };
            let layout = CameraLayout {
                index,
                width,
                height,
                fovy_deg: model.cam_fovy()[index],
                near_m: written.map_or(Camera::DEFAULT_NEAR_M, |c| c.near_m),
                far_m: written.map_or(Camera::DEFAULT_FAR_M, |c| c.far_m),
            };
            // Cameras of a robot's own model: files and columns are named after them.
            (if written.is_some() { name } else { name.replace('/', "_") }, layout)
        })
        .collect()
}
