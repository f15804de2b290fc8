//! Which bricks of a map are near to each place, so that a sphere is compared with few.

use std::collections::HashMap;

use citrange_lanes::{LANES, Simd, Triple};
use citrange_space::MapSnapshot;

use super::bricks::{Brick, bricks};
use super::lane_shapes::rounding_m;

/// Cells that lists are made for are not smaller than about this, however fine the voxels are:
/// there would be too many.
const LEAST_CELL_M: f64 = 0.05;

/// For every cell, all that is within a reach of it. A cell is a cube of one or more voxels.
#[derive(Clone, Debug)]
pub(super) struct Near {
    reach_m: f32,
    walls: Vec<Wall>,
    /// Of every cell: its list.
    lists: Vec<u32>,
    /// Where lists begin in `members`; the end of each is where the next begins.
    starts: Vec<u32>,
    members: Vec<u32>,
    lower_m: [f32; 3],
    per_m: f32,
    last: [f32; 3],
    strides: [f32; 3],
}

/// A brick in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wall {
    low_m: [f32; 3],
    high_m: [f32; 3],
}

impl Wall {
    fn new(brick: &Brick, snapshot: &MapSnapshot) -> Self {
        let grid = snapshot.grid();
        let corner_m = |cell: [usize; 3], side: f64| {
            let exact: [f64; 3] =
                std::array::from_fn(|a| grid.lower_m()[a] + cell[a] as f64 * grid.voxel_m());
            let slack_m = rounding_m(&exact);
            exact.map(|c| (c + side * slack_m) as f32)
        };
        Self { low_m: corner_m(brick.low, -1.0), high_m: corner_m(brick.high, 1.0) }
    }

    /// From the nearest point of it to the points.
    #[inline(always)]
    pub(super) fn away<S: Simd>(&self, points_m: &Triple<S>) -> Triple<S> {
        let mut away = *points_m;
        for axis in 0..3 {
            let point = points_m[axis];
            away[axis] = point - point.clamp(self.low_m[axis], self.high_m[axis]);
        }
        away
    }
}

impl Near {
    /// Lists of what is within `reach_m`.
    pub(super) fn new(snapshot: &MapSnapshot, reach_m: f64) -> Self {
        let grid = snapshot.grid();
        let voxels = (LEAST_CELL_M / grid.voxel_m()).round().clamp(1.0, 1e3) as usize;
        let size = grid.size().map(|n| n.div_ceil(voxels));
        let longest = grid.size().iter().fold(0, |most, n| *n.max(&most)) as f64;
        // Rounding may pick the neighbour of a cell whose edge a point is on.
        let rounding = 1e-3 + longest * 4.0 * f64::from(f32::EPSILON);
        let bricks = bricks(snapshot);
        let all = Cells::new(&bricks, size, voxels, reach_m / grid.voxel_m() + rounding);
        let (lists, starts, members) = all.shared();
        Self {
            reach_m: reach_m as f32,
            walls: bricks.iter().map(|brick| Wall::new(brick, snapshot)).collect(),
            lists,
            starts,
            members,
            lower_m: grid.lower_m().map(|v| v as f32),
            per_m: (1.0 / (voxels as f64 * grid.voxel_m())) as f32,
            last: size.map(|n| n as f32 - 1.0),
            strides: [1.0, size[0] as f32, (size[0] * size[1]) as f32],
        }
    }

    /// What is not on a point's list is at least this far from it.
    pub(super) fn reach_m(&self) -> f32 {
        self.reach_m
    }

    /// Numbers of the lists of points. A point outside of the grid has that of the nearest cell:
    /// it is further than that one from everything inside.
    #[inline(always)]
    pub(super) fn lists<S: Simd>(&self, points_m: &Triple<S>) -> [u32; LANES] {
        let mut key = points_m[0].simd().splat(0.0);
        for axis in 0..3 {
            let at = (points_m[axis] - self.lower_m[axis]) * self.per_m - 0.5;
            let (_, cell) = at.clamp(0.0, self.last[axis]).whole();
            // Keys are below 2^24: exact.
            key = key + cell * self.strides[axis];
        }
        let mut lists = [0; LANES];
        for (list, key) in lists.iter_mut().zip(key.to_array()) {
            *list = self.lists.get(key as usize).copied().unwrap_or(0);
        }
        lists
    }

    /// What is on a list.
    #[inline(always)]
    pub(super) fn walls(&self, list: u32) -> impl Iterator<Item = &Wall> {
        let list = list as usize;
        let members = self.starts[list] as usize..self.starts[list + 1] as usize;
        self.members[members].iter().map(|wall| &self.walls[*wall as usize])
    }
}

