//! 9: no key of a problem is passed over, goals are exact, and two seeds are two options.

use std::path::Path;

use crate::common::{citrange, stderr, temp};
use serde_json::{Value, json};

/// One problem: half a turn of the shoulder, with things in the way.
fn problems(folder: &Path, name: &str, key: &str, things: &Value) -> String {
    let mut problem = json!({
        "name": "p", "cls": "c", "start": [-0.8, -1.5, 0.5, -1, 0, 0],
        "goal": [0.8, -1.5, 0.5, -1, 0, 0], "boxes": [], "spheres": [], "capsules": [],
        "valid_primitives": true,
    });
    problem[key] = things.clone();
    let file = json!({
        "robot": "ur5", "joint_names": ["a", "b", "c", "d", "e", "f"],
        "joint_limits": vec![[-3.1, 3.1]; 6], "voxel_size": 0.05, "problems": [problem],
    });
    std::fs::write(folder.join(name), file.to_string()).unwrap();
    name.to_owned()
}

fn bench(folder: &Path, file: &str) -> (Option<i32>, String, Vec<Value>) {
    let words = ["plan", "bench", file, "--json", "--repeat", "1", "--time-ms", "3000"];
    let done = citrange(folder, &words, &[]);
    let rows = String::from_utf8(done.stdout.clone()).unwrap();
    let rows = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (done.status.code(), stderr(&done), rows)
}

#[test]
fn no_obstacle_is_passed_over() {
    let folder = temp();
    // A pillar where the arm starts, as a box and as a cylinder.
    let at = json!({"center": [0, 0, 1.3], "quat_xyzw": [0, 0, 0, 1]});
    let with = |more: Value| {
        let mut thing = at.clone();
        thing.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([thing])
    };
    let boxes = with(json!({"half": [0.15, 0.15, 0.2]}));
    let cylinders = with(json!({"radius": 0.15, "half_height": 0.2}));
    for (key, things) in [("boxes", &boxes), ("cylinders", &cylinders)] {
        let file = problems(folder.path(), "good.json", key, things);
        let (code, said, rows) = bench(folder.path(), &file);
        assert_eq!(code, Some(0), "{key}: {said}");
        assert_eq!(rows[0]["outcome"], "start_in_collision", "{key}");
        assert_eq!(rows[1]["summary"]["solved"], 0, "{key}");
        assert_eq!(rows[1]["summary"]["cylinders_as_boxes"], 0, "{key}");
    }
    let rounded = with(json!({"half": [0.15, 0.15, 0.2], "rounding": 0.1}));
    for (key, things) in [("cones", &cylinders), ("boxes", &rounded)] {
        let file = problems(folder.path(), "bad.json", key, things);
        let (code, said, rows) = bench(folder.path(), &file);
        assert_eq!(code, Some(3), "{key}: {said}");
        assert!(said.contains("unknown field"), "{key}: {said}");
        assert!(rows.iter().all(|row| row["event"] == "error"), "{key}: {rows:?}");
    }
}

/// Other files that we read: a wrong key in each.
#[test]
fn every_reader_refuses_a_key_that_it_does_not_know() {
    let folder = temp();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let scene = "name: t\ntitle: t\nrates: {physics_hz: 500, control_hz: 100, frame_hz: 20}\n\
                 robots: {robot0: {model: so101}}\n";
    file("scene.yaml", &format!("{scene}colour: red\n"));
    let robots = "robots: {robot0: {model: so101, poze: pick}}";
    file("robot.yaml", &scene.replace("robots: {robot0: {model: so101}}", robots));
    file("cell.yaml", "pipeline: {voxel_sise: 0.05}\n");
    file("pose.yaml", "cameras: {c: {xyz_m: [0, 0, 0], rpy_deg: [0, 0, 0], roll: 1}}\n");
    let cloud = citrange_cloud::Cloud::new(vec![[0.1, 0.1, 1.0]; 9], Vec::new(), 3, 7).unwrap();
    citrange_cloud::write_cloud(&folder.path().join("frame.npz"), &cloud).unwrap();
    file("frame.json", "{\"widht\": 3}");
    file("pairs.json", "{\"camera\": [], \"world\": [], \"wrold\": []}");
    file("randomise.yaml", "lihgt: 1\n");
    let body = include_str!("../../../../benches/plan/ur5_robotiq.json");
    file("body.json", &body.replacen("\"format\"", "\"colour\": 1, \"format\"", 1));
    let good = problems(folder.path(), "good.json", "boxes", &json!([]));
    for (words, key) in [
        ("scene show scene.yaml", "colour"),
        ("scene show robot.yaml", "poze"),
        ("space run frame.npz --config cell.yaml", "voxel_sise"),
        ("space run frame.npz --config pose.yaml", "roll"),
        ("space run frame.npz", "widht"),
        ("space calibrate pairs pairs.json", "wrold"),
        ("collect orange_plate --episodes 1 --out set --randomise randomise.yaml", "lihgt"),
        (&format!("plan bench {good} --body body.json"), "colour"),
    ] {
        let list: Vec<&str> = words.split(' ').collect();
        let done = citrange(folder.path(), &list, &[]);
        let said = stderr(&done);
        assert!(!done.status.success() && said.contains(key), "{words}: {said}");
    }
}

