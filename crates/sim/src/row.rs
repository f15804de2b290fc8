//! Published rows: what State shows of one environment, side by side, in the order of its arrays.
//!
//! A row is written at the end of a step, while the environment is still in the cache; reading a
//! thousand environments is then one sweep through memory.

use citrange_core::state::BODY_STATE;

use crate::free_root::world_from_body;
use crate::layout::{Layout, Part, Root, Tree};
use crate::world::Data;

/// Where the numbers of a tree start in the row. Joint numbers are in joint order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TreeRow {
    /// 13 numbers of the root.
    pub(crate) root: usize,
    /// 13 numbers of every body; a fixed root is the first of them.
    pub(crate) bodies: usize,
    pub(crate) joint_pos: usize,
    pub(crate) joint_vel: usize,
    pub(crate) effort: usize,
    /// Where any joint has a position servo.
    pub(crate) pos_target: Option<usize>,
    /// Where any joint has a velocity servo.
    pub(crate) vel_target: Option<usize>,
}

impl TreeRow {
    /// Takes room for a tree's numbers from `len` on, and moves `len` behind them.
    pub(crate) fn take(tree: &Tree, len: &mut usize) -> Self {
        let mut room = |count: usize| {
            let from = *len;
            *len += count;
            from
        };
        let joints = tree.joints.len();
        let all_bodies = tree.bodies.len() * BODY_STATE;
        let (root, bodies) = match tree.root {
            Root::Fixed => {
                let bodies = room(all_bodies);
                (bodies, bodies)
            }
            Root::Free { .. } => {
                let root = room(BODY_STATE);
                // A single free body is its root.
                (root, if tree.articulated { room(all_bodies) } else { root })
            }
        };
        let any_position = tree.joints.iter().any(|j| j.drive.is_some());
        let any_velocity = tree.joints.iter().any(|j| j.velocity_servo.is_some());
        Self {
            root,
            bodies,
            joint_pos: room(joints),
            joint_vel: room(joints),
            effort: room(joints),
            pos_target: any_position.then(|| room(joints)),
            vel_target: any_velocity.then(|| room(joints)),
        }
    }
}

/// Writes an environment's row.
pub(crate) fn publish(layout: &Layout, data: &Data, row: &mut [f64]) {
    for tree in layout.objects.values().chain(layout.robots.values()) {
        publish_root_and_bodies(tree, data, row);
        publish_joints(tree, data, row);
    }
}

fn publish_root_and_bodies(tree: &Tree, data: &Data, row: &mut [f64]) {
    if let Root::Free { qpos, dof } = tree.root {
        // Straight from the joint, so that setting it back changes no bit.
        let out = &mut row[tree.row.root..][..BODY_STATE];
        let (q, v) = (&data.qpos()[qpos..][..7], &data.qvel()[dof..][..6]);
        out[..7].copy_from_slice(q);
        out[7..10].copy_from_slice(&v[..3]);
        out[10..].copy_from_slice(&world_from_body([q[3], q[4], q[5], q[6]], [v[3], v[4], v[5]]));
        if !tree.articulated {
            return;
        }
    }
    let roots = data.model().body_rootid();
    let (xpos, xquat, cvel, com) = (data.xpos(), data.xquat(), data.cvel(), data.subtree_com());
    let out = row[tree.row.bodies..].chunks_exact_mut(BODY_STATE);
    for (body, out) in tree.bodies.clone().zip(out) {
        // The engine's spatial velocity is that of the point at the whole tree's centre of mass;
        // v(origin) = v(centre) + w x (origin - centre).
        let [wx, wy, wz, vx, vy, vz] = cvel[body];
        let p = xpos[body];
        let c = com[roots[body] as usize];
        let [rx, ry, rz] = [p[0] - c[0], p[1] - c[1], p[2] - c[2]];
        out[..3].copy_from_slice(&p);
        out[3..7].copy_from_slice(&xquat[body]);
        out[7] = vx + (wy * rz - wz * ry);
        out[8] = vy + (wz * rx - wx * rz);
        out[9] = vz + (wx * ry - wy * rx);
        out[10] = wx;
        out[11] = wy;
        out[12] = wz;
    }
}

fn publish_joints(tree: &Tree, data: &Data, row: &mut [f64]) {
    let at = &tree.row;
    let (qpos, qvel) = (data.qpos(), data.qvel());
    let (ctrl, applied) = (data.ctrl(), data.qfrc_applied());
    let command = |index: Option<usize>| index.map_or(f64::NAN, |i| ctrl[i]);
    for (index, joint) in tree.joints.iter().enumerate() {
        row[at.joint_pos + index] = qpos[joint.qpos];
        if joint.part != Part::QuatW {
            row[at.joint_vel + index] = qvel[joint.dof];
            row[at.effort + index] = joint.motor.map_or(applied[joint.dof], |motor| ctrl[motor]);
        }
        if let Some(target) = at.pos_target {
            let drive = joint.drive.as_ref();
            row[target + index] = drive.map_or(f64::NAN, |d| d.position(ctrl[d.actuator]));
        }
        if let Some(target) = at.vel_target {
            row[target + index] = command(joint.velocity_servo);
        }
    }
}
