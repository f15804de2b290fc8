//! One robot: its joints and links, its shapes, the spheres that cover them, and which of its
//! links may not touch each other.

mod batch;
mod configs;
mod convex;
mod cover;
mod file;
mod history;
mod kernel;
mod pairs;
mod self_collision;
mod sphere_chain;
mod swept;

use citrange_core::Pose;
use citrange_core::shape::PosedLinkShape;
use nalgebra::{Isometry3, Point3};
use serde::{Deserialize, Serialize};

use crate::chain::{Chain, ChainJoint, LinkShape, MAX_JOINTS};
use crate::error::RobotError;
use crate::ik::{IkSettings, IkSolutions, IkTarget, InverseKinematics};
use crate::inertia::LinkInertia;
use crate::joint_motion::{JointMotion, RigidTransform};
use file::RobotFile;

pub use batch::BatchKinematics;
pub use configs::Configs;
pub use convex::Convex;
pub use history::JointHistory;

/// The base and the most joints that a chain may have.
const MAX_LINKS: usize = MAX_JOINTS + 1;

/// How a [`Robot`] is covered with spheres, and which of its links may touch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RobotSettings {
    /// How far a sphere of the cover may reach beyond the shape that it covers. Smaller is truer
    /// and takes more spheres.
    pub overhang_m: f64,
    /// Joint positions at rest: links that touch there and nearly everywhere are taken as made
    /// to touch. The chain's reference positions if it is not given.
    pub home: Option<Vec<f64>>,
    /// Pairs of links that may touch, by the names of bodies of theirs.
    pub allowed_pairs: Vec<[String; 2]>,
    /// How many joint positions are tried to find out which links can meet.
    pub pair_samples: usize,
}

impl Default for RobotSettings {
    fn default() -> Self {
        Self { overhang_m: 0.015, home: None, allowed_pairs: Vec::new(), pair_samples: 2000 }
    }
}

/// A sphere fixed to a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Number of the link: 0 is the base, then one per joint.
    pub link: u16,
    /// Centre, in the link; in the base for link 0.
    pub centre_m: [f64; 3],
    /// Radius.
    pub radius_m: f64,
}

/// A robot: joints, limits, shapes, the spheres that cover them, pairs of links that may touch.
///
/// Link 0 is the base, link `j + 1` is moved by joint `j`. It is plain data: it can be written
/// as JSON, read back bit for bit, and used where no engine is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RobotFile", into = "RobotFile")]
pub struct Robot {
    chain: Chain,
    shapes: Vec<LinkShape>,
    links: Vec<String>,
    spheres: Vec<Sphere>,
    pairs: Vec<[u16; 2]>,
    details: RobotDetails,
}

/// What is known of a robot beside what it needs to move and not to collide.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RobotDetails {
    /// Height of the base frame above the surface on which the robot stands.
    pub base_height_m: f64,
    /// What cameras see of it: finer than what it collides with. Empty where that is not known.
    pub seen: Vec<LinkShape>,
    /// What makes its links hard to move, one of each joint. Empty where that is not known.
    pub inertias: Vec<LinkInertia>,
    /// How it was covered, and which links may touch.
    pub settings: RobotSettings,
}

impl Robot {
    /// Covers the shapes of a robot and finds out which of its links can meet.
    ///
    /// # Errors
    /// When the chain, a shape or a setting makes no sense, or the overhang is too small for a
    /// cover of sensible size.
    pub fn new(
        chain: &Chain,
        shapes: &[LinkShape],
        settings: &RobotSettings,
    ) -> Result<Self, RobotError> {
        let overhang_m = settings.overhang_m;
        if !(overhang_m.is_finite() && overhang_m > 0.0) {
            let reason = format!("{overhang_m} is not a length above 0, such as 0.015");
            return Err(RobotError::setting("overhang_m", reason));
        }
        file::check_shapes(chain, shapes)?;
        let mut links = vec!["base".to_owned()];
        links.extend(chain.joint_names().map(str::to_owned));
        for shape in shapes.iter().rev() {
            shape.body().clone_into(&mut links[link_of(shape)]);
        }
        let spheres = cover::spheres(shapes, overhang_m)?;
        let details = RobotDetails { settings: settings.clone(), ..RobotDetails::default() };
        let (chain, shapes) = (chain.clone(), shapes.to_vec());
        let mut robot = Self { chain, shapes, links, spheres, pairs: Vec::new(), details };
        robot.pairs = pairs::find(&robot, settings)?;
        Ok(robot)
    }

