//! Arguments that several verbs have.

use std::path::PathBuf;

use citrange_episodes::import::PlayOptions;
use citrange_episodes::{DepthChoice, LeaderChoice, LinkChoice, PilotOptions, RecordOptions};
use citrange_link::RigAddress;
use citrange_link::camera::CameraChoice;
use citrange_tape::{Play, StateFeatures, Unit};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// What every verb that records can be told.
#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// The task in words; by default the scene's.
    #[arg(long)]
    task: Option<String>,
    /// Go on with a dataset that exists.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Seed of the run. With the episode's index it decides where things stand.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Index of the first episode; by default it goes on after those in the dataset.
    #[arg(long)]
    pub(crate) first: Option<u64>,
    /// Robots of the scene to record, separated by commas; all by default. The first one is
    /// driven or works, the others hold still.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    robots: Option<Vec<String>>,
    /// Cameras to record, separated by commas; all by default, "none" for none.
    #[arg(long, value_delimiter = ',')]
    cameras: Option<Vec<String>>,
    /// Cameras whose depths are recorded beside their colours, separated by commas, or all; in
    /// millimetres, without loss, beside the tape.
    #[arg(long, value_name = "CAMERA", value_delimiter = ',')]
    depth: Vec<String>,
    /// Cameras whose pictures are kept without loss (PNG) instead of as video.
    #[arg(long, value_delimiter = ',')]
    images: Vec<String>,
    /// What joint values in the dataset mean.
    #[arg(long, value_parser = units(), default_value = "degrees")]
    unit: Unit,
    /// What observation.state holds: pos, pos,vel or pos,vel,ee (the wrist's position). LeRobot's
    /// arms have pos.
    #[arg(long, value_name = "LIST", default_value = "pos")]
    features: StateFeatures,
    /// Go on from a frame of a recorded episode: DATASET:EPISODE:FRAME.
    #[arg(long, value_name = "DATASET:EPISODE:FRAME")]
    from: Option<String>,
}

impl RecordArgs {
    pub(crate) fn options(&self) -> RecordOptions {
        RecordOptions {
            task: self.task.clone(),
            seed: self.seed,
            robots: self.robots.clone(),
            cameras: cameras(self.cameras.as_deref()),
            depth: DepthChoice::named(&self.depth),
            images: self.images.iter().cloned().collect(),
            unit: self.unit,
            features: self.features,
            from: self.from.clone(),
            link: None,
        }
    }
}

/// Which real arm, where it is not the simulated one.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LinkArgs {
    /// The arm: sim, so101:PORT for an SO-101 on a serial port, or ros1:ROBOT (ros1:ur5e) for one
    /// behind ROS 1, in the place of the scene's first robot.
    #[arg(long, value_name = "RIG")]
    rig: Option<RigAddress>,
    /// The arm's calibration, LeRobot's file; looked for where LeRobot keeps it if not given.
    #[arg(long, value_name = "JSON", requires = "rig")]
    calibration: Option<PathBuf>,
    /// Where the arm goes in the end, slowly, before its torque does: a pose of its robot.yaml, or
    /// start, where it was when it was connected to. By default it is let go where it is.
    #[arg(long, value_name = "POSE|start", requires = "rig")]
    rest: Option<String>,
    /// A file about the arm: names of its topics, limits (keys: citrange config schema rig).
    #[arg(long, value_name = "YAML", requires = "rig")]
    rig_file: Option<PathBuf>,
}

impl LinkArgs {
    pub(crate) fn choice(&self) -> Option<LinkChoice> {
        let address = self.rig.clone().filter(|rig| *rig != RigAddress::Simulated)?;
        let (rest, file) = (self.rest.clone(), self.rig_file.clone());
        Some(LinkChoice { rest, file, ..LinkChoice::new(address, self.calibration.clone()) })
    }
}

/// What sees a real arm, and what is around it.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SeenArgs {
    /// A camera that sees the real arm: NAME=SOURCE[@WIDTHxHEIGHT][@HZ], several times if need be.
    /// Sources: /dev/video0 (or any path under /dev/v4l/by-id), emulated:SOCKET of a stand-in.
    #[arg(long, value_name = "NAME=SOURCE", requires = "rig")]
    camera: Vec<CameraChoice>,
    /// Where things are, for the autopilot: the socket of a stand-in (rig emulate --socket).
    #[arg(long, value_name = "SOCKET", requires = "rig")]
    things: Option<PathBuf>,
}

