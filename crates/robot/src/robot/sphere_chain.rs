//! A robot's links and spheres in single precision, ready to be placed for many configurations.

use citrange_lanes::{Lanes, Simd, Triple, add, scale};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use super::Robot;
use crate::axis_frames::{axis_frames, axis_joints};
use crate::chain::ChainJoint;
use crate::lane_chain::{LaneChain, LaneFrame};

/// Axes nearer than this count as parallel: it moves nothing by a micrometre.
pub(crate) const PARALLEL_RAD: f64 = 1e-7;

/// Constants of a robot. Every link has the frame of [`crate::axis_frames()`]; that of the base is
/// the world's.
#[derive(Clone, Debug)]
pub(crate) struct SphereChain {
    pub(crate) chain: LaneChain<f32>,
    /// Of every link: its own frame, in ours.
    ours_from_link: Vec<Isometry3<f64>>,
    /// In the order of the body's spheres.
    pub(crate) spheres: Vec<LinkSphere>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkSphere {
    link: usize,
    centre_m: [f32; 3],
}

impl SphereChain {
    pub(crate) fn new(body: &Robot) -> Self {
        let chain = &body.chain;
        let frames = axis_frames(&axis_joints(chain, chain.joints.len()), PARALLEL_RAD);
        let mut ours_from_link = vec![chain.world_from_base.isometry()];
        let upright = chain.joints.iter().map(ChainJoint::link_from_axis);
        ours_from_link.extend(
            upright.zip(&frames).map(|(upright, f)| (upright * f.axis_from_frame).inverse()),
        );
        let spheres = body.spheres.iter().map(|sphere| {
            let link = usize::from(sphere.link);
            let centre = ours_from_link[link] * Point3::from(sphere.centre_m);
            LinkSphere { link, centre_m: centre.coords.map(|c| c as f32).into() }
        });
        let spheres = spheres.collect();
        Self { chain: LaneChain::new(&frames), ours_from_link, spheres }
    }

    /// Frames for all links, to be filled by [`LaneChain::place`].
    pub(crate) fn frames(&self) -> Vec<LaneFrame<Lanes>> {
        self.chain.frames(Lanes::splat)
    }

    /// A link's own frame in the one that is placed.
    pub(crate) fn ours_from_link(&self, link: usize) -> Isometry3<f64> {
        self.ours_from_link.get(link).copied().unwrap_or_default()
    }

    /// Centre of a sphere in all configurations.
    #[inline(always)]
    pub(crate) fn centre<S: Simd>(
        &self,
        simd: S,
        sphere: &LinkSphere,
        frames: &[LaneFrame<Lanes>],
    ) -> Triple<S> {
        frames[sphere.link].point(simd, sphere.centre_m)
    }
}

impl LaneFrame<Lanes> {
    /// A point of the link in the world.
    #[inline(always)]
    pub fn point<S: Simd>(&self, simd: S, point_m: [f32; 3]) -> Triple<S> {
        let mut at: Triple<S> = simd.load3(&self.origin_m);
        for axis in 0..3 {
            at = add(&at, &scale(&simd.load3(&self.axes[axis]), point_m[axis]));
        }
        at
    }

    /// Rotation and origin in one configuration.
    #[must_use]
    pub fn of_lane(&self, lane: usize) -> (Matrix3<f64>, Vector3<f64>) {
        let lane = lane % citrange_lanes::LANES;
        let rot = Matrix3::from_fn(|row, column| f64::from(self.axes[column][row].0[lane]));
        (rot, Vector3::from_fn(|row, _| f64::from(self.origin_m[row].0[lane])))
    }
}
