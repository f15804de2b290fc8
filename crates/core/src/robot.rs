//! What Citrange knows about a robot beside its MJCF: names, poses, limits, gains.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::names::suggestion;

/// A robot's `robot.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RobotDescription {
    /// Short name, used in scenes.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// MJCF or URDF file, beside the description.
    pub model: String,
    /// The body of the model that this robot hangs on, where the model holds several robots; the
    /// others are left out. Keyframes and all names are those of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// A gripper's own model, put onto the arm's: where the maker ships the two apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hand: Option<HandModel>,
    /// Folders with the packages that a URDF names, from the description's own folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// Height of the base frame above the surface on which the robot stands.
    #[serde(default)]
    pub base_height_m: f64,
    /// Arm joints from the base outwards.
    pub arm_joints: Vec<String>,
    /// Gripper, if it has one.
    #[serde(default)]
    pub gripper: Option<Gripper>,
    /// How the gripper takes things, if an autopilot is to use it.
    #[serde(default)]
    pub grasp: Option<Grasp>,
    /// Sites with a meaning: `tool`, `wrist`.
    #[serde(default)]
    pub sites: BTreeMap<String, String>,
    /// Frames with those meanings on bodies of the model, where it has no site for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub frames: BTreeMap<String, BodyFrame>,
    /// Name of the pose a robot starts in.
    pub home: String,
    /// Joint vectors by name, in the order of [`RobotDescription::joints`].
    pub poses: BTreeMap<String, Vec<f64>>,
    /// Limits of motion per joint.
    #[serde(default)]
    pub joint_limits: BTreeMap<String, JointLimits>,
    /// Gain sets by name; `default` is what the model file has. Joints that have a motor there, or
    /// nothing, get a position servo with the gains of `default`.
    #[serde(default)]
    pub servos: BTreeMap<String, Servo>,
}

/// The model of a gripper, and where on the arm it goes. Its names begin with `hand/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandModel {
    /// MJCF or URDF file, beside the description.
    pub model: String,
    /// The site or body of the arm's model that it is put onto, frame on frame.
    pub at: String,
}

/// A frame fixed to a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodyFrame {
    /// The body's name in the model.
    pub body: String,
    /// Where, in the body.
    #[serde(default)]
    pub pos_m: [f64; 3],
    /// Turned how.
    #[serde(default = "unturned")]
    pub quat_wxyz: [f64; 4],
}

impl BodyFrame {
    fn is_sane(&self) -> bool {
        let length = self.quat_wxyz.iter().map(|n| n * n).sum::<f64>();
        self.pos_m.iter().all(|n| n.abs() < 1e6) && (length - 1.0).abs() < 1e-3
    }
}

fn unturned() -> [f64; 4] {
    [1.0, 0.0, 0.0, 0.0]
}

/// A gripper's joints and their extreme positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gripper {
    /// Joint names.
    pub joints: Vec<String>,
    /// Positions when fully open (rad or m).
    pub open: Vec<f64>,
    /// Positions when fully closed.
    pub closed: Vec<f64>,
}

/// Where a gripper holds things. Points and directions are in the frame of the site `tool`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grasp {
    /// Where the middle of a held thing is; with `from_face`, the point of the fixed jaw's face
    /// that it touches.
    pub point_m: [f64; 3],
    /// From the fixed (or first) jaw to the moving (or second) one.
    pub jaw_axis: [f64; 3],
    /// Where the tool points.
    pub tool_axis: [f64; 3],
    /// One jaw does not move: things lie at its face, whatever their width.
    #[serde(default)]
    pub from_face: bool,
}

/// How far, how fast and how strongly a joint may move. Slide joints use the metre fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JointLimits {
    /// From, to, where the model's ends are too far or the joint has none (rad or m).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Largest speed of a hinge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub velocity_rad_s: Option<f64>,
    /// Largest acceleration of a hinge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceleration_rad_s2: Option<f64>,
    /// Largest change of acceleration of a hinge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jerk_rad_s3: Option<f64>,
    /// Largest torque of a hinge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort_nm: Option<f64>,
    /// Largest speed of a slide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub velocity_m_s: Option<f64>,
    /// Largest acceleration of a slide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceleration_m_s2: Option<f64>,
    /// Largest change of acceleration of a slide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jerk_m_s3: Option<f64>,
    /// Largest force of a slide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort_n: Option<f64>,
}

