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
    let words = ["ur5_cell", "--episode", "1", "--goal", "0.55 -0.35 0.12", "--checks", "20000"];
    let with = |threads: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
        command.current_dir(folder.path()).arg("plan").args(words);
        command.args(["--json"]).env("RAYON_NUM_THREADS", threads);
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

const PLAIN_URDF: &str = r#"<robot name="plain">
  <link name="base"><collision><geometry><cylinder radius="0.08" length="0.1"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="column"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 0.1"/><limit lower="-3" upper="3" velocity="2" effort="50"/></joint>
  <link name="column"><inertial><mass value="3"/><origin xyz="0 0 0.1"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.1"/><geometry><cylinder radius="0.05" length="0.2"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="column"/><child link="upper"/><axis xyz="0 1 0"/>
    <origin xyz="0 0.1 0.2"/><limit lower="-2" upper="2" velocity="2" effort="50"/></joint>
  <link name="upper"><inertial><mass value="2"/><origin xyz="0 0 0.2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.04" length="0.4"/></geometry></collision></link>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/>
    <origin xyz="0 -0.1 0.4"/><limit lower="-2.5" upper="2.5" velocity="2" effort="50"/></joint>
  <link name="fore"><inertial><mass value="1"/><origin xyz="0 0 0.15"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.15"/><geometry><cylinder radius="0.03" length="0.3"/></geometry></collision></link>
  <joint name="wrist" type="revolute"><parent link="fore"/><child link="tool"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.32"/><limit lower="-2" upper="2" velocity="2" effort="20"/></joint>
  <link name="tool"><inertial><mass value="0.3"/><origin xyz="0 0 0.05"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.05"/><geometry><sphere radius="0.03"/></geometry></collision></link>
</robot>"#;

#[test]
fn a_plain_urdf_goes_around_obstacles_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("arm.urdf"), PLAIN_URDF).unwrap();
    let post = |name: &str, x: f64, y: f64| {
        let text = format!(
            "fixtures:\n  {name}:\n    pos_m: [{x}, {y}, 0]\n    parts:\n\
             \x20     - {{shape: {{cylinder: {{radius_m: 0.05, half_height_m: 0.6}}}}, \
             pos_m: [0, 0, 0.6]}}\n"
        );
        std::fs::write(folder.path().join(format!("{name}.yaml")), text).unwrap();
    };
    post("post", 0.45, 0.0);
    post("pole", 0.0, 0.5);
    let asked = ["--robot", "arm.urdf", "--start=-0.8 1 0.5 0", "--goal-joints", "0.8 1 0.5 0"];
    let plan = |more: &[&str]| -> Value {
        let told = good(folder.path(), &[asked.as_slice(), more, &["--json"]].concat());
        serde_json::from_str(&told).unwrap()
    };
    let length = |file: &Value| file["plans"][0]["length_rad"].as_f64().unwrap();
    let open = plan(&[]);
    assert!((length(&open) - 1.6).abs() < 1e-6, "{open}");
    let around = plan(&["--obstacles", "post.yaml"]);
    assert_eq!(around["plans"][0]["outcome"], "found");
    assert!(length(&around) > 1.7, "{}", length(&around));
    assert_eq!(around["plans"][0]["is_reproducible"], true);
    // The same everywhere, and a clock is said to be one.
    assert_eq!(
        around["plans"][0]["waypoints"],
        plan(&["--obstacles", "post.yaml"])["plans"][0]["waypoints"]
    );
    let timed = plan(&["--obstacles", "post.yaml", "--budget-ms", "20"]);
    assert_eq!(timed["plans"][0]["is_reproducible"], false);
    // A scene with such a robot.
    let scene = "name: t\ntitle: t\nrates: {physics_hz: 500, control_hz: 100, frame_hz: 20}\n\
                 robots: {robot0: {model: arm.urdf}}\n";
    std::fs::write(folder.path().join("scene.yaml"), scene).unwrap();
    let words = ["scene.yaml", "--start=-0.8 1 0.5 0", "--goal-joints", "0.8 1 0.5 0"];
    good(folder.path(), &words);
    // What is in the way is called by its name, and mistakes by their place.
    let into = ["--robot", "arm.urdf", "--obstacles", "post.yaml", "--start=-0.8 1 0.5 0"];
    let into = bad(folder.path(), &[&into[..], &["--goal-joints", "0 1 0.5 0"]].concat(), 4);
    assert!(into.contains("post"), "{into}");
    let broken = folder.path().join("broken.yaml");
    std::fs::write(&broken, "fixtures:\n  a: {part: []}\n").unwrap();
    let words = [asked.as_slice(), &["--obstacles", "broken.yaml"]].concat();
    let told = bad(folder.path(), &words, 3);
    assert!(told.contains("broken.yaml:2") && told.contains("parts"), "{told}");

    // Replanned: kept, then not.
    good(
        folder.path(),
        &[asked.as_slice(), &["--obstacles", "post.yaml", "-o", "old.json"]].concat(),
    );
    let again = |more: &[&str]| -> Value {
        let words = ["--robot", "arm.urdf", "--replan-from", "old.json", "--json"];
        serde_json::from_str(&good(folder.path(), &[&words[..], more].concat())).unwrap()
    };
    let kept = again(&["--obstacles", "post.yaml"]);
    assert_eq!(kept["plans"][0]["reused"], "kept");
    assert_eq!(kept["plans"][0]["waypoints"], around["plans"][0]["waypoints"]);
    let newer = again(&["--obstacles", "post.yaml", "--obstacles", "pole.yaml"]);
    assert_eq!(newer["plans"][0]["outcome"], "found");
    bad(folder.path(), &["--robot", "arm.urdf", "--replan-from", "post.yaml"], 3);
}

#[test]
fn problems_are_made_for_any_robot_and_solved() {
    let folder = tempfile::tempdir().unwrap();
    let made = |robot: &str, name: &str| {
        let words =
            ["generate", robot, "--each", "2", "--seed", "7", "-o", name, "--body", "b.json"];
        good(folder.path(), &words);
        std::fs::read_to_string(folder.path().join(name)).unwrap()
    };
    for robot in ["so101", "panda", "ur5"] {
        let text = made(robot, "a.json");
        assert_eq!(text, made(robot, "again.json"), "{robot}");
        let file: Value = serde_json::from_str(&text).unwrap();
        let problems = file["problems"].as_array().unwrap();
        assert_eq!(problems.len(), 12);
        assert!(text.contains("cylinders") && text.contains("half_height"));
        let told = good(folder.path(), &["bench", "a.json", "--json", "--repeat", "1"]);
        let rows: Vec<Value> = told.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        for (row, problem) in rows.iter().zip(problems) {
            let found = row["outcome"] == "found";
            assert!(found || problem["solvable"] == false, "{robot}: {row}");
            if found {
                let [short, simple] =
                    ["length_rad", "length_simplified_rad"].map(|key| row[key].as_f64().unwrap());
                assert!(short <= simple);
            }
        }
    }
    let curve = ["bench", "a.json", "--checks", "0,2000", "--first", "1", "--json"];
    let curve: Value = serde_json::from_str(&good(folder.path(), &curve)).unwrap();
    assert_eq!(curve["problems"].as_array().unwrap().len(), 6);
    assert_eq!(curve["families"]["all"]["budgets"].as_array().unwrap().len(), 2);
    bad(folder.path(), &["generate", "so102", "-o", "x.json"], 3);
}
