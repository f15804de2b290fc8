//! How well drift is measured on recorded frames whose robot is known.
//!
//! `CITRANGE_CLOUDS=FOLDER measure_drift`: for every `.npz` of the folder with a JSON beside it
//! that lists the robot's capsules (`primitives` with label 3), the camera's pose is moved by known
//! amounts; printed are what was measured, the verdict of one frame and the time.

#![allow(clippy::print_stdout, reason = "a measurement prints its table")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use citrange_calibrate::{DriftSettings, DriftWatch};
use citrange_cloud::{CloudFile, View};
use citrange_core::shape::PosedLinkShape;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use serde_json::Value;

const ROBOT_LABEL: u64 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::var("CITRANGE_CLOUDS")?;
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "npz")) {
        measure(path)?;
    }
    Ok(())
}

fn measure(path: &Path) -> Result<(), Box<dyn Error>> {
    let file = CloudFile::read(path, None)?;
    let Some(view) = file.sidecar.view()? else { return Ok(()) };
    let json: Value = serde_json::from_slice(&std::fs::read(path.with_extension("json"))?)?;
    let solids = robot(&json);
    println!("{}: {} solids", path.display(), solids.len());
    for (shift_m, rotation_deg) in [
        ([0.0, 0.0, 0.0], 0.0),
        ([0.01, 0.0, 0.0], 0.0),
        ([0.0, 0.02, 0.0], 0.0),
        ([0.0, -0.03, 0.0], 0.0),
        ([0.0, 0.0, 0.03], 0.0),
        ([0.0, 0.0, 0.0], 1.0),
        ([0.0, 0.0, 0.0], 3.0),
        ([0.2, 0.0, 0.0], 0.0),
    ] {
        let camera = view.world_from_camera.isometry();
        let rotation =
            UnitQuaternion::from_axis_angle(&Vector3::z_axis(), f64::to_radians(rotation_deg));
        let about = Translation3::new(0.3, 0.0, 0.4);
        let moved = Isometry3::from_parts(Translation3::from(shift_m), rotation);
        let believed = about * moved.inverse() * about.inverse() * camera;
        let view = View { world_from_camera: believed.into(), ..view };
        let mut watch = DriftWatch::new(DriftSettings::default());
        let start = Instant::now();
        let drift = watch.look(&file.cloud, &view, &solids);
        let took_ms = start.elapsed().as_secs_f64() * 1e3;
        let found = drift.offset.as_ref().map(|o| (o.shift_m.map(|v| 1e3 * v), o.rotation_deg));
        println!(
            "  moved {shift_m:?} m {rotation_deg} deg: measured (mm, deg) {found:.1?}, {}; {} of {} \
             close, {} inside, {} outside, rms {:.1} mm; {took_ms:.1} ms",
            drift.verdict,
            drift.close,
            drift.near,
            drift.inside,
            drift.outside,
            1e3 * drift.rms_after_m
        );
    }
    Ok(())
}

/// The robot's capsules.
fn robot(json: &Value) -> Vec<PosedLinkShape> {
    let primitives = json["primitives"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ours = primitives.iter().filter(|p| p["label"].as_u64() == Some(ROBOT_LABEL));
    let point =
        |v: &Value| -> Option<[f64; 3]> { Some([v[0].as_f64()?, v[1].as_f64()?, v[2].as_f64()?]) };
    let capsule = |(link, p): (usize, &Value)| {
        Some(PosedLinkShape::capsule(
            link as u16,
            point(&p["a"])?,
            point(&p["b"])?,
            p["r"].as_f64()?,
        ))
    };
    ours.enumerate().filter_map(capsule).collect()
}
