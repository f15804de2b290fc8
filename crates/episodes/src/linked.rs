//! Rigs of real arms: the one place in this crate that knows links. What the simulator would be
//! asked (shapes, what stands around, what a page shows) a twin of the scene answers, whose arm is
//! put where the real one is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use citrange_cloud::View;
use citrange_core::pilot::Notes;
use citrange_core::restore::BodyPose;
use citrange_core::{
    BoxError, Command, Commanded, Halt, Mode, Observation, Outcome, Pilot, Rates, RestoreReport,
    Rig, RigSpec, Scene, Snapshot, StartData, Verdict, Want,
};
use citrange_link::ros1::open_ros1;
use citrange_link::{
    ArmDriver, DriverSettings, LinkError, LinkRig, RigAddress, RigFile, So101Settings, open_so101,
};
use citrange_plan::PlanScene;
use citrange_robot::{Chain, Robot};
use citrange_sim::{CompiledScene, SimRig};
use citrange_tape::Episode;
use citrange_teleop::telemetry::SceneInfo;

use crate::cell::{ArmDescription, EpisodeRig, RigIdentity, Shown};
use crate::error::{EpisodesError, Result, bad_input};

/// Control ticks and frames per second; the arm's own cycle is as fast as its ticks.
const CONTROL_HZ: u32 = 180;
const FRAME_HZ: u32 = 30;
/// Cycles per second of an arm behind ROS.
const ROS_HZ: u32 = 125;

/// Which real arm, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkChoice {
    /// Where it is.
    pub address: RigAddress,
    /// Its calibration; found where none is said.
    pub calibration: Option<PathBuf>,
    /// A file about it: topics, limits.
    pub file: Option<PathBuf>,
}

impl LinkChoice {
    /// The scene that such an arm stands in, if nobody says another.
    pub(crate) fn default_scene(&self) -> Option<&'static str> {
        match &self.address {
            RigAddress::Ros1(robot) if robot == "ur5e" => Some("ur5_cell"),
            _ => None,
        }
    }

    /// The robot model that the scene's first robot must be.
    fn model(&self) -> Result<&str> {
        match &self.address {
            RigAddress::Simulated => bad_input!("{} is no link", self.address),
            RigAddress::So101(_) => Ok("so101"),
            RigAddress::Ros1(robot) => Ok(robot),
        }
    }

    pub(crate) fn rig_file(&self) -> Result<RigFile> {
        Ok(self.file.as_deref().map(RigFile::load).transpose()?.unwrap_or_default())
    }

    /// Connects to an arm with this chain.
    fn connect(&self, chain: &Chain) -> Result<ArmDriver> {
        let file = self.rig_file()?;
        match &self.address {
            RigAddress::Simulated => bad_input!("{} is no link", self.address),
            RigAddress::So101(port) => {
                let calibration = self.calibration.clone();
                let mut settings = So101Settings { calibration, ..So101Settings::default() };
                settings.driver.cycle_hz = CONTROL_HZ;
                settings.driver = file.driver.unwrap_or(settings.driver);
                Ok(open_so101(port, chain, &settings)?)
            }
            RigAddress::Ros1(_) => {
                let on_ros = DriverSettings { cycle_hz: ROS_HZ, ..DriverSettings::default() };
                Ok(open_ros1(chain, &file.ros1, file.driver.unwrap_or(on_ros))?.0)
            }
        }
    }
}

/// A real arm in the place of a scene's first robot.
pub(crate) struct LinkedRig {
    link: LinkRig,
    twin: SimRig,
    /// Without its job: nobody sees the things that it is about.
    scene: Scene,
    address: RigAddress,
    chain: Chain,
    joints: Vec<f64>,
    /// Since the episode began, when it was looked last.
    at_s: f64,
}

