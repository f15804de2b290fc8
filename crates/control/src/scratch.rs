//! Room for one tick's work, taken once.

use nalgebra::Vector6;

use crate::kinematics::Kinematics;
use crate::law::Law;

/// Room for one tick's work; make one per arm with [`Law::scratch`].
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
}

impl Law {
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
            measured: zeros,
        }
    }
}
