//! A simulated arm that goes where a controller wants it, as industrial arms do: what its position
//! servos would lag or droop is put on top. Measures what its joints really do.

use std::sync::Arc;

use citrange_core::{
    BoxError, CameraImage, CameraKind, Command, Commanded, Observation, Rates, Rig as _, Want,
};
use citrange_robot::{Chain, Kinematics};
use citrange_sim::{CompiledScene, SimRig, load_scene};

use crate::trajectory_controller::Desired;

/// Physics steps and control ticks per second.
const RATES: Rates = Rates { physics_hz: 500, control_hz: 125, frame_hz: 25 };
/// How fast what is left of an error is made good, 1/s, and at most, rad.
const INTEGRAL: [f64; 2] = [4.0, 0.05];

/// The largest that a joint ever did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extremes {
    /// rad/s.
    pub speed: f64,
    /// rad/s², over a control tick.
    pub acceleration: f64,
}

/// The arm.
pub struct DrivenArm {
    rig: SimRig,
    chain: Chain,
    kinematics: Kinematics,
    command: Command,
    commanded: Commanded,
    seen: Observation,
    integral: Vec<f64>,
    gravity: Vec<f64>,
    extremes: Vec<Extremes>,
    last_vel: Vec<f64>,
}

impl std::fmt::Debug for DrivenArm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DrivenArm").field("robot", &self.chain.robot).finish_non_exhaustive()
    }
}

impl DrivenArm {
    /// The first robot of a scene, seen by these cameras with colours and depths.
    ///
    /// # Errors
    /// When there is no such scene or camera.
    pub fn new(scene: &str, cameras: &[String]) -> Result<Self, BoxError> {
        let mut source = load_scene(scene)?;
        source.scene.rates = RATES;
        let scene = Arc::new(CompiledScene::new(&source)?);
        let mut rig = SimRig::new(Arc::clone(&scene), Some(cameras))?;
        rig.leave_pictures_out(true);
        for camera in cameras {
            rig.set_camera_kind(camera, CameraKind::RgbDepth)?;
        }
        let chain = scene.chain(rig.robot())?;
        let mut command = Command::default();
        rig.begin(&mut command)?;
        let mut seen = Observation::default();
        rig.observe(Want::Joints, &mut seen)?;
        let count = chain.joints.len();
        Ok(Self {
            rig,
            kinematics: Kinematics::new(&chain),
            chain,
            command,
            commanded: Commanded::default(),
            integral: vec![0.0; count],
            gravity: vec![0.0; count],
            extremes: vec![Extremes::default(); count],
            last_vel: seen.joint_vel.clone(),
            seen,
        })
    }

    /// Control ticks per second.
    #[must_use]
    pub fn hz(&self) -> u32 {
        RATES.control_hz
    }

    /// Pictures per second.
    #[must_use]
    pub fn frame_hz(&self) -> u32 {
        RATES.frame_hz
    }

    /// Its joints.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Where joints are.
    #[must_use]
    pub fn pos(&self) -> &[f64] {
        &self.seen.joint_pos
    }

    /// How fast they move.
    #[must_use]
    pub fn vel(&self) -> &[f64] {
        &self.seen.joint_vel
    }

    /// Where its tool is, in the world.
    #[must_use]
    pub fn tool_m(&self) -> Option<[f64; 3]> {
        self.seen.wrist_pos_m
    }

    /// The simulated world.
    #[must_use]
    pub fn rig(&self) -> &SimRig {
        &self.rig
    }

    /// The largest that each joint did since this was asked last.
    pub fn extremes(&mut self) -> Vec<Extremes> {
        std::mem::replace(&mut self.extremes, vec![Extremes::default(); self.chain.joints.len()])
    }

    /// A tick towards where joints are to be.
    ///
    /// # Errors
    /// When the engine diverged.
    pub fn tick(&mut self, desired: &Desired) -> Result<(), BoxError> {
        let tick_s = 1.0 / f64::from(RATES.control_hz);
        self.kinematics.update(&self.seen.joint_pos);
        self.kinematics.gravity_torques(&mut self.gravity);
        for (j, joint) in self.chain.joints.iter().enumerate() {
            let stiffness = joint.stiffness.unwrap_or(1.0).max(1e-9);
            let off = desired.pos[j] - self.seen.joint_pos[j];
            self.integral[j] =
                (self.integral[j] + INTEGRAL[0] * off * tick_s).clamp(-INTEGRAL[1], INTEGRAL[1]);
            let ahead =
                (joint.damping.unwrap_or(0.0) * desired.vel[j] + self.gravity[j]) / stiffness;
            self.command.pos[j] = desired.pos[j] + ahead + self.integral[j];
        }
        self.rig.tick(&self.command, &mut self.commanded)?;
        self.rig.observe(Want::Joints, &mut self.seen)?;
        for (j, most) in self.extremes.iter_mut().enumerate() {
            let vel = self.seen.joint_vel[j];
            most.speed = most.speed.max(vel.abs());
            most.acceleration = most.acceleration.max((vel - self.last_vel[j]).abs() / tick_s);
            self.last_vel[j] = vel;
        }
        Ok(())
    }

    /// What its cameras see now; drawn later.
    ///
    /// # Errors
    /// When there is nobody who draws.
    pub fn pictures(&mut self) -> Result<Vec<CameraImage>, BoxError> {
        self.rig.observe(Want::Images, &mut self.seen)?;
        Ok(std::mem::take(&mut self.seen.images))
    }
}
