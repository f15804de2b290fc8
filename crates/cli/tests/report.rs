//! `citrange report` on datasets that `citrange collect` made.

mod common;

use citrange_video::mp4::Movie;
use common::{fails, json, ok, small_set, stdout, temp};

#[test]
fn a_scripted_dataset_gives_a_page_a_sheet_and_a_film_of_both_cameras() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 2);
    ok(here, "data label set --episodes 1 --success false --note dropped");
    let page = stdout(&ok(here, "report set"));
    assert!(page.trim_end().ends_with("set_report/report.html"), "{page}");
    let out = here.join("set_report");
    let html = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(html.contains("put the oranges on the plate") && html.contains("film.mp4"));
    // The sheet, and a still of the episode that people called a failure.
    assert_eq!(html.matches("data:image/png;base64,").count(), 2);
    for name in ["contact_sheet.png", "outcomes.svg", "durations.svg", "lengths.svg"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    let movie = Movie::open(out.join("film.mp4")).unwrap();
    assert_eq!((movie.format.width, movie.format.height), (128, 48));
    assert_eq!((movie.frame_count(), movie.format.fps), (30, 30));
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["numbers"]["success"]["of"], 1);
    assert_eq!(report["film_episode"], 0);
    // The dataset is not touched.
    ok(here, "data check set");

    // Another folder, another episode; then the film goes with --no-film.
    let numbers = json(&ok(here, "report set -o there --episode 1 --json"));
    assert_eq!((&numbers["film_episode"], &numbers["problems"]), (&1.into(), &[0; 0][..].into()));
    assert!(here.join("there/film.mp4").is_file());
    ok(here, "report set -o there --no-film");
    assert!(!here.join("there/film.mp4").exists());
}

#[test]
fn what_cannot_be_reported_is_refused_with_a_reason() {
    let folder = temp();
    let here = folder.path();
    let said = fails(here, "report nothing", 3);
    assert!(said.contains("nothing"), "{said}");
    small_set(here, 1);
    let said = fails(here, "report set --episode 1", 3);
    assert!(said.contains("no episode 1"), "{said}");
    assert!(!here.join("set_report").exists(), "refused before anything is written");
    std::fs::write(here.join("file"), "").unwrap();
    let said = fails(here, "report set -o file", 3);
    assert!(said.contains("cannot create file"), "{said}");
}