/// Connects to an arm that stands where the first robot of a scene does.
pub(crate) fn linked(scene: Arc<CompiledScene>, choice: &LinkChoice) -> Result<LinkedRig> {
    let model = choice.model()?;
    let twin = SimRig::new(Arc::clone(&scene), Some(&[]))?;
    let name = twin.robot().to_owned();
    let mut chain = scene.chain(&name)?;
    if chain.robot != model {
        bad_input!(
            "{}: the first robot of scene {} is a {}: choose a scene with {model}",
            choice.address,
            scene.scene.name,
            chain.robot
        );
    }
    // The servos of the arm, not those that the scene gives its simulated one.
    let own = Robot::load(&chain.robot).map_err(|e| EpisodesError::Failed(e.to_string()))?;
    for joint in &mut chain.joints {
        if let Some(own) = own.joints().iter().find(|own| own.name == joint.name) {
            (joint.stiffness, joint.damping) = (own.stiffness, own.damping);
            joint.max_effort = own.max_effort;
        }
    }
    let driver = choice.connect(&chain)?;
    let joints = driver.state().reading.pos;
    let link = LinkRig::new(driver, &chain, CONTROL_HZ, FRAME_HZ)?;
    let scene = Scene { job: None, ..scene.scene.clone() };
    Ok(LinkedRig { link, twin, scene, address: choice.address.clone(), chain, joints, at_s: 0.0 })
}

impl LinkedRig {
    /// Whether it holds, after an episode.
    ///
    /// # Errors
    /// Why it was stopped.
    pub(crate) fn check_holds(&self) -> Result<()> {
        match self.link.driver().state().mode {
            Mode::Stopped { why } => Err(LinkError::NotReady { why }.into()),
            Mode::Ready | Mode::Holding { .. } => Ok(()),
        }
    }

    /// Puts the twin's arm where the real one is.
    fn mirror(&mut self) -> Result<()> {
        let joints = self.joints.clone();
        self.twin.stand_at(&joints)
    }
}

impl Rig for LinkedRig {
    fn spec(&self) -> &RigSpec {
        self.link.spec()
    }

    fn begin(&mut self, command: &mut Command) -> std::result::Result<(), BoxError> {
        self.link.begin(command)
    }

    fn observe(&mut self, want: Want, seen: &mut Observation) -> std::result::Result<(), BoxError> {
        self.link.observe(want, seen)?;
        self.joints.clone_from(&seen.joint_pos);
        self.at_s = seen.at_ns as f64 * 1e-9;
        if want == Want::Images {
            // Once per frame is often enough for those who look.
            self.mirror()?;
        }
        Ok(())
    }

    fn act(
        &mut self,
        command: &Command,
        commanded: &mut Commanded,
    ) -> std::result::Result<(), BoxError> {
        self.link.act(command, commanded)
    }

    fn halt(&mut self, how: Halt) {
        self.link.halt(how);
    }
}

impl EpisodeRig for LinkedRig {
    fn robot(&self) -> &str {
        self.twin.robot()
    }