impl SeenArgs {
    pub(crate) fn add_to(&self, link: Option<LinkChoice>) -> Option<LinkChoice> {
        let (cameras, things) = (self.camera.clone(), self.things.clone());
        link.map(|link| LinkChoice { cameras, things, ..link })
    }
}

/// Who leads a real arm.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LeaderArgs {
    /// An arm in your hand that says where the other one goes: so101:PORT.
    #[arg(long, value_name = "RIG", requires = "rig")]
    leader: Option<RigAddress>,
    /// The leader's calibration, LeRobot's file; looked for where LeRobot keeps those of leaders if
    /// not given.
    #[arg(long, value_name = "JSON", requires = "leader")]
    leader_calibration: Option<PathBuf>,
}

impl LeaderArgs {
    pub(crate) fn choice(&self) -> Option<LeaderChoice> {
        let address = self.leader.clone()?;
        Some(LeaderChoice { address, calibration: self.leader_calibration.clone() })
    }
}

/// The cameras named; `None` for all.
pub(crate) fn cameras(named: Option<&[String]>) -> Option<Vec<String>> {
    named.map(|names| names.iter().filter(|name| *name != "none").cloned().collect())
}

/// Units by their names.
pub(crate) fn units() -> impl TypedValueParser<Value = Unit> {
    let names = [
        PossibleValue::new("degrees").alias("deg"),
        PossibleValue::new("percent"),
        PossibleValue::new("radians").alias("rad"),
    ];
    PossibleValuesParser::new(names).map(|name| match name.as_str() {
        "percent" => Unit::Percent,
        "radians" | "rad" => Unit::Radians,
        _ => Unit::Degrees,
    })
}

/// What an autopilot can be told.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PilotArgs {
    /// Numbers of the autopilot: a profile (default, panda, seed) or a YAML file; by default what
    /// the scene says.
    #[arg(long, value_name = "PROFILE|FILE")]
    autopilot: Option<String>,
    /// How often a thing that failed is tried again.
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// Things to fetch, by number from 1 or by name; all by default.
    #[arg(long, value_name = "THING", value_delimiter = ',')]
    targets: Vec<String>,
    #[command(flatten)]
    noise: NoiseArgs,
}

/// How well an autopilot sees.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct NoiseArgs {
    /// Let the autopilot see where things are with errors of this standard deviation along each
    /// axis, new ones at every frame; what is recorded stays true.
    #[arg(long, value_name = "MM")]
    pub(crate) pose_noise_mm: Option<f64>,
}

impl PilotArgs {
    pub(crate) fn options(&self) -> PilotOptions {
        let Self { autopilot, retries, targets, noise: NoiseArgs { pose_noise_mm } } = self.clone();
        PilotOptions { autopilot, retries, targets, pose_noise_mm }
    }
}

/// Where and how files without a tape are played.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PlayArgs {
    /// Play a file without a tape in its own model, where it has one, by its recorded states.
    #[arg(long, conflicts_with = "scene")]
    own_scene: bool,
    /// Where meshes and textures of a file's own model are: a folder, several times if need be;
    /// also in CITRANGE_ASSETS, separated as in PATH.
    #[arg(long, value_name = "FOLDER")]
    assets: Vec<PathBuf>,
    /// How a file without a tape is played: "targets" moves the arm and simulates the rest,
    /// "states" sets every frame from the file's states. By default targets, in the file's own
    /// model states.
    #[arg(long, value_parser = plays(), value_name = "HOW")]
    play: Option<Play>,
    /// How far objects may be from where the file has them to count as the demonstrated task.
    #[arg(long, value_name = "METRES", default_value_t = 0.01)]
    object_tolerance_m: f64,
}

/// Ways to play a file by their names.
fn plays() -> impl TypedValueParser<Value = Play> {
    let play = |name: String| if name == "states" { Play::States } else { Play::Targets };
    PossibleValuesParser::new(["targets", "states"]).map(play)
}

impl PlayArgs {
    pub(crate) fn options(&self) -> PlayOptions {
        let more = std::env::var_os("CITRANGE_ASSETS").unwrap_or_default();
        let more = std::env::split_paths(&more).filter(|path| !path.as_os_str().is_empty());
        PlayOptions {
            own_scene: self.own_scene,
            assets: self.assets.iter().cloned().chain(more).collect(),
            play: self.play,
            object_tolerance_m: self.object_tolerance_m,
        }
    }
}
