//! Reports of datasets recorded here, with an autopilot's events and without.

#[path = "../../tape/tests/common/mod.rs"]
mod toy;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use citrange_core::event::RawEvent;
use citrange_core::run;
use citrange_core::{
    BoxError, Command, Event, Notes, Observation, Outcome, Pilot, RunSettings, Scene, Verdict,
};
use citrange_report::Survey;
use citrange_tape::{Dataset, Recorder, Unit};
use serde_json::{Value, json};

/// Ticks of a toy episode: 40 frames.
const TICKS: u64 = 160;

/// Notes what it is told to note, and ends.
struct Noting {
    events: Vec<(u64, Event)>,
    outcome: Outcome,
}

impl Pilot for Noting {
    fn name(&self) -> &str {
        "autopilot"
    }
    fn decide(
        &mut self,
        seen: &Observation,
        _: &mut Command,
        events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let now = self.events.iter().filter(|(tick, _)| *tick == seen.tick);
        events.extend(now.map(|(_, event)| event.clone()));
        if seen.tick + 1 >= TICKS {
            return Ok(Verdict::Done(self.outcome.clone()));
        }
        Ok(Verdict::Go)
    }
}

fn event(tick: u64, name: &str, detail: Value) -> (u64, Event) {
    (tick, Event::from(RawEvent { name: name.into(), detail }))
}

/// What an autopilot notes when it brings one thing with this name, or drops it twice.
fn story(thing: &str, placed: bool) -> Vec<(u64, Event)> {
    let start = json!([0.2, 0.1, 0.02]);
    let state = |tick, state: &str| {
        event(tick, "state", json!({"state": state, "target": thing, "attempt": 1}))
    };
    let mut events = vec![
        event(0, "target", json!({"target": thing, "attempt": 1, "object_m": start})),
        state(0, "APPROACH"),
        state(30, "GRASP"),
        state(60, "LIFT"),
    ];
    let failed = |attempt| {
        json!({"target": thing, "attempt": attempt, "state": "LIFT", "reason": "grasp_missed",
            "object_m": start})
    };
    if placed {
        let detail = json!({"target": thing, "attempt": 1, "object_m": [0.16, -0.15, 0.03]});
        events.extend([state(90, "TRANSPORT"), state(110, "RELEASE")]);
        events.push(event(120, "placed", detail));
    } else {
        events.push(event(80, "failed", failed(1)));
        events.push(event(100, "failed", failed(2)));
    }
    let told = json!({"name": thing, "placed": placed, "attempts": if placed { 1 } else { 2 },
        "reason": (!placed).then_some("grasp_missed"), "start_m": start,
        "end_m": [0.16, -0.15, 0.03]});
    events.push(event(150, "summary", json!({"targets": [told], "hard_reset": false})));
    events
}

fn scene() -> Scene {
    let yaml = include_str!("../../../scenes/orange_plate.yaml");
    citrange_core::yaml::from_yaml(yaml, "orange_plate.yaml").unwrap()
}

/// Records one toy episode that notes these events.
fn record(set: &mut Dataset, cameras: bool, events: Vec<(u64, Event)>, outcome: Outcome) {
    let mut rig = toy::toy();
    if !cameras {
        rig.spec.cameras.clear();
    }
    let mut header = toy::header(&rig.spec, "put <it> away");
    (header.scene, header.pilot) = (Some(scene()), "autopilot".into());
    let folder = set.recording_folder(&header.uid);
    let mut recorder = Recorder::begin(&folder, header, &[7; 100], &toy::settings()).unwrap();
    let how = RunSettings { pictures: cameras, ..RunSettings::default() };
    let mut pilot = Noting { events, outcome };
    run(&mut pilot, &mut rig, &mut recorder, &how).unwrap();
    set.save(recorder.finish().unwrap()).unwrap();
}

fn outcome(success: bool) -> Outcome {
    let reason = if success { "placed_all" } else { "grasp_missed" };
    Outcome { success: Some(success), reason: reason.into() }
}

fn report(root: &Path, folder: &Path) -> (Survey, String, Value) {
    report_of(&Dataset::open(root).unwrap(), folder)
}

