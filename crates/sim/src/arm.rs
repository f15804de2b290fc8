//! A simulated arm as LeRobot knows robots: named numbers in, named numbers out, one frame per
//! action. Speeds are carried out by the control controller tick by tick; positions are held.

use std::collections::BTreeMap;
use std::sync::Arc;

use citrange_control::{Action, CartesianController, Memory, Scratch, Settings, Status};
use citrange_core::{BoxError, Commanded, Observation, Picture, Rig};
use citrange_robot::Kinematics;

use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::rig::SimRig;

/// Names of the wrist's position in an observation.
const HAND: [&str; 3] = ["ee.pos_x", "ee.pos_y", "ee.pos_z"];

/// The first robot of a scene, in a world of its own.
pub struct Arm {
    rig: SimRig,
    controller: CartesianController,
    scratch: Scratch,
    kinematics: Kinematics,
    joints: Vec<String>,
    /// Joint targets in force.
    targets: Vec<f64>,
    /// The controller's memory; none after positions were sent, which are not the controller's.
    memory: Option<Memory>,
    status: Status,
    seen: Observation,
    commanded: Commanded,
}

/// What a feature of an arm is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// One number: rad, rad/s or metres (metres and m/s for slides).
    Number,
    /// A picture, rgb8 row by row.
    Picture {
        /// Pixels down.
        height_px: u32,
        /// Pixels across.
        width_px: u32,
    },
}

/// What an arm sees at a frame.
#[derive(Clone, Debug, Default)]
pub struct ArmObservation {
    /// `<joint>.pos`, `<joint>.vel`, and the wrist's `ee.pos_x`, `ee.pos_y`, `ee.pos_z`.
    pub values: BTreeMap<String, f64>,
    /// Pictures by camera.
    pub pictures: BTreeMap<String, Picture>,
}

impl Arm {
    /// The scene's first robot, seen by the cameras named (all when `None`), at the start of
    /// episode 0 of seed 0.
    ///
    /// # Errors
    /// When the scene has no robot, it cannot be driven, or a camera is not known.
    pub fn connect(
        scene: Arc<CompiledScene>,
        settings: &Settings,
        cameras: Option<&[String]>,
    ) -> Result<Self, SimError> {
        let rig = SimRig::new(Arc::clone(&scene), cameras)?;
        let chain = scene.chain(rig.robot())?;
        let floor_z_m = scene.floor_z_m(rig.robot())?;
        let joints = chain.joint_names().map(str::to_owned).collect();
        let kinematics = Kinematics::new(&chain);
        let controller = CartesianController::new(
            chain,
            settings,
            scene.scene.rates.control_hz,
            Some(floor_z_m),
        )?;
        let mut arm = Self {
            scratch: controller.scratch(),
            rig,
            controller,
            kinematics,
            joints,
            targets: Vec::new(),
            memory: None,
            status: Status::default(),
            seen: Observation::default(),
            commanded: Commanded::default(),
        };
        arm.reset(0, 0)?;
        Ok(arm)
    }

    /// Names and kinds of what [`Arm::observe`] gives.
    #[must_use]
    pub fn observation_features(&self) -> Vec<(String, Feature)> {
        let numbers = |end: &'static str| self.joints.iter().map(move |j| format!("{j}.{end}"));
        let hand = HAND.iter().map(|name| (*name).to_owned());
        let numbers = numbers("pos").chain(numbers("vel")).chain(hand);
        let pictures = self.rig.spec().cameras.iter().map(|c| {
            let (height_px, width_px) = (c.height_px, c.width_px);
            (c.name.clone(), Feature::Picture { height_px, width_px })
        });
        numbers.map(|name| (name, Feature::Number)).chain(pictures).collect()
    }

    /// Names of what [`Arm::send`] answers, and of the positions it takes.
    #[must_use]
    pub fn action_features(&self) -> Vec<String> {
        Action::positions(&self.joints)
    }

