//! What recording, driving and replay ask of a rig beyond carrying commands out: to be put where an
//! episode begins, to say what it is, and to be looked at.
//!
//! Everything in this crate is written against [`EpisodeRig`] and [`RigSource`]; `simulated` is
//! where they are the simulator's. A rig of another kind implements the first, and the second if
//! it is to collect by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use citrange_cloud::View;
use citrange_core::restore::BodyPose;
use citrange_core::shape::PosedShape;
use citrange_core::{RestoreReport, Rig, RigSpec, RobotDescription, Scene, Snapshot, StartData};
use citrange_link::Leader;
use citrange_plan::PlanScene;
use citrange_robot::{Chain, LinkShape};
use citrange_tape::Episode;
use citrange_teleop::telemetry::SceneInfo;

use crate::error::Result;

/// A rig whose episodes can be begun, gone on with and shown.
pub trait EpisodeRig: Rig {
    /// Name of the robot that is driven.
    fn robot(&self) -> &str;

    /// Names of its robots in the scene, in the order of the arms; the first one is driven.
    fn robots(&self) -> Vec<String>;

    /// The scene that it stands in: its task, its job.
    fn scene(&self) -> &Scene;

    /// What a tape keeps of the rig, so that the episode can be repeated.
    ///
    /// # Errors
    /// When it cannot be read.
    fn identity(&self) -> Result<RigIdentity>;

    /// The robot as numbers, for whoever moves it.
    ///
    /// # Errors
    /// When the robot is not described well enough.
    fn arm(&self) -> Result<ArmDescription>;

    /// The robot and what stands around it now, as a planner sees it.
    ///
    /// # Errors
    /// When the robot is not described well enough, or a thing has no solid shape.
    fn plan_scene(&self) -> Result<PlanScene>;

    /// What is solid around the robot and cannot be moved, in the world.
    ///
    /// # Errors
    /// When a thing has no solid shape.
    fn fixtures(&self) -> Result<Vec<PosedShape>> {
        let solids = self.plan_scene()?.solids.into_iter();
        Ok(solids.filter(|solid| !solid.can_move).map(|solid| solid.solid).collect())
    }

    /// Puts the joints of the robot that is driven somewhere, at rest, with targets there.
    ///
    /// # Errors
    /// When there are more or fewer, or the robot cannot stand there.
    fn stand_at(&mut self, joints: &[f64]) -> Result<()>;

    /// Where a camera stands now, and how it sees.
    ///
    /// # Errors
    /// When there is no such camera, or nobody knows.
    fn camera_view(&mut self, camera: &str) -> Result<View>;

    /// What people are shown of it that does not change; keys and autopilot are not its business.
    ///
    /// # Errors
    /// When its shapes cannot be read.
    fn scene_info(&self) -> Result<SceneInfo>;

    /// Puts everything to where an episode of a run begins.
    ///
    /// # Errors
    /// When things find no room.
    fn reset(&mut self, seed: u64, episode: u64) -> Result<()>;

    /// Puts everything into a frame of a tape, and what the tape sets frame by frame with it.
    ///
    /// # Errors
    /// When the tape does not have the complete state, or it is of another model.
    fn go_to(&mut self, tape: &Episode, frame: usize) -> Result<()>;

    /// Restores what a file of others knows of a start, by the best level it allows.
    ///
    /// # Errors
    /// When nothing of it fits.
    fn restore_start(&mut self, start: &StartData) -> Result<RestoreReport>;

    /// From here on everything comes from the rig, nothing from a tape.
    fn let_go(&mut self);

    /// The arm in a person's hand that says where this one goes, where there is one.
    fn leader(&self) -> Option<Arc<Leader>> {
        None
    }

    /// Whether it is no simulation: it is brought to places, and its cameras take pictures whether
    /// anybody wants them or not.
    fn is_real(&self) -> bool {
        false
    }

    /// Where it goes in the end; nowhere where nothing was said.
    fn rest(&self) -> Option<Vec<f64>> {
        None
    }

