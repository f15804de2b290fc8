//! A simulated arm as a Rig: one environment, one robot, cameras of the scene.

use std::sync::Arc;

use citrange_core::rig::{CameraSpec, JointSpec, state_digest};
use citrange_core::{
    BoxError, Commanded, Observation, Picture, PicturePool, Rig, RigSpec, Snapshot,
};
use mujoco_rs::prelude::MjtJoint;

use crate::compile::CompiledScene;
use crate::contact_sensor::{ContactSensor, object_specs};
use crate::error::SimError;
use crate::render_worker::Drawer;
use crate::snapshot::INTEGRATION;
use crate::world::{Threads, World};

/// One simulated robot in a world of its own.
pub struct SimRig {
    world: World,
    robot: String,
    spec: RigSpec,
    limited: Vec<f64>,
    pools: Vec<PicturePool>,
    contact_sensor: ContactSensor,
    /// The site of the wrist, where the robot's description names one.
    wrist: Option<usize>,
    /// Started when the first pictures are asked for.
    drawer: Option<Drawer>,
    leave_out: bool,
    ticks: u64,
    /// States that frames are set to, from the first on.
    track: Vec<Snapshot>,
}

impl SimRig {
    /// The scene's first robot, seen by the cameras named (all when `None`).
    ///
    /// # Errors
    /// When the scene has no robot, a joint has no position servo, or a camera is not known.
    pub fn new(scene: Arc<CompiledScene>, cameras: Option<&[String]>) -> Result<Self, SimError> {
        let name = scene.robot_names().next().map(str::to_owned);
        let robot = name.ok_or_else(|| SimError::Scene {
            scene: scene.scene.name.clone(),
            reason: "it has no robot".into(),
        })?;
        let spec = spec(&scene, &robot, cameras)?;
        let world = World::new(scene, 1, Threads::Exactly(1))?;
        let limited = vec![0.0; spec.joints.len()];
        let pools = vec![PicturePool::default(); spec.cameras.len()];
        let contact_sensor = ContactSensor::new(world.scene(), &robot)?;
        let wrist = world.scene().wrist_site(&robot);
        Ok(Self {
            world,
            robot,
            spec,
            limited,
            pools,
            contact_sensor,
            wrist,
            drawer: None,
            leave_out: false,
            ticks: 0,
            track: Vec::new(),
        })
    }

    /// The world it lives in.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world it lives in, to reset or restore it; afterwards call [`SimRig::begin`].
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Counts ticks from here: an episode begins. Answers the joint targets in force.
    #[must_use]
    pub fn begin(&mut self) -> Vec<f64> {
        self.ticks = 0;
        if let Some(drawer) = &self.drawer {
            drawer.forget_failure();
        }
        let joints = &self.world.scene.layout.robots[&self.robot].joints;
        let data = &self.world.envs[0].data;
        let target = |servo: Option<usize>, qpos: usize| match servo {
            Some(servo) => data.ctrl()[servo],
            None => data.qpos()[qpos],
        };
        joints.iter().map(|j| target(j.position_servo, j.qpos)).collect()
    }

    /// Sets the world to a recorded state at every frame, from the next [`SimRig::begin`] on; physics
    /// goes on from there until the next frame. An empty list ends it.
    pub fn follow(&mut self, states: Vec<Snapshot>) {
        self.track = states;
    }

    /// Where the joints are now.
    #[must_use]
    pub fn joint_positions(&self) -> Vec<f64> {
        let data = &self.world.envs[0].data;
        let joints = &self.world.scene.layout.robots[&self.robot].joints;
        joints.iter().map(|j| data.qpos()[j.qpos]).collect()
    }

    /// Name of the robot in the scene.
    #[must_use]
    pub fn robot(&self) -> &str {
        &self.robot
    }

    /// Whether it knows where its wrist is.
    #[must_use]
    pub fn knows_wrist(&self) -> bool {
        self.wrist.is_some()
    }

    /// What to do when drawing is frames behind: wait for it (the default), or leave pictures out,
    /// as a loop that moves a robot in real time must.
    pub fn leave_pictures_out(&mut self, when_behind: bool) {
        self.leave_out = when_behind;
    }

    /// Has a picture of every camera drawn as the world is now, and answers before they are.
    /// When the drawer is frames behind it waits, or leaves them out.
    fn shoot(&mut self, pictures: &mut Vec<Picture>) -> Result<(), SimError> {
        let cameras = &self.spec.cameras;
        if cameras.is_empty() {
            return Ok(());
        }
        let drawer = match &mut self.drawer {
            Some(drawer) => drawer,
            none => {
                let names = cameras.iter().map(|c| c.name.clone()).collect();
                none.insert(Drawer::start(Arc::clone(&self.world.scene), names)?)
            }
        };
        let mut shot = drawer.blank()?;
        // The first of an episode has none before it that could take its place: it waits.
        if self.leave_out && self.ticks > 0 && drawer.is_behind() {
            pictures.extend(cameras.iter().map(|_| Picture::left_out()));
            return Ok(());
        }
        let data = &self.world.envs[0].data;
        shot.step = self.world.steps(0);
        shot.settings = self.world.render_settings();
        shot.geom_pos_m.extend_from_slice(data.geom_xpos());
        shot.geom_rot.extend_from_slice(data.geom_xmat());
        for (camera, pool) in cameras.iter().zip(&mut self.pools) {
            let view = self.world.view(self.world.scene.layout.camera(&camera.name)?, 0);
            let (picture, undrawn) = pool.order();
            shot.views.push((view, undrawn));
            pictures.push(picture);
        }
        drawer.draw(shot).inspect_err(|_| pictures.clear())
    }
}

