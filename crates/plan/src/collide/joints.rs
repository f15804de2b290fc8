//! The planned joints: where their links are, how fast they move, and how far that can bring a
//! point.

use citrange_core::shape::Shape;
use citrange_lanes::{F32x16, Lanes, Simd, add, cross, scale, store, sub};
use citrange_robot::{
    AxisFrame, ChainJoint, LaneChain, LaneFrame, Robot, axis_frames, axis_joints,
};
use nalgebra::{Isometry3, Point3, Rotation3, Vector3};

use super::mount::Stand;
use crate::arm::PlannedArm;
use crate::config::MAX_JOINTS;
use crate::error::PlanError;

/// Axes nearer than this count as parallel: it moves nothing by a micrometre.
const PARALLEL_RAD: f64 = 1e-7;

/// The chain of the planned joints.
#[derive(Clone, Debug)]
pub(super) struct Joints {
    chain: LaneChain<f32>,
    exact: Vec<AxisFrame>,
    ranges: Vec<[f64; 2]>,
    /// The first joint's frame in the world before it moves.
    world_from_first: Isometry3<f64>,
    world_from_base: Isometry3<f64>,
    /// Our frame of each planned joint in the body's frame of its link.
    body_from_ours: Vec<Isometry3<f64>>,
}

/// Poses of one link in 16 configurations.
pub(super) type Frame = LaneFrame<Lanes>;

/// How fast a link moves: turning, and its origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) angular: [Lanes; 3],
    pub(super) origin: [Lanes; 3],
}

impl Joints {
    pub(super) fn new(arm: &PlannedArm) -> Result<Self, PlanError> {
        let chain = arm.body().chain();
        let planned = &chain.joints[..arm.joints()];
        for (index, joint) in planned.iter().enumerate() {
            if joint.parent != index.checked_sub(1) {
                let reason = format!("{} must hang on the joint before it", joint.name);
                return Err(PlanError::bad(format!("arm of {}", chain.robot), reason));
            }
        }
        let exact = axis_frames(&axis_joints(chain, planned.len()), PARALLEL_RAD);
        let upright = planned.iter().map(ChainJoint::link_from_axis);
        Ok(Self {
            chain: LaneChain::new(&exact),
            world_from_first: exact.first().map(|f| f.rest.isometry()).unwrap_or_default(),
            world_from_base: chain.world_from_base.isometry(),
            body_from_ours: upright.zip(&exact).map(|(u, f)| u * f.axis_from_frame).collect(),
            ranges: arm.limits()[..planned.len()].iter().map(|limit| limit.range).collect(),
            exact,
        })
    }

    /// For every link of a body: the link that carries it here, and its pose there.
    pub(super) fn link_from_body(
        &self,
        body: &Robot,
        held: &[f64],
        planned: usize,
    ) -> Result<Vec<(usize, Isometry3<f64>)>, PlanError> {
        let mut frames = vec![(0, self.world_from_base)];
        for (index, joint) in body.chain().joints.iter().enumerate() {
            if let Some(ours) = self.body_from_ours.get(index).filter(|_| index < planned) {
                frames.push((index + 1, ours.inverse()));
                continue;
            }
            let parent = joint.parent.map_or(0, |p| p + 1);
            let (Some((carrier, at)), Some(position)) = (frames.get(parent), held.get(index))
            else {
                let reason = format!("{} hangs on a later joint", joint.name);
                return Err(PlanError::bad("arm", reason));
            };
            frames.push((*carrier, at * joint.parent_from_moved(*position)));
        }
        Ok(frames)
    }

    /// What the robot stands with; `shapes` of every link, in our frames.
    pub(super) fn stand(&self, shapes: &[Vec<(Isometry3<f64>, Shape)>]) -> Stand {
        let rotates = self.exact.first().is_some_and(|step| !step.is_slide);
        let of = |link: usize| shapes.get(link).map(Vec::as_slice).unwrap_or_default();
        Stand::new(of(0), of(1), &self.world_from_first, rotates)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.exact.len()
    }

    /// Whether slides are where the levers hold.
    pub(super) fn is_within_slides(&self, positions: &[f32]) -> bool {
        let mut joints = self.exact.iter().zip(&self.ranges).zip(positions);
        joints.all(|((joint, [low, high]), p)| {
            !joint.is_slide || (low - 1e-6..=high + 1e-6).contains(&f64::from(*p))
        })
    }

    /// How far a point of a link can be from a joint's axis, whatever the joints between do.
    pub(super) fn lever(&self, joint: usize, link: usize, point: &Point3<f64>) -> f64 {
        if joint >= link {
            return 0.0;
        }
        self.walk(link, point, joint).0
    }

    /// A sphere in the world that a point of a link never leaves.
    pub(super) fn home(&self, link: usize, point: &Point3<f64>) -> ([f64; 3], f64) {
        if link == 0 {
            return (point.coords.into(), 0.0);
        }
        let (_, centre, radius_m) = self.walk(link, point, 0);
        ((self.world_from_first * centre).coords.into(), radius_m)
    }

    /// From a point of a link down to a joint: the largest distance from its axis, and in the
    /// frame before it moves the centre and radius of a sphere that holds all places of the point.
    fn walk(&self, link: usize, point: &Point3<f64>, joint: usize) -> (f64, Point3<f64>, f64) {
        let (mut centre, mut radius_m) = (*point, 0.0);
        let mut lever = 0.0;
        for index in (joint..link).rev() {
            let step = &self.exact[index];
            if step.is_slide {
                let [low, high] = self.ranges[index].map(|r| r - step.reference);
                lever = 1.0;
                centre = Rotation3::from_axis_angle(&Vector3::z_axis(), step.fixed_rad) * centre;
                centre.z += (low + high) / 2.0;
                radius_m += (high - low) / 2.0 + 1e-6;
            } else {
                lever = centre.x.hypot(centre.y) + radius_m;
                centre = Point3::new(0.0, 0.0, centre.z);
                radius_m = lever;
            }
            if index > joint {
                centre = step.rest.isometry() * centre;
            }
        }
        // Single precision rounds; levers must not be too short.
        (lever * (1.0 + 1e-6), centre, radius_m)
    }

    /// Places all links but the first for 16 configurations.
    #[inline(always)]
    pub(super) fn place<S: Simd>(
        &self,
        simd: S,
        positions: &[Lanes; MAX_JOINTS],
        frames: &mut [Frame],
    ) {
        self.chain.place::<F32x16<S>>(simd, positions, frames);
    }

    /// How fast all links move when the joints go at these rates.
    #[inline(always)]
    pub(super) fn rates<S: Simd>(
        &self,
        simd: S,
        frames: &[Frame],
        speeds: &[f32],
        rates: &mut [Rate],
    ) {
        let mut angular = [simd.splat(0.0); 3];
        let mut origin = angular;
        for (index, (step, speed)) in self.exact.iter().zip(speeds).enumerate() {
            let at = &frames[index + 1];
            if index > 0 {
                let arm = sub(&simd.load3(&at.origin_m), &simd.load3(&frames[index].origin_m));
                origin = add(&origin, &cross(&angular, &arm));
            }
            let along = scale(&simd.load3(&at.axes[2]), *speed);
            if step.is_slide {
                origin = add(&origin, &along);
            } else {
                angular = add(&angular, &along);
            }
            store(&angular, &mut rates[index + 1].angular);
            store(&origin, &mut rates[index + 1].origin);
        }
    }

    /// Frames to be filled by [`Joints::place`]; that of link 0 is the world's.
    pub(super) fn frames(&self) -> Vec<Frame> {
        self.chain.frames(Lanes::splat)
    }
}