fn report_of(dataset: &Dataset, folder: &Path) -> (Survey, String, Value) {
    let done = AtomicUsize::new(0);
    let mut survey = Survey::of(dataset, &|_| {
        done.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(done.into_inner(), dataset.len(), "progress is told of every episode");
    let page = survey.write(dataset, folder, None).unwrap();
    let html = std::fs::read_to_string(page).unwrap();
    let json = std::fs::read(folder.join("report.json")).unwrap();
    (survey, html, serde_json::from_slice(&json).unwrap())
}

#[test]
fn an_autopilots_dataset_is_told_with_everything() {
    let folder = tempfile::tempdir().unwrap();
    let (root, out) = (folder.path().join("set"), folder.path().join("out"));
    let mut set = toy::open(&root);
    for episode in 0..5 {
        let odd = r#"<img src=x onerror="alert(1)">"#;
        let name = if episode == 3 { odd } else { "orange_1" };
        record(&mut set, true, story(name, episode != 3), outcome(episode != 3));
    }
    drop(set);
    let (survey, html, json) = report(&root, &out);
    assert_eq!(json["numbers"]["success"]["good"], 4);
    assert_eq!(json["numbers"]["things"]["of"], 5);
    assert_eq!(json["numbers"]["placed_at_once"], 4);
    // 120 ticks at 120 Hz.
    assert_eq!(json["numbers"]["thing_s"]["mean"], 1.0);
    assert_eq!(json["numbers"]["failures"][0]["lost"], 2);
    assert_eq!(json["episodes"][3]["failures"][1]["frame"], 25);
    assert_eq!(json["workspace"]["goal"]["radius_m"], 0.088);
    let median = |state: &str| {
        let found = survey.numbers.states.iter().find(|times| times.state == state);
        found.map(|times| times.seconds.median)
    };
    assert_eq!((median("APPROACH"), median("RELEASE")), (Some(0.25), Some(50.0 / 120.0)));

    // The last failure of the one lost thing, with its picture beside the contact sheet.
    assert_eq!(html.matches("<tr><td").count(), 1, "one thing was lost");
    assert_eq!(html.matches("data:image/png;base64,").count(), 2);
    assert!(!html.contains("<img src=x") && html.contains("&lt;img src=x"), "names are harmless");
    assert!(html.contains("put &lt;it&gt; away") && !html.contains("<script"));
    for name in ["success", "outcomes", "failures", "durations", "starts", "ends", "lengths"] {
        let svg = std::fs::read_to_string(out.join(format!("{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg ") && svg.contains("<style>"), "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}: {svg}");
    }
    let sheet = std::fs::File::open(out.join("contact_sheet.png")).unwrap();
    let info = png::Decoder::new(std::io::BufReader::new(sheet)).read_info().unwrap();
    assert_eq!(info.info().width, 2 * 16 + 6 * 220 + 5 * 8);
    assert_eq!(survey.problems, [""; 0]);
    assert_eq!(survey.film_episode(), Some(0));
}

#[test]
fn episodes_without_events_and_cameras_still_give_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let (root, out) = (folder.path().join("set"), folder.path().join("out"));
    let mut rig = toy::toy();
    rig.spec.cameras.clear();
    let none = BTreeSet::new();
    let (mut set, _) = Dataset::record(&root, &rig.spec, Unit::Degrees, &none).unwrap();
    record(&mut set, false, vec![], Outcome::unjudged("stopped"));
    record(&mut set, false, vec![], outcome(false));
    drop(set);
    // What an earlier report left and this one has not must go.
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("contact_sheet.png"), "old").unwrap();
    std::fs::write(out.join("starts.svg"), "old").unwrap();
    let (survey, html, json) = report(&root, &out);
    assert!(html.contains("without cameras") && !html.contains("data:image"));
    assert!(!out.join("contact_sheet.png").exists() && !out.join("starts.svg").exists());
    assert!(out.join("outcomes.svg").exists() && out.join("lengths.svg").exists());
    assert_eq!(json["numbers"]["things"], Value::Null);
    assert_eq!((survey.numbers.episodes, survey.numbers.outcomes.len()), (2, 2));
    // The episode that failed is in the table with the reason of its outcome.
    assert_eq!(html.matches("<tr><td").count(), 1);
    assert_eq!(json["episodes"][1]["failures"][0]["reason"], "grasp_missed");
}

#[test]
fn a_damaged_tape_is_told_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (root, out) = (folder.path().join("set"), folder.path().join("out"));
    let mut set = toy::open(&root);
    for _ in 0..2 {
        record(&mut set, true, story("orange_1", true), outcome(true));
    }
    let uid = set.entry(1).unwrap().uid.clone();
    drop(set);
    let tape = root.join(format!("citrange/episodes/{uid}.tape"));
    let mut bytes = std::fs::read(&tape).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    std::fs::write(&tape, bytes).unwrap();
    let (survey, html, _) = report(&root, &out);
    assert_eq!((survey.problems.len(), survey.about.without_tape), (1, 1));
    assert!(survey.problems[0].starts_with("episode 1: "), "{:?}", survey.problems);
    assert!(html.contains("Could not be read"));
    let things = survey.numbers.things.unwrap();
    assert_eq!((survey.numbers.success.unwrap().of, things.of), (2, 1));
}

#[test]
fn an_empty_dataset_gives_an_empty_report() {
    let folder = tempfile::tempdir().unwrap();
    let (root, out) = (folder.path().join("set"), folder.path().join("out"));
    // Before its first episode a dataset exists only in memory.
    let (survey, html, json) = report_of(&toy::open(&root), &out);
    assert_eq!((survey.film_episode(), json["numbers"]["episodes"].as_u64()), (None, Some(0)));
    assert!(html.contains("none yet") && !html.contains("<svg"));
}
