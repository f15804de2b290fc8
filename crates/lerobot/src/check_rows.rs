//! Checks of the rows of one episode.

use crate::check::{CheckOptions, difference, report_stats};
use crate::column::Column;
use crate::data;
use crate::dataset::Dataset;
use crate::episodes::EpisodeMeta;
use crate::findings::{At, Findings};
use crate::info::DEFAULT_FEATURES;
use crate::stats::{FeatureStats, Stats, quantile_of_sorted};

/// How far a timestamp may be off; the reader of lerobot refuses more.
pub(crate) const TOLERANCE_S: f64 = 1e-4;
/// The feature with the measured joints.
const STATE: &str = "observation.state";
/// A joint counts as using at least this part of its limits.
const LEAST_RANGE: f64 = 0.1;
/// A joint this far beyond a limit, as a part of the range, is out of it. To stand at a limit is
/// nothing to warn of: resting arms do, and limits of simulators and of calibrations give a little.
const BEYOND_LIMIT: f64 = 5e-3;

/// What later checks need of an episode.
pub(crate) struct Rows {
    pub(crate) stats: Stats,
    pub(crate) state: Motion,
}

/// Joint values over an episode, as parts of their ranges in the dataset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    width: usize,
    values: Vec<f64>,
}

impl Motion {
    /// The most any joint moves over some frames, as a part of its range.
    pub(crate) fn over(&self, frames: std::ops::Range<usize>) -> f64 {
        let value = |f: usize, k: usize| self.values.get(f * self.width + k).copied();
        (0..self.width)
            .map(|k| {
                let seen = frames.clone().filter_map(|f| value(f, k));
                let (low, high) =
                    seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
                high - low
            })
            .fold(0.0, f64::max)
    }
}

/// Checks the rows; nothing when they cannot be read.
pub(crate) fn check(
    dataset: &Dataset,
    meta: &EpisodeMeta,
    options: &CheckOptions,
    found: &mut Findings,
) -> Option<Rows> {
    let file = dataset.info.data_file(meta.data).ok()?;
    let at = At { episode: Some(meta.index), frame: None, file: Some(file.clone()) };
    let path = dataset.root.join(&file);
    let range = dataset.rows_in_file(meta);
    let rows = match data::read(&path, &dataset.info.features, Some(range.clone())) {
        Ok(rows) => rows,
        Err(e) => {
            let code = if path.exists() { "unreadable" } else { "data-missing" };
            found.error(code, at, e.to_string());
            return None;
        }
    };
    let is_last = dataset.episodes.get(meta.index + 1).is_none_or(|e| e.data != meta.data);
    if is_last && rows.file_rows > range.end {
        let message = format!("it has {} rows, episodes use {}", rows.file_rows, range.end);
        found.error("orphan-rows", At::file(&file), message);
    }
    let count = rows.file_rows.min(range.end).saturating_sub(range.start);
    if count < meta.length {
        let message = format!("it should have {} rows, there are {count}", meta.length);
        found.error("rows-missing", at, message);
        return None;
    }
    check_counters(dataset, meta, &rows.columns, &at, found);
    let mut stats = Stats::new();
    let mut motion = Motion::default();
    for (name, column) in &rows.columns {
        let Some(width) = dataset.info.features.get(name).and_then(|f| f.width().ok()) else {
            continue;
        };
        let finite = check_finite(dataset, name, column, width, &at, found);
        let Some(measured) = FeatureStats::of(column, width) else { continue };
        match meta.stats.get(name) {
            Some(said) => {
                if let Some(reason) = difference(said, &measured).filter(|_| finite) {
                    report_stats(found, name, at.clone(), reason);
                }
            }
            None => {
                let message = format!("meta/episodes has no statistics of {name}");
                found.warning("stats", at.clone(), message);
            }
        }
        if name == STATE && finite {
            motion = parts_of_range(dataset, column, width, &measured, options);
            check_jumps(dataset, &motion, options, &at, found);
            check_limits(dataset, column, width, options, &at, found);
        }
        stats.insert(name.clone(), measured);
    }
    check_duplicates(dataset, &rows.columns, meta.length, &at, found);
    Some(Rows { stats, state: motion })
}

