//! TensorState: what the world is, for N environments at once.
//!
//! World frame, metres, radians, seconds, quaternions w,x,y,z, f64. Velocities are those of the
//! body's origin, in the world frame. Every array's first axis is the environment; the order of
//! bodies and joints is stored beside the numbers, and names decide when a state is set.
//!
//! Fields are optional because a state may be partial: setting it changes what it names and
//! leaves the rest. A state that was read has every field that its engine knows.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use ndarray::{Array2, Array3, Array4, ArrayD};
use serde::{Deserialize, Serialize};

/// Numbers of one body: position 3, quaternion 4, linear velocity 3, angular velocity 3.
pub const BODY_STATE: usize = 13;

/// The state of N environments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorState {
    /// Number of environments: the first axis of every array.
    pub num_envs: usize,
    /// Objects by name.
    pub objects: BTreeMap<String, ObjectState>,
    /// Robots by name.
    pub robots: BTreeMap<String, RobotState>,
    /// Cameras by name.
    pub cameras: BTreeMap<String, CameraState>,
    /// Answers to named queries.
    pub extras: BTreeMap<String, Extra>,
}

/// One object in N environments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectState {
    /// Root body, (N, 13).
    pub root_state: Option<Array2<f64>>,
    /// Names of all bodies, root first; empty for a single body.
    pub body_names: Vec<String>,
    /// All bodies, (N, bodies, 13). Follows from root and joints: setting it only checks it.
    pub body_state: Option<Array3<f64>>,
    /// Names of the joints; empty without joints.
    pub joint_names: Vec<String>,
    /// Joint positions, (N, joints).
    pub joint_pos: Option<Array2<f64>>,
    /// Joint velocities, (N, joints).
    pub joint_vel: Option<Array2<f64>>,
}

/// One robot in N environments: an object whose joints have targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RobotState {
    /// What every articulated thing has.
    pub object: ObjectState,
    /// Position targets, (N, joints); NaN for a joint without a position servo.
    pub joint_pos_target: Option<Array2<f64>>,
    /// Velocity targets, (N, joints); absent when no joint has a velocity servo.
    pub joint_vel_target: Option<Array2<f64>>,
    /// Efforts asked for, (N, joints): the command of a motor, else the feed-forward added to
    /// the servo.
    pub joint_effort_target: Option<Array2<f64>>,
}

impl Deref for RobotState {
    type Target = ObjectState;
    fn deref(&self) -> &ObjectState {
        &self.object
    }
}

impl DerefMut for RobotState {
    fn deref_mut(&mut self) -> &mut ObjectState {
        &mut self.object
    }
}

/// One camera in N environments. Images are present when they were asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraState {
    /// Colours, (N, height, width, 3).
    pub rgb: Option<Array4<u8>>,
    /// Distance along the optical axis in metres, (N, height, width); infinite where nothing is.
    pub depth: Option<Array3<f32>>,
    /// Which body is seen, (N, height, width); -1 where nothing is.
    pub instance_id_seg: Option<Array3<i32>>,
    /// Names of the ids in `instance_id_seg`: bodies.
    pub instance_id_seg_id2label: BTreeMap<i32, String>,
    /// Which robot, object or fixture is seen, (N, height, width); -1 where nothing is.
    pub instance_seg: Option<Array3<i32>>,
    /// Names of the ids in `instance_seg`: robots, objects, fixtures.
    pub instance_seg_id2label: BTreeMap<i32, String>,
    /// Position, (N, 3).
    pub pos: Option<Array2<f64>>,
    /// Orientation, (N, 4): +X forward, +Z up in the picture.
    pub quat_world: Option<Array2<f64>>,
    /// Pinhole matrix, (N, 3, 3); pixel centres at half-integers.
    pub intrinsics: Option<Array3<f64>>,
}

/// The answer to a named query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extra {
    /// Numbers; the first axis is the environment.
    Tensor(ArrayD<f64>),
    /// Contacts per environment.
    Contacts(Vec<Vec<Contact>>),
}

/// Two bodies that touch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// First body.
    pub body_a: String,
    /// Second body.
    pub body_b: String,
    /// Where, in the world.
    pub pos_m: [f64; 3],
    /// Direction from the first body to the second.
    pub normal: [f64; 3],
    /// How deep they overlap; negative when they are only near.
    pub depth_m: f64,
    /// Force on the second body in the contact frame: normal, two tangents; at the current state
    /// under the current commands.
    pub force_n: [f64; 3],
}

/// A state whose arrays do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: shape {found:?}, expected {expected:?}")]
pub struct ShapeError {
    /// Path of the field, for example `robots.robot0.joint_pos`.
    pub field: String,
    /// Its shape.
    pub found: Vec<usize>,
    /// The shape that would fit.
    pub expected: Vec<usize>,
}

impl ObjectState {
    /// Checks the shapes against the number of environments and the names.
    fn check(&self, path: &str, num_envs: usize) -> Result<(), ShapeError> {
        let joints = self.joint_names.len();
        let shapes = [
            ("root_state", self.root_state.as_ref().map(|a| a.shape()), vec![num_envs, BODY_STATE]),
            (
                "body_state",
                self.body_state.as_ref().map(|a| a.shape()),
                vec![num_envs, self.body_names.len(), BODY_STATE],
            ),
            ("joint_pos", self.joint_pos.as_ref().map(|a| a.shape()), vec![num_envs, joints]),
            ("joint_vel", self.joint_vel.as_ref().map(|a| a.shape()), vec![num_envs, joints]),
        ];
        check_shapes(path, shapes)
    }
}

/// A field's name, the shape it has (if present), and the shape it should have.
type Shaped<'a> = (&'a str, Option<&'a [usize]>, Vec<usize>);

fn check_shapes<const N: usize>(path: &str, shapes: [Shaped<'_>; N]) -> Result<(), ShapeError> {
    for (field, found, expected) in shapes {
        if let Some(found) = found.filter(|found| *found != expected) {
            let field = format!("{path}.{field}");
            return Err(ShapeError { field, found: found.to_vec(), expected });
        }
    }
    Ok(())
}

impl TensorState {
    /// Checks that every array fits the number of environments and the names beside it.
    ///
    /// # Errors
    /// Names the first field that does not, with its shape and the right one.
    pub fn check(&self) -> Result<(), ShapeError> {
        for (name, object) in &self.objects {
            object.check(&format!("objects.{name}"), self.num_envs)?;
        }
        for (name, robot) in &self.robots {
            let path = format!("robots.{name}");
            robot.object.check(&path, self.num_envs)?;
            let expected = vec![self.num_envs, robot.joint_names.len()];
            let targets = [
                ("joint_pos_target", robot.joint_pos_target.as_ref()),
                ("joint_vel_target", robot.joint_vel_target.as_ref()),
                ("joint_effort_target", robot.joint_effort_target.as_ref()),
            ]
            .map(|(field, array)| (field, array.map(|a| a.shape()), expected.clone()));
            check_shapes(&path, targets)?;
        }
        Ok(())
    }
}
