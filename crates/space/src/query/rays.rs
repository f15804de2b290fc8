//! What rays hit first.

use citrange_lanes::{Isa, kernel};

use crate::error::SpaceError;
use crate::map::MapSnapshot;
use crate::query::{rays_wide, same_length};

/// In the answers of [`MapSnapshot::rays`]: no voxel was hit.
pub const NO_VOXEL: u32 = u32::MAX;

/// Taken off a gap before it is stepped over: more than its root can be off in 32 bits.
pub(super) const SLACK: f64 = 1e-4;

/// Slower than this along an axis is standing still.
pub(super) const STILL: f64 = 1e-30;

/// Rays, one per place of all slices.
#[derive(Clone, Copy, Debug)]
pub struct RayBatch<'a> {
    /// Where they begin: x, y and z.
    pub origins_m: [&'a [f64]; 3],
    /// Where they go, of length 1: x, y and z.
    pub directions: [&'a [f64]; 3],
    /// How long they are; infinite is allowed.
    pub max_m: &'a [f64],
}

/// A ray in cells from the grid's lower corner, cut to the grid.
#[derive(Clone, Copy, Debug)]
struct Ray {
    origin: [f64; 3],
    direction: [f64; 3],
    inverse: [f64; 3],
    start: f64,
    end: f64,
}

impl MapSnapshot {
    /// The distance at which each ray enters an occupied cube first, and the cube's key: 0 for a
    /// ray that begins inside of one; infinity and [`NO_VOXEL`] for one that meets none within
    /// its length. A ray that only touches a corner or an edge may be told as either.
    ///
    /// # Errors
    /// When the slices are not equally long, or a ray is not finite, not of length 1 or shorter
    /// than 0.
    pub fn rays(
        &self,
        batch: &RayBatch,
        distances_m: &mut [f64],
        voxels: &mut [u32],
    ) -> Result<(), SpaceError> {
        self.rays_with(self.isa, batch, distances_m, voxels)
    }

    /// [`MapSnapshot::rays`] on a chosen instruction set that the processor has.
    pub(super) fn rays_with(
        &self,
        isa: Isa,
        batch: &RayBatch,
        distances_m: &mut [f64],
        voxels: &mut [u32],
    ) -> Result<(), SpaceError> {
        batch.check()?;
        same_length("distances of rays", distances_m.len(), batch.max_m.len())?;
        same_length("voxels of rays", voxels.len(), batch.max_m.len())?;
        cast(isa, self, batch, distances_m, voxels);
        Ok(())
    }
}

kernel! {
    /// Casts all rays of a batch that was checked.
    fn cast(
        simd, snapshot: &MapSnapshot, batch: &RayBatch<'_>, distances_m: &mut [f64], voxels: &mut [u32],
    ) {
        if S::IS_WIDE {
            return rays_wide::cast(simd, snapshot, batch, distances_m, voxels);
        }
        for i in 0..batch.max_m.len() {
            let ray = Ray::new(snapshot, batch, i);
            (distances_m[i], voxels[i]) = match ray.march(snapshot) {
                Some((distance, key)) => (distance * snapshot.grid.voxel_m(), key),
                None => (f64::INFINITY, NO_VOXEL),
            };
        }
    }
}

impl RayBatch<'_> {
    /// Everything that the kernels rely on.
    fn check(&self) -> Result<(), SpaceError> {
        let rays = self.max_m.len();
        for part in self.origins_m.iter().chain(&self.directions) {
            same_length("rays", part.len(), rays)?;
        }
        let ([ox, oy, oz], [dx, dy, dz]) = (self.origins_m, self.directions);
        let good = |i: usize| {
            let length2 = dx[i] * dx[i] + dy[i] * dy[i] + dz[i] * dz[i];
            let finite = (ox[i] + oy[i] + oz[i]) * 0.0 == 0.0;
            ((length2 - 1.0).abs() < 1e-6) & finite & (self.max_m[i] >= 0.0)
        };
        // No early end: the compiler makes vectors of it.
        if (0..rays).fold(true, |all, i| all & good(i)) {
            return Ok(());
        }
        let bad = (0..rays).find(|i| !good(*i)).unwrap_or(0);
        let reason = format!(
            "ray {bad} is not finite, its direction is not of length 1, or its length is below 0: \
             origin {:?}, direction {:?}, length {} m",
            self.origins_m.map(|o| o[bad]),
            self.directions.map(|d| d[bad]),
            self.max_m[bad],
        );
        Err(SpaceError::bad("rays", reason))
    }
}

