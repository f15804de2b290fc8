//! Rigs of real arms: the one place in this crate that knows links. What the simulator would be
//! asked (shapes, what stands around, what a page shows) a twin of the scene answers, whose arm is
//! put where the real one is.

pub(crate) mod cell;
mod choice;
mod ghost;
mod pilots;

use std::collections::BTreeMap;
use std::sync::Arc;

use citrange_cloud::View;
use citrange_core::restore::BodyPose;
use citrange_core::shape::PosedShape;
use citrange_core::{
    BoxError, Command, Commanded, DictObjectState, DictState, Halt, Mode, ObjectSeen, Observation,
    Pose, RestoreReport, Rig, RigSpec, Scene, Snapshot, StartData, Want,
};
use citrange_link::camera::{CameraChoice, CameraDriver, CameraSettings};
use citrange_link::emulated::EmulatedThings;
use citrange_link::{
    Leader, LinkError, LinkRig, RigAddress, So101Settings, open_leader, open_so101,
};
use citrange_plan::PlanScene;
use citrange_robot::{Chain, Robot};
use citrange_sim::{CompiledScene, SimRig};
use citrange_tape::Episode;
use citrange_teleop::telemetry::SceneInfo;

use crate::cell::{ArmDescription, EpisodeRig, RigIdentity, Shown};
use crate::drive::scene_info::camera_info;
use crate::error::{Context as _, EpisodesError, Result, bad_input};
use ghost::Ghost;

pub use choice::{LeaderChoice, LinkChoice};
pub(crate) use pilots::{Approach, SmoothReplay};

/// Control ticks and frames per second; the arm's own cycle is as fast as its ticks.
const CONTROL_HZ: u32 = 180;
const FRAME_HZ: u32 = 30;

/// A real arm in the place of a scene's first robot.
pub(crate) struct LinkedRig {
    link: LinkRig,
    twin: SimRig,
    /// The arm in a person's hand that says where this one goes.
    ghost: Option<Ghost>,
    /// Without its job where nobody sees the things that it is about.
    scene: Scene,
    address: RigAddress,
    chain: Chain,
    joints: Vec<f64>,
    objects: Vec<Option<ObjectSeen>>,
    /// Where it goes in the end.
    rest: Option<Vec<f64>>,
    /// Since the episode began, when it was looked last.
    at_s: f64,
}

