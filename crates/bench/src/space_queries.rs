//! Questions to a map of 2,000 voxels of 5 cm: distances, rays, spheres, clearances of a UR5.

use std::error::Error;
use std::time::Instant;

use citrange_core::rng::Rng;
use citrange_robot::{Configs, Robot, RobotSettings};
use citrange_sim::{CompiledScene, load_scene};
use citrange_space::{
    Checker, Clearance, CollisionSettings, Grid, Isa, MapSnapshot, Nearest, PipelineSettings,
    RayBatch,
};
use serde_json::{Map, Value, json};

/// How many of each are asked in one go.
const BATCH: usize = 4096;
const VOXELS: usize = 2000;
const VOXEL_M: f64 = 0.05;

/// Median times, told in words that the table shows.
pub(crate) fn run(times: usize) -> Result<Value, Box<dyn Error>> {
    let mut rng = Rng::new(7);
    let snapshot = clutter(&mut rng)?;
    let mut told = Map::new();
    let mut tell = |what: &str, took_s: f64| {
        let each_ns = 1e9 * took_s / BATCH as f64;
        told.insert(what.to_owned(), json!(format!("{each_ns:.0} ns, {:.1} M/s", 1e3 / each_ns)));
    };
    let grid = *snapshot.grid();
    let mut anywhere = || -> [f64; 3] {
        std::array::from_fn(|a| rng.uniform(grid.lower_m()[a], grid.upper_m()[a]))
    };
    let points: Vec<[f64; 3]> = (0..BATCH).map(|_| anywhere()).collect();
    let ends: Vec<[f64; 3]> = (0..BATCH).map(|_| anywhere()).collect();
    let mut nearest = vec![Nearest::default(); BATCH];
    tell("distance and gradient", time(times, || snapshot.distances(&points, &mut nearest))?);
    let axis = |of: &[[f64; 3]], a: usize| of.iter().map(|p| p[a]).collect::<Vec<f64>>();
    let origins = [0, 1, 2].map(|a| axis(&points, a));
    let towards: Vec<[f64; 3]> = points.iter().zip(&ends).map(|(p, e)| unit(*p, *e)).collect();
    let directions = [0, 1, 2].map(|a| axis(&towards, a));
    for (what, max_m) in [("rays up to 2 m", 2.0), ("rays up to 0.3 m", 0.3)] {
        let lengths = vec![max_m; BATCH];
        let rays = RayBatch {
            origins_m: [0, 1, 2].map(|a| origins[a].as_slice()),
            directions: [0, 1, 2].map(|a| directions[a].as_slice()),
            max_m: &lengths,
        };
        let (mut distances, mut voxels) = (vec![0.0; BATCH], vec![0; BATCH]);
        tell(what, time(times, || snapshot.rays(&rays, &mut distances, &mut voxels))?);
    }
    let radii = vec![0.06; BATCH];
    let mut hits = vec![false; BATCH];
    tell("spheres of 6 cm", time(times, || snapshot.spheres_hit(&points, &radii, &mut hits))?);

    let scene = CompiledScene::new(&load_scene("ur5_cell")?)?;
    let chain = scene.chain("robot0")?;
    let body = Robot::new(&chain, &scene.link_shapes("robot0")?, &RobotSettings::default())?;
    let mut configs = Configs::new(chain.joints.len())?;
    for _ in 0..BATCH {
        let ranges = chain.joints.iter().map(|j| j.range.unwrap_or([-3.0, 3.0]));
        configs.push(&ranges.map(|[low, high]| rng.uniform(low, high)).collect::<Vec<_>>())?;
    }
    let mut checker = Checker::new(&body, Isa::best());
    let nothing = Clearance { distance_m: 0.0, link: 0, sphere: 0, voxel: None };
    let mut clear = vec![nothing; BATCH];
    let spheres = body.spheres().len();
    let took_s = time(times, || checker.clearance(&snapshot, &configs, &mut clear))?;
    tell(&format!("clearance of a UR5e ({spheres} spheres), kinematics included"), took_s);
    let plain = CollisionSettings::default();
    let took_s = time(times, || checker.collides(&snapshot, &configs, &plain, &mut hits))?;
    tell("collides, yes or no", took_s);
    Ok(Value::Object(told))
}

/// Median seconds of a call.
fn time<E: Error + 'static>(
    times: usize,
    mut call: impl FnMut() -> Result<(), E>,
) -> Result<f64, Box<dyn Error>> {
    let mut times_s = Vec::new();
    for _ in 0..times + 2 {
        let began = Instant::now();
        call()?;
        times_s.push(began.elapsed().as_secs_f64());
    }
    // The first two warm the caches.
    let mut times_s = times_s.split_off(2);
    times_s.sort_by(f64::total_cmp);
    Ok(times_s[times_s.len() / 2])
}

fn unit(from: [f64; 3], to: [f64; 3]) -> [f64; 3] {
    let along: [f64; 3] = std::array::from_fn(|a| to[a] - from[a]);
    let length = along.iter().map(|v| v * v).sum::<f64>().sqrt();
    along.map(|v| v / length)
}

/// A table and boxes on it.
fn clutter(rng: &mut Rng) -> Result<MapSnapshot, Box<dyn Error>> {
    let space = PipelineSettings::default().workspace;
    let grid = Grid::new(space.lower_m, space.upper_m, VOXEL_M)?;
    let mut keys = std::collections::BTreeSet::new();
    while keys.len() < VOXELS {
        let size: [f64; 3] = std::array::from_fn(|_| rng.uniform(0.05, 0.25));
        let corner = [rng.uniform(0.2, 1.1), rng.uniform(-0.8, 0.8), 0.0];
        let (low, high) = if keys.is_empty() {
            ([0.2, -0.6, -0.05], [1.2, 0.6, 0.0])
        } else {
            (corner, std::array::from_fn(|a| corner[a] + size[a]))
        };
        for key in 0..grid.cells() as u32 {
            let at = grid.centre_m(grid.cell_of(key));
            if (0..3).all(|a| low[a] <= at[a] && at[a] < high[a]) && keys.len() < VOXELS {
                keys.insert(key);
            }
        }
    }
    Ok(MapSnapshot::from_voxels(&grid, &keys.into_iter().collect::<Vec<_>>())?)
}
