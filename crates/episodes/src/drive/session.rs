//! A driving session: what it is told, what it is made of, what it was like. Its flow is in `flow.rs`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use citrange_control::{CartesianController, ControllerSettings, Method, TargetMotion};
use citrange_tape::Dataset;
use citrange_teleop::telemetry::{SavedEpisode, SceneInfo, Telemetry};
use citrange_teleop::{AutopilotWork as _, DriverLock, Speeds};
use serde_json::json;

use super::work::Work;
use crate::cell::{ArmDescription, EpisodeRig};
use crate::context::RunContext;
use crate::error::Result;
use crate::job_hint::no_job;
use crate::pilots::check_noise;
use crate::recording::{Origin, RecordOptions, tell_repaired};

/// What a session can be told.
#[derive(Clone, Debug)]
pub struct DriveOptions {
    /// Scene name or file; without one that of the episode to go on from, or the usual one.
    pub scene: Option<String>,
    /// Record into this dataset.
    pub dataset: Option<PathBuf>,
    /// What is recorded.
    pub record: RecordOptions,
    /// Index of the first episode; by default it goes on after those in the dataset.
    pub first: Option<u64>,
    /// How the arm answers: a profile or a YAML file.
    pub profile: String,
    /// Episodes wanted; none: until stopped.
    pub episodes: Option<u64>,
    /// Longest episode; then it is saved.
    pub episode_s: Option<f64>,
    /// Pause between two episodes.
    pub reset_s: f64,
    /// Time to get ready before an episode.
    pub countdown_s: f64,
    /// Fraction of a camera's pictures that may be lost before somebody is asked, 0 to 1.
    pub max_lost: f64,
    /// How long an answer is waited for; then the episode is kept, marked.
    pub ask_s: f64,
    /// Standard deviation of the errors with which the autopilot sees where things are,
    /// millimetres.
    pub pose_noise_mm: Option<f64>,
}

/// What is driven when nothing is said.
pub const DEFAULT_SCENE: &str = "block_box";

/// An arm, its driver lock, and where it is shown and recorded.
pub struct Drive<'a> {
    pub(super) rig: Box<dyn EpisodeRig>,
    pub(super) controller: Arc<CartesianController>,
    pub(super) work: Option<Work>,
    pub(super) speeds: Speeds,
    pub(super) driver_lock: Arc<DriverLock>,
    pub(super) board: Arc<Telemetry>,
    pub(super) dataset: Option<Dataset>,
    pub(super) options: &'a DriveOptions,
    /// Settings, as they are stored with every episode.
    pub(super) config: serde_json::Value,
    pub(super) task: String,
    pub(super) origin: Option<Origin>,
    pub(super) tally: Tally,
    /// How the targets moved when the last stretch ended; none where the scene was set back.
    pub(super) motion: Option<TargetMotion>,
    pub(super) ctx: RunContext<'a>,
}

impl std::fmt::Debug for Drive<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drive").field("task", &self.task).field("tally", &self.tally).finish()
    }
}

/// What a session was like.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Episodes saved.
    pub saved: u64,
    /// Which.
    pub episodes: Vec<SavedEpisode>,
    /// Episodes thrown away.
    pub discarded: u64,
    /// Control ticks.
    pub ticks: u64,
    /// Of these, late ones.
    pub late_ticks: u64,
    /// How often the loop stalled.
    pub stalls: u64,
    /// The latest start of a tick.
    pub worst_late: Duration,
    /// Pictures dropped.
    pub dropped: u64,
}

impl<'a> Drive<'a> {
    /// Makes everything ready: the arm, its controller, the dataset, what is shown.
    ///
    /// # Errors
    /// When there is no such scene, profile or frame, or the dataset cannot be recorded into.
    pub fn new(options: &'a DriveOptions, ctx: RunContext<'a>) -> Result<Self> {
        let settings = ControllerSettings::load(&options.profile)?;
        if settings.method == Method::Plain {
            ctx.say(
                "profile with method: plain: targets are sent as the first script had them, \
                 without the robot's limits of acceleration and jerk; not for a real arm",
            );
        }
        let record = &options.record;
        let (mut rig, origin) = record.rig(options.scene.as_deref(), DEFAULT_SCENE, ctx)?;
        // The loop moves a robot: it does not wait for cameras.
        rig.leave_pictures_out(true);
        if let Some(link) = &record.link {
            let when = if link.leader.is_some() {
                "goes where its leader is"
            } else {
                "moves when it is driven"
            };
            ctx.say(&format!("{} {when}: keep clear of it", link.address));
        }
        if let [first, others @ ..] = rig.robots().as_slice()
            && !others.is_empty()
        {
            ctx.say(&format!(
                "{first} is driven; {} hold still and are recorded too (--robots NAME,… chooses, \
                 the first one is driven)",
                others.join(", ")
            ));
        }
        let ArmDescription { chain, floor_z_m, .. } = rig.arm()?;
        // A leader moves it, nobody else.
        let is_led = rig.leader().is_some();
        let work = if is_led { None } else { Work::of(rig.as_ref(), &chain)? };
        if record.link.is_some() {
            // Nothing is seen of its things: there is no work for an autopilot.
        } else if rig.scene().job.is_none() {
            ctx.say(&no_job(rig.scene(), &rig.spec().objects));
        } else if work.is_none() && !is_led {
            ctx.say(&format!(
                "{} does not say how it grasps: `grasp:` in its robot.yaml; the autopilot needs it",
                chain.robot
            ));
        }
        let speeds = Speeds::of(&settings, &chain);
        let control_hz = rig.spec().rates.control_hz;
        let controller = CartesianController::new(chain, &settings, control_hz, Some(floor_z_m))?;
        let dataset = match &options.dataset {
            None => None,
            Some(root) => {
                let RecordOptions { unit, images, features, .. } = record;
                let (dataset, repaired) =
                    Dataset::record_with(root, rig.spec(), *unit, images, *features)?;
                tell_repaired(&repaired, ctx)?;
                Some(dataset)
            }
        };
        let task = record.task.clone().unwrap_or_else(|| rig.scene().task.clone());
        let stage = SceneInfo {
            task: task.clone(),
            speed_m_s: speeds.linear_m_s,
            autopilot: work.as_ref().map(|work| work.description().info()),
            ..rig.scene_info()?
        };
        let mut config = json!({
            "profile": options.profile, "settings": settings,
            "episode_time_s": options.episode_s,
        });
        if let Some(mm) = check_noise(options.pose_noise_mm)? {
            config["pose_noise_mm"] = mm.into();
        }
        Ok(Self {
            rig,
            controller: Arc::new(controller),
            work,
            speeds,
            driver_lock: DriverLock::new(DriverLock::LONGEST_SILENCE),
            board: Telemetry::new(stage),
            dataset,
            options,
            config,
            task,
            origin,
            tally: Tally::default(),
            motion: None,
            ctx,
        })
    }

    /// What is shown of it.
    #[must_use]
    pub fn board(&self) -> &Arc<Telemetry> {
        &self.board
    }

    /// Who drives.
    #[must_use]
    pub fn driver_lock(&self) -> &Arc<DriverLock> {
        &self.driver_lock
    }

    /// What it was like so far.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How long the arm was driven.
    #[must_use]
    pub fn driven_s(&self) -> f64 {
        self.tally.ticks as f64 / f64::from(self.rig.spec().rates.control_hz)
    }
}