/// Gains of the position servos.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Servo {
    /// Stiffness, N m/rad (N/m for slides).
    pub kp: PerJoint,
    /// Damping, N m s/rad (N s/m for slides).
    pub kv: PerJoint,
    /// Largest torque or force.
    pub force: PerJoint,
}

/// One number for all joints, or one for each in joint order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged, expecting = "expected one number, or a list with one per joint")]
pub enum PerJoint {
    /// The same for all.
    All(f64),
    /// One per joint.
    Each(Vec<f64>),
}

impl PerJoint {
    /// The value for joint number `index`.
    #[must_use]
    pub fn at(&self, index: usize) -> Option<f64> {
        match self {
            Self::All(value) => Some(*value),
            Self::Each(values) => values.get(index).copied(),
        }
    }

    fn fits(&self, joints: usize) -> bool {
        !matches!(self, Self::Each(values) if values.len() != joints)
    }
}

impl RobotDescription {
    /// All joints: arm, then gripper.
    pub fn joints(&self) -> impl Iterator<Item = &str> + Clone {
        let gripper = self.gripper.iter().flat_map(|g| &g.joints);
        self.arm_joints.iter().chain(gripper).map(String::as_str)
    }

    /// The joint vector of a named pose.
    ///
    /// # Errors
    /// When there is no such pose; the message lists those there are.
    pub fn pose(&self, name: &str) -> Result<&[f64], String> {
        self.poses.get(name).map(Vec::as_slice).ok_or_else(|| {
            let known = self.poses.keys().map(String::as_str);
            format!("robot {} has no pose \"{name}\", {}", self.name, suggestion(name, known))
        })
    }

    /// Checks that lengths and names agree with each other.
    ///
    /// # Errors
    /// Names the first thing that does not fit.
    pub fn check(&self) -> Result<(), String> {
        let joints = self.joints().count();
        self.pose(&self.home)?;
        if let Some((name, pose)) = self.poses.iter().find(|(_, pose)| pose.len() != joints) {
            return Err(format!(
                "pose {name} of {} has {} numbers, the robot has {joints} joints",
                self.name,
                pose.len()
            ));
        }
        if let Some(joint) = self.joint_limits.keys().find(|j| !self.joints().any(|k| k == *j)) {
            return Err(format!(
                "joint_limits of {} names \"{joint}\", {}",
                self.name,
                suggestion(joint, self.joints())
            ));
        }
        let odd = |range: &[f64; 2]| !(range[0] < range[1] && range.iter().all(|n| n.is_finite()));
        if let Some((joint, _)) =
            self.joint_limits.iter().find(|(_, limits)| limits.range.as_ref().is_some_and(odd))
        {
            return Err(format!(
                "joint_limits of {}: the range of {joint} must be [lowest, highest]",
                self.name
            ));
        }
        if let Some((role, frame)) = self.frames.iter().find(|(_, f)| !f.is_sane()) {
            return Err(format!(
                "frames of {}: {role} on {} needs finite numbers and a quaternion of length 1",
                self.name, frame.body
            ));
        }
        if let Some(g) = &self.gripper
            && (g.open.len() != g.joints.len() || g.closed.len() != g.joints.len())
        {
            return Err(format!(
                "gripper of {}: joints, open and closed differ in length",
                self.name
            ));
        }
        for (name, servo) in &self.servos {
            if ![&servo.kp, &servo.kv, &servo.force].iter().all(|v| v.fits(joints)) {
                return Err(format!(
                    "servo {name} of {}: a list must have {joints} numbers, one per joint",
                    self.name
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::from_yaml;

    const TEXT: &str = "
name: two
title: Two joints
model: two.xml
arm_joints: [a, b]
home: up
poses: {up: [0, 1]}
servos: {default: {kp: 10, kv: [1, 2], force: 5}}
";

    #[test]
    fn reads_checks_and_finds_faults() {
        let robot: RobotDescription = from_yaml(TEXT, "two.yaml").unwrap();
        robot.check().unwrap();
        assert_eq!(robot.pose("up").unwrap(), [0.0, 1.0]);
        assert!(robot.pose("upp").unwrap_err().contains("did you mean \"up\""));
        let mut short = robot.clone();
        short.poses.insert("bad".into(), vec![0.0]);
        assert!(short.check().unwrap_err().contains("pose bad"));
        let mut servo = robot;
        servo.servos.insert(
            "x".into(),
            Servo {
                kp: PerJoint::Each(vec![1.0]),
                kv: PerJoint::All(0.0),
                force: PerJoint::All(1.0),
            },
        );
        assert!(servo.check().unwrap_err().contains("servo x"));
    }
}
