//! How well flying pixels are found in frames that lost their order, against the same frames as
//! pictures: ghost voxels left and real ones lost, by the labels in the files, and times.
//!
//! `cargo run --release -p citrange-space --example measure_orders -- FRAME.npz ...`
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use citrange_cloud::{
    CameraModel, Cloud, CloudFile, Distortion, NO_PIXEL, Pinhole, PointOrder, View, put_into_pixels,
};
use citrange_core::Pose;
use citrange_space::{Clusters, Map, MapSettings, Pipeline, PipelineSettings, PosedRobot};

/// Points in the air, by the labels of the files.
const FLYING: u8 = 254;
const REPEATS: usize = 9;

type Failure = Box<dyn std::error::Error>;

/// A frame in some order.
struct Variant {
    name: &'static str,
    cloud: Cloud,
    labels: Vec<u8>,
    pose: Pose,
    camera: Option<CameraModel>,
}

fn main() -> Result<(), Failure> {
    let mut sums: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for path in std::env::args().skip(1) {
        let file = CloudFile::read(Path::new(&path), None)?;
        for variant in variants(&file)? {
            let (order, pipeline, map, counts) = measure(&variant, &file)?;
            println!(
                "{path} {:<22} order {:6.2} ms, pipeline {:5.2} ms, map {:5.2} ms",
                variant.name,
                1e3 * order.as_secs_f64(),
                1e3 * pipeline.as_secs_f64(),
                1e3 * map.as_secs_f64()
            );
            let sum = sums.entry(variant.name.to_owned()).or_default();
            (0..4).for_each(|i| sum[i] += counts[i]);
        }
    }
    for (name, [left, ghosts, lost, real]) in sums {
        let percent = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
        println!(
            "{name:<22} ghosts left {:5.2} % of {ghosts}, real voxels lost {:5.2} % of {real}",
            percent(left, ghosts),
            percent(lost, real)
        );
    }
    Ok(())
}

fn variants(file: &CloudFile) -> Result<Vec<Variant>, Failure> {
    let view = file.sidecar.view()?.ok_or("no pose beside the frame")?;
    let labels = file.labels.clone().ok_or("no labels in the frame")?;
    let pose = view.world_from_camera;
    let camera = file.sidecar.camera_model().ok_or("no intrinsics beside the frame")?;
    let whole = file.cloud.clone();
    let new = |name, cloud: Cloud, labels: Vec<u8>, pose, camera| Variant {
        name,
        cloud,
        labels,
        pose,
        camera,
    };
    let mut all = vec![new("organised", whole.clone(), labels.clone(), pose, Some(camera))];
    let (loose, kept) = dropped(&whole, &labels);
    all.push(new("dropped", loose.clone(), kept.clone(), pose, Some(camera)));
    all.push(new("dropped, found", loose, kept, pose, None));
    // On its side: right is what was down.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let side = Pose { pos_m: [0.0; 3], quat_wxyz: [half, 0.0, 0.0, -half] };
    let turned_pose = Pose::from(pose.isometry() * side.isometry());
    let turn = |p: &[f32; 3]| [-p[1], p[0], p[2]];
    let turned = Cloud { xyz_m: whole.xyz_m.iter().map(turn).collect(), ..whole.clone() };
    let (loose, kept) = dropped(&turned, &labels);
    all.push(new("turned, dropped, found", loose, kept, turned_pose, None));
    for (name, coefficients) in [
        ("plumb_bob, dropped", &[0.12, -0.22, 0.001, -0.0006, 0.06][..]),
        ("rational, dropped", &[0.5, -2.6, 0.0007, -0.0003, 1.5, 0.4, -2.4, 1.4][..]),
    ] {
        let lens = Distortion::new(coefficients)?;
        let (bent, labels) = seen_through(&whole, &labels, &camera.pinhole, lens);
        let picture = CameraModel { distortion: lens, ..camera };
        if name.starts_with("plumb") {
            all.push(new(
                "plumb_bob, organised",
                bent.clone(),
                labels.clone(),
                pose,
                Some(picture),
            ));
        } else {
            all.push(new("rational, organised", bent.clone(), labels.clone(), pose, Some(picture)));
        }
        let (loose, kept) = dropped(&bent, &labels);
        all.push(new(name, loose, kept, pose, Some(picture)));
    }
    Ok(all)
}

/// What was seen only, last points first.
fn dropped(cloud: &Cloud, labels: &[u8]) -> (Cloud, Vec<u8>) {
    let seen: Vec<usize> =
        (0..cloud.xyz_m.len()).rev().filter(|i| cloud.xyz_m[*i][2].is_finite()).collect();
    let xyz_m = seen.iter().map(|i| cloud.xyz_m[*i]).collect();
    let rgb = seen.iter().filter_map(|i| cloud.rgb.get(*i).copied()).collect();
    let loose = Cloud { xyz_m, rgb, width: seen.len(), stamp_ns: cloud.stamp_ns };
    (loose, seen.iter().map(|i| labels[*i]).collect())
}

