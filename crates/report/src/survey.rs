//! Reads a dataset's tapes, all cores at once, and keeps what a report tells of each episode.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use citrange_core::event::TaskState;
use citrange_core::scene::{Goal, Scene};
use citrange_core::time::Utc;
use citrange_tape::{Dataset, TapeError, TapeHeader};
use serde::Serialize;

use crate::numbers::Numbers;
use crate::story::{Clock, Failure, Stage, Story, Thing};
use crate::workspace::SceneFromAbove;

/// What a report tells of one episode.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EpisodeFacts {
    /// Its number in the dataset.
    pub episode: usize,
    /// Length.
    pub frames: usize,
    /// Length.
    pub seconds: f64,
    /// Whether the task was done; `None` where nobody judged.
    pub success: Option<bool>,
    /// Why it ended; empty where nobody said.
    pub reason: String,
    /// Things that were to be brought.
    pub things: Vec<Thing>,
    /// What failed in it, attempts that were made good too.
    pub failures: Vec<Failure>,
    /// Whether the world had to be set anew after it.
    pub hard_reset: bool,
    /// Middle of the goal when it began.
    pub goal_m: Option<[f64; 2]>,
    /// Its states, in order.
    #[serde(skip)]
    pub stages: Vec<Stage>,
}

/// Where a dataset comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct About {
    /// Name of the dataset's folder.
    pub dataset: String,
    /// The scene's title.
    pub scene: Option<String>,
    /// The robot.
    pub robot: Option<String>,
    /// Tasks in words.
    pub tasks: BTreeSet<String>,
    /// Who decided.
    pub pilots: BTreeSet<String>,
    /// Engines and their versions.
    pub engines: BTreeSet<String>,
    /// When the first and the last episode began (UTC).
    pub began_utc: Option<[String; 2]>,
    /// When the dataset was last saved into (UTC), where its episodes do not say when they began:
    /// those that repeat to the byte hold no time of day.
    pub saved_utc: Option<String>,
    /// Cameras whose pictures are kept, those that stand still first.
    pub cameras: Vec<String>,
    /// Episodes whose tape could not be read or that have none: only outcome and length are known.
    pub without_tape: usize,
}

/// A dataset as a report sees it.
#[derive(Clone, Debug, Serialize)]
pub struct Survey {
    /// Where it comes from.
    pub about: About,
    /// All numbers.
    pub numbers: Numbers,
    /// What could not be read, in words.
    pub problems: Vec<String>,
    /// Where things are.
    pub workspace: Option<SceneFromAbove>,
    /// One for every episode, in order.
    pub episodes: Vec<EpisodeFacts>,
}

/// What a tape adds to what the index knows.
struct Told {
    story: Story,
    goal_m: Option<[f64; 2]>,
    header: TapeHeader,
}

impl Survey {
    /// Reads every tape. `progress` is told how many are done, from any thread. A tape that cannot
    /// be read is a problem to tell of, not an error.
    #[must_use]
    pub fn of(dataset: &Dataset, progress: &(dyn Fn(usize) + Sync)) -> Self {
        let told = read_all(dataset, progress);
        let fps = f64::from(dataset.lerobot.info().fps.max(1));
        let root = dataset.root();
        let full = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let name = full.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut about = About {
            dataset: name.unwrap_or_else(|| root.display().to_string()),
            robot: dataset.lerobot.info().robot_type.clone(),
            cameras: dataset.camera_names(),
            ..About::default()
        };
        let (mut problems, mut episodes) = (Vec::new(), Vec::new());
        let mut workspace = None;
        for (meta, told) in dataset.lerobot.episodes().iter().zip(told) {
            about.tasks.extend(meta.tasks.iter().cloned());
            let told = told.unwrap_or_else(|problem| {
                problems.push(format!("episode {}: {problem}", meta.index));
                None
            });
            about.without_tape += usize::from(told.is_none());
            if let Some(told) = &told {
                about.add(&told.header);
                workspace = workspace.or_else(|| SceneFromAbove::of(told.header.scene.as_ref()?));
            }
            // People may have judged anew since: the index knows, the tape does not.
            let outcome = dataset.entry(meta.index).map(|entry| entry.outcome.clone());
            let (goal_m, story) = told.map(|told| (told.goal_m, told.story)).unwrap_or_default();
            let mut facts = EpisodeFacts {
                episode: meta.index,
                frames: meta.length,
                seconds: meta.length as f64 / fps,
                success: outcome.as_ref().and_then(|outcome| outcome.success),
                reason: outcome.map(|outcome| outcome.reason).unwrap_or_default(),
                things: story.things,
                failures: story.failures,
                hard_reset: story.hard_reset,
                goal_m,
                stages: story.stages,
            };
            facts.name_a_failure();
            episodes.push(facts);
        }
        if let Some(workspace) = &mut workspace {
            workspace.set_goal(&episodes);
        }
        if about.began_utc.is_none() {
            let saved = std::fs::metadata(root.join("meta/info.json")).and_then(|m| m.modified());
            about.saved_utc = saved.ok().map(utc_of);
        }
        let numbers = Numbers::of(&episodes);
        Self { about, numbers, problems, workspace, episodes }
    }

