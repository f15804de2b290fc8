//! Times of the map and of questions to it: `cargo run --release --example map_times`.
//!
//! With a folder in `CITRANGE_CLOUDS` that has `<name>.npz` (`xyz` float32, `label` uint8, where
//! 3 is the robot and 254 a flying pixel) and `<name>.json` (`width`, `fx`, `fy`, `cx`, `cy`,
//! `T_cam_to_world`), the map is timed on these clouds too.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use citrange_core::Pose;
use citrange_space::{
    Cloud, Counts, Grid, Map, MapReport, MapSettings, Nearest, Pinhole, RayBatch, Snapshot, View,
    Voxel, VoxelFrame,
};
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion};

/// A small generator, so that every run asks the same questions.
struct Chance(u64);

impl Chance {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}

/// Time that this thread has had a processor for: others that run do not count. In steps of the
/// system's clock tick, so for sums of many runs only.
fn thread_cpu_us() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).map_or(f64::NAN, |ns: f64| ns / 1e3)
}

/// Minimum and median of the times of many runs, in microseconds.
fn times_us(runs: usize, mut work: impl FnMut()) -> (f64, f64) {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[runs / 2])
}

fn main() {
    for (voxel_m, voxels) in [(0.05, 2_000), (0.02, 12_500)] {
        questions(voxel_m, voxels);
    }
    let Some(folder) = std::env::var_os("CITRANGE_CLOUDS") else { return };
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut clouds: Vec<_> = files.filter(|p| p.extension().is_some_and(|e| e == "npz")).collect();
    clouds.sort();
    for path in clouds {
        for voxel_m in [0.05, 0.02] {
            println!("{}, voxel {voxel_m} m", path.file_stem().unwrap().display());
            frames(&Scene::read(&path), voxel_m);
        }
    }
}

/// A cloud of a file.
struct Scene {
    cloud: Cloud,
    labels: Vec<u8>,
    view: View,
    pose: Isometry3<f64>,
}

impl Scene {
    fn read(path: &Path) -> Self {
        let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
        let mut array = |name: &str| {
            let mut bytes = Vec::new();
            archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
            let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
            bytes.split_off(header)
        };
        let xyz: Vec<f32> = array("xyz.npy")
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        let labels = array("label.npy");
        let json = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let number = |key: &str| json[key].as_f64().unwrap();
        let entry = |row: usize, col: usize| json["T_cam_to_world"][row][col].as_f64().unwrap();
        let turn = Rotation3::from_matrix_unchecked(Matrix3::from_fn(entry));
        let pose = Isometry3::from_parts(
            Translation3::new(entry(0, 3), entry(1, 3), entry(2, 3)),
            UnitQuaternion::from_rotation_matrix(&turn),
        );
        let pinhole =
            Pinhole { fx: number("fx"), fy: number("fy"), cx: number("cx"), cy: number("cy") };
        let xyz_m = xyz.as_chunks::<3>().0.to_vec();
        let cloud = Cloud::new(xyz_m, Vec::new(), number("width") as usize, 0).unwrap();
        let view = View { world_from_camera: Pose::from(pose), pinhole: Some(pinhole) };
        Self { cloud, labels, view, pose }
    }

    /// The cloud with the robot's points moved away from the camera.
    fn with_robot_at(&self, scale: f32) -> Cloud {
        let mut cloud = self.cloud.clone();
        for (point, label) in cloud.xyz_m.iter_mut().zip(&self.labels) {
            if *label == 3 {
                *point = point.map(|v| v * scale);
            }
        }
        cloud
    }

    fn voxels(&self, cloud: &Cloud, grid: &Grid) -> VoxelFrame {
        let mut voxels = BTreeMap::new();
        for (point, label) in cloud.xyz_m.iter().zip(&self.labels).filter(|(_, l)| **l < 254) {
            let place = self.pose * Point3::from(point.map(f64::from));
            let Some(cell) = grid.cell(place.coords.into()) else { continue };
            let key = grid.key(cell);
            let cluster = u32::from(*label);
            voxels.entry(key).or_insert(Voxel { key, points: 0, rgb: [0; 3], cluster }).points += 1;
        }
        VoxelFrame {
            stamp_ns: 0,
            grid: *grid,
            voxels: voxels.into_values().collect(),
            clusters: 4,
            counts: Counts::default(),
            times: Vec::new(),
        }
    }
}

/// A scene that stands, and one whose arm jumps to and fro in every frame.
fn frames(scene: &Scene, voxel_m: f64) {
    let grid = Grid::new([-0.5, -1.0, -0.1], [1.2, 1.25, 1.5], voxel_m).unwrap();
    let settings = MapSettings { clear_frames: 1, ..MapSettings::default() };
    let here = scene.with_robot_at(1.0);
    let there = scene.with_robot_at(1.06);
    let voxels = [&here, &there].map(|cloud| scene.voxels(cloud, &grid));
    for (name, moves) in [("standing", false), ("arm moves", true)] {
        let mut map = Map::new(&settings, &grid).unwrap();
        let mut reports: Vec<MapReport> = Vec::new();
        let mut whole_us = Vec::new();
        let mut cpu_us = 0.0;
        for step in 1..=100_u64 {
            let pick = usize::from(moves && step % 2 == 0);
            let mut frame = voxels[pick].clone();
            frame.stamp_ns = step * 33_000_000;
            let (start, cpu) = (Instant::now(), thread_cpu_us());
            let report = map.integrate(0, [&here, &there][pick], &scene.view, &frame).unwrap();
            cpu_us += thread_cpu_us() - cpu;
            whole_us.push(start.elapsed().as_secs_f64() * 1e6);
            reports.push(report);
        }
        println!("  first field, everything new: {:?}", reports[0].field_time);
        reports.drain(..2);
        whole_us.drain(..2);
        whole_us.sort_by(f64::total_cmp);
        let part = |pick: fn(&MapReport) -> f64| {
            let mut all: Vec<f64> = reports.iter().map(pick).collect();
            all.sort_by(f64::total_cmp);
            format!("{:.0} best {:.0} median", all[0], all[all.len() / 2])
        };
        let last = reports.last().copied().unwrap_or_default();
        println!(
            "  {name}: {} voxels, +{} -{} per frame; us: whole {:.0} best {:.0} median {:.0} mean of CPU, \
             points and carving {}, field {}, snapshot {}",
            map.snapshot().voxels().len(),
            last.appeared,
            last.cleared,
            whole_us[0],
            whole_us[whole_us.len() / 2],
            cpu_us / 100.0,
            part(|r| r.integrate_time.as_secs_f64() * 1e6),
            part(|r| r.field_time.as_secs_f64() * 1e6),
            part(|r| r.snapshot_time.as_secs_f64() * 1e6),
        );
    }
}

