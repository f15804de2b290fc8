//! How joints are driven: by a servo of their own, by one that pulls several through a tendon, or
//! by another joint that they are coupled to.

use citrange_core::RobotDescription;
use mujoco_rs::mujoco_c::{mjtBias, mjtDyn, mjtEq, mjtGain, mjtTrn, mjtWrap};
use mujoco_rs::prelude::*;

use crate::layout::Joint;

/// A joint that friction holds so far off its target cannot be driven in small steps.
const STUCK_RAD: f64 = 0.03;
const STUCK_M: f64 = 0.005;

/// A position servo as its joint sees it: the command that holds a position is a straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PositionDrive {
    /// Index of the actuator.
    pub(crate) actuator: usize,
    /// What the actuator's length gains when the joint moves by 1.
    pub(crate) length_per_unit: f64,
    /// Command at position 0, and what is added per unit of position; `None` where the command
    /// is the position.
    line: Option<[f64; 2]>,
}

impl PositionDrive {
    /// The command that holds a position.
    pub(crate) fn command(&self, position: f64) -> f64 {
        match self.line {
            None => position,
            Some([at_zero, per_unit]) => {
                let near = at_zero + per_unit * position;
                // What was read as a position must read so again, to the bit.
                let steps = [near, near.next_up(), near.next_down()];
                steps.into_iter().find(|c| self.position(*c) == position).unwrap_or(near)
            }
        }
    }

    /// The position that a command holds.
    pub(crate) fn position(&self, command: f64) -> f64 {
        match self.line {
            None => command,
            Some([at_zero, per_unit]) => (command - at_zero) / per_unit,
        }
    }

    /// Stiffness at the joint, N m/rad (N/m for slides).
    pub(crate) fn stiffness(&self, model: &MjModel) -> f64 {
        let stiffness = -model.actuator_biasprm()[self.actuator][1];
        stiffness * self.length_per_unit * self.length_per_unit
    }

    /// Damping at the joint, N m s/rad (N s/m for slides).
    pub(crate) fn damping(&self, model: &MjModel) -> f64 {
        let damping = -model.actuator_biasprm()[self.actuator][2];
        (damping * self.length_per_unit * self.length_per_unit).max(0.0)
    }

    /// Both ends of a range of commands, as positions, lower first.
    pub(crate) fn positions(&self, commands: [f64; 2]) -> [f64; 2] {
        let [a, b] = commands.map(|c| self.position(c));
        [a.min(b), a.max(b)]
    }
}

impl Joint {
    /// Where it may be sent: what its servo takes, within the joint's own ends where the two
    /// differ; `None` where nothing limits it.
    pub(crate) fn commanded_range(
        &self,
        model: &MjModel,
        description: Option<&RobotDescription>,
    ) -> Option<[f64; 2]> {
        let limits = description.and_then(|d| d.joint_limits.get(&self.name));
        let narrower = |range: [f64; 2], ends: [f64; 2]| {
            let [from, to] = [range[0].max(ends[0]), range[1].min(ends[1])];
            if from < to { [from, to] } else { ends }
        };
        let servo = self.drive.filter(|drive| model.actuator_ctrllimited()[drive.actuator]);
        let own = servo.map(|drive| {
            let range = drive.positions(model.actuator_ctrlrange()[drive.actuator]);
            match (drive.line, self.range) {
                (Some(_), Some(ends)) => narrower(range, ends),
                _ => range,
            }
        });
        match (own.or(self.range), limits.and_then(|limits| limits.range)) {
            (Some(own), Some(said)) => Some(narrower(said, own)),
            (own, said) => own.or(said),
        }
    }

    /// How far from its target its own friction holds it, rad (m for slides).
    pub(crate) fn dead_band(&self, model: &MjModel) -> Option<f64> {
        let stiffness = self.drive?.stiffness(model);
        (stiffness > 0.0).then(|| model.dof_frictionloss()[self.dof] / stiffness)
    }

