//! `citrange space`: frames to voxels, maps, pictures and camera poses, and bad input refused.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use citrange_cloud::CameraPose;
use citrange_cloud::{Cloud, CloudFile, NpzArray, Points as _, Sidecar, write_cloud, write_npz};
use citrange_space::MapSnapshot;
use serde_json::{Value, json};

fn citrange(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_citrange")).arg("space").args(words).output().unwrap()
}

fn good(words: &[&str]) -> String {
    let done = citrange(words);
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Bad input: exit code 3, and the message says what.
fn refused(words: &[&str], says: &[&str]) {
    let done = citrange(words);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(3), "{words:?}: {told}");
    for words in says {
        assert!(told.contains(words), "{told:?} does not say {words:?}");
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Frames of the UR5e cell.
fn simulated(folder: &Path, frames: u32) -> Vec<PathBuf> {
    let count = frames.to_string();
    let words =
        ["simulate", "ur5_cell", "--camera", "depth", "--frames", &count, "-o", text(folder)];
    good(&words).lines().map(PathBuf::from).collect()
}

#[test]
fn frames_become_voxels_a_map_and_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let frames = simulated(&folder.path().join("clouds"), 2);
    assert_eq!(frames.len(), 2);
    let (map, saved) = (folder.path().join("map.bin"), folder.path().join("saved"));
    let told = good(&[
        "run",
        text(&frames[0]),
        text(&frames[1]),
        "--json",
        "--map",
        text(&map),
        "--save",
        text(&saved),
        "--threads",
        "2",
        "--repeat",
        "2",
    ]);
    let told: Vec<Value> = told.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(told.len(), 3);
    let first = &told[0];
    let counts = first["counts"].as_object().unwrap();
    let sum: u64 = counts.values().map(|v| v.as_u64().unwrap()).sum();
    assert_eq!(sum, 640 * 480);
    assert_eq!(first["points"], 640 * 480);
    // The robot's own links are seen and taken away.
    assert!(counts["robot"].as_u64().unwrap() > 1000);
    assert!(counts["unsupported"].as_u64().unwrap() > 10);
    let voxels = first["voxels"].as_u64().unwrap() as usize;
    assert!((500..3000).contains(&voxels));
    assert!(first["hz"].as_f64().unwrap() > 0.0);
    for stage in ["front", "voxels", "clusters"] {
        assert!(first["ms"][stage].as_f64().unwrap() > 0.0, "{stage}");
    }
    let map = MapSnapshot::load(&map).unwrap();
    assert_eq!(map.voxels().len() as u64, told[2]["map_voxels"].as_u64().unwrap());
    assert!(map.voxels().len() >= voxels);
    // Above the table's middle, then in it.
    assert!(map.distance([0.6, 0.0, 0.9]).distance_m > 0.3);
    assert!(map.sphere_hit([0.6, 0.0, 0.0], 0.05));

    let name = frames[0].file_stem().unwrap().to_str().unwrap();
    let ply = CloudFile::read(&saved.join(format!("{name}.voxels.ply")), None).unwrap();
    assert_eq!(ply.cloud.len(), voxels);
    for ending in ["voxels.npz", "fates.npz", "json"] {
        assert!(saved.join(format!("{name}.{ending}")).exists(), "{ending}");
    }

    let picture = folder.path().join("map.png");
    good(&["view", text(&frames[0]), "-o", text(&picture)]);
    let decoder =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&picture).unwrap()));
    let info = decoder.read_info().unwrap();
    assert_eq!((info.info().width, info.info().height), (1280, 1012));
}

#[test]
fn the_same_seed_takes_the_same_frames() {
    let folder = tempfile::tempdir().unwrap();
    let one = simulated(&folder.path().join("one"), 1);
    let two = simulated(&folder.path().join("two"), 1);
    assert_eq!(std::fs::read(&one[0]).unwrap(), std::fs::read(&two[0]).unwrap());
    let ideal = folder.path().join("ideal");
    good(&["simulate", "ur5_cell", "--camera", "depth", "--sensor", "ideal", "-o", text(&ideal)]);
    let ideal = CloudFile::read(&ideal.join("frame_000.npz"), None).unwrap();
    let noisy = CloudFile::read(&one[0], None).unwrap();
    assert_ne!(ideal.cloud.xyz_m, noisy.cloud.xyz_m);
    let flying = |file: &CloudFile| {
        file.labels.as_ref().unwrap().iter().filter(|label| **label == 254).count()
    };
    assert_eq!(flying(&ideal), 0);
    assert!(flying(&noisy) > 100);
}

/// A wall in front of a camera at the origin that looks along z.
fn wall(points: usize) -> Cloud {
    let xyz_m = (0..points).map(|i| [0.01 * (i % 50) as f32, 0.01 * (i / 50) as f32, 1.0]);
    Cloud::new(xyz_m.collect(), Vec::new(), points, 7).unwrap()
}

