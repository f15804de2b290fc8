//! How large blends are and how fast they are passed: large ones are fast, small ones leave
//! straight pieces in which speeds can change. Sizes are tried one after the other for the
//! shortest time; the speeds for given sizes follow from a pass to the end and one back.

use super::blend::Blend;
use super::edge::Edge;
use crate::arm::JointLimit;

/// Share of the shorter edge that a blend takes before anything is tried.
const FIRST_SHARE: f64 = 0.3;

/// Share of an edge that two blends may take together.
const MOST_SHARE: f64 = 0.98;

/// Factors by which sizes are changed, from coarse to fine.
const FACTORS: [f64; 4] = [2.0, 1.5, 1.2, 1.07];

/// How many corners to both sides of one that changes are timed anew.
const WINDOW: usize = 3;

/// A corner between two edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// Length of the edge before it that its blend takes; 0 for a stop.
    pub(super) before: f64,
    /// Length of the edge behind it.
    pub(super) after: f64,
    /// Largest lengths that may be tried.
    most: [f64; 2],
    /// Largest rate of its blend.
    fastest: f64,
}

/// Sizes of all blends of a path.
pub(super) struct Plan<'a> {
    edges: &'a [Edge],
    limits: &'a [JointLimit],
    pub(super) corners: Vec<Corner>,
    rates: Vec<f64>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(edges: &'a [Edge], limits: &'a [JointLimit]) -> Self {
        let pairs = edges.iter().zip(edges.iter().skip(1));
        let corners: Vec<Corner> = pairs
            .map(|(from, to)| {
                let size = FIRST_SHARE * from.length.min(to.length);
                let most = [from.length, to.length];
                Corner { before: size, after: size, most, fastest: 0.0 }
            })
            .collect();
        let rates = vec![0.0; corners.len()];
        let mut plan = Self { edges, limits, corners, rates };
        for index in 0..plan.corners.len() {
            let Corner { before, after, .. } = plan.corners[index];
            plan.resize(index, before, after);
        }
        plan
    }

    /// The blend at a corner; none where the robot stops.
    pub(super) fn blend(&self, index: usize) -> Option<Blend> {
        let Corner { before, after, .. } = *self.corners.get(index)?;
        Blend::of(self.edges.get(index)?, self.edges.get(index + 1)?, before, after)
    }

    /// Sizes at a corner stay at most a fraction of what they are now; 0 for a stop.
    pub(super) fn restrict(&mut self, index: usize, fraction: f64) {
        let corner = self.corners[index];
        let most = [corner.before * fraction, corner.after * fraction];
        self.corners[index].most = most;
        self.resize(index, most[0], most[1]);
    }

    /// Length of the straight piece of an edge.
    pub(super) fn straight(&self, edge: usize) -> f64 {
        let behind = edge.checked_sub(1).map_or(0.0, |i| self.corners[i].after);
        let ahead = self.corners.get(edge).map_or(0.0, |c| c.before);
        self.edges[edge].length - behind - ahead
    }

    /// Rates of all blends, 0 for stops.
    pub(super) fn rates(&mut self) -> Vec<f64> {
        let _ = self.time(0, self.corners.len());
        self.rates.clone()
    }

    /// Changes sizes as long as that makes the motion faster.
    pub(super) fn improve(&mut self) {
        let count = self.corners.len();
        let _ = self.time(0, count);
        for factor in FACTORS {
            for index in 0..count {
                if self.blend(index).is_none() {
                    continue;
                }
                let (up, down) = (factor, 1.0 / factor);
                let (low, high) = (index.saturating_sub(WINDOW), (index + WINDOW + 1).min(count));
                let changes =
                    [(up, up), (down, down), (up, 1.0), (1.0, up), (down, 1.0), (1.0, down)];
                let mut now = self.time(low, high).unwrap_or(f64::INFINITY);
                for change in changes {
                    while let Some(better) = self.better(index, change, (low, high), now) {
                        now = better;
                    }
                }
            }
        }
    }

    /// The time of the corners `low..high` after a change of sizes that makes it shorter than
    /// `now`; a change that does not is taken back.
    fn better(
        &mut self,
        index: usize,
        by: (f64, f64),
        (low, high): (usize, usize),
        now: f64,
    ) -> Option<f64> {
        let corner = self.corners[index];
        let (before, after) = (corner.before * by.0, corner.after * by.1);
        if before > corner.most[0] || after > corner.most[1] {
            return None;
        }
        let mut rates = [0.0; 2 * WINDOW + 1];
        let kept = rates.iter_mut().zip(&self.rates[low..high]);
        kept.for_each(|(kept, rate)| *kept = *rate);
        self.resize(index, before, after);
        let has_room = |e: usize| self.straight(e) >= (1.0 - MOST_SHARE) * self.edges[e].length;
        if has_room(index) && has_room(index + 1) {
            let then = self.time(low, high).unwrap_or(f64::INFINITY);
            if then < now * (1.0 - 1e-6) {
                return Some(then);
            }
        }
        self.corners[index] = corner;
        let taken_back = self.rates[low..high].iter_mut().zip(rates);
        taken_back.for_each(|(rate, kept)| *rate = kept);
        None
    }

    fn resize(&mut self, index: usize, before: f64, after: f64) {
        self.corners[index].before = before;
        self.corners[index].after = after;
        let fastest = self.blend(index).map(|blend| blend.fastest(self.limits));
        let corner = &mut self.corners[index];
        if fastest.is_none() {
            (corner.before, corner.after) = (0.0, 0.0);
        }
        corner.fastest = fastest.unwrap_or(0.0);
    }

    /// Sets the highest rates of the corners `low..high` with all others as they are, and answers
    /// the time from the corner before to the corner behind; none if the others cannot stay.
    fn time(&mut self, low: usize, high: usize) -> Option<f64> {
        for i in low..high {
            let reached = self.edges[i].ramp.reach(self.speed_behind(i), self.straight(i));
            let Corner { before, fastest, .. } = self.corners[i];
            self.rates[i] = if before > 0.0 { fastest.min(reached / (2.0 * before)) } else { 0.0 };
        }
        for i in (low..high).rev() {
            let ramp = &self.edges[i + 1].ramp;
            let reached = ramp.reach(self.speed_ahead(i + 1), self.straight(i + 1));
            let after = self.corners[i].after;
            if after > 0.0 {
                self.rates[i] = self.rates[i].min(reached / (2.0 * after));
            }
        }
        let mut time = 0.0;
        for edge in low..(high + 1).min(self.edges.len()) {
            let (from, to) = (self.speed_behind(edge), self.speed_ahead(edge));
            let (ramp, way) = (&self.edges[edge].ramp, self.straight(edge));
            if ramp.way(from, to) > way * (1.0 + 1e-9) + 1e-12 {
                return None;
            }
            time += ramp.duration(from, to, way);
            if (low..high).contains(&edge) && self.corners[edge].before > 0.0 {
                time += 1.0 / self.rates[edge];
            }
        }
        Some(time)
    }

    /// Speed at the beginning of an edge's straight piece.
    fn speed_behind(&self, edge: usize) -> f64 {
        edge.checked_sub(1).map_or(0.0, |i| 2.0 * self.corners[i].after * self.rates[i])
    }

    /// Speed at its end.
    fn speed_ahead(&self, edge: usize) -> f64 {
        self.corners.get(edge).map_or(0.0, |c| 2.0 * c.before * self.rates[edge])
    }
}