fn check_counters(
    dataset: &Dataset,
    meta: &EpisodeMeta,
    columns: &[(String, Column)],
    at: &At,
    found: &mut Findings,
) {
    let column = |name: &str| columns.iter().find(|(n, _)| n == name).map(|(_, c)| c);
    let integers = |name: &str| column(name).and_then(Column::integers).unwrap_or_default();
    let mut compare = |name: &'static str, code: &'static str, want: &dyn Fn(usize) -> i64| {
        let wrong = integers(name).iter().enumerate().find(|(k, v)| **v != want(*k));
        if let Some((k, value)) = wrong {
            let message = format!("{name} is {value}, it should be {}", want(k));
            found.error(code, at.frame(k), message);
        }
    };
    compare("index", "index", &|k| (meta.from_index + k) as i64);
    compare("episode_index", "episode-index", &|_| meta.index as i64);
    compare("frame_index", "frame-index", &|k| k as i64);
    let fps = f64::from(dataset.info.fps);
    let times = column("timestamp").and_then(Column::floats).unwrap_or_default();
    let off = |k: usize, t: f64| (t - k as f64 / fps).abs();
    // Not "off more than": a NaN must be found too.
    let wrong = times.iter().enumerate().find(|(k, t)| {
        let near = off(*k, f64::from(**t)) < TOLERANCE_S;
        !near
    });
    if let Some((k, t)) = wrong {
        let message = format!("timestamp is {t} s, it should be {:.6} s", k as f64 / fps);
        found.error("timestamp", at.frame(k), message);
    }
    let mut texts: Vec<&String> = Vec::new();
    for (k, number) in integers("task_index").iter().enumerate() {
        match usize::try_from(*number).ok().and_then(|n| dataset.tasks.get(n)) {
            None => {
                let tasks = dataset.tasks.len();
                let message = format!("task_index is {number}, there are {tasks} tasks");
                found.error("task-index", at.frame(k), message);
                return;
            }
            Some(text) if !meta.tasks.contains(text) => {
                let message = format!("its task is {text:?}, meta/episodes says {:?}", meta.tasks);
                found.error("task-index", at.frame(k), message);
                return;
            }
            Some(text) if !texts.contains(&text) => texts.push(text),
            Some(_) => {}
        }
    }
    if texts.len() != meta.tasks.len() {
        let message = format!("meta/episodes says {:?}, frames use {texts:?}", meta.tasks);
        found.error("task-index", at.clone(), message);
    }
}

fn component(dataset: &Dataset, name: &str, k: usize) -> String {
    let names = dataset.info.features.get(name).map(|f| f.component_names()).unwrap_or_default();
    names.get(k).map_or_else(|| format!("{name}[{k}]"), |joint| format!("{joint} of {name}"))
}

fn check_finite(
    dataset: &Dataset,
    name: &str,
    column: &Column,
    width: usize,
    at: &At,
    found: &mut Findings,
) -> bool {
    let bad = |i: &usize| column.number(*i).is_some_and(|x| !x.is_finite());
    let Some(first) = (0..column.len()).find(bad) else { return true };
    let count = (first..column.len()).filter(bad).count();
    let what = component(dataset, name, first % width);
    let message = format!("{what} is not a finite number; {count} values in all");
    found.error("not-finite", at.frame(first / width), message);
    false
}

fn parts_of_range(
    dataset: &Dataset,
    column: &Column,
    width: usize,
    own: &FeatureStats,
    options: &CheckOptions,
) -> Motion {
    // The statistics of the dataset may be the thing that is wrong: never below the episode's own.
    // A joint that hardly moves is measured by what it could move.
    let range = |k: usize| {
        let could =
            options.joint_limits.as_ref().and_then(|l| l.get(k)).map(|(low, high)| high - low);
        let could = could.filter(|c| c.is_finite()).unwrap_or(0.0);
        let mine = (own.max[k] - own.min[k]).max(LEAST_RANGE * could);
        let all = dataset.stats.get(STATE).filter(|s| s.has_width(width));
        all.map_or(mine, |s| s.max[k] - s.min[k]).max(mine).max(1e-9)
    };
    let ranges: Vec<f64> = (0..width).map(range).collect();
    let values =
        (0..column.len()).map(|i| column.number(i).unwrap_or(0.0) / ranges[i % width]).collect();
    Motion { width, values }
}

