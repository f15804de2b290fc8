//! Reading: TensorState and DictState out of any number of environments.

use std::collections::BTreeMap;

use citrange_core::state::BODY_STATE;
use citrange_core::{DictState, ObjectState, RobotState, TensorState};
use ndarray::{Array2, Array3};

use crate::camera::CameraQuery;
use crate::error::SimError;
use crate::free_root::world_from_body;
use crate::layout::{Joint, Root, RowLayout, Tree};
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
        let rows: Vec<&[f64]> =
            ids.iter().map(|env| &self.rows[env * layout.row.len..][..layout.row.len]).collect();
        let read = Reader { at: &layout.row, rows: &rows };
        let objects = layout
            .objects
            .iter()
            .map(|(name, tree)| (name.clone(), read.object(tree, tree.bodies.len() > 1)))
            .collect();
        let robots =
            layout.robots.iter().map(|(name, tree)| (name.clone(), read.robot(tree))).collect();
        TensorState { num_envs: ids.len(), objects, robots, ..TensorState::default() }
    }
}

/// The rows to read from.
struct Reader<'a> {
    at: &'a RowLayout,
    rows: &'a [&'a [f64]],
}

impl Reader<'_> {
    /// Fills an (N, columns) array row by row.
    fn matrix(&self, columns: usize, fill: impl Fn(&[f64], &mut Vec<f64>)) -> Array2<f64> {
        let mut numbers = Vec::with_capacity(self.rows.len() * columns);
        for row in self.rows {
            fill(row, &mut numbers);
        }
        Array2::from_shape_vec((self.rows.len(), columns), numbers).unwrap_or_default()
    }

    /// One number per joint; a joint that has none is NaN.
    fn joints(&self, tree: &Tree, index: impl Fn(&Joint) -> Option<usize>) -> Array2<f64> {
        let columns: Vec<Option<usize>> = tree.joints.iter().map(index).collect();
        self.matrix(columns.len(), |row, out| {
            out.extend(columns.iter().map(|c| c.map_or(f64::NAN, |i| row[i])));
        })
    }

    fn root(&self, tree: &Tree) -> Array2<f64> {
        let body = self.at.bodies + tree.bodies.start * BODY_STATE;
        self.matrix(BODY_STATE, |row, out| match tree.root {
            Root::Fixed => out.extend_from_slice(&row[body..body + BODY_STATE]),
            // Straight from the joint, so that setting it back changes no bit.
            Root::Free { qpos, dof } => {
                out.extend_from_slice(&row[qpos..qpos + 7]);
                let v = &row[self.at.qvel + dof..][..6];
                out.extend_from_slice(&v[..3]);
                let quat = std::array::from_fn(|i| row[qpos + 3 + i]);
                out.extend_from_slice(&world_from_body(quat, [v[3], v[4], v[5]]));
            }
        })
    }

    fn bodies(&self, tree: &Tree) -> Array3<f64> {
        let from = self.at.bodies + tree.bodies.start * BODY_STATE;
        let columns = tree.bodies.len() * BODY_STATE;
        let flat =
            self.matrix(columns, |row, out| out.extend_from_slice(&row[from..from + columns]));
        let shape = (self.rows.len(), tree.bodies.len(), BODY_STATE);
        flat.into_shape_with_order(shape).unwrap_or_default()
    }

    fn object(&self, tree: &Tree, articulated: bool) -> ObjectState {
        let jointed = !tree.joints.is_empty();
        ObjectState {
            root_state: Some(self.root(tree)),
            body_names: if articulated { tree.body_names.clone() } else { Vec::new() },
            body_state: articulated.then(|| self.bodies(tree)),
            joint_names: tree.joints.iter().map(|j| j.name.clone()).collect(),
            joint_pos: jointed.then(|| self.joints(tree, |j| Some(j.qpos))),
            joint_vel: jointed.then(|| self.joints(tree, |j| Some(self.at.qvel + j.dof))),
        }
    }

    fn robot(&self, tree: &Tree) -> RobotState {
        let ctrl = |index: Option<usize>| index.map(|i| self.at.ctrl + i);
        let any = |pick: fn(&Joint) -> Option<usize>| tree.joints.iter().any(|j| pick(j).is_some());
        RobotState {
            object: self.object(tree, true),
            joint_pos_target: any(|j| j.position_servo)
                .then(|| self.joints(tree, |j| ctrl(j.position_servo))),
            joint_vel_target: any(|j| j.velocity_servo)
                .then(|| self.joints(tree, |j| ctrl(j.velocity_servo))),
            joint_effort_target: (!tree.joints.is_empty())
                .then(|| self.joints(tree, |j| ctrl(j.motor).or(Some(self.at.effort + j.dof)))),
        }
    }
}