/// The picture as a lens would have taken it: every pixel has what is on its bent ray.
fn seen_through(
    cloud: &Cloud,
    labels: &[u8],
    pinhole: &Pinhole,
    lens: Distortion,
) -> (Cloud, Vec<u8>) {
    let (width, len) = (cloud.width, cloud.xyz_m.len());
    let mut bent = cloud.clone();
    let mut moved = labels.to_vec();
    for index in 0..len {
        let pixel = [(index % width) as f64, (index / width) as f64];
        let at = [(pixel[0] - pinhole.cx) / pinhole.fx, (pixel[1] - pinhole.cy) / pinhole.fy];
        bent.xyz_m[index] = [f32::NAN; 3];
        let Some(ray) = lens.straighten(at) else { continue };
        let from = [
            (ray[0] * pinhole.fx + pinhole.cx).round(),
            (ray[1] * pinhole.fy + pinhole.cy).round(),
        ];
        if from[0] < 0.0 || from[1] < 0.0 || from[0] >= width as f64 {
            continue;
        }
        let from = from[1] as usize * width + from[0] as usize;
        let Some(point) = cloud.xyz_m.get(from) else { continue };
        let z = f64::from(point[2]);
        bent.xyz_m[index] = [ray[0] * z, ray[1] * z, z].map(|v| v as f32);
        moved[index] = labels[from];
    }
    (bent, moved)
}

type Measured = (Duration, Duration, Duration, [usize; 4]);

fn measure(variant: &Variant, file: &CloudFile) -> Result<Measured, Failure> {
    let settings = PipelineSettings {
        workspace: file.sidecar.workspace().unwrap_or_default(),
        self_filter: None,
        clusters: None::<Clusters>,
        ..PipelineSettings::default()
    };
    let mut times = [const { Vec::new() }; 3];
    let mut pipeline = Pipeline::new(settings.clone())?;
    let mut map = Map::new(&MapSettings::default(), pipeline.grid())?;
    let mut kept = Vec::new();
    for repeat in 0..REPEATS {
        let began = Instant::now();
        let (order, placed) = put_into_pixels(&variant.cloud, variant.camera.as_ref());
        times[0].push(began.elapsed());
        if let PointOrder::Unordered { reason } = &order {
            return Err(format!("{}: {reason}", variant.name).into());
        }
        let mut pinhole = variant.camera.map(|camera| camera.pinhole);
        let mut cloud = match &placed {
            Some(placed) => {
                pinhole = Some(placed.placement.pinhole);
                placed.cloud.clone()
            }
            None => variant.cloud.clone(),
        };
        cloud.stamp_ns = 1_000_000_000 + repeat as u64 * 33_000_000;
        let distortion = variant.camera.map(|camera| camera.distortion).unwrap_or_default();
        let view = View { world_from_camera: variant.pose, pinhole, distortion };
        let began = Instant::now();
        let frame = pipeline.run(&cloud, &variant.pose, &PosedRobot::default())?;
        times[1].push(began.elapsed());
        let began = Instant::now();
        map.integrate(0, &cloud, &view, frame)?;
        times[2].push(began.elapsed());
        kept = frame.voxels.iter().map(|voxel| voxel.key).collect();
        if let Some(placed) = &placed {
            assert!(placed.pixel_of.iter().filter(|pixel| **pixel == NO_PIXEL).count() < 100);
        }
    }
    // Which voxels are real, by the labels of the points in them.
    let world = variant.pose.isometry();
    let mut real: BTreeMap<u32, bool> = BTreeMap::new();
    for (point, label) in variant.cloud.xyz_m.iter().zip(&variant.labels) {
        let at = world * nalgebra::Point3::from(point.map(f64::from));
        if let Some(cell) = pipeline.grid().cell(at.coords.into()) {
            *real.entry(pipeline.grid().key(cell)).or_default() |= *label != FLYING;
        }
    }
    let count = |is_real: bool, is_kept: bool| {
        let of = |(key, real): &(&u32, &bool)| {
            **real == is_real && kept.binary_search(key).is_ok() == is_kept
        };
        real.iter().filter(of).count()
    };
    let counts = [
        count(false, true),
        count(false, true) + count(false, false),
        count(true, false),
        count(true, true) + count(true, false),
    ];
    let [a, b, c] = times.map(|mut all| {
        all.sort();
        all[all.len() / 2]
    });
    Ok((a, b, c, counts))
}
