//! Which bricks of a map are near to each of its cells, so that a ball is compared with few.

use std::collections::HashMap;

use citrange_space::Snapshot;
use citrange_space::lanes::{LANES, Lane};

use super::bricks::{Brick, bricks};
use super::scene::rounding_m;
use super::vector::{Triple, Vector};

/// For every cell of a map's grid, all that is within a reach of it.
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
    fn new(brick: &Brick, snapshot: &Snapshot) -> Self {
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
    pub(super) fn away<V: Vector>(&self, points_m: &Triple<V>) -> Triple<V> {
        std::array::from_fn(|axis| {
            let point = points_m[axis];
            let low = V::splat(self.low_m[axis]);
            point.minus(point.greater(low).lesser(V::splat(self.high_m[axis])))
        })
    }
}

impl Near {
    /// Lists of what is within `reach_m`.
    pub(super) fn new(snapshot: &Snapshot, reach_m: f64) -> Self {
        let grid = snapshot.grid();
        let size = grid.size();
        let longest = size.iter().fold(0, |most, n| *n.max(&most)) as f64;
        // Rounding may pick the neighbour of a cell whose edge a point is on.
        let rounding = 1e-3 + longest * 4.0 * f64::from(f32::EPSILON);
        let bricks = bricks(snapshot);
        let all = Cells::new(&bricks, size, reach_m / grid.voxel_m() + rounding);
        let (lists, starts, members) = all.shared();
        Self {
            reach_m: reach_m as f32,
            walls: bricks.iter().map(|brick| Wall::new(brick, snapshot)).collect(),
            lists,
            starts,
            members,
            lower_m: grid.lower_m().map(|v| v as f32),
            per_m: (1.0 / grid.voxel_m()) as f32,
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
    pub(super) fn lists<V: Vector>(&self, points_m: &Triple<V>) -> [u32; LANES] {
        let mut key = V::splat(0.0);
        for axis in 0..3 {
            let at = points_m[axis].minus(V::splat(self.lower_m[axis])).by(self.per_m);
            let at = at.minus(V::splat(0.5)).greater(V::splat(0.0));
            let (_, cell) = at.lesser(V::splat(self.last[axis])).whole();
            // Keys are below 2^24: exact.
            key = key.plus(cell.by(self.strides[axis]));
        }
        let mut keys = Lane([0.0; LANES]);
        key.store(&mut keys);
        keys.0.map(|key| self.lists.get(key as usize).copied().unwrap_or(0))
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
    fn new(bricks: &[Brick], size: [usize; 3], reach: f64) -> Self {
        let mut starts = vec![0_u32; size.iter().product::<usize>() + 1];
        for brick in bricks {
            for_rows_near(brick, size, reach, |row| {
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
            for_rows_near(brick, size, reach, |row| {
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

/// Calls for the keys of all rows of cells whose gap to a brick is at most `reach` cells.
fn for_rows_near(
    brick: &Brick,
    size: [usize; 3],
    reach: f64,
    mut call: impl FnMut(std::ops::Range<usize>),
) {
    let range = |axis: usize, reach: f64| {
        let cells = reach as usize + 1;
        brick.low[axis].saturating_sub(cells)..(brick.high[axis] + cells).min(size[axis])
    };
    let gap2 = |axis: usize, at: usize| {
        let before = brick.low[axis].saturating_sub(at + 1);
        let gap = before.max(at.saturating_sub(brick.high[axis])) as f64;
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