    /// Why its servo hardly moves it, where that is so, for people.
    pub(crate) fn why_stuck(&self, model: &MjModel) -> Option<String> {
        let is_slide = model.jnt_type()[self.id] == MjtJoint::mjJNT_SLIDE;
        let band = self.dead_band(model)?;
        if band < if is_slide { STUCK_M } else { STUCK_RAD } {
            return None;
        }
        let off = if is_slide {
            format!("{:.0} mm", 1e3 * band)
        } else {
            format!("{:.0} degrees", band.to_degrees())
        };
        Some(format!("friction holds joint {} until its servo is {off} off", self.name))
    }

    /// Largest torque of its servo, N m (N for slides).
    pub(crate) fn max_effort(&self, model: &MjModel) -> Option<f64> {
        let drive = self.drive?;
        let servo = model.actuator_forcelimited()[drive.actuator]
            .then(|| model.actuator_forcerange()[drive.actuator][1] * drive.length_per_unit.abs());
        let joint = model.jnt_actfrclimited()[self.id].then(|| model.jnt_actfrcrange()[self.id][1]);
        match (servo, joint) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}

/// A joint that goes where another one takes it: `offset + ratio * leader`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Follow {
    /// Index of the other among the joints of the tree.
    pub(crate) leader: usize,
    pub(crate) ratio: f64,
    pub(crate) offset: f64,
}

impl Follow {
    pub(crate) fn position(&self, leader: f64) -> f64 {
        self.offset + self.ratio * leader
    }
}

/// Finds out what drives each joint of a tree.
pub(crate) fn find_drives(model: &MjModel, joints: &mut [Joint]) {
    let couplings = couplings(model, joints);
    for actuator in 0..model.ffi().nu as usize {
        let Some(terms) = terms(model, actuator, joints) else { continue };
        if !is_position_servo(model, actuator) {
            continue;
        }
        let Some(&(leader, _)) = terms.iter().find(|(j, _)| joints[*j].drive.is_none()) else {
            continue;
        };
        let (mut length, mut per_unit) = (0.0, 0.0);
        for &(joint, coef) in &terms {
            if joint == leader {
                per_unit += coef;
                continue;
            }
            let follow = couplings
                .iter()
                .find(|(j, f)| *j == joint && f.leader == leader)
                .map_or_else(|| shared(joints, joint, leader), |(_, follow)| *follow);
            length += coef * follow.offset;
            per_unit += coef * follow.ratio;
            joints[joint].follows.get_or_insert(follow);
        }
        if per_unit.abs() < 1e-9 {
            continue;
        }
        let (gain, bias) =
            (model.actuator_gainprm()[actuator][0], model.actuator_biasprm()[actuator]);
        // At rest gain * command + bias0 + bias1 * length = 0.
        let line = [-(bias[0] + bias[1] * length) / gain, -bias[1] * per_unit / gain];
        let is_plain = line == [0.0, 1.0];
        let line = (!is_plain).then_some(line);
        joints[leader].drive = Some(PositionDrive { actuator, length_per_unit: per_unit, line });
    }
    let driven: Vec<bool> = joints.iter().map(|j| j.drive.is_some()).collect();
    for (joint, follow) in couplings {
        if !driven[joint] && driven[follow.leader] {
            joints[joint].follows.get_or_insert(follow);
        }
    }
}

/// Whether an actuator holds the length that it is told.
fn is_position_servo(model: &MjModel, actuator: usize) -> bool {
    let (gain, bias) = (model.actuator_gainprm()[actuator][0], model.actuator_biasprm()[actuator]);
    model.actuator_gaintype()[actuator] == mjtGain::mjGAIN_FIXED
        && model.actuator_biastype()[actuator] == mjtBias::mjBIAS_AFFINE
        && model.actuator_dyntype()[actuator] != mjtDyn::mjDYN_INTEGRATOR
        && gain != 0.0
        && bias[1] < 0.0
}

