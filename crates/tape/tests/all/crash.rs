//! What a recorder that was cut off leaves, at every place where it can be: saved once, or put
//! away, never lost and never doubled.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use citrange_core::rng::Rng;
use citrange_core::tape::FrameRecord;
use citrange_core::{Observation, Rig as _, Tape as _, Want};
use citrange_lerobot::Edit;
use citrange_tape::{Dataset, Recorder, TapeError};

use crate::common::{self, Toy, header, open, record, recorded, settings, toy};

/// Records frames by hand and leaves the episode without an end.
fn cut_off(dataset: &Dataset, frames: u64) -> PathBuf {
    cut_off_rig(dataset, frames, toy())
}

fn cut_off_rig(dataset: &Dataset, frames: u64, mut rig: Toy) -> PathBuf {
    let want = if rig.spec.cameras.is_empty() { Want::Joints } else { Want::Images };
    let header = header(&rig.spec, "wave");
    let folder = dataset.recording_folder(&header.uid);
    let mut recorder = Recorder::begin(&folder, header, &[7; 1000], &settings()).unwrap();
    let mut seen = Observation::default();
    for tick in 0..frames * 4 {
        if tick % 4 == 0 {
            rig.observe(want, &mut seen).unwrap();
            let snapshot = rig.snapshot().unwrap();
            let index = tick / 4;
            let frame =
                FrameRecord { index, wall_ns: tick, seen: &seen, snapshot: snapshot.as_ref() };
            recorder.frame(&frame).unwrap();
        }
        common::tick(&mut recorder, &mut rig, tick);
    }
    folder
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_tree(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

fn files(root: &Path, below: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().into_string().unwrap());
        match entry.file_type().unwrap().is_dir() {
            true => files(root, &format!("{name}/"), found),
            false => found.push(name),
        }
    }
}

#[test]
fn a_recorder_given_up_has_written_everything_it_was_told() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let dataset = open(&root);
    cut_off(&dataset, 25);
    drop(dataset);
    let repaired = Dataset::repair(&root).unwrap();
    assert_eq!((repaired[0].frames, repaired[0].episode), (25, Some(0)));
    let dataset = Dataset::open(&root).unwrap();
    let (tape, _) = dataset.tape(0).unwrap().unwrap();
    assert_eq!((tape.len(), tape.outcome().reason.as_str()), (25, "interrupted"));
    assert!(tape.damage.is_empty());
    // Without cameras nothing but the tape is waited for.
    let mut blind = toy();
    blind.spec.cameras.clear();
    let (root, none) = (folder.path().join("blind"), BTreeSet::new());
    let (dataset, _) =
        Dataset::record(&root, &blind.spec, citrange_tape::Unit::Degrees, &none).unwrap();
    cut_off_rig(&dataset, 4000, blind);
    drop(dataset);
    assert_eq!(Dataset::repair(&root).unwrap()[0].frames, 4000);
}

#[test]
fn cut_off_before_the_first_frame_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    record(&mut dataset, 3);
    let place = cut_off(&dataset, 0);
    drop(dataset);
    let tape = std::fs::read(place.join("tape.log")).unwrap();
    let ways: [(&str, Option<usize>, bool); 6] = [
        ("no tape", None, false),
        ("an empty tape", Some(0), false),
        ("a torn magic", Some(7), false),
        ("a torn header", Some(40), false),
        ("no cameras", Some(tape.len()), false),
        ("empty cameras", Some(tape.len()), true),
    ];
    for (name, length, cameras) in ways {
        let copy = folder.path().join(name);
        copy_tree(&root, &copy);
        let place = copy.join("citrange/recording").join(place.file_name().unwrap());
        std::fs::remove_dir_all(&place).unwrap();
        std::fs::create_dir(&place).unwrap();
        if let Some(length) = length {
            std::fs::write(place.join("tape.log"), &tape[..length]).unwrap();
        }
        if cameras {
            std::fs::write(place.join("front.camera"), []).unwrap();
            std::fs::write(place.join("wrist.camera"), b"CITR").unwrap();
        }
        let repaired = Dataset::repair(&copy).unwrap();
        assert_eq!((repaired.len(), repaired[0].episode), (1, None), "{name}");
        assert_eq!(repaired[0].problem, None, "{name}");
        assert!(!place.exists(), "{name}");
        assert_eq!(open(&copy).len(), 1, "{name}");
    }
}

/// Ends of records: mark, length, kind, payload, checksum.
fn record_ends(bytes: &[u8]) -> Vec<(u8, usize)> {
    let (mut at, mut ends) = (12, Vec::new());
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        let kind = bytes[at + 8];
        at += 9 + length + 4;
        ends.push((kind, at));
    }
    ends
}

