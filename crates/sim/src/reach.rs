//! Inverse kinematics of a scene's robot: joints that bring a site to a pose.

use mujoco_rs::prelude::*;
use nalgebra::{Matrix3, Matrix6, Rotation3, Vector3, Vector6};

use crate::compile::CompiledScene;
use crate::error::SimError;

/// Damping of the least squares: enough to stay calm near singular poses.
const DAMPING: f64 = 0.03;
const ITERATIONS: usize = 300;
/// Longest change of a joint in one iteration.
const STEP_RAD: f64 = 0.15;
/// What counts as there.
const POSITION_M: f64 = 1e-4;
const ROTATION_RAD: f64 = 1e-3;

/// A pose of a site in the world: position and rotation matrix, row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SitePose {
    /// Position.
    pub pos_m: [f64; 3],
    /// Rotation.
    pub rot: [f64; 9],
}

impl CompiledScene {
    /// Where a site of a robot is when its joints are at `joints`.
    ///
    /// # Errors
    /// When robot or site are not known or the number of joints is wrong.
    pub fn site_pose(&self, robot: &str, site: &str, joints: &[f64]) -> Result<SitePose, SimError> {
        let mut arm = Arm::new(self, robot, site)?;
        arm.set(joints)?;
        Ok(arm.pose())
    }

    /// Joints near `start` that bring a site of a robot to a pose, by damped least squares;
    /// `None` when it does not get there. Gripper joints stay as they are.
    ///
    /// # Errors
    /// When robot or site are not known or the number of joints is wrong.
    pub fn reach(
        &self,
        robot: &str,
        site: &str,
        start: &[f64],
        goal: &SitePose,
    ) -> Result<Option<Vec<f64>>, SimError> {
        let mut arm = Arm::new(self, robot, site)?;
        let mut joints = start.to_vec();
        for _ in 0..ITERATIONS {
            arm.set(&joints)?;
            let error = arm.error(goal);
            let (position, rotation) = (error.fixed_rows::<3>(0), error.fixed_rows::<3>(3));
            if position.norm() < POSITION_M && rotation.norm() < ROTATION_RAD {
                return Ok(Some(joints));
            }
            arm.improve(&error, &mut joints);
        }
        Ok(None)
    }
}

struct Arm<'a> {
    scene: &'a CompiledScene,
    robot: &'a str,
    site: usize,
    data: MjData<std::sync::Arc<MjModel>>,
}

impl<'a> Arm<'a> {
    fn new(scene: &'a CompiledScene, robot: &'a str, site: &str) -> Result<Self, SimError> {
        scene.layout.robot(robot)?;
        let full = format!("{robot}/{site}");
        let names: Vec<String> = (0..scene.model.ffi().nsite as usize)
            .map(|id| crate::layout::name_of(&scene.model, MjtObjBase::mjOBJ_SITE, id, "site"))
            .collect();
        let site = names.iter().position(|name| *name == full);
        let site =
            site.ok_or_else(|| SimError::unknown("site", &full, names.iter().map(String::as_str)))?;
        let mut data = MjData::try_new(std::sync::Arc::clone(&scene.model))
            .map_err(|e| SimError::Mujoco(e.to_string()))?;
        data.qpos_mut().copy_from_slice(&scene.home_qpos);
        Ok(Self { scene, robot, site, data })
    }

    fn set(&mut self, joints: &[f64]) -> Result<(), SimError> {
        let known = &self.scene.layout.robots[self.robot].joints;
        if joints.len() != known.len() {
            let (found, expected) = (joints.len(), known.len());
            return Err(SimError::Length { what: "joints".into(), found, expected });
        }
        for (joint, value) in known.iter().zip(joints) {
            self.data.qpos_mut()[joint.qpos] = *value;
        }
        self.data.step1();
        Ok(())
    }

    fn pose(&self) -> SitePose {
        SitePose { pos_m: self.data.site_xpos()[self.site], rot: self.data.site_xmat()[self.site] }
    }

    /// What is missing: metres, then radians about the world's axes.
    fn error(&self, goal: &SitePose) -> Vector6<f64> {
        let is = self.pose();
        let rotation =
            |rot: &[f64; 9]| Rotation3::from_matrix_unchecked(Matrix3::from_row_slice(rot));
        let turn = (rotation(&goal.rot) * rotation(&is.rot).inverse()).scaled_axis();
        let go = Vector3::from(goal.pos_m) - Vector3::from(is.pos_m);
        Vector6::new(go.x, go.y, go.z, turn.x, turn.y, turn.z)
    }

    fn improve(&self, error: &Vector6<f64>, joints: &mut [f64]) {
        let (linear, angular) = self.data.jac_site(true, true, self.site);
        let dofs = self.scene.model.ffi().nv as usize;
        let known = &self.scene.layout.robots[self.robot].joints;
        let gripper = self.scene.robots.get(self.robot).and_then(|d| d.gripper.as_ref());
        let is_arm = |name: &str| gripper.is_none_or(|g| !g.joints.iter().any(|j| j == name));
        let column = |dof: usize| {
            let at = |rows: &[f64], row: usize| rows[row * dofs + dof];
            Vector6::new(
                at(&linear, 0),
                at(&linear, 1),
                at(&linear, 2),
                at(&angular, 0),
                at(&angular, 1),
                at(&angular, 2),
            )
        };
        let mut square = Matrix6::identity() * DAMPING * DAMPING;
        for joint in known.iter().filter(|j| is_arm(&j.name)) {
            let column = column(joint.dof);
            square += column * column.transpose();
        }
        let Some(inverse) = square.try_inverse() else { return };
        let pull = inverse * error;
        for (joint, value) in known.iter().zip(joints) {
            if !is_arm(&joint.name) {
                continue;
            }
            *value += column(joint.dof).dot(&pull).clamp(-STEP_RAD, STEP_RAD);
            if let Some(servo) = joint.position_servo {
                let id = self.scene.model.actuator_trnid()[servo][0] as usize;
                if self.scene.model.jnt_limited()[id] {
                    let [low, high] = self.scene.model.jnt_range()[id];
                    *value = value.clamp(low, high);
                }
            }
        }
    }
}