/// Bricks near to each cell, one list after the other.
struct Cells {
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Cells {
    /// `size` cells of `voxels` voxels along each axis; `reach` in voxels.
    fn new(bricks: &[Brick], size: [usize; 3], voxels: usize, reach: f64) -> Self {
        let mut starts = vec![0_u32; size.iter().product::<usize>() + 1];
        for brick in bricks {
            for_rows_near(brick, size, voxels, reach, |row| {
                starts[row].iter_mut().for_each(|count| *count += 1);
            });
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            // Where the list ends: it is filled from there.
            *start = sum;
        }
        let mut members = vec![0_u32; sum as usize];
        for (number, brick) in bricks.iter().enumerate().rev() {
            for_rows_near(brick, size, voxels, reach, |row| {
                for start in &mut starts[row] {
                    *start -= 1;
                    members[*start as usize] = number as u32;
                }
            });
        }
        Self { starts, members }
    }

    /// The same with each list kept once: numbers of the cells' lists, where these begin, and
    /// their members. List 0 is empty.
    fn shared(&self) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let (mut starts, mut members) = (vec![0, 0], Vec::new());
        let mut known: HashMap<&[u32], u32> = HashMap::new();
        let nothing: &[u32] = &[];
        let mut before = (nothing, 0);
        let lists = self.starts.windows(2).map(|ends| {
            let list = &self.members[ends[0] as usize..ends[1] as usize];
            if list.is_empty() {
                return 0;
            }
            // Neighbours often have the same.
            if list != before.0 {
                let number = *known.entry(list).or_insert_with(|| {
                    members.extend_from_slice(list);
                    starts.push(members.len() as u32);
                    starts.len() as u32 - 2
                });
                before = (list, number);
            }
            before.1
        });
        let lists = lists.collect();
        (lists, starts, members)
    }
}

/// Calls for the keys of all rows of cells whose gap to a brick is at most `reach` voxels.
fn for_rows_near(
    brick: &Brick,
    size: [usize; 3],
    voxels: usize,
    reach: f64,
    mut call: impl FnMut(std::ops::Range<usize>),
) {
    // A cell may begin where its gap is the reach, rounded down, and a cell before that.
    let range = |axis: usize, reach: f64| {
        let reach = reach as usize;
        let first = brick.low[axis].saturating_sub(reach + 1) / voxels;
        first..((brick.high[axis] + reach) / voxels + 1).min(size[axis])
    };
    let gap2 = |axis: usize, at: usize| {
        let before = brick.low[axis].saturating_sub((at + 1) * voxels);
        let gap = before.max((at * voxels).saturating_sub(brick.high[axis])) as f64;
        gap * gap
    };
    for z in range(2, reach) {
        for y in range(1, reach) {
            let left2 = reach * reach - gap2(2, z) - gap2(1, y);
            if left2 >= 0.0 {
                let row = (z * size[1] + y) * size[0];
                let along = range(0, left2.sqrt());
                call(row + along.start..row + along.end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use citrange_core::rng::Rng;
    use citrange_lanes::{Scalar, dot};
    use citrange_space::Grid;

    use super::*;

    /// In corners, on edges of cells, outside of the grid and beyond a last cube that sticks out
    /// of it: lists have all that is within reach.
    #[test]
    fn lists_have_all_that_is_near_wherever_a_point_is() {
        let mut rng = Rng::new(12);
        let mut seen = 0;
        for voxel_m in [0.05, 0.02, 0.013] {
            let grid = Grid::new([-0.3, -0.4, 0.1], [0.31, 0.2, 0.72], voxel_m).unwrap();
            let fraction = 0.01;
            let keys: Vec<u32> =
                (0..grid.cells() as u32).filter(|_| rng.unit() < fraction).collect();
            let snapshot = MapSnapshot::from_voxels(&grid, &keys).unwrap();
            let near = Near::new(&snapshot, 0.12);
            for _ in 0..3000 {
                let on_edge = rng.unit() < 0.3;
                let point_m: [f64; 3] = std::array::from_fn(|a| {
                    let (lower, upper) = (grid.lower_m()[a], grid.upper_m()[a]);
                    let any = rng.uniform(lower - 0.1, upper + 0.1);
                    let whole = ((any - lower) / voxel_m).round() * voxel_m + lower;
                    if on_edge { whole } else { any }
                });
                let points = point_m.map(|c| Scalar::new().splat(c as f32));
                let mut least2 = Scalar::new().splat(near.reach_m().powi(2));
                for wall in near.walls(near.lists(&points)[3]) {
                    let away = wall.away(&points);
                    least2 = dot(&away, &away).min(least2);
                }
                let exact_m = snapshot.distance(point_m).distance_m.min(0.12);
                let found_m = f64::from(least2.to_array()[3].sqrt());
                assert!((found_m - exact_m).abs() < 5e-6, "{point_m:?} {found_m} {exact_m}");
                seen += usize::from(exact_m < 0.12);
            }
        }
        assert!(seen > 4000, "{seen}");
    }
}