/// A step far beyond what the joint does around it: a lost packet, a wrap-around, a glued take.
fn check_jumps(
    dataset: &Dataset,
    motion: &Motion,
    options: &CheckOptions,
    at: &At,
    found: &mut Findings,
) {
    let frames = motion.values.len() / motion.width.max(1);
    let reach = (dataset.info.fps as usize / 2).max(4);
    let names = dataset.info.features.get(STATE).map(|f| f.component_names()).unwrap_or_default();
    for k in 0..motion.width {
        // Velocities jump whenever something is touched.
        if names.get(k).is_some_and(|name| name.ends_with(".vel")) {
            continue;
        }
        let value = |f: usize| motion.values[f * motion.width + k];
        let steps: Vec<f64> = (1..frames).map(|f| (value(f) - value(f - 1)).abs()).collect();
        let jump = steps.iter().enumerate().find(|(i, step)| {
            if **step < options.jump_part_of_range {
                return false;
            }
            let window = i.saturating_sub(reach)..(i + reach + 1).min(steps.len());
            let mut usual: Vec<f64> =
                window.filter(|j| j.abs_diff(*i) > 1).map(|j| steps[j]).collect();
            usual.sort_by(f64::total_cmp);
            !usual.is_empty() && **step > options.jump_factor * quantile_of_sorted(&usual, 0.95)
        });
        if let Some((i, step)) = jump {
            let what = component(dataset, STATE, k);
            let message = format!("{what} jumps by {:.0} % of its range in one step", 100.0 * step);
            found.warning("jump", at.frame(i + 1), message);
        }
    }
}

fn check_limits(
    dataset: &Dataset,
    column: &Column,
    width: usize,
    options: &CheckOptions,
    at: &At,
    found: &mut Findings,
) {
    let Some(limits) = &options.joint_limits else { return };
    for (k, (low, high)) in limits.iter().enumerate().take(width) {
        let margin = BEYOND_LIMIT * (high - low);
        let hit = |f: &usize| {
            column.number(f * width + k).is_some_and(|x| x < low - margin || x > high + margin)
        };
        let frames = column.len() / width;
        let Some(first) = (0..frames).find(hit) else { continue };
        let count = (first..frames).filter(hit).count();
        let what = component(dataset, STATE, k);
        let message = format!("{what} is beyond a limit ({low:.3} to {high:.3}) in {count} frames");
        found.warning("limit", at.frame(first), message);
    }
}

/// A row that repeats the one before it, bit for bit, in the middle of a motion.
fn check_duplicates(
    dataset: &Dataset,
    columns: &[(String, Column)],
    frames: usize,
    at: &At,
    found: &mut Findings,
) {
    let own: Vec<(&Column, usize)> = columns
        .iter()
        .filter(|(name, _)| !DEFAULT_FEATURES.iter().any(|(d, _)| d == name))
        .filter(|(_, c)| matches!(c, Column::F32(_) | Column::F64(_)))
        .filter_map(|(name, c)| Some((c, dataset.info.features.get(name)?.width().ok()?)))
        .collect();
    if own.is_empty() {
        return;
    }
    let same = |f: usize| {
        own.iter().all(|(c, w)| (0..*w).all(|k| c.number(f * w + k) == c.number((f - 1) * w + k)))
    };
    let repeats: Vec<bool> = (1..frames).map(same).collect();
    let alone: Vec<usize> = (1..repeats.len().saturating_sub(1))
        .filter(|i| repeats[*i] && !repeats[i - 1] && !repeats[i + 1])
        .collect();
    if let Some(first) = alone.first() {
        let message = format!(
            "this row repeats the one before it while the robot moves; {} such rows",
            alone.len()
        );
        found.warning("duplicate-row", at.frame(first + 1), message);
    }
}
