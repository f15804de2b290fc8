//! What a simulated rig is: joints of its arms, cameras, things.

use citrange_core::RigSpec;
use citrange_core::rig::{ArmSpec, CameraSpec, JointSpec};
use mujoco_rs::prelude::MjtJoint;

use crate::compile::CompiledScene;
use crate::drive::why_not_driven;
use crate::error::SimError;
use crate::object_specs::object_specs;

/// These robots of a scene, seen by the cameras named (all when `None`).
pub(crate) fn spec(
    scene: &CompiledScene,
    robots: &[String],
    cameras: Option<&[String]>,
) -> Result<RigSpec, SimError> {
    let model_of = |robot: &String| {
        scene.scene.robots.get(robot).map(|placed| placed.model.clone()).unwrap_or_default()
    };
    let mut joints = Vec::new();
    let mut arms = Vec::new();
    for (number, robot) in robots.iter().enumerate() {
        let first = joints.len();
        joints.extend(joint_specs(scene, robot)?);
        let name = format!("robot{number}");
        if robots.len() > 1 {
            // Both arms may have the same joints.
            joints[first..].iter_mut().for_each(|j| j.name = format!("{name}_{}", j.name));
        }
        arms.push(ArmSpec { name, robot: model_of(robot), joints: first..joints.len() });
    }
    let robot = robots.first().map(model_of).unwrap_or_default();
    let mut spec = RigSpec::new(&robot, joints, scene.scene.rates);
    spec.objects = object_specs(scene);
    if robots.len() > 1 {
        spec.several_arms = arms;
    }
    if scene.robot_names().count() > 1 {
        spec.robots_in_scene = robots.to_vec();
    }
    let names = match cameras {
        Some(names) => names.to_vec(),
        None => scene.camera_names().map(str::to_owned).collect(),
    };
    for name in &names {
        let camera = scene.layout.camera(name)?;
        spec.cameras.push(CameraSpec::rgb(name, camera.width as u32, camera.height as u32));
    }
    Ok(spec)
}

fn joint_specs(scene: &CompiledScene, robot: &str) -> Result<Vec<JointSpec>, SimError> {
    let model = &scene.model;
    let mut joints = Vec::new();
    let description = scene.robots.get(robot);
    for joint in scene.layout.robot(robot)?.driven_joints() {
        let gripper = description.and_then(|d| d.gripper.as_ref()).and_then(|g| {
            let index = g.joints.iter().position(|name| *name == joint.name)?;
            Some([*g.closed.get(index)?, *g.open.get(index)?])
        });
        // What closes with a gripper needs no servo of its own: linkages take it along.
        if joint.drive.is_none() && joint.follows.is_none() && gripper.is_none() {
            return Err(SimError::Scene {
                scene: scene.scene.name.clone(),
                reason: format!("{robot} cannot be driven: {}", why_not_driven(model, joint)),
            });
        }
        let is_slide = model.jnt_type()[joint.id] == MjtJoint::mjJNT_SLIDE;
        let range = joint.commanded_range(model, description);
        joints.push(JointSpec { name: joint.name.clone(), is_slide, range, gripper });
    }
    Ok(joints)
}
