//! Room for one tick's work, taken once.

use nalgebra::{Vector3, Vector6};

use crate::cartesian::CartesianController;
use crate::limiter::TargetMotion;
use citrange_robot::Kinematics;

/// Room for one tick's work; make one per arm with [`CartesianController::scratch`].
#[derive(Clone, Debug)]
pub struct Scratch {
    pub(crate) kinematics: Kinematics,
    /// Joint positions the kinematics are computed at.
    pub(crate) at: Vec<f64>,
    /// Speeds of this tick.
    pub(crate) rates: Vec<f64>,
    /// Speeds that lift the hand by 1 m/s.
    pub(crate) lift: Vec<f64>,
    /// Positions after this tick.
    pub(crate) next: Vec<f64>,
    /// Columns of the tool's Jacobian.
    pub(crate) twists: Vec<Vector6<f64>>,
    /// Speeds of a joint to spare.
    pub(crate) spare: Vec<f64>,
    /// Torques against gravity.
    pub(crate) torques: Vec<f64>,
    /// The joints as measured in this tick.
    pub(crate) measured: Vec<f64>,
    /// Where the joints should have been before this tick.
    pub(crate) before: Vec<f64>,
    /// What is added to that for the targets.
    pub(crate) carry: Vec<f64>,
    /// What was left of the targets at the start, before this tick.
    pub(crate) offset: Vec<f64>,
    /// Accelerations of the targets: those of this tick, and two to choose from.
    pub(crate) accelerations: [Vec<f64>; 3],
    /// A way to rest, looked at ahead.
    pub(crate) rest: TargetMotion,
    /// Rotation from the tool to the orientation that is held, before this tick, as a rotation vector.
    pub(crate) held_off: Vector3<f64>,
}

impl CartesianController {
    /// Room to work in.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        let zeros = vec![0.0; self.chain.joints.len()];
        Scratch {
            kinematics: Kinematics::new(&self.chain),
            at: zeros.clone(),
            rates: zeros.clone(),
            lift: zeros.clone(),
            next: zeros.clone(),
            twists: vec![Vector6::zeros(); self.chain.arm_joints],
            spare: zeros.clone(),
            torques: zeros.clone(),
            measured: zeros.clone(),
            before: zeros.clone(),
            carry: zeros.clone(),
            offset: zeros.clone(),
            accelerations: [zeros.clone(), zeros.clone(), zeros.clone()],
            rest: TargetMotion::at_rest(&zeros),
            held_off: Vector3::zeros(),
        }
    }
}