    /// Looks: joints, wrist and cameras at this instant.
    ///
    /// # Errors
    /// When a picture cannot be made.
    pub fn observe(&mut self) -> Result<ArmObservation, SimError> {
        let with_pictures = !self.rig.spec().cameras.is_empty();
        self.rig.observe(with_pictures, &mut self.seen).map_err(own)?;
        self.kinematics.update(&self.seen.joint_pos);
        let hand = self.kinematics.site(&self.controller.chain().wrist).pos_m;
        let mut values = BTreeMap::new();
        for (j, name) in self.joints.iter().enumerate() {
            values.insert(format!("{name}.pos"), self.seen.joint_pos[j]);
            values.insert(format!("{name}.vel"), self.seen.joint_vel[j]);
        }
        values.extend(HAND.iter().zip(hand.iter()).map(|(name, n)| ((*name).to_owned(), *n)));
        let cameras = self.rig.spec().cameras.iter().map(|c| c.name.clone());
        let pictures = cameras.zip(self.seen.pictures.iter().cloned()).collect();
        Ok(ArmObservation { values, pictures })
    }

    /// Carries an action out for exactly one frame and answers the joint targets in force at its
    /// end: what a dataset records, and what [`Action::Positions`] takes.
    ///
    /// Speeds run through the controller at every control tick. Positions are held for the whole frame;
    /// after them the controller takes the arm over anew, without a jump.
    ///
    /// # Errors
    /// When positions do not fit the joints, a number is not finite, or the simulation fails.
    pub fn send(&mut self, action: &Action) -> Result<BTreeMap<String, f64>, SimError> {
        if let Action::Positions(positions) = action {
            if positions.len() != self.targets.len() {
                let (found, expected) = (positions.len(), self.targets.len());
                return Err(SimError::Length { what: "positions".into(), found, expected });
            }
            if let Some(at) = positions.iter().position(|n| !n.is_finite()) {
                let reason = format!("{}.pos is {}", self.joints[at], positions[at]);
                return Err(citrange_control::ControlError::Action(reason).into());
            }
            self.targets.copy_from_slice(positions);
            self.memory = None;
        }
        for _ in 0..self.rig.spec().rates.ticks_per_frame() {
            if let Action::Velocity(wanted) = action {
                self.rig.observe(false, &mut self.seen).map_err(own)?;
                let measured = &self.seen.joint_pos;
                let memory = self
                    .memory
                    .get_or_insert_with(|| self.controller.begin(&self.targets, measured));
                let (scratch, targets) = (&mut self.scratch, &mut self.targets);
                self.status =
                    self.controller.step(memory, scratch, measured, wanted, false, targets);
            }
            self.rig.act(&self.targets, &mut self.commanded).map_err(own)?;
            self.targets.copy_from_slice(&self.commanded.limited);
        }
        Ok(self.action_features().into_iter().zip(self.targets.iter().copied()).collect())
    }

    /// Puts the world at the start of an episode.
    ///
    /// # Errors
    /// When objects find no room.
    pub fn reset(&mut self, seed: u64, episode: u64) -> Result<(), SimError> {
        self.rig.world_mut().reset_env(0, seed, episode)?;
        self.targets = self.rig.begin();
        self.memory = None;
        self.status = Status::default();
        Ok(())
    }

    /// Joint names, in order.
    #[must_use]
    pub fn joints(&self) -> &[String] {
        &self.joints
    }

    /// What limited the controller in its last tick.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// The controller that carries speeds out.
    #[must_use]
    pub fn controller(&self) -> &CartesianController {
        &self.controller
    }

    /// The rig below.
    #[must_use]
    pub fn rig(&self) -> &SimRig {
        &self.rig
    }

    /// Ends the session. A simulated arm has nothing to switch off; its world goes.
    pub fn disconnect(self) {}
}

/// A rig's fault is one of ours.
fn own(fault: BoxError) -> SimError {
    match fault.downcast::<SimError>() {
        Ok(error) => *error,
        Err(other) => SimError::Mujoco(other.to_string()),
    }
}
