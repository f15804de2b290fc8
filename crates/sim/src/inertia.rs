//! What the joints of a robot must overcome beside the weight of their chain.

use citrange_robot::LinkInertia;
use mujoco_rs::prelude::*;
use nalgebra::{Matrix3, Point3, Vector3};

use crate::chain::{Bodies, isometry};
use crate::compile::CompiledScene;
use crate::error::SimError;

impl CompiledScene {
    /// Inertias of a robot's links, in the order of the joints of [`CompiledScene::chain`].
    ///
    /// # Errors
    /// As [`CompiledScene::chain`].
    pub fn link_inertias(&self, robot: &str) -> Result<Vec<LinkInertia>, SimError> {
        let chain = self.chain(robot)?;
        let tree = self.layout.robot(robot)?;
        let model: &MjModel = self.model.as_ref();
        let bodies = Bodies::new(self, tree);
        let mut sums = vec![Matrix3::<f64>::zeros(); chain.joints.len()];
        for body in tree.bodies.clone() {
            let (Some(link), link_from_body) = bodies.place(body) else { continue };
            let body_from_principal = isometry(model.body_ipos()[body], model.body_iquat()[body]);
            let at = link_from_body * body_from_principal;
            let rot = at.rotation.to_rotation_matrix().into_inner();
            let own = rot
                * Matrix3::from_diagonal(&Vector3::from(model.body_inertia()[body]))
                * rot.transpose();
            let com = Point3::from(chain.joints[link].com_m);
            let out = at.translation.vector - com.coords;
            let moved = Matrix3::identity() * out.norm_squared() - out * out.transpose();
            sums[link] += own + moved * model.body_mass()[body];
        }
        let joints = tree.driven_joints().zip(&sums).map(|(joint, sum)| LinkInertia {
            inertia_kg_m2: std::array::from_fn(|row| std::array::from_fn(|col| sum[(row, col)])),
            armature_kg_m2: model.dof_armature()[joint.dof],
            damping_nm_s: model.dof_damping()[joint.dof],
            friction_nm: model.dof_frictionloss()[joint.dof],
        });
        Ok(joints.collect())
    }
}
