//! A shorter path along the one that was found.

use citrange_core::rng::Rng;

use crate::config::Config;
use crate::motions::Motions;
use crate::search::path_length_rad;
use crate::search::planner::Planner;

/// Shortcuts that gain less than this are not worth a proof.
const LEAST_GAIN_RAD: f32 = 1e-3;

/// A point of a path: on which edge, and where on it.
#[derive(Clone, Copy)]
struct Spot {
    edge: usize,
    at: Config,
}

impl Planner {
    /// Shortens a path whose edges are all free; they stay so, and its ends stay. Never longer
    /// than before. The result is what [`Planner::replan`] starts from. Returns its length in
    /// radians.
    pub fn simplify<M: Motions>(&mut self, motions: &mut M, path: &mut Vec<Config>) -> f64 {
        let settings = &self.settings.simplify;
        let mut rng = Rng::new(self.settings.seed);
        reduce(motions, path);
        let mut length_rad = path_length_rad(path);
        for _ in 0..settings.max_rounds {
            if path.len() < 3 {
                break;
            }
            for _ in 0..settings.shortcuts {
                let (a, b) = (rng.unit(), rng.unit());
                self.shortcut(motions, path, [a.min(b), a.max(b)]);
            }
            reduce(motions, path);
            let before_rad = std::mem::replace(&mut length_rad, path_length_rad(path));
            if before_rad - length_rad < f64::from(settings.min_gain) * before_rad {
                break;
            }
        }
        self.last.clone_from(path);
        length_rad
    }

    /// Goes straight between two points of a path, given as shares of its length, if that is
    /// free.
    fn shortcut<M: Motions>(
        &self,
        motions: &mut M,
        path: &mut Vec<Config>,
        shares: [f64; 2],
    ) -> Option<()> {
        let length_rad = path_length_rad(path);
        let [from_rad, to_rad] = shares.map(|share| (share * length_rad) as f32);
        let (from, to) = (self.spot(path, from_rad)?, self.spot(path, to_rad)?);
        let gain_rad = to_rad - from_rad - from.at.distance(&to.at);
        if from.edge == to.edge || gain_rad < LEAST_GAIN_RAD {
            return None;
        }
        let (before, after) = (*path.get(from.edge)?, *path.get(to.edge + 1)?);
        // A rounded point of an edge is not quite on it: what is left of the edge is proved too.
        let free = motions.is_motion_free(&from.at, &to.at)
            && motions.is_motion_free(&before, &from.at)
            && motions.is_motion_free(&to.at, &after);
        if free {
            path.splice(from.edge + 1..=to.edge, [from.at, to.at]);
        }
        Some(())
    }

    /// The point of a path after so much of its length.
    fn spot(&self, path: &[Config], after_rad: f32) -> Option<Spot> {
        let mut left_rad = after_rad;
        for (edge, ends) in path.windows(2).enumerate() {
            let edge_rad = ends[0].distance(&ends[1]);
            if left_rad < edge_rad {
                let at = self.ranges.clamp(ends[0].toward(&ends[1], left_rad / edge_rad));
                return Some(Spot { edge, at });
            }
            left_rad -= edge_rad;
        }
        None
    }
}

/// Leaves out the waypoints that can be gone around: from each, straight to the last that can be
/// reached.
fn reduce<M: Motions>(motions: &mut M, path: &mut Vec<Config>) {
    let mut from = 0;
    while from + 2 < path.len() {
        let here = path[from];
        let farther = (from + 2..path.len()).rev();
        let reached = farther.into_iter().find(|to| motions.is_motion_free(&here, &path[*to]));
        if let Some(reached) = reached {
            path.drain(from + 1..reached);
        }
        from += 1;
    }
}
