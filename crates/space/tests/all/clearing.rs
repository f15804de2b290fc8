//! What leaves must leave, and what stays must not grow, with the noise of a depth camera.

use citrange_cloud::{Cloud, View};
use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_space::{Carving, Grid, Map, MapSettings};

use crate::synthetic::{Camera, Thing, frame, thing};

/// A frame of a camera of 30 Hz.
const FRAME_NS: u64 = 33_333_333;

fn table() -> Thing {
    thing(0, [0.4, 0.0, -0.021], [0.6, 0.7, 0.02])
}

fn wall() -> Thing {
    thing(0, [1.3, 0.0, 0.5], [0.1, 2.0, 1.5])
}

/// A thing that stands on the table: it touches the voxels of the table.
fn block() -> Thing {
    thing(1, [0.35, 0.1, 0.06], [0.06, 0.05, 0.06])
}

/// What the camera sees, with errors that grow with the square of the distance (2 mm at 1 m).
fn noisy(camera: &Camera, things: &[Thing], step: u64) -> Cloud {
    let mut cloud = camera.picture(things, 1_000_000_000 + step * FRAME_NS, |_, _| false);
    let mut chance = Rng::new(step);
    for point in &mut cloud.xyz_m {
        // Sum of three: nearly a bell, within three deviations.
        let error: f64 = (0..3).map(|_| chance.uniform(-1.0, 1.0)).sum();
        let scale = 1.0 + 0.002 * error * f64::from(point[2]);
        *point = point.map(|v| (f64::from(v) * scale) as f32);
    }
    cloud
}

/// Occupied voxels after each frame: those around the block, and all others. The block is there up
/// to frame `until`.
fn run(voxel_m: f64, until: u64, frames: u64, change: impl Fn(Cloud) -> Cloud) -> Vec<[usize; 2]> {
    let grid = Grid::new([-0.5, -0.8, -0.1], [1.25, 0.8, 1.0], voxel_m).unwrap();
    let camera = Camera::new([-0.7, -0.3, 0.9], [0.4, 0.0, 0.0], 160, 120);
    let mut map = Map::new(&MapSettings::default(), &grid).unwrap();
    let mut counts = Vec::new();
    for step in 0..frames {
        let there = [table(), wall(), block()];
        let things = if step < until { &there[..] } else { &there[..2] };
        let cloud = change(noisy(&camera, things, step));
        let made = frame(&grid, &cloud, &camera.pose, things);
        let pinhole = Some(camera.pinhole).filter(|_| cloud.width == camera.width);
        let view = View::new(Pose::from(camera.pose), pinhole);
        let report = map.integrate(0, &cloud, &view, &made).unwrap();
        assert_ne!(report.carving, Carving::Rays);
        let snapshot = map.snapshot();
        let around = |key: u32| {
            let centre = grid.centre_m(grid.cell_of(key));
            let off = |a: usize| (centre[a] - [0.35, 0.1, 0.06][a]).abs();
            // The table's own voxels stay.
            centre[2] - 0.5 * voxel_m > 0.006 && (0..3).all(|a| off(a) < 0.1 + voxel_m)
        };
        let block = snapshot.voxels().iter().filter(|v| around(v.key)).count();
        counts.push([block, snapshot.voxels().len() - block]);
    }
    counts
}

#[test]
fn a_thing_that_was_taken_away_is_gone_after_a_few_frames() {
    for voxel_m in [0.05, 0.02] {
        let counts = run(voxel_m, 10, 24, |cloud| cloud);
        assert!(counts[9][0] >= 10, "{counts:?}");
        // Two looks clear nearly all of it.
        assert!(counts[12][0] * 10 <= counts[9][0], "{voxel_m} {counts:?}");
        assert!(counts[23][0] == 0, "{voxel_m} {counts:?}");
    }
}

#[test]
fn a_scene_that_does_not_change_does_not_grow() {
    for voxel_m in [0.05, 0.02] {
        let counts = run(voxel_m, 300, 300, |cloud| cloud);
        let all = |step: usize| counts[step][0] + counts[step][1];
        let around = |step: usize| (step - 20..step).map(all).sum::<usize>() as f64 / 20.0;
        let curve = [20, 40, 80, 160, 240, 300].map(around);
        assert!(curve[5] < 1.01 * curve[2] && curve[5] < 1.03 * curve[1], "{voxel_m}: {curve:?}");
        assert!(curve[5] > 0.98 * curve[1], "{voxel_m}: {curve:?}");
    }
}

#[test]
fn points_without_order_clear_as_well() {
    let loose = |cloud: Cloud| {
        let xyz_m: Vec<_> = cloud.xyz_m.into_iter().rev().filter(|p| p[2].is_finite()).collect();
        let width = xyz_m.len();
        Cloud::new(xyz_m, Vec::new(), width, cloud.stamp_ns).unwrap()
    };
    let counts = run(0.05, 10, 24, loose);
    assert!(counts[9][0] >= 10 && counts[13][0] * 5 <= counts[9][0], "{counts:?}");
    assert!(counts[23][0] == 0, "{counts:?}");
}
