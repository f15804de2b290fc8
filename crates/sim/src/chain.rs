//! A robot of a scene as plain numbers, for control without an engine.

use citrange_core::robot::JointLimits;
use citrange_core::{Pose, RobotDescription};
use citrange_robot::{Chain, ChainJoint, ChainSite, Guard};
use mujoco_rs::prelude::*;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::layout::{Joint, Tree};
use crate::world::Data;

/// Points around the rim of a cylinder's end; they stand a little outside of it.
const RIM_POINTS: u32 = 8;

impl CompiledScene {
    /// A robot as plain numbers. The robot needs a description that names its arm joints and
    /// its sites `wrist` and `tool`.
    ///
    /// # Errors
    /// When there is no such robot, or its description or its model do not say enough.
    pub fn chain(&self, robot: &str) -> Result<Chain, SimError> {
        let fail = |reason: String| SimError::Scene {
            scene: self.scene.name.clone(),
            reason: format!("{robot} cannot be driven: {reason}"),
        };
        let tree = self.layout.robot(robot)?;
        let description =
            self.robots.get(robot).ok_or_else(|| fail(self.why_not_described(robot)))?;
        let bodies = Bodies::new(self, tree);
        let mut joints = Vec::new();
        for (index, joint) in tree.driven_joints().enumerate() {
            joints.push(bodies.joint(index, joint, description));
        }
        for body in tree.bodies.clone() {
            if let Some((link, link_from_body)) = bodies.at(body) {
                let com = link_from_body * Point3::from(self.model.body_ipos()[body]);
                add_mass(&mut joints[link], self.model.body_mass()[body], com.coords);
            }
        }
        let arm_joints = description.arm_joints.len();
        let chain = Chain {
            robot: self.scene.robots[robot].model.clone(),
            world_from_base: bodies.world_from_base.into(),
            gravity_m_s2: self.model.ffi().opt.gravity,
            arm_joints,
            wrist: bodies.site(robot, description, "wrist").map_err(&fail)?,
            tool: bodies.site(robot, description, "tool").map_err(&fail)?,
            grasp: description.grasp,
            guards: bodies.guards(arm_joints.saturating_sub(2), &joints),
            joints,
        };
        chain.check()?;
        Ok(chain)
    }

    /// Where a robot's wrist is in the model, where its description names one.
    pub(crate) fn wrist_at(&self, robot: &str) -> Option<FrameAt> {
        frame_of(&self.model, robot, self.robots.get(robot)?, "wrist").ok()
    }

    /// Where a robot's tool is in the model, where its description names one.
    pub(crate) fn tool_at(&self, robot: &str) -> Option<FrameAt> {
        frame_of(&self.model, robot, self.robots.get(robot)?, "tool").ok()
    }

    /// The body that carries a frame of a robot's description, and the frame's pose there.
    pub(crate) fn frame_at(&self, robot: &str, role: &str) -> Option<(usize, Isometry3<f64>)> {
        let frame = frame_of(&self.model, robot, self.robots.get(robot)?, role).ok()?;
        Some(frame.in_body(&self.model))
    }

    /// Height below which nothing of a robot's hand may be driven: what the scene says, or the
    /// surface that the robot stands on.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn floor_z_m(&self, robot: &str) -> Result<f64, SimError> {
        self.layout.robot(robot)?;
        let placement = &self.scene.robots[robot];
        Ok(placement.floor_z_m.unwrap_or(placement.pos_m[2]))
    }
}

/// Which link every body of a robot belongs to.
pub(crate) struct Bodies<'a> {
    model: &'a MjModel,
    world_from_base: Isometry3<f64>,
    /// Per body of the model: the link (last joint that moves it) and its pose there.
    links: Vec<Option<(usize, Isometry3<f64>)>>,
    /// Per body of the model that no joint moves: its pose in the base.
    fixed: Vec<Isometry3<f64>>,
    /// Per joint: its index in the model, and its parent link with the pose there.
    joints: Vec<(usize, Option<usize>, Isometry3<f64>)>,
}

impl<'a> Bodies<'a> {
    pub(crate) fn new(scene: &'a CompiledScene, tree: &Tree) -> Self {
        let model = scene.model.as_ref();
        let root = tree.bodies.start;
        let pose = |body: usize| isometry(model.body_pos()[body], model.body_quat()[body]);
        let world_from_base = pose(root);
        let nbody = model.ffi().nbody as usize;
        let mut links: Vec<Option<(usize, Isometry3<f64>)>> = vec![None; nbody];
        let mut fixed = vec![Isometry3::identity(); nbody];
        let mut joints = vec![(0, None, Isometry3::identity()); tree.driven.len()];
        for body in root..nbody {
            let parent = model.body_parentid()[body] as usize;
            let (mut link, mut link_from_body) = match links[parent] {
                _ if body == root => (None, Isometry3::identity()),
                Some((link, link_from_parent)) => (Some(link), link_from_parent * pose(body)),
                // A robot may stand in the world with several roots; the first is its base.
                None if parent == 0 => (None, world_from_base.inverse() * pose(body)),
                None => (None, fixed[parent] * pose(body)),
            };
            let first = model.body_jntadr()[body];
            for number in 0..model.body_jntnum()[body] {
                let joint = (first + number) as usize;
                let index = tree.driven_joints().position(|j| j.id == joint);
                let Some(index) = index else {
                    // Nobody drives it: it stays as it stands at home.
                    link_from_body *= moved(model, joint, &scene.home_qpos);
                    continue;
                };
                joints[index] = (joint, link, link_from_body);
                link = Some(index);
                link_from_body = Isometry3::identity();
            }
            match link {
                Some(link) => links[body] = Some((link, link_from_body)),
                None => fixed[body] = link_from_body,
            }
        }
        Self { model, world_from_base, links, fixed, joints }
    }