/// Connects to an arm that stands where the first robot of a scene does.
pub(crate) fn linked(scene: Arc<CompiledScene>, choice: &LinkChoice) -> Result<LinkedRig> {
    let RigAddress::So101(port) = &choice.address else {
        bad_input!("{} is no link", choice.address);
    };
    let twin = SimRig::new(Arc::clone(&scene), Some(&[]))?;
    let name = twin.robot().to_owned();
    let mut chain = scene.chain(&name)?;
    if chain.robot != "so101" {
        bad_input!(
            "{}: the first robot of scene {} is a {}: choose a scene with an so101",
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
    let mut settings =
        So101Settings { calibration: choice.calibration.clone(), ..So101Settings::default() };
    settings.driver.cycle_hz = CONTROL_HZ;
    let ghost = match &choice.leader {
        Some(choice) => Some(Ghost::new(led_by(choice, port, &chain)?, &scene)?),
        None => None,
    };
    let driver = open_so101(port, &chain, &settings)?;
    let joints = driver.state().reading.pos;
    let mut link = LinkRig::new(driver, &chain, CONTROL_HZ, FRAME_HZ)?;
    link = link.with_cameras(cameras(&choice.cameras)?);
    let mut scene = scene.scene.clone();
    match &choice.things {
        Some(socket) => {
            link = link.with_things(EmulatedThings::open(socket)?, twin.spec().objects.clone());
        }
        // Nobody sees the things that its job is about.
        None => scene.job = None,
    }
    let address = choice.address.clone();
    let rest = match choice.rest.as_deref() {
        Some("start") => Some(joints.clone()),
        Some(pose) => {
            let description = twin.world().scene().robots.get(&name);
            let description = description.context("the robot has no description")?;
            let own = description
                .pose(pose)
                .map_err(|why| EpisodesError::BadInput(format!("--rest: {why}, or start")))?;
            Some(own.to_vec())
        }
        None => None,
    };
    let objects = Vec::new();
    Ok(LinkedRig { link, twin, ghost, scene, address, chain, joints, objects, rest, at_s: 0.0 })
}

/// Opens cameras, each by a thread of its own.
fn cameras(choices: &[CameraChoice]) -> Result<Vec<CameraDriver>> {
    for (at, choice) in choices.iter().enumerate() {
        if choices[..at].iter().any(|other| other.name == choice.name) {
            bad_input!("two cameras are called {}: give each a name of its own", choice.name);
        }
    }
    let open = |choice: &CameraChoice| {
        let (address, wish) = (choice.address.clone(), choice.wish);
        let open = Box::new(move || address.open(wish));
        Ok(CameraDriver::start(&choice.name, open, CameraSettings::default())?)
    };
    choices.iter().map(open).collect()
}

/// Connects to a leader for the arm on another port.
fn led_by(choice: &LeaderChoice, arm: &std::path::Path, chain: &Chain) -> Result<Leader> {
    let RigAddress::So101(port) = &choice.address else {
        bad_input!("{} leads no arm: --leader so101:PORT", choice.address);
    };
    if std::fs::canonicalize(port)
        .is_ok_and(|port| std::fs::canonicalize(arm).is_ok_and(|arm| arm == port))
    {
        bad_input!("{} is the arm itself: the leader is on a port of its own", choice.address);
    }
    let mut settings =
        So101Settings { calibration: choice.calibration.clone(), ..So101Settings::default() };
    settings.driver.cycle_hz = CONTROL_HZ;
    open_leader(port, chain, &settings).map_err(|error| match error {
        LinkError::BadInput { what, reason } => {
            LinkError::BadInput { what: format!("the leader's {what}"), reason }.into()
        }
        other => other.into(),
    })
}

impl LinkedRig {
    /// Puts the twin's arm where the real one is.
    fn mirror(&mut self) -> Result<()> {
        if let Some(ghost) = &mut self.ghost {
            ghost.mirror()?;
        }
        let joints = self.joints.clone();
        self.twin.stand_at(&joints)?;
        let things = self.link.spec().objects.iter().zip(&self.objects);
        let objects: BTreeMap<String, DictObjectState> = things
            .filter_map(|(spec, seen)| {
                let Pose { pos_m, quat_wxyz } = seen.as_ref()?.pose;
                let (pos, rot) = (Some(pos_m), Some(quat_wxyz));
                Some((spec.name.clone(), DictObjectState { pos, rot, ..Default::default() }))
            })
            .collect();
        if !objects.is_empty() {
            let state = DictState { objects, ..DictState::default() };
            self.twin.world_mut().set_dict_states(&[state], None)?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for LinkedRig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinkedRig").field("address", &self.address).finish_non_exhaustive()
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
        self.objects.clone_from(&seen.objects);
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

    fn fixtures(&self) -> Result<Vec<PosedShape>> {
        EpisodeRig::fixtures(&self.twin)
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
        let cameras = self.link.spec().cameras.iter().map(camera_info).collect();
        let mut info = SceneInfo { cameras, ..twin };
        if let Some(ghost) = &self.ghost {
            ghost.add_to(&mut info);
        }
        Ok(info)
    }

    /// The arm stays where it is. What stands around it does, too, but where a stand-in has it.
    fn reset(&mut self, seed: u64, episode: u64) -> Result<()> {
        Ok(self.link.lay_out(seed, episode)?)
    }

    fn go_to(&mut self, _tape: &Episode, _frame: usize) -> Result<()> {
        bad_input!("{}: what stood around a frame of a tape is not there again", self.address)
    }

    fn restore_start(&mut self, _start: &StartData) -> Result<RestoreReport> {
        bad_input!("{}: episodes of others cannot be begun on a real arm yet", self.address)
    }

    fn let_go(&mut self) {}

    fn leader(&self) -> Option<Arc<Leader>> {
        self.ghost.as_ref().map(Ghost::leader)
    }

    fn is_real(&self) -> bool {
        true
    }

    fn rest(&self) -> Option<Vec<f64>> {
        self.rest.clone()
    }

    fn troubles(&self) -> Vec<String> {
        let mut troubles = self.link.troubles();
        match self.link.driver().state().mode {
            Mode::Ready => {}
            Mode::Holding { why } => troubles.push(format!("the arm holds: {why}")),
            Mode::Stopped { why } => troubles.push(format!("the arm stopped: {why}")),
        }
        troubles
    }

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
        if let Some(ghost) = &self.ghost {
            ghost.look(shown)?;
        }
        shown.joint_pos.clone_from(&self.joints);
        shown.time_s = self.at_s;
        Ok(())
    }
}
