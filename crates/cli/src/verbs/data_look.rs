//! `citrange data list|show|check`: looking without touching.

use std::cmp::Reverse;
use std::path::PathBuf;

use citrange_lerobot::{CheckOptions, Finding, Severity};
use citrange_tape::Dataset;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::exit::problems_found;
use crate::output;

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

/// How an episode can be replayed: what `list`, `check` and `replay` agree on.
enum Replay {
    /// By its tape, bit for bit.
    Exact,
    /// Its tape is exact about how an episode of others was played here.
    Imported,
    /// By its rows: it has no tape.
    Near,
    /// It should have a tape, which cannot be used.
    Broken(String),
}

impl Replay {
    fn word(&self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Imported => "import",
            Self::Near => "near",
            Self::Broken(_) => "BROKEN",
        }
    }

    /// Of every episode; reads every tape.
    fn of_all(dataset: &Dataset) -> Vec<Self> {
        let bar = output::progress("reading tapes", dataset.len() as u64);
        let one = |episode| {
            let replay = match dataset.tape(episode) {
                Ok(Some((tape, _))) if tape.header.imported().is_some() => Self::Imported,
                Ok(Some(_)) => Self::Exact,
                Ok(None) => Self::Near,
                Err(problem) => Self::Broken(problem.to_string()),
            };
            bar.inc(1);
            replay
        };
        let all = (0..dataset.len()).into_par_iter().map(one).collect();
        bar.finish_and_clear();
        all
    }
}

