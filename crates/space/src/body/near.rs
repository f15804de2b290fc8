//! The occupied cube nearest to a point, looked for no further than it matters.
//!
//! Everything here is in cells, from the lower corner of the grid, in single precision: off by
//! less than [`SLACK`].

use crate::map::Snapshot;

/// What rounding can do to a distance, in cells.
pub(crate) const SLACK: f32 = 5e-5;

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
    /// Squared distance between the rows' cells: nothing in it is nearer.
    gap2: f32,
}

/// A map and what the search needs of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    words: &'a [u64],
    row_words: usize,
    gap2: &'a [u16],
    size: [usize; 3],
    lower_m: [f32; 3],
    per_m: f32,
    around: &'a Surroundings,
}

/// A point, what the gaps around its cell say, and a first guess at the nearest cube.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    point: [f32; 3],
    cell: [usize; 3],
    /// No cube is nearer than this.
    pub(crate) least: f32,
    /// An occupied cube and its distance.
    pub(crate) guess: Option<(f32, [usize; 3])>,
}

impl Probe {
    /// Whether nothing can be nearer than the guess.
    pub(crate) fn is_certain(&self) -> bool {
        self.guess.is_some_and(|(distance, _)| distance <= self.least + 2.0 * SLACK)
    }
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
        let gap = |n: i32| ((n.abs() - 1).max(0)) as f32;
        self.rows.clear();
        for z in -side..=side {
            for y in -side..=side {
                self.rows.push(Row { y, z, gap2: gap(y) * gap(y) + gap(z) * gap(z) });
            }
        }
        // Rows that are equally near by their gaps: those in the middle first.
        let middle = |r: &Row| r.y * r.y + r.z * r.z;
        let order = |a: &Row, b: &Row| a.gap2.total_cmp(&b.gap2).then(middle(a).cmp(&middle(b)));
        self.rows.sort_by(order);
    }
}

impl<'a> Near<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, around: &'a Surroundings) -> Self {
        let (lower_m, per_m) = snapshot.lookup_f32();
        Self {
            words: snapshot.occupied_words(),
            row_words: snapshot.row_words(),
            gap2: snapshot.gap2(),
            size: snapshot.grid().size(),
            lower_m,
            per_m,
            around,
        }
    }

    /// Looks at the gaps around a point of the world, which may be outside of the grid.
    ///
    /// A cube that is `g` away from a cell beside the point's is at least `g`, less the way to
    /// that cell, from the point. And where a step away from a cube takes its squared gap from
    /// `a² + …` to `(a + 1)² + …`, the difference `2 a + 1` tells where the cube is.
    pub(crate) fn probe(&self, point_m: [f32; 3]) -> Probe {
        let size = self.size;
        let point: [f32; 3] = std::array::from_fn(|a| (point_m[a] - self.lower_m[a]) * self.per_m);
        let cell: [usize; 3] = std::array::from_fn(|a| (point[a] as usize).min(size[a] - 1));
        let strides = [1, size[0], size[0] * size[1]];
        let key = (cell[2] * size[1] + cell[1]) * size[0] + cell[0];
        let gap2 = |key: usize| i32::from(self.gap2.get(key).copied().unwrap_or(0));
        let root = |gap2: i32| self.around.roots.get(gap2 as usize).copied().unwrap_or(0.0);
        let own = gap2(key);
        let out: [f32; 3] = std::array::from_fn(|a| outside(point[a], cell[a]));
        let out2 = out[0] * out[0] + out[1] * out[1] + out[2] * out[2];
        let mut least = root(own) - out2.sqrt();
        // The neighbour away from the nearest cube along all axes, and where the cube may be.
        let mut away = key;
        let mut way_away2 = 0.0;
        let mut at = cell;
        for axis in 0..3 {
            let up = if cell[axis] + 1 < size[axis] { gap2(key + strides[axis]) } else { own };
            let down = if cell[axis] > 0 { gap2(key - strides[axis]) } else { own };
            let is_up = up > down;
            let farther = up.max(down);
            let beside = if is_up { cell[axis] + 1 } else { cell[axis].saturating_sub(1) };
            if farther <= own || up == down {
                way_away2 += out[axis] * out[axis];
                continue;
            }
            let along = outside(point[axis], beside);
            let way2 = out2 - out[axis] * out[axis] + along * along;
            least = least.max(root(farther) - way2.sqrt());
            way_away2 += along * along;
            let steps = (farther - own).cast_unsigned() as usize / 2 + 1;
            if is_up {
                away += strides[axis];
                at[axis] = cell[axis].wrapping_sub(steps);
            } else {
                away -= strides[axis];
                at[axis] = cell[axis] + steps;
            }
        }
        least = least.max(root(gap2(away)) - way_away2.sqrt());
        let guess = self.is_occupied(at).then(|| {
            let out: [f32; 3] = std::array::from_fn(|a| outside(point[a], at[a]));
            ((out[0] * out[0] + out[1] * out[1] + out[2] * out[2]).sqrt(), at)
        });
        Probe { point, cell, least: least - SLACK, guess }
    }

    /// Distance to the nearest cube and its cell, if it is nearer than `limit`. With `ANY`, the
    /// first cube found within the limit will do.
    pub(crate) fn nearest<const ANY: bool>(
        &self,
        probe: &Probe,
        limit: f32,
    ) -> Option<(f32, [usize; 3])> {
        if probe.least >= limit {
            return None;
        }
        let mut found = probe.guess.filter(|(distance, _)| *distance < limit);
        if found.is_some() && (ANY || probe.is_certain()) {
            return found;
        }
        let limit = found.map_or(limit, |(distance, _)| distance);
        let (point, cell, size) = (probe.point, probe.cell, self.size);
        let mut best2 = limit * limit;
        let mut reach = limit as usize + 2;
        for row in &self.around.rows {
            if row.gap2 >= best2 {
                break;
            }
            let y = cell[1].wrapping_add_signed(row.y as isize);
            let z = cell[2].wrapping_add_signed(row.z as isize);
            if y >= size[1] || z >= size[2] {
                continue;
            }
            let first = (z * size[1] + y) * self.row_words;
            let words = &self.words[first..first + self.row_words];
            let after = first_at_or_after(words, cell[0], reach);
            let before = last_before(words, cell[0], reach);
            if after.is_none() && before.is_none() {
                continue;
            }
            let (out_y, out_z) = (outside(point[1], y), outside(point[2], z));
            for x in [after, before].into_iter().flatten() {
                let out_x = outside(point[0], x);
                let distance2 = out_x * out_x + out_y * out_y + out_z * out_z;
                if distance2 < best2 {
                    best2 = distance2;
                    reach = best2.sqrt() as usize + 2;
                    found = Some((best2.sqrt(), [x, y, z]));
                    if ANY {
                        return found;
                    }
                }
            }
        }
        found
    }

    fn is_occupied(&self, cell: [usize; 3]) -> bool {
        let word = (cell[2] * self.size[1] + cell[1]) * self.row_words + cell[0] / 64;
        (0..3).all(|a| cell[a] < self.size[a])
            && self.words.get(word).is_some_and(|w| w >> (cell[0] % 64) & 1 == 1)
    }
}

/// How far a coordinate is outside of a cell; 0 inside.
#[inline]
fn outside(at: f32, cell: usize) -> f32 {
    let low = cell as f32;
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