    /// The link of a body of the robot, `None` for the base, and the body's pose there.
    pub(crate) fn place(&self, body: usize) -> (Option<usize>, Isometry3<f64>) {
        match self.links[body] {
            Some((link, link_from_body)) => (Some(link), link_from_body),
            None => (None, self.fixed[body]),
        }
    }

    fn at(&self, body: usize) -> Option<(usize, Isometry3<f64>)> {
        self.links[body]
    }

    fn joint(&self, index: usize, joint: &Joint, description: &RobotDescription) -> ChainJoint {
        let (id, parent, parent_from_link) = self.joints[index];
        let model = self.model;
        let range = joint.commanded_range(model, Some(description));
        let is_slide = model.jnt_type()[id] == MjtJoint::mjJNT_SLIDE;
        let limits = description.joint_limits.get(&joint.name);
        let limit = |of: fn(&JointLimits) -> [Option<f64>; 2]| {
            limits.and_then(|limits| of(limits)[usize::from(is_slide)])
        };
        let gripper = description.gripper.as_ref().and_then(|g| {
            let at = g.joints.iter().position(|name| *name == joint.name)?;
            Some([*g.closed.get(at)?, *g.open.get(at)?])
        });
        ChainJoint {
            name: joint.name.clone(),
            parent,
            parent_from_link: parent_from_link.into(),
            anchor_m: model.jnt_pos()[id],
            axis: model.jnt_axis()[id],
            is_slide,
            reference: model.qpos0()[joint.qpos],
            range,
            stiffness: joint.drive.map(|drive| drive.stiffness(model)),
            max_speed: limit(|l| [l.velocity_rad_s, l.velocity_m_s]),
            max_acceleration: limit(|l| [l.acceleration_rad_s2, l.acceleration_m_s2]),
            max_jerk: limit(|l| [l.jerk_rad_s3, l.jerk_m_s3]),
            damping: joint.drive.map(|drive| drive.damping(model)),
            max_effort: joint.max_effort(model),
            mass_kg: 0.0,
            com_m: [0.0; 3],
            gripper,
        }
    }

    fn site(
        &self,
        robot: &str,
        description: &RobotDescription,
        role: &str,
    ) -> Result<ChainSite, String> {
        let frame = frame_of(self.model, robot, description, role)?;
        let (body, body_from_site) = frame.in_body(self.model);
        let (link, link_from_body) =
            self.at(body).ok_or_else(|| format!("its frame \"{role}\" is moved by no joint"))?;
        Ok(ChainSite { link, link_from_site: (link_from_body * body_from_site).into() })
    }

    /// Corners and ends of the collision shapes of the links that joint `first` moves.
    fn guards(&self, first: usize, joints: &[ChainJoint]) -> Vec<Guard> {
        let is_hand = |link: usize| {
            std::iter::successors(Some(link), |at| joints[*at].parent).any(|at| at == first)
        };
        let model = self.model;
        let mut guards = Vec::new();
        for geom in 0..model.ffi().ngeom as usize {
            let collides = model.geom_contype()[geom] != 0 || model.geom_conaffinity()[geom] != 0;
            let at = self.at(model.geom_bodyid()[geom] as usize);
            let Some((link, link_from_body)) = at.filter(|(link, _)| collides && is_hand(*link))
            else {
                continue;
            };
            let body_from_geom = isometry(model.geom_pos()[geom], model.geom_quat()[geom]);
            for (point, radius_m) in outline(model, geom) {
                let point_m = (link_from_body * body_from_geom * point).coords.into();
                guards.push(Guard { link, point_m, radius_m });
            }
        }
        guards
    }
}

/// A frame that a description names, in the model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FrameAt {
    /// A site of the model.
    Site(usize),
    /// A place on a body.
    Body(usize, Isometry3<f64>),
}

impl FrameAt {
    /// The body that carries it and its pose there.
    fn in_body(&self, model: &MjModel) -> (usize, Isometry3<f64>) {
        match *self {
            Self::Body(body, pose) => (body, pose),
            Self::Site(site) => {
                let pose = isometry(model.site_pos()[site], model.site_quat()[site]);
                (model.site_bodyid()[site] as usize, pose)
            }
        }
    }

