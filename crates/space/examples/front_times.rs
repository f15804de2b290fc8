//! Times of the pipeline, stage by stage: on clouds of a folder (`CITRANGE_CLOUDS`, files
//! `NAME.npz` with `xyz` and `rgb`, `NAME.json` with `T_cam_to_world` and the robot's capsules),
//! or on a made-up picture without one.
//!
//! `cargo run --release -p citrange-space --example front_times [WORDS OF A LINE]`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for people who measure")]

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use citrange_core::Pose;
use citrange_space::{Cloud, Isa, Pipeline, Robot, Settings, Solid};
use nalgebra::{Isometry3, Matrix3, Rotation3, UnitQuaternion, Vector3};

const RUNS: usize = 300;

struct Sample {
    name: String,
    cloud: Cloud,
    pose: Pose,
    solids: Vec<Solid>,
}

fn main() {
    let samples = match std::env::var("CITRANGE_CLOUDS") {
        Ok(folder) => folder_samples(Path::new(&folder)),
        Err(_) => vec![made_up()],
    };
    for sample in &samples {
        for voxel_size_m in [0.1, 0.05, 0.02] {
            for (variant, support) in [("plain", false), ("support", true)] {
                let mut settings = Settings { voxel_size_m, ..Settings::default() };
                settings.support = settings.support.filter(|_| support);
                for (isa, threads) in [(Isa::best(), 1), (Isa::best(), 2), (Isa::Portable, 1)] {
                    let pipeline = Pipeline::new(settings.clone()).unwrap();
                    let pipeline = pipeline.with_isa(isa).with_threads(threads);
                    measure(&format!("{variant} {isa:?} x{threads}"), pipeline, sample);
                }
            }
        }
    }
}

fn measure(label: &str, mut pipeline: Pipeline, sample: &Sample) {
    let size_cm = (pipeline.settings().voxel_size_m * 100.0).round();
    let label = format!("{} {size_cm:>3} cm {label:<20}", sample.name);
    if !std::env::args().skip(1).all(|word| label.contains(&word)) {
        return;
    }
    let robot = Robot { solids: &sample.solids, end_effector_m: None };
    let mut totals = Vec::new();
    let mut stages: Vec<(&str, Vec<Duration>)> = Vec::new();
    let mut voxels = 0;
    for _ in 0..RUNS {
        let frame = pipeline.run(&sample.cloud, &sample.pose, &robot).unwrap();
        voxels = frame.voxels.len();
        totals.push(frame.times.iter().map(|(_, time)| *time).sum::<Duration>());
        stages.resize(frame.times.len(), ("", Vec::new()));
        for (kept, (stage, time)) in stages.iter_mut().zip(&frame.times) {
            kept.0 = stage.name();
            kept.1.push(*time);
        }
    }
    let parts: Vec<String> = stages
        .iter_mut()
        .map(|(name, times)| format!("{name} {:.3}", low_and_middle(times)[0]))
        .collect();
    let [low, middle] = low_and_middle(&mut totals);
    println!("{label} min {low:.3} median {middle:.3} ms ({}) {voxels} voxels", parts.join(", "),);
}

/// Least and median in milliseconds.
fn low_and_middle(times: &mut [Duration]) -> [f64; 2] {
    times.sort();
    [times[0], times[times.len() / 2]].map(|t| t.as_secs_f64() * 1e3)
}

/// A wall seen at a slant by a camera of 640 x 480 pixels.
fn made_up() -> Sample {
    let mut xyz_m = Vec::new();
    let mut rgb = Vec::new();
    for i in 0..640 * 480 {
        let (column, row) = ((i % 640) as f32, (i / 640) as f32);
        let z = 1.2 + 0.001 * row;
        xyz_m.push([(column - 320.0) / 600.0 * z, (row - 240.0) / 600.0 * z, z]);
        rgb.push([(i % 256) as u8, (i / 640 % 256) as u8, 99]);
    }
    let cloud = Cloud::new(xyz_m, rgb, 640, 0).unwrap();
    let pose = Pose { pos_m: [0.3, 0.0, -0.4], quat_wxyz: [1.0, 0.0, 0.0, 0.0] };
    Sample { name: "made-up".into(), cloud, pose, solids: Vec::new() }
}

fn folder_samples(folder: &Path) -> Vec<Sample> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "npz"))
        .collect();
    files.sort();
    files.iter().map(|path| sample(path)).collect()
}

fn sample(path: &Path) -> Sample {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let xyz: Vec<f32> = array(&mut archive, "xyz.npy")
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let rgb = array(&mut archive, "rgb.npy").as_chunks().0.to_vec();
    let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let triple = |value: &serde_json::Value| [0, 1, 2].map(|i| number(&value[i]));
    let matrix = &json["T_cam_to_world"];
    let turn = Matrix3::from_fn(|row, col| number(&matrix[row][col]));
    let at = Vector3::from_fn(|row, _| number(&matrix[row][3]));
    let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turn));
    let solids = json["primitives"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|p| p["label"] == 3)
        .map(|p| Solid::capsule(0, triple(&p["a"]), triple(&p["b"]), number(&p["r"])))
        .collect();
    let width = json["width"].as_u64().unwrap() as usize;
    Sample {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        cloud: Cloud::new(xyz.as_chunks().0.to_vec(), rgb, width, 0).unwrap(),
        pose: Isometry3::from_parts(at.into(), turn).into(),
        solids,
    }
}

/// Bytes of an array, without its header.
fn array(archive: &mut zip::ZipArchive<File>, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
    let header = usize::from(bytes[8]) + 256 * usize::from(bytes[9]);
    bytes.split_off(10 + header)
}
