//! Where an arm's tool is and how it moves, in double precision; and bounds of that for all
//! configurations of a motion, not only for those that are looked at.

use citrange_robot::{ChainSite, Kinematics, RigidTransform};
use nalgebra::{Matrix3, Vector3};

use crate::arm::PlannedArm;

/// The tool of an arm. Ask for a place first, everything else is about the last one.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    kinematics: Kinematics,
    site: ChainSite,
    arm_joints: usize,
    /// Scratch: all joints.
    all: Vec<f64>,
    at: RigidTransform,
    /// How far the tool can be from each joint's axis; 1 for slides, 0 where it is not moved.
    levers_m: Vec<f64>,
    /// 1 for joints that rotate the tool.
    turns: Vec<f64>,
}

impl Tool {
    pub(crate) fn new(arm: &PlannedArm) -> Self {
        let chain = arm.body().chain();
        let mut kinematics = Kinematics::new(chain);
        kinematics.update(arm.held());
        let site = chain.tool.clone();
        let at = kinematics.site(&site);
        let arm_joints = arm.joints();
        let moves = |joint| kinematics.moves(joint, site.link);
        let slide = |joint: usize| chain.joints[joint].is_slide;
        let mut levers_m = vec![0.0; arm_joints];
        let turns = (0..arm_joints).map(|j| if moves(j) && !slide(j) { 1.0 } else { 0.0 });
        let turns: Vec<f64> = turns.collect();
        // From the tool to the base: no point is further from an axis than along the links.
        let mut reach_m = 0.0;
        let mut before = at.pos_m;
        let mut next = Some(site.link);
        while let Some(joint) = next {
            let anchor = kinematics.anchor(joint);
            reach_m += (before - anchor).norm();
            before = anchor;
            if let Some(lever) = levers_m.get_mut(joint) {
                *lever = if slide(joint) { 1.0 } else { reach_m };
            }
            if slide(joint) {
                let range = arm.limits().get(joint).map_or([0.0; 2], |limit| limit.range);
                reach_m += range[1] - range[0];
            }
            next = chain.joints[joint].parent;
        }
        Self { kinematics, site, arm_joints, all: arm.held().to_vec(), at, levers_m, turns }
    }

    /// The tool's frame for joints of the arm.
    pub(crate) fn place(&mut self, joints: &[f64]) -> RigidTransform {
        self.all.iter_mut().zip(joints).take(self.arm_joints).for_each(|(to, from)| *to = *from);
        self.kinematics.update(&self.all);
        self.at = self.kinematics.site(&self.site);
        self.at
    }

    /// How the tool's point moves and the tool rotates with a joint, there.
    pub(crate) fn column(&self, joint: usize) -> (Vector3<f64>, Vector3<f64>) {
        self.kinematics.column(joint, self.site.link, &self.at.pos_m)
    }

    /// Its frame at the last place.
    pub(crate) fn last(&self) -> RigidTransform {
        self.at
    }

    pub(crate) fn joints(&self) -> usize {
        self.arm_joints
    }

    /// What the second derivative of the point's place can be at most, where joints move at up to
    /// `rates` and their rates change by up to `bends`.
    ///
    /// For joints `j` before `k` it is `z_j × (z_k × p)`: never more than the lever of `k`.
    pub(crate) fn bend_m(&self, rates: &[f64], bends: &[f64]) -> f64 {
        let (mut sum, mut before) = (0.0, 0.0);
        for (joint, lever) in self.levers_m.iter().enumerate() {
            let rate = rates[joint];
            sum += lever * (rate * (rate + 2.0 * before) + bends[joint]);
            before += rate * self.turns[joint];
        }
        sum
    }

    /// How fast the tool can rotate at most.
    pub(crate) fn turn_rad(&self, rates: &[f64]) -> f64 {
        rates.iter().zip(&self.turns).map(|(rate, turns)| rate * turns).sum()
    }

    /// How fast its point can move at most.
    pub(crate) fn speed_m(&self, rates: &[f64]) -> f64 {
        rates.iter().zip(&self.levers_m).map(|(rate, lever)| rate * lever).sum()
    }

    /// What the second derivative of a direction that is fixed to the tool can be at most.
    pub(crate) fn direction_bend(&self, rates: &[f64], bends: &[f64]) -> f64 {
        let (mut sum, mut before) = (0.0, 0.0);
        for (joint, turns) in self.turns.iter().enumerate() {
            let rate = rates[joint] * turns;
            sum += rate * (rate + 2.0 * before) + bends[joint] * turns;
            before += rate;
        }
        sum
    }
}

/// The rotation from one orientation to another, as an axis times an angle, in the world.
pub(crate) fn rotation_between(from: &Matrix3<f64>, to: &Matrix3<f64>) -> Vector3<f64> {
    let by = nalgebra::Rotation3::from_matrix_unchecked(to * from.transpose());
    nalgebra::UnitQuaternion::from_rotation_matrix(&by).scaled_axis()
}