#[test]
fn damage_costs_what_lies_behind_it_and_nothing_is_thrown_away() {
    const FRAMES: usize = 12;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    record(&mut dataset, 3);
    let place = cut_off(&dataset, FRAMES as u64);
    drop(dataset);
    let uid = place.file_name().unwrap().to_owned();
    let mut rng = Rng::new(5);
    let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
    let mut seen = BTreeSet::new();
    for variant in 0..100 {
        let copy = folder.path().join("copy");
        let _first_time = std::fs::remove_dir_all(&copy);
        copy_tree(&root, &copy);
        let place = copy.join("citrange/recording").join(&uid);
        let name = ["tape.log", "wrist.camera", "front.camera"][variant % 3];
        let mut bytes = std::fs::read(place.join(name)).unwrap();
        let ends = record_ends(&bytes);
        assert_eq!(ends.last().unwrap().1, bytes.len());
        let at = 12 + below(bytes.len() - 12);
        let cut = below(2) == 0;
        match cut {
            true => bytes.truncate(at),
            false => bytes[at] ^= 1 << below(8),
        }
        std::fs::write(place.join(name), &bytes).unwrap();
        // A frame of the tape is whole with its fourth tick.
        let before = ends.iter().filter(|(_, end)| *end <= at);
        let expected = match name {
            "tape.log" => before.filter(|(kind, _)| *kind == 5).count() / 4,
            _ => before.filter(|(kind, _)| *kind == 21).count(),
        };
        let what = format!("variant {variant}: {name} at {at} of {}, cut {cut}", bytes.len());
        let repaired = Dataset::repair(&copy).unwrap();
        assert_eq!((repaired.len(), repaired[0].frames), (1, expected), "{what}");
        seen.insert(expected);
        let is_tail = cut || at >= ends[ends.len() - 2].1;
        assert_eq!(repaired[0].problem.is_none(), is_tail, "{what}: {repaired:?}");
        assert_eq!(copy.join("citrange/damaged").join(&uid).exists(), !is_tail, "{what}");
        let dataset = Dataset::open(&copy).unwrap();
        assert_eq!(dataset.len(), 1 + usize::from(expected > 0), "{what}");
        for episode in 0..dataset.len() {
            let (tape, shown) = dataset.tape(episode).unwrap().unwrap();
            assert!(tape.damage.is_empty() && shown.len() == tape.len(), "{what}");
        }
    }
    assert!(seen.len() > 8, "{seen:?}");
}

#[test]
fn every_flipped_bit_of_a_saved_tape_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    record(&mut dataset, 3);
    let path = root.join(format!("citrange/episodes/{}.tape", dataset.entry(0).unwrap().uid));
    let bytes = std::fs::read(&path).unwrap();
    let mut rng = Rng::new(6);
    for _ in 0..400 {
        let mut damaged = bytes.clone();
        let at = (rng.next_u64() % bytes.len() as u64) as usize;
        damaged[at] ^= 1 << (rng.next_u64() % 8);
        std::fs::write(&path, damaged).unwrap();
        let error = dataset.tape(0).unwrap_err();
        assert!(matches!(error, TapeError::Log { .. }), "byte {at}: {error}");
        assert!(error.to_string().contains(".tape"), "{error}");
    }
    assert_eq!(dataset.lerobot.read_episode(0).unwrap().length, 3);
}

#[test]
fn a_save_cut_off_between_its_renames_is_saved_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    record(&mut dataset, 3);
    let recording = recorded(&dataset, 6).finish().unwrap();
    let before = folder.path().join("before");
    copy_tree(&root, &before);
    dataset.save(recording).unwrap();
    drop(dataset);
    let mut names = Vec::new();
    files(&root, "", &mut names);
    names.retain(|n| !n.ends_with(".lock"));
    names.retain(|n| std::fs::read(before.join(n)).ok() != std::fs::read(root.join(n)).ok());
    // info.json counts the episodes: it comes last.
    names.sort_by_key(|n| n == "meta/info.json");
    assert!(names.len() >= 6, "{names:?}");
    for done in 0..=names.len() {
        let copy = folder.path().join(format!("copy{done}"));
        copy_tree(&before, &copy);
        let stage = copy.join("citrange/commit");
        std::fs::create_dir(&stage).unwrap();
        let mut moves = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let from = format!("{number:04}.part");
            let to = if number < done { copy.join(name) } else { stage.join(&from) };
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(root.join(name), to).unwrap();
            moves.push(serde_json::json!({ "from": from, "to": name }));
        }
        let intent = serde_json::json!({"format_version": 1, "tool_version": "0", "moves": moves});
        std::fs::write(stage.join("intent.json"), intent.to_string()).unwrap();
        let repaired = Dataset::repair(&copy).unwrap();
        assert_eq!((repaired[0].episode, repaired[0].frames), (Some(1), 6), "after {done}");
        let dataset = Dataset::open(&copy).unwrap();
        assert_eq!(dataset.len(), 2, "after {done} renames");
        assert!(dataset.tape(1).unwrap().is_some());
        assert_eq!(std::fs::read_dir(copy.join("citrange/recording")).unwrap().count(), 0);
    }
}