    /// The same with what else is known of it. Its settings stay those that it was made with.
    ///
    /// # Errors
    /// When a shape makes no sense, or there is not one inertia of each joint.
    pub fn with_details(mut self, details: RobotDetails) -> Result<Self, RobotError> {
        file::check_details(&self.chain, &details)?;
        self.details = RobotDetails { settings: self.details.settings, ..details };
        Ok(self)
    }

    /// The same with more shapes on its links, such as a tool that it carries: solid and seen.
    ///
    /// # Errors
    /// As [`Robot::new`].
    pub fn carrying(self, carried: &[LinkShape]) -> Result<Self, RobotError> {
        if carried.is_empty() {
            return Ok(self);
        }
        let shapes = [self.shapes.as_slice(), carried].concat();
        let mut details = self.details;
        details.seen.extend_from_slice(carried);
        Self::new(&self.chain, &shapes, &details.settings)?.with_details(details)
    }

    /// Spheres that cover shapes of links, such as of a thing that is held: none reaches further
    /// beyond its shape than a length, or twice that where the shape is large.
    ///
    /// # Errors
    /// When the length is none, or far too small for the shapes.
    pub fn spheres_over(shapes: &[LinkShape], overhang_m: f64) -> Result<Vec<Sphere>, RobotError> {
        if !(overhang_m.is_finite() && overhang_m > 0.0) {
            let reason = format!("{overhang_m} is not a length above 0, such as 0.005");
            return Err(RobotError::setting("overhang_m", reason));
        }
        cover::spheres(shapes, overhang_m).or_else(|_| cover::spheres(shapes, 2.0 * overhang_m))
    }

    /// The same with its base elsewhere.
    #[must_use]
    pub fn with_base_at(mut self, world_from_base: Pose) -> Self {
        self.chain.world_from_base = world_from_base;
        self
    }

    /// The same standing on a point of a surface, rotated about the vertical.
    #[must_use]
    pub fn standing_at(self, pos_m: [f64; 3], yaw_rad: f64) -> Self {
        let [x, y, z] = pos_m;
        let height_m = self.details.base_height_m;
        self.with_base_at(Pose::from_yaw([x, y, z + height_m], yaw_rad))
    }

    /// The robot's joints and links, its sites and where it stands.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Its joints: the arm's, then the gripper's.
    #[must_use]
    pub fn joints(&self) -> &[ChainJoint] {
        &self.chain.joints
    }

    /// Lowest and highest position of every joint; `None` where a joint has no end.
    pub fn limits(&self) -> impl ExactSizeIterator<Item = Option<[f64; 2]>> + Clone {
        self.chain.joints.iter().map(|joint| joint.range)
    }

    /// Its solid shapes, in the frames of its links.
    #[must_use]
    pub fn link_shapes(&self) -> &[LinkShape] {
        &self.shapes
    }

    /// What is known of it beside: what cameras see of it, inertias, how it was made.
    #[must_use]
    pub fn details(&self) -> &RobotDetails {
        &self.details
    }

    /// Names of the links: of the first body of each that is solid, or else of the joint.
    pub fn links(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.links.iter().map(String::as_str)
    }

    /// The spheres that cover it, in the order of the links.
    #[must_use]
    pub fn spheres(&self) -> &[Sphere] {
        &self.spheres
    }

    /// Pairs of links that must not touch, lower number first.
    #[must_use]
    pub fn checked_pairs(&self) -> &[[u16; 2]] {
        &self.pairs
    }

