//! `citrange plan`: motions of every robot as files and films, reasons where there is none.

use std::path::Path;
use std::process::{Command, Output};

use citrange_space::{Grid, MapSnapshot};
use serde_json::Value;

fn citrange(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
    command.current_dir(folder).arg("plan").args(words).output().unwrap()
}

fn good(folder: &Path, words: &[&str]) -> String {
    let done = citrange(folder, words);
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Another exit code than 0, and what was said.
fn bad(folder: &Path, words: &[&str], code: i32) -> String {
    let done = citrange(folder, words);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(code), "{words:?}: {told}");
    told
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect()
}

/// Moments of a plan begin and end at rest at its ends, and are within a speed.
fn check_moments(plan: &Value, fastest: f64) {
    let moments = plan["trajectory"]["moments"].as_array().unwrap();
    let (first, last) = (&moments[0], &moments[moments.len() - 1]);
    let waypoints = plan["waypoints"].as_array().unwrap();
    assert_eq!(first["positions"], waypoints[0]);
    assert_eq!(last["positions"], waypoints[waypoints.len() - 1]);
    assert_eq!(last["time_s"], plan["trajectory"]["duration_s"]);
    for end in [first, last] {
        assert!(numbers(&end["velocities"]).iter().all(|v| *v == 0.0), "{end}");
    }
    for moment in moments {
        assert!(numbers(&moment["velocities"]).iter().all(|v| v.abs() <= fastest), "{moment}");
    }
}

#[test]
fn a_scene_becomes_a_file_and_a_film() {
    let folder = tempfile::tempdir().unwrap();
    let goals = ["--goal", "0.55 0.35 0.12", "--goal", "0.55 -0.35 0.12"];
    let files = ["-o", "path.json", "--film", "path.mp4"];
    let words = [["ur5_cell", "--episode", "1"].as_slice(), &goals, &files].concat();
    let told = good(folder.path(), &words);
    assert_eq!(told.lines().count(), 2, "{told}");
    let text = std::fs::read_to_string(folder.path().join("path.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["joints"].as_array().unwrap().len(), 6);
    let plans = file["plans"].as_array().unwrap();
    assert_eq!(plans.len(), 2);
    for plan in plans {
        assert_eq!(plan["outcome"], "found");
        assert_eq!(plan["trajectory"]["stops"], 0);
        assert!(plan["reached_m"].as_f64().unwrap() < 1e-4);
        check_moments(plan, std::f64::consts::PI + 1e-9);
    }
    assert_eq!(
        plans[1]["start"],
        plans[0]["waypoints"].as_array().unwrap().last().unwrap().clone()
    );
    let film = std::fs::metadata(folder.path().join("path.mp4")).unwrap();
    assert!(film.len() > 20_000, "{} bytes", film.len());
    // The same again, to the last bit but for times.
    good(folder.path(), &words);
    let again = std::fs::read_to_string(folder.path().join("path.json")).unwrap();
    let again: Value = serde_json::from_str(&again).unwrap();
    for (a, b) in plans.iter().zip(again["plans"].as_array().unwrap()) {
        assert_eq!(a["trajectory"], b["trajectory"]);
    }
}

#[test]
fn threads_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["ur5_cell", "--episode", "1", "--goal", "0.55 -0.35 0.12", "--rounds", "12"];
    let with = |threads: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
        command.current_dir(folder.path()).arg("plan").args(words);
        command.args(["--json", "--time-ms", "60000"]).env("RAYON_NUM_THREADS", threads);
        let told: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        assert_eq!(told["plans"][0]["outcome"], "found");
        told["plans"][0]["waypoints"].clone()
    };
    let one = with("1");
    assert!(one.as_array().unwrap().len() > 1);
    for threads in ["2", "3", "5"] {
        assert_eq!(with(threads), one, "{threads} threads");
    }
}

#[test]
fn every_robot_plans() {
    let folder = tempfile::tempdir().unwrap();
    let ur5 = "name: t\ntitle: t\nrates: {physics_hz: 500, control_hz: 100, frame_hz: 20}\n\
               robots: {robot0: {model: ur5}}\n";
    std::fs::write(folder.path().join("ur5.yaml"), ur5).unwrap();
    let asked = [
        ("orange_plate", "--goal", "0.2 0.1 0.1", 5),
        ("multi_table_assembly", "--goal-joints", "ready", 7),
        ("ur5_cell", "--goal", "0.5 0.2 0.4", 6),
        ("ur5.yaml", "--goal", "0.4 0.3 0.3 3.1 0 1", 6),
    ];
    for (scene, kind, goal, joints) in asked {
        let told = good(folder.path(), &[scene, kind, goal, "--json"]);
        let file: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(file["joints"].as_array().unwrap().len(), joints, "{scene}");
        assert_eq!(file["plans"][0]["outcome"], "found", "{scene}");
        check_moments(&file["plans"][0], 4.72);
    }
}

