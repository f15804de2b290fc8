//! How far a point is from everything: the nearest cube, exactly.

use crate::error::SpaceError;
use crate::map::Snapshot;
use crate::query::same_length;

/// The nearest occupied cube.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nearest {
    /// Distance to its surface; 0 inside. The reach of the snapshot where nothing is nearer.
    pub distance_m: f64,
    /// Away from it: the direction in which the distance grows by 1 per metre. Zero inside, and
    /// where nothing is within reach.
    pub gradient: [f64; 3],
    /// Its key; `None` where nothing is within reach.
    pub voxel: Option<u32>,
}

/// A cube, and how far it is, in cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) distance2: f64,
    pub(super) cell: [usize; 3],
}

impl Snapshot {
    /// Nothing is nearer to the point than this. One look-up: the answer is at most the diagonal
    /// of a voxel below the distance inside of the grid, and never above the reach.
    #[must_use]
    pub fn lower_bound_m(&self, point_m: [f64; 3]) -> f64 {
        self.lower_bound_cells(self.cells_from_lower(point_m)) * self.grid.voxel_m()
    }

    /// How far a point is from the nearest occupied cube, and which one it is. A point that is
    /// not finite is nowhere: its distance is NaN.
    #[must_use]
    pub fn distance(&self, point_m: [f64; 3]) -> Nearest {
        let q = self.cells_from_lower(point_m);
        if !q.iter().all(|v| v.is_finite()) {
            return Nearest { distance_m: f64::NAN, ..Nearest::default() };
        }
        let reach = self.reach_cells as f64;
        let found = if self.lower_bound_cells(q) < reach {
            self.nearest_within::<false>(q, reach).filter(|f| f.distance2 < reach * reach)
        } else {
            None
        };
        let Some(found) = found else {
            return Nearest { distance_m: self.reach_m(), ..Nearest::default() };
        };
        let distance = found.distance2.sqrt();
        let gradient = std::array::from_fn(|a| {
            let low = found.cell[a] as f64;
            let out = q[a] - q[a].clamp(low, low + 1.0);
            if distance > 0.0 { out / distance } else { 0.0 }
        });
        Nearest {
            distance_m: distance * self.grid.voxel_m(),
            gradient,
            voxel: Some(self.grid.key(found.cell)),
        }
    }

    /// [`Snapshot::distance`] of many points.
    ///
    /// # Errors
    /// When there are not as many places for answers as points.
    pub fn distances(&self, points_m: &[[f64; 3]], out: &mut [Nearest]) -> Result<(), SpaceError> {
        same_length("distances", out.len(), points_m.len())?;
        for (out, point_m) in out.iter_mut().zip(points_m) {
            *out = self.distance(*point_m);
        }
        Ok(())
    }

    /// A point of the world in cells from the lower corner.
    pub(super) fn cells_from_lower(&self, point_m: [f64; 3]) -> [f64; 3] {
        let lower = self.grid.lower_m();
        std::array::from_fn(|a| (point_m[a] - lower[a]) / self.grid.voxel_m())
    }

    /// The cell of the grid nearest to a point.
    pub(super) fn clamped(&self, q: [f64; 3]) -> [usize; 3] {
        let size = self.grid.size();
        // Below 0 and NaN become 0.
        std::array::from_fn(|a| (q[a] as usize).min(size[a] - 1))
    }

    pub(super) fn gap2_of(&self, cell: [usize; 3]) -> f64 {
        f64::from(self.gap2[self.grid.key(cell) as usize])
    }

    pub(super) fn lower_bound_cells(&self, q: [f64; 3]) -> f64 {
        self.gap2_of(self.clamped(q)).sqrt()
    }

    /// The nearest cube at most `limit` cells away, or with `ANY` the first such that is found.
    ///
    /// Planes are visited from the point outwards, in a plane rows, in a row the nearest bit on
    /// both sides. A plane is passed over if the gap of its cell next to the point says that it
    /// has nothing near enough.
    pub(super) fn nearest_within<const ANY: bool>(&self, q: [f64; 3], limit: f64) -> Option<Found> {
        let [cx, cy, cz] = self.clamped(q);
        let [_, ny, nz] = self.grid.size();
        let mut best: Option<Found> = None;
        let mut best2 = limit * limit;
        if self.gap2_of([cx, cy, cz]) > best2 {
            return None;
        }
        let (mut up, mut down) = (Outwards::up(cz, nz), Outwards::down(cz));
        while let Some(z) = next(&mut up, &mut down, q[2], best2) {
            let dz2 = away2(q[2], z);
            if dz2 + self.gap2_of([cx, cy, z]) > best2 {
                continue;
            }
            let (mut far, mut near) = (Outwards::up(cy, ny), Outwards::down(cy));
            while let Some(y) = next(&mut far, &mut near, q[1], best2 - dz2) {
                let across2 = dz2 + away2(q[1], y);
                for x in neighbours(self.occupied.row(y, z), cx).into_iter().flatten() {
                    let distance2 = across2 + away2(q[0], x);
                    if distance2 < best2 || (best.is_none() && distance2 <= best2) {
                        best2 = distance2;
                        best = Some(Found { distance2, cell: [x, y, z] });
                        if ANY {
                            return best;
                        }
                    }
                }
            }
        }
        best
    }
}

/// Squared distance of a coordinate to the cell `at`.
fn away2(q: f64, at: usize) -> f64 {
    let low = at as f64;
    let out = (low - q).max(q - (low + 1.0)).max(0.0);
    out * out
}

/// Cells from a start to one end of the grid.
struct Outwards {
    at: Option<usize>,
    end: usize,
    upwards: bool,
}

impl Outwards {
    fn up(from: usize, size: usize) -> Self {
        Self { at: Some(from), end: size - 1, upwards: true }
    }

    fn down(from: usize) -> Self {
        Self { at: from.checked_sub(1), end: 0, upwards: false }
    }

    fn step(&mut self) -> Option<usize> {
        let at = self.at?;
        self.at = match (at == self.end, self.upwards) {
            (true, _) => None,
            (false, true) => Some(at + 1),
            (false, false) => Some(at - 1),
        };
        Some(at)
    }
}

/// The nearer of the next cells upwards and downwards, as long as it is within the limit.
fn next(up: &mut Outwards, down: &mut Outwards, q: f64, limit2: f64) -> Option<usize> {
    let above = up.at.map_or(f64::INFINITY, |at| away2(q, at));
    let below = down.at.map_or(f64::INFINITY, |at| away2(q, at));
    let (nearer, away) = if above <= below { (up, above) } else { (down, below) };
    if away > limit2 { None } else { nearer.step() }
}

/// The nearest set bits of a row at or before a place, and after it.
fn neighbours(row: &[u64], x: usize) -> [Option<usize>; 2] {
    let (word, bit) = (x / 64, x % 64);
    let upto = row[word] & (u64::MAX >> (63 - bit));
    let mut before = None;
    for (at, word) in row[..=word].iter().enumerate().rev() {
        let left = if at == x / 64 { upto } else { *word };
        if left != 0 {
            before = Some(at * 64 + 63 - left.leading_zeros() as usize);
            break;
        }
    }
    let mut after = None;
    for (at, bits) in row.iter().enumerate().skip(word) {
        let left = if at == word { bits ^ upto } else { *bits };
        if left != 0 {
            after = Some(at * 64 + left.trailing_zeros() as usize);
            break;
        }
    }
    [before, after]
}
