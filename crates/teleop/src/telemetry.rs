//! What is shown: written by the control loop, read by the server.
//!
//! The loop writes in microseconds and wakes nobody; the server looks by itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Key;
use citrange_core::Picture;
use citrange_core::shape::ShownShape;
use serde::Serialize;

/// What does not change while the server runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SceneInfo {
    /// Scene's name.
    pub scene: String,
    /// Scene's title.
    pub title: String,
    /// Robot's model name.
    pub robot: String,
    /// The task in words.
    pub task: String,
    /// Joints, in the order of every joint vector.
    pub joints: Vec<JointInfo>,
    /// Cameras, in the order of the pictures.
    pub cameras: Vec<CameraInfo>,
    /// Names of the bodies, in the order of the poses.
    pub bodies: Vec<String>,
    /// What is drawn.
    #[serde(serialize_with = "crate::shown_shapes::serialize")]
    pub shapes: Vec<ShownShape>,
    /// Keys that do something on this robot, with the letters to press.
    pub keys: Vec<KeyInfo>,
    /// Control ticks per second.
    pub control_hz: u32,
    /// Recorded frames per second.
    pub frame_hz: u32,
    /// Speed of the hand when a key is held.
    pub speed_m_s: f64,
    /// The autopilot; none where the scene has no work for one.
    pub autopilot: Option<AutopilotInfo>,
    /// Whether a recording is repeated: nobody drives, nothing is ordered.
    pub is_replay: bool,
    /// Where the eye of the 3D view should look, and from where.
    pub look_at_m: [f64; 3],
    /// From where it looks.
    pub look_from_m: [f64; 3],
}

/// One joint.
#[derive(Clone, Debug, Serialize)]
pub struct JointInfo {
    /// Name.
    pub name: String,
    /// Whether positions are metres.
    pub is_slide: bool,
    /// Lowest and highest position.
    pub range: Option<[f64; 2]>,
    /// For a gripper's joint: its positions when closed and when open.
    pub gripper: Option<[f64; 2]>,
}

/// One camera.
#[derive(Clone, Debug, Serialize)]
pub struct CameraInfo {
    /// Name.
    pub name: String,
    /// Pixels across.
    pub width_px: u32,
    /// Pixels down.
    pub height_px: u32,
}

/// One key.
#[derive(Clone, Debug, Serialize)]
pub struct KeyInfo {
    /// Its name in messages: `forward`.
    pub name: String,
    /// The letter people press.
    pub letter: char,
}

impl From<Key> for KeyInfo {
    fn from(key: Key) -> Self {
        Self { name: key.name().to_owned(), letter: key.letter() }
    }
}

/// What an autopilot can be asked to do.
#[derive(Clone, Debug, Serialize)]
pub struct AutopilotInfo {
    /// Names of its targets; their keys are 1, 2, and so on.
    pub targets: Vec<String>,
    /// Names of the states it goes through.
    pub states: Vec<&'static str>,
}

/// What happens with the episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Getting ready.
    #[default]
    Starting,
    /// Driving without recording.
    Free,
    /// Counting down to a recording.
    Countdown,
    /// Recording.
    Recording,
    /// Too many pictures were lost: the driver says whether the episode is kept.
    Asking,
    /// Writing the episode.
    Saving,
    /// Time to put things back between two episodes.
    Reset,
    /// Repeating a recorded episode.
    Replay,
    /// All done.
    Finished,
}

/// The recording as people follow it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Session {
    /// What happens.
    pub phase: Phase,
    /// Number of the episode in the dataset, from 0.
    pub episode: u64,
    /// Episodes saved in this session.
    pub saved: u64,
    /// Episodes wanted in this session; none: as many as one likes.
    pub wanted: Option<u64>,
    /// Seconds into the phase.
    pub seconds: f64,
    /// Longest the phase lasts.
    pub limit_s: Option<f64>,
    /// The dataset's folder; none when nothing is recorded.
    pub dataset: Option<String>,
    /// Pictures dropped in this session.
    pub dropped: u64,
    /// Share of the episode's pictures that was lost, by the camera that lost most: 0 to 1.
    pub lost_share: f64,
    /// Share above which an episode is not saved without asking.
    pub lost_limit: Option<f64>,
    /// Pictures of cameras that were drawn in this session.
    pub drawn: u64,
    /// The last thing worth saying.
    pub message: String,
    /// What came of it all, once it is over.
    pub summary: Option<Summary>,
}

impl Session {
    /// The same without what counts up all the time: that alone is no news.
    #[must_use]
    pub fn without_counters(&self) -> Self {
        Self { seconds: 0.0, drawn: 0, ..self.clone() }
    }
}

/// What came of a session: the last page says it, and stays when the server is gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// How it ended, in one line.
    pub headline: String,
    /// Where the episodes are; none when nothing was recorded.
    pub dataset: Option<String>,
    /// Episodes saved in this session, in their order.
    pub episodes: Vec<SavedEpisode>,
    /// Episodes thrown away.
    pub discarded: u64,
    /// What one may want to do next.
    pub next: Vec<NextStep>,
}