#[test]
fn what_cannot_be_reached_is_told_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let plan = |goal: &str, code| bad(folder.path(), &["ur5_cell", "--goal", goal], code);
    assert!(plan("1.5 0.2 0.4", 4).contains("out of reach"));
    let inside = plan("0.6 0 -0.02", 4);
    assert!(inside.contains("at the goal") && inside.contains(" mm into "), "{inside}");
    assert!(plan("0.5 x 1", 3).contains("word 2"));
    assert!(plan("0.5 nan 1", 3).contains("not a finite number"));
    assert!(plan("0.5 1", 3).contains("2 numbers"));
    let joints = |text: &str, code| bad(folder.path(), &["ur5_cell", "--goal-joints", text], code);
    assert!(joints("0 0 9 0 0 0", 4).contains("elbow_joint is at 9"));
    assert!(joints("0 0", 3).contains("shoulder_pan_joint"));
    assert!(joints("hoem", 3).contains("did you mean \"home\""));
    bad(folder.path(), &["ur5_cell"], 2);
    bad(folder.path(), &["ur5_cell", "--goal", "0.5 0 0.5", "--hz", "0"], 2);
    bad(folder.path(), &["ur5_cell", "--goal", "0.5 0 0.5", "--goal-joints", "home"], 2);
    let slow = ["ur5_cell", "--goal", "0.5 0 0.5", "--speed", "0"];
    assert!(bad(folder.path(), &slow, 3).contains("scale"));
}

#[test]
fn proceed_anyway_ends_near_the_goal_and_says_how_near() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["ur5_cell", "--goal", "0.5 0.2 -0.05", "--proceed-anyway", "--json"];
    let file: Value = serde_json::from_str(&good(folder.path(), &words)).unwrap();
    let reached_m = file["plans"][0]["reached_m"].as_f64().unwrap();
    assert!((0.02..0.3).contains(&reached_m), "{reached_m}");
    assert!(file["plans"][0]["warnings"][0].as_str().unwrap().contains("touches something"));
}

/// A wall of voxels in front of the arm: the same goal needs another way, or is refused.
#[test]
fn a_map_takes_the_place_of_the_objects() {
    let folder = tempfile::tempdir().unwrap();
    let grid = Grid::new([-0.5, -1.0, -0.1], [1.2, 1.25, 1.5], 0.05).unwrap();
    let cells = |hole: bool| -> Vec<u32> {
        let wall = (0..grid.cells() as u32).filter(|key| {
            let [x, y, z] = grid.centre_m(grid.cell_of(*key));
            let is_wall = (0.0..0.05).contains(&(y - 0.3)) && (0.2..1.0).contains(&x);
            is_wall && z < if hole { 0.3 } else { 1.5 }
        });
        wall.collect()
    };
    let ask = |name: &str, keys: &[u32]| {
        let path = folder.path().join(name);
        MapSnapshot::from_voxels(&grid, keys).unwrap().save(&path).unwrap();
        let words = ["ur5_cell", "--goal", "0.5 0.55 0.2", "--map", name, "--json"];
        let done = citrange(folder.path(), &words);
        let file: Value = serde_json::from_slice(&done.stdout).unwrap();
        (done.status.code(), file["plans"][0].clone())
    };
    let (code, free) = ask("nothing.bin", &[]);
    assert_eq!((code, &free["outcome"]), (Some(0), &"found".into()));
    let (code, low) = ask("low.bin", &cells(true));
    assert_eq!((code, &low["outcome"]), (Some(0), &"found".into()));
    assert_ne!(free["waypoints"], low["waypoints"]);
    assert!(
        bad(folder.path(), &["ur5_cell", "--goal", "0.5 0 0.5", "--map", "none.bin"], 3)
            .contains("none.bin")
    );
}

#[test]
fn problems_of_a_file_are_solved_and_checked() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/plan");
    let told = good(&folder, &["bench", "problems_ur5.json", "--json", "--repeat", "1"]);
    let rows: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = &rows.last().unwrap()["summary"];
    for key in ["total", "solved", "valid"] {
        assert_eq!(summary[key], 51, "{summary}");
    }
    for row in &rows[..51] {
        let (raw, short) = (row["length_raw_rad"].as_f64(), row["length_rad"].as_f64());
        assert!(short <= raw, "{row}");
    }
    // Other seeds give other paths, the same seed the same.
    let text = std::fs::read_to_string(folder.join("problems_ur5.json")).unwrap();
    let mut few: Value = serde_json::from_str(&text).unwrap();
    few["problems"].as_array_mut().unwrap().truncate(4);
    let own = tempfile::tempdir().unwrap();
    std::fs::write(own.path().join("few.json"), few.to_string()).unwrap();
    let paths = |seed: &str| -> Vec<Value> {
        let words = ["bench", "few.json", "--json", "--repeat", "1", "--seed", seed];
        let told = good(own.path(), &words);
        let rows = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.take(4).map(|row| row["waypoints"].clone()).collect()
    };
    let first: Vec<Value> = rows[..4].iter().map(|row| row["waypoints"].clone()).collect();
    assert_eq!(paths("0"), first);
    assert_ne!(paths("1"), first);
    assert!(bad(&folder, &["bench", "ur5_robotiq.json"], 3).contains("problems in"));
}

/// Targets are sent ahead by the gains that the scene has chosen: with others the arm would be
/// off by many degrees, and the film would end with that.
#[test]
fn the_gains_of_the_scene_count() {
    let folder = tempfile::tempdir().unwrap();
    let scene = "name: t\ntitle: t\nrates: {physics_hz: 500, control_hz: 100, frame_hz: 20}\n\
        robots: {robot0: {model: ur5, servo: stiff}}\n\
        cameras: {c: {pos_m: [1, 1, 1], look_at_m: [0, 0, 0], fovy_deg: 50, width_px: 64, \
        height_px: 48}}\n";
    std::fs::write(folder.path().join("stiff.yaml"), scene).unwrap();
    let words = ["stiff.yaml", "--start", "ready", "--goal", "0.4 0.3 0.3", "--film", "f.mp4"];
    good(folder.path(), &words);
}
