//! What the verbs of the command do, as functions: collect, replay, report, plan.

use std::path::PathBuf;
use std::sync::Arc;

use citrange_episodes::collect::{
    CollectOptions, Goal, Order, Plan, Quota, Shard, collect as make,
};
use citrange_episodes::planning::{PlanOptions, plan_in_scene};
use citrange_episodes::replay::{ReplayOptions, replay as play};
use citrange_episodes::{
    DepthChoice, EpisodesError, PilotOptions, Progress, RecordOptions, Reporter, RunContext,
    Silent, check_new,
};
use citrange_plan::{GoalText, SceneSettings};
use citrange_report::{FilmChoice, ReportOptions, folder_beside, make_report};
use citrange_tape::Unit;
use pyo3::prelude::*;
use serde_json::Value;

use crate::guard::stoppable;
use crate::json;
use crate::raise::bad_input;

/// Tells a Python function what happens.
pub(crate) struct Listener {
    pub(crate) on_event: Option<Py<PyAny>>,
}

impl Reporter for Listener {
    fn say(&self, line: &str) {
        // A line for people is an event without a name.
        let _nobody_listens = self.tell(&Value::Null, line);
    }

    fn tell(&self, event: &Value, words: &str) -> std::io::Result<()> {
        let Some(on_event) = &self.on_event else { return Ok(()) };
        let said = Python::attach(|py| {
            let event = match event {
                Value::Null => serde_json::json!({ "event": "said", "words": words }),
                event => event.clone(),
            };
            on_event.call1(py, (json::to_py(py, &event)?,)).map(|_| ())
        });
        said.map_err(|error| std::io::Error::other(format!("on_event: {error}")))
    }

    fn progress(&self, what: &'static str, parts: u64) -> Arc<dyn Progress> {
        Silent.progress(what, parts)
    }
}

pub(crate) fn unit(py: Python<'_>, name: &str) -> PyResult<Unit> {
    match name {
        "degrees" | "deg" => Ok(Unit::Degrees),
        "percent" => Ok(Unit::Percent),
        "radians" | "rad" => Ok(Unit::Radians),
        other => {
            let text = format!("unit: \"{other}\"; degrees, percent or radians are possible");
            Err(bad_input(py, text))
        }
    }
}

/// What every recording can be told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Record {
    task: Option<String>,
    seed: u64,
    robots: Option<Vec<String>>,
    cameras: Option<Vec<String>>,
    depth: Vec<String>,
    images: Vec<String>,
    unit: String,
    start: Option<String>,
}

impl Record {
    pub(crate) fn options(self, py: Python<'_>) -> PyResult<RecordOptions> {
        Ok(RecordOptions {
            task: self.task,
            seed: self.seed,
            robots: self.robots,
            cameras: self.cameras,
            depth: DepthChoice::named(&self.depth),
            images: self.images.into_iter().collect(),
            unit: unit(py, &self.unit)?,
            from: self.start,
            ..RecordOptions::default()
        })
    }
}

/// What an autopilot can be told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Autopilot {
    autopilot: Option<String>,
    retries: Option<u32>,
    targets: Vec<String>,
    pose_noise_mm: Option<f64>,
}

/// How many episodes, and where they go.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wanted {
    out: PathBuf,
    episodes: u64,
    successes: Option<u64>,
    max_episodes: Option<u64>,
    first: Option<u64>,
    shard: Option<String>,
    workers: Option<usize>,
    randomise: Option<String>,
    seconds: Option<f64>,
    resume: bool,
}

