//! Nobody looks, nothing is recorded: nothing is drawn.

use crate::common::temp;
use crate::page::{Page, Running};

/// Pictures drawn when this much more of the simulation has gone by.
fn drawn_after(page: &mut Page, seconds: f64) -> u64 {
    page.look();
    let end = page.time_s + seconds;
    let drawn = |s: &serde_json::Value| s["session"]["drawn"].as_u64().unwrap();
    loop {
        let status = page.text("status");
        page.look();
        if page.time_s >= end {
            return drawn(&status);
        }
    }
}

#[test]
fn cameras_are_drawn_only_when_somebody_looks() {
    let folder = temp();
    let drive = Running::start(folder.path(), "block_box --listen 127.0.0.1:0");
    let mut page = Page::open(drive.link());
    for _ in 0..2 {
        page.cameras(0);
        // What was under way is drawn; then the count stays put.
        let before = drawn_after(&mut page, 0.5);
        assert_eq!(drawn_after(&mut page, 1.5), before, "drawn for nobody");
        page.cameras(5);
        page.until(&[], |s| s["session"]["drawn"].as_u64().unwrap() > before);
    }
    page.take();
    page.cameras(0);
    let before = drawn_after(&mut page, 0.5);
    assert_eq!(drawn_after(&mut page, 0.5), before);
    page.order("stop", |session| session["phase"] == "finished");
    let end = drive.wait_for("end");
    assert_eq!(end["drawn_pictures"], before);
    // What the system gives differs; that it was asked for is said.
    let lead = end["loop_priority"].as_str().unwrap();
    assert!(["real_time", "ahead", "equal"].contains(&lead), "{lead}");
}
