//! The binary as a user meets it: output, exit codes, and clear errors.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{citrange, json, ok, stderr, stdout, temp};

#[test]
fn doctor_finds_engine_models_and_cameras() {
    let folder = temp();
    let report = json(&citrange(folder.path(), &["doctor", "--json"], &[]));
    let checks = report["checks"].as_array().unwrap();
    let graded = |what: &str| {
        let check = checks.iter().find(|c| c["check"] == what).unwrap();
        check["grade"].as_str().unwrap().to_owned()
    };
    for what in ["engine", "model so101", "model panda", "model ur5", "model ur5e"] {
        assert_eq!(graded(what), "OK", "{what}");
    }
    for scene in ["block_box", "multi_table_assembly", "orange_plate", "reach", "ur5_cell"] {
        assert_eq!(graded(&format!("cameras {scene}")), "OK");
    }
    assert!(["OK", "WARN"].contains(&graded("gl").as_str()));
    assert_eq!(graded("video"), "OK");
}

#[test]
fn scenes_are_listed_shown_and_drawn() {
    let folder = temp();
    let list = json(&citrange(folder.path(), &["scene", "list", "--json"], &[]));
    assert_eq!(list["scenes"].as_array().unwrap().len(), 5);
    let show = json(&citrange(folder.path(), &["scene", "show", "orange_plate", "--json"], &[]));
    assert_eq!(show["rates"]["physics_hz"], 360);
    assert_eq!(show["robots"][0]["joints"][0], "shoulder_pan");
    assert_eq!(show["model_sha256"].as_str().unwrap().len(), 64);
    let state = json(&citrange(folder.path(), &["scene", "show", "orange_plate", "--state"], &[]));
    assert!(state["objects"]["orange_1"]["pos"][2].as_f64().unwrap() > 0.02);
    let text = stdout(&citrange(folder.path(), &["scene", "show", "orange_plate"], &[]));
    assert!(text.contains("robot0 (so101)") && text.contains("camera    wrist 640x480"), "{text}");
    let args = ["scene", "render", "block_box", "--camera", "top", "-o", "deep/er/top.png"];
    let drawn = citrange(
        folder.path(),
        &[&args[..], &["--depth", "d.png", "--ids", "i.png"]].concat(),
        &[],
    );
    assert!(drawn.status.success(), "{}", stderr(&drawn));
    for file in ["deep/er/top.png", "d.png", "i.png"] {
        let decoder = png::Decoder::new(std::io::BufReader::new(
            std::fs::File::open(folder.path().join(file)).unwrap(),
        ));
        let reader = decoder.read_info().unwrap();
        assert_eq!((reader.info().width, reader.info().height), (640, 480), "{file}");
    }
    // The engine must not leave its log file in people's folders.
    assert!(!folder.path().join("MUJOCO_LOG.TXT").exists());
}

/// The export of a whole scene, taken for one robot: what lies loose in it is part of its State.
#[test]
fn loose_bodies_of_a_robots_file_are_in_its_state() {
    let folder = temp();
    let xml =
        stdout(&citrange(folder.path(), &["scene", "show", "multi_table_assembly", "--mjcf"], &[]));
    std::fs::write(folder.path().join("all.xml"), &xml).unwrap();
    let scene = "name: again\ntitle: t\nrates: {physics_hz: 500, control_hz: 20, frame_hz: 20}\n\
                 robots: {robot0: {model: all.xml}}\n";
    std::fs::write(folder.path().join("again.yaml"), scene).unwrap();
    let state = stdout(&ok(folder.path(), "scene show again.yaml --state"));
    for number in ["cubeA:px", "cubeB:qz", "robot0/joint7"] {
        assert!(state.contains(number), "{number}: {state}");
    }
}

#[test]
fn the_scene_in_the_readme_works_as_written() {
    let folder = temp();
    let readme = include_str!("../../../README.md");
    let yaml = readme.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    std::fs::write(folder.path().join("my_desk.yaml"), yaml).unwrap();
    let args = ["scene", "render", "my_desk.yaml", "--camera", "front", "-o", "front.png"];
    let drawn = citrange(folder.path(), &args, &[]);
    assert!(drawn.status.success(), "{}", stderr(&drawn));
    assert!(folder.path().join("front.png").exists());
}

