//! `citrange data list|show|check`: looking without touching.

use std::path::PathBuf;

use citrange_lerobot::{CheckOptions, Severity};
use citrange_tape::Dataset;
use serde_json::{Value, json};

use crate::exit::ProblemsFound;
use crate::say;

#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The dataset's folder.
    dataset: PathBuf,
    /// One episode: its tape, events, outcome.
    #[arg(long)]
    episode: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Decode every video too: finds frozen pictures for sure; takes longer.
    #[arg(long)]
    deep: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What is known about an episode, for machines.
fn episode_json(dataset: &Dataset, episode: usize) -> Value {
    let meta = &dataset.lerobot.episodes()[episode];
    let fps = f64::from(dataset.lerobot.info().fps);
    let entry = dataset.entry(episode);
    json!({
        "episode": episode,
        "frames": meta.length,
        "seconds": meta.length as f64 / fps,
        "tasks": meta.tasks,
        "exact": entry.is_some_and(|e| e.imported.is_none()),
        "imported": entry.and_then(|e| e.imported),
        "uid": entry.map(|e| &e.uid),
        "tape_frames": entry.map(|e| [e.frames.start, e.frames.end]),
        "outcome": entry.map(|e| &e.outcome),
        "labels": entry.map(|e| &e.labels),
        "note": entry.map(|e| &e.note),
        "parent": entry.and_then(|e| e.parent.as_ref()),
    })
}

pub(crate) fn list(args: &List) -> anyhow::Result<()> {
    let dataset = Dataset::open(&args.dataset)?;
    let all: Vec<Value> = (0..dataset.len()).map(|e| episode_json(&dataset, e)).collect();
    if args.json {
        return say::data(&json!({ "episodes": all }).to_string());
    }
    say::data("episode  frames  seconds  replay  outcome            task")?;
    for episode in 0..dataset.len() {
        let meta = &dataset.lerobot.episodes()[episode];
        let entry = dataset.entry(episode);
        let outcome = entry.map_or_else(
            || "-".to_owned(),
            |e| match e.outcome.success {
                Some(true) => format!("ok: {}", e.outcome.reason),
                Some(false) => format!("failed: {}", e.outcome.reason),
                None => e.outcome.reason.clone(),
            },
        );
        let labels = entry.map(|e| e.labels.join(",")).filter(|l| !l.is_empty());
        say::data(&format!(
            "{episode:>7}  {:>6}  {:>7.2}  {:<6}  {outcome:<17}  {}{}",
            meta.length,
            meta.length as f64 / f64::from(dataset.lerobot.info().fps),
            match entry.map(|e| e.imported) {
                None => "near",
                Some(None) => "exact",
                // Its tape is exact about how it was played here.
                Some(Some(_)) => "import",
            },
            meta.tasks.join("; "),
            labels.map(|l| format!("  [{l}]")).unwrap_or_default(),
        ))?;
    }
    Ok(())
}

pub(crate) fn show(args: &Show) -> anyhow::Result<()> {
    let dataset = Dataset::open(&args.dataset)?;
    if let Some(episode) = args.episode {
        return show_episode(&dataset, episode, args.json);
    }
    let info = dataset.lerobot.info();
    let is_exact = |e: &usize| dataset.entry(*e).is_some_and(|entry| entry.imported.is_none());
    let exact = (0..dataset.len()).filter(is_exact).count();
    let features: Vec<Value> = info
        .features
        .iter()
        .map(|(name, f)| json!({"name": name, "dtype": f.dtype, "shape": f.shape}))
        .collect();
    if args.json {
        let report = json!({
            "root": dataset.root(), "robot_type": info.robot_type, "fps": info.fps,
            "episodes": info.total_episodes, "frames": info.total_frames,
            "tasks": dataset.lerobot.tasks(), "exact_episodes": exact,
            "units": dataset.index.units, "features": features,
        });
        return say::data(&report.to_string());
    }
    let secs = info.total_frames as f64 / f64::from(info.fps);
    say::data(&format!("{}", dataset.root().display()))?;
    say::data(&format!("  robot     {}", info.robot_type.as_deref().unwrap_or("not said")))?;
    say::data(&format!(
        "  episodes  {} ({exact} with a tape for exact replay), {} frames at {} Hz, {secs:.1} s",
        info.total_episodes, info.total_frames, info.fps
    ))?;
    for task in dataset.lerobot.tasks() {
        say::data(&format!("  task      {task}"))?;
    }
    for (name, feature) in info.features.iter() {
        say::data(&format!("  feature   {name} {} {:?}", feature.dtype, feature.shape))?;
    }
    let units: Vec<String> =
        dataset.index.units.iter().map(|u| format!("{} {}", u.name, u.unit)).collect();
    let units = if units.is_empty() { "not said".to_owned() } else { units.join(", ") };
    say::data(&format!("  units     {units}"))
}

