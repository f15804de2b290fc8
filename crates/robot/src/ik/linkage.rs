//! An arm as the search sees it: only the joints between base and tool, each turning about the
//! z axis of a frame of its own (or sliding along it).

use nalgebra::{Matrix3, Rotation3, Vector3};

use super::vectors::{Lane, Lane3};
use crate::axis_frames::{AxisJoint, axis_frames};
use crate::chain::{Chain, ChainJoint};
use crate::joint_motion::RigidTransform;
use crate::lane_chain::{LaneChain, LaneFrame};

/// Axes count as parallel where double precision cannot tell.
const PARALLEL_RAD: f64 = 1e-12;

/// Most joints that can be solved for.
pub(super) const MOST: usize = 8;

/// The joints that carry the tool.
#[derive(Clone, Debug)]
pub(super) struct Linkage {
    pub(super) steps: Vec<Step>,
    chain: LaneChain<f64>,
    /// The tool in the last joint's frame.
    tool: RigidTransform,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Number of the joint in the chain.
    pub(super) joint: usize,
    pub(super) is_slide: bool,
    pub(super) range: [f64; 2],
    /// It turns all the way round: the search need not know its ends.
    pub(super) wraps: bool,
}

/// Where the joints and the tool are, for every start.
pub(super) struct Placed {
    pub(super) axes: [Lane3; MOST],
    pub(super) anchors: [Lane3; MOST],
    pub(super) tool_axes: [Lane3; 3],
    pub(super) tool_m: Lane3,
}

impl Linkage {
    /// `held`: where the joints stay that are not the arm's.
    pub(super) fn new(chain: &Chain, held: &[f64]) -> Result<Self, String> {
        let mut route = Vec::new();
        let mut at = Some(chain.tool.link);
        while let Some(joint) = at {
            route.push(joint);
            at = chain.joints.get(joint).ok_or("the tool has no link")?.parent;
        }
        let mut rest = RigidTransform::of(&chain.world_from_base);
        let (mut steps, mut joints) = (Vec::new(), Vec::new());
        for joint in route.into_iter().rev() {
            let link = &chain.joints[joint];
            let anchor = Vector3::from(link.anchor_m);
            let upright = upright(link);
            rest = rest
                .then(&RigidTransform::of(&link.parent_from_link))
                .then(&RigidTransform { rot: upright, pos_m: anchor });
            if joint < chain.arm_joints {
                steps.push(Step::new(joint, link)?);
                joints.push(AxisJoint {
                    parent: joints.len().checked_sub(1),
                    parent_from_axis: rest.isometry(),
                    is_slide: link.is_slide,
                    reference: link.reference,
                });
                rest = RigidTransform { rot: Matrix3::identity(), pos_m: Vector3::zeros() };
            } else {
                let at = held.get(joint).ok_or_else(|| format!("{} is held nowhere", link.name))?;
                rest = rest.then(&moved(link, *at));
            }
            let back = upright.transpose();
            rest = rest.then(&RigidTransform { rot: back, pos_m: -(back * anchor) });
        }
        if steps.is_empty() || steps.len() > MOST {
            return Err(format!("{} arm joints move the tool, 1 to {MOST} can", steps.len()));
        }
        let frames = axis_frames(&joints, PARALLEL_RAD);
        let last = frames.last().map(|frame| frame.axis_from_frame).unwrap_or_default();
        let tool = rest.then(&RigidTransform::of(&chain.tool.link_from_site));
        let tool = RigidTransform::of(&last.inverse().into()).then(&tool);
        Ok(Self { steps, chain: LaneChain::new(&frames), tool })
    }

    /// Places everything; `point_m` is the working point in the frame of the tool.
    #[inline(always)]
    pub(super) fn place(&self, joints: &[Lane; MOST], point_m: &Vector3<f64>) -> Placed {
        let origin = [Lane::ZERO; 3];
        let nowhere = LaneFrame { axes: [origin; 3], origin_m: origin };
        let mut frames = [nowhere; MOST + 1];
        self.chain.place::<Lane>((), joints, &mut frames);
        let mut placed = Placed {
            axes: [origin; MOST],
            anchors: [origin; MOST],
            tool_axes: [origin; 3],
            tool_m: origin,
        };
        for index in 0..self.steps.len() {
            placed.axes[index] = frames[index + 1].axes[2];
            placed.anchors[index] = frames[index + 1].origin_m;
        }
        let LaneFrame { axes, origin_m } = &frames[self.steps.len()];
        placed.tool_m = point(axes, origin_m, &(self.tool.pos_m + self.tool.rot * point_m));
        placed.tool_axes = rotated(axes, &self.tool.rot);
        placed
    }
}

impl Step {
    fn new(joint: usize, link: &ChainJoint) -> Result<Self, String> {
        use std::f64::consts::{PI, TAU};
        let range = match (link.range, link.is_slide) {
            (Some(range), _) => range,
            (None, false) => [-PI, PI],
            (None, true) => return Err(format!("{} slides and needs a range", link.name)),
        };
        let is_slide = link.is_slide;
        let wraps = !is_slide && range[1] - range[0] > TAU - 1e-9;
        Ok(Self { joint, is_slide, range, wraps })
    }

    /// Sets the range anew.
    pub(super) fn set_range(&mut self, range: [f64; 2]) {
        self.range = range;
        self.wraps = !self.is_slide && range[1] - range[0] > std::f64::consts::TAU - 1e-9;
    }
}

/// A rotation that brings z to the joint's axis.
fn upright(link: &ChainJoint) -> Matrix3<f64> {
    let axis = Vector3::from(link.axis);
    let rotation = Rotation3::rotation_between(&Vector3::z(), &axis);
    // There is none between opposite directions: half a turn about x.
    rotation
        .map_or_else(|| Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0)), |t| t.into_inner())
}

/// What a joint at a position does in its own frame.
fn moved(link: &ChainJoint, position: f64) -> RigidTransform {
    let by = position - link.reference;
    if link.is_slide {
        return RigidTransform { rot: Matrix3::identity(), pos_m: Vector3::z() * by };
    }
    let rotation = Rotation3::from_axis_angle(&Vector3::z_axis(), by);
    RigidTransform { rot: rotation.into_inner(), pos_m: Vector3::zeros() }
}

#[inline(always)]
fn point(axes: &[Lane3; 3], pos: &Lane3, by: &Vector3<f64>) -> Lane3 {
    let mut at = *pos;
    for k in 0..3 {
        at[k] += axes[0][k] * by.x + axes[1][k] * by.y + axes[2][k] * by.z;
    }
    at
}

#[inline(always)]
fn rotated(axes: &[Lane3; 3], by: &Matrix3<f64>) -> [Lane3; 3] {
    let mut made = *axes;
    for (column, made) in made.iter_mut().enumerate() {
        for k in 0..3 {
            made[k] = axes[0][k] * by[(0, column)]
                + axes[1][k] * by[(1, column)]
                + axes[2][k] * by[(2, column)];
        }
    }
    made
}
