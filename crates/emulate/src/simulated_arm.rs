//! The physics of a simulated arm behind emulated servos.

use std::sync::Arc;

use citrange_core::state::Extra;
use citrange_core::{
    BoxError, Command, Commanded, DictObjectState, DictRobotState, DictState, Observation,
    Rig as _, Want,
};
use citrange_link::feetech::ServoJoint;
use citrange_robot::ChainJoint;
use citrange_sim::{SimRig, StateQuery};

use crate::pseudo_terminal::Arm;
use crate::servo::{Drive, Shaft};
use crate::stage::Stage;

/// How far ahead of a moving joint its target may be, by its speed.
const LEAD_S: f64 = 0.2;

/// A robot of a scene whose joints are turned by servos. Without torque a joint is held by its
/// damping alone, as by a gear, and sinks.
pub struct SimulatedArm {
    rig: SimRig,
    joints: Vec<Joint>,
    command: Command,
    seen: Observation,
    commanded: Commanded,
    /// What the joints' motors press with.
    efforts: Vec<f64>,
    query: StateQuery,
    /// Where its scene is seen from outside.
    stage: Option<Arc<Stage>>,
    tick_s: f64,
    /// Time that has passed and was not yet simulated.
    owed_s: f64,
}

/// How a joint's servo sees it.
struct Joint {
    servo: ServoJoint,
    offset: i32,
    stiffness: f64,
    max_effort: f64,
}

impl std::fmt::Debug for SimulatedArm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimulatedArm").field("tick_s", &self.tick_s).finish_non_exhaustive()
    }
}

impl SimulatedArm {
    /// The arm of a rig, from where it stands. Each joint's servo is given as the link would read
    /// it, with what it takes from its magnet's count.
    ///
    /// # Errors
    /// When the rig cannot begin an episode, or has other joints.
    pub fn new(mut rig: SimRig, servos: Vec<(ServoJoint, i32)>) -> Result<Self, BoxError> {
        // With the gains that it has in this scene.
        let chain = rig.world().scene().chain(rig.robot())?;
        let count = rig.spec().joints.len();
        if servos.len() != count || chain.joints.len() != count {
            return Err(format!("{} servos for {count} joints", servos.len()).into());
        }
        let of = |(joint, (servo, offset)): (&ChainJoint, (ServoJoint, i32))| Joint {
            servo,
            offset,
            stiffness: joint.stiffness.unwrap_or(0.0),
            max_effort: joint.max_effort.unwrap_or(f64::INFINITY),
        };
        let joints = chain.joints.iter().zip(servos).map(of).collect();
        let mut command = Command::default();
        rig.begin(&mut command)?;
        let mut seen = Observation::default();
        rig.observe(Want::Joints, &mut seen)?;
        let tick_s = 1.0 / f64::from(rig.spec().rates.control_hz);
        let commanded = Commanded::default();
        let extras = vec![format!("joint_effort:{}", rig.robot())];
        let query = StateQuery { extras, ..StateQuery::default() };
        let (efforts, owed_s) = (vec![0.0; count], 0.0);
        Ok(Self {
            rig,
            joints,
            command,
            seen,
            commanded,
            efforts,
            query,
            stage: None,
            tick_s,
            owed_s,
        })
    }

    /// Shows its scene there from now on.
    pub(crate) fn show_on(&mut self, stage: Arc<Stage>) {
        self.stage = Some(stage);
    }

    /// Where the shafts are: what the servos are made with.
    #[must_use]
    pub fn counts(&self) -> Vec<f64> {
        let joints = self.joints.iter().zip(&self.seen.joint_pos);
        joints.map(|(joint, pos)| joint.counts(*pos)).collect()
    }

    /// The simulated world, for what stands in it.
    #[must_use]
    pub fn rig(&self) -> &SimRig {
        &self.rig
    }

