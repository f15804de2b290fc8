//! How far every place is from the cubes of a map: exact at the middles of fine cells.
//!
//! The field of a snapshot knows the distance between cells, which is up to a voxel's diagonal
//! less than that of a point. Here cells are finer, and distances are those of their middles:
//! what is between differs by no more than the way there.

use std::sync::Arc;

use citrange_lanes::{F32x16, LANES, Simd, Triple};
use citrange_space::MapSnapshot;

use super::near::Near;

/// Fine cells that are made at most: more would not stay in the cache.
const MOST_CELLS: usize = 3 << 20;

/// Beyond this all distances are the same.
const REACH_M: f64 = 0.4;

/// Parts of a motion in which a sphere may move further than this near to something are cut.
const MOST_MOVED_M: f64 = 0.1;

/// Distances to the cubes of a map. Made once per snapshot and shared.
#[derive(Clone, Debug)]
pub(super) struct Field {
    snapshot: Arc<MapSnapshot>,
    near: Near,
    /// Distance of every fine cell's middle, in steps of `step_m`, rounded down.
    steps: Vec<u8>,
    step_m: f32,
    lower_m: [f32; 3],
    upper_m: [f32; 3],
    cell_m: f32,
    per_m: f32,
    last: [f32; 3],
    strides: [f32; 3],
}

/// Bounds of the distance between 16 points and the map.
pub(super) struct Bounds<S: Simd> {
    pub(super) least_m: F32x16<S>,
    pub(super) most_m: F32x16<S>,
}

impl Field {
    /// Single precision counts exactly up to here.
    pub(super) const MOST_VOXELS: usize = 1 << 24;

    /// For spheres that must stay `widest_m` away from everything, or less.
    pub(super) fn new(snapshot: &Arc<MapSnapshot>, widest_m: f64) -> Self {
        let grid = snapshot.grid();
        let fits = |fine: &usize| grid.cells() * fine.pow(3) <= MOST_CELLS;
        let fine = [4, 2].into_iter().find(fits).unwrap_or(1);
        let size = grid.size().map(|n| n * fine);
        let cell_m = grid.voxel_m() / fine as f64;
        let squares = squares(snapshot, fine);
        // Half a fine cell is one unit of the squares.
        let unit_m = cell_m / 2.0;
        let step_m = REACH_M / 250.0;
        let most = (REACH_M / step_m) as u8;
        // Few squares are possible: their roots are taken once.
        let largest = squares.iter().fold(0, |largest, square| *square.max(&largest));
        let roots: Vec<u8> = (0..=largest)
            .map(|square| ((f64::from(square).sqrt() * unit_m / step_m) as u8).min(most))
            .collect();
        let steps = squares.iter().map(|square| roots[usize::from(*square)]);
        Self {
            steps: steps.collect(),
            snapshot: Arc::clone(snapshot),
            near: Near::new(snapshot, widest_m + MOST_MOVED_M),
            step_m: step_m as f32,
            lower_m: grid.lower_m().map(|v| v as f32),
            upper_m: grid.upper_m().map(|v| v as f32),
            cell_m: cell_m as f32,
            per_m: (1.0 / cell_m) as f32,
            last: size.map(|n| n as f32 - 1.0),
            strides: [1.0, size[0] as f32, (size[0] * size[1]) as f32],
        }
    }

    pub(super) fn snapshot(&self) -> &Arc<MapSnapshot> {
        &self.snapshot
    }

    pub(super) fn near(&self) -> &Near {
        &self.near
    }

    /// Bounds for points, which may be outside of the grid.
    #[inline(always)]
    pub(super) fn bounds<S: Simd>(&self, points_m: &Triple<S>) -> Bounds<S> {
        let simd = points_m[0].simd();
        let nothing = simd.splat(0.0);
        let (mut inside2, mut away2, mut key) = (nothing, nothing, nothing);
        for axis in 0..3 {
            let lower_m = self.lower_m[axis];
            let point = points_m[axis];
            // The nearest point of the grid is not further from anything in it.
            let inside = point.clamp(lower_m, self.upper_m[axis]);
            let at = (inside - lower_m) * self.per_m - 0.5;
            let (_, cell) = at.clamp(0.0, self.last[axis]).whole();
            // Keys are below 2^24: exact.
            key = key + cell * self.strides[axis];
            let middle = (cell + 0.5) * self.cell_m + lower_m;
            let (off, way) = (inside - middle, point - middle);
            inside2 = inside2 + off * off;
            away2 = away2 + way * way;
        }
        let mut steps = [0.0; LANES];
        for (step, key) in steps.iter_mut().zip(key.to_array()) {
            *step = f32::from(self.steps.get(key as usize).copied().unwrap_or(0));
        }
        let middle_m = simd.load(&steps) * self.step_m;
        Bounds { least_m: middle_m - inside2.sqrt(), most_m: middle_m + self.step_m + away2.sqrt() }
    }
}

/// Squared distance of the middle of every fine cell to the nearest cube, in halves of a fine
/// cell; what is beyond the reach counts as that.
fn squares(snapshot: &MapSnapshot, fine: usize) -> Vec<u16> {
    let grid = snapshot.grid();
    let coarse = grid.size();
    let [nx, ny, nz] = coarse.map(|n| n * fine);
    let reach = ((REACH_M / grid.voxel_m()).ceil() as usize).clamp(1, 100 / fine);
    let far = {
        let units = 2 * fine * reach;
        (units * units).min(usize::from(u16::MAX)) as u16
    };
    // Along x: distance to occupied cubes of the same row of voxels.
    let mut along_x = vec![far; nx * coarse[1] * coarse[2]];
    for voxel in snapshot.voxels() {
        let [x, y, z] = grid.cell_of(voxel.key);
        let row = &mut along_x[(z * coarse[1] + y) * nx..][..nx];
        let from = x.saturating_sub(reach) * fine;
        let to = ((x + reach + 1) * fine).min(nx);
        for (at, square) in row.iter_mut().enumerate().take(to).skip(from) {
            *square = (*square).min(gap2(at, x, fine));
        }
    }
    // Along y, then z: the least of what the rows beside have, plus the way there.
    let mut along_y = vec![far; nx * ny * coarse[2]];
    for z in 0..coarse[2] {
        spread(
            &along_x[z * coarse[1] * nx..],
            &mut along_y[z * ny * nx..],
            nx,
            fine,
            (coarse[1], reach),
        );
    }
    let mut along_z = vec![far; nx * ny * nz];
    spread(&along_y, &mut along_z, nx * ny, fine, (coarse[2], reach));
    along_z
}

/// Spreads squared distances across rows: `to` has `fine` rows for each of `from`.
fn spread(from: &[u16], to: &mut [u16], width: usize, fine: usize, (rows, reach): (usize, usize)) {
    for (at, out) in to.chunks_exact_mut(width).take(rows * fine).enumerate() {
        let own = at / fine;
        for row in own.saturating_sub(reach)..(own + reach + 1).min(rows) {
            let way = gap2(at, row, fine);
            for (out, have) in out.iter_mut().zip(&from[row * width..][..width]) {
                *out = (*out).min(have.saturating_add(way));
            }
        }
    }
}

/// Squared way from the middle of fine cell `at` to voxel `to` along an axis, in halves of a
/// fine cell.
fn gap2(at: usize, to: usize, fine: usize) -> u16 {
    let middle = 2 * at + 1;
    let (low, high) = (2 * fine * to, 2 * fine * (to + 1));
    let gap = low.saturating_sub(middle).max(middle.saturating_sub(high));
    (gap * gap).min(usize::from(u16::MAX)) as u16
}
