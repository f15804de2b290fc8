//! Collections: episodes are functions of their index, whoever makes them and whatever happens.

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use citrange_core::rng::Rng;
use citrange_tape::Dataset;
use common::{fails, json, ok, small_scene, stderr, stdout, temp};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// All files of a dataset, but for the one that says when and how fast it was made.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("citrange/collect.jsonl") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn same_files(a: &Path, b: &Path) {
    let (a, b) = (files(a), files(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    let differing: Vec<_> = a.keys().filter(|name| a[*name] != b[*name]).collect();
    assert_eq!(differing, Vec::<&String>::new());
}

/// The events that a command prints.
fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn any_number_of_workers_makes_the_same_files() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    let collect = "collect small.yaml --episodes 6 --seconds 1 --seed 3 --randomise default";
    let told = stdout(&ok(here, &format!("{collect} --workers 1 --out one --json")));
    let told = events(&told);
    let saved: Vec<_> = told.iter().filter(|e| e["event"] == "saved").collect();
    assert_eq!(saved.len(), 6);
    let numbers = saved.iter().map(|e| (e["number"].as_u64(), e["episode"].as_u64()));
    assert!(numbers.eq((0..6).map(|n| (Some(n), Some(n)))), "{told:?}");
    let done = told.last().unwrap();
    assert_eq!((&done["event"], &done["episodes"]), (&"done".into(), &6.into()));
    assert_eq!(done["sim_s"], 6.0);
    for workers in ["2", "3"] {
        ok(here, &format!("{collect} --workers {workers} --out many{workers}"));
        same_files(&here.join("one"), &here.join(format!("many{workers}")));
    }
    let names = files(&here.join("one"));
    assert_eq!(names.keys().filter(|name| name.ends_with(".mp4")).count(), 12);
    // Each in a scene of its own, and all of them exact.
    let tape = |n| Dataset::open(&here.join("one")).unwrap().tape(n).unwrap().unwrap().0;
    assert_ne!(tape(0).header.model_hash, tape(1).header.model_hash);
    assert_eq!(tape(4).header.config["randomise"]["objects"]["mass"][0], 0.7);
    let report = json(&ok(here, "replay one --verify --json"));
    assert_eq!(report["differing"], 0);
    assert!(report["episodes"].as_array().unwrap().iter().all(|e| e["bitwise"] == true));
    // Who made what is beside it.
    let journal = std::fs::read_to_string(here.join("many2/citrange/collect.jsonl")).unwrap();
    let journal = events(&journal);
    assert_eq!(journal.len(), 6);
    assert!(journal.iter().all(|line| line["worker"].as_u64() < Some(2)), "{journal:?}");
}

