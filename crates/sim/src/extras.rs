//! Extras: answers to named queries about the current state.

use citrange_core::{Contact, Extra};
use mujoco_rs::mujoco_c::mjtStage;
use mujoco_rs::prelude::*;
use ndarray::ArrayD;

use crate::error::SimError;
use crate::layout::name_of;
use crate::world::World;

/// Every query and what it answers, for people.
pub const EXTRAS: [(&str, &str); 7] = [
    ("contacts", "all contacts: bodies, place, normal, depth, force"),
    ("contact_force:A,B", "(N, 1) sum of normal forces between two bodies, robots or objects, N"),
    ("site_pose:NAME", "(N, 7) position and quaternion of a site"),
    ("sensor:NAME", "(N, dim) value of a sensor of the model"),
    ("joint_effort:ROBOT", "(N, joints) effort that the actuators apply now, N m or N"),
    ("bias_effort:ROBOT", "(N, joints) effort that gravity and motion ask for, N m or N"),
    ("time", "(N, 1) simulation time, s"),
];

impl World {
    /// Answers one named query for the given environments; see [`EXTRAS`].
    ///
    /// Forces are those at the current state under the current commands. Asking does not change
    /// what happens next.
    ///
    /// # Errors
    /// When the query or a name in it is not known.
    pub fn extra(&mut self, query: &str, ids: &[usize]) -> Result<Extra, SimError> {
        for &env in ids {
            self.check_env(env)?;
        }
        let (kind, argument) = query.split_once(':').unwrap_or((query, ""));
        match kind {
            "contacts" => {
                self.compute_forces(ids);
                Ok(Extra::Contacts(ids.iter().map(|env| self.contacts(*env)).collect()))
            }
            "contact_force" => {
                let (a, b) = argument.split_once(',').unwrap_or((argument, ""));
                self.check_owner(a)?;
                self.check_owner(b)?;
                self.compute_forces(ids);
                tensor(ids, 1, |env, out| out.push(self.force_between(env, a, b)))
            }
            "site_pose" => {
                let model = &self.scene.model;
                let site =
                    find(model, MjtObjBase::mjOBJ_SITE, model.ffi().nsite, "site", argument)?;
                tensor(ids, 7, |env, out| {
                    let data = &self.envs[env].data;
                    out.extend_from_slice(&data.site_xpos()[site]);
                    out.extend_from_slice(&quat_from_matrix(&data.site_xmat()[site]));
                })
            }
            "sensor" => {
                let model = std::sync::Arc::clone(&self.scene.model);
                let count = model.ffi().nsensor;
                let sensor = find(&model, MjtObjBase::mjOBJ_SENSOR, count, "sensor", argument)?;
                let from = model.sensor_adr()[sensor] as usize;
                let dim = model.sensor_dim()[sensor] as usize;
                self.compute_forces(ids);
                tensor(ids, dim, |env, out| {
                    out.extend_from_slice(&self.envs[env].data.sensordata()[from..from + dim]);
                })
            }
            "joint_effort" => {
                let dofs = self.dofs(argument)?;
                self.compute_forces(ids);
                tensor(ids, dofs.len(), |env, out| {
                    let force = self.envs[env].data.qfrc_actuator();
                    out.extend(dofs.iter().map(|dof| force[*dof]));
                })
            }
            "bias_effort" => {
                let dofs = self.dofs(argument)?;
                tensor(ids, dofs.len(), |env, out| {
                    let force = self.envs[env].data.qfrc_bias();
                    out.extend(dofs.iter().map(|dof| force[*dof]));
                })
            }
            "time" => tensor(ids, 1, |env, out| out.push(self.envs[env].data.ffi().time)),
            _ => Err(SimError::unknown("query", query, EXTRAS.iter().map(|(name, _)| *name))),
        }
    }

    fn dofs(&self, robot: &str) -> Result<Vec<usize>, SimError> {
        Ok(self.scene.layout.robot(robot)?.joints.iter().map(|j| j.dof).collect())
    }

    /// Completes the engine's computation at the current state: actuation, acceleration,
    /// constraint forces, force sensors. The next step computes them again; nothing carries over.
    pub(crate) fn compute_forces(&mut self, ids: &[usize]) {
        for &env in ids {
            self.envs[env].data.forward_skip(mjtStage::mjSTAGE_VEL, false);
        }
    }

    fn contacts(&self, env: usize) -> Vec<Contact> {
        let data = &self.envs[env].data;
        let bodies = self.scene.model.geom_bodyid();
        let body = |geom: i32| match usize::try_from(geom) {
            Ok(geom) => self.scene.layout.body_names[bodies[geom] as usize].clone(),
            Err(_) => "flex".to_owned(),
        };
        let contacts = data.contact().iter().enumerate();
        let list = contacts.map(|(index, contact)| {
            let force = data.contact_force(index);
            Contact {
                body_a: body(contact.geom[0]),
                body_b: body(contact.geom[1]),
                pos_m: contact.pos,
                normal: [contact.frame[0], contact.frame[1], contact.frame[2]],
                depth_m: -contact.dist,
                force_n: [force[0], force[1], force[2]],
            }
        });
        list.collect()
    }

    fn force_between(&self, env: usize, a: &str, b: &str) -> f64 {
        let layout = &self.scene.layout;
        let bodies = self.scene.model.geom_bodyid();
        let is = |geom: i32, name: &str| {
            usize::try_from(geom).is_ok_and(|geom| {
                let body = bodies[geom] as usize;
                layout.body_names[body] == name || layout.owners[body] == name
            })
        };
        let data = &self.envs[env].data;
        let pair = |g: [i32; 2]| (is(g[0], a) && is(g[1], b)) || (is(g[0], b) && is(g[1], a));
        let contacts = data.contact().iter().enumerate();
        let touching = contacts.filter(|(_, contact)| pair(contact.geom));
        // An empty sum is minus zero in Rust.
        touching.map(|(index, _)| data.contact_force(index)[0]).sum::<f64>() + 0.0
    }

    fn check_owner(&self, name: &str) -> Result<(), SimError> {
        let layout = &self.scene.layout;
        let mut known: Vec<&str> =
            layout.body_names.iter().chain(&layout.owners).map(String::as_str).collect();
        known.sort_unstable();
        known.dedup();
        if known.contains(&name) {
            return Ok(());
        }
        Err(SimError::unknown("body", name, known.iter().copied()))
    }
}

fn tensor(
    ids: &[usize],
    columns: usize,
    mut fill: impl FnMut(usize, &mut Vec<f64>),
) -> Result<Extra, SimError> {
    let mut numbers = Vec::with_capacity(ids.len() * columns);
    for &env in ids {
        fill(env, &mut numbers);
    }
    let array = ArrayD::from_shape_vec(vec![ids.len(), columns], numbers);
    array.map(Extra::Tensor).map_err(|e| SimError::Mujoco(e.to_string()))
}

fn find(
    model: &MjModel,
    kind: MjtObjBase,
    count: impl TryInto<usize>,
    what: &'static str,
    name: &str,
) -> Result<usize, SimError> {
    model.name_to_id(kind, name).ok_or_else(|| {
        let count = count.try_into().unwrap_or(0);
        let all: Vec<String> = (0..count).map(|id| name_of(model, kind, id, what)).collect();
        SimError::unknown(what, name, all.iter().map(String::as_str))
    })
}

/// Quaternion of a row-major rotation matrix.
pub(crate) fn quat_from_matrix(m: &[f64; 9]) -> [f64; 4] {
    let mut quat = [0.0; 4];
    mujoco_rs::wrappers::fun::utility::mju_mat_2_quat(&mut quat, m);
    quat
}
