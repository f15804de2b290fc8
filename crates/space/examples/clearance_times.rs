//! How long kinematics, clearance and collision checks take per configuration, on one core.
//!
//! `cargo run --release -p citrange-space --example clearance_times -- BODY.json`, with the body
//! of a robot as `cargo run -p citrange-sim --example body -- ur5` writes it.
#![allow(clippy::print_stdout)] // the figures are the point of it

use std::time::Instant;

use citrange_core::rng::Rng;
use citrange_robot::{Configs, Robot};
use citrange_space::{
    Checker, Clearance, CollisionSettings, Grid, Isa, MapSnapshot, PipelineSettings,
};

/// Few enough for a run to be over before another process gets the core.
const CONFIGS: usize = 512;
const RUNS: usize = 600;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("needs the path of a body's JSON")?;
    let body: Robot = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    println!(
        "{}: {} spheres, {} pairs",
        body.chain().robot,
        body.spheres().len(),
        body.checked_pairs().len()
    );
    let mut rng = Rng::new(1);
    let mut configs = Configs::new(body.chain().joints.len())?;
    for _ in 0..CONFIGS {
        let ranges = body.chain().joints.iter().map(|j| j.range.unwrap_or([-3.0, 3.0]));
        let q: Vec<f64> = ranges.map(|[low, high]| rng.uniform(low, high)).collect();
        configs.push(&q)?;
    }
    for (voxel_m, count) in [(0.05, 2000), (0.05, 200), (0.02, 20_000)] {
        let mut rng = Rng::new(2);
        let snapshot = cell(voxel_m, count, &mut rng)?;
        println!("{} voxels of {voxel_m} m", snapshot.voxels().len());
        for isa in Isa::available() {
            let mut checker = Checker::new(&body, isa);
            let mut centres = Vec::new();
            let place = time(|| checker.centres(&configs, &mut centres).is_ok());
            let nothing = Clearance { distance_m: 0.0, link: 0, sphere: 0, voxel: None };
            let mut out = vec![nothing; CONFIGS];
            let clear = time(|| checker.clearance(&snapshot, &configs, &mut out).is_ok());
            let mut hits = vec![false; CONFIGS];
            let plain = CollisionSettings::default();
            let hit = time(|| checker.collides(&snapshot, &configs, &plain, &mut hits).is_ok());
            let both = CollisionSettings { self_margin_m: Some(0.0), ..plain };
            let own = time(|| checker.collides(&snapshot, &configs, &both, &mut hits).is_ok());
            let mean = out.iter().map(|c| c.distance_m).sum::<f64>() / CONFIGS as f64;
            let free = out.iter().filter(|c| c.distance_m > 0.0).count() as f64 / CONFIGS as f64;
            println!(
                "  {isa:?}: ns per configuration, least (median): centres {place}, clearance \
                 {clear}, collides {hit}, with itself {own}; mean clearance {mean:.3} m, free \
                 {:.0} %",
                free * 100.0
            );
        }
    }
    Ok(())
}

/// A table, a wall and boxes in the default workspace: no more than `count` voxels.
fn cell(
    voxel_m: f64,
    count: usize,
    rng: &mut Rng,
) -> Result<MapSnapshot, Box<dyn std::error::Error>> {
    let workspace = PipelineSettings::default().workspace;
    let grid = Grid::new(workspace.lower_m, workspace.upper_m, voxel_m)?;
    let mut keys = std::collections::BTreeSet::new();
    let mut fill = |low: [f64; 3], high: [f64; 3]| {
        for key in 0..grid.cells() as u32 {
            let at = grid.centre_m(grid.cell_of(key));
            if (0..3).all(|a| low[a] <= at[a] && at[a] < high[a]) && keys.len() < count {
                keys.insert(key);
            }
        }
    };
    fill([0.25, -0.6, -0.05], [1.05, 0.6, 0.0]);
    fill([1.1, -0.8, 0.0], [1.1 + voxel_m, 0.8, 0.8]);
    for _ in 0..40 {
        let corner = [rng.uniform(0.3, 0.9), rng.uniform(-0.5, 0.4), 0.0];
        let size = [rng.uniform(0.08, 0.2), rng.uniform(0.08, 0.2), rng.uniform(0.08, 0.6)];
        fill(corner, std::array::from_fn(|a| corner[a] + size[a]));
    }
    Ok(MapSnapshot::from_voxels(&grid, &keys.into_iter().collect::<Vec<u32>>())?)
}

/// Least and median time per configuration, in nanoseconds.
fn time(mut call: impl FnMut() -> bool) -> String {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            assert!(call(), "the call failed");
            start.elapsed().as_secs_f64() * 1e9 / CONFIGS as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    format!("{:.0} ({:.0})", times[0], times[RUNS / 2])
}
