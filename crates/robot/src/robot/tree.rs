//! A robot's links and spheres in single precision, ready to be placed for many configurations.

use citrange_lanes::{Lanes, Simd, Triple, along, rotated, store};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use super::Robot;
use crate::chain::ChainJoint;

/// Constants of a robot. Every link has a frame of its own here: its origin is on the joint's
/// axis and its z axis along it, so that moving a joint mixes two columns or adds to one.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    world_from_base: Rest,
    joints: Vec<TreeJoint>,
    /// In the order of the body's spheres.
    pub(crate) spheres: Vec<LinkSphere>,
}

#[derive(Clone, Debug)]
struct TreeJoint {
    /// Number of the link that carries it.
    parent: usize,
    parent_from_link: Rest,
    is_slide: bool,
    reference: f32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkSphere {
    link: usize,
    centre_m: [f32; 3],
}

/// A pose: columns of the rotation, and the origin.
#[derive(Clone, Copy, Debug)]
struct Rest {
    columns: [[f32; 3]; 3],
    pos_m: [f32; 3],
}

/// Poses of one link in 16 configurations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneFrame {
    rot: [[Lanes; 3]; 3],
    pos_m: [Lanes; 3],
}

impl Tree {
    pub(crate) fn new(body: &Robot) -> Self {
        let chain = &body.chain;
        let link_from_ours = |link: usize| link_from_axis(body, link);
        let joints = chain.joints.iter().enumerate().map(|(index, joint)| {
            let parent = joint.parent.map_or(0, |p| p + 1);
            let rest = link_from_ours(parent).inverse()
                * joint.parent_from_link.isometry()
                * link_from_ours(index + 1);
            TreeJoint {
                parent,
                parent_from_link: Rest::of(&rest),
                is_slide: joint.is_slide,
                reference: joint.reference as f32,
            }
        });
        let spheres = body.spheres.iter().map(|sphere| {
            let link = usize::from(sphere.link);
            let centre = link_from_ours(link).inverse() * Point3::from(sphere.centre_m);
            LinkSphere { link, centre_m: centre.coords.map(|c| c as f32).into() }
        });
        Self {
            world_from_base: Rest::of(&chain.world_from_base.isometry()),
            joints: joints.collect(),
            spheres: spheres.collect(),
        }
    }

    /// Frames for all links, to be filled by [`Tree::place`].
    pub(crate) fn frames(&self) -> Vec<LaneFrame> {
        let columns = &self.world_from_base.columns;
        let base = LaneFrame {
            rot: std::array::from_fn(|row| columns.map(|column| Lanes::splat(column[row]))),
            pos_m: self.world_from_base.pos_m.map(Lanes::splat),
        };
        vec![base; self.joints.len() + 1]
    }

    /// Places all links for the configurations of a block.
    #[inline(always)]
    pub(crate) fn place<S: Simd>(&self, simd: S, block: &[Lanes], frames: &mut [LaneFrame]) {
        for (index, (joint, position)) in self.joints.iter().zip(block).enumerate() {
            let before = &frames[joint.parent];
            let [r0, r1, r2] = &before.rot;
            let from = [simd.load3(r0), simd.load3(r1), simd.load3(r2)];
            let origin_m = simd.load3(&before.pos_m);
            let rest = &joint.parent_from_link;
            let moved = simd.load(&position.0) - joint.reference;
            let (sin, cos) = if joint.is_slide { (moved, moved) } else { moved.sin_cos() };
            let at = &mut frames[index + 1];
            for row in 0..3 {
                let [x, y, z] = rotated(&rest.columns, &from[row]);
                let mut pos_m = along(&from[row], &rest.pos_m) + origin_m[row];
                if joint.is_slide {
                    pos_m = pos_m + z * moved;
                    store(&[x, y, z], &mut at.rot[row]);
                } else {
                    store(&[x * cos + y * sin, y * cos - x * sin, z], &mut at.rot[row]);
                }
                pos_m.store(&mut at.pos_m[row].0);
            }
        }
    }

    /// Centre of a sphere in all configurations.
    #[inline(always)]
    pub(crate) fn centre<S: Simd>(
        &self,
        simd: S,
        sphere: &LinkSphere,
        frames: &[LaneFrame],
    ) -> Triple<S> {
        let at = &frames[sphere.link];
        let mut centre = simd.load3(&at.pos_m);
        for row in 0..3 {
            centre[row] = along(&simd.load3(&at.rot[row]), &sphere.centre_m) + centre[row];
        }
        centre
    }
}

/// Pose of our frame of a link in the link's own.
pub(crate) fn link_from_axis(body: &Robot, link: usize) -> Isometry3<f64> {
    let joint = link.checked_sub(1).map(|joint| &body.chain.joints[joint]);
    joint.map_or_else(Isometry3::identity, ChainJoint::link_from_axis)
}

impl LaneFrame {
    /// Rotation and origin in one configuration.
    pub(crate) fn of_lane(&self, lane: usize) -> (Matrix3<f64>, Vector3<f64>) {
        let rot = Matrix3::from_fn(|row, column| f64::from(self.rot[row][column].0[lane]));
        (rot, Vector3::from_fn(|row, _| f64::from(self.pos_m[row].0[lane])))
    }
}

impl Rest {
    fn of(pose: &Isometry3<f64>) -> Self {
        let turn = pose.rotation.to_rotation_matrix();
        Self {
            columns: std::array::from_fn(|c| std::array::from_fn(|r| turn[(r, c)] as f32)),
            pos_m: pose.translation.vector.map(|c| c as f32).into(),
        }
    }
}
