//! Looking at datasets without touching them: lists, what is known, what is wrong.

use std::cmp::Reverse;

use citrange_lerobot::{CheckOptions, Finding, Severity};
use citrange_tape::{Dataset, Episode};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::context::RunContext;
use crate::error::Result;
use crate::timeline::{described, happened};

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
    fn of_all(dataset: &Dataset, ctx: RunContext<'_>) -> Vec<Self> {
        let bar = ctx.progress("reading tapes", dataset.len() as u64);
        let one = |episode| {
            let replay = match dataset.tape(episode) {
                Ok(Some((tape, _))) if tape.header.imported().is_some() => Self::Imported,
                Ok(Some(_)) => Self::Exact,
                Ok(None) => Self::Near,
                Err(problem) => Self::Broken(problem.to_string()),
            };
            bar.add_one();
            replay
        };
        let all = (0..dataset.len()).into_par_iter().map(one).collect();
        bar.finish();
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

/// The episodes of a dataset, a line each.
#[must_use]
pub fn list(dataset: &Dataset, ctx: RunContext<'_>) -> Answer {
    let replays = Replay::of_all(dataset, ctx);
    let all = replays.iter().enumerate();
    let all: Vec<Value> = all.map(|(e, replay)| episode_json(dataset, e, replay)).collect();
    let mut lines = vec!["episode  frames  seconds  replay  outcome            task".to_owned()];
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
        lines.push(format!(
            "{episode:>7}  {:>6}  {:>7.2}  {:<6}  {outcome:<17}  {}{}",
            meta.length,
            meta.length as f64 / f64::from(dataset.lerobot.info().fps),
            replay.word(),
            meta.tasks.join("; "),
            labels.map(|l| format!("  [{l}]")).unwrap_or_default(),
        ));
    }
    let broken = replays.iter().enumerate().filter_map(|(episode, replay)| match replay {
        Replay::Broken(problem) => Some(format!("episode {episode}: {problem}")),
        _ => None,
    });
    Answer { json: json!({ "episodes": all }), lines, remarks: broken.collect() }
}

/// What is known about a dataset.
#[must_use]
pub fn show(dataset: &Dataset, ctx: RunContext<'_>) -> Answer {
    let info = dataset.lerobot.info();
    let replays = Replay::of_all(dataset, ctx);
    let exact = replays.iter().filter(|replay| matches!(replay, Replay::Exact)).count();
    let features: Vec<Value> = info
        .features
        .iter()
        .map(|(name, f)| json!({"name": name, "dtype": f.dtype, "shape": f.shape}))
        .collect();
    let depth = first_tape(dataset).iter().flat_map(depth_json).collect::<Vec<_>>();
    let json = json!({
        "root": dataset.root(), "robot_type": info.robot_type, "fps": info.fps,
        "episodes": info.total_episodes, "frames": info.total_frames,
        "tasks": dataset.lerobot.tasks(), "exact_episodes": exact,
        "units": dataset.index.units, "features": features, "depth": depth,
    });
    let seconds = info.total_frames as f64 / f64::from(info.fps);
    let mut lines = vec![dataset.root().display().to_string()];
    lines.push(format!("  robot     {}", info.robot_type.as_deref().unwrap_or("not said")));
    lines.push(format!(
        "  episodes  {} ({exact} with a tape for exact replay), {} frames at {} Hz, {seconds:.1} s",
        info.total_episodes, info.total_frames, info.fps
    ));
    for task in dataset.lerobot.tasks() {
        lines.push(format!("  task      {task}"));
    }
    for (name, feature) in info.features.iter() {
        lines.push(format!("  feature   {name} {} {:?}", feature.dtype, feature.shape));
    }
    for one in &depth {
        lines.push(format!(
            "  depth     {} {}x{}, {} m a unit, beside the tapes",
            one["camera"].as_str().unwrap_or_default(),
            one["width_px"],
            one["height_px"],
            one["metres_per_unit"]
        ));
    }
    let units: Vec<String> =
        dataset.index.units.iter().map(|u| format!("{} {}", u.name, u.unit)).collect();
    let units = if units.is_empty() { "not said".to_owned() } else { units.join(", ") };
    lines.push(format!("  units     {units}"));
    Answer { json, lines, remarks: Vec::new() }
}

