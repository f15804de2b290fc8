//! Reading: TensorState and DictState out of any number of environments.

use std::collections::BTreeMap;

use citrange_core::state::BODY_STATE;
use citrange_core::{DictState, ObjectState, RobotState, TensorState};
use ndarray::Array2;

use crate::camera::CameraQuery;
use crate::error::SimError;
use crate::layout::{Joint, Layout, Root, RowLayout, Tree};
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
        let mut tables = Vec::new();
        let _without_numbers = trees(layout, ids.len(), &mut |source| {
            let numbers = Vec::with_capacity(ids.len() * source.columns());
            tables.push((source, numbers));
            Array2::default((0, 0))
        });
        for env in ids {
            let row = &self.rows[env * layout.row.len..][..layout.row.len];
            for (source, numbers) in &mut tables {
                source.append(row, numbers);
            }
        }
        let mut filled = tables.into_iter();
        trees(layout, ids.len(), &mut |source| {
            let numbers = filled.next().map(|(_, numbers)| numbers).unwrap_or_default();
            Array2::from_shape_vec((ids.len(), source.columns()), numbers).unwrap_or_default()
        })
    }
}

/// Where the columns of an array stand in a row.
enum Source {
    /// So many numbers from there.
    Run { from: usize, len: usize },
    /// One number per joint; a joint that has none is NaN.
    Joints(Vec<Option<usize>>),
}

impl Source {
    fn columns(&self) -> usize {
        match self {
            Self::Run { len, .. } => *len,
            Self::Joints(columns) => columns.len(),
        }
    }

    fn append(&self, row: &[f64], out: &mut Vec<f64>) {
        match self {
            Self::Run { from, len } => out.extend_from_slice(&row[*from..from + len]),
            Self::Joints(columns) => {
                out.extend(columns.iter().map(|c| c.map_or(f64::NAN, |i| row[i])));
            }
        }
    }
}

/// Makes an (N, columns) array.
type MakeArray<'a> = &'a mut dyn FnMut(Source) -> Array2<f64>;

/// The state without cameras and extras.
fn trees(layout: &Layout, num_envs: usize, array: MakeArray<'_>) -> TensorState {
    let mut objects = BTreeMap::new();
    for (name, tree) in &layout.objects {
        let articulated = tree.bodies.len() > 1;
        objects.insert(name.clone(), object(&layout.row, tree, articulated, array));
    }
    let mut robots = BTreeMap::new();
    for (name, tree) in &layout.robots {
        robots.insert(name.clone(), robot(&layout.row, tree, array));
    }
    TensorState { num_envs, objects, robots, ..TensorState::default() }
}

fn object(at: &RowLayout, tree: &Tree, articulated: bool, array: MakeArray<'_>) -> ObjectState {
    let from = at.bodies + tree.bodies.start * BODY_STATE;
    let root = match tree.root {
        Root::Fixed => Source::Run { from, len: BODY_STATE },
        Root::Free(root) => Source::Run { from: root.row, len: BODY_STATE },
    };
    let jointed = !tree.joints.is_empty();
    ObjectState {
        root_state: Some(array(root)),
        body_names: if articulated { tree.body_names.clone() } else { Vec::new() },
        body_state: articulated.then(|| {
            let flat = array(Source::Run { from, len: tree.bodies.len() * BODY_STATE });
            let shape = (flat.nrows(), tree.bodies.len(), BODY_STATE);
            flat.into_shape_with_order(shape).unwrap_or_default()
        }),
        joint_names: tree.joints.iter().map(|j| j.name.clone()).collect(),
        joint_pos: jointed.then(|| array(joints(tree, |j| Some(j.qpos)))),
        joint_vel: jointed.then(|| array(joints(tree, |j| Some(at.qvel + j.dof)))),
    }
}

fn robot(at: &RowLayout, tree: &Tree, array: MakeArray<'_>) -> RobotState {
    let ctrl = |index: Option<usize>| index.map(|i| at.ctrl + i);
    let any = |pick: fn(&Joint) -> Option<usize>| tree.joints.iter().any(|j| pick(j).is_some());
    RobotState {
        object: object(at, tree, true, array),
        joint_pos_target: any(|j| j.position_servo)
            .then(|| array(joints(tree, |j| ctrl(j.position_servo)))),
        joint_vel_target: any(|j| j.velocity_servo)
            .then(|| array(joints(tree, |j| ctrl(j.velocity_servo)))),
        joint_effort_target: (!tree.joints.is_empty())
            .then(|| array(joints(tree, |j| ctrl(j.motor).or(Some(at.effort + j.dof))))),
    }
}

fn joints(tree: &Tree, index: impl Fn(&Joint) -> Option<usize>) -> Source {
    let columns: Vec<Option<usize>> = tree.joints.iter().map(index).collect();
    let first = columns.first().copied().flatten();
    match first {
        // The usual case: an arm's joints stand side by side.
        Some(from) if columns.iter().enumerate().all(|(i, c)| *c == Some(from + i)) => {
            Source::Run { from, len: columns.len() }
        }
        _ => Source::Joints(columns),
    }
}
