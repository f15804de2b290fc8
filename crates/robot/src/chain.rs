//! A robot as plain numbers: joints, links, sites, and the points of its hand.

use citrange_core::Pose;
use citrange_core::robot::Grasp;
use citrange_core::shape::Shape;
use serde::{Deserialize, Serialize};

use crate::error::RobotError;

/// More joints than any robot here has; bounds what a chain read from a file may ask for.
pub const MAX_JOINTS: usize = 32;

/// Metres, kilograms and radians beyond this are mistakes, and could overflow.
const ABSURD: f64 = 1e6;

/// A tree of joints, each with the link it moves. A joint's parent always comes before it, so
/// one sweep from the first to the last visits everything in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Robot model: `so101`, `panda`, …
    pub robot: String,
    /// Where the base stands.
    pub world_from_base: Pose,
    /// Gravity in the world.
    pub gravity_m_s2: [f64; 3],
    /// Joints in the order of the robot's joint vector: the arm's, then the gripper's.
    pub joints: Vec<ChainJoint>,
    /// How many of them are the arm's.
    pub arm_joints: usize,
    /// Point that arms of 4 or 5 joints are driven by.
    pub wrist: ChainSite,
    /// Point that the hand works with.
    pub tool: ChainSite,
    /// How the hand takes things, if that is known.
    #[serde(default)]
    pub grasp: Option<Grasp>,
    /// Points of the hand that must stay above the floor.
    pub guards: Vec<Guard>,
}

/// One joint and the link behind it. Bodies without a joint of their own are part of the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainJoint {
    /// Name without the robot's prefix.
    pub name: String,
    /// Index of the joint whose link carries it; `None` on the base.
    pub parent: Option<usize>,
    /// Pose of the link in its parent when the joint is at `reference`.
    pub parent_from_link: Pose,
    /// A point on the axis, in the link.
    pub anchor_m: [f64; 3],
    /// Direction of the axis in the link, unit length.
    pub axis: [f64; 3],
    /// Whether it slides (metres) instead of turning (radians).
    pub is_slide: bool,
    /// Position at which `parent_from_link` holds.
    pub reference: f64,
    /// Lowest and highest position that may be commanded.
    pub range: Option<[f64; 2]>,
    /// Stiffness of its position servo, N m/rad (N/m for slides).
    pub stiffness: Option<f64>,
    /// Fastest speed that the joint may be driven at, rad/s (m/s for slides).
    pub max_speed: Option<f64>,
    /// Largest acceleration that it may be driven at, rad/s² (m/s² for slides).
    #[serde(default)]
    pub max_acceleration: Option<f64>,
    /// Largest jerk that it may be driven at, rad/s³ (m/s³ for slides).
    #[serde(default)]
    pub max_jerk: Option<f64>,
    /// Damping of its position servo, N m s/rad (N s/m for slides).
    #[serde(default)]
    pub damping: Option<f64>,
    /// Largest torque of its servo, N m (N for slides).
    #[serde(default)]
    pub max_effort: Option<f64>,
    /// Mass of the link.
    pub mass_kg: f64,
    /// Its centre of mass, in the link.
    pub com_m: [f64; 3],
    /// For a gripper's joint: its positions when closed and when open.
    pub gripper: Option<[f64; 2]>,
}

/// A frame fixed to a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainSite {
    /// Index of the joint whose link carries it.
    pub link: usize,
    /// Pose in the link.
    pub link_from_site: Pose,
}

/// A sphere that covers a corner or an end of the hand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guard {
    /// Index of the joint whose link carries it.
    pub link: usize,
    /// Centre, in the link.
    pub point_m: [f64; 3],
    /// Radius; 0 for a corner.
    pub radius_m: f64,
}

/// A solid piece of a link, for collisions and for telling the robot from its surroundings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkShape {
    /// Index of the joint whose link carries it; `None` on the base.
    pub link: Option<usize>,
    /// Pose in the link; in the base for `None`.
    pub link_from_shape: Pose,
    /// Shape and size.
    pub shape: Shape,
    /// For people: the body that it is part of, then `/` and its own name if it has one.
    pub name: String,
}

impl LinkShape {
    /// Name of the body that it is part of.
    #[must_use]
    pub fn body(&self) -> &str {
        self.name.split_once('/').map_or(self.name.as_str(), |(body, _)| body)
    }
}