/// What is known about one episode: its tape, events, outcome.
///
/// # Errors
/// When there is no such episode.
pub fn show_episode(dataset: &Dataset, episode: usize) -> Result<Answer> {
    dataset.check_episode(episode)?;
    let tape = dataset.tape(episode);
    let replay = match &tape {
        Ok(Some(_)) => Replay::Exact,
        Ok(None) => Replay::Near,
        Err(problem) => Replay::Broken(problem.to_string()),
    };
    let mut report = episode_json(dataset, episode, &replay);
    let mut lines = described(dataset, episode, replay.word());
    if let Ok(Some((tape, shown))) = tape {
        let h = &tape.header;
        let first = shown.start as u64 * u64::from(h.rig.rates.ticks_per_frame());
        let last = shown.end as u64 * u64::from(h.rig.rates.ticks_per_frame());
        lines.extend(happened(&tape, first..last));
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
            "depth": depth_json(&tape),
            "config": h.config,
        });
    }
    let remarks = if let Replay::Broken(problem) = replay { vec![problem] } else { Vec::new() };
    Ok(Answer { json: report, lines, remarks })
}

/// What is wrong with a dataset.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// What was found, the worst first.
    pub answer: Answer,
    /// Errors among it.
    pub errors: usize,
    /// How much of what was found, in words.
    pub counts: String,
}

/// Looks for what is wrong: numbers, rates, videos, statistics, tapes. `deep` decodes every video.
///
/// # Errors
/// When the dataset cannot be read.
pub fn check(dataset: &Dataset, deep: bool, ctx: RunContext<'_>) -> Result<CheckReport> {
    let bar = ctx.progress("checking", 1);
    let options = CheckOptions { deep, joint_limits: limits(dataset), ..CheckOptions::default() };
    let checked = citrange_lerobot::check_all(&dataset.lerobot, &options, &mut |done, all| {
        bar.set_parts(all as u64);
        bar.set(done as u64);
    });
    bar.finish();
    let not_decoded = checked.not_decoded_text();
    let mut found = checked.findings;
    // The tapes are ours to check.
    let tapes: Vec<Vec<Finding>> =
        (0..dataset.len()).into_par_iter().map(|e| dataset.check_tape(e, deep)).collect();
    found.extend(tapes.into_iter().flatten());
    found.extend(dataset.unused_tapes()?);
    found.sort_by_key(|f| Reverse(f.severity));
    let errors = found.iter().filter(|f| f.severity == Severity::Error).count();
    let warnings = found.len() - errors;
    let list: Vec<Value> = found.iter().map(finding_json).collect();
    let json = json!({
        "findings": list, "errors": errors, "warnings": warnings, "decoded": deep,
        "not_decoded": checked.not_decoded,
    });
    let mut counts = format!("{errors} errors, {warnings} warnings");
    // What nobody looked at is not fine.
    if let Some(not_decoded) = not_decoded {
        counts += &format!("; {not_decoded}");
    } else if !deep && dataset.lerobot.info().features.video_keys().next().is_some() {
        counts += "; videos not decoded (--deep does)";
    }
    let lines = found.iter().map(ToString::to_string).collect();
    Ok(CheckReport { answer: Answer { json, lines, remarks: Vec::new() }, errors, counts })
}

fn finding_json(f: &Finding) -> Value {
    json!({
        "severity": if f.severity == Severity::Error { "error" } else { "warning" },
        "code": f.code, "episode": f.episode, "frame": f.frame, "file": f.file,
        "message": f.message,
    })
}

/// The cameras whose depths a tape keeps.
fn depth_json(tape: &Episode) -> Vec<Value> {
    let header = &tape.header;
    let one = |(name, format): (&String, &citrange_tape::DepthFormat)| {
        let spec = header.rig.cameras.iter().find(|spec| spec.name == *name);
        json!({
            "camera": name, "metres_per_unit": format.metres_per_unit,
            "width_px": spec.map(|s| s.width_px), "height_px": spec.map(|s| s.height_px),
        })
    };
    header.depth.iter().map(one).collect()
}

fn first_tape(dataset: &Dataset) -> Option<Episode> {
    (0..dataset.len()).find_map(|e| dataset.tape(e).ok().flatten()).map(|(tape, _)| tape)
}

/// Joint limits in the dataset's own units, from the first tape there is.
fn limits(dataset: &Dataset) -> Option<Vec<(f64, f64)>> {
    let tape = first_tape(dataset)?;
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
