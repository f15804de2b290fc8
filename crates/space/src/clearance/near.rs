//! The occupied cube nearest to a point, looked for no further than it matters.
//!
//! Everything here is in cells, from the lower corner of the grid, in single precision: off by
//! less than [`SLACK`].

use crate::map::MapSnapshot;

/// What rounding can do to a distance, in cells.
pub(crate) const SLACK: f32 = 5e-5;

/// Roots of whole numbers up to the squared reach of a map, which would be computed again and
/// again. Made again only when a map reaches further.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roots(Vec<f32>);

/// A map and what the search needs of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    words: &'a [u64],
    row_words: usize,
    gap2: &'a [u16],
    size: [usize; 3],
    lower_m: [f32; 3],
    per_m: f32,
    roots: &'a [f32],
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

impl Roots {
    /// Makes sure that all gaps of a map have their root.
    pub(crate) fn prepare(&mut self, snapshot: &MapSnapshot) {
        let reach = (snapshot.reach_m() / snapshot.grid().voxel_m()).round() as usize;
        let have = self.0.len();
        self.0.extend((have..=reach * reach).map(|n| (n as f32).sqrt()));
    }
}

impl<'a> Near<'a> {
    pub(crate) fn new(snapshot: &'a MapSnapshot, roots: &'a Roots) -> Self {
        let (lower_m, per_m) = snapshot.lookup_f32();
        Self {
            words: snapshot.occupied_words(),
            row_words: snapshot.row_words(),
            gap2: snapshot.gap2(),
            size: snapshot.grid().size(),
            lower_m,
            per_m,
            roots: &roots.0,
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
        let root = |gap2: i32| self.roots.get(gap2 as usize).copied().unwrap_or(0.0);
        let own = gap2(key);
        let out: [f32; 3] = std::array::from_fn(|a| outside(point[a], cell[a]));
        let out2 = out[0] * out[0] + out[1] * out[1] + out[2] * out[2];
        // The way into the grid and the way on from there are at a right angle or more.
        let mut least = if out2 > 0.0 { (own as f32 + out2).sqrt() } else { root(own) };
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
        if probe.least >= limit || limit <= 0.0 {
            return None;
        }
        let mut found = probe.guess.filter(|(distance, _)| *distance < limit);
        if found.is_some() && (ANY || probe.is_certain()) {
            return found;
        }
        let mut search = Search {
            near: self,
            point: probe.point,
            cell: probe.cell,
            best2: found.map_or(limit * limit, |(distance, _)| distance * distance),
            found: None,
        };
        let [_, y, z] = probe.cell;
        // Planes from the point outwards, in a plane the rows.
        outwards(z, self.size[2], |z| {
            let far2 = square(outside(probe.point[2], z));
            if far2 >= search.best2 {
                return false;
            }
            if far2 + self.gap2_at([probe.cell[0], y, z]) < search.best2 {
                outwards(y, self.size[1], |y| search.row::<ANY>(y, z, far2));
            }
            !(ANY && search.found.is_some())
        });
        if let Some(cell) = search.found {
            found = Some((search.best2.sqrt(), cell));
        }
        found
    }

    fn gap2_at(&self, cell: [usize; 3]) -> f32 {
        let key = (cell[2] * self.size[1] + cell[1]) * self.size[0] + cell[0];
        f32::from(self.gap2.get(key).copied().unwrap_or(0))
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

/// Visits a place, then those around it from near to far, each side until it is not wanted
/// any more.
#[inline]
fn outwards(from: usize, size: usize, mut visit: impl FnMut(usize) -> bool) {
    let mut is_wanted_up = visit(from);
    let mut is_wanted_down = is_wanted_up;
    for step in 1..size {
        if is_wanted_up {
            is_wanted_up = from + step < size && visit(from + step);
        }
        if is_wanted_down {
            is_wanted_down = step <= from && visit(from - step);
        }
        if !(is_wanted_up || is_wanted_down) {
            break;
        }
    }
}

/// A search that has come some way.
struct Search<'a> {
    near: &'a Near<'a>,
    point: [f32; 3],
    cell: [usize; 3],
    /// Square of the distance that must be beaten.
    best2: f32,
    found: Option<[usize; 3]>,
}

impl Search<'_> {
    /// Looks at a row of cells in a plane whose square distance is `far2`; whether the search
    /// should go on in this direction.
    #[inline]
    fn row<const ANY: bool>(&mut self, y: usize, z: usize, far2: f32) -> bool {
        let beside2 = far2 + square(outside(self.point[1], y));
        if beside2 >= self.best2 {
            return false;
        }
        // The cell of the row beside the point's has nothing within its gap.
        if beside2 + self.near.gap2_at([self.cell[0], y, z]) >= self.best2 {
            return true;
        }
        let first = (z * self.near.size[1] + y) * self.near.row_words;
        let words = &self.near.words[first..first + self.near.row_words];
        let [after, before] = [first_from(words, self.cell[0]), last_before(words, self.cell[0])];
        for x in [after, before].into_iter().flatten() {
            let distance2 = beside2 + square(outside(self.point[0], x));
            if distance2 < self.best2 {
                self.best2 = distance2;
                self.found = Some([x, y, z]);
            }
        }
        !(ANY && self.found.is_some())
    }
}

#[inline]
fn square(number: f32) -> f32 {
    number * number
}

/// The first set bit from `x` on.
#[inline]
fn first_from(words: &[u64], x: usize) -> Option<usize> {
    let mut at = x / 64;
    let mut word = words.get(at)? & (u64::MAX << (x % 64));
    while word == 0 {
        at += 1;
        word = *words.get(at)?;
    }
    Some(at * 64 + word.trailing_zeros() as usize)
}

/// The last set bit before `x`.
#[inline]
fn last_before(words: &[u64], x: usize) -> Option<usize> {
    let mut at = x / 64;
    let mut word = words.get(at)? & !(u64::MAX << (x % 64));
    while word == 0 {
        at = at.checked_sub(1)?;
        word = words[at];
    }
    Some(at * 64 + 63 - word.leading_zeros() as usize)
}
