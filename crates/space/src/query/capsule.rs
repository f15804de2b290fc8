//! Whether a capsule touches anything.

use crate::map::MapSnapshot;
use crate::map::ones;

/// Free steps shorter than this, in cells, are not worth a look-up each: the cubes around a
/// piece of the axis are tried one by one.
const SHORT_STEP: f64 = 0.25;

/// Length of such a piece, in cells.
const PIECE: f64 = 1.0;

impl MapSnapshot {
    /// Whether any cube is at most `radius_m` away from the segment between two points. A
    /// capsule that is not finite counts as one that touches.
    #[must_use]
    pub fn capsule_hit(&self, from_m: [f64; 3], to_m: [f64; 3], radius_m: f64) -> bool {
        let (from, to) = (self.cells_from_lower(from_m), self.cells_from_lower(to_m));
        let radius = radius_m / self.grid.voxel_m();
        if !(from.iter().chain(&to).all(|v| v.is_finite()) && radius.is_finite()) {
            return true;
        }
        if radius < 0.0 {
            return false;
        }
        let along: [f64; 3] = std::array::from_fn(|a| to[a] - from[a]);
        let length = along.iter().map(|v| v * v).sum::<f64>().sqrt();
        let at = |t: f64| -> [f64; 3] {
            let part = if length > 0.0 { t / length } else { 0.0 };
            std::array::from_fn(|a| from[a] + along[a] * part)
        };
        let mut t = 0.0;
        loop {
            let q = at(t);
            // Everything within `clear` of this point of the axis is free.
            let mut clear = self.lower_bound_cells(q) - radius;
            if clear < PIECE {
                let nearest = self.nearest_within::<false>(q, radius + PIECE);
                clear = nearest.map_or(PIECE, |found| found.distance2.sqrt() - radius);
            }
            if clear <= 0.0 {
                return true;
            }
            if clear < SHORT_STEP {
                let end = (t + PIECE).min(length);
                if self.piece_hit(q, at(end), radius) {
                    return true;
                }
                clear = PIECE;
            }
            if t + clear > length {
                return false;
            }
            t += clear;
        }
    }

    /// Every cube around a short segment, tried one by one.
    fn piece_hit(&self, from: [f64; 3], to: [f64; 3], radius: f64) -> bool {
        let size = self.grid.size();
        let [mut first, mut last] = [[0; 3]; 2];
        for a in 0..3 {
            let (low, high) = (from[a].min(to[a]) - radius, from[a].max(to[a]) + radius);
            // A cube that ends just where the box begins counts too.
            if high < 0.0 || low > size[a] as f64 {
                return false;
            }
            first[a] = ((low - 1.0).max(0.0) as usize).min(size[a] - 1);
            last[a] = (high as usize).min(size[a] - 1);
        }
        for z in first[2]..=last[2] {
            for y in first[1]..=last[1] {
                let row = self.occupied.row(y, z);
                for word in first[0] / 64..=last[0] / 64 {
                    for x in ones(row[word]).map(|bit| word * 64 + bit) {
                        let near = (first[0]..=last[0]).contains(&x);
                        if near && segment_cube2(from, to, [x, y, z]) <= radius * radius {
                            return true;
                        }
                    }
                }
            }
        }
        false
    }
}

/// Squared distance between a segment and the cube of a cell, in cells.
///
/// Along the segment the squared distance is convex and its slope is a broken line, with breaks
/// where a coordinate enters or leaves the cube's range. Between two breaks the slope's zero is
/// found exactly.
fn segment_cube2(from: [f64; 3], to: [f64; 3], cell: [usize; 3]) -> f64 {
    let low = cell.map(|c| c as f64);
    let along: [f64; 3] = std::array::from_fn(|a| to[a] - from[a]);
    let out = |t: f64| -> [f64; 3] {
        std::array::from_fn(|a| {
            let at = from[a] + t * along[a];
            at - at.clamp(low[a], low[a] + 1.0)
        })
    };
    let distance2 = |t: f64| out(t).iter().map(|v| v * v).sum::<f64>();
    let slope = |t: f64| -> f64 { out(t).iter().zip(along).map(|(o, d)| o * d).sum() };
    let (mut t0, mut t1) = (0.0, 1.0);
    let (mut slope0, mut slope1) = (slope(t0), slope(t1));
    if slope0 >= 0.0 {
        return distance2(t0);
    }
    if slope1 <= 0.0 {
        return distance2(t1);
    }
    for a in 0..3 {
        for bound in [low[a], low[a] + 1.0] {
            let t = (bound - from[a]) / along[a];
            if t > t0 && t < t1 {
                let here = slope(t);
                if here < 0.0 {
                    (t0, slope0) = (t, here);
                } else {
                    (t1, slope1) = (t, here);
                }
            }
        }
    }
    distance2(t0 + (t1 - t0) * slope0 / (slope0 - slope1))
}
