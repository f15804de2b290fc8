//! Joints for a place of the hand: a point of the tool at a point of the world, the tool pointing
//! down as nearly as it can, the jaws at the yaw asked for.
//!
//! Levenberg-Marquardt over the arm's joints with their ranges as bounds. The point counts most,
//! tilt and yaw less by a factor that leaves it exact, and a pull to the home pose least: it
//! decides where an arm of seven joints is free. Started from joints nearby it takes two or three
//! rounds and allocates nothing.

use citrange_core::robot::Grasp;
use nalgebra::{SMatrix, SVector, Unit, Vector3};

use crate::chain::Chain;
use crate::error::RobotError;
use crate::joint_motion::RigidTransform;
use crate::kinematics::Kinematics;

/// Most joints an arm may have here.
const MOST: usize = 7;
/// What a radian of tilt or yaw counts in metres of distance.
const ROTATION_WEIGHT_M: f64 = 0.003;
/// What a radian away from home counts.
const HOME_M: f64 = 1e-5;
/// Longest step of a joint in one round.
const LONGEST_STEP: f64 = 0.35;
const ROUNDS: usize = 80;
/// A step this short ends the search: a ten-thousandth of a millimetre at arm's length.
const STILL_RAD: f64 = 3e-7;
/// And so does a gain of the squared distance this small.
const NO_GAIN_M2: f64 = 1e-14;

type Square = SMatrix<f64, MOST, MOST>;
type Joints = SVector<f64, MOST>;

/// Where the hand should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandGoal {
    /// Place of the working point, in the world.
    pub at_m: Vector3<f64>,
    /// Direction from the first jaw to the second, as an angle about the vertical from +X.
    pub jaw_yaw_rad: f64,
}

/// Where the hand is for some joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandPose {
    /// The working point, in the world.
    pub at_m: Vector3<f64>,
    /// Where the tool points.
    pub tool_axis: Vector3<f64>,
    /// From the first jaw to the second.
    pub jaw_axis: Vector3<f64>,
}

impl HandPose {
    /// Angle between the tool and straight down.
    #[must_use]
    pub fn tilt_rad(&self) -> f64 {
        // Exact near 0, where the cosine is not.
        self.tool_axis.x.hypot(self.tool_axis.y).atan2(-self.tool_axis.z)
    }

    /// Turn of the jaws about the vertical.
    #[must_use]
    pub fn jaw_yaw_rad(&self) -> f64 {
        self.jaw_axis.y.atan2(self.jaw_axis.x)
    }
}

/// How well joints were found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Distance of the working point from its goal.
    pub error_m: f64,
    /// Angle between the tool and straight down.
    pub tilt_rad: f64,
    /// What is missing of the yaw of the jaws.
    pub yaw_error_rad: f64,
}

/// What a fit must keep to be one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Largest distance of the working point from its goal.
    pub error_m: f64,
    /// Largest angle between the tool and straight down.
    pub tilt_rad: f64,
    /// Largest error of the yaw.
    pub yaw_rad: f64,
}

impl Fit {
    fn of(goal: &HandGoal, hand: &HandPose) -> Self {
        Self {
            error_m: (goal.at_m - hand.at_m).norm(),
            tilt_rad: hand.tilt_rad(),
            yaw_error_rad: wrapped(goal.jaw_yaw_rad - hand.jaw_yaw_rad()),
        }
    }

    /// Whether it keeps a tolerance.
    #[must_use]
    pub fn keeps(&self, tolerance: &Tolerance) -> bool {
        self.error_m <= tolerance.error_m
            && self.tilt_rad <= tolerance.tilt_rad
            && self.yaw_error_rad.abs() <= tolerance.yaw_rad
    }
}

/// Inverse kinematics of one arm, with its scratch.
#[derive(Clone, Debug)]
pub struct ToolDownIk {
    kinematics: Kinematics,
    link: usize,
    link_from_tool: RigidTransform,
    grasp: Grasp,
    point: Vector3<f64>,
    jaw: Unit<Vector3<f64>>,
    tool: Unit<Vector3<f64>>,
    ranges: Vec<Option<[f64; 2]>>,
    home: Vec<f64>,
}

