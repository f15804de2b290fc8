//! A robot as the space around it sees it: solids, balls that cover them, and which links may
//! not touch each other.

mod batch;
mod configs;
mod convex;
mod cover;
mod history;
mod kernel;
mod pairs;
mod self_collision;
mod swept;
mod tree;

use crate::chain::{Chain, LinkShape};
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

pub use batch::BatchKinematics;
pub use configs::Configs;
pub use convex::Convex;
pub use history::JointHistory;

use crate::error::RobotError;
use citrange_core::solid::{Form, Solid};

/// Version of the JSON that a [`Body`] is written as.
const FORMAT: u32 = 1;

/// The base and the most joints that a chain may have.
const MAX_LINKS: usize = 33;

/// Metres beyond this are mistakes.
const ABSURD_M: f64 = 1e3;

/// How a [`Body`] is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BodySettings {
    /// How far a ball of the cover may reach beyond the shape that it covers. Smaller is truer
    /// and takes more balls.
    pub overhang_m: f64,
    /// Joint positions at rest: links that touch there and nearly everywhere are taken as made
    /// to touch. The chain's reference positions if it is not given.
    pub home: Option<Vec<f64>>,
    /// Pairs of links that may touch, by the names of bodies of theirs.
    pub allowed_pairs: Vec<[String; 2]>,
    /// How many joint positions are tried to find out which links can meet.
    pub pair_samples: usize,
}

impl Default for BodySettings {
    fn default() -> Self {
        Self { overhang_m: 0.015, home: None, allowed_pairs: Vec::new(), pair_samples: 2000 }
    }
}

/// A ball fixed to a link.
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

/// A robot's solids, the balls that cover them, and the pairs of links that may not touch.
///
/// Link 0 is the base, link `j + 1` is moved by joint `j`. It is plain data: it can be written
/// as JSON and used where no engine is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BodyFile", into = "BodyFile")]
pub struct Body {
    chain: Chain,
    shapes: Vec<LinkShape>,
    links: Vec<String>,
    spheres: Vec<Sphere>,
    pairs: Vec<[u16; 2]>,
}

/// What is written of a [`Body`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyFile {
    format: u32,
    chain: Chain,
    shapes: Vec<LinkShape>,
    links: Vec<String>,
    spheres: Vec<Sphere>,
    pairs: Vec<[u16; 2]>,
}

impl Body {
    /// Covers the shapes of a robot and finds out which of its links can meet.
    ///
    /// # Errors
    /// When the chain, a shape or a setting makes no sense, or the overhang is too small for a
    /// cover of sensible size.
    pub fn new(
        chain: &Chain,
        shapes: &[LinkShape],
        settings: &BodySettings,
    ) -> Result<Self, RobotError> {
        let overhang_m = settings.overhang_m;
        if !(overhang_m.is_finite() && overhang_m > 0.0) {
            let reason = format!("{overhang_m} is not a length above 0, such as 0.015");
            return Err(RobotError::setting("overhang_m", reason));
        }
        check_shapes(chain, shapes)?;
        let mut links = vec!["base".to_owned()];
        links.extend(chain.joint_names().map(str::to_owned));
        for shape in shapes.iter().rev() {
            shape.body().clone_into(&mut links[link_of(shape)]);
        }
        let spheres = cover::spheres(shapes, overhang_m)?;
        let mut body = Self {
            chain: chain.clone(),
            shapes: shapes.to_vec(),
            links,
            spheres,
            pairs: Vec::new(),
        };
        body.pairs = pairs::find(&body, settings)?;
        Ok(body)
    }

    /// The robot's joints and links.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Its solid shapes.
    #[must_use]
    pub fn shapes(&self) -> &[LinkShape] {
        &self.shapes
    }

    /// Names of the links: of the first body of each that is solid, or else of the joint.
    pub fn links(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.links.iter().map(String::as_str)
    }

    /// The balls that cover it, in the order of the links.
    #[must_use]
    pub fn spheres(&self) -> &[Sphere] {
        &self.spheres
    }

    /// Pairs of links that must not touch, lower number first.
    #[must_use]
    pub fn pairs(&self) -> &[[u16; 2]] {
        &self.pairs
    }

