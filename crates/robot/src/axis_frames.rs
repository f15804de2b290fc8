//! Frames in which moving a joint is cheap: z along the joint's axis, origin on it.
//!
//! A joint then mixes two columns or adds to one. Where a link carries another, x goes across both
//! axes, so that the way from the one frame to the other is a step along x and z and a rotation
//! about x, as Denavit and Hartenberg chose them. A link that carries several has only one x: the
//! way to the others is a whole pose.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use crate::chain::{Chain, ChainJoint};

/// A joint before its frame is chosen: in some frame with z along its axis.
#[derive(Clone, Copy, Debug)]
pub struct AxisJoint {
    /// The joint whose link carries it; `None` for the world's.
    pub parent: Option<usize>,
    /// Its frame, before it moves, in that of the parent.
    pub parent_from_axis: Isometry3<f64>,
    /// Whether it slides.
    pub is_slide: bool,
    /// Its position where it has not moved.
    pub reference: f64,
}

/// The frame of one joint's link.
#[derive(Clone, Copy, Debug)]
pub struct AxisFrame {
    /// The joint whose link carries it.
    pub parent: Option<usize>,
    /// The way from the parent's frame to this one before the joint moves.
    pub rest: RestPose,
    /// The constant angle that the joint adds to.
    pub fixed_rad: f64,
    /// Whether it slides.
    pub is_slide: bool,
    /// Its position where it has not moved.
    pub reference: f64,
    /// This frame in the one that the joint was given in.
    pub axis_from_frame: Isometry3<f64>,
}

/// A pose between two frames.
#[derive(Clone, Copy, Debug)]
pub enum RestPose {
    /// Steps along x, y and z, then a rotation about x. The step along y is 0 but where two axes
    /// are nearly parallel.
    Steps {
        /// The steps.
        along_m: [f64; 3],
        /// The rotation.
        tilt_rad: f64,
    },
    /// Anything.
    Pose(Isometry3<f64>),
}

impl RestPose {
    /// As a pose.
    #[must_use]
    pub fn isometry(&self) -> Isometry3<f64> {
        match *self {
            Self::Steps { along_m, tilt_rad } => {
                Isometry3::new(Vector3::from(along_m), Vector3::new(tilt_rad, 0.0, 0.0))
            }
            Self::Pose(pose) => pose,
        }
    }
}

/// All joints of a chain whose axes are known, each hanging on one before it.
#[must_use]
pub fn axis_joints(chain: &Chain, joints: usize) -> Vec<AxisJoint> {
    let upright: Vec<_> = chain.joints[..joints].iter().map(ChainJoint::link_from_axis).collect();
    let joint = |(index, joint): (usize, &ChainJoint)| {
        let before = match joint.parent {
            Some(parent) => upright[parent].inverse(),
            None => chain.world_from_base.isometry(),
        };
        AxisJoint {
            parent: joint.parent,
            parent_from_axis: before * joint.parent_from_link.isometry() * upright[index],
            is_slide: joint.is_slide,
            reference: joint.reference,
        }
    };
    chain.joints[..joints].iter().enumerate().map(joint).collect()
}

/// Chooses the frames. A joint's parent must come before it. Axes whose directions differ by less
/// than `parallel_rad` count as parallel, which makes the way simpler and off by as much.
#[must_use]
pub fn axis_frames(joints: &[AxisJoint], parallel_rad: f64) -> Vec<AxisFrame> {
    let mut made: Vec<AxisFrame> = Vec::new();
    // Of joints that were reached by steps: the way, how far their frames are shifted along z,
    // and how they were rotated against ours after the tilt.
    let mut reached: Vec<Option<(RestPose, f64, f64)>> = vec![None; joints.len()];
    for (index, joint) in joints.iter().enumerate() {
        let (rest, shift_m, came_rad) = reached[index].unwrap_or_else(|| {
            let parent = joint.parent.and_then(|parent| made.get(parent));
            let before = parent.map(|p| p.axis_from_frame.inverse()).unwrap_or_default();
            (RestPose::Pose(before * joint.parent_from_axis), 0.0, 0.0)
        });
        let next = (index + 1..joints.len()).find(|next| joints[*next].parent == Some(index));
        let to_next = next.map(|next| joints[next].parent_from_axis).unwrap_or_default();
        let rad = across_rad(&to_next, parallel_rad);
        let axis_from_frame = Isometry3::from_parts(
            Translation3::new(0.0, 0.0, shift_m),
            UnitQuaternion::from_axis_angle(&Vector3::z_axis(), rad),
        );
        if let Some(next) = next {
            reached[next] = Some(steps(&(axis_from_frame.inverse() * to_next)));
        }
        made.push(AxisFrame {
            parent: joint.parent,
            rest,
            fixed_rad: rad - came_rad,
            is_slide: joint.is_slide,
            reference: joint.reference,
            axis_from_frame,
        });
    }
    made
}

/// The rotation about z that brings x across both axes: z cross the next one.
fn across_rad(next: &Isometry3<f64>, parallel_rad: f64) -> f64 {
    let axis = next * Vector3::z();
    let offset = next.translation.vector;
    if axis.x.hypot(axis.y) > parallel_rad {
        axis.x.atan2(-axis.y)
    } else if offset.x.hypot(offset.y) > 1e-9 {
        offset.y.atan2(offset.x)
    } else {
        0.0
    }
}

/// From a frame whose x goes across both axes to the next one: the way, the shift of the next
/// frame along its axis, and how it is rotated about it.
fn steps(seen: &Isometry3<f64>) -> (RestPose, f64, f64) {
    let axis = seen * Vector3::z();
    let origin = seen.translation.vector;
    let tilt_rad = (-axis.y).atan2(axis.z);
    // The next origin goes along its axis until it is straight above our x axis. Where the axes
    // are nearly parallel that would be far away, and a step along y is left instead.
    let shift_m = if axis.y.abs() > 0.1 { -origin.y / axis.y } else { 0.0 };
    let mut along_m: [f64; 3] = (origin + axis * shift_m).into();
    if along_m[1].abs() < 1e-9 {
        along_m[1] = 0.0;
    }
    let tilted = Isometry3::rotation(Vector3::new(tilt_rad, 0.0, 0.0));
    let x = tilted.inverse() * (seen * Vector3::x());
    (RestPose::Steps { along_m, tilt_rad }, shift_m, -x.y.atan2(x.x))
}
