//! Reading: TensorState and DictState out of any number of environments.

use std::collections::BTreeMap;
use std::ops::Range;

use citrange_core::state::BODY_STATE;
use citrange_core::{DictState, ObjectState, RobotState, TensorState};
use ndarray::Array2;

use crate::camera_pool::CameraQuery;
use crate::error::SimError;
use crate::layout::{Layout, Tree};
use crate::world::World;

/// What to read beside robots and objects.
#[derive(Clone, Debug, Default)]
pub struct StateQuery {
    /// Cameras and which images of each.
    pub cameras: BTreeMap<String, CameraQuery>,
    /// Named queries, see [`World::extra`].
    pub extras: Vec<String>,
}

impl World {
    /// The state of all environments, or of those in `env_ids`, in that order.
    ///
    /// # Errors
    /// When an id, camera or query is not known.
    pub fn get_state(
        &mut self,
        env_ids: Option<&[usize]>,
        query: &StateQuery,
    ) -> Result<TensorState, SimError> {
        let ids = self.env_ids(env_ids)?;
        let mut state = self.read_trees(&ids);
        for (name, images) in &query.cameras {
            state.cameras.insert(name.clone(), self.read_camera(name, &ids, *images)?);
        }
        for extra in &query.extras {
            state.extras.insert(extra.clone(), self.extra(extra, &ids)?);
        }
        Ok(state)
    }

    /// The same as one [`DictState`] per environment.
    ///
    /// # Errors
    /// As [`World::get_state`].
    pub fn get_dict_states(
        &mut self,
        env_ids: Option<&[usize]>,
        query: &StateQuery,
    ) -> Result<Vec<DictState>, SimError> {
        let tensor = self.get_state(env_ids, query)?;
        tensor.to_dicts().map_err(|e| SimError::Mujoco(e.to_string()))
    }

    /// Robots and objects from the published rows: no engine call, one sweep through memory.
    fn read_trees(&self, ids: &[usize]) -> TensorState {
        let layout = &self.scene.layout;
        // First which arrays there are, then one sweep that fills all of them, then the state.
        let mut arrays: Vec<(Range<usize>, Vec<f64>)> = Vec::new();
        let _without_numbers = trees(layout, ids.len(), &mut |from, len| {
            arrays.push((from..from + len, Vec::with_capacity(ids.len() * len)));
            Array2::default((0, 0))
        });
        for env in ids {
            let row = &self.rows[env * layout.row_len..][..layout.row_len];
            for (columns, numbers) in &mut arrays {
                numbers.extend_from_slice(&row[columns.clone()]);
            }
        }
        let mut filled = arrays.into_iter();
        trees(layout, ids.len(), &mut |_, len| {
            let numbers = filled.next().map(|(_, numbers)| numbers).unwrap_or_default();
            Array2::from_shape_vec((ids.len(), len), numbers).unwrap_or_default()
        })
    }
}

/// Makes an (N, length) array of the columns of a row from here on.
type MakeArray<'a> = &'a mut dyn FnMut(usize, usize) -> Array2<f64>;

/// The state without cameras and extras.
fn trees(layout: &Layout, num_envs: usize, array: MakeArray<'_>) -> TensorState {
    let mut objects = BTreeMap::new();
    for (name, tree) in &layout.objects {
        objects.insert(name.clone(), object(tree, array));
    }
    let mut robots = BTreeMap::new();
    for (name, tree) in &layout.robots {
        robots.insert(name.clone(), robot(tree, array));
    }
    TensorState { num_envs, objects, robots, ..TensorState::default() }
}

fn object(tree: &Tree, array: MakeArray<'_>) -> ObjectState {
    let joints = tree.joints.len();
    ObjectState {
        root_state: Some(array(tree.row.root, BODY_STATE)),
        body_names: if tree.articulated { tree.body_names.clone() } else { Vec::new() },
        body_state: tree.articulated.then(|| {
            let flat = array(tree.row.bodies, tree.bodies.len() * BODY_STATE);
            let shape = (flat.nrows(), tree.bodies.len(), BODY_STATE);
            flat.into_shape_with_order(shape).unwrap_or_default()
        }),
        joint_names: tree.joints.iter().map(|j| j.name.clone()).collect(),
        joint_pos: (joints > 0).then(|| array(tree.row.joint_pos, joints)),
        joint_vel: (joints > 0).then(|| array(tree.row.joint_vel, joints)),
    }
}

fn robot(tree: &Tree, array: MakeArray<'_>) -> RobotState {
    let joints = tree.joints.len();
    RobotState {
        object: object(tree, array),
        joint_pos_target: tree.row.pos_target.map(|from| array(from, joints)),
        joint_vel_target: tree.row.vel_target.map(|from| array(from, joints)),
        joint_effort_target: (joints > 0).then(|| array(tree.row.effort, joints)),
    }
}

/// Where a field of the state is in the table of published rows ([`World::table`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableField {
    /// Whether it is a robot's.
    pub is_robot: bool,
    /// The robot or object.
    pub thing: String,
    /// The field, by its name in TensorState.
    pub field: &'static str,
    /// First number in a row.
    pub from: usize,
    /// Axes beside the environment's.
    pub shape: Vec<usize>,
}

impl World {
    /// The published rows of all environments: the numbers that [`World::get_state`] reads, one
    /// row after the other. They stay where they are while the world lives.
    #[must_use]
    pub fn table(&self) -> (&[f64], usize) {
        (&self.rows, self.scene.layout.row_len)
    }

    /// What is where in a row of [`World::table`].
    #[must_use]
    pub fn table_fields(&self) -> Vec<TableField> {
        let layout = &self.scene.layout;
        let objects = layout.objects.iter().map(|tree| (false, tree));
        let robots = layout.robots.iter().map(|tree| (true, tree));
        let mut all = Vec::new();
        for (is_robot, (name, tree)) in objects.chain(robots) {
            let joints = tree.joints.len();
            let mut add = |field, from: Option<usize>, shape: &[usize]| {
                if let Some(from) = from {
                    let (thing, shape) = (name.clone(), shape.to_vec());
                    all.push(TableField { is_robot, thing, field, from, shape });
                }
            };
            let row = &tree.row;
            add("root_state", Some(row.root), &[BODY_STATE]);
            let bodies = tree.articulated.then_some(row.bodies);
            add("body_state", bodies, &[tree.bodies.len(), BODY_STATE]);
            let of_joints = |from: usize| (joints > 0).then_some(from);
            add("joint_pos", of_joints(row.joint_pos), &[joints]);
            add("joint_vel", of_joints(row.joint_vel), &[joints]);
            if is_robot {
                add("joint_pos_target", row.pos_target, &[joints]);
                add("joint_vel_target", row.vel_target, &[joints]);
                add("joint_effort_target", of_joints(row.effort), &[joints]);
            }
        }
        all
    }
}
