//! All joints that bring the tool to a place, as far as a search from many starts finds them,
//! and how near it can come where there are none.

use nalgebra::{Matrix3, Rotation3, Vector3};

use super::descent::{Joints, Task};
use super::linkage::Linkage;
use super::sift::{are_same, turns};
use super::starts::starts;
use crate::chain::{Chain, ChainSite};
use crate::error::RobotError;
use crate::joint_motion::RigidTransform;
use crate::kinematics::Kinematics;

/// Where the tool should be, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IkTarget {
    /// Place of the working point.
    pub at_m: Vector3<f64>,
    /// How the tool should be oriented.
    pub orientation: Orientation,
}

/// How a tool should be oriented.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Orientation {
    /// As it comes.
    Free,
    /// One direction of the tool is given, the rotation about it is free.
    Axis {
        /// The direction in the frame of the tool, unit length.
        of_tool: Vector3<f64>,
        /// Where it should point in the world, unit length.
        toward: Vector3<f64>,
    },
    /// The tool's frame is given.
    Full(Rotation3<f64>),
}

/// How hard to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IkSettings {
    /// How many starts; the given joints and home are the first two.
    pub starts: usize,
    /// Decides the other starts.
    pub seed: u64,
    /// A solution is at most this far from its point.
    pub exact_m: f64,
    /// And at most this far from its orientation.
    pub exact_rad: f64,
    /// What a radian of orientation counts in metres, where both cannot be had.
    pub rotation_weight_m: f64,
    /// Whether whole turns of a joint are answers of their own; otherwise only the turn nearest
    /// to the given joints is.
    pub turns: bool,
    /// Most answers that are given, the nearest first.
    pub most: usize,
}

impl Default for IkSettings {
    fn default() -> Self {
        Self {
            starts: 64,
            seed: 0,
            exact_m: 1e-6,
            exact_rad: 1e-6,
            rotation_weight_m: 0.3,
            turns: true,
            most: 1024,
        }
    }
}

/// Joints of the arm, and how near they bring the tool.
#[derive(Clone, Debug, PartialEq)]
pub struct IkSolution {
    /// Positions of the arm's joints.
    pub joints: Vec<f64>,
    /// Distance of the working point from where it should be.
    pub error_m: f64,
    /// Angle between the orientation and what it should be; 0 where it is free.
    pub angle_rad: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct IkSolutions {
    /// Exact solutions that differ, whole turns of a joint among them; sorted by their distance
    /// from the given joints.
    pub solutions: Vec<IkSolution>,
    /// Where there are none: the nearest misses, best first.
    pub misses: Vec<IkSolution>,
}

/// Inverse kinematics of any arm, from many starts at once.
#[derive(Clone, Debug)]
pub struct InverseKinematics {
    robot: String,
    kinematics: Kinematics,
    tool: ChainSite,
    linkage: Linkage,
    point: Vector3<f64>,
    arm_joints: usize,
    home: Vec<f64>,
    // Scratch: positions of all joints.
    all: Vec<f64>,
}

impl InverseKinematics {
    /// For a chain; `home` has a position of every joint: the arm's are the second start, the
    /// others stay there.
    ///
    /// # Errors
    /// When no joint of the arm moves the tool or too many do, or `home` has too few numbers.
    pub fn new(chain: &Chain, home: &[f64]) -> Result<Self, RobotError> {
        let fail = |reason: String| RobotError::Chain { robot: chain.robot.clone(), reason };
        chain.check()?;
        if home.len() != chain.joints.len() || home.iter().any(|q| !q.is_finite()) {
            let (given, all) = (home.len(), chain.joints.len());
            return Err(fail(format!("home needs {all} numbers, one of each joint, not {given}")));
        }
        let mut kinematics = Kinematics::new(chain);
        kinematics.update(home);
        Ok(Self {
            robot: chain.robot.clone(),
            kinematics,
            tool: chain.tool.clone(),
            linkage: Linkage::new(chain, home).map_err(fail)?,
            point: Vector3::zeros(),
            arm_joints: chain.arm_joints,
            home: home.to_vec(),
            all: home.to_vec(),
        })
    }

    /// Moves the working point, in the frame of the tool.
    pub fn set_point(&mut self, point_m: Vector3<f64>) {
        self.point = point_m;
    }

    /// Narrows or widens the ranges of the arm's joints: lowest and highest, in their order.
    ///
    /// # Errors
    /// When a range is not two finite numbers, the lowest first.
    pub fn set_ranges(
        &mut self,
        ranges: impl IntoIterator<Item = [f64; 2]>,
    ) -> Result<(), RobotError> {
        for (joint, range) in ranges.into_iter().enumerate() {
            if !(range[0] <= range[1] && range.iter().all(|end| end.is_finite())) {
                let reason = format!("range {range:?} of joint {joint} must be [lowest, highest]");
                return Err(RobotError::Chain { robot: self.robot.clone(), reason });
            }
            if let Some(step) = self.linkage.steps.iter_mut().find(|s| s.joint == joint) {
                step.set_range(range);
            }
        }
        Ok(())
    }