#[test]
fn killed_and_resumed_is_as_never_killed() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    let collect = "collect small.yaml --episodes 12 --seconds 1.5 --workers 2";
    ok(here, &format!("{collect} --out whole"));
    let mut rng = Rng::new(11);
    let mut cut_off = 0;
    for saves in [0, 2, 3] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_citrange"))
            .current_dir(here)
            .args(format!("{collect} --resume --json --out cut").split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let saved = lines.map(Result::unwrap).filter(|line| line.contains("\"saved\""));
        assert_eq!(saved.take(saves).count(), saves);
        // Anywhere in the episodes under way, or in the next save.
        std::thread::sleep(Duration::from_micros(rng.next_u64() % 150_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = std::fs::read_dir(here.join("cut/citrange/recording"));
        cut_off += left.map_or(0, Iterator::count);
    }
    assert!(cut_off > 0, "no kill fell into an episode");
    let before = Dataset::open(&here.join("cut")).unwrap().len();
    assert!((5..12).contains(&before), "{before}");
    let resumed = stderr(&ok(here, &format!("{collect} --resume --out cut")));
    assert!(resumed.contains(&format!("{before} episodes of this run are there")), "{resumed}");
    same_files(&here.join("whole"), &here.join("cut"));
    // Complete is complete.
    let again = stderr(&ok(here, &format!("{collect} --resume --out cut")));
    assert!(again.contains("12 episodes of this run are there"), "{again}");
    same_files(&here.join("whole"), &here.join("cut"));
}

#[test]
fn a_stop_says_how_to_go_on() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    let words = "collect small.yaml --episodes 500 --workers 2 --out set";
    let child = Command::new(env!("CARGO_BIN_EXE_citrange"))
        .current_dir(here)
        .args(words.split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !here.join("set/meta/info.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Not Ctrl-C: whoever runs the tests may have it ignored.
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("--resume"), "{said}");
    // Nothing is left over, and no episode is cut short.
    assert_eq!(std::fs::read_dir(here.join("set/citrange/recording")).unwrap().count(), 0);
    let dataset = Dataset::open(&here.join("set")).unwrap();
    let there = dataset.len();
    assert!((1..500).contains(&there), "{there}");
    let reasons = (0..there).map(|n| dataset.entry(n).unwrap().outcome.reason.clone());
    assert!(reasons.into_iter().all(|reason| reason != "stopped"));
    // The rule: --episodes counts what the same command has saved before.
    let more = format!("{} --resume", words.replace("500", &(there + 1).to_string()));
    let told = stderr(&ok(here, &more));
    assert!(told.contains(&format!("{there} episodes of this run are there")), "{told}");
    assert_eq!(Dataset::open(&here.join("set")).unwrap().len(), there + 1);
}

#[test]
fn quotas_decide_what_is_kept() {
    let folder = temp();
    let here = folder.path();
    // Cut short before anything can be judged.
    let collect = "collect orange_plate --cameras none --seconds 0.2 --workers 2 --json";
    let words = format!("{collect} --quota unjudged=2,success=1 --max-episodes 5 --out set");
    let args: Vec<&str> = words.split(' ').collect();
    let output = common::citrange(here, &args, &[]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("2 of 3 wanted"), "{}", stderr(&output));
    let told = events(&stdout(&output));
    let count = |event: &str| told.iter().filter(|e| e["event"] == event).count();
    assert_eq!((count("saved"), count("left_out")), (2, 3), "{told:?}");
    let done = told.last().unwrap();
    assert_eq!((&done["unjudged"], &done["left_out"]), (&2.into(), &3.into()));
    assert_eq!(done["reasons"]["time_up"], 5);
    assert_eq!(Dataset::open(&here.join("set")).unwrap().len(), 2);
    ok(here, &format!("{collect} --quota unjudged=3 --out more --first 40"));
    let more = Dataset::open(&here.join("more")).unwrap();
    let (tape, _) = more.tape(2).unwrap().unwrap();
    assert_eq!((more.len(), tape.header.episode), (3, 42));
    let said = fails(here, "collect orange_plate --quota good=2 --out never", 2);
    assert!(said.contains("good") && said.contains("success"), "{said}");
    let said = fails(here, "collect orange_plate --workers none --out never", 2);
    assert!(said.contains("auto"), "{said}");
}

#[test]
fn ranges_come_from_a_file_and_wrong_ones_are_named() {
    let folder = temp();
    let here = folder.path();
    std::fs::write(here.join("heavy.yaml"), "objects: {mass: [3, 3]}\n").unwrap();
    ok(here, "collect orange_plate --cameras none --seconds 0.1 --randomise heavy.yaml --out set");
    let (tape, _) = Dataset::open(&here.join("set")).unwrap().tape(0).unwrap().unwrap();
    let scene = tape.header.scene.unwrap();
    assert!((scene.objects["orange_1"].parts[0].mass_kg - 0.45).abs() < 1e-12);
    std::fs::write(here.join("wrong.yaml"), "light: {intensity: [2, 1]}\n").unwrap();
    let said = fails(here, "collect orange_plate --randomise wrong.yaml --out never", 3);
    assert!(said.contains("light.intensity"), "{said}");
    std::fs::write(here.join("wrong.yaml"), "lights: {}\n").unwrap();
    let said = fails(here, "collect orange_plate --randomise wrong.yaml --out never", 3);
    assert!(said.contains("lights") && said.contains("light"), "{said}");
}

#[test]
fn failures_are_exported_only_when_asked_for() {
    let folder = temp();
    let here = folder.path();
    ok(here, "collect orange_plate --cameras none --seconds 0.2 --episodes 4 --out set");
    ok(here, "data label set --episodes 1 --success false");
    ok(here, "data label set --episodes 2 --success true");
    let exported = |words: &str| {
        let output = ok(here, &format!("data export set --to lerobot --json {words}"));
        (json(&output)["episodes"].clone(), stderr(&output))
    };
    let (episodes, said) = exported("--out some");
    assert_eq!(episodes, serde_json::json!([0, 2, 3]));
    assert!(said.contains("1 episodes that failed are left out"), "{said}");
    assert_eq!(Dataset::open(&here.join("some")).unwrap().len(), 3);
    assert_eq!(exported("--failures --out every").0, serde_json::json!([0, 1, 2, 3]));
    // Who names an episode wants it.
    assert_eq!(exported("--episodes 1 --out one").0, serde_json::json!([1]));
    ok(here, "data label set --episodes 0,2-3 --success false");
    let said = fails(here, "data export set --to lerobot --out never", 3);
    assert!(said.contains("all 4") && said.contains("--failures"), "{said}");
}

#[test]
fn the_autopilot_is_told_what_to_fetch_and_wrong_words_are_named() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    let collect = "collect small.yaml --cameras none --out set";
    ok(here, &format!("{collect} --targets 3,orange_1 --retries 0"));
    let (tape, _) = Dataset::open(&here.join("set")).unwrap().tape(0).unwrap().unwrap();
    let summary = tape.events.iter().rev().find(|(_, e)| e.name() == "summary").unwrap();
    let summary = summary.1.detail();
    let fetched = summary["targets"].as_array().unwrap();
    let names: Vec<_> =
        fetched.iter().map(|t| (t["name"].as_str().unwrap(), &t["placed"])).collect();
    assert_eq!(names, [("orange_3", &true.into()), ("orange_1", &true.into())]);
    assert_eq!(tape.header.config["pilot"]["settings"]["retries"], 0);
    std::fs::write(here.join("mine.yaml"), "lift_hight: 0.1").unwrap();
    for (words, expected) in [
        ("--targets orange_9", "orange_1"),
        ("--targets 4", "orange_3"),
        ("--autopilot sed", "seed"),
        ("--autopilot mine.yaml", "lift_height"),
    ] {
        let said = fails(here, &format!("{collect} --resume {words}"), 3);
        assert!(said.contains(expected), "{words}: {said}");
    }
    let said = fails(here, "collect ur5_cell --cameras none --out other --retries 1", 3);
    assert!(said.contains("ur5_cell") && said.contains("job"), "{said}");
}