fn plan(folder: &Path, words: &[&str]) -> (Option<i32>, String, Value) {
    let done = citrange(folder, &[&["plan"], words, &["--json"]].concat(), &[]);
    let told = serde_json::from_slice(&done.stdout).unwrap_or_default();
    (done.status.code(), stderr(&done), told)
}

#[test]
fn goals_are_exact_unless_asked_otherwise() {
    let folder = temp();
    let far = ["orange_plate", "--goal", "0.5 0 0.1"];
    let (code, said, told) = plan(folder.path(), &far);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("out of reach") && said.contains("--tolerance-m"), "{said}");
    let nearest_m = told["plans"][0]["nearest_m"].as_f64().unwrap();
    assert!((0.001..0.2).contains(&nearest_m), "{nearest_m}");
    let allowed = format!("{}", nearest_m + 0.005);
    let (code, said, told) =
        plan(folder.path(), &[&far[..], &["--tolerance-m", &allowed]].concat());
    assert_eq!(code, Some(0), "{said}");
    let reached_m = told["plans"][0]["reached_m"].as_f64().unwrap();
    assert!((0.5 * nearest_m..nearest_m + 0.005).contains(&reached_m), "{reached_m}");

    // Five joints have not every turn: how far it is off is said, and may be allowed.
    let turned = ["orange_plate", "--goal", "0.2 0.05 0.15 0.3 1.2 0.4"];
    let (code, said, told) = plan(folder.path(), &turned);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("degrees away"), "{said}");
    let off = &told["plans"][0];
    let (off_m, off_rad) =
        (off["nearest_m"].as_f64().unwrap(), off["nearest_rad"].as_f64().unwrap());
    assert!(off_m > 1e-4 || off_rad > 0.0018, "{off_m} {off_rad}");
    let about = ["--tolerance-deg", "30"];
    let (code, said, told) = plan(folder.path(), &[&turned[..], &about].concat());
    assert_eq!(code, Some(0), "{said}");
    let plan_told = &told["plans"][0];
    assert!((0.002..0.524).contains(&plan_told["reached_rad"].as_f64().unwrap()), "{plan_told}");
    assert!(plan_told["reached_m"].as_f64().unwrap() <= 1e-4, "{plan_told}");

    // What can be had exactly is, and is said to be.
    let pose = ["ur5_cell", "--goal", "0.5 0.2 0.4 3.1 0 1"];
    let (code, said, told) = plan(folder.path(), &pose);
    assert_eq!(code, Some(0), "{said}");
    assert!(told["plans"][0]["reached_m"].as_f64().unwrap() < 1e-4);
    assert!(told["plans"][0]["reached_rad"].as_f64().unwrap() < 1.8e-3);
    let done = citrange(folder.path(), &[&["plan"], &pose[..]].concat(), &[]);
    let line = String::from_utf8(done.stdout).unwrap();
    assert!(line.contains("0.00 mm and 0.00 degrees off"), "{line}");
}

#[test]
fn the_search_and_the_scene_have_seeds_of_their_own() {
    let folder = temp();
    let goal = ["ur5_cell", "--goal", "0.55 -0.35 0.3", "--margin-m", "0.002"];
    let ask = |more: &[&str]| plan(folder.path(), &[&goal[..], more].concat()).2;
    let plain = ask(&[]);
    assert_eq!((&plain["seed"], &plain["episode_seed"]), (&json!(0), &json!(0)));
    let other = ask(&["--seed", "5"]);
    assert_eq!((&other["seed"], &other["episode_seed"]), (&json!(5), &json!(0)));
    let moved = ask(&["--episode-seed", "5"]);
    assert_eq!((&moved["seed"], &moved["episode_seed"]), (&json!(0), &json!(5)));
    // Where things are does not depend on the search: a goal inside of one stays inside.
    let state = |seed: &str| {
        let words = ["scene", "show", "ur5_cell", "--state", "--seed", seed, "--json"];
        let done = citrange(folder.path(), &words, &[]);
        assert!(done.status.success(), "{}", stderr(&done));
        let told: Value = serde_json::from_slice(&done.stdout).unwrap();
        let at = |axis: usize| told["objects"]["carton_tall"]["pos"][axis].as_f64().unwrap();
        format!("{} {} 0.2", at(0), at(1))
    };
    let (first, second) = (state("0"), state("5"));
    assert_ne!(first, second);
    let hits = |goal: &str, more: &[&str]| {
        let words = [&["ur5_cell", "--goal", goal][..], more].concat();
        plan(folder.path(), &words).1.contains("into carton_tall")
    };
    assert!(hits(&first, &["--seed", "5"]) && hits(&second, &["--episode-seed", "5"]));
    assert!(!hits(&second, &["--seed", "5"]));
}
