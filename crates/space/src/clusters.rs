//! Groups of voxels that touch at a face or an edge.

use crate::frame::Voxel;
use crate::grid::Grid;

/// Rows of cells that come before a row and touch it: step along y, step along z, and whether
/// cells one further along x touch as well.
const ROWS_BEFORE: [(i64, i64, u32); 4] = [(-1, 0, 1), (0, -1, 1), (-1, -1, 0), (1, -1, 0)];

/// Finds groups, with memory that is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grouping {
    runs: Vec<Run>,
}

/// Voxels side by side along x: the unit of grouping.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Number of their row of cells; rows beyond the end of a layer count.
    row: u32,
    /// x of the first and of the last.
    low: u32,
    high: u32,
    /// A run of the same group that is not behind this one; itself if it is the first.
    parent: u32,
    /// Voxels of the group, then its number; of the first run only.
    group: u32,
}

/// Number of a group that is too small.
const TOO_SMALL: u32 = u32::MAX;

impl Grouping {
    /// Numbers the groups of voxels, which are in the order of keys, by their lowest key, and
    /// takes away the voxels of groups with fewer than `least`. Tells `dropped` which. Answers
    /// how many groups are left.
    pub(crate) fn number(
        &mut self,
        grid: &Grid,
        voxels: &mut Vec<Voxel>,
        least: usize,
        mut dropped: impl FnMut(&Voxel),
    ) -> u32 {
        self.find_runs(grid, voxels);
        for (dy, dz, wider) in ROWS_BEFORE {
            self.join_rows(-(dy + dz * rows_per_layer(grid)) as u32, wider);
        }
        let groups = self.number_groups(least);
        let mut run = 0;
        let mut left = 0;
        voxels.retain_mut(|voxel| {
            while left == 0 {
                left = self.runs.get(run).map_or(u32::MAX, |r| r.high - r.low + 1);
                run += 1;
            }
            left -= 1;
            voxel.cluster = self.runs[run - 1].group;
            let keep = voxel.cluster != TOO_SMALL;
            if !keep {
                dropped(voxel);
            }
            keep
        });
        groups
    }

    fn find_runs(&mut self, grid: &Grid, voxels: &[Voxel]) {
        self.runs.clear();
        // The key that would go on with the last run; none at the end of a row of cells.
        let mut goes_on = None;
        for voxel in voxels {
            if goes_on == Some(voxel.key)
                && let Some(run) = self.runs.last_mut()
            {
                run.high += 1;
            } else {
                let [x, y, z] = grid.cell_of(voxel.key).map(|v| v as u32);
                let row = (z + 1) * rows_per_layer(grid) as u32 + y + 1;
                let parent = self.runs.len() as u32;
                self.runs.push(Run { row, low: x, high: x, parent, group: 0 });
            }
            let ends = self.runs.last().is_some_and(|run| run.high as usize + 1 == grid.size()[0]);
            goes_on = (!ends).then_some(voxel.key + 1);
        }
    }

    /// Joins runs with those of the row that comes `before` rows earlier.
    fn join_rows(&mut self, before: u32, wider: u32) {
        let mut cursor = 0;
        for i in 0..self.runs.len() {
            let run = self.runs[i];
            let row = run.row - before;
            // Both walk in the order of keys, so the cursor never goes back.
            while place(self.runs[cursor].row, self.runs[cursor].high + wider) < place(row, run.low)
            {
                cursor += 1;
            }
            let mut other = cursor;
            while self.runs[other].row == row && self.runs[other].low <= run.high + wider {
                self.join(i as u32, other as u32);
                other += 1;
            }
        }
    }

    fn first(&mut self, mut run: u32) -> u32 {
        loop {
            let parent = self.runs[run as usize].parent;
            if parent == run {
                return run;
            }
            let grandparent = self.runs[parent as usize].parent;
            self.runs[run as usize].parent = grandparent;
            run = grandparent;
        }
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.runs[a.max(b) as usize].parent = a.min(b);
    }

    /// Writes the number of its group into every run; answers how many groups are left.
    fn number_groups(&mut self, least: usize) -> u32 {
        for i in 0..self.runs.len() {
            let first = self.first(i as u32) as usize;
            self.runs[first].group += self.runs[i].high - self.runs[i].low + 1;
        }
        let mut groups = 0;
        for i in 0..self.runs.len() {
            let first = self.first(i as u32) as usize;
            self.runs[i].group = if first != i {
                self.runs[first].group
            } else if (self.runs[i].group as usize) < least {
                TOO_SMALL
            } else {
                groups += 1;
                groups - 1
            };
        }
        groups
    }
}

/// Rows of cells per layer: two more than there are, so that the first and the last row of
/// neighbouring layers are not neighbours.
fn rows_per_layer(grid: &Grid) -> i64 {
    grid.size()[1] as i64 + 2
}

/// Order of runs as one number.
fn place(row: u32, x: u32) -> u64 {
    u64::from(row) << 32 | u64::from(x)
}