impl Chain {
    /// Checks that indices, ranges and numbers make sense.
    ///
    /// # Errors
    /// Names the first joint or site that does not.
    pub fn check(&self) -> Result<(), RobotError> {
        let fail = |reason: String| RobotError::Chain { robot: self.robot.clone(), reason };
        let count = self.joints.len();
        if count == 0 || count > MAX_JOINTS {
            return Err(fail(format!("it has {count} joints; 1 to {MAX_JOINTS} are possible")));
        }
        if self.arm_joints > count {
            return Err(fail(format!("{} arm joints of {count} joints", self.arm_joints)));
        }
        if !self.gravity_m_s2.iter().all(is_sane) || !is_pose(&self.world_from_base) {
            return Err(fail("base pose and gravity must be sensible numbers".into()));
        }
        for (index, joint) in self.joints.iter().enumerate() {
            joint.check(index).map_err(|why| fail(format!("joint {}: {why}", joint.name)))?;
            if (index >= self.arm_joints) != joint.gripper.is_some() {
                return Err(fail(format!(
                    "joint {}: the arm's joints come first, then the gripper's with their closed \
                     and open positions",
                    joint.name
                )));
            }
        }
        for (name, site) in [("wrist", &self.wrist), ("tool", &self.tool)] {
            if site.link >= count || !is_pose(&site.link_from_site) {
                return Err(fail(format!("site {name} needs a link below {count} and a pose")));
            }
        }
        let is_good = |g: &Guard| {
            g.link < count && g.point_m.iter().all(is_sane) && (0.0..ABSURD).contains(&g.radius_m)
        };
        match self.guards.iter().position(|g| !is_good(g)) {
            Some(at) => Err(fail(format!("guard {at} needs a link below {count} and numbers"))),
            None => Ok(()),
        }
    }

    /// Names of all joints, in order.
    pub fn joint_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.joints.iter().map(|j| j.name.as_str())
    }
}

impl ChainJoint {
    fn check(&self, index: usize) -> Result<(), &'static str> {
        if self.parent.is_some_and(|parent| parent >= index) {
            return Err("its parent must come before it");
        }
        let axis = self.axis.iter().map(|n| n * n).sum::<f64>();
        let range = self.range.unwrap_or_default();
        let numbers = self.anchor_m.iter().chain(&self.com_m).chain([&self.reference]);
        if !numbers.chain(&range).all(is_sane) || !is_pose(&self.parent_from_link) {
            return Err(
                "pose, anchor, centre of mass, reference and range must be sensible numbers",
            );
        }
        if axis.is_nan() || (axis - 1.0).abs() > 1e-6 {
            return Err("the axis must have unit length");
        }
        if !(0.0..ABSURD).contains(&self.mass_kg) {
            return Err("the mass must be 0 or more");
        }
        if self.range.is_some_and(|[low, high]| low > high || (low - high).is_nan()) {
            return Err("the range must be [lowest, highest]");
        }
        let positive = |n: Option<f64>| n.is_none_or(|n| n > 1.0 / ABSURD && n.is_finite());
        let limits = [self.max_speed, self.max_acceleration, self.max_jerk, self.max_effort];
        if !positive(self.stiffness) || !limits.into_iter().all(positive) {
            return Err(
                "stiffness and largest speed, acceleration, jerk and effort must be well above 0",
            );
        }
        if self.damping.is_some_and(|n| !(0.0..ABSURD).contains(&n)) {
            return Err("the damping must be 0 or more");
        }
        match self.gripper {
            Some([closed, open])
                if !(is_sane(&closed)
                    && is_sane(&open)
                    && (closed - open).abs() > 1.0 / ABSURD) =>
            {
                Err("closed and open must be two numbers that differ")
            }
            _ => Ok(()),
        }
    }

    /// `position` moved into the range.
    #[must_use]
    pub fn clamp(&self, position: f64) -> f64 {
        match self.range {
            Some([low, high]) => position.clamp(low, high),
            None => position,
        }
    }
}

fn is_sane(number: &f64) -> bool {
    number.abs() < ABSURD
}

fn is_pose(pose: &Pose) -> bool {
    let norm = pose.quat_wxyz.iter().map(|n| n * n).sum::<f64>();
    pose.pos_m.iter().all(is_sane) && (norm - 1.0).abs() < 1e-3
}
