//! `citrange space run` of recordings and of sequences of several cameras; `space simulate` of
//! sequences, whose truth the tracks are held against.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use citrange_cloud::{
    CameraInfo, CloudFile, Compression, ImageMessage, JointState, McapSettings, McapWriter,
    MessageHeader, RosMessage, StampedTransform, TransformMessage, WireFormat, message_of,
    pack_xyz_rgb, ros2_definition,
};
use citrange_core::Pose;
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion};
use serde_json::{Value, json};

fn citrange(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_citrange")).arg("space").args(words).output().unwrap()
}

fn good(words: &[&str]) -> String {
    let done = citrange(words);
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn lines(told: &str) -> Vec<Value> {
    told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn side(frame: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(frame.with_extension("json")).unwrap()).unwrap()
}

/// The pose of the camera as a transform, part of it in the middle of a chain.
fn chain(side: &Value, stamp_ns: u64) -> [StampedTransform; 2] {
    let m = |row: usize, column: usize| side["T_cam_to_world"][row][column].as_f64().unwrap();
    let rotation = Rotation3::from_matrix_unchecked(Matrix3::from_fn(m));
    let world_from_camera = Isometry3::from_parts(
        Translation3::new(m(0, 3), m(1, 3), m(2, 3)),
        UnitQuaternion::from_rotation_matrix(&rotation),
    );
    let world_from_mount = Isometry3::translation(0.3, -0.2, 1.0);
    let transform = |parent: &str, child: &str, pose: Isometry3<f64>| {
        let Pose { pos_m, quat_wxyz: [w, x, y, z] } = pose.into();
        let header = MessageHeader { seq: 0, stamp_ns, frame_id: parent.to_owned() };
        let (child_frame, rotation_xyzw) = (child.to_owned(), [x, y, z, w]);
        StampedTransform { header, child_frame, translation_m: pos_m, rotation_xyzw }
    };
    [
        transform("world", "mount", world_from_mount),
        transform("mount", "camera_optical", world_from_mount.inverse() * world_from_camera),
    ]
}

/// Writes what a running ROS 2 system would have recorded of these frames.
fn record(path: &Path, frames: &[PathBuf]) {
    let settings = McapSettings { compression: Compression::Zstd, ..McapSettings::default() };
    let mut writer =
        McapWriter::new(std::fs::File::create(path).unwrap(), text(path), settings).unwrap();
    let channel = |writer: &mut McapWriter<_>, topic: &str, [package, name]: [&str; 2]| {
        let text = ros2_definition([package, name]).unwrap();
        let type_name = format!("{package}/msg/{name}");
        let schema = writer.add_schema(&type_name, "ros2msg", text.as_bytes()).unwrap();
        writer.add_channel(topic, "cdr", schema).unwrap()
    };
    let statics = channel(&mut writer, "/tf_static", TransformMessage::TYPE);
    let moving = channel(&mut writer, "/tf", TransformMessage::TYPE);
    let info = channel(&mut writer, "/camera/depth/camera_info", CameraInfo::TYPE);
    let depth = channel(&mut writer, "/camera/depth/image", ImageMessage::TYPE);
    let points = channel(&mut writer, "/camera/points", ["sensor_msgs", "PointCloud2"]);
    let joints = channel(&mut writer, "/joint_states", JointState::TYPE);
    for (number, frame) in frames.iter().enumerate() {
        let CloudFile { cloud, .. } = CloudFile::read(frame, None).unwrap();
        let side = side(frame);
        let log_ns = cloud.stamp_ns + 5_000_000;
        let mut write = |channel: u16, bytes: &[u8]| {
            writer.write(channel, number as u32, [log_ns, cloud.stamp_ns], bytes).unwrap();
        };
        let stamp_ns = cloud.stamp_ns;
        let header = MessageHeader { seq: 0, stamp_ns, frame_id: "camera_optical".to_owned() };
        let [mount, camera] = chain(&side, stamp_ns);
        write(statics, &TransformMessage(vec![camera]).encode(WireFormat::CDR));
        write(moving, &TransformMessage(vec![mount]).encode(WireFormat::CDR));
        let [fx, fy, cx, cy] = ["fx", "fy", "cx", "cy"].map(|key| side[key].as_f64().unwrap());
        let size = [cloud.width, cloud.xyz_m.len() / cloud.width].map(|n| n as u32);
        let sees = CameraInfo {
            header: header.clone(),
            width: size[0],
            height: size[1],
            k: [fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
            ..CameraInfo::default()
        };
        write(info, &sees.encode(WireFormat::CDR));
        let depths: Vec<u8> = cloud.xyz_m.iter().flat_map(|p| p[2].to_le_bytes()).collect();
        let image = ImageMessage {
            header,
            width: size[0],
            height: size[1],
            encoding: "32FC1".to_owned(),
            is_bigendian: false,
            step: 4 * size[0],
            data: &depths,
        };
        write(depth, &image.encode(WireFormat::CDR));
        let mut dropped = cloud.clone();
        dropped.xyz_m.retain(|p| p[2].is_finite());
        dropped.rgb.clear();
        dropped.width = dropped.xyz_m.len();
        let data = pack_xyz_rgb(&dropped);
        write(points, &message_of(&dropped, "camera_optical", &data).to_cdr(false));
        // In another order, with a prefix, as drivers do; half a period before and after.
        let names = ["elbow", "shoulder_lift", "shoulder_pan", "wrist_1", "wrist_2", "wrist_3"];
        let order = [2, 1, 0, 3, 4, 5];
        let position = order.map(|at| side["joints"][at].as_f64().unwrap()).to_vec();
        for early_ns in [4_000_000, 0] {
            let frame_id = String::new();
            let header = MessageHeader { seq: 0, stamp_ns: stamp_ns - early_ns, frame_id };
            let name = names.map(|name| format!("ur_{name}_joint")).to_vec();
            let state =
                JointState { header, name, position: position.clone(), ..JointState::default() };
            write(joints, &state.encode(WireFormat::CDR));
        }
    }
    writer.finish().unwrap();
}

#[test]
fn recordings_give_the_map_of_their_frames() {
    let folder = tempfile::tempdir().unwrap();
    let told = good(&[
        "simulate",
        "ur5_cell",
        "--camera",
        "depth",
        "--seconds",
        "0.17",
        "--moving",
        "arms",
        "-o",
        text(folder.path()),
    ]);
    let frames: Vec<PathBuf> = told.lines().map(PathBuf::from).collect();
    assert_eq!(frames.len(), 5);
    let mut words = vec!["run", "--json"];
    words.extend(frames.iter().map(|path| text(path)));
    let want = lines(&good(&words));
    let recording = folder.path().join("cell.mcap");
    record(&recording, &frames);
    let first = side(&frames[0]);
    let config = folder.path().join("cell.yaml");
    let lower_upper = [&first["workspace_lower"], &first["workspace_upper"]];
    let cell = json!({
        "robot": {"model": "ur5e", "pos_m": first["robot"]["pos_m"], "yaw_deg": first["robot"]["yaw_deg"]},
        "pipeline": {"workspace": {"lower_m": lower_upper[0], "upper_m": lower_upper[1]}},
    });
    std::fs::write(&config, cell.to_string()).unwrap();
    let run = |more: &[&str]| {
        let words = ["run", text(&recording), "--json", "--config", text(&config)];
        citrange(&[&words, more].concat())
    };
    // Two topics: it must be said which.
    let done = run(&[]);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(3), "{told}");
    for topic in ["/camera/points", "/camera/depth/image", "--topic", "30.0 Hz"] {
        assert!(told.contains(topic), "{told}");
    }
    assert_eq!(run(&["--topic", "/nowhere"]).status.code(), Some(3));
    for topic in ["/camera/depth/image", "/camera/points"] {
        let done = run(&["--topic", topic]);
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{told}");
        let found = lines(&String::from_utf8(done.stdout).unwrap());
        assert_eq!(found.len(), 6);
        for (found, want) in found[..5].iter().zip(&want) {
            assert_eq!(found["voxels"], want["voxels"], "{topic}");
            for fate in ["kept", "robot", "unsupported", "cropped"] {
                assert_eq!(found["counts"][fate], want["counts"][fate], "{topic} {fate}");
            }
            let order = if topic == "/camera/points" { "placed" } else { "picture" };
            assert_eq!(found["order"]["as"], order);
        }
        assert_eq!(found[5]["map_voxels"], want[5]["map_voxels"], "{topic}");
    }
    // What a crash leaves is mapped, and it is said.
    let bytes = std::fs::read(&recording).unwrap();
    std::fs::write(&recording, &bytes[..bytes.len() / 2]).unwrap();
    let done = run(&["--topic", "/camera/depth/image"]);
    assert_eq!(done.status.code(), Some(4));
    assert!(lines(&String::from_utf8(done.stdout).unwrap()).len() > 2);
    assert!(String::from_utf8_lossy(&done.stderr).contains("the file ends"));
}

#[test]
fn frames_of_several_cameras_make_one_map_at_their_rates() {
    let folder = tempfile::tempdir().unwrap();
    let told = good(&[
        "simulate",
        "ur5_cell",
        "--camera",
        "depth",
        "--camera",
        "overview",
        "--frames",
        "4",
        "-o",
        text(folder.path()),
    ]);
    let mut frames: Vec<PathBuf> = told.lines().map(PathBuf::from).collect();
    assert_eq!(frames.len(), 8);
    // One camera's frames after the other's: their stamps put them in order.
    frames.sort();
    let run = |more: &[&str]| {
        let mut words = vec!["run", "--json"];
        words.extend(frames.iter().map(|path| text(path)));
        lines(&good(&[&words, more].concat()))
    };
    let pose = |camera: &str| {
        let at = frames.iter().find(|f| text(f).contains(camera)).unwrap();
        let m = &side(at)["T_cam_to_world"];
        let m = |row: usize, column: usize| m[row][column].as_f64().unwrap();
        let (yaw, pitch) = (m(1, 0).atan2(m(0, 0)), (-m(2, 0)).asin());
        let rpy = [m(2, 1).atan2(m(2, 2)), pitch, yaw].map(f64::to_degrees);
        json!({"xyz_m": [m(0, 3), m(1, 3), m(2, 3)], "rpy_deg": rpy})
    };
    let mut cameras = BTreeMap::from([("depth", pose("depth")), ("overview", pose("overview"))]);
    let robot = side(&frames[0])["robot"].clone();
    let config = folder.path().join("cell.yaml");
    let write = |cameras: &BTreeMap<&str, Value>| {
        std::fs::write(&config, json!({"cameras": cameras, "robot": robot}).to_string()).unwrap();
    };
    write(&cameras);
    let told = run(&["--config", text(&config)]);
    let names: Vec<&str> = told[..8].iter().map(|t| t["frame"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["depth_000", "overview_000", "depth_001"]);
    assert_eq!((&told[8]["frames"], &told[8]["cameras"]), (&json!(8), &json!(2)));
    // Both together see more than one.
    let one = lines(&good(&["run", "--json", text(&frames[0]), "--config", text(&config)]));
    let voxels = |told: &Value| told["map_voxels"].as_u64().unwrap();
    assert!(voxels(&told[8]) > voxels(&one[1]) + 100);
    cameras.get_mut("overview").unwrap()["rate_hz"] = json!(15.0);
    write(&cameras);
    let told = run(&["--config", text(&config)]);
    let last = told.last().unwrap();
    assert_eq!((&last["frames"], &last["left_out"]), (&json!(6), &json!(2)));
}

#[test]
fn things_that_move_are_told_with_their_velocity_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let seconds = std::env::var("CITRANGE_MOTION_S").unwrap_or("2".to_owned());
    let told = good(&[
        "simulate",
        "ur5_cell",
        "--camera",
        "depth",
        "--seconds",
        &seconds,
        "-o",
        text(folder.path()),
    ]);
    let frames: Vec<PathBuf> = told.lines().map(PathBuf::from).collect();
    let truth = std::fs::read_to_string(folder.path().join("truth.jsonl")).unwrap();
    let truth = lines(&truth);
    assert_eq!(truth.len(), frames.len());
    let mut words = vec!["run", "--json"];
    words.extend(frames.iter().map(|path| text(path)));
    let told = lines(&good(&words));
    let numbers =
        |value: &Value| -> [f64; 3] { std::array::from_fn(|a| value[a].as_f64().unwrap()) };
    let length = |v: [f64; 3]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (mut expected, mut found, mut wrong, mut offs) = (0, 0, 0, Vec::new());
    for at in 0..frames.len() {
        let things = truth[at]["things"].as_object().unwrap();
        let tracks = told[at]["moving"].as_array().unwrap();
        let near = |track: &Value, thing: &Value| {
            let [c, p] = [numbers(&track["centroid_m"]), numbers(&thing["pos_m"])];
            length(std::array::from_fn(|a| c[a] - p[a])) < 0.25
        };
        for thing in things.values() {
            // Half a second after it began: that long is the window of velocities.
            let since = at.saturating_sub(15);
            let name = things.iter().find(|(_, t)| *t == thing).unwrap().0;
            let speed = |at: usize| length(numbers(&truth[at]["things"][name]["velocity_m_s"]));
            if at < 15 || !(since..=at).all(|at| speed(at) > 0.1) {
                continue;
            }
            expected += 1;
            let nearest = tracks.iter().find(|track| near(track, thing));
            let Some(track) = nearest else { continue };
            found += 1;
            let [v, w] = [numbers(&track["velocity_m_s"]), numbers(&thing["velocity_m_s"])];
            offs.push(length(std::array::from_fn(|a| v[a] - w[a])) / speed(at));
        }
        for track in tracks {
            // Something must have moved there within the window.
            let any = things.iter().any(|(name, thing)| {
                let from = at.saturating_sub(20);
                let moved = (from..=at)
                    .any(|at| length(numbers(&truth[at]["things"][name]["velocity_m_s"])) > 0.03);
                near(track, thing) && moved
            });
            wrong += usize::from(!any);
        }
    }
    offs.sort_by(f64::total_cmp);
    let median = offs.get(offs.len() / 2).copied().unwrap_or(f64::NAN);
    println!("{found} of {expected} found, {wrong} wrong, speed off by {median:.3} (median)");
    assert!(expected >= 5 && 10 * found >= 7 * expected, "{found} of {expected}");
    // A velocity is a slope over half a second: it lags behind what speeds up.
    assert!(median < 0.35, "{median}: {offs:?}");
    assert!(20 * wrong <= frames.len(), "{wrong} tracks of things that stand");
}
