//! Every kind of damage is found, on copies broken on purpose.

use std::path::Path;
use std::sync::OnceLock;

use citrange_lerobot::{
    CheckOptions, Column, Dataset, Finding, ImageStats, NewEpisode, NewVideo, Severity, check,
};

use crate::synthetic::{self, CAMERAS, FPS, SIZE};

fn codes(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|f| f.code).collect()
}

fn quick(root: &Path) -> Vec<Finding> {
    check(&Dataset::open(root).unwrap(), &CheckOptions::default(), &mut |_, _| {})
}

/// The sound dataset, made once.
fn original() -> &'static Path {
    static SET: OnceLock<tempfile::TempDir> = OnceLock::new();
    let dir = SET.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        synthetic::dataset(dir.path());
        dir
    });
    Box::leak(Box::new(dir.path().join("set")))
}

fn broken(change: impl FnOnce(&Path)) -> Vec<Finding> {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("copy");
    synthetic::copy(original(), &root);
    change(&root);
    quick(&root)
}

fn edit_info(root: &Path, from: &str, to: &str) {
    let path = root.join("meta/info.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_sound_dataset_has_no_findings() {
    let set = Dataset::open(original()).unwrap();
    for deep in [false, true] {
        let options = CheckOptions { deep, ..CheckOptions::default() };
        let mut steps = 0;
        assert_eq!(
            check(&set, &options, &mut |_, total| {
                steps += 1;
                assert_eq!(total, 9)
            }),
            []
        );
        assert_eq!(steps, 9);
    }
}

#[test]
fn totals_and_paths() {
    let found = broken(|root| edit_info(root, "\"total_frames\": 63", "\"total_frames\": 64"));
    assert_eq!(codes(&found), ["totals"]);
    let found = broken(|root| edit_info(root, "\"total_tasks\": 2", "\"total_tasks\": 3"));
    assert_eq!(codes(&found), ["totals"]);
    let found = broken(|root| edit_info(root, "\"0:3\"", "\"0:2\""));
    assert_eq!((codes(&found), found[0].severity), (vec!["totals"], Severity::Warning));
}

#[test]
fn one_episode_less_in_the_totals_leaves_orphans() {
    let found = broken(|root| {
        edit_info(root, "\"total_episodes\": 3", "\"total_episodes\": 2");
    });
    let orphans = found.iter().filter(|f| f.code == "orphan-file").count();
    assert_eq!(orphans, 3, "{found:?}");
}

#[test]
fn videos_missing_short_swapped_or_damaged() {
    let name = |key: &str, n: usize| format!("videos/{key}/chunk-000/file-00{n}.mp4");
    let found = broken(|root| std::fs::remove_file(root.join(name(CAMERAS[0], 1))).unwrap());
    assert_eq!(codes(&found), ["video-missing"]);
    assert_eq!((found[0].episode, found[0].file.clone()), (Some(1), Some(name(CAMERAS[0], 1))));
    let found = broken(|root| {
        std::fs::copy(root.join(name(CAMERAS[0], 0)), root.join(name(CAMERAS[0], 1))).unwrap();
    });
    assert_eq!(codes(&found), ["video-short"]);
    let found = broken(|root| {
        std::fs::copy(root.join(name(CAMERAS[0], 1)), root.join(name(CAMERAS[0], 0))).unwrap();
    });
    assert_eq!(codes(&found), ["video-long"]);
    let found = broken(|root| std::fs::write(root.join(name(CAMERAS[1], 2)), "no film").unwrap());
    assert_eq!(codes(&found), ["unreadable"]);
    let found = broken(|root| std::fs::write(root.join("videos/stray.mp4"), "x").unwrap());
    assert_eq!(codes(&found), ["orphan-file"]);
}

#[test]
fn wrong_rate_and_size() {
    let found = broken(|root| edit_info(root, "\"fps\": 30", "\"fps\": 25"));
    assert!(codes(&found).contains(&"video-rate"), "{found:?}");
    assert!(codes(&found).contains(&"timestamp"), "{found:?}");
    assert!(codes(&found).contains(&"video-span"), "{found:?}");
    let found = broken(|root| {
        edit_info(root, "32,\n                48,", "48,\n                32,");
    });
    assert_eq!(codes(&found), ["video-size"; 3]);
    let found =
        broken(|root| edit_info(root, "\"video.codec\": \"h264\"", "\"video.codec\": \"av1\""));
    assert_eq!(codes(&found), ["video-codec"; 3]);
}

#[test]
fn data_missing_damaged_or_of_another_episode() {
    let name = |n: usize| format!("data/chunk-000/file-00{n}.parquet");
    let found = broken(|root| std::fs::remove_file(root.join(name(2))).unwrap());
    assert_eq!(codes(&found), ["data-missing"]);
    let found = broken(|root| {
        let bytes = std::fs::read(root.join(name(2))).unwrap();
        std::fs::write(root.join(name(2)), &bytes[..bytes.len() - 9]).unwrap();
    });
    assert_eq!(codes(&found), ["unreadable"]);
    // Episode 1 (26 rows) in the place of episode 0 (20 rows).
    let found = broken(|root| {
        std::fs::copy(root.join(name(1)), root.join(name(0))).unwrap();
    });
    for code in ["orphan-rows", "index", "episode-index", "task-index", "stats"] {
        assert!(codes(&found).contains(&code), "{code} in {found:?}");
    }
    let found = broken(|root| {
        std::fs::copy(root.join(name(0)), root.join(name(1))).unwrap();
    });
    assert!(codes(&found).contains(&"rows-missing"), "{found:?}");
    let found = broken(|root| {
        std::fs::copy(root.join(name(0)), root.join("data/chunk-000/file-009.parquet")).unwrap();
    });
    assert_eq!((codes(&found), found[0].severity), (vec!["orphan-file"], Severity::Error));
}

#[test]
fn statistics_that_lie() {
    let found = broken(|root| {
        let path = root.join("meta/stats.json");
        let mut value: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        value["action"]["mean"][1] = 5.0.into();
        value.as_object_mut().unwrap().remove(CAMERAS[0]);
        std::fs::write(path, value.to_string()).unwrap();
    });
    assert_eq!(codes(&found), ["stats", "stats"]);
    assert!(found.iter().any(|f| f.message.contains("mean[1] is 5")), "{found:?}");
}

/// A dataset of one episode with the given states and pictures.
fn one(
    dir: &Path,
    frames: usize,
    state: impl Fn(usize) -> [f32; 3],
    picture: impl Fn(usize) -> Vec<u8>,
) -> Dataset {
    let mut set = Dataset::create(dir.join("one"), synthetic::info()).unwrap();
    let column = || Column::F32((0..frames).flat_map(&state).collect());
    let videos = CAMERAS.iter().map(|key| {
        let path = dir.join(format!("{key}.mp4"));
        let stats: ImageStats = synthetic::film(&path, frames, 5, &picture);
        NewVideo { key: (*key).into(), path, stats }
    });
    let episode = NewEpisode {
        task: "t".into(),
        length: frames,
        columns: vec![("observation.state".into(), column()), ("action".into(), column())],
        videos: videos.collect(),
        images: Vec::new(),
        ..NewEpisode::default()
    };
    set.append(episode).unwrap();
    set
}

#[test]
fn frozen_pictures() {
    let still_from = |frame: usize, from: usize| synthetic::picture(0, 0, frame.min(from));
    for deep in [false, true] {
        let options = CheckOptions { deep, ..CheckOptions::default() };
        let dir = tempfile::tempdir().unwrap();
        let set = one(dir.path(), 40, |f| synthetic::state(0, f), |f| still_from(f, 12));
        let found = check(&set, &options, &mut |_, _| {});
        assert_eq!(codes(&found), ["frozen"; 2], "deep {deep}: {found:?}");
        assert!(found[0].frame.unwrap().abs_diff(12) <= 1, "{found:?}");
        // Standing still is fine when the robot stands still, and for a moment.
        let dir = tempfile::tempdir().unwrap();
        let set = one(dir.path(), 40, |f| synthetic::state(0, f.min(12)), |f| still_from(f, 12));
        assert_eq!(check(&set, &options, &mut |_, _| {}), [], "deep {deep}");
        let dir = tempfile::tempdir().unwrap();
        let set = one(dir.path(), 40, |f| synthetic::state(0, f), |f| still_from(f, 28));
        assert_eq!(check(&set, &options, &mut |_, _| {}), [], "deep {deep}");
    }
}

#[test]
fn jumps_duplicates_and_limits() {
    let moving = |f: usize| synthetic::picture(0, 0, f);
    let frames = 2 * FPS as usize;
    let dir = tempfile::tempdir().unwrap();
    let jump = |f: usize| {
        let mut s = synthetic::state(0, f);
        s[1] += if f >= 31 { 0.9 } else { 0.0 };
        s
    };
    let found = quick(one(dir.path(), frames, jump, moving).root());
    assert_eq!(codes(&found), ["jump"]);
    assert_eq!(found[0].frame, Some(31));
    assert!(found[0].message.contains("lift.pos"), "{found:?}");
    // A quick but real motion out of rest is no jump.
    let dir = tempfile::tempdir().unwrap();
    let quick_motion = |f: usize| {
        let t = (f as f32 - 30.0).clamp(0.0, 6.0) / 6.0;
        [t * t * (3.0 - 2.0 * t), 0.001 * f as f32, 0.0]
    };
    assert_eq!(quick(one(dir.path(), frames, quick_motion, moving).root()), []);
    let dir = tempfile::tempdir().unwrap();
    let twice = |f: usize| synthetic::state(0, if f == 20 { 19 } else { f });
    let found = quick(one(dir.path(), frames, twice, moving).root());
    assert_eq!((codes(&found), found[0].frame), (vec!["duplicate-row"], Some(20)));
    let dir = tempfile::tempdir().unwrap();
    let set = one(dir.path(), frames, |f| synthetic::state(0, f), moving);
    let limits = vec![(-0.9, 2.0), (-2.0, 2.0), (-2.0, 2.0)];
    let options = CheckOptions { joint_limits: Some(limits), ..CheckOptions::default() };
    let found = check(&set, &options, &mut |_, _| {});
    assert_eq!(codes(&found), ["limit"]);
    assert!(found[0].message.contains("pan.pos"), "{found:?}");
    // To come to a limit is fine, also a little into it.
    let lowest = (0..frames).map(|f| f64::from(synthetic::state(0, f)[0])).fold(0.0, f64::min);
    let limits = vec![(lowest + 0.01, 8.0), (-2.0, 2.0), (-2.0, 2.0)];
    let options = CheckOptions { joint_limits: Some(limits), ..CheckOptions::default() };
    assert_eq!(check(&set, &options, &mut |_, _| {}), []);
}

#[test]
fn camera_statistics_are_compared_when_decoding() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = dir.path().join("scratch");
    let mut set = Dataset::create(dir.path().join("s"), synthetic::info()).unwrap();
    let mut episode = synthetic::episode(&scratch, 0, 20);
    let mut black = ImageStats::new();
    black.add_rgb(&vec![0; SIZE.0 * SIZE.1 * 3], SIZE.0, SIZE.1);
    episode.videos[0].stats = black;
    set.append(episode).unwrap();
    assert_eq!(quick(set.root()), []);
    let options = CheckOptions { deep: true, ..CheckOptions::default() };
    let found = check(&set, &options, &mut |_, _| {});
    assert_eq!(codes(&found), ["stats"]);
    assert!(found[0].message.contains(CAMERAS[0]), "{found:?}");
}