#[test]
fn the_demo_puts_three_oranges_on_the_plate_and_leaves_pictures() {
    let folder = temp();
    let output = citrange(folder.path(), &["demo"], &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("placed: 3 of 3"), "{}", stderr(&output));
    let files: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
    assert_eq!(
        files,
        ["report.html", "film.mp4", "contact_sheet.png", "dataset"]
            .map(|f| format!("out/demo/{f}"))
    );
    assert!(stderr(&output).contains("bitwise equal"), "{}", stderr(&output));
    for file in files {
        let meta = folder.path().join(&file).metadata().unwrap();
        assert!(meta.is_dir() || meta.len() > 1000, "{file}");
    }
}

/// The verbs that the shell completes are those of the groups, in the order in which people meet
/// them.
#[test]
fn every_verb_stands_in_one_group() {
    let here = temp();
    let script = stdout(&ok(here.path(), "completions bash"));
    let words = script.split("opts=\"").nth(2).unwrap().split('"').next().unwrap();
    let verbs: Vec<&str> = words.split_whitespace().filter(|w| !w.starts_with('-')).collect();
    assert!(verbs.len() > 12, "{words}");
    let text = stdout(&ok(here.path(), "--help"));
    for verb in verbs {
        let starts = |line: &&str| line.starts_with(&format!("  {verb} "));
        assert_eq!(text.lines().filter(starts).count(), 1, "{verb} in\n{text}");
    }
    let order = ["Teach and record:", "  drive ", "Repeat and check:", "See and plan:", "Set up:"];
    let places: Vec<_> = order.iter().map(|word| text.find(word).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn sim_reports_speed_and_sanity() {
    let folder = temp();
    let args = ["sim", "orange_plate", "--envs", "4", "--seconds", "0.5", "--json"];
    let report = json(&citrange(folder.path(), &args, &[]));
    assert_eq!(report["physics_steps"], 4 * 180);
    assert!(report["steps_per_sec"].as_f64().unwrap() > 100.0);
    assert!(report["real_time_factor"].as_f64().unwrap() > 0.1);
    assert!(report["deepest_overlap_m"].as_f64().unwrap() < 0.003);
    assert_eq!(report["problems"].as_array().unwrap().len(), 0);
}

#[test]
fn insane_physics_is_found() {
    let folder = temp();
    // Two bodies that start inside each other: a deep overlap, and energy from nowhere.
    let scene = "name: burst\ntitle: t\nrates: {physics_hz: 360, control_hz: 180, frame_hz: 30}\n\
        fixtures:\n  slab: {parts: [{shape: {box: {half_m: [0.2, 0.2, 0.1]}}, pos_m: [0, 0, 0.08]}]}\n\
        objects:\n  ball: {parts: [{shape: {sphere: {radius_m: 0.05}}, mass_kg: 1}], place: {spot_m: [0, 0]}}\n";
    std::fs::write(folder.path().join("burst.yaml"), scene).unwrap();
    let output = citrange(folder.path(), &["sim", "burst.yaml", "--seconds", "0.2"], &[]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("overlap"), "{}", stderr(&output));
}

#[test]
fn mistakes_have_their_exit_codes_and_name_the_cure() {
    let folder = temp();
    let case = |args: &[&str], code: i32, parts: &[&str]| {
        let output = citrange(folder.path(), args, &[]);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
        for part in parts {
            assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
        }
        assert!(stdout(&output).is_empty(), "an error is no data: {}", stdout(&output));
    };
    case(&["scene", "show", "orange_plat"], 3, &["did you mean \"orange_plate\"?"]);
    case(
        &["scene", "render", "orange_plate", "--camera", "frnt", "-o", "x.png"],
        3,
        &["did you mean \"front\"?"],
    );
    case(&["sim", "orange_plate", "--envs", "0"], 3, &["environments: 0 given"]);
    case(&["sim", "orange_plate", "--envs", "many"], 2, &["--envs"]);
    case(&["simulate"], 2, &["unrecognized subcommand"]);
    case(
        &["scene", "render", "orange_plate", "--camera", "front", "-o", "/proc/x.png"],
        3,
        &["/proc/x.png"],
    );
    assert!(!folder.path().join("x.png").exists());
}

#[test]
fn a_missing_or_wrong_engine_is_named_by_every_command() {
    let folder = temp();
    let text = folder.path().join("text.so");
    std::fs::write(&text, "not a library").unwrap();
    let libc = some_library();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let damaged = folder.path().join("damaged/mujoco-3.17.0");
    std::fs::create_dir_all(&damaged).unwrap();
    std::fs::write(damaged.join("libmujoco.so.3.17.0"), "cut off").unwrap();
    let damaged = folder.path().join("damaged");
    let cases: [(&str, &Path, &[&str]); 5] = [
        (
            "CITRANGE_MUJOCO",
            &folder.path().join("nothing.so"),
            &["no such file", "correct or unset"],
        ),
        ("CITRANGE_MUJOCO", &text, &["is not the MuJoCo 3.17.0 library"]),
        ("CITRANGE_MUJOCO", &libc, &["it has no mj_version()"]),
        ("CITRANGE_CACHE", &empty, &["was not found", "citrange setup", "Looked at"]),
        ("CITRANGE_CACHE", &damaged, &["sha256", "citrange setup"]),
    ];
    for (key, value, parts) in cases {
        let env = [(key, value.to_str().unwrap())];
        for args in [&["scene", "show", "orange_plate"][..], &["sim", "orange_plate"], &["demo"]] {
            let output = citrange(folder.path(), args, &env);
            assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stderr(&output));
            for part in parts {
                assert!(stderr(&output).contains(part), "{key} {args:?}: {}", stderr(&output));
            }
        }
        let doctor = citrange(folder.path(), &["doctor"], &env);
        assert_eq!(doctor.status.code(), Some(4));
        assert!(stdout(&doctor).contains("FAIL engine") && stdout(&doctor).contains(parts[0]));
    }
}

#[test]
fn a_users_own_engine_is_honoured() {
    let folder = temp();
    let report = json(&citrange(folder.path(), &["doctor", "--json"], &[]));
    let detail = report["checks"][0]["detail"].as_str().unwrap();
    let library = detail.split(" from ").nth(1).unwrap();
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::copy(library, own.join("libmujoco.so.3.17.0")).unwrap();
    let empty = folder.path().join("empty");
    let env =
        [("CITRANGE_MUJOCO", own.to_str().unwrap()), ("CITRANGE_CACHE", empty.to_str().unwrap())];
    let report = json(&citrange(folder.path(), &["doctor", "--json"], &env));
    assert!(report["checks"][0]["detail"].as_str().unwrap().contains("your own copy"));
}

#[test]
fn setup_is_quick_when_done_and_clear_when_it_cannot_fetch() {
    let folder = temp();
    let there = citrange(folder.path(), &["setup"], &[]);
    assert!(there.status.success(), "{}", stderr(&there));
    assert!(Path::new(stdout(&there).trim()).is_file());
    // No package client on the path and nothing cached.
    let empty = folder.path().join("cache");
    let env = [("CITRANGE_CACHE", empty.to_str().unwrap()), ("PATH", "/nowhere")];
    let output = citrange(folder.path(), &["setup"], &env);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("could not fetch") && text.contains("CITRANGE_MUJOCO"), "{text}");
    let left: Vec<_> = std::fs::read_dir(&empty).unwrap().collect();
    assert!(left.is_empty(), "a failed fetch leaves nothing behind: {left:?}");
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = temp();
    let mut child = Command::new(env!("CARGO_BIN_EXE_citrange"))
        .args(["scene", "show", "orange_plate", "--mjcf"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
}

/// Any shared library that is not MuJoCo: the C library of this very process.
fn some_library() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let path =
        maps.lines().filter_map(|l| l.split_whitespace().last()).find(|p| p.contains("libc.so"));
    PathBuf::from(path.unwrap())
}
