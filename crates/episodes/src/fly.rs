//! Any pilot flies episodes of a scene, recorded into a dataset or not at all: a policy, a script,
//! a function of another language. They replay bit for bit as all episodes do.

use std::path::PathBuf;

use citrange_core::run::run as run_episode;
use citrange_core::tape::NoTape;
use citrange_core::{Clock, Pace, Pilot, RunReport, RunSettings};
use citrange_tape::{Dataset, WhenFull};
use serde_json::json;

use crate::context::RunContext;
use crate::error::{Context as _, EpisodesError, Result};
use crate::recording::{RecordOptions, Take, check_new, cut_short, tell_repaired};
use crate::session::Choice;

/// Which episodes, and where they go.
#[derive(Clone, Debug, Default)]
pub struct FlyOptions {
    /// Scene by name or file; with `record.from` that of the episode.
    pub scene: Option<String>,
    /// What is recorded.
    pub record: RecordOptions,
    /// The dataset's folder; `None`: nothing is kept.
    pub out: Option<PathBuf>,
    /// Whether a dataset that is there already is gone on with.
    pub resume: bool,
    /// Index of the first episode.
    pub first: u64,
    /// How many.
    pub episodes: u64,
    /// Longest episode.
    pub seconds: Option<f64>,
    /// Times real time; `None`: as fast as it goes.
    pub speed: Option<f64>,
    /// Whether the pilot is shown pictures where nothing is recorded.
    pub pictures: bool,
}

/// Lets a pilot fly episodes, one after the other; answers how each went.
///
/// # Errors
/// When there is no such scene, the pilot fails, or an episode cannot be kept;
/// [`EpisodesError::Interrupted`] when the user asked to stop, with what was recorded kept.
pub fn fly(
    options: &FlyOptions,
    pilot: &mut dyn Pilot,
    ctx: RunContext<'_>,
) -> Result<Vec<RunReport>> {
    let record = &options.record;
    let (mut rig, origin) = record.rig(options.scene.as_deref(), "", ctx)?;
    rig.leave_pictures_out(options.speed.is_some());
    let mut dataset = None;
    if let Some(out) = &options.out {
        check_new(out, options.resume)?;
        let (spec, images) = (rig.spec(), &record.images);
        let (opened, repaired) =
            Dataset::record_with(out, spec, record.unit, images, record.features)?;
        tell_repaired(&repaired, ctx)?;
        dataset = Some(opened);
    }
    let frame_hz = f64::from(rig.spec().rates.frame_hz);
    let has_cameras = !rig.spec().cameras.is_empty();
    let settings = RunSettings {
        pace: Pace::at_speed(options.speed),
        max_frames: options.seconds.map(|s| (s * frame_hz).ceil().max(1.0) as u64),
        stop: Some(ctx.stop),
        pictures: has_cameras && (dataset.is_some() || options.pictures),
        clock: if options.speed.is_some() { Clock::Wall } else { Clock::Ticks },
        memory: None,
    };
    let name = pilot.name().to_owned();
    let mut reports = Vec::new();
    for episode in options.first..options.first.saturating_add(options.episodes) {
        match &origin {
            Some(origin) => origin.set(rig.as_mut())?,
            None => rig.reset(record.seed, episode)?,
        }
        let Some(dataset) = &mut dataset else {
            let report = run_episode(&mut *pilot, rig.as_mut(), NoTape, &settings)?;
            reports.push(report);
            if ctx.stopped() {
                return Err(EpisodesError::Interrupted);
            }
            continue;
        };
        let choice = Choice {
            task: record.task.as_deref(),
            pilot: &name,
            seed: record.seed,
            episode,
            unit: record.unit,
            images: &record.images,
            parent: origin.as_ref().map(crate::recording::Origin::parent),
            config: json!({ "seconds": options.seconds, "speed": options.speed }),
        };
        let when_full = if options.speed.is_some() { WhenFull::Drop } else { WhenFull::Wait };
        let seen = |_, _| {};
        let mut tape = Take::begin(dataset, rig.as_ref(), choice, when_full, &seen, ctx)?;
        let ran = run_episode(&mut *pilot, rig.as_mut(), &mut tape, &settings);
        let report = ran.with_context(|| cut_short(episode, dataset.root()))?;
        if report.frames == 0 {
            tape.discard()?;
        } else {
            tape.save(dataset, &report)?;
        }
        reports.push(report);
        if ctx.stopped() {
            return Err(EpisodesError::Interrupted);
        }
    }
    Ok(reports)
}