fn cell(folder: &Path, more: &Value) -> PathBuf {
    let mut cell = json!({
        "cameras": {"origin": {"xyz_m": [0, 0, 0], "rpy_deg": [0, 0, 0]}},
        "pipeline": {"workspace": {"lower_m": [-1, -1, -1], "upper_m": [2, 2, 2]}},
    });
    for (key, value) in more.as_object().unwrap() {
        cell[key] = value.clone();
    }
    let path = folder.join("cell.yaml");
    std::fs::write(&path, cell.to_string()).unwrap();
    path
}

#[test]
fn bad_frames_are_refused_or_empty() {
    let folder = tempfile::tempdir().unwrap();
    let config = cell(folder.path(), &json!({}));
    let config = text(&config);
    let file = |name: &str| folder.path().join(name);

    let lost = file("lost.npz");
    write_cloud(&lost, &wall(100)).unwrap();
    refused(&["run", text(&lost)], &["lost.npz", "where was it taken", "T_cam_to_world"]);
    refused(&["view", text(&file("none.pcd")), "-o", "x.png", "--config", config], &["none.pcd"]);

    // Nothing, and nothing but NaN: an empty map, no error.
    for (name, points) in [("zero.npz", vec![]), ("nan.npz", vec![f32::NAN; 300])] {
        let path = file(name);
        write_npz(&path, &[("xyz", NpzArray::F32(&points, &[points.len() / 3, 3]))]).unwrap();
        let told = good(&["run", text(&path), "--config", config, "--json"]);
        let told: Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
        assert_eq!((&told["voxels"], &told["counts"]["kept"]), (&json!(0), &json!(0)));
    }

    let short = file("short.npz");
    std::fs::write(&short, &std::fs::read(&lost).unwrap()[..90]).unwrap();
    refused(&["run", text(&short), "--config", config], &["short.npz"]);
    let wrong = file("wrong.npz");
    write_npz(&wrong, &[("xyz", NpzArray::F32(&[0.0; 8], &[4, 2]))]).unwrap();
    refused(&["run", text(&wrong), "--config", config], &["wrong.npz", "(N, 3)"]);
    refused(&["run", text(&lost), "--config", config, "--width", "7"], &["rows of 7"]);

    let bent = file("bent.npz");
    write_cloud(&bent, &wall(100)).unwrap();
    let side = json!({"T_cam_to_world": [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]});
    std::fs::write(file("bent.json"), side.to_string()).unwrap();
    refused(&["run", text(&bent)], &["T_cam_to_world", "rotation"]);
}

#[test]
fn time_backwards_and_full_pools_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let config = cell(folder.path(), &json!({}));
    let frames = [folder.path().join("a.npz"), folder.path().join("b.npz")];
    for (path, stamp_ns) in frames.iter().zip([9_000_000_000, 8_000_000_000]) {
        let cloud = Cloud { stamp_ns, ..wall(500) };
        let file = CloudFile { cloud, labels: None, sidecar: Sidecar::default() };
        file.write_npz(path).unwrap();
    }
    let [a, b] = [text(&frames[0]), text(&frames[1])];
    good(&["run", b, a, "--config", text(&config)]);
    refused(&["run", a, b, "--config", text(&config)], &["time goes backwards", "8000000000"]);

    let pipeline = json!({
        "workspace": {"lower_m": [-1, -1, -1], "upper_m": [2, 2, 2]}, "num_voxels": 3,
    });
    let config = cell(folder.path(), &json!({ "pipeline": pipeline }));
    refused(&["run", a, "--config", text(&config)], &["the pool holds 3", "num_voxels"]);
}

#[test]
fn wrong_keys_and_robots_without_joints_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let frame = folder.path().join("a.npz");
    write_cloud(&frame, &wall(500)).unwrap();
    let config = cell(folder.path(), &json!({"pipeline": {"voxel_sise_m": 0.05}}));
    refused(&["run", text(&frame), "--config", text(&config)], &["voxel_sise_m", "voxel_size_m"]);
    let config = cell(folder.path(), &json!({"pipeline": {"voxel_size": -1}}));
    refused(&["run", text(&frame), "--config", text(&config)], &["voxel_size_m", "above 0"]);
    let config = cell(folder.path(), &json!({"robot": {"model": "ur5"}}));
    refused(&["run", text(&frame), "--config", text(&config)], &["joints_rad"]);
    let robot = json!({"model": "ur5", "joints_rad": [0, -1, 1, 0, 0, 0]});
    let config = cell(folder.path(), &json!({ "robot": robot }));
    good(&["run", text(&frame), "--config", text(&config)]);
    let cameras = json!({"left": {"xyz_m": [0, 0, 0]}, "right": {"xyz_m": [0, 0.1, 0]}});
    let config = cell(folder.path(), &json!({ "cameras": cameras }));
    refused(&["run", text(&frame), "--config", text(&config)], &["left, right", "which one"]);
    good(&["run", text(&frame), "--config", text(&config), "--camera", "right"]);
    refused(
        &["run", text(&frame), "--config", text(&config), "--camera", "middle"],
        &["no camera middle", "left, right"],
    );
}

