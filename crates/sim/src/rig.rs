//! A simulated arm as a Rig: one environment, one robot, cameras of the scene.

use std::sync::Arc;

use citrange_core::rig::state_digest;
use citrange_core::{
    BoxError, CameraImage, CameraKind, Command, Commanded, Halt, Intrinsics, Observation, Pose,
    Rig, RigSpec, Snapshot, Want,
};

use crate::chain::FrameAt;
use crate::compile::CompiledScene;
use crate::contact_sensor::ContactSensor;
use crate::error::SimError;
use crate::extras::quat_from_matrix;
use crate::layout::Joint;
use crate::render_worker::Drawer;
use crate::rig_spec::spec;
use crate::snapshot::INTEGRATION;
use crate::touches::TouchWatch;
use crate::view::CameraBuffers;
use crate::world::{Threads, World};

/// One simulated arm, or several, in a world of their own.
pub struct SimRig {
    world: World,
    /// Names in the scene, in the order of the arms.
    robots: Vec<String>,
    spec: RigSpec,
    limited: Vec<f64>,
    pools: Vec<CameraBuffers>,
    contact_sensor: ContactSensor,
    /// The first arm's wrist, where its description names one.
    wrist: Option<FrameAt>,
    /// Started when the first pictures are asked for.
    drawer: Option<Drawer>,
    leave_out: bool,
    ticks: u64,
    /// Physics steps before the episode.
    first_step: u64,
    /// States that frames are set to, from the first on.
    track: Vec<Snapshot>,
    touches: Option<TouchWatch>,
}

impl SimRig {
    /// The scene's first robot, seen by the cameras named (all when `None`).
    ///
    /// # Errors
    /// When the scene has no robot, a joint has no position servo, or a camera is not known.
    pub fn new(scene: Arc<CompiledScene>, cameras: Option<&[String]>) -> Result<Self, SimError> {
        let first: Vec<String> = scene.robot_names().take(1).map(str::to_owned).collect();
        Self::with_robots(scene, &first, cameras)
    }

    /// These robots of the scene, as `robot0`, `robot1`, … when there are several; their joints
    /// follow one another in every joint vector.
    ///
    /// # Errors
    /// As [`SimRig::new`], or when a robot is not known.
    pub fn with_robots(
        scene: Arc<CompiledScene>,
        robots: &[String],
        cameras: Option<&[String]>,
    ) -> Result<Self, SimError> {
        let first = robots.first().ok_or_else(|| SimError::Scene {
            scene: scene.scene.name.clone(),
            reason: "it has no robot".into(),
        })?;
        if let Some(twice) = (1..robots.len()).find(|at| robots[..*at].contains(&robots[*at])) {
            let reason = format!("robot {} is named twice", robots[twice]);
            return Err(SimError::Scene { scene: scene.scene.name.clone(), reason });
        }
        let spec = spec(&scene, robots, cameras)?;
        let contact_sensor = ContactSensor::new(&scene, first)?;
        let wrist = scene.wrist_at(first);
        let world = World::new(scene, 1, Threads::Exactly(1))?;
        let limited = vec![0.0; spec.joints.len()];
        let pools = vec![CameraBuffers::default(); spec.cameras.len()];
        Ok(Self {
            world,
            robots: robots.to_vec(),
            spec,
            limited,
            pools,
            contact_sensor,
            wrist,
            drawer: None,
            leave_out: false,
            ticks: 0,
            first_step: 0,
            track: Vec::new(),
            touches: None,
        })
    }

    /// As many arms as a recorded rig had.
    ///
    /// # Errors
    /// As [`SimRig::new`], or when the scene has fewer robots.
    pub fn like(
        scene: Arc<CompiledScene>,
        recorded: &RigSpec,
        cameras: Option<&[String]>,
    ) -> Result<Self, SimError> {
        let (arms, has) = (recorded.arms().len(), scene.robot_names().count());
        if arms > has {
            return Err(SimError::Scene {
                scene: scene.scene.name.clone(),
                reason: format!("it has {has} robots, the recording {arms}"),
            });
        }
        let robots: Vec<String> = match recorded.robots_in_scene.as_slice() {
            [] => scene.robot_names().take(arms).map(str::to_owned).collect(),
            named => named.to_vec(),
        };
        let mut rig = Self::with_robots(scene, &robots, cameras)?;
        for camera in recorded.cameras.iter().filter(|camera| camera.kind != CameraKind::Rgb) {
            rig.set_camera_kind(&camera.name, camera.kind)?;
        }
        // Older tapes do not name them.
        rig.spec.robots_in_scene.clone_from(&recorded.robots_in_scene);
        Ok(rig)
    }

