//! What an arm sees and feels of the objects around it.

use citrange_core::{ObjectSeen, Pose};
use citrange_robot::{JawSide, jaw_sides};

use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::layout::Root;
use crate::world::World;

pub(crate) fn free(scene: &CompiledScene) -> impl Iterator<Item = (&String, &crate::layout::Tree)> {
    scene.layout.objects.iter().filter(|(_, tree)| matches!(tree.root, Root::Free { .. }))
}

/// Knows which body is which jaw, and remembers what they felt at the last frame.
pub(crate) struct ContactSensor {
    /// Per object: where its root is in qpos and qvel, and its body.
    objects: Vec<(usize, usize, usize)>,
    /// Per body: the jaw it belongs to.
    jaws: Vec<Option<usize>>,
    touch_n: Vec<[f64; 2]>,
}

impl ContactSensor {
    /// A gripper of one joint has a fixed and a moving jaw, one of two joints two moving ones; of
    /// a linkage the shapes tell.
    pub(crate) fn new(scene: &CompiledScene, robot: &str) -> Result<Self, SimError> {
        let model = &scene.model;
        let mut jaws = vec![None; model.ffi().nbody as usize];
        let tree = scene.layout.robot(robot)?;
        let names = scene.robots.get(robot).and_then(|d| d.gripper.as_ref()).map(|g| &g.joints);
        let is_jaw = |name: &str| names.is_some_and(|n| n.iter().any(|known| known == name));
        let moving: Vec<usize> = tree
            .joints
            .iter()
            .filter(|joint| is_jaw(&joint.name))
            .map(|joint| model.dof_bodyid()[joint.dof] as usize)
            .collect();
        let roots = match moving[..] {
            [one] => vec![model.body_parentid()[one] as usize, one],
            [first, second] => vec![first, second],
            _ => vec![],
        };
        if moving.len() > 2 {
            linkage(scene, robot, &mut jaws)?;
        }
        for body in tree.bodies.clone() {
            let parent = model.body_parentid()[body] as usize;
            let own = roots.iter().position(|root| *root == body).or(jaws[body]);
            jaws[body] = own.or(jaws[parent]);
        }
        let objects = free(scene).filter_map(|(_, tree)| match tree.root {
            Root::Free { qpos, dof } => Some((qpos, dof, tree.bodies.start)),
            Root::Fixed => None,
        });
        let objects: Vec<_> = objects.collect();
        Ok(Self { touch_n: vec![[0.0; 2]; objects.len()], objects, jaws })
    }

    /// How hard each jaw presses on each object of an environment now.
    pub(crate) fn feel(&mut self, world: &mut World, env: usize) {
        self.touch_n.fill([0.0; 2]);
        if self.objects.is_empty() {
            return;
        }
        let geom_bodies = world.scene.model.geom_bodyid();
        let body = |geom: i32| usize::try_from(geom).ok().map(|geom| geom_bodies[geom] as usize);
        let pair = |[a, b]: [i32; 2]| {
            let (a, b) = (body(a)?, body(b)?);
            let object = |body: usize| self.objects.iter().position(|o| o.2 == body);
            match (self.jaws[a], self.jaws[b]) {
                (Some(jaw), None) => Some((jaw, object(b)?)),
                (None, Some(jaw)) => Some((jaw, object(a)?)),
                _ => None,
            }
        };
        let contacts = world.envs[env].data.contact().iter().enumerate();
        let touching: Vec<(usize, usize, usize)> = contacts
            .filter_map(|(index, contact)| pair(contact.geom).map(|(j, o)| (index, j, o)))
            .collect();
        if touching.is_empty() {
            return;
        }
        world.compute_forces(&[env]);
        for (index, jaw, object) in touching {
            self.touch_n[object][jaw] += world.envs[env].data.contact_force(index)[0];
        }
    }

    /// Where every object of an environment is.
    pub(crate) fn see(&self, world: &World, env: usize, seen: &mut Vec<Option<ObjectSeen>>) {
        let data = &world.envs[env].data;
        let (pos, vel) = (data.qpos(), data.qvel());
        seen.clear();
        for ((qpos, dof, _), touch_n) in self.objects.iter().zip(&self.touch_n) {
            let p = &pos[*qpos..qpos + 7];
            let v = &vel[*dof..dof + 3];
            seen.push(Some(ObjectSeen {
                pose: Pose { pos_m: [p[0], p[1], p[2]], quat_wxyz: [p[3], p[4], p[5], p[6]] },
                lin_vel_m_s: [v[0], v[1], v[2]],
                touch_n: Some(*touch_n),
            }));
        }
    }
}

/// Says for the bodies of a linkage which jaw they are of.
fn linkage(scene: &CompiledScene, robot: &str, jaws: &mut [Option<usize>]) -> Result<(), SimError> {
    let Ok(chain) = scene.chain(robot) else { return Ok(()) };
    let sides = jaw_sides(&chain, &scene.link_shapes(robot)?);
    let tree = scene.layout.robot(robot)?;
    for (joint, side) in tree.driven_joints().zip(sides) {
        jaws[scene.model.dof_bodyid()[joint.dof] as usize] = match side {
            Some(JawSide::First) => Some(0),
            Some(JawSide::Second) => Some(1),
            Some(JawSide::Palm) | None => None,
        };
    }
    Ok(())
}