#[test]
fn pairs_of_points_say_where_the_camera_stands() {
    let folder = tempfile::tempdir().unwrap();
    let truth = CameraPose { xyz_m: [0.15, 1.7, 0.9], rpy_deg: [-114.0, 3.0, 174.0] };
    let camera = [[0.1, 0.2, 1.0], [-0.3, 0.1, 1.2], [0.2, -0.4, 0.9], [0.0, 0.3, 1.5]];
    let world: Vec<Vec<f64>> = camera
        .iter()
        .map(|p| (truth.pose().isometry() * nalgebra::Point3::from(*p)).coords.as_slice().to_vec())
        .collect();
    let file = folder.path().join("pairs.json");
    std::fs::write(&file, json!({ "camera": camera, "world": world }).to_string()).unwrap();
    let pose = folder.path().join("pose.yaml");
    let told = good(&["calibrate", "pairs", text(&file), "--save", text(&pose)]);
    assert!(told.contains("rms 0.00 mm"), "{told}");
    let found = CameraPose::load(&pose).unwrap();
    for (a, b) in found.xyz_m.iter().chain(&found.rpy_deg).zip([0.15, 1.7, 0.9, -114.0, 3.0, 174.0])
    {
        assert!((a - b).abs() < 1e-9, "{found:?}");
    }
    // A cell that takes the pose from that file.
    let cameras = json!({"depth": {"pose_file": "pose.yaml"}});
    let config = cell(folder.path(), &json!({ "cameras": cameras }));
    let frame = folder.path().join("a.npz");
    write_cloud(&frame, &wall(500)).unwrap();
    good(&["run", text(&frame), "--config", text(&config)]);
    std::fs::write(&file, json!({"camera": camera, "world": [[0, 0, 0]]}).to_string()).unwrap();
    refused(&["calibrate", "pairs", text(&file)], &["4", "1"]);
}

#[test]
fn a_camera_is_adjusted_by_hand_and_by_the_robot_it_sees() {
    let folder = tempfile::tempdir().unwrap();
    let frame = &simulated(folder.path(), 1)[0];
    let pose = folder.path().join("pose.yaml");
    let mut child = Command::new(env!("CARGO_BIN_EXE_citrange"))
        .args(["space", "calibrate", "adjust", text(frame), "--save", text(&pose)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = "x++\nx++\nyaw+\nnonsense\nundo\nfit\nsave\nquit\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let told = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 8, "{told}");
    let off = |line: &str| -> f64 {
        let (_, rest) = line.split_once("robot seen ").unwrap();
        rest.split_once(" mm").unwrap().0.parse().unwrap()
    };
    assert!(off(lines[0]) < 3.0, "as it stands: {}", lines[0]);
    assert!((17.0..23.0).contains(&off(lines[2])), "2 cm off: {}", lines[2]);
    assert!(lines[4].contains("not understood"), "{told}");
    assert!(off(lines[6]) < 3.0, "brought back: {}", lines[6]);
    assert!(pose.exists());
}

#[test]
fn a_camera_that_was_pushed_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let frame = &simulated(folder.path(), 1)[0];
    let side: Value =
        serde_json::from_slice(&std::fs::read(frame.with_extension("json")).unwrap()).unwrap();
    for (name, shift_m, moved) in [("stands", 0.0, false), ("pushed", 0.03, true)] {
        let mut frames = Vec::new();
        for index in 0..6_u64 {
            let path = folder.path().join(format!("{name}_{index}.npz"));
            std::fs::copy(frame, &path).unwrap();
            let mut side = side.clone();
            side["stamp_ns"] = json!(1_000_000_000 + index * 33_000_000);
            let x = side["T_cam_to_world"][0][3].as_f64().unwrap();
            side["T_cam_to_world"][0][3] = json!(x + shift_m);
            std::fs::write(path.with_extension("json"), side.to_string()).unwrap();
            frames.push(path);
        }
        let mut words = vec!["run", "--drift", "--json"];
        words.extend(frames.iter().map(|path| text(path)));
        let done = citrange(&words);
        assert_eq!(done.status.code(), Some(if moved { 4 } else { 0 }), "{name}");
        let told = String::from_utf8(done.stdout).unwrap();
        assert_eq!(told.contains("the camera has moved"), moved, "{told}");
        assert_eq!(told.contains("\"verdict\":\"fine\""), !moved, "{told}");
    }
}