/// A table, boxes on it and a wall, until there are enough voxels.
fn cell_of_things(voxel_m: f64, voxels: usize) -> (Grid, Vec<u32>) {
    let grid = Grid::new([-0.5, -1.0, -0.1], [1.2, 1.25, 1.5], voxel_m).unwrap();
    let mut chance = Chance(7);
    let mut keys = std::collections::BTreeSet::new();
    for x in 0..grid.size()[0] {
        for y in 0..grid.size()[1] {
            keys.insert(grid.key([x, y, 0]));
        }
    }
    while keys.len() < voxels {
        let low = [chance.within(-0.5, 1.1), chance.within(-1.0, 1.15), chance.within(-0.1, 1.2)];
        let high: [f64; 3] = std::array::from_fn(|a| low[a] + chance.within(0.05, 0.3));
        for key in 0..grid.cells() as u32 {
            let centre = grid.centre_m(grid.cell_of(key));
            if (0..3).all(|a| low[a] <= centre[a] && centre[a] < high[a]) {
                keys.insert(key);
            }
        }
    }
    (grid, keys.into_iter().collect())
}

fn questions(voxel_m: f64, voxels: usize) {
    let (grid, keys) = cell_of_things(voxel_m, voxels);
    let snapshot = Snapshot::from_voxels(&grid, &keys).unwrap();
    println!("voxel {voxel_m} m, {} cells, {} voxels", grid.cells(), keys.len());
    let n = 100_000;
    let mut chance = Chance(11);
    let point = |chance: &mut Chance| -> [f64; 3] {
        std::array::from_fn(|a| chance.within(grid.lower_m()[a], grid.upper_m()[a]))
    };
    let points: Vec<[f64; 3]> = (0..n).map(|_| point(&mut chance)).collect();
    let (mut ways, mut starts) = ([vec![], vec![], vec![]], [vec![], vec![], vec![]]);
    for p in &points {
        let way = loop {
            let way: [f64; 3] = std::array::from_fn(|_| chance.within(-1.0, 1.0));
            let norm = way.iter().map(|v| v * v).sum::<f64>().sqrt();
            if (0.1..1.0).contains(&norm) {
                break way.map(|v| v / norm);
            }
        };
        for a in 0..3 {
            starts[a].push(p[a]);
            ways[a].push(way[a]);
        }
    }
    let (mut distances_m, mut hit) = (vec![0.0; n], vec![0; n]);
    for length_m in [2.0, 0.3] {
        let max_m: Vec<f64> = (0..n).map(|_| chance.within(0.0, length_m)).collect();
        for (name, max_m) in [("up to", max_m), ("all", vec![length_m; n])] {
            let batch = RayBatch {
                origins_m: [&starts[0], &starts[1], &starts[2]],
                directions: [&ways[0], &ways[1], &ways[2]],
                max_m: &max_m,
            };
            let (min, median) =
                times_us(50, || snapshot.rays(&batch, &mut distances_m, &mut hit).unwrap());
            let hits = distances_m.iter().filter(|d| d.is_finite()).count();
            println!(
                "  rays {name} {length_m} m: {:.1} M/s best, {:.1} M/s median, {:.0} % hit",
                n as f64 / min,
                n as f64 / median,
                100.0 * hits as f64 / n as f64
            );
        }
    }
    let mut nearest = vec![Nearest::default(); n];
    let (min, median) = times_us(20, || snapshot.distances(&points, &mut nearest).unwrap());
    println!(
        "  distance: {:.0} ns best, {:.0} ns median",
        min * 1e3 / n as f64,
        median * 1e3 / n as f64
    );
    for radius_m in [0.05, 0.15] {
        let radii = vec![radius_m; n];
        let mut hits = vec![false; n];
        let (min, median) =
            times_us(20, || snapshot.spheres_hit(&points, &radii, &mut hits).unwrap());
        println!(
            "  spheres of {radius_m} m: {:.0} ns best, {:.0} ns median, {:.0} % hit",
            min * 1e3 / n as f64,
            median * 1e3 / n as f64,
            100.0 * hits.iter().filter(|h| **h).count() as f64 / n as f64
        );
    }
    let (min, median) = times_us(10, || {
        for pair in points.chunks_exact(20) {
            let to = std::array::from_fn(|a| pair[0][a] + 0.3 * (pair[1][a] - pair[0][a]));
            black_box(snapshot.capsule_hit(pair[0], to, 0.06));
        }
    });
    let capsules = (n / 20) as f64;
    println!(
        "  capsules: {:.0} ns best, {:.0} ns median",
        min * 1e3 / capsules,
        median * 1e3 / capsules
    );
}
