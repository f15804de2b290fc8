//! `data check` tells what is wrong, `list` and `replay` say the same, and what nobody decoded is
//! not called fine.

use std::path::{Path, PathBuf};

use citrange_video::mp4::Movie;
use serde_json::{Value, json};

use crate::common::{citrange, fails, json as said_json, ok, small_set, stderr, temp};

fn check(folder: &Path, words: &[&str]) -> (Option<i32>, Value, String) {
    let args: Vec<&str> = ["data", "check", "set", "--json"].iter().chain(words).copied().collect();
    let output = citrange(folder, &args, &[]);
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code(), report, stderr(&output))
}

fn codes(report: &Value, episode: usize) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap().iter();
    let here = findings.filter(|f| f["episode"] == episode);
    here.map(|f| f["code"].as_str().unwrap()).collect()
}

fn exact(folder: &Path) -> Vec<bool> {
    let list = said_json(&ok(folder, "data list set --json"));
    let episodes = list["episodes"].as_array().unwrap();
    episodes.iter().map(|e| e["exact"].as_bool().unwrap()).collect()
}

fn sorted(folder: PathBuf) -> Vec<PathBuf> {
    let mut names: Vec<_> = folder.read_dir().unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    names
}

fn state(folder: &Path, episode: usize, feature: &str) -> Vec<f32> {
    let set = citrange_lerobot::Dataset::open(folder.join("set")).unwrap();
    let rows = set.read_episode(episode).unwrap();
    rows.column(feature).unwrap().floats().unwrap().to_vec()
}

/// Flips the lowest bit of one number of a feature, in the file.
fn flip_one_bit(folder: &Path, episode: usize, feature: &str) {
    let path = folder.join(format!("set/data/chunk-000/file-{episode:03}.parquet"));
    let whole = std::fs::read(&path).unwrap();
    let before = state(folder, episode, feature);
    for value in &before {
        let bytes = value.to_le_bytes();
        let mut places = whole.windows(4).enumerate().filter(|(_, w)| **w == bytes);
        let (Some((at, _)), None) = (places.next(), places.next()) else { continue };
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        std::fs::write(&path, flipped).unwrap();
        let after = state(folder, episode, feature);
        let changed = before.iter().zip(&after).filter(|(a, b)| a.to_bits() != b.to_bits());
        if changed.count() == 1 {
            return;
        }
    }
    panic!("no number of {feature} stands in the file as it is");
}

#[test]
fn rows_that_are_not_the_tapes_are_found() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 3);
    assert_eq!(check(here, &[]).0, Some(0));
    for (episode, feature) in [(1, "observation.state"), (2, "action")] {
        flip_one_bit(here, episode, feature);
        let (code, report, _) = check(here, &[]);
        assert_eq!((code, codes(&report, episode)), (Some(4), vec!["tape"]), "{report}");
        let text = report.to_string();
        assert!(
            text.contains(&format!("of {feature} is")) && text.contains("1 of 30 rows"),
            "{text}"
        );
        let said = fails(here, &format!("replay set --episode {episode}"), 3);
        assert!(said.contains("disagree") && said.contains("--frame-targets"), "{said}");
    }
    assert_eq!(exact(here), [true, false, false]);
    let shown = said_json(&ok(here, "data show set --json"));
    assert_eq!(shown["exact_episodes"], 1);
    fails(here, "replay set --verify", 4);
    ok(here, "replay set --episode 1 --frame-targets --scene small.yaml");
}

/// Footers that pyarrow refuses: a list that is said to be a text, and a schema that is said to be
/// longer than it is. `peers/test_lerobot.py` compares thousands with pyarrow itself.
#[test]
fn footers_that_others_refuse_are_refused() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 1);
    let path = here.join("set/data/chunk-000/file-000.parquet");
    let whole = std::fs::read(&path).unwrap();
    let place = |of: &[u8]| (0..whole.len()).rev().find(|at| whole[*at..].starts_with(of)).unwrap();
    // Converted type list, then the logical type: the fourth byte says which.
    let text = place(b"\x15\x06\x4c\x3c\x00\x00") + 3;
    let longer = place(b"ARROW:schema");
    let longer = (longer..).find(|at| whole[*at..].starts_with(b"/////")).unwrap() + 7;
    for (at, byte) in [(text, 0x1c), (longer, b'/'), (0, b'X'), (whole.len() - 1, b'0')] {
        let mut damaged = whole.clone();
        damaged[at] = byte;
        std::fs::write(&path, damaged).unwrap();
        let (code, report, _) = check(here, &[]);
        assert_eq!(code, Some(4), "byte {at}: {report}");
        assert!(codes(&report, 0).contains(&"unreadable"), "byte {at}: {report}");
    }
    std::fs::write(&path, whole).unwrap();
    assert_eq!(check(here, &[]).0, Some(0));
}

