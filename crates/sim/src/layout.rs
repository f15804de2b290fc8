//! Where everything stands in the engine's arrays: looked up once, by name.

use std::collections::BTreeMap;
use std::ops::Range;

use citrange_core::Scene;
use citrange_core::scene::Camera;
use mujoco_rs::mujoco_c::{mjtBias, mjtGain, mjtTrn};
use mujoco_rs::prelude::*;

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
    pub(crate) joints: Vec<Joint>,
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

/// A hinge or slide joint and the actuators that drive it.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    pub(crate) name: String,
    pub(crate) qpos: usize,
    pub(crate) dof: usize,
    /// From, to, where it has limits.
    pub(crate) range: Option<[f64; 2]>,
    pub(crate) position_servo: Option<usize>,
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

impl Layout {
    pub(crate) fn new(model: &MjModel, scene: &Scene) -> Result<Self, SimError> {
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
        for robot in robots.values_mut() {
            robot.articulated = true;
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
        self.cameras.get(name).ok_or_else(|| SimError::unknown("camera", name, known))
    }
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
    let mut held = Root::Fixed;
    let mut joints = Vec::new();
    for joint in 0..model.ffi().njnt as usize {
        let body = model.jnt_bodyid()[joint] as usize;
        if !bodies.contains(&body) {
            continue;
        }
        let qpos = model.jnt_qposadr()[joint] as usize;
        let dof = model.jnt_dofadr()[joint] as usize;
        let full = name_of(model, MjtObjBase::mjOBJ_JOINT, joint, "joint");
        match model.jnt_type()[joint] {
            MjtJoint::mjJNT_FREE if body == first => held = Root::Free { qpos, dof },
            MjtJoint::mjJNT_HINGE | MjtJoint::mjJNT_SLIDE => {
                let (position_servo, velocity_servo, motor) = actuators(model, joint);
                let name = short(&full);
                let range = model.jnt_limited()[joint].then(|| model.jnt_range()[joint]);
                joints.push(Joint {
                    name,
                    qpos,
                    dof,
                    range,
                    position_servo,
                    velocity_servo,
                    motor,
                });
            }
            _ => {
                return Err(broken(format!(
                    "joint {full} is a ball joint or a second free joint; State knows hinge and \
                     slide joints and one free root"
                )));
            }
        }
    }
    let body_names = body_names[bodies.clone()].iter().map(|b| short(b)).collect();
    let articulated = bodies.len() > 1;
    Ok(Tree { bodies, body_names, root: held, joints, articulated, row: TreeRow::default() })
}

/// The actuators that act on a joint: position servo, velocity servo, motor.
fn actuators(model: &MjModel, joint: usize) -> (Option<usize>, Option<usize>, Option<usize>) {
    let (mut position, mut velocity, mut motor) = (None, None, None);
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
            mjtBias::mjBIAS_AFFINE if bias[1] == -gain && gain != 0.0 => position = Some(index),
            mjtBias::mjBIAS_AFFINE if bias[1] == 0.0 && bias[2] == -gain => velocity = Some(index),
            _ => {}
        }
    }
    (position, velocity, motor)
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
            (name, layout)
        })
        .collect()
}