    /// The place and orientation of the tool for joints of the arm.
    pub fn aim_of(&mut self, joints: &[f64]) -> IkTarget {
        let tool = self.place(joints);
        let orientation = Orientation::Full(Rotation3::from_matrix_unchecked(tool.rot));
        IkTarget { at_m: tool.pos_m + tool.rot * self.point, orientation }
    }

    /// How near joints of the arm bring the tool.
    pub fn measure(&mut self, aim: &IkTarget, joints: &[f64]) -> IkSolution {
        let tool = self.place(joints);
        let angle_rad = match &aim.orientation {
            Orientation::Free => 0.0,
            Orientation::Axis { of_tool, toward } => {
                let axis = tool.rot * of_tool;
                axis.cross(toward).norm().atan2(axis.dot(toward))
            }
            Orientation::Full(wanted) => angle_between(wanted.matrix(), &tool.rot),
        };
        let error_m = (tool.pos_m + tool.rot * self.point - aim.at_m).norm();
        IkSolution { joints: joints.to_vec(), error_m, angle_rad }
    }

    fn place(&mut self, joints: &[f64]) -> RigidTransform {
        self.all.clear();
        self.all.extend(joints.iter().take(self.arm_joints));
        self.all.extend(&self.home[self.all.len()..]);
        self.kinematics.update(&self.all);
        self.kinematics.site(&self.tool)
    }

    /// Looks for joints that bring the tool there. `near` are joints of the arm: the first
    /// start, and what solutions are sorted by.
    pub fn solve(&mut self, aim: &IkTarget, near: &[f64], settings: &IkSettings) -> IkSolutions {
        let task = Task {
            linkage: &self.linkage,
            aim,
            point_m: self.point,
            rotation_weight_m: settings.rotation_weight_m,
        };
        let starts = starts(&self.linkage, &[near, &self.home], settings.starts, settings.seed);
        let ends = task.descend(&starts);
        let mut exact: Vec<Joints> = Vec::new();
        let mut misses: Vec<(Joints, f64)> = Vec::new();
        for end in ends {
            let fit = self.measure(aim, &self.spread(&end, near));
            if fit.error_m <= settings.exact_m && fit.angle_rad <= settings.exact_rad {
                if !exact.iter().any(|e| are_same(&self.linkage, e, &end)) {
                    exact.push(end);
                }
            } else if exact.is_empty() {
                misses.push((end, fit.error_m.hypot(settings.rotation_weight_m * fit.angle_rad)));
            }
        }
        if !exact.is_empty() {
            let mut solutions = self.all_turns(aim, near, &exact, settings);
            let away = |s: &IkSolution| -> f64 {
                s.joints.iter().zip(near).map(|(a, b)| (a - b).powi(2)).sum()
            };
            solutions.sort_by(|a, b| away(a).total_cmp(&away(b)));
            solutions.truncate(settings.most);
            return IkSolutions { solutions, misses: Vec::new() };
        }
        misses.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut distinct: Vec<Joints> = Vec::new();
        for (end, _) in misses {
            if !distinct.iter().any(|d| are_same(&self.linkage, d, &end)) {
                distinct.push(end);
            }
        }
        let misses = self.all_turns(aim, near, &distinct, settings);
        IkSolutions { solutions: Vec::new(), misses }
    }

    /// Joints of the linkage as joints of the arm; those that do not move the tool stay.
    fn spread(&self, at: &Joints, near: &[f64]) -> Vec<f64> {
        let mut joints = self.home[..self.arm_joints].to_vec();
        for (joint, near) in joints.iter_mut().zip(near) {
            *joint = *near;
        }
        for (step, position) in self.linkage.steps.iter().zip(at) {
            joints[step.joint] = *position;
        }
        joints
    }

    fn all_turns(
        &mut self,
        aim: &IkTarget,
        near: &[f64],
        bases: &[Joints],
        settings: &IkSettings,
    ) -> Vec<IkSolution> {
        let most = if settings.turns { settings.most } else { 1 };
        let mut all = Vec::new();
        for base in bases {
            // Whole turns change the joints and nothing else.
            let fit = self.measure(aim, &self.spread(base, near));
            let turns = turns(&self.linkage, base, near, most);
            all.extend(turns.iter().map(|at| IkSolution { joints: self.spread(at, near), ..fit }));
        }
        all
    }
}

/// Angle of the rotation from one orientation to another; exact near 0, where the cosine is not.
fn angle_between(a: &Matrix3<f64>, b: &Matrix3<f64>) -> f64 {
    let sine: Vector3<f64> = (0..3).map(|k| a.column(k).cross(&b.column(k))).sum();
    let cosine: f64 = (0..3).map(|k| a.column(k).dot(&b.column(k))).sum();
    sine.norm().atan2(cosine - 1.0)
}