fn show_episode(dataset: &Dataset, episode: usize, as_json: bool) -> anyhow::Result<()> {
    dataset.check_episode(episode)?;
    let mut report = episode_json(dataset, episode);
    if let Some((tape, shown)) = dataset.tape(episode)? {
        let h = &tape.header;
        let first = shown.start as u64 * u64::from(h.rig.rates.ticks_per_frame());
        let last = shown.end as u64 * u64::from(h.rig.rates.ticks_per_frame());
        let events: Vec<_> =
            tape.events.iter().filter(|(tick, _)| (first..last).contains(tick)).collect();
        report["tape"] = json!({
            "began_utc": h.began_utc, "tool_version": h.tool_version, "engine": h.engine,
            "model_sha256": h.model_hash, "scene": h.scene.as_ref().map(|s| &s.name),
            "robot": h.rig.robot, "pilot": h.pilot, "seed": h.seed, "episode_index": h.episode,
            "rates": h.rig.rates, "ticks": tape.ticks.len(), "events": events,
            "dropped_pictures": tape.end.as_ref().map(|e| &e.dropped),
            "config": h.config,
        });
    }
    if as_json {
        return say::data(&report.to_string());
    }
    say::data(&serde_json::to_string_pretty(&report)?)
}

pub(crate) fn check(args: &Check) -> anyhow::Result<()> {
    let dataset = Dataset::open(&args.dataset)?;
    let bar = say::progress("checking", 1);
    let options =
        CheckOptions { deep: args.deep, joint_limits: limits(&dataset), ..CheckOptions::default() };
    let found = citrange_lerobot::check(&dataset.lerobot, &options, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let errors = found.iter().filter(|f| f.severity == Severity::Error).count();
    // The tapes are ours to check.
    let mut damaged = Vec::new();
    for episode in 0..dataset.len() {
        match dataset.tape(episode) {
            Ok(Some((tape, _))) if !tape.damage.is_empty() => {
                damaged.push(format!("error [tape] episode {episode}: its tape is damaged"));
            }
            Ok(_) => {}
            Err(error) => damaged.push(format!("error [tape] episode {episode}: {error}")),
        }
    }
    if args.json {
        let list: Vec<Value> = found
            .iter()
            .map(|f| {
                json!({
                    "severity": if f.severity == Severity::Error { "error" } else { "warning" },
                    "code": f.code, "episode": f.episode, "frame": f.frame, "file": f.file,
                    "message": f.message,
                })
            })
            .collect();
        say::data(&json!({ "findings": list, "tapes": damaged }).to_string())?;
    } else {
        for line in found.iter().map(ToString::to_string).chain(damaged.iter().cloned()) {
            say::data(&line)?;
        }
    }
    let errors = errors + damaged.len();
    let warnings = found.len() + damaged.len() - errors;
    if errors > 0 {
        return Err(ProblemsFound(format!("{errors} errors, {warnings} warnings")).into());
    }
    say::talk(&format!(
        "{} episodes, {} frames: no errors, {warnings} warnings",
        dataset.len(),
        dataset.lerobot.info().total_frames
    ));
    Ok(())
}

/// Joint limits in the dataset's own units, from the first tape there is.
fn limits(dataset: &Dataset) -> Option<Vec<(f64, f64)>> {
    let tape = (0..dataset.len()).find_map(|e| dataset.tape(e).ok().flatten())?.0;
    let joints = &tape.header.rig.joints;
    if joints.len() != dataset.index.units.len() {
        return None;
    }
    let shown = joints.iter().zip(&dataset.index.units).map(|(joint, unit)| {
        let [low, high] = joint.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let (a, b) = (unit.show(low), unit.show(high));
        (a.min(b), a.max(b))
    });
    Some(shown.collect())
}