    fn tick(&mut self, drives: &[Drive]) -> Result<(), BoxError> {
        for (j, (joint, drive)) in self.joints.iter().zip(drives).enumerate() {
            let at = self.seen.joint_pos[j];
            let goal = drive.goal_counts.map_or(at, |counts| joint.position(counts));
            self.command.pos[j] = if drive.torque < 1.0 && drive.goal_counts.is_some() {
                // The simulated servo presses with stiffness times what it is off. What stands is
                // pressed as hard as the torque allows; what moves may go on to its goal.
                let most = drive.torque * joint.max_effort / joint.stiffness.max(1e-9);
                let reach = most + LEAD_S * self.seen.joint_vel[j].abs();
                at + (goal - at).clamp(-reach, reach)
            } else {
                goal
            };
        }
        self.rig.tick(&self.command, &mut self.commanded)?;
        self.rig.observe(Want::Joints, &mut self.seen)?;
        let state = self.rig.world_mut().get_state(None, &self.query)?;
        if let Some(Extra::Tensor(efforts)) = state.extras.values().next() {
            self.efforts.clear();
            self.efforts.extend(efforts.iter());
        }
        match self.stage.clone() {
            Some(stage) => self.show(&stage),
            None => Ok(()),
        }
    }

    /// What is seen of the scene after a tick.
    fn show(&mut self, stage: &Stage) -> Result<(), BoxError> {
        if let Some((seed, episode)) = stage.take_order() {
            let problem = self.lay_out(seed, episode).err().map(|error| error.to_string());
            self.rig.observe(Want::Joints, &mut self.seen)?;
            stage.laid_out(problem);
        }
        if stage.is_due() {
            self.rig.observe(Want::Images, &mut self.seen)?;
            stage.give(&self.seen.images);
        }
        stage.see(&self.rig.spec().objects, &self.seen.objects);
        Ok(())
    }

    /// Things go to where an episode of a run begins; the arm stays where it is.
    fn lay_out(&mut self, seed: u64, episode: u64) -> Result<(), BoxError> {
        let robot = self.rig.robot().to_owned();
        let (at, speed) = (self.seen.joint_pos.clone(), self.seen.joint_vel.clone());
        let world = self.rig.world_mut();
        world.reset_env(0, seed, episode)?;
        let names = world.scene().driven_joints(&robot)?.into_iter().map(str::to_owned);
        let names: Vec<String> = names.collect();
        let by_name = |values: Vec<f64>| names.iter().cloned().zip(values).collect();
        let object = DictObjectState {
            dof_pos: Some(by_name(at)),
            dof_vel: Some(by_name(speed)),
            ..DictObjectState::default()
        };
        let robots = [(robot, DictRobotState { object, ..DictRobotState::default() })].into();
        world.set_dict_states(&[DictState { robots, ..DictState::default() }], None)?;
        Ok(())
    }
}

impl Joint {
    /// Count of the magnet, turns and fractions too.
    fn counts(&self, position: f64) -> f64 {
        self.servo.exact_count(position) + f64::from(self.offset)
    }

    fn position(&self, counts: f64) -> f64 {
        self.servo.exact_position(counts - f64::from(self.offset))
    }
}

impl Arm for SimulatedArm {
    fn advance(&mut self, dt_s: f64, drives: &[Drive], shafts: &mut [Shaft]) {
        self.owed_s += dt_s;
        while self.owed_s >= self.tick_s {
            self.owed_s -= self.tick_s;
            if self.tick(drives).is_err() {
                // An engine that diverged: the arm stays where it was seen last.
                self.owed_s = 0.0;
                break;
            }
        }
        for (j, (joint, shaft)) in self.joints.iter().zip(shafts).enumerate() {
            let (pos, vel) = (self.seen.joint_pos[j], self.seen.joint_vel[j]);
            let rate = joint.counts(1.0) - joint.counts(0.0);
            let has_torque = drives.get(j).is_some_and(|drive| drive.goal_counts.is_some());
            let effort = self.efforts.get(j).filter(|_| has_torque).copied().unwrap_or(0.0);
            let load = effort / joint.max_effort * rate.signum();
            *shaft = Shaft { counts: joint.counts(pos), counts_s: vel * rate, load };
        }
    }
}
