//! What the arms of many environments see and feel, one environment after the other: the same as
//! [`crate::SimRig`] shows of its one.

use citrange_core::{Observation, RigSpec};

use crate::chain::FrameAt;
use crate::contact_sensor::ContactSensor;
use crate::error::SimError;
use crate::rig_spec::spec;
use crate::world::World;

/// Looks into the environments of a world as its robots do.
pub struct Senses {
    spec: RigSpec,
    robots: Vec<String>,
    contact_sensor: ContactSensor,
    tool: Option<FrameAt>,
}

impl Senses {
    /// The senses of these robots of a world; all when `None`. The first one feels.
    ///
    /// # Errors
    /// When there is no such robot, or a joint has no position servo.
    pub fn new(world: &World, robots: Option<&[String]>) -> Result<Self, SimError> {
        let scene = world.scene();
        let robots = match robots {
            Some(named) => named.to_vec(),
            None => scene.robot_names().map(str::to_owned).collect(),
        };
        let Some(first) = robots.first() else {
            let reason = "it has no robot".into();
            return Err(SimError::Scene { scene: scene.scene.name.clone(), reason });
        };
        Ok(Self {
            spec: spec(scene, &robots, Some(&[]))?,
            contact_sensor: ContactSensor::new(scene, first)?,
            tool: scene.tool_at(first),
            robots,
        })
    }

    /// Joints, rates and things, as a rig of these robots has them; no cameras.
    #[must_use]
    pub fn spec(&self) -> &RigSpec {
        &self.spec
    }

    /// Names of the robots in the scene, in the order of the arms.
    #[must_use]
    pub fn robots(&self) -> &[String] {
        &self.robots
    }

    /// Whether it knows where the (first robot's) tool is.
    #[must_use]
    pub fn knows_tool(&self) -> bool {
        self.tool.is_some()
    }

    /// Joints and things of an environment, with what the jaws press.
    ///
    /// # Errors
    /// When there is no such environment.
    pub fn look(
        &mut self,
        world: &mut World,
        env: usize,
        seen: &mut Observation,
    ) -> Result<(), SimError> {
        world.check_env(env)?;
        self.contact_sensor.feel(world, env);
        self.contact_sensor.see(world, env, &mut seen.objects);
        seen.step = world.steps(env);
        seen.joint_pos.clear();
        seen.joint_vel.clear();
        let data = &world.envs[env].data;
        for robot in &self.robots {
            for joint in world.scene.layout.robots[robot].driven_joints() {
                seen.joint_pos.push(data.qpos()[joint.qpos]);
                seen.joint_vel.push(data.qvel()[joint.dof]);
            }
        }
        Ok(())
    }

    /// Where the tool of an environment is in the world; `None` where no description names one.
    #[must_use]
    pub fn tool_m(&self, world: &World, env: usize) -> Option<[f64; 3]> {
        Some(self.tool?.position(&world.envs.get(env)?.data))
    }

    /// The joint targets in force in an environment.
    pub fn targets(&self, world: &World, env: usize, targets: &mut Vec<f64>) {
        targets.clear();
        let Some(env) = world.envs.get(env) else { return };
        for robot in &self.robots {
            for joint in world.scene.layout.robots[robot].driven_joints() {
                targets.push(match joint.drive {
                    Some(drive) => drive.position(env.data.ctrl()[drive.actuator]),
                    None => env.data.qpos()[joint.qpos],
                });
            }
        }
    }
}

impl std::fmt::Debug for Senses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Senses").field("robots", &self.robots).finish_non_exhaustive()
    }
}