    /// Poses of all links in the world, the base first; what is beyond them stays where it was.
    ///
    /// # Errors
    /// When there are too few or too many joint positions, or one is no number, or there is too
    /// little room.
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
        poses[0] = self.chain.world_from_base.isometry();
        for (index, joint) in self.chain.joints.iter().enumerate() {
            let before = poses[joint.parent.map_or(0, |parent| parent + 1)];
            let rest = before * joint.parent_from_link.isometry();
            let moved = joints[index] - joint.reference;
            let axis = Unit::new_normalize(Vector3::from(joint.axis));
            let step = if joint.is_slide {
                let along = Translation3::from(axis.into_inner() * moved);
                Isometry3::from_parts(along, UnitQuaternion::identity())
            } else {
                let turn = UnitQuaternion::from_axis_angle(&axis, moved);
                Isometry3::rotation_wrt_point(turn, Point3::from(joint.anchor_m))
            };
            poses[index + 1] = rest * step;
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

    /// The robot's solids in the world, for the self filter. `solids` is emptied first.
    ///
    /// # Errors
    /// When there are too few or too many joint positions, or one is no number.
    pub fn solids_at(&self, joints: &[f64], solids: &mut Vec<Solid>) -> Result<(), RobotError> {
        self.place(&self.shapes, joints, solids)
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
        solids: &mut Vec<Solid>,
    ) -> Result<(), RobotError> {
        if let Some(shape) = shapes.iter().find(|shape| link_of(shape) > joints.len()) {
            let reason = format!("{}: the robot has no such link", shape.name);
            return Err(RobotError::bad("shapes", reason));
        }
        let mut poses = [Isometry3::identity(); MAX_LINKS];
        self.link_poses(joints, &mut poses)?;
        solids.clear();
        solids.extend(shapes.iter().map(|shape| {
            let link = link_of(shape);
            Solid {
                link: link as u16,
                world_from_solid: poses[link] * shape.link_from_shape.isometry(),
                form: Form::of(&shape.shape),
            }
        }));
        Ok(())
    }
}

impl From<Body> for BodyFile {
    fn from(body: Body) -> Self {
        let Body { chain, shapes, links, spheres, pairs } = body;
        Self { format: FORMAT, chain, shapes, links, spheres, pairs }
    }
}

impl TryFrom<BodyFile> for Body {
    type Error = RobotError;

    fn try_from(file: BodyFile) -> Result<Self, RobotError> {
        let BodyFile { format, chain, shapes, links, spheres, pairs } = file;
        let bad = |reason: String| Err(RobotError::bad(format!("body of {}", chain.robot), reason));
        if format != FORMAT {
            return bad(format!("format {format} is not known; this version reads {FORMAT}"));
        }
        check_shapes(&chain, &shapes)?;
        let count = chain.joints.len() + 1;
        if links.len() != count {
            return bad(format!("{} names for {count} links", links.len()));
        }
        let is_ball = |s: &Sphere| {
            usize::from(s.link) < count
                && s.centre_m.iter().all(|c| c.abs() < ABSURD_M)
                && (0.0..ABSURD_M).contains(&s.radius_m)
        };
        if let Some(at) = spheres.iter().position(|s| !is_ball(s)) {
            return bad(format!("sphere {at} needs a link below {count} and sensible lengths"));
        }
        if !spheres.is_sorted_by_key(|s| s.link) {
            return bad("spheres must be in the order of their links".into());
        }
        if let Some([a, b]) = pairs.iter().find(|[a, b]| a >= b || usize::from(*b) >= count) {
            return bad(format!("pair {a}, {b} must be two links below {count}, lower first"));
        }
        Ok(Self { chain, shapes, links, spheres, pairs })
    }
}

/// Number of the link that carries a shape.
fn link_of(shape: &LinkShape) -> usize {
    shape.link.map_or(0, |joint| joint + 1)
}

fn check_shapes(chain: &Chain, shapes: &[LinkShape]) -> Result<(), RobotError> {
    chain.check().map_err(|e| RobotError::bad("chain", e.to_string()))?;
    for shape in shapes {
        let form = Form::of(&shape.shape);
        let pose = &shape.link_from_shape;
        let norm = pose.quat_wxyz.iter().map(|n| n * n).sum::<f64>();
        let lengths = form.half_extents_m();
        if shape.link.is_some_and(|joint| joint >= chain.joints.len())
            || !lengths.iter().all(|l| (0.0..ABSURD_M).contains(l))
            || !pose.pos_m.iter().all(|p| p.abs() < ABSURD_M)
            || norm.is_nan()
            || (norm - 1.0).abs() > 1e-3
        {
            let reason = format!(
                "needs a joint below {} and sensible sizes and pose, has {:?}",
                chain.joints.len(),
                shape
            );
            return Err(RobotError::bad(format!("shape {}", shape.name), reason));
        }
    }
    Ok(())
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