    fn robots(&self) -> Vec<String> {
        vec![self.twin.robot().to_owned()]
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn identity(&self) -> Result<RigIdentity> {
        let twin = EpisodeRig::identity(&self.twin)?;
        let (engine, robots) = (self.address.to_string(), twin.robots);
        Ok(RigIdentity { engine, model_hash: String::new(), model: Vec::new(), robots })
    }

    fn arm(&self) -> Result<ArmDescription> {
        Ok(ArmDescription { chain: self.chain.clone(), ..EpisodeRig::arm(&self.twin)? })
    }

    fn plan_scene(&self) -> Result<PlanScene> {
        let scene = EpisodeRig::plan_scene(&self.twin)?;
        Ok(PlanScene { joints: self.joints.clone(), ..scene })
    }

    /// Only a pilot in the loop moves a real arm: there it can be stopped.
    fn stand_at(&mut self, _joints: &[f64]) -> Result<()> {
        bad_input!("{}: a real arm is not put anywhere", self.address)
    }

    fn camera_view(&mut self, camera: &str) -> Result<View> {
        bad_input!("{} has no camera \"{camera}\"", self.address)
    }

    fn scene_info(&self) -> Result<SceneInfo> {
        let twin = EpisodeRig::scene_info(&self.twin)?;
        Ok(SceneInfo { cameras: Vec::new(), ..twin })
    }

    /// What stands around it is where it is, and so is the arm.
    fn reset(&mut self, _seed: u64, _episode: u64) -> Result<()> {
        Ok(())
    }

    fn go_to(&mut self, _tape: &Episode, _frame: usize) -> Result<()> {
        bad_input!("{}: what stood around a frame of a tape is not there again", self.address)
    }

    fn restore_start(&mut self, _start: &StartData) -> Result<RestoreReport> {
        bad_input!("{}: episodes of others cannot be begun on a real arm yet", self.address)
    }

    fn let_go(&mut self) {}

    fn targets(&mut self) -> Vec<f64> {
        self.link.driver().state().targets
    }

    fn knows_wrist(&self) -> bool {
        true
    }

    fn leave_pictures_out(&mut self, _when_behind: bool) {}

    fn body_poses(&self) -> Result<Vec<BodyPose>> {
        Ok(Vec::new())
    }

    fn free_objects(&self) -> BTreeMap<String, usize> {
        BTreeMap::new()
    }

    fn object_errors_m(&self, _was: &Snapshot) -> BTreeMap<String, f64> {
        BTreeMap::new()
    }

    fn look(&self, shown: &mut Shown) -> Result<()> {
        EpisodeRig::look(&self.twin, shown)?;
        shown.joint_pos.clone_from(&self.joints);
        shown.time_s = self.at_s;
        Ok(())
    }
}

/// How near every joint must come to a place that it is brought to.
const THERE_RAD: f64 = 0.05;
/// A gripper slower than this, so long after it was sent, is held up by what it holds.
const RESTS_RAD_S: f64 = 0.02;
const RESTS_AFTER_S: f64 = 1.0;
/// How long it may take.
const COMES_WITHIN_S: f64 = 60.0;

/// Brings an arm somewhere; the arm's own gate eases it in.
#[derive(Debug)]
pub(crate) struct Approach {
    joints: Vec<f64>,
    /// Which may be held up by what they hold.
    grippers: Vec<bool>,
}

impl Approach {
    /// To these joints of a rig.
    pub(crate) fn to(joints: &[f64], spec: &RigSpec) -> Self {
        let grippers = spec.joints.iter().map(|joint| joint.gripper.is_some()).collect();
        let ranges = spec.joints.iter().map(|joint| joint.range);
        let within = |(at, range): (&f64, Option<[f64; 2]>)| {
            range.map_or(*at, |[low, high]| at.clamp(low, high))
        };
        Self { joints: joints.iter().zip(ranges).map(within).collect(), grippers }
    }
}

impl Pilot for Approach {
    fn name(&self) -> &str {
        "approach"
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _notes: &mut Notes,
    ) -> std::result::Result<Verdict, BoxError> {
        let passed_s = seen.at_ns as f64 * 1e-9;
        let is_there = self.joints.iter().enumerate().all(|(j, to)| {
            let rests = passed_s > RESTS_AFTER_S && seen.joint_vel[j].abs() < RESTS_RAD_S;
            (seen.joint_pos[j] - to).abs() < THERE_RAD || (self.grippers[j] && rests)
        });
        if is_there {
            return Ok(Verdict::Done(Outcome { success: Some(true), reason: "there".to_owned() }));
        }
        if passed_s > COMES_WITHIN_S {
            return Err(format!("the arm did not come there in {COMES_WITHIN_S} s").into());
        }
        command.pos.clone_from(&self.joints);
        Ok(Verdict::Go)
    }
}

/// Frames' targets with those between them: each tick lies between two frames where it is in time.
#[derive(Debug)]
pub(crate) struct SmoothReplay {
    targets: Vec<Vec<f64>>,
    /// Frames per control tick.
    frames_per_tick: f64,
}

impl SmoothReplay {
    /// Of frames so many times a second, for a rig at these rates.
    pub(crate) fn new(targets: Vec<Vec<f64>>, hz: u32, rates: Rates) -> Self {
        Self { targets, frames_per_tick: f64::from(hz) / f64::from(rates.control_hz.max(1)) }
    }
}

impl Pilot for SmoothReplay {
    fn name(&self) -> &str {
        "replay"
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _notes: &mut Notes,
    ) -> std::result::Result<Verdict, BoxError> {
        let at = seen.tick as f64 * self.frames_per_tick;
        let (frame, part) = (at.floor() as usize, at.fract());
        let Some(now) = self.targets.get(frame) else {
            return Ok(Verdict::Done(Outcome::unjudged("replay_end")));
        };
        let next = self.targets.get(frame + 1).unwrap_or(now);
        for ((target, now), next) in command.pos.iter_mut().zip(now).zip(next) {
            *target = now + part * (next - now);
        }
        Ok(Verdict::Go)
    }
}
