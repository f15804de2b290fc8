//! Times of the map and of questions to it: `cargo run --release --example map_times`.

use std::hint::black_box;
use std::time::Instant;

use citrange_space::{Grid, Nearest, RayBatch, Snapshot};

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