#[test]
fn a_damaged_dataset_does_not_cost_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    record(&mut dataset, 3);
    let place = cut_off(&dataset, 5);
    drop(dataset);
    for name in ["citrange/index.json", "meta/info.json", "meta/tasks.parquet"] {
        let whole = std::fs::read(root.join(name)).unwrap();
        std::fs::write(root.join(name), "{").unwrap();
        assert!(Dataset::repair(&root).is_err(), "{name}");
        assert!(place.exists(), "{name}");
        std::fs::write(root.join(name), whole).unwrap();
    }
    assert_eq!(Dataset::repair(&root).unwrap()[0].frames, 5);
}

#[test]
fn an_edit_waits_for_the_repair() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    record(&mut dataset, 3);
    record(&mut dataset, 4);
    cut_off(&dataset, 5);
    drop(dataset);
    let dataset = Dataset::open(&root).unwrap();
    let plan = dataset.plan(&Edit::Delete { episodes: vec![0] }).unwrap();
    let error = dataset.apply(&plan, &mut |_, _| {}).unwrap_err().to_string();
    assert!(error.contains("data repair"), "{error}");
    Dataset::repair(&root).unwrap();
    let dataset = Dataset::open(&root).unwrap();
    let plan = dataset.plan(&Edit::Delete { episodes: vec![0] }).unwrap();
    dataset.apply(&plan, &mut |_, _| {}).unwrap();
    assert_eq!(Dataset::open(&root).unwrap().len(), 2);
}

fn edit_index(root: &Path, edit: impl Fn(&mut Vec<serde_json::Value>)) {
    let path = root.join("citrange/index.json");
    let mut index: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    edit(index["episodes"].as_array_mut().unwrap());
    std::fs::write(path, index.to_string()).unwrap();
}

#[test]
fn episodes_that_others_added_have_no_tape_and_keep_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    record(&mut dataset, 3);
    record(&mut dataset, 4);
    drop(dataset);
    // Another program added the second one: our index does not know it.
    edit_index(&root, |episodes| drop(episodes.pop()));
    let mut dataset = open(&root);
    assert_eq!(record(&mut dataset, 5), 2);
    let known = [0, 1, 2].map(|episode| dataset.tape(episode).unwrap().map(|(_, r)| r.len()));
    assert_eq!(known, [Some(3), None, Some(5)]);
}

#[test]
fn a_tape_of_another_episode_is_not_taken_for_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    record(&mut dataset, 5);
    cut_off(&dataset, 5);
    drop(dataset);
    Dataset::repair(&root).unwrap();
    // Another program changed the order of episodes of the same length.
    edit_index(&root, |episodes| episodes.reverse());
    let dataset = Dataset::open(&root).unwrap();
    for episode in [0, 1] {
        let error = dataset.tape(episode).unwrap_err().to_string();
        assert!(error.contains("disagree"), "{error}");
    }
    // The rows say which tape is whose.
    let rebuilt = Dataset::repair_index(&root).unwrap().unwrap();
    assert_eq!((rebuilt.with_tape, rebuilt.kept, rebuilt.problems.len()), (2, 2, 0));
    assert!(Dataset::repair_index(&root).unwrap().is_none());
    let dataset = Dataset::open(&root).unwrap();
    assert!(dataset.tape(0).unwrap().is_some() && dataset.tape(1).unwrap().is_some());
}

#[test]
fn what_is_made_again_is_thrown_away_and_what_happens_once_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let dataset = open(&root);
    let once = cut_off(&dataset, 5);
    let mut rig = toy();
    let header = header(&rig.spec, "wave").repeatable_as("ep-1-000000-0123".into());
    let again = dataset.recording_folder(&header.uid);
    let mut recorder = Recorder::begin(&again, header, &[7; 1000], &settings()).unwrap();
    let mut seen = Observation::default();
    rig.observe(Want::Images, &mut seen).unwrap();
    let frame = FrameRecord { index: 0, wall_ns: 0, seen: &seen, snapshot: None };
    recorder.frame(&frame).unwrap();
    drop((recorder, dataset));
    let mut repaired = Dataset::repair(&root).unwrap();
    repaired.sort_by_key(|one| one.discarded);
    let told: Vec<_> = repaired.iter().map(|r| (r.discarded, r.episode, r.frames)).collect();
    assert_eq!(told, [(false, Some(0), 5), (true, None, 0)]);
    assert!(!once.exists() && !again.exists() && !root.join("citrange/damaged").exists());
    assert_eq!(Dataset::open(&root).unwrap().len(), 1);
}
