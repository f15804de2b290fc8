//! `citrange/index.json` damaged or gone: every verb says what helps, and it helps.

use std::path::Path;

use serde_json::Value;

use crate::common::{citrange, fails, json, ok, small_set, stderr, temp};

fn exact(folder: &Path) -> Vec<bool> {
    let list = json(&ok(folder, "data list set --json"));
    let episodes = list["episodes"].as_array().unwrap();
    episodes.iter().map(|e| e["exact"].as_bool().unwrap()).collect()
}

fn tapes(folder: &Path) -> Vec<std::path::PathBuf> {
    let folder = folder.join("set/citrange/episodes");
    let mut names: Vec<_> = folder.read_dir().unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    names
}

/// Every verb that reads the dataset refuses, and says what to do.
fn refused(folder: &Path) {
    for words in [
        "data list set",
        "data show set",
        "data check set",
        "data delete set --episodes 0",
        "data label set --note x",
        "data export set --to lerobot --out out",
        "data merge set set --out out",
        "replay set --verify",
        "report set",
        "collect small.yaml --episodes 4 --seconds 1 --out set --resume",
    ] {
        let said = fails(folder, words, 3);
        assert!(said.contains("data repair") && said.contains("index.json"), "{words}: {said}");
    }
}

#[test]
fn a_damaged_index_is_made_again_from_the_tapes() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 3);
    ok(here, "data trim set --episode 0 --frames 5:25");
    ok(here, "data split set --episode 2 --at 11");
    ok(here, "data label set --episodes 0,1,2 --success true --add good --note seen");
    let path = here.join("set/citrange/index.json");
    let whole = std::fs::read(&path).unwrap();
    let half: Vec<u8> = whole[..whole.len() * 2 / 3].to_vec();
    let damages: [Option<&[u8]>; 5] =
        [Some(&half), Some(b""), Some(b"[1, 2]"), Some(b"{\"episodes\": 7}"), None];
    for (round, damage) in damages.into_iter().enumerate() {
        match damage {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        if round == 0 || damage.is_none() {
            refused(here);
        } else {
            assert!(fails(here, "data list set", 3).contains("data repair"));
        }
        let said = stderr(&ok(here, "data repair set"));
        assert!(said.contains("made again") && said.contains("4 of 4 episodes"), "{said}");
        assert_eq!(exact(here), [true; 4]);
        let list = json(&ok(here, "data list set --json"));
        // What lies before the tear is taken over; it is nowhere else.
        let note = &list["episodes"][0]["note"];
        assert_eq!(note, if round == 0 { "seen" } else { "" }, "{said}");
        assert_eq!(list["episodes"][0]["tape_frames"], serde_json::json!([5, 25]));
        assert!(stderr(&ok(here, "data repair set")).contains("nothing to repair"));
    }
    ok(here, "replay set --verify");
    ok(here, "data check set");
    // Damaged ones are kept: somebody may make out more.
    assert_eq!(here.join("set/citrange/damaged").read_dir().unwrap().count(), 4);
}

#[test]
fn tapes_are_taken_back_and_missing_ones_named() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 3);
    let path = here.join("set/citrange/index.json");
    let whole = std::fs::read(&path).unwrap();
    // An entry is gone: its tape lies unused.
    let mut index: Value = serde_json::from_slice(&whole).unwrap();
    index["episodes"][1] = Value::Null;
    std::fs::write(&path, index.to_string()).unwrap();
    assert_eq!(exact(here), [true, false, true]);
    let output = citrange(here, &["data", "check", "set", "--json"], &[]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("unused-tape"));
    ok(here, "data repair set");
    assert_eq!(exact(here), [true; 3]);
    // A tape is gone: that is said, and the others are not touched.
    let names = tapes(here);
    let tape = std::fs::read(&names[1]).unwrap();
    std::fs::remove_file(&names[1]).unwrap();
    assert_eq!(exact(here), [true, false, true]);
    assert!(fails(here, "replay set --episode 1", 3).contains("missing"));
    fails(here, "data check set", 4);
    let line = json(&ok(here, "data repair set --json"));
    assert!(line["index"]["problems"][0].as_str().unwrap().contains("missing"), "{line}");
    std::fs::write(&names[1], tape).unwrap();
    ok(here, "data check set");
    // A newer index is not damage.
    let newer =
        String::from_utf8(whole).unwrap().replace("\"format_version\": 1", "\"format_version\": 9");
    std::fs::write(&path, newer).unwrap();
    for words in ["data list set", "data repair set"] {
        assert!(fails(here, words, 3).contains("update"), "{words}");
    }
}