    /// The world it lives in.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world it lives in, to reset or restore it before an episode.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The joint targets in force.
    #[must_use]
    pub fn targets(&self) -> Vec<f64> {
        let data = &self.world.envs[0].data;
        let target = |joint: &Joint| match joint.drive {
            Some(drive) => drive.position(data.ctrl()[drive.actuator]),
            None => data.qpos()[joint.qpos],
        };
        self.joints().map(target).collect()
    }

    /// Joints of all arms, in order.
    fn joints(&self) -> impl Iterator<Item = &Joint> {
        let robots = &self.world.scene.layout.robots;
        self.robots.iter().flat_map(|robot| robots[robot].driven_joints())
    }

    /// What a camera gives from now on; colours by default.
    ///
    /// # Errors
    /// When there is no such camera.
    pub fn set_camera_kind(&mut self, camera: &str, kind: CameraKind) -> Result<(), SimError> {
        let layout = self.world.scene.layout.camera(camera)?;
        let k = self.world.view(layout, 0).intrinsics;
        let intrinsics = Intrinsics { fx: k.fx, fy: k.fy, cx: k.cx, cy: k.cy };
        for spec in self.spec.cameras.iter_mut().filter(|spec| spec.name == camera) {
            // Whoever has depths needs to know where they are seen.
            (spec.kind, spec.intrinsics) = (kind, kind.has_depth().then_some(intrinsics));
        }
        Ok(())
    }

    /// Sets the world to a recorded state at every frame, from the next [`Rig::begin`] on; physics
    /// goes on from there until the next frame. An empty list ends it.
    pub fn follow(&mut self, states: Vec<Snapshot>) {
        self.track = states;
    }

    /// Looks after every physics step what the first robot touches. Touching what belongs to
    /// `stands_on` (fixtures, by name) does not count.
    ///
    /// # Errors
    /// When it has no robot.
    pub fn watch_touches(&mut self, stands_on: &[String]) -> Result<(), SimError> {
        self.touches = Some(TouchWatch::new(&self.world.scene, self.robot(), stands_on)?);
        Ok(())
    }

    /// What the first robot touches, where that is watched.
    #[must_use]
    pub fn touches(&self) -> Option<&TouchWatch> {
        self.touches.as_ref()
    }

    /// How far the first robot is from everything that counts, at most `most_m`; `None` where it
    /// is not watched.
    ///
    /// # Errors
    /// When the engine cannot tell.
    pub fn least_distance_m(&mut self, most_m: f64) -> Result<Option<f64>, SimError> {
        let Some(watch) = &self.touches else { return Ok(None) };
        watch.least_distance_m(&mut self.world, most_m).map(Some)
    }

    /// Where the joints are now.
    #[must_use]
    pub fn joint_positions(&self) -> Vec<f64> {
        let data = &self.world.envs[0].data;
        self.joints().map(|j| data.qpos()[j.qpos]).collect()
    }

    /// Name of the (first) robot in the scene.
    #[must_use]
    pub fn robot(&self) -> &str {
        // There is at least one: a rig without any is not made.
        self.robots.first().map_or("", String::as_str)
    }