#[test]
fn swapped_tapes_are_found_and_put_back() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 2);
    let tapes = sorted(here.join("set/citrange/episodes"));
    let aside = here.join("aside");
    std::fs::rename(&tapes[0], &aside).unwrap();
    std::fs::rename(&tapes[1], &tapes[0]).unwrap();
    std::fs::rename(&aside, &tapes[1]).unwrap();
    let (code, report, _) = check(here, &[]);
    assert_eq!(code, Some(4));
    assert_eq!((codes(&report, 0), codes(&report, 1)), (vec!["tape"], vec!["tape"]), "{report}");
    assert!(report.to_string().contains("the tape of another episode"), "{report}");
    assert_eq!(exact(here), [false; 2]);
    let said = stderr(&ok(here, "data repair set"));
    assert!(said.contains("2 tapes were put under their own names"), "{said}");
    assert_eq!(exact(here), [true; 2]);
    assert_eq!(check(here, &[]).0, Some(0));
}

#[test]
fn lost_pictures_are_called_so() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 1);
    let tape = &sorted(here.join("set/citrange/episodes"))[0];
    lose(tape, &json!({ "front": (1..29).collect::<Vec<u64>>(), "wrist": [3] }));
    let (code, report, said) = check(here, &[]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(codes(&report, 0), ["lost-pictures"], "{report}");
    let text = report.to_string();
    assert!(text.contains("front lost 28 of 30") && text.contains("93 %"), "{text}");
    assert!(!said.contains(" 0 warnings"), "{said}");
}

/// Writes other lost pictures into the last record of a tape.
fn lose(tape: &Path, dropped: &Value) {
    const MARK: [u8; 4] = *b"\xc1trr";
    let bytes = std::fs::read(tape).unwrap();
    let at = (0..bytes.len() - 4).rev().find(|at| bytes[*at..at + 4] == MARK).unwrap();
    let (head, kind) = (&bytes[..at], bytes[at + 8]);
    let mut end: Value = serde_json::from_slice(&bytes[at + 9..bytes.len() - 4]).unwrap();
    end["dropped"] = dropped.clone();
    let payload = end.to_string().into_bytes();
    let length = (payload.len() as u32).to_le_bytes();
    let mut crc = crc32fast::Hasher::new();
    for part in [&length[..], &[kind], &payload] {
        crc.update(part);
    }
    let crc = crc.finalize().to_le_bytes();
    let all = [head, &MARK, &length, &[kind], &payload, &crc].concat();
    std::fs::write(tape, all).unwrap();
}

/// The film with other samples, said to be AV1.
fn as_av1(path: &Path, sample: impl Fn(usize) -> Vec<u8>) {
    let spans: Vec<(usize, usize)> = {
        let movie = Movie::open(path).unwrap();
        movie.samples.iter().map(|s| (s.offset as usize, s.size as usize)).collect()
    };
    let mut bytes = std::fs::read(path).unwrap();
    for (from, to) in [(b"avc1", b"av01"), (b"avcC", b"av1C")] {
        let places: Vec<usize> =
            (0..bytes.len() - 4).filter(|at| bytes[*at..at + 4] == *from).collect();
        places.into_iter().for_each(|at| bytes[at..at + 4].copy_from_slice(to));
    }
    for (offset, size) in spans {
        bytes[offset..offset + size].copy_from_slice(&sample(size));
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn what_is_not_decoded_is_not_fine() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 1);
    let video = here.join("set/videos/observation.images.front/chunk-000/file-000.mp4");
    let whole = std::fs::read(&video).unwrap();
    // Units whose sizes add up: a sequence header, and a frame that takes the rest.
    as_av1(&video, |size| {
        let mut sample = vec![0x0a, 1, 0, 0x30];
        sample.resize(size, 0x55);
        sample
    });
    let (code, report, said) = check(here, &["--deep"]);
    assert_eq!(report["not_decoded"], json!({ "AV1": 1 }), "{report}");
    assert!(said.contains("1 video not decoded: AV1"), "{said}");
    assert_eq!((code, &report["errors"]), (Some(0), &0.into()), "{report}");
    // Random bytes are no AV1, and that can be told without decoding.
    std::fs::write(&video, &whole).unwrap();
    as_av1(&video, |size| (0..size).map(|i| (i * 131 + 89) as u8).collect());
    let (code, report, said) = check(here, &["--deep"]);
    assert_eq!((code, codes(&report, 0).contains(&"undecodable")), (Some(4), true), "{report}");
    assert!(said.contains("not decoded: AV1"), "{said}");
    // Samples that lie in each other are no film.
    std::fs::write(&video, &whole).unwrap();
    let mut bytes = whole.clone();
    let at = (0..bytes.len()).find(|at| bytes[*at..].starts_with(b"stsz")).unwrap() + 16;
    let grown = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) + 40_000_000;
    bytes[at..at + 4].copy_from_slice(&grown.to_be_bytes());
    std::fs::write(&video, bytes).unwrap();
    assert_eq!(check(here, &[]).0, Some(4));
}
