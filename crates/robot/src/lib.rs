//! One robot: joints, limits, shapes of its links, covering spheres, pairs that may touch, forward
//! and inverse kinematics. No engine is needed.
//!
//! ```
//! use citrange_robot::{IkTarget, IkSettings, Robot, Orientation};
//!
//! let robot = Robot::load("ur5e")?.standing_at([0.0, 0.0, 0.8], 0.0);
//! assert_eq!(robot.joints()[0].name, "shoulder_pan_joint");
//! let [low, high] = robot.limits().next().flatten().unwrap_or_default();
//! assert!(low < -6.0 && high > 6.0);
//!
//! // Forward: poses of the base and of one link per joint, in the world.
//! let q = [0.0, -1.2, 1.5, -1.8, -1.5, 0.0];
//! let links = robot.forward_kinematics(&q)?;
//! assert_eq!(links.len(), robot.joints().len() + 1);
//!
//! // Inverse: all joints that are found to bring the tool back to where it is, nearest first.
//! let at_m = robot.tool_at(&q)?.into();
//! let aim = IkTarget { at_m, orientation: Orientation::Free };
//! let found = robot.inverse_kinematics(&aim, &q, &IkSettings::default())?;
//! assert!(found.solutions[0].error_m < 1e-6);
//!
//! // What it collides with, and what is not looked at.
//! assert!(robot.spheres().len() > 20 && !robot.link_shapes().is_empty());
//! assert!(robot.allowed_pairs().all(|pair| !robot.checked_pairs().contains(&pair)));
//!
//! // Written down and read back, bit for bit.
//! let text = robot.to_json()?;
//! assert_eq!(serde_json::from_str::<Robot>(&text)?, robot);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Robots of ours ([`Robot::names`]) come from `models/<robot>/description.json`, which is what
//! the engine made of the model; a test of `sim` compares the two joint by joint and shape by
//! shape. Models of others (MJCF, URDF) are compiled once by `sim` (`CompiledScene::robot`) and
//! can be written down the same way.
//!
//! # Forward kinematics
//! | form | for | where |
//! |---|---|---|
//! | one step of one joint, double precision | all of the scalar ones | `joint_motion.rs` |
//! | frames, Jacobians and weights of a chain | controllers, tapes | [`Kinematics`] |
//! | poses of all links | filters, tests, planners | [`Robot::forward_kinematics`] |
//! | many configurations at once, in lanes | all of those: [`BatchKinematics`] and `plan` (sixteen, single precision), inverse kinematics (eight, double) | [`LaneChain`] |
//!
//! The form in lanes rotates about z in frames of its own ([`axis_frames()`], Denavit and
//! Hartenberg's where a link carries one other): a joint then mixes two columns.
//!
//! | to change | look in |
//! |---|---|
//! | what a chain is, what makes it hard to move | `chain.rs`, `inertia.rs` |
//! | which jaw a link is of | `jaws.rs` |
//! | the robot and its file | `robot.rs`, `robot/file.rs` |
//! | spheres that cover shapes | `robot/cover.rs`; of what moves `robot/swept.rs` |
//! | which links can meet | `robot/pairs.rs`; whether they do `robot/self_collision.rs`, `robot/convex.rs` |
//! | joints for a place of the hand | `ik/`: near given ones [`ToolDownIk`], all that can be found [`InverseKinematics`] |
//! | where the joints were when a picture was taken | `robot/history.rs` |

mod axis_frames;
mod chain;
mod error;
mod ik;
mod inertia;
mod jaws;
mod joint_motion;
mod kinematics;
mod lane_chain;
mod robot;

pub use axis_frames::{AxisFrame, AxisJoint, RestPose, axis_frames, axis_joints};
pub use chain::{Chain, ChainJoint, ChainSite, Guard, LinkShape, MAX_JOINTS};
pub use error::RobotError;
pub use ik::{
    Fit, HandGoal, HandPose, IkSettings, IkSolution, IkSolutions, IkTarget, InverseKinematics,
    Orientation, Tolerance, ToolDownIk, wrapped,
};
pub use inertia::LinkInertia;
pub use jaws::{JawSide, jaw_sides};
pub use joint_motion::{JointMotion, PlacedJoint, RigidTransform};
pub use kinematics::Kinematics;
pub use lane_chain::{LaneChain, LaneConstant, LaneFrame, LaneNumber};
pub use robot::{
    BatchKinematics, Configs, Convex, JointHistory, Robot, RobotDetails, RobotSettings, Sphere,
};