/// The joints that an actuator's length is made of, and how much of each; `None` for one that is
/// no sum of joints of this tree.
fn terms(model: &MjModel, actuator: usize, joints: &[Joint]) -> Option<Vec<(usize, f64)>> {
    let index_of = |id: i32| joints.iter().position(|joint| joint.id as i32 == id);
    let [target, _] = model.actuator_trnid()[actuator];
    let gear = model.actuator_gear()[actuator][0];
    match model.actuator_trntype()[actuator] {
        mjtTrn::mjTRN_JOINT | mjtTrn::mjTRN_JOINTINPARENT => Some(vec![(index_of(target)?, gear)]),
        mjtTrn::mjTRN_TENDON => {
            let tendon = usize::try_from(target).ok()?;
            let from = model.tendon_adr()[tendon] as usize;
            let wraps = from..from + model.tendon_num()[tendon] as usize;
            wraps
                .map(|wrap| {
                    let is_joint = model.wrap_type()[wrap] == mjtWrap::mjWRAP_JOINT;
                    let joint = index_of(model.wrap_objid()[wrap]).filter(|_| is_joint)?;
                    Some((joint, gear * model.wrap_prm()[wrap]))
                })
                .collect()
        }
        _ => None,
    }
}

/// Joints that an equality ties to another one, both ways and through others.
fn couplings(model: &MjModel, joints: &[Joint]) -> Vec<(usize, Follow)> {
    let index_of = |id: i32| joints.iter().position(|joint| joint.id as i32 == id);
    let mut found: Vec<(usize, Follow)> = Vec::new();
    for equality in 0..model.ffi().neq as usize {
        if model.eq_type()[equality] != mjtEq::mjEQ_JOINT || !model.eq_active0()[equality] {
            continue;
        }
        let pair = [model.eq_obj1id()[equality], model.eq_obj2id()[equality]].map(index_of);
        let [Some(one), Some(leader)] = pair else { continue };
        let [at, slope, curves @ ..] = model.eq_data()[equality];
        if slope == 0.0 || curves[..3].iter().any(|c| *c != 0.0) {
            continue;
        }
        let start = [one, leader].map(|j| model.qpos0()[joints[j].qpos]);
        let offset = start[0] + at - slope * start[1];
        found.push((one, Follow { leader, ratio: slope, offset }));
        let back = Follow { leader: one, ratio: 1.0 / slope, offset: -offset / slope };
        found.push((leader, back));
    }
    // Whoever follows a follower follows its leader.
    let mut at = 0;
    while at < found.len() && found.len() < joints.len() * joints.len() {
        let (joint, first) = found[at];
        for (middle, second) in found.clone() {
            let known = |(j, f): &(usize, Follow)| *j == joint && f.leader == second.leader;
            if middle == first.leader && second.leader != joint && !found.iter().any(known) {
                let ratio = first.ratio * second.ratio;
                let offset = first.offset + first.ratio * second.offset;
                found.push((joint, Follow { leader: second.leader, ratio, offset }));
            }
        }
        at += 1;
    }
    found
}

/// Joints of one tendon that nothing else ties: what each does depends on what it meets. Taken
/// as if they moved through their ranges together.
fn shared(joints: &[Joint], joint: usize, leader: usize) -> Follow {
    match (joints[joint].range, joints[leader].range) {
        (Some([low, high]), Some([from, to])) if to > from => {
            let ratio = (high - low) / (to - from);
            Follow { leader, ratio, offset: low - ratio * from }
        }
        _ => Follow { leader, ratio: 1.0, offset: 0.0 },
    }
}

/// Why a joint takes no position, for people.
pub(crate) fn why_not_driven(model: &MjModel, joint: &Joint) -> String {
    let name = &joint.name;
    if joint.motor.is_some() {
        return format!("joint {name} has a motor that takes forces, no position servo");
    }
    if joint.velocity_servo.is_some() {
        return format!("joint {name} has a servo that takes speeds, no position servo");
    }
    let pulls = |actuator: &usize| {
        let [target, _] = model.actuator_trnid()[*actuator];
        model.actuator_trntype()[*actuator] == mjtTrn::mjTRN_JOINT && target == joint.id as i32
    };
    match (0..model.ffi().nu as usize).find(pulls) {
        Some(_) => format!("the actuator of joint {name} takes no positions"),
        None => format!("joint {name} has no position servo: nothing drives it"),
    }
}
