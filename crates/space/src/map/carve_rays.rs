//! Which voxels were looked through in a cloud that is no picture: ray by ray.
//!
//! A voxel was looked through when some ray went through it, and none ended in it, before it or
//! less than the margin behind where it left. Every ray is followed through the whole grid, so
//! this takes much longer than [`super::carve`].

use nalgebra::{Isometry3, Point3};

use crate::grid::Grid;
use crate::map::bits::Bits;

/// Cells that rays went through, and cells that rays ended in or before.
#[derive(Clone, Debug)]
pub(crate) struct RayCarver {
    grid: Grid,
    passed: Bits,
    blocked: Bits,
    margin: f64,
}

impl RayCarver {
    pub(crate) fn new(grid: &Grid, margin_m: f64) -> Self {
        let bits = Bits::new(grid);
        Self { grid: *grid, passed: bits.clone(), blocked: bits, margin: margin_m / grid.voxel_m() }
    }

    /// Begins a new frame.
    pub(crate) fn clear(&mut self) {
        self.passed.clear();
        self.blocked.clear();
    }

    /// Takes in the rays to points in the camera's frame; points that were not seen have none.
    pub(crate) fn add(
        &mut self,
        world_from_camera: &Isometry3<f64>,
        x: &[f32],
        y: &[f32],
        z: &[f32],
    ) {
        let from = world_from_camera.translation.vector;
        for i in 0..x.len() {
            let point = Point3::new(f64::from(x[i]), f64::from(y[i]), f64::from(z[i]));
            let to = world_from_camera * point;
            if to.coords.iter().all(|v| v.is_finite()) {
                self.follow(from.into(), to.coords.into());
            }
        }
    }

    /// The cells that were looked through.
    pub(crate) fn free(&self) -> impl Iterator<Item = [usize; 3]> {
        self.passed.cells().filter(|cell| !self.blocked.get(*cell))
    }

    /// Goes from cell to cell along one ray.
    fn follow(&mut self, from_m: [f64; 3], to_m: [f64; 3]) {
        let (size, lower_m) = (self.grid.size(), self.grid.lower_m());
        let voxel_m = self.grid.voxel_m();
        let from: [f64; 3] = std::array::from_fn(|a| (from_m[a] - lower_m[a]) / voxel_m);
        let along: [f64; 3] = std::array::from_fn(|a| (to_m[a] - from_m[a]) / voxel_m);
        let length = along.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length == 0.0 {
            return;
        }
        let way = along.map(|v| if v.abs() < 1e-12 { 1e-12 } else { v / length });
        let (mut t, mut end) = (0.0_f64, f64::INFINITY);
        for a in 0..3 {
            let (low, high) = ((0.0 - from[a]) / way[a], (size[a] as f64 - from[a]) / way[a]);
            t = t.max(low.min(high));
            end = end.min(low.max(high));
        }
        while t < end {
            let mut exit = f64::INFINITY;
            let mut cell = [0; 3];
            for a in 0..3 {
                let (step, far) = if way[a] < 0.0 { (-1.0, 0.0) } else { (1.0, 1.0) };
                let mut floor = (from[a] + t * way[a]).floor();
                let mut side = (floor + far - from[a]) / way[a];
                if side <= t {
                    floor += step;
                    side += 1.0 / way[a].abs();
                }
                exit = exit.min(side);
                cell[a] = floor.clamp(0.0, (size[a] - 1) as f64) as usize;
            }
            if exit + self.margin < length {
                self.passed.set(cell);
            } else {
                self.blocked.set(cell);
            }
            t = exit;
        }
    }
}
