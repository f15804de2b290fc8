//! What moving one joint does. All forward kinematics in double precision is made of this step:
//! [`crate::Kinematics`], [`crate::Robot::link_poses`], and the links that a planner holds still.
//!
//! Rotations are matrices and turns are Rodrigues' formula. Recorded motions depend on the bits.

use citrange_core::Pose;
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, Unit, UnitQuaternion, Vector3};

use crate::chain::ChainJoint;

/// A rotation and an origin, in the world or in another frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidTransform {
    /// Columns are the frame's axes.
    pub rot: Matrix3<f64>,
    /// Its origin.
    pub pos_m: Vector3<f64>,
}

impl RigidTransform {
    /// The frame that others are given in.
    pub const IDENTITY: Self = Self {
        rot: Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        pos_m: Vector3::new(0.0, 0.0, 0.0),
    };

    /// A pose as a frame.
    #[must_use]
    pub fn of(pose: &Pose) -> Self {
        let iso = pose.isometry();
        let rot = iso.rotation.to_rotation_matrix().into_inner();
        Self { rot, pos_m: iso.translation.vector }
    }

    /// A frame given in this one, as this one is given.
    #[must_use]
    pub fn then(&self, inner: &Self) -> Self {
        Self { rot: self.rot * inner.rot, pos_m: self.pos_m + self.rot * inner.pos_m }
    }

    /// The same with a quaternion.
    #[must_use]
    pub fn isometry(&self) -> Isometry3<f64> {
        let rotation = Rotation3::from_matrix_unchecked(self.rot);
        Isometry3::from_parts(
            Translation3::from(self.pos_m),
            UnitQuaternion::from_rotation_matrix(&rotation),
        )
    }
}

/// How a joint moves its link, ready to be computed with.
#[derive(Clone, Debug)]
pub struct JointMotion {
    parent_from_link: RigidTransform,
    anchor: Vector3<f64>,
    axis: Unit<Vector3<f64>>,
    pub(crate) is_slide: bool,
    reference: f64,
}

/// Where a joint and its link are.
#[derive(Clone, Copy, Debug)]
pub struct PlacedJoint {
    /// Frame of the link.
    pub at: RigidTransform,
    /// A point on the joint's axis.
    pub anchor_m: Vector3<f64>,
    /// Direction of the axis.
    pub axis: Vector3<f64>,
}

impl JointMotion {
    /// Of a joint.
    #[must_use]
    pub fn of(joint: &ChainJoint) -> Self {
        Self {
            parent_from_link: RigidTransform::of(&joint.parent_from_link),
            anchor: Vector3::from(joint.anchor_m),
            axis: Unit::new_normalize(Vector3::from(joint.axis)),
            is_slide: joint.is_slide,
            reference: joint.reference,
        }
    }

    /// Places the link, `before` being the frame of the link that carries the joint.
    #[must_use]
    pub fn place(&self, before: &RigidTransform, position: f64) -> PlacedJoint {
        let mut at = before.then(&self.parent_from_link);
        let moved = position - self.reference;
        let axis = at.rot * self.axis.into_inner();
        let anchor_m;
        if self.is_slide {
            at.pos_m += axis * moved;
            anchor_m = at.pos_m + at.rot * self.anchor;
        } else {
            anchor_m = at.pos_m + at.rot * self.anchor;
            at.rot *= Rotation3::from_axis_angle(&self.axis, moved).into_inner();
            at.pos_m = anchor_m - at.rot * self.anchor;
        }
        PlacedJoint { at, anchor_m, axis }
    }
}

impl ChainJoint {
    /// Pose of the joint's link in the link that carries it, for a position.
    #[must_use]
    pub fn parent_from_moved(&self, position: f64) -> Isometry3<f64> {
        JointMotion::of(self).place(&RigidTransform::IDENTITY, position).at.isometry()
    }

    /// A frame whose z axis is the joint's and whose origin is on it, in the link.
    #[must_use]
    pub fn link_from_axis(&self) -> Isometry3<f64> {
        let axis = Vector3::from(self.axis);
        let rotation = UnitQuaternion::rotation_between(&Vector3::z(), &axis);
        // There is none between opposite directions: half a turn about x.
        let rotation = rotation.unwrap_or_else(|| {
            UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
        });
        Isometry3::from_parts(Translation3::from(self.anchor_m), rotation)
    }
}
