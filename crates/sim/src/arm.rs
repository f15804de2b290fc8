//! A simulated arm as LeRobot knows robots: named numbers in, named numbers out, one frame per
//! action. Speeds are carried out by the Cartesian controller tick by tick; positions are held.

use std::collections::BTreeMap;
use std::sync::Arc;

use citrange_control::{
    CartesianController, ControllerMemory, ControllerSettings, ControllerStatus, NamedAction,
    Scratch,
};
use citrange_core::run::RunError;
use citrange_core::tape::NoTape;
use citrange_core::{
    BoxError, Command, Loop, Notes, Observation, Outcome, Picture, Pilot, Rig as _, RunSettings,
    Start, Verdict, Want,
};
use citrange_robot::Kinematics;

use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::rig::SimRig;

/// Names of the wrist's position in an observation.
const HAND: [&str; 3] = ["ee.pos_x", "ee.pos_y", "ee.pos_z"];

/// The first robot of a scene, in a world of its own.
pub struct Arm {
    episode: Loop<'static, ActionPilot, SimRig, NoTape>,
    kinematics: Kinematics,
    joints: Vec<String>,
    seen: Observation,
}

/// Carries out what it was told last, tick by tick.
struct ActionPilot {
    controller: CartesianController,
    scratch: Scratch,
    /// `None` before the first: the arm holds.
    action: Option<NamedAction>,
    /// Joint targets in force.
    targets: Vec<f64>,
    /// The controller's memory; none after positions were sent, which are not the controller's.
    memory: Option<ControllerMemory>,
    status: ControllerStatus,
    /// Whoever moves the arm instead of actions, and how its work ended.
    driver: Option<Box<dyn Pilot + Send>>,
    outcome: Option<Outcome>,
}

