//! How far a point is from everything: the nearest cube, exactly.

use crate::error::SpaceError;
use crate::map::{MapSnapshot, at_or_after, at_or_before};
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

impl MapSnapshot {
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

    /// [`MapSnapshot::distance`] of many points.
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
    /// Filled planes are visited from the point outwards, in a plane rows, in a row the nearest bit on
    /// both sides. A plane is passed over if the gap of its cell next to the point says that it
    /// has nothing near enough.
    pub(super) fn nearest_within<const ANY: bool>(&self, q: [f64; 3], limit: f64) -> Option<Found> {
        let [cx, cy, cz] = self.clamped(q);
        let size = self.grid.size();
        let mut best: Option<Found> = None;
        let gap2 = self.gap2_of([cx, cy, cz]);
        let mut best2 = limit * limit;
        if gap2 > best2 {
            return None;
        }
        let gap = gap2.sqrt();
        if !ANY && gap < self.reach_cells as f64 {
            // The cube that makes the gap is at most a diagonal further; with room for rounding.
            let outside: f64 = (0..3).map(|a| q[a].min(0.0).abs().max(q[a] - size[a] as f64)).sum();
            best2 = best2.min((gap + 3_f64.sqrt() + outside + 1e-6).powi(2));
        }
        let mut planes = Outwards::new(self.filled.planes(), cz);
        while let Some(z) = planes.next(q[2], best2) {
            let dz2 = away2(q[2], z);
            if dz2 + self.gap2_of([cx, cy, z]) > best2 {
                continue;
            }
            let mut rows = Outwards::new(self.filled.rows(z), cy);
            while let Some(y) = rows.next(q[1], best2 - dz2) {
                let across2 = dz2 + away2(q[1], y);
                let row = self.occupied.row(y, z);
                let sides = [at_or_before(row, cx), at_or_after(row, cx + 1)];
                for x in sides.into_iter().flatten() {
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

/// Set bits from a place to both sides, the nearer one first.
struct Outwards<'a> {
    words: &'a [u64],
    below: Option<usize>,
    above: Option<usize>,
}

impl<'a> Outwards<'a> {
    fn new(words: &'a [u64], from: usize) -> Self {
        Self { words, below: at_or_before(words, from), above: at_or_after(words, from + 1) }
    }

    /// The next one, as long as it is within the limit.
    fn next(&mut self, q: f64, limit2: f64) -> Option<usize> {
        let below2 = self.below.map_or(f64::INFINITY, |at| away2(q, at));
        let above2 = self.above.map_or(f64::INFINITY, |at| away2(q, at));
        if below2.min(above2) > limit2 {
            return None;
        }
        if below2 <= above2 {
            let at = self.below?;
            self.below = at.checked_sub(1).and_then(|next| at_or_before(self.words, next));
            Some(at)
        } else {
            let at = self.above?;
            self.above = at_or_after(self.words, at + 1);
            Some(at)
        }
    }
}
