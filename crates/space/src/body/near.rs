//! The occupied cube nearest to a point, looked for no further than it matters.

use crate::map::Snapshot;

/// Rows of cells around a cell, nearest first, and roots of small numbers: what the search would
/// compute again and again. Made for a reach; made again only when a map reaches further.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    rows: Vec<Row>,
    roots: Vec<f32>,
    reach_cells: usize,
}

/// A row of cells along x, beside the one through the cell in the middle.
#[derive(Clone, Copy, Debug)]
struct Row {
    y: i32,
    z: i32,
    /// Squared distance between the rows' cells, in cells: nothing in it is nearer.
    gap2: f64,
}

/// A map and what the search needs of it, in cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    words: &'a [u64],
    row_words: usize,
    gap2: &'a [u16],
    size: [usize; 3],
    around: &'a Surroundings,
}

impl Surroundings {
    /// Makes sure that everything within the reach of a map can be looked at.
    pub(crate) fn prepare(&mut self, snapshot: &Snapshot) {
        let reach = (snapshot.reach_m() / snapshot.grid().voxel_m()).round() as usize;
        if reach <= self.reach_cells {
            return;
        }
        self.reach_cells = reach;
        self.roots = (0..=reach * reach).map(|n| (n as f32).sqrt()).collect();
        let side = reach as i32 + 1;
        let gap = |n: i32| f64::from((n.abs() - 1).max(0));
        self.rows.clear();
        for z in -side..=side {
            for y in -side..=side {
                self.rows.push(Row { y, z, gap2: gap(y) * gap(y) + gap(z) * gap(z) });
            }
        }
        // Rows that are equally near by their gaps: those on the axes first.
        let middle = |r: &Row| r.y * r.y + r.z * r.z;
        let order = |a: &Row, b: &Row| a.gap2.total_cmp(&b.gap2).then(middle(a).cmp(&middle(b)));
        self.rows.sort_by(order);
    }
}

impl<'a> Near<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, around: &'a Surroundings) -> Self {
        Self {
            words: snapshot.occupied_words(),
            row_words: snapshot.row_words(),
            gap2: snapshot.gap2(),
            size: snapshot.grid().size(),
            around,
        }
    }

    /// Distance to the nearest cube and its cell, if it is nearer than `limit`. The point and
    /// all distances are in cells from the lower corner of the grid, and points outside are
    /// welcome. With `ANY`, the first cube found within the limit will do.
    pub(crate) fn nearest<const ANY: bool>(
        &self,
        point: [f64; 3],
        limit: f64,
    ) -> Option<(f64, [usize; 3])> {
        if limit <= 0.0 {
            return None;
        }
        let size = self.size;
        let cell: [usize; 3] = std::array::from_fn(|a| (point[a] as usize).min(size[a] - 1));
        if self.lower_bound(point, cell) >= limit {
            return None;
        }
        let mut best2 = limit * limit;
        let mut found = None;
        for row in &self.around.rows {
            if row.gap2 >= best2 {
                break;
            }
            let y = cell[1].wrapping_add_signed(row.y as isize);
            let z = cell[2].wrapping_add_signed(row.z as isize);
            if y >= size[1] || z >= size[2] {
                continue;
            }
            let (out_y, out_z) = (outside(point[1], y), outside(point[2], z));
            let beside2 = out_y * out_y + out_z * out_z;
            if beside2 >= best2 {
                continue;
            }
            let first = (z * size[1] + y) * self.row_words;
            let words = &self.words[first..first + self.row_words];
            let reach = best2.sqrt() as usize + 2;
            for x in [first_at_or_after(words, cell[0], reach), last_before(words, cell[0], reach)]
            {
                let Some(x) = x else { continue };
                let out_x = outside(point[0], x);
                let distance2 = beside2 + out_x * out_x;
                if distance2 < best2 {
                    best2 = distance2;
                    found = Some([x, y, z]);
                    if ANY {
                        return found.map(|cell| (best2.sqrt(), cell));
                    }
                }
            }
        }
        found.map(|cell| (best2.sqrt(), cell))
    }

    /// No cube is nearer than this: the gaps of the cell's neighbours, less the way to them.
    fn lower_bound(&self, point: [f64; 3], cell: [usize; 3]) -> f64 {
        let [nx, ny, _] = self.size;
        let strides = [1, nx, nx * ny];
        let key = (cell[2] * ny + cell[1]) * nx + cell[0];
        let away = |key: usize| {
            let gap2 = self.gap2.get(key).copied().unwrap_or(0);
            f64::from(self.around.roots.get(usize::from(gap2)).copied().unwrap_or(0.0))
        };
        let out: [f64; 3] = std::array::from_fn(|a| outside(point[a], cell[a]));
        let out2 = out[0] * out[0] + out[1] * out[1] + out[2] * out[2];
        // Rounding of the roots must not push a bound above the truth.
        let slack = 1e-5;
        let mut most = away(key) - out2.sqrt();
        for axis in 0..3 {
            let beside2 = out2 - out[axis] * out[axis];
            let way = |to: usize| {
                let along = outside(point[axis], to);
                (beside2 + along * along).sqrt()
            };
            if cell[axis] > 0 {
                most = most.max(away(key - strides[axis]) - way(cell[axis] - 1));
            }
            if cell[axis] + 1 < self.size[axis] {
                most = most.max(away(key + strides[axis]) - way(cell[axis] + 1));
            }
        }
        most - slack
    }
}

/// How far a coordinate is outside of a cell; 0 inside.
#[inline]
fn outside(at: f64, cell: usize) -> f64 {
    let low = cell as f64;
    (low - at).max(at - low - 1.0).max(0.0)
}

/// The first set bit from `x` on, not much further than `reach`.
#[inline]
fn first_at_or_after(words: &[u64], x: usize, reach: usize) -> Option<usize> {
    let mut at = x / 64;
    let mut word = words.get(at)? & (u64::MAX << (x % 64));
    while word == 0 {
        at += 1;
        if at * 64 > x + reach {
            return None;
        }
        word = *words.get(at)?;
    }
    Some(at * 64 + word.trailing_zeros() as usize)
}

/// The last set bit before `x`, not much further than `reach`.
#[inline]
fn last_before(words: &[u64], x: usize, reach: usize) -> Option<usize> {
    let mut at = x / 64;
    let mut word = words.get(at)? & !(u64::MAX << (x % 64));
    while word == 0 {
        if at == 0 || at * 64 + reach < x {
            return None;
        }
        at -= 1;
        word = words[at];
    }
    Some(at * 64 + 63 - word.leading_zeros() as usize)
}
