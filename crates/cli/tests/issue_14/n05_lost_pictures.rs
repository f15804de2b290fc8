//! An episode that lost most of its pictures is not saved without a question.

use std::path::Path;

use serde_json::Value;

use crate::common::temp;

use crate::page::{Page, Running};

/// `block_box` with a camera whose pictures are far too large to be drawn in time.
fn slow_scene(folder: &Path) {
    let yaml = include_str!("../../../../scenes/block_box.yaml");
    let slow = yaml.replacen("fovy_deg: 60}", "fovy_deg: 60, width_px: 3840, height_px: 2160}", 1);
    assert_ne!(yaml, slow);
    std::fs::write(folder.join("slow.yaml"), slow).unwrap();
}

const WORDS: &str = "slow.yaml --listen 127.0.0.1:0 --record set --cameras top --countdown 0 \
                     --reset-time 0 --episodes 1 --ask-time";

fn words(ask_s: &str) -> String {
    format!("{} {ask_s}", WORDS.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Records until pictures are lost, and calls it a success.
fn lose(drive: &Running, page: &mut Page) -> Value {
    drive.wait_for("begin");
    page.until(&[], |s| {
        s["session"]["phase"] == "recording" && s["session"]["lost_share"].as_f64() > Some(0.05)
    });
    page.order("success", |session| session["phase"] != "recording");
    let asked = drive.wait_for("asking");
    assert!(asked["lost_share"].as_f64() > Some(0.05), "{asked}");
    assert_eq!((&asked["limit"], &asked["camera"]), (&0.05.into(), &"top".into()));
    asked
}

#[test]
fn an_episode_that_lost_its_pictures_is_asked_about_thrown_away_or_kept_and_marked() {
    let folder = temp();
    slow_scene(folder.path());
    let drive = Running::start(folder.path(), &words("600"));
    let mut page = Page::open(drive.link());
    page.cameras(0);
    page.take();

    lose(&drive, &mut page);
    let asking = page.until(&[], |s| s["session"]["phase"] == "asking");
    let said = asking["session"]["message"].as_str().unwrap().to_owned();
    assert!(said.contains("lost") && said.contains("Enter keeps"), "{said}");
    page.order("failure", |session| session["phase"] != "asking");
    drive.wait_for("discarded");

    // The same scene comes again; this time it is kept.
    lose(&drive, &mut page);
    page.order("success", |session| session["phase"] != "asking");
    let saved = drive.wait_for("saved");
    assert_eq!(saved["outcome"]["success"], true);
    assert!(saved["lost_share"].as_f64() > Some(0.05), "{saved}");
    let finished = drive.wait_for("finished");
    assert_eq!(
        (&finished["discarded"], finished["episodes"].as_array().unwrap().len()),
        (&1.into(), 1)
    );
    let dataset = citrange_tape::Dataset::open(&folder.path().join("set")).unwrap();
    let (tape, _) = dataset.tape(0).unwrap().unwrap();
    let marks: Vec<_> = tape.events.iter().filter(|(_, e)| e.name() == "pictures_lost").collect();
    assert_eq!(marks.len(), 1);
    assert_eq!(marks[0].1.detail()["camera"], "top");
}

#[test]
fn without_an_answer_it_is_kept_and_marked() {
    let folder = temp();
    slow_scene(folder.path());
    let drive = Running::start(folder.path(), &words("0.5"));
    let mut page = Page::open(drive.link());
    page.cameras(0);
    page.take();
    lose(&drive, &mut page);
    let saved = drive.wait_for("saved");
    assert!(saved["lost_share"].as_f64() > Some(0.05), "{saved}");
    let said = drive.wait_for("finished");
    assert!(said["episodes"][0]["lost_share"].as_f64() > Some(0.05), "{said}");
}