fn spec(
    scene: &CompiledScene,
    robot: &str,
    cameras: Option<&[String]>,
) -> Result<RigSpec, SimError> {
    let model = &scene.model;
    let mut joints = Vec::new();
    for joint in &scene.layout.robot(robot)?.joints {
        let servo = joint.position_servo.ok_or_else(|| SimError::Scene {
            scene: scene.scene.name.clone(),
            reason: format!("joint {} of {robot} has no position servo", joint.name),
        })?;
        let index = model.actuator_trnid()[servo][0] as usize;
        let range = if model.actuator_ctrllimited()[servo] {
            Some(model.actuator_ctrlrange()[servo])
        } else if model.jnt_limited()[index] {
            Some(model.jnt_range()[index])
        } else {
            None
        };
        let is_slide = model.jnt_type()[index] == MjtJoint::mjJNT_SLIDE;
        let gripper = scene.robots.get(robot).and_then(|d| d.gripper.as_ref()).and_then(|g| {
            let index = g.joints.iter().position(|name| *name == joint.name)?;
            Some([*g.closed.get(index)?, *g.open.get(index)?])
        });
        joints.push(JointSpec { name: joint.name.clone(), is_slide, range, gripper });
    }
    let all: Vec<String>;
    let names = match cameras {
        Some(names) => names,
        None => {
            all = scene.camera_names().map(str::to_owned).collect();
            &all
        }
    };
    let mut specs = Vec::new();
    for name in names {
        let camera = scene.layout.camera(name)?;
        let (width_px, height_px) = (camera.width as u32, camera.height as u32);
        specs.push(CameraSpec { name: name.clone(), width_px, height_px });
    }
    Ok(RigSpec {
        robot: scene.scene.robots[robot].model.clone(),
        joints,
        rates: scene.scene.rates,
        cameras: specs,
        objects: object_specs(scene),
    })
}

impl Rig for SimRig {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }

    fn observe(&mut self, pictures: Want, seen: &mut Observation) -> Result<(), BoxError> {
        let per_frame = u64::from(self.spec.rates.ticks_per_frame());
        if self.ticks.is_multiple_of(per_frame)
            && let Some(state) = self.track.get((self.ticks / per_frame) as usize)
        {
            self.world.restore(0, state)?;
        }
        seen.tick = self.ticks;
        seen.step = self.world.steps(0);
        let data = &self.world.envs[0].data;
        let joints = &self.world.scene.layout.robots[&self.robot].joints;
        seen.joint_pos.clear();
        seen.joint_pos.extend(joints.iter().map(|j| data.qpos()[j.qpos]));
        seen.joint_vel.clear();
        seen.joint_vel.extend(joints.iter().map(|j| data.qvel()[j.dof]));
        if self.ticks.is_multiple_of(per_frame) {
            self.contact_sensor.feel(&mut self.world);
        }
        seen.wrist_pos_m = self.wrist.map(|site| self.world.envs[0].data.site_xpos()[site]);
        self.contact_sensor.see(&self.world, &mut seen.objects);
        if pictures {
            seen.pictures.clear();
            self.shoot(&mut seen.pictures)?;
        }
        Ok(())
    }

    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        self.limited.clear();
        for (joint, target) in self.spec.joints.iter().zip(targets) {
            // NaN passes the clamp and is refused below, with the joint's name.
            self.limited.push(match joint.range {
                Some([low, high]) if !target.is_nan() => target.clamp(low, high),
                _ => *target,
            });
        }
        if targets.len() != self.spec.joints.len() {
            let (found, expected) = (targets.len(), self.spec.joints.len());
            return Err(SimError::Length { what: "targets".into(), found, expected }.into());
        }
        self.world.set_joint_targets(&self.robot, &self.limited)?;
        commanded.limited.clear();
        commanded.limited.extend_from_slice(&self.limited);
        commanded.executed.clear();
        commanded.executed.extend_from_slice(self.world.envs[0].data.ctrl());
        commanded.digests.clear();
        for _ in 0..self.spec.rates.steps_per_tick() {
            self.world.step(1)?;
            commanded.digests.push(state_digest(&self.world.envs[0].data.state(INTEGRATION)));
        }
        self.ticks += 1;
        Ok(())
    }

    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
        Ok(Some(self.world.snapshot(0)?))
    }
}