/// What is known about an episode, for machines.
fn episode_json(dataset: &Dataset, episode: usize, replay: &Replay) -> Value {
    let meta = &dataset.lerobot.episodes()[episode];
    let fps = f64::from(dataset.lerobot.info().fps);
    let entry = dataset.entry(episode);
    let problem = if let Replay::Broken(problem) = replay { Some(problem) } else { None };
    json!({
        "episode": episode,
        "frames": meta.length,
        "seconds": meta.length as f64 / fps,
        "tasks": meta.tasks,
        "exact": matches!(replay, Replay::Exact),
        "imported": entry.and_then(|e| e.imported),
        "problem": problem,
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
    let replays = Replay::of_all(&dataset);
    if args.json {
        let all = replays.iter().enumerate();
        let all: Vec<Value> = all.map(|(e, replay)| episode_json(&dataset, e, replay)).collect();
        return output::data(&json!({ "episodes": all }).to_string());
    }
    output::data("episode  frames  seconds  replay  outcome            task")?;
    for (episode, replay) in replays.iter().enumerate() {
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
        output::data(&format!(
            "{episode:>7}  {:>6}  {:>7.2}  {:<6}  {outcome:<17}  {}{}",
            meta.length,
            meta.length as f64 / f64::from(dataset.lerobot.info().fps),
            replay.word(),
            meta.tasks.join("; "),
            labels.map(|l| format!("  [{l}]")).unwrap_or_default(),
        ))?;
    }
    for (episode, replay) in replays.iter().enumerate() {
        if let Replay::Broken(problem) = replay {
            output::talk(&format!("episode {episode}: {problem}"));
        }
    }
    Ok(())
}

pub(crate) fn show(args: &Show) -> anyhow::Result<()> {
    let dataset = Dataset::open(&args.dataset)?;
    if let Some(episode) = args.episode {
        return show_episode(&dataset, episode, args.json);
    }
    let info = dataset.lerobot.info();
    let replays = Replay::of_all(&dataset);
    let exact = replays.iter().filter(|replay| matches!(replay, Replay::Exact)).count();
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
        return output::data(&report.to_string());
    }
    let secs = info.total_frames as f64 / f64::from(info.fps);
    output::data(&format!("{}", dataset.root().display()))?;
    output::data(&format!("  robot     {}", info.robot_type.as_deref().unwrap_or("not said")))?;
    output::data(&format!(
        "  episodes  {} ({exact} with a tape for exact replay), {} frames at {} Hz, {secs:.1} s",
        info.total_episodes, info.total_frames, info.fps
    ))?;
    for task in dataset.lerobot.tasks() {
        output::data(&format!("  task      {task}"))?;
    }
    for (name, feature) in info.features.iter() {
        output::data(&format!("  feature   {name} {} {:?}", feature.dtype, feature.shape))?;
    }
    let units: Vec<String> =
        dataset.index.units.iter().map(|u| format!("{} {}", u.name, u.unit)).collect();
    let units = if units.is_empty() { "not said".to_owned() } else { units.join(", ") };
    output::data(&format!("  units     {units}"))
}

fn show_episode(dataset: &Dataset, episode: usize, as_json: bool) -> anyhow::Result<()> {
    dataset.check_episode(episode)?;
    let tape = dataset.tape(episode);
    let replay = match &tape {
        Ok(Some(_)) => Replay::Exact,
        Ok(None) => Replay::Near,
        Err(problem) => Replay::Broken(problem.to_string()),
    };
    let mut report = episode_json(dataset, episode, &replay);
    if let Ok(Some((tape, shown))) = tape {
        let h = &tape.header;
        let first = shown.start as u64 * u64::from(h.rig.rates.ticks_per_frame());
        let last = shown.end as u64 * u64::from(h.rig.rates.ticks_per_frame());
        let events: Vec<_> =
            tape.events.iter().filter(|(tick, _)| (first..last).contains(tick)).collect();
        let stalls = tape
            .stalls(&shown)
            .into_iter()
            .map(|(frame, late_ms)| json!({"frame": frame - shown.start, "late_ms": late_ms}));
        report["stalls"] = stalls.collect();
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
        return output::data(&report.to_string());
    }
    output::data(&serde_json::to_string_pretty(&report)?)
}

pub(crate) fn check(args: &Check) -> anyhow::Result<()> {
    let dataset = Dataset::open(&args.dataset)?;
    let bar = output::progress("checking", 1);
    let options =
        CheckOptions { deep: args.deep, joint_limits: limits(&dataset), ..CheckOptions::default() };
    let checked = citrange_lerobot::check_all(&dataset.lerobot, &options, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let not_decoded = checked.not_decoded_text();
    let mut found = checked.findings;
    // The tapes are ours to check.
    let tapes: Vec<Vec<Finding>> =
        (0..dataset.len()).into_par_iter().map(|e| dataset.check_tape(e)).collect();
    found.extend(tapes.into_iter().flatten());
    found.extend(dataset.unused_tapes()?);
    found.sort_by_key(|f| Reverse(f.severity));
    let errors = found.iter().filter(|f| f.severity == Severity::Error).count();
    let warnings = found.len() - errors;
    if args.json {
        let list: Vec<Value> = found.iter().map(finding_json).collect();
        let report = json!({
            "findings": list, "errors": errors, "warnings": warnings, "decoded": args.deep,
            "not_decoded": checked.not_decoded,
        });
        output::data(&report.to_string())?;
    } else {
        found.iter().try_for_each(|finding| output::data(&finding.to_string()))?;
    }
    let mut counts = format!("{errors} errors, {warnings} warnings");
    // What nobody looked at is not fine.
    if let Some(not_decoded) = not_decoded {
        counts += &format!("; {not_decoded}");
    } else if !args.deep && dataset.lerobot.info().features.video_keys().next().is_some() {
        counts += "; videos not decoded (--deep does)";
    }
    if errors > 0 {
        return Err(problems_found(counts));
    }
    let (episodes, frames) = (dataset.len(), dataset.lerobot.info().total_frames);
    output::talk(&format!("{episodes} episodes, {frames} frames: {counts}"));
    Ok(())
}

fn finding_json(f: &Finding) -> Value {
    json!({
        "severity": if f.severity == Severity::Error { "error" } else { "warning" },
        "code": f.code, "episode": f.episode, "frame": f.frame, "file": f.file,
        "message": f.message,
    })
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