    /// The episode to film: the first that went well, else the first.
    #[must_use]
    pub fn film_episode(&self) -> Option<usize> {
        let went_well = self.episodes.iter().find(|facts| facts.success == Some(true));
        went_well.or(self.episodes.first()).map(|facts| facts.episode)
    }
}

impl EpisodeFacts {
    /// An episode that failed has at least one failure to show: the outcome's.
    fn name_a_failure(&mut self) {
        if self.success != Some(false) || self.failures.iter().any(|f| !f.recovered) {
            return;
        }
        let state = self.stages.iter().rev().map(|stage| stage.state.as_str());
        self.failures.push(Failure {
            target: String::new(),
            attempt: None,
            state: state
                .clone()
                .find(|s| *s != TaskState::Failed.name())
                .unwrap_or_default()
                .to_owned(),
            reason: self.reason.clone(),
            frame: self.frames.saturating_sub(1),
            recovered: false,
        });
    }
}

impl About {
    fn add(&mut self, header: &TapeHeader) {
        if let Some(scene) = &header.scene
            && self.scene.is_none()
        {
            self.scene = Some(scene.title.clone());
        }
        let known = |set: &mut BTreeSet<String>, name: &String| {
            if !name.is_empty() {
                set.insert(name.clone());
            }
        };
        let mounted = |name: &str| {
            let camera = header.scene.as_ref().and_then(|scene| scene.cameras.get(name));
            camera.is_some_and(|camera| camera.mount.is_some())
        };
        self.cameras.sort_by_key(|name| mounted(name));
        known(&mut self.pilots, &header.pilot);
        known(&mut self.engines, &header.engine);
        let began = &header.began_utc;
        if began.is_empty() {
            return;
        }
        let [first, last] = self.began_utc.get_or_insert_with(|| [began.clone(), began.clone()]);
        if began < first {
            first.clone_from(began);
        }
        if began > last {
            last.clone_from(began);
        }
    }
}

fn utc_of(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Utc::of_unix_s(since.as_secs()).rfc3339()
}

/// What every episode's tape tells, in order.
fn read_all(
    dataset: &Dataset,
    progress: &(dyn Fn(usize) + Sync),
) -> Vec<Result<Option<Told>, TapeError>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let all = Mutex::new(Vec::with_capacity(dataset.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(dataset.len()) {
            scope.spawn(|| {
                loop {
                    let episode = next.fetch_add(1, Ordering::Relaxed);
                    if episode >= dataset.len() {
                        break;
                    }
                    let told = read(dataset, episode);
                    let mut all = all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    all.push((episode, told));
                    drop(all);
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    let mut all = all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    all.sort_by_key(|(episode, _)| *episode);
    all.into_iter().map(|(_, told)| told).collect()
}

fn read(dataset: &Dataset, episode: usize) -> Result<Option<Told>, TapeError> {
    let Some((tape, shown)) = dataset.tape(episode)? else { return Ok(None) };
    let clock = Clock::new(tape.header.rig.rates, shown.start, shown.len());
    let story = Story::read(&tape.events, &clock);
    let goal_m = tape.header.scene.as_ref().and_then(|scene| goal_m(scene, &tape.header));
    Ok(Some(Told { story, goal_m, header: tape.header }))
}

/// Where the goal's middle was at the start.
fn goal_m(scene: &Scene, header: &TapeHeader) -> Option<[f64; 2]> {
    let job = scene.job.as_ref()?;
    let object = match &job.goal {
        Goal::VirtualPlate { center_m: [x, y, _], .. }
        | Goal::VirtualTray { center_m: [x, y, _], .. } => return Some([*x, *y]),
        Goal::Plate { object, .. } | Goal::Tray { object, .. } | Goal::TopOf { object } => object,
        Goal::Reach { .. } => job.targets.first()?,
    };
    let body = header.bodies.iter().find(|body| body.name.as_ref() == Some(object));
    let stood = body.map(|body| [body.pos_m[0], body.pos_m[1]]);
    stood.or_else(|| scene.objects.get(object)?.place.spot_m)
}
