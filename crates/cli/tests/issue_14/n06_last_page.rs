//! A finished session tells every page what was saved, where, and what next; in a browser:
//! `peers/test_issue_14_page.py`, in a terminal: `peers/test_terminal.py`.

use serde_json::json;

use crate::common::{ok, temp};
use crate::page::{Page, Running};

#[test]
fn the_last_thing_a_page_hears_is_all_that_was_saved() {
    let folder = temp();
    let words = "block_box --listen 127.0.0.1:0 --record set --cameras none --countdown 0 \
                 --reset-time 0 --episodes 3";
    let words: Vec<&str> = words.split_whitespace().collect();
    let drive = Running::start(folder.path(), &words.join(" "));
    let mut watcher = Page::open(drive.link());
    let mut page = Page::open(drive.link());
    page.take();
    for (number, order) in ["success", "failure", "save"].into_iter().enumerate() {
        drive.wait_for("begin");
        page.until(&[], |s| {
            s["session"]["phase"] == "recording" && s["session"]["saved"] == number
        });
        page.order(order, |s| s["phase"] != "recording" || s["saved"] != number);
        assert_eq!(drive.wait_for("saved")["number"], number);
    }
    let finished = drive.wait_for("finished");
    for page in [&mut page, &mut watcher] {
        let session = page.last_status()["session"].clone();
        assert_eq!((&session["phase"], &session["saved"]), (&json!("finished"), &json!(3)));
        let summary = &session["summary"];
        let judged: Vec<_> =
            summary["episodes"].as_array().unwrap().iter().map(|e| e["success"].clone()).collect();
        assert_eq!(judged, [json!(true), json!(false), json!(null)]);
        let set = std::fs::canonicalize(folder.path()).unwrap().join("set");
        let said = std::path::PathBuf::from(summary["dataset"].as_str().unwrap());
        assert_eq!(std::fs::canonicalize(said).unwrap(), set);
        assert_eq!(summary["next"], finished["next"]);
    }
    drive.wait_for("end");
    // What it says to do next can be done.
    let next: Vec<&str> = finished["next"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["command"].as_str().unwrap())
        .collect();
    for verb in ["data check", "replay set --verify"] {
        let command = next.iter().find(|command| command.contains(verb)).unwrap();
        ok(folder.path(), command.strip_prefix("citrange ").unwrap());
    }
}