impl Pilot for ActionPilot {
    fn name(&self) -> &str {
        "action"
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        self.targets = start.targets.to_vec();
        (self.action, self.memory, self.status) = (None, None, ControllerStatus::default());
        (self.driver, self.outcome) = (None, None);
        Ok(())
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        if let Some(driver) = self.driver.as_mut().filter(|_| self.outcome.is_none()) {
            if let Verdict::Done(outcome) = driver.decide(seen, command, notes)? {
                self.outcome = Some(outcome);
            }
            self.targets.copy_from_slice(&command.pos);
            return Ok(Verdict::Go);
        }
        let measured = &seen.joint_pos;
        match &self.action {
            Some(NamedAction::Velocity(wanted)) => {
                let memory = self
                    .memory
                    .get_or_insert_with(|| self.controller.begin(&self.targets, measured));
                let (scratch, targets) = (&mut self.scratch, &mut self.targets);
                self.status =
                    self.controller.step(memory, scratch, measured, wanted, false, targets);
            }
            Some(NamedAction::Positions(positions)) => {
                self.targets.copy_from_slice(positions);
                self.memory = None;
            }
            None => {}
        }
        command.pos.copy_from_slice(&self.targets);
        Ok(Verdict::Go)
    }
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
        settings: &ControllerSettings,
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
        let pilot = ActionPilot {
            scratch: controller.scratch(),
            controller,
            action: None,
            targets: Vec::new(),
            memory: None,
            status: ControllerStatus::default(),
            driver: None,
            outcome: None,
        };
        let episode = Loop::begin(pilot, rig, NoTape, &RunSettings::default()).map_err(failed)?;
        let mut arm = Self { episode, kinematics, joints, seen: Observation::default() };
        arm.reset(0, 0)?;
        Ok(arm)
    }

    /// Names and kinds of what [`Arm::observe`] gives.
    #[must_use]
    pub fn observation_features(&self) -> Vec<(String, Feature)> {
        let numbers = |end: &'static str| self.joints.iter().map(move |j| format!("{j}.{end}"));
        let hand = HAND.iter().map(|name| (*name).to_owned());
        let numbers = numbers("pos").chain(numbers("vel")).chain(hand);
        let pictures = self.rig().spec().cameras.iter().map(|c| {
            let (height_px, width_px) = (c.height_px, c.width_px);
            (c.name.clone(), Feature::Picture { height_px, width_px })
        });
        numbers.map(|name| (name, Feature::Number)).chain(pictures).collect()
    }

    /// Names of what [`Arm::send`] answers, and of the positions it takes.
    #[must_use]
    pub fn action_features(&self) -> Vec<String> {
        NamedAction::positions(&self.joints)
    }

    /// Looks: joints, wrist and cameras at this instant.
    ///
    /// # Errors
    /// When a picture cannot be made.
    pub fn observe(&mut self) -> Result<ArmObservation, SimError> {
        let has_cameras = !self.rig().spec().cameras.is_empty();
        let want = if has_cameras { Want::Images } else { Want::Joints };
        self.episode.rig_mut().observe(want, &mut self.seen).map_err(own)?;
        self.kinematics.update(&self.seen.joint_pos);
        let hand = self.kinematics.site(&self.episode.pilot().controller.chain().wrist).pos_m;
        let mut values = BTreeMap::new();
        for (j, name) in self.joints.iter().enumerate() {
            values.insert(format!("{name}.pos"), self.seen.joint_pos[j]);
            values.insert(format!("{name}.vel"), self.seen.joint_vel[j]);
        }
        values.extend(HAND.iter().zip(hand.iter()).map(|(name, n)| ((*name).to_owned(), *n)));
        let cameras = self.rig().spec().cameras.iter().map(|c| c.name.clone());
        let pictures = cameras.zip(&self.seen.images);
        let pictures =
            pictures.filter_map(|(name, image)| Some((name, image.rgb.clone()?))).collect();
        Ok(ArmObservation { values, pictures })
    }

    /// Carries an action out for exactly one frame and answers the joint targets in force at its
    /// end: what a dataset records, and what [`NamedAction::Positions`] takes.
    ///
    /// Speeds run through the controller at every control tick. Positions are held for the whole frame;
    /// after them the controller takes the arm over anew, without a jump.
    ///
    /// # Errors
    /// When positions do not fit the joints, a number is not finite, or the simulation fails.
    pub fn send(&mut self, action: &NamedAction) -> Result<BTreeMap<String, f64>, SimError> {
        self.set_action(action)?;
        self.advance(self.rig().spec().rates.ticks_per_frame())?;
        let targets = self.episode.pilot().targets.iter().copied();
        Ok(self.action_features().into_iter().zip(targets).collect())
    }

    /// What is carried out from now on; time does not pass.
    ///
    /// # Errors
    /// When positions do not fit the joints or a number is not finite.
    pub fn set_action(&mut self, action: &NamedAction) -> Result<(), SimError> {
        if let NamedAction::Positions(positions) = action {
            if positions.len() != self.joints.len() {
                let (found, expected) = (positions.len(), self.joints.len());
                return Err(SimError::Length { what: "positions".into(), found, expected });
            }
            if let Some(at) = positions.iter().position(|n| !n.is_finite()) {
                let reason = format!("{}.pos is {}", self.joints[at], positions[at]);
                return Err(citrange_control::ControlError::Action(reason).into());
            }
        }
        self.episode.pilot_mut().action = Some(action.clone());
        Ok(())
    }

    /// Lets so many control ticks pass.
    ///
    /// # Errors
    /// When the simulation or whoever moves the arm fails.
    pub fn advance(&mut self, ticks: u32) -> Result<(), SimError> {
        for _ in 0..ticks {
            self.episode.tick().map_err(failed)?;
            // What the limits left of it is what the next tick goes on from.
            let limited = self.episode.commanded().limited.clone();
            self.episode.pilot_mut().targets = limited;
        }
        Ok(())
    }

    /// The joint targets in force.
    #[must_use]
    pub fn targets(&self) -> &[f64] {
        &self.episode.pilot().targets
    }

    /// Gives the arm to somebody who moves it tick by tick, until its work is done; actions do not
    /// count meanwhile. `None` takes it back.
    pub fn hand_over(&mut self, driver: Option<Box<dyn Pilot + Send>>) {
        let pilot = self.episode.pilot_mut();
        (pilot.driver, pilot.outcome, pilot.memory) = (driver, None, None);
    }

    /// How the work of whoever moves it ended.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        self.episode.pilot().outcome.as_ref()
    }

    /// The rig below, to look at it.
    pub fn rig_mut(&mut self) -> &mut SimRig {
        self.episode.rig_mut()
    }

    /// Puts the world at the start of an episode. Whoever moved the arm is gone.
    ///
    /// # Errors
    /// When objects find no room.
    pub fn reset(&mut self, seed: u64, episode: u64) -> Result<(), SimError> {
        self.episode.rig_mut().world_mut().reset_env(0, seed, episode)?;
        self.episode.restart().map_err(failed)
    }

    /// Joint names, in order.
    #[must_use]
    pub fn joints(&self) -> &[String] {
        &self.joints
    }

    /// What limited the controller in its last tick.
    #[must_use]
    pub fn status(&self) -> ControllerStatus {
        self.episode.pilot().status
    }

    /// The controller that carries speeds out.
    #[must_use]
    pub fn controller(&self) -> &CartesianController {
        &self.episode.pilot().controller
    }

    /// The rig below.
    #[must_use]
    pub fn rig(&self) -> &SimRig {
        self.episode.rig()
    }

    /// Ends the session. A simulated arm has nothing to switch off; its world goes.
    pub fn disconnect(self) {}
}

fn failed(error: RunError) -> SimError {
    match error {
        RunError::Pilot { fault, .. }
        | RunError::Rig { fault, .. }
        | RunError::Tape { fault, .. } => own(fault),
    }
}

/// A rig's fault is one of ours.
fn own(fault: BoxError) -> SimError {
    match fault.downcast::<SimError>() {
        Ok(error) => *error,
        Err(other) => SimError::Mujoco(other.to_string()),
    }
}