/// Lets an arm make episodes by itself, into a dataset.
#[pyfunction]
pub(crate) fn collect(
    py: Python<'_>,
    scene: Option<String>,
    wanted: Wanted,
    record: Record,
    autopilot: Autopilot,
    on_event: Option<Py<PyAny>>,
) -> PyResult<()> {
    let Autopilot { autopilot, retries, targets, pose_noise_mm } = autopilot;
    let options = CollectOptions {
        record: record.options(py)?,
        pilot: PilotOptions { autopilot, retries, targets, pose_noise_mm },
        randomise: wanted.randomise,
        seconds: wanted.seconds,
        speed: None,
    };
    let shard = wanted.shard.as_deref().map(str::parse::<Shard>).transpose();
    let shard = shard.map_err(|error| bad_input(py, format!("shard: {error}")))?;
    if shard.is_some() && wanted.successes.is_some() {
        return Err(bad_input(py, "shard: parts have so many episodes, not so many successes"));
    }
    let begin = wanted.first.unwrap_or(0);
    let (goal, first) = match (&shard, wanted.successes) {
        (Some(shard), _) => {
            (shard.goal(begin, wanted.episodes), Some(shard.part(begin, wanted.episodes).0))
        }
        (None, Some(count)) => {
            (Goal::quotas(&[Quota::successes(count)], wanted.max_episodes), wanted.first)
        }
        (None, None) => (Goal::episodes(wanted.episodes, wanted.max_episodes), wanted.first),
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = wanted.workers.unwrap_or(cores).max(1);
    let listener = Listener { on_event };
    let (out, resume) = (wanted.out, wanted.resume);
    stoppable(py, move |stop| {
        let ctx = RunContext { reporter: &listener, stop };
        check_new(&out, resume)?;
        let plan = Plan::new(scene.as_deref(), &options, ctx)?;
        make(&plan, &Order { out, goal, first, workers }, ctx)
    })
}

/// Repeats episodes; answers the report, or raises what differs.
#[pyfunction]
pub(crate) fn replay<'py>(
    py: Python<'py>,
    path: PathBuf,
    episode: Option<usize>,
    verify: bool,
    film: Option<PathBuf>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let options =
        ReplayOptions { path, episode, verify, film, threads, ..ReplayOptions::default() };
    let value = stoppable(py, |stop| {
        let ctx = RunContext { reporter: &Silent, stop };
        let report = play(&options, None, ctx)?;
        let value = report.json();
        // What differs is part of the report, what cannot be read or was stopped is not.
        match report.verdict() {
            Err(EpisodesError::ProblemsFound(_)) | Ok(()) => Ok(value.unwrap_or_default()),
            Err(error) => Err(error),
        }
    })?;
    json::to_py(py, &value)
}

/// Makes the page of a dataset; answers its numbers and where it is.
#[pyfunction]
pub(crate) fn report<'py>(
    py: Python<'py>,
    dataset: PathBuf,
    out: Option<PathBuf>,
    film: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let opened = crate::guard::guarded(py, || citrange_tape::Dataset::open(&dataset))?;
    let folder = match out {
        Some(out) => out,
        None => crate::guard::guarded(py, || folder_beside(&dataset))?,
    };
    let film = if film { FilmChoice::Best } else { FilmChoice::No };
    let value = stoppable(py, |stop| {
        let ctx = RunContext { reporter: &Silent, stop };
        make_report(&opened, &ReportOptions { folder, film }, ctx).map(|made| made.json())
    })?;
    json::to_py(py, &value)
}

/// How a motion is planned.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    places: Vec<String>,
    joints: Vec<String>,
    start: Option<String>,
    gripper: Option<String>,
    map: Option<PathBuf>,
    margin_m: f64,
    tolerance_m: f64,
    tolerance_rad: f64,
    proceed_anyway: bool,
    seed: u64,
    episode_seed: u64,
    episode: u64,
    checks: Option<u64>,
    time_ms: Option<u64>,
    speed: f64,
    hz: u32,
}

/// Plans motions that touch nothing; answers them with `reason` where one was not found.
#[pyfunction]
pub(crate) fn plan<'py>(
    py: Python<'py>,
    scene: String,
    asked: Asked,
) -> PyResult<Bound<'py, PyAny>> {
    if !(1..=10_000).contains(&asked.hz) {
        return Err(bad_input(py, format!("hz: {}; 1 to 10000 are possible", asked.hz)));
    }
    let time = asked.time_ms.map(std::time::Duration::from_millis);
    let mut settings = SceneSettings::with_seed_and_time(asked.seed, time);
    (settings.start, settings.gripper) = (asked.start, asked.gripper);
    settings.collider.margin_m = asked.margin_m;
    let request = &mut settings.request;
    request.goal.tolerance_m = asked.tolerance_m;
    request.goal.tolerance_rad = asked.tolerance_rad;
    request.goal.proceed_anyway = asked.proceed_anyway;
    request.effort.checks = asked.checks.unwrap_or(request.effort.checks);
    request.timing.scale = asked.speed;
    let places = asked.places.into_iter().map(GoalText::Place);
    let goals = places.chain(asked.joints.into_iter().map(GoalText::Joints)).collect();
    let options = PlanOptions {
        scene,
        seed: asked.episode_seed,
        episode: asked.episode,
        map: asked.map,
        goals,
        settings,
        ..PlanOptions::default()
    };
    let value = stoppable(py, |_| {
        let plan = plan_in_scene(&options)?;
        let mut value = plan.json(asked.hz);
        value["reason"] = plan.legs.reason().into();
        Ok::<_, EpisodesError>(value)
    })?;
    json::to_py(py, &value)
}