    /// Names of its robots in the scene, in the order of the arms.
    #[must_use]
    pub fn robots(&self) -> &[String] {
        &self.robots
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

    /// Time since the episode began: physics steps counted.
    fn now_ns(&self) -> u64 {
        let steps = u128::from(self.world.steps(0).saturating_sub(self.first_step));
        (steps * 1_000_000_000 / u128::from(self.spec.rates.physics_hz.max(1))) as u64
    }

    /// Has a picture of every camera drawn as the world is now, and answers before they are.
    /// When the drawer is frames behind it waits, or leaves them out.
    fn take_pictures(&mut self, images: &mut Vec<CameraImage>) -> Result<(), SimError> {
        let cameras = &self.spec.cameras;
        if cameras.is_empty() {
            return Ok(());
        }
        let at_ns = self.now_ns();
        let drawer = match &mut self.drawer {
            Some(drawer) => drawer,
            none => {
                let names = cameras.iter().map(|c| c.name.clone()).collect();
                none.insert(Drawer::start(Arc::clone(&self.world.scene), names)?)
            }
        };
        let mut job = drawer.blank()?;
        // The first of an episode has none before it that could take its place: it waits.
        if self.leave_out && self.ticks > 0 && drawer.is_behind() {
            images.extend(cameras.iter().map(|_| CameraImage::left_out(at_ns)));
            return Ok(());
        }
        let data = &self.world.envs[0].data;
        job.step = self.world.steps(0);
        job.settings = self.world.render_settings();
        job.geom_pos_m.extend_from_slice(data.geom_xpos());
        job.geom_rot.extend_from_slice(data.geom_xmat());
        for (camera, pool) in cameras.iter().zip(&mut self.pools) {
            let layout = self.world.scene.layout.camera(&camera.name)?;
            let gl = &data.cam_xmat()[layout.index];
            let pose = camera_pose(data.cam_xpos()[layout.index], gl);
            let (image, view) = pool.order(camera.kind, self.world.view(layout, 0), at_ns, pose);
            job.views.push(view);
            images.push(image);
        }
        drawer.draw(job).inspect_err(|_| images.clear())
    }
}

/// The engine's cameras look along -z with y up; ours along z with y down.
fn camera_pose(pos_m: [f64; 3], gl: &[f64; 9]) -> Pose {
    let flipped = std::array::from_fn(|i| if i % 3 == 0 { gl[i] } else { -gl[i] });
    Pose { pos_m, quat_wxyz: quat_from_matrix(&flipped) }
}

impl Rig for SimRig {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }

    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        self.ticks = 0;
        self.first_step = self.world.steps(0);
        if let Some(drawer) = &self.drawer {
            drawer.forget_failure();
        }
        *command = Command { pos: self.targets(), vel: Vec::new() };
        Ok(())
    }

    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        let rates = self.spec.rates;
        if rates.is_frame(self.ticks)
            && let Some(state) = self.track.get(rates.frame_of(self.ticks) as usize)
        {
            self.world.restore(0, state)?;
        }
        seen.tick = self.ticks;
        seen.step = self.world.steps(0);
        seen.at_ns = self.now_ns();
        seen.joints_at_ns = seen.at_ns;
        let data = &self.world.envs[0].data;
        seen.joint_pos.clear();
        seen.joint_pos.extend(self.joints().map(|j| data.qpos()[j.qpos]));
        seen.joint_vel.clear();
        seen.joint_vel.extend(self.joints().map(|j| data.qvel()[j.dof]));
        if rates.is_frame(self.ticks) {
            self.contact_sensor.feel(&mut self.world, 0);
        }
        seen.wrist_pos_m = self.wrist.map(|wrist| wrist.position(&self.world.envs[0].data));
        self.contact_sensor.see(&self.world, 0, &mut seen.objects);
        if want == Want::Images {
            seen.images.clear();
            self.take_pictures(&mut seen.images)?;
        }
        Ok(())
    }

    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        let (found, expected) = (command.pos.len(), self.spec.joints.len());
        if found != expected {
            return Err(SimError::Length { what: "targets".into(), found, expected }.into());
        }
        self.limited.clear();
        for (joint, target) in self.spec.joints.iter().zip(&command.pos) {
            // NaN passes the clamp and is refused below, with the joint's name.
            self.limited.push(match joint.range {
                Some([low, high]) if !target.is_nan() => target.clamp(low, high),
                _ => *target,
            });
        }
        let mut rest = self.limited.as_slice();
        for robot in &self.robots {
            let (own, others) = rest.split_at(self.world.scene.layout.robots[robot].driven.len());
            self.world.set_driven_targets(robot, own)?;
            rest = others;
        }
        commanded.limited.clear();
        commanded.limited.extend_from_slice(&self.limited);
        commanded.executed.clear();
        commanded.executed.extend_from_slice(self.world.envs[0].data.ctrl());
        commanded.digests.clear();
        Ok(())
    }

    fn advance(&mut self, commanded: &mut Commanded) -> Result<(), BoxError> {
        for _ in 0..self.spec.rates.steps_per_tick() {
            self.world.step(1)?;
            if let Some(touches) = &mut self.touches {
                touches.look(&self.world);
            }
            commanded.digests.push(state_digest(&self.world.envs[0].data.state(INTEGRATION)));
        }
        self.ticks += 1;
        Ok(())
    }

    /// A simulated arm is at rest when nobody advances it.
    fn halt(&mut self, _how: Halt) {}

    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
        Ok(Some(self.world.snapshot(0)?))
    }
}