impl Ray {
    fn new(snapshot: &MapSnapshot, batch: &RayBatch, i: usize) -> Self {
        let (lower, scale) = (snapshot.grid.lower_m(), 1.0 / snapshot.grid.voxel_m());
        let size = snapshot.grid.size();
        let origin: [f64; 3] = std::array::from_fn(|a| (batch.origins_m[a][i] - lower[a]) * scale);
        let direction = batch.directions.map(|d| if d[i].abs() < STILL { STILL } else { d[i] });
        let inverse = direction.map(|d| 1.0 / d);
        let (mut start, mut end) = (0.0_f64, batch.max_m[i] * scale);
        for a in 0..3 {
            let low = (0.0 - origin[a]) * inverse[a];
            let high = (size[a] as f64 - origin[a]) * inverse[a];
            start = start.max(low.min(high));
            end = end.min(low.max(high));
        }
        Self { origin, direction, inverse, start, end }
    }

    /// Distance in cells and key of the first occupied cube.
    ///
    /// The ray goes to where it leaves its cell, or over the cell's gap if that is further. The
    /// cell at `t` is the one whose far side is beyond `t`: rounding cannot hold the ray up.
    fn march(&self, snapshot: &MapSnapshot) -> Option<(f64, u32)> {
        let size = snapshot.grid.size();
        let mut t = self.start;
        while t <= self.end {
            let mut exit = f64::INFINITY;
            let mut cell = [0; 3];
            for a in 0..3 {
                let (step, far) = if self.direction[a] < 0.0 { (-1.0, 0.0) } else { (1.0, 1.0) };
                let mut floor = (self.origin[a] + t * self.direction[a]).floor();
                let mut side = (floor + (far - self.origin[a])) * self.inverse[a];
                if side <= t {
                    floor += step;
                    side += self.inverse[a].abs();
                }
                exit = exit.min(side);
                cell[a] = floor.clamp(0.0, (size[a] - 1) as f64) as usize;
            }
            let gap2 = snapshot.gap2[snapshot.grid.key(cell) as usize];
            if gap2 == 0 && snapshot.occupied.get(cell) {
                return Some((self.entry(cell), snapshot.grid.key(cell)));
            }
            let clear = f64::from(f32::from(gap2).sqrt()) - SLACK;
            t = exit.max(t + clear);
        }
        None
    }

    /// Where the ray enters a cell.
    fn entry(&self, cell: [usize; 3]) -> f64 {
        let near = |a: usize| if self.direction[a] < 0.0 { 1.0 } else { 0.0 };
        (0..3)
            .map(|a| (cell[a] as f64 + near(a) - self.origin[a]) * self.inverse[a])
            .fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn all_instruction_sets_answer_the_same_to_the_bit(
            picks in prop::collection::vec(any::<u32>(), 0..200),
            rays in prop::collection::vec(
                ([-1.5_f64..1.5, -1.5_f64..1.5, -1.5_f64..1.5], [-1_i8..2, -1_i8..2, -1_i8..2],
                 [-0.3_f64..0.3, -0.3_f64..0.3, -0.3_f64..0.3], any::<bool>(), 0.0_f64..3.0), 70),
        ) {
            let grid = Grid::new([-1.0; 3], [1.0, 0.7, 0.55], 0.05).unwrap();
            let keys: Vec<u32> = picks.iter().map(|p| p % grid.cells() as u32).collect();
            let snapshot = MapSnapshot::from_voxels(&grid, &keys).unwrap();
            let (mut origins, mut directions, mut max_m) =
                ([vec![], vec![], vec![]], [vec![], vec![], vec![]], vec![]);
            for (origin, along, tilt, straight, length) in rays {
                // Half of them along axes and diagonals, from the corners of cells.
                let part = if straight { 0.0 } else { 1.0 };
                let way: [f64; 3] = std::array::from_fn(|a| f64::from(along[a]) + part * tilt[a]);
                let norm = way.iter().map(|v| v * v).sum::<f64>().sqrt();
                let way = if norm > 1e-3 { way.map(|v| v / norm) } else { [0.0, 0.0, 1.0] };
                for a in 0..3 {
                    let corner = (origin[a] / 0.05).round() * 0.05;
                    origins[a].push(if straight { corner } else { origin[a] });
                    directions[a].push(way[a]);
                }
                max_m.push(length);
            }
            let batch = RayBatch {
                origins_m: [&origins[0], &origins[1], &origins[2]],
                directions: [&directions[0], &directions[1], &directions[2]],
                max_m: &max_m,
            };
            let mut expected: Option<(Vec<f64>, Vec<u32>)> = None;
            for isa in Isa::available() {
                let mut answer = (vec![0.0; max_m.len()], vec![0; max_m.len()]);
                snapshot.rays_with(isa, &batch, &mut answer.0, &mut answer.1).unwrap();
                prop_assert_eq!(&answer, expected.get_or_insert(answer.clone()), "{:?}", isa);
            }
        }
    }
}