impl ToolDownIk {
    /// For a chain that says how it grasps; its grasp point is the working point. `home` is the
    /// pose that the arm stays near where it is free to choose.
    ///
    /// # Errors
    /// When the chain names no grasp, or has more joints than can be solved for.
    pub fn new(chain: &Chain, home: &[f64]) -> Result<Self, RobotError> {
        let fail = |reason: String| RobotError::Chain { robot: chain.robot.clone(), reason };
        let grasp = chain.grasp.ok_or_else(|| {
            fail("robot.yaml has no `grasp`: where things are held, and which way it works".into())
        })?;
        let arm = chain.arm_joints;
        if arm == 0 || arm > MOST || home.len() < arm {
            return Err(fail(format!("{arm} arm joints and a home pose of {}", home.len())));
        }
        let axis = |name: &str, v: [f64; 3]| {
            Unit::try_new(Vector3::from(v), 1e-6)
                .ok_or_else(|| fail(format!("grasp.{name} must be a direction, not {v:?}")))
        };
        Ok(Self {
            kinematics: Kinematics::new(chain),
            link: chain.tool.link,
            link_from_tool: RigidTransform::of(&chain.tool.link_from_site),
            point: Vector3::from(grasp.point_m),
            grasp,
            jaw: axis("jaw_axis", grasp.jaw_axis)?,
            tool: axis("tool_axis", grasp.tool_axis)?,
            ranges: chain.joints[..arm].iter().map(|j| j.range).collect(),
            home: home[..arm].to_vec(),
        })
    }

    /// How the hand takes things.
    #[must_use]
    pub fn grasp(&self) -> &Grasp {
        &self.grasp
    }

    /// Moves the working point, in the frame of the tool.
    pub fn set_point(&mut self, point_m: Vector3<f64>) {
        self.point = point_m;
    }

    /// Number of joints it solves for.
    #[must_use]
    pub fn arm_joints(&self) -> usize {
        self.home.len()
    }

    /// Where the hand is for these joints (the gripper's may be left out).
    pub fn hand(&mut self, joints: &[f64]) -> HandPose {
        self.kinematics.update(joints);
        let tool = self.kinematics.link(self.link).then(&self.link_from_tool);
        HandPose {
            at_m: tool.pos_m + tool.rot * self.point,
            tool_axis: tool.rot * self.tool.into_inner(),
            jaw_axis: tool.rot * self.jaw.into_inner(),
        }
    }

    /// The kinematics at the joints last asked for.
    #[must_use]
    pub fn kinematics(&self) -> &Kinematics {
        &self.kinematics
    }

    /// Moves `joints` (the arm's come first, the rest is left alone) to the goal as nearly as
    /// the arm can from there, and says how near that is.
    pub fn solve(&mut self, goal: &HandGoal, joints: &mut [f64]) -> Fit {
        let n = self.home.len();
        self.clamp(joints);
        let mut hand = self.hand(joints);
        let mut cost = self.cost(goal, &hand, joints);
        let mut damping = 1e-9;
        let mut tried = [0.0; MOST];
        for _ in 0..ROUNDS {
            let (square, pull) = self.normal_equations(goal, &hand, joints);
            let step = self.bounded_step(&square, &pull, damping, joints);
            let longest = step.amax();
            if longest < STILL_RAD {
                break;
            }
            let scale = (LONGEST_STEP / longest).min(1.0);
            for j in 0..n {
                tried[j] = joints[j] + scale * step[j];
            }
            let reached = self.hand(&tried[..n]);
            let new = self.cost(goal, &reached, &tried[..n]);
            if new < cost {
                hand = reached;
                joints[..n].copy_from_slice(&tried[..n]);
                let gained = cost - new;
                cost = new;
                damping = (damping * 0.1).max(1e-12);
                if gained < NO_GAIN_M2 {
                    break;
                }
            } else {
                // The kinematics must be where the next equations are made.
                self.kinematics.update(&joints[..n]);
                damping *= 20.0;
                if damping > 1.0 {
                    break;
                }
            }
        }
        Fit::of(goal, &hand)
    }

    /// As [`ToolDownIk::solve`], tried from `joints` and then from the home pose; `joints` are changed
    /// only when what was found keeps the tolerance.
    pub fn find(&mut self, goal: &HandGoal, within: &Tolerance, joints: &mut [f64]) -> Fit {
        let n = self.home.len();
        let mut best: Option<Fit> = None;
        for start in 0..2 {
            let mut tried = [0.0; MOST];
            let from: &[f64] = if start == 0 { joints } else { &self.home };
            tried[..n].copy_from_slice(&from[..n]);
            let fit = self.solve(goal, &mut tried[..n]);
            if fit.keeps(within) {
                joints[..n].copy_from_slice(&tried[..n]);
                return fit;
            }
            if best.is_none_or(|b| fit.error_m < b.error_m) {
                best = Some(fit);
            }
        }
        best.unwrap_or(Fit { error_m: f64::INFINITY, tilt_rad: 0.0, yaw_error_rad: 0.0 })
    }