/// An episode that was saved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SavedEpisode {
    /// Its number in the dataset.
    pub number: u64,
    /// Frames.
    pub frames: u64,
    /// Whether it was judged a success; none: not judged.
    pub success: Option<bool>,
    /// Why it ended.
    pub reason: String,
    /// Share of its pictures that was lost, by the camera that lost most.
    pub lost_share: f64,
}

/// A command and what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// What it is for.
    pub what: String,
    /// The command, ready to be pasted.
    pub command: String,
}

/// What an autopilot is at.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AutopilotStatus {
    /// Whether it moves the arm now.
    pub flying: bool,
    /// State of its machine, by name.
    pub state: &'static str,
    /// Thing that it fetches.
    pub target: Option<String>,
    /// Which try it is, from 1.
    pub attempt: u32,
    /// Whether the thing is held: `yes`, `no`, `unknown`.
    pub held: &'static str,
    /// For every target, whether it was placed and still lies there.
    pub placed: Vec<bool>,
    /// Why the last attempt failed.
    pub failure: Option<String>,
    /// How the last request ended.
    pub message: String,
    /// Whether everything has to be set up again before it can work.
    pub hard_reset: bool,
    /// The last things that happened, oldest first.
    pub log: Vec<FlightNote>,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlightNote {
    /// Seconds into the phase.
    pub time_s: f64,
    /// What happened.
    pub text: String,
}

/// Where an arm is that follows another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LeaderStatus {
    /// The joint that is furthest from the leader's.
    pub joint: String,
    /// How far, in whole degrees.
    pub away_deg: f64,
}

/// The latest moment.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Counts moments shown; the same number means nothing new.
    pub moment: u64,
    /// Seconds of simulation in this run.
    pub time_s: f64,
    /// x, y, z, then w, x, y, z of every body.
    pub bodies: Vec<[f32; 7]>,
    /// Joint positions.
    pub joint_pos: Vec<f32>,
    /// Joint targets.
    pub targets: Vec<f32>,
    /// Position of the control point.
    pub hand_m: [f32; 3],
    /// Angle between tool and straight down; not a number where it does not matter.
    pub tilt_rad: f32,
    /// What limits the motion now: `floor`, `reach`, `elbow_flex`, …
    pub limited_by: Vec<String>,
    /// Names of the keys held.
    pub held: Vec<&'static str>,
    /// Whether the dead man's brake is on.
    pub brake: bool,
    /// Number of the driver's last message that reached the loop.
    pub seq: u64,
    /// Control ticks in the last second of wall time.
    pub loop_hz: f32,
    /// Ticks that began late, in this session.
    pub late_ticks: u64,
    /// How often the loop stalled, in this session: the arm braked and keys had to be let go.
    pub stalls: u64,
    /// Latest start of a tick in the last second.
    pub worst_late_ms: f32,
    /// One picture per camera, as far as they are there.
    pub pictures: Vec<Picture>,
    /// Frame of the pictures.
    pub picture_frame: u64,
    /// The recording.
    pub session: Session,
    /// The autopilot, where there is one.
    pub flight: Option<AutopilotStatus>,
    /// How far the arm is from its leader, where it has one.
    pub leader: Option<LeaderStatus>,
    /// What is wrong with the arm or its cameras now.
    pub troubles: Vec<String>,
}

/// What is shown, shared by the loop and the server.
#[derive(Debug)]
pub struct Telemetry {
    /// What does not change.
    pub stage: SceneInfo,
    live: Mutex<Sample>,
    watchers: AtomicUsize,
}

/// Somebody who wants to see pictures, for as long as it lives.
#[derive(Debug)]
pub struct Watcher(Arc<Telemetry>);

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.watchers.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Telemetry {
    /// An empty board.
    #[must_use]
    pub fn new(stage: SceneInfo) -> Arc<Self> {
        Arc::new(Self { stage, live: Mutex::default(), watchers: AtomicUsize::new(0) })
    }

    fn lock(&self) -> MutexGuard<'_, Sample> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wants to see pictures from now on.
    #[must_use]
    pub fn watch(self: &Arc<Self>) -> Watcher {
        self.watchers.fetch_add(1, Ordering::AcqRel);
        Watcher(Arc::clone(self))
    }

    /// Whether anybody wants to see pictures: nobody has to draw them otherwise.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.watchers.load(Ordering::Acquire) > 0
    }

    /// Changes what is shown. Called by the loop: must be quick.
    pub fn write(&self, change: impl FnOnce(&mut Sample)) {
        let mut live = self.lock();
        change(&mut live);
        live.moment += 1;
    }

    /// Reads what is shown.
    pub fn read<T>(&self, look: impl FnOnce(&Sample) -> T) -> T {
        look(&self.lock())
    }
}

/// A fraction for people: never 0 % when something was lost, never 100 % when something was not.
#[must_use]
pub fn percent(fraction: f64) -> String {
    let rounded = (fraction * 100.0).round();
    if fraction > 0.0 && rounded < 1.0 {
        "less than 1 %".to_owned()
    } else if fraction < 1.0 && rounded >= 100.0 {
        "more than 99 %".to_owned()
    } else {
        format!("{rounded} %")
    }
}