    /// What is wrong with it now, for people: joints that are not heard, cameras that stand still.
    fn troubles(&self) -> Vec<String> {
        Vec::new()
    }

    /// The joint targets in force.
    fn targets(&mut self) -> Vec<f64>;

    /// Whether it knows where its wrist is.
    fn knows_wrist(&self) -> bool;

    /// Whether pictures are left out when drawing is frames behind, as a loop that moves a robot
    /// in real time must; otherwise they are waited for.
    fn leave_pictures_out(&mut self, when_behind: bool);

    /// Where bodies are, for a tape or an export.
    ///
    /// # Errors
    /// When they cannot be read.
    fn body_poses(&self) -> Result<Vec<BodyPose>>;

    /// Objects that move freely, with their places in a flattened state.
    fn free_objects(&self) -> BTreeMap<String, usize>;

    /// How far every free object is from where a state has it.
    fn object_errors_m(&self, was: &Snapshot) -> BTreeMap<String, f64>;

    /// What people see now.
    ///
    /// # Errors
    /// When it cannot be read.
    fn look(&self, shown: &mut Shown) -> Result<()>;
}

/// Which robots and cameras of a scene make a rig.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RigChoice {
    /// Robots, in the order of the arms; `None` for all of the scene in the order of their names.
    pub robots: Option<Vec<String>>,
    /// Cameras; `None` for all.
    pub cameras: Option<Vec<String>>,
    /// Which of them measure depths too.
    pub depth: DepthChoice,
}

/// Cameras whose depths are kept beside their colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DepthChoice {
    /// None.
    #[default]
    Off,
    /// All.
    All,
    /// These.
    Of(Vec<String>),
}

impl DepthChoice {
    /// As people write it: no name for none, `all`, or names of cameras.
    #[must_use]
    pub fn named(cameras: &[String]) -> Self {
        match cameras {
            [] => Self::Off,
            [all] if all == "all" => Self::All,
            named => Self::Of(named.to_vec()),
        }
    }
}

/// What people see of a rig at a moment.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Seconds since everything was put to its start.
    pub time_s: f64,
    /// x, y, z, then w, x, y, z of every body of [`SceneInfo::bodies`].
    pub bodies: Vec<[f32; 7]>,
    /// Joint positions.
    pub joint_pos: Vec<f64>,
}

/// What a tape keeps of a rig.
#[derive(Clone, Debug)]
pub struct RigIdentity {
    /// What makes its motion, with its version.
    pub engine: String,
    /// Hash of the model.
    pub model_hash: String,
    /// The model itself.
    pub model: Vec<u8>,
    /// Descriptions of the robots.
    pub robots: BTreeMap<String, RobotDescription>,
}

/// A robot as numbers.
#[derive(Clone, Debug)]
pub struct ArmDescription {
    /// Its chain.
    pub chain: Chain,
    /// The solid shapes of its links.
    pub shapes: Vec<LinkShape>,
    /// Height of the floor under it, in the world.
    pub floor_z_m: f64,
    /// Joints of the pose in which it starts.
    pub home: Vec<f64>,
}

/// Where the rigs of a collection come from.
pub trait RigSource: Send + Sync + std::fmt::Debug {
    /// Joints, rates, cameras: the same for all episodes.
    fn spec(&self) -> &RigSpec;

    /// The scene, before anything in it is drawn anew.
    fn scene(&self) -> &Scene;

    /// All that decides what a rig does, for the name of a run: equal for equal rigs, and only
    /// for them.
    fn identity(&self) -> serde_json::Value;

    /// Whether every episode has a rig of its own.
    fn is_new_for_every_episode(&self) -> bool;

    /// A rig for an episode; unless every episode has its own it serves for all of them.
    ///
    /// # Errors
    /// When it cannot be made.
    fn rig(&self, episode: u64) -> Result<Box<dyn EpisodeRig>>;
}