    /// How well joints reach a goal.
    pub fn fit(&mut self, goal: &HandGoal, joints: &[f64]) -> Fit {
        Fit::of(goal, &self.hand(joints))
    }

    fn clamp(&self, joints: &mut [f64]) {
        for (joint, range) in joints.iter_mut().zip(&self.ranges) {
            if let Some([low, high]) = range {
                *joint = joint.clamp(*low, *high);
            }
        }
    }

    fn cost(&self, goal: &HandGoal, hand: &HandPose, joints: &[f64]) -> f64 {
        let away: f64 = joints.iter().zip(&self.home).map(|(q, home)| (home - q).powi(2)).sum();
        (goal.at_m - hand.at_m).norm_squared()
            + ROTATION_WEIGHT_M.powi(2) * (down() - hand.tool_axis).norm_squared()
            + ROTATION_WEIGHT_M.powi(2) * wrapped(goal.jaw_yaw_rad - hand.jaw_yaw_rad()).powi(2)
            + HOME_M.powi(2) * away
    }

    /// The kinematics must be at `joints`, where the hand is.
    fn normal_equations(
        &self,
        goal: &HandGoal,
        hand: &HandPose,
        joints: &[f64],
    ) -> (Square, Joints) {
        let miss = goal.at_m - hand.at_m;
        let tilt = (down() - hand.tool_axis) * ROTATION_WEIGHT_M;
        let yaw = wrapped(goal.jaw_yaw_rad - hand.jaw_yaw_rad()) * ROTATION_WEIGHT_M;
        let flat = hand.jaw_axis.xy().norm_squared().max(1e-6);
        let mut columns = [SVector::<f64, MOST>::zeros(); MOST];
        let mut pull = Joints::zeros();
        for (j, column) in columns.iter_mut().enumerate().take(self.home.len()) {
            let (moves, rotates) = self.kinematics.column(j, self.link, &hand.at_m);
            let tips = rotates.cross(&hand.tool_axis) * ROTATION_WEIGHT_M;
            let swings = rotates.cross(&hand.jaw_axis);
            let yaws = (hand.jaw_axis.x * swings.y - hand.jaw_axis.y * swings.x) / flat
                * ROTATION_WEIGHT_M;
            column.fixed_rows_mut::<3>(0).copy_from(&moves);
            column.fixed_rows_mut::<3>(3).copy_from(&tips);
            column[6] = yaws;
            pull[j] = moves.dot(&miss)
                + tips.dot(&tilt)
                + yaws * yaw
                + HOME_M.powi(2) * (self.home[j] - joints[j]);
        }
        let mut square = Square::zeros();
        for (j, a) in columns.iter().enumerate() {
            for (k, b) in columns.iter().enumerate().take(j + 1) {
                square[(j, k)] = a.dot(b);
                square[(k, j)] = square[(j, k)];
            }
            square[(j, j)] += HOME_M.powi(2);
        }
        (square, pull)
    }

    /// The step of least squares; joints that would leave their range stay at its end and the
    /// others take over.
    fn bounded_step(&self, square: &Square, pull: &Joints, damping: f64, joints: &[f64]) -> Joints {
        let mut fixed = [None; MOST];
        let mut step = Joints::zeros();
        for _ in 0..=self.home.len() {
            let mut matrix = *square;
            let mut wanted = *pull;
            for j in 0..MOST {
                matrix[(j, j)] += damping;
            }
            for (j, held) in fixed.iter().enumerate() {
                let Some(held) = *held else { continue };
                wanted -= matrix.column(j) * held;
                matrix.row_mut(j).fill(0.0);
                matrix.column_mut(j).fill(0.0);
                matrix[(j, j)] = 1.0;
            }
            for (j, held) in fixed.iter().enumerate() {
                if let Some(held) = held {
                    wanted[j] = *held;
                }
            }
            let Some(factors) = matrix.cholesky() else { return Joints::zeros() };
            step = factors.solve(&wanted);
            let mut worst = (1e-12, None);
            for (j, range) in self.ranges.iter().enumerate() {
                let (None, Some([low, high])) = (fixed[j], range) else { continue };
                let next = joints[j] + step[j];
                let over = (next - high).max(low - next);
                if over > worst.0 {
                    worst = (over, Some((j, next.clamp(*low, *high) - joints[j])));
                }
            }
            let Some((j, held)) = worst.1 else { break };
            fixed[j] = Some(held);
        }
        step
    }
}

fn down() -> Vector3<f64> {
    -Vector3::z()
}

/// An angle between minus and plus half a turn.
#[must_use]
pub fn wrapped(angle: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    angle - turn * (angle / turn).round()
}
