//! Looking for what is wrong with a dataset, without changing it.

use std::collections::{BTreeMap, BTreeSet};

use crate::check_rows;
use crate::check_videos;
use crate::dataset::Dataset;
use crate::files;
use crate::findings::{At, Checked, Finding, Findings};
use crate::stats::{self, FeatureStats, Stats};

/// What to look for, and from when on it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckOptions {
    /// Lowest and highest value of each joint, in the order and unit of `observation.state`.
    pub joint_limits: Option<Vec<(f64, f64)>>,
    /// Decode the videos: finds frozen pictures for sure, and compares camera statistics.
    pub deep: bool,
    /// Pictures that do not change for this long while joints move are frozen, seconds.
    pub frozen_s: f64,
    /// A joint step this many times the usual one around it (the 95 % largest within half a
    /// second) is a jump…
    pub jump_factor: f64,
    /// …when it is also more than this part of the joint's range in the dataset.
    pub jump_part_of_range: f64,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            joint_limits: None,
            deep: false,
            frozen_s: 0.5,
            jump_factor: 8.0,
            jump_part_of_range: 0.05,
        }
    }
}

/// Checks everything and gives what it found, worst first. `progress` gets steps done and in all.
#[must_use]
pub fn check(
    dataset: &Dataset,
    options: &CheckOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Vec<Finding> {
    check_all(dataset, options, progress).findings
}

/// The same, with what could not be looked at.
#[must_use]
pub fn check_all(
    dataset: &Dataset,
    options: &CheckOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Checked {
    let mut found = Findings::default();
    let videos = check_videos::group(dataset);
    let total = dataset.episodes.len() + videos.len();
    let mut done = 0;
    let mut step = || {
        done += 1;
        progress(done, total);
    };
    check_totals(dataset, &mut found);
    check_tasks(dataset, &mut found);
    check_files(dataset, &mut found);
    let mut measured: Vec<Stats> = Vec::new();
    let mut motion = BTreeMap::new();
    for meta in &dataset.episodes {
        if let Some(rows) = check_rows::check(dataset, meta, options, &mut found) {
            motion.insert(meta.index, rows.state);
            measured.push(rows.stats);
        }
        step();
    }
    if measured.len() == dataset.episodes.len() {
        check_stats(dataset, &measured, &mut found);
    }
    for video in &videos {
        check_videos::check(dataset, video, options, &motion, &mut found);
        step();
    }
    found.0.findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    found.0
}

fn check_totals(dataset: &Dataset, found: &mut Findings) {
    let info = &dataset.info;
    let at = || At::file("meta/info.json");
    let frames: usize = dataset.episodes.iter().map(|e| e.length).sum();
    if frames != info.total_frames {
        let said = info.total_frames;
        found.error("totals", at(), format!("total_frames is {said}, episodes have {frames}"));
    }
    if dataset.tasks.len() != info.total_tasks {
        let (said, is) = (info.total_tasks, dataset.tasks.len());
        found.error("totals", at(), format!("total_tasks is {said}, tasks.parquet has {is}"));
    }
    let train = format!("0:{}", info.total_episodes);
    if info.splits.get("train").and_then(|v| v.as_str()) != Some(&train) {
        found.warning("totals", at(), format!("splits.train is not {train:?}"));
    }
    let mut next = 0;
    for meta in &dataset.episodes {
        if meta.from_index != next || meta.length == 0 {
            let at = At { episode: Some(meta.index), ..At::default() };
            let (a, b) = (meta.from_index, meta.to_index);
            let message = format!("its frames are {a}..{b}, they should begin at {next}");
            found.error("episode-range", at, message);
        }
        next = meta.to_index;
    }
}

fn check_tasks(dataset: &Dataset, found: &mut Findings) {
    let at = || At::file("meta/tasks.parquet");
    for (index, text) in dataset.tasks.iter().enumerate() {
        if dataset.tasks[..index].contains(text) {
            found.error("task-text", at(), format!("task {index} {text:?} is there twice"));
        }
        if !dataset.episodes.iter().any(|e| e.tasks.contains(text)) {
            found.warning("task-unused", at(), format!("task {index} {text:?} is never used"));
        }
    }
    for meta in &dataset.episodes {
        let at = At { episode: Some(meta.index), ..At::default() };
        match meta.tasks.iter().find(|text| !dataset.tasks.contains(text)) {
            Some(text) => {
                found.error("task-text", at, format!("its task {text:?} is not in tasks.parquet"));
            }
            None if meta.tasks.is_empty() => {
                found.error("task-text", at, "it has no task".into());
            }
            None => {}
        }
    }
}

/// Files nobody refers to. lerobot reads every data file there is, so those do harm.
fn check_files(dataset: &Dataset, found: &mut Findings) {
    let info = &dataset.info;
    let data = dataset.episodes.iter().filter_map(|e| info.data_file(e.data).ok());
    let videos = dataset.episodes.iter().flat_map(|e| {
        e.videos.iter().filter_map(|(key, span)| info.video_file(key, span.file).ok())
    });
    let used: BTreeSet<String> = data.chain(videos).collect();
    for below in ["data", "videos"] {
        let names = match files::list(&dataset.root, below) {
            Ok(names) => names,
            Err(e) => {
                found.error("unreadable", At::file(below), e.to_string());
                continue;
            }
        };
        for name in names.into_iter().filter(|name| !used.contains(name)) {
            let message = "no episode refers to this file".to_string();
            if name.ends_with(".parquet") {
                found.error("orphan-file", At::file(&name), message);
            } else {
                found.warning("orphan-file", At::file(&name), message);
            }
        }
    }
}

fn check_stats(dataset: &Dataset, measured: &[Stats], found: &mut Findings) {
    let all = stats::over_episodes(measured.iter());
    for (name, feature) in dataset.info.features.iter() {
        let at = || At::file("meta/stats.json");
        let Some(said) = dataset.stats.get(name) else {
            if feature.dtype != "string" {
                found.error("stats", at(), format!("there is no entry for {name}"));
            }
            continue;
        };
        if let Some(reason) = all.get(name).and_then(|m| difference(said, m)) {
            report_stats(found, name, at(), reason);
        }
    }
}

/// Statistics of counters are stale in what lerobot's own tools write, and nobody uses them.
pub(crate) fn report_stats(found: &mut Findings, name: &str, at: At, reason: String) {
    let message = format!("statistics of {name} do not match the frames: {reason}");
    if crate::info::DEFAULT_FEATURES.iter().any(|(n, _)| *n == name) {
        found.warning("stats", at, message);
    } else {
        found.error("stats", at, message);
    }
}

/// The first list that differs by more than single precision explains.
pub(crate) fn difference(said: &FeatureStats, measured: &FeatureStats) -> Option<String> {
    const TOLERANCE: f64 = 1e-3;
    if said.count != measured.count {
        return Some(format!("count is {}, there are {}", said.count, measured.count));
    }
    for name in ["min", "max", "mean", "std"] {
        let (a, b) = (said.list(name)?, measured.list(name)?);
        if a.len() != b.len() {
            return Some(format!("{name} has {} values, not {}", a.len(), b.len()));
        }
        for k in 0..a.len() {
            let scale = measured.min[k].abs().max(measured.max[k].abs()).max(1e-3);
            // Not the other way round: NaN must count as different.
            let near = (a[k] - b[k]).abs() <= TOLERANCE * scale;
            if !near {
                return Some(format!("{name}[{k}] is {}, it should be {}", a[k], b[k]));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Column;
    use crate::episodes::{self, EpisodeMeta};
    use crate::{data, synthetic, table, tasks};

    fn codes(dataset: &Dataset) -> Vec<&'static str> {
        let options = CheckOptions::default();
        check(dataset, &options, &mut |_, _| {}).iter().map(|f| f.code).collect()
    }

    /// The dataset with one column of episode 1 changed on disk.
    fn with_column(name: &str, change: impl Fn(&mut Column)) -> Vec<Finding> {
        let dir = tempfile::tempdir().unwrap();
        let set = synthetic::dataset(dir.path());
        let path = set.root.join("data/chunk-000/file-001.parquet");
        let features = &set.info.features;
        let mut columns = data::read(&path, features, None).unwrap().columns;
        columns.iter_mut().filter(|(n, _)| n == name).for_each(|(_, c)| change(c));
        let schema = data::schema(features).unwrap();
        let mut writer = table::Writer::create(&path, schema.clone()).unwrap();
        let refs: Vec<&Column> = columns.iter().map(|(_, c)| c).collect();
        data::write_episode(&mut writer, &schema, features, &refs, 26).unwrap();
        writer.finish().unwrap();
        let found = check(&set, &CheckOptions::default(), &mut |_, _| {});
        assert!(found.iter().all(|f| f.episode == Some(1) || f.code == "stats"), "{found:?}");
        found
    }

    fn first(found: &[Finding]) -> (&'static str, Option<usize>) {
        (found[0].code, found[0].frame)
    }

    #[test]
    fn numbers_that_are_none() {
        let found = with_column("action", |c| {
            let Column::F32(v) = c else { panic!() };
            v[3 * 9 + 2] = f32::NAN;
            v[3 * 11] = f32::INFINITY;
        });
        assert_eq!(first(&found), ("not-finite", Some(9)));
        assert!(found[0].message.contains("gripper.pos of action is not a finite number; 2"));
    }

    #[test]
    fn timestamps_off_the_grid() {
        let found = with_column("timestamp", |c| {
            let Column::F32(v) = c else { panic!() };
            v[12..].iter_mut().for_each(|t| *t += 0.033);
        });
        assert_eq!(first(&found), ("timestamp", Some(12)));
        let found = with_column("timestamp", |c| {
            let Column::F32(v) = c else { panic!() };
            v[4] = f32::NAN;
        });
        assert!(found.iter().any(|f| (f.code, f.frame) == ("timestamp", Some(4))), "{found:?}");
    }

    #[test]
    fn counters_out_of_step() {
        let set = |at: usize, to: i64| {
            move |c: &mut Column| {
                let Column::I64(v) = c else { panic!() };
                v[at] = to;
            }
        };
        assert_eq!(first(&with_column("frame_index", set(5, 4))), ("frame-index", Some(5)));
        assert_eq!(first(&with_column("index", set(0, 0))), ("index", Some(0)));
        assert_eq!(first(&with_column("episode_index", set(25, 2))), ("episode-index", Some(25)));
        assert_eq!(first(&with_column("task_index", set(3, 7))), ("task-index", Some(3)));
        assert_eq!(first(&with_column("task_index", set(3, 0))), ("task-index", Some(3)));
    }

    #[test]
    fn meta_rows_that_lie() {
        let dir = tempfile::tempdir().unwrap();
        let set = synthetic::dataset(dir.path());
        let key = synthetic::CAMERAS[0];
        let changed = |change: &dyn Fn(&mut EpisodeMeta)| {
            let mut rows = set.episodes.clone();
            change(&mut rows[1]);
            let path = set.root.join(episodes::file_name(rows[0].meta));
            episodes::write(&path, &rows, &set.info.features, None).unwrap();
            codes(&Dataset::open(&set.root).unwrap())
        };
        assert_eq!(changed(&|_| {}), Vec::<&str>::new());
        let span = |e: &mut EpisodeMeta, shift: f64| {
            let span = e.videos.get_mut(key).unwrap();
            span.to_s += shift;
        };
        assert_eq!(changed(&|e| span(e, 0.05)), ["video-span"]);
        assert_eq!(changed(&|e| e.tasks = vec!["unheard of".into()])[0], "task-text");
        assert!(changed(&|e| e.tasks.clear()).contains(&"task-text"));
        assert_eq!(
            changed(&|e| e.stats.get_mut("action").unwrap().max[0] += 1.0),
            ["stats"],
            "the sum in stats.json is still right"
        );
        let shifted = changed(&|e| (e.from_index, e.to_index) = (e.from_index + 1, e.to_index + 1));
        assert!(shifted.contains(&"episode-range"), "{shifted:?}");
    }

    #[test]
    fn tasks_twice_and_unused() {
        let dir = tempfile::tempdir().unwrap();
        let set = synthetic::dataset(dir.path());
        let path = set.root.join("meta/tasks.parquet");
        let texts = ["pick the orange", "go home", "go home", "never"].map(String::from);
        tasks::write(&path, &texts).unwrap();
        let found = codes(&Dataset::open(&set.root).unwrap());
        assert_eq!(found, ["totals", "task-text", "task-unused"]);
    }
}