    /// Where it is in the world now.
    pub(crate) fn position(&self, data: &Data) -> [f64; 3] {
        match *self {
            Self::Site(site) => data.site_xpos()[site],
            Self::Body(body, pose) => {
                let world = isometry(data.xpos()[body], data.xquat()[body]);
                (world * pose).translation.vector.into()
            }
        }
    }
}

/// The frame of a description for a role: `tool`, `wrist`.
fn frame_of(
    model: &MjModel,
    robot: &str,
    description: &RobotDescription,
    role: &str,
) -> Result<FrameAt, String> {
    let find = |kind: MjtObjBase, count: i64, name: &str| {
        let full = format!("{robot}/{name}");
        (0..count as usize).find(|id| model.id_to_name(kind, *id) == Some(full.as_str()))
    };
    if let Some(frame) = description.frames.get(role) {
        let bodies = model.ffi().nbody;
        let body = find(MjtObjBase::mjOBJ_BODY, bodies, &frame.body).ok_or_else(|| {
            let body = &frame.body;
            format!("the model has no body \"{body}\" (frames: {role} in robot.yaml)")
        })?;
        return Ok(FrameAt::Body(body, isometry(frame.pos_m, frame.quat_wxyz)));
    }
    let name = description
        .sites
        .get(role)
        .ok_or_else(|| format!("robot.yaml names no \"{role}\" under sites or frames"))?;
    find(MjtObjBase::mjOBJ_SITE, model.ffi().nsite, name)
        .map(FrameAt::Site)
        .ok_or_else(|| format!("the model has no site \"{name}\" ({role} in robot.yaml)"))
}

/// How a joint at some position moves its body; nothing for a free one, whose body is the root.
fn moved(model: &MjModel, joint: usize, qpos: &[f64]) -> Isometry3<f64> {
    let at = model.jnt_qposadr()[joint] as usize;
    let axis = Vector3::from(model.jnt_axis()[joint]);
    let by = qpos[at] - model.qpos0()[at];
    let turn = match model.jnt_type()[joint] {
        MjtJoint::mjJNT_SLIDE => return Translation3::from(axis * by).into(),
        MjtJoint::mjJNT_FREE => return Isometry3::identity(),
        MjtJoint::mjJNT_HINGE => UnitQuaternion::new(axis * by),
        MjtJoint::mjJNT_BALL => {
            let quat_wxyz = std::array::from_fn(|i| qpos[at + i]);
            isometry([0.0; 3], quat_wxyz).rotation
        }
    };
    let anchor = Translation3::from(model.jnt_pos()[joint]);
    anchor * turn * anchor.inverse()
}

/// Spheres whose hull covers a shape, in the shape's frame.
fn outline(model: &MjModel, geom: usize) -> Vec<(Point3<f64>, f64)> {
    let [a, b, _] = model.geom_size()[geom];
    let [x, y, z, half_x, half_y, half_z] = model.geom_aabb()[geom];
    let both = [-1.0, 1.0];
    match model.geom_type()[geom] {
        MjtGeomBase::mjGEOM_SPHERE => vec![(Point3::origin(), a)],
        MjtGeomBase::mjGEOM_CAPSULE => both.map(|s| (Point3::new(0.0, 0.0, s * b), a)).to_vec(),
        MjtGeomBase::mjGEOM_CYLINDER => {
            let segment_rad = std::f64::consts::TAU / f64::from(RIM_POINTS);
            let radius = a / (segment_rad / 2.0).cos();
            let rim = |k: u32| (segment_rad * f64::from(k)).sin_cos();
            let points = (0..RIM_POINTS).map(rim).flat_map(|(sin, cos)| {
                both.map(|s| (Point3::new(radius * cos, radius * sin, s * b), 0.0))
            });
            points.collect()
        }
        // Boxes are their own bounding box; for the rest it lies outside.
        _ => {
            let sign = |corner: u32, axis: u32| f64::from(corner >> axis & 1) * 2.0 - 1.0;
            let corner = |k: u32| {
                let out = [sign(k, 0) * half_x, sign(k, 1) * half_y, sign(k, 2) * half_z];
                (Point3::new(x + out[0], y + out[1], z + out[2]), 0.0)
            };
            (0..8).map(corner).collect()
        }
    }
}

fn add_mass(joint: &mut ChainJoint, mass_kg: f64, com_m: Vector3<f64>) {
    let total = joint.mass_kg + mass_kg;
    if total > 0.0 {
        let moment = Vector3::from(joint.com_m) * joint.mass_kg + com_m * mass_kg;
        joint.com_m = (moment / total).into();
        joint.mass_kg = total;
    }
}

pub(crate) fn isometry(pos_m: [f64; 3], quat_wxyz: [f64; 4]) -> Isometry3<f64> {
    Pose { pos_m, quat_wxyz }.isometry()
}