    /// All other pairs of links: neighbours, those that are allowed to touch or made to, and those
    /// that never meet. Nobody looks whether they collide.
    pub fn allowed_pairs(&self) -> impl Iterator<Item = [u16; 2]> + '_ {
        let links = self.links.len() as u16;
        let all = (0..links).flat_map(move |a| (a + 1..links).map(move |b| [a, b]));
        all.filter(|pair| !self.pairs.contains(pair))
    }

    /// Poses of all links in the world, the base first.
    ///
    /// # Errors
    /// When there are too few or too many joint positions, or one is no number.
    pub fn forward_kinematics(&self, joints: &[f64]) -> Result<Vec<Isometry3<f64>>, RobotError> {
        let mut poses = vec![Isometry3::identity(); self.links.len()];
        self.link_poses(joints, &mut poses)?;
        Ok(poses)
    }

    /// Joints of the arm that bring the tool to an aim, nearest to `near` first. All other joints
    /// stay as they are in `near`. For many questions make an [`InverseKinematics`] once.
    ///
    /// # Errors
    /// When `near` has not one number of each joint, or the arm has no joint that moves the tool.
    pub fn inverse_kinematics(
        &self,
        aim: &IkTarget,
        near: &[f64],
        settings: &IkSettings,
    ) -> Result<IkSolutions, RobotError> {
        check_joints(&self.chain, near)?;
        let arm = self.chain.arm_joints;
        Ok(InverseKinematics::new(&self.chain, near)?.solve(aim, &near[..arm], settings))
    }

    /// As [`Robot::forward_kinematics`], without allocating; what is beyond the links stays.
    ///
    /// # Errors
    /// As there, and when there is too little room.
    pub fn link_poses(
        &self,
        joints: &[f64],
        poses: &mut [Isometry3<f64>],
    ) -> Result<(), RobotError> {
        check_joints(&self.chain, joints)?;
        if poses.len() <= joints.len() {
            let reason = format!("room for {} of {} links", poses.len(), joints.len() + 1);
            return Err(RobotError::bad("link poses", reason));
        }
        let mut frames = [RigidTransform::of(&self.chain.world_from_base); MAX_LINKS];
        poses[0] = self.chain.world_from_base.isometry();
        for (index, joint) in self.chain.joints.iter().enumerate() {
            let before = frames[joint.parent.map_or(0, |parent| parent + 1)];
            frames[index + 1] = JointMotion::of(joint).place(&before, joints[index]).at;
            poses[index + 1] = frames[index + 1].isometry();
        }
        Ok(())
    }

    /// Where the point that the hand works with is in the world.
    ///
    /// # Errors
    /// When there are too few or too many joint positions, or one is no number.
    pub fn tool_at(&self, joints: &[f64]) -> Result<[f64; 3], RobotError> {
        let mut poses = [Isometry3::identity(); MAX_LINKS];
        self.link_poses(joints, &mut poses)?;
        let tool = &self.chain.tool;
        let at = poses[tool.link + 1] * Point3::from(tool.link_from_site.pos_m);
        Ok(at.coords.into())
    }

    /// The robot's solid shapes in the world, for the self filter. `placed` is emptied first.
    ///
    /// # Errors
    /// When there are too few or too many joint positions, or one is no number.
    pub fn shapes_at(
        &self,
        joints: &[f64],
        placed: &mut Vec<PosedLinkShape>,
    ) -> Result<(), RobotError> {
        self.place(&self.shapes, joints, placed)
    }

    /// Other shapes of the same links in the world, such as what cameras see of them.
    ///
    /// # Errors
    /// When there are too few or too many joint positions, or one is no number, or a shape is of
    /// a link that the robot does not have.
    pub fn place(
        &self,
        shapes: &[LinkShape],
        joints: &[f64],
        placed: &mut Vec<PosedLinkShape>,
    ) -> Result<(), RobotError> {
        if let Some(shape) = shapes.iter().find(|shape| link_of(shape) > joints.len()) {
            let reason = format!("{}: the robot has no such link", shape.name);
            return Err(RobotError::bad("shapes", reason));
        }
        let mut poses = [Isometry3::identity(); MAX_LINKS];
        self.link_poses(joints, &mut poses)?;
        placed.clear();
        placed.extend(shapes.iter().map(|shape| {
            let link = link_of(shape);
            PosedLinkShape {
                link: link as u16,
                world_from_shape: poses[link] * shape.link_from_shape.isometry(),
                shape: shape.shape.clone(),
            }
        }));
        Ok(())
    }
}

/// Number of the link that carries a shape.
fn link_of(shape: &LinkShape) -> usize {
    shape.link.map_or(0, |joint| joint + 1)
}

pub(crate) fn check_joints(chain: &Chain, joints: &[f64]) -> Result<(), RobotError> {
    let count = chain.joints.len();
    if joints.len() != count {
        let reason = format!("{} positions, {} has {count} joints", joints.len(), chain.robot);
        return Err(RobotError::bad("joint positions", reason));
    }
    match chain.joints.iter().zip(joints).find(|(_, p)| !p.is_finite()) {
        Some((joint, position)) => {
            let reason = format!("joint {} is at {position}, not a number", joint.name);
            Err(RobotError::bad("joint positions", reason))
        }
        None => Ok(()),
    }
}
