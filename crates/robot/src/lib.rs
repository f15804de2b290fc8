//! One robot: chain, limits, shapes, covering spheres, allowed pairs, forward and inverse kinematics.

mod body;
mod chain;
mod error;
mod ik;
mod inertia;
mod kinematics;

pub use body::{BatchKinematics, Body, BodySettings, Configs, Convex, JointHistory, Sphere};
pub use chain::{Chain, ChainJoint, ChainSite, Guard, LinkShape, MAX_JOINTS};
pub use error::RobotError;
pub use ik::{
    Aim, Fit, Hand, HandGoal, Ik, Reach, ReachSettings, Reached, Solution, Tolerance, Turn, wrapped,
};
pub use inertia::LinkInertia;
pub use kinematics::{Frame, Kinematics};
