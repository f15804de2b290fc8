//! A shorter path along the one that was found.

use citrange_core::rng::Rng;

use crate::config::Config;
use crate::motions::Motions;
use crate::search::path_length_rad;
use crate::search::planner::Planner;

/// Shortcuts that gain less than this are not worth a proof.
const LEAST_GAIN_RAD: f32 = 0.02;

/// A point of a path: on which edge, and where.
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
            for attempt in 0..settings.shortcuts {
                if path.len() < 3 {
                    break;
                }
                // Far ones make a detour straight, near ones cut what is left of its corners.
                let (from_rad, to_rad) = if attempt % 2 == 0 {
                    anywhere(path, &mut rng)
                } else {
                    corner(path, &mut rng)
                };
                self.shortcut(motions, path, from_rad as f32, to_rad as f32);
            }
            reduce(motions, path);
            let before_rad = std::mem::replace(&mut length_rad, path_length_rad(path));
            if before_rad - length_rad <= f64::from(settings.min_gain) * before_rad {
                break;
            }
        }
        self.last.clone_from(path);
        length_rad
    }

    /// Goes straight between two points of a path, given by their way from its start, if that is
    /// free and gains something.
    fn shortcut<M: Motions>(
        &self,
        motions: &mut M,
        path: &mut Vec<Config>,
        from_rad: f32,
        to_rad: f32,
    ) {
        let (Some(from), Some(to)) = (self.spot(path, from_rad), self.spot(path, to_rad)) else {
            return;
        };
        let gain_rad = to_rad - from_rad - from.at.distance(&to.at);
        if from.edge >= to.edge || gain_rad < LEAST_GAIN_RAD {
            return;
        }
        // A rounded point of an edge is not quite on it: what is left of the edge is proved too.
        let (before, after) = (path[from.edge], path[to.edge + 1]);
        let free = motions.is_motion_free(&from.at, &to.at)
            && motions.is_motion_free(&before, &from.at)
            && motions.is_motion_free(&to.at, &after);
        if free {
            path.splice(from.edge + 1..=to.edge, [from.at, to.at]);
        }
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

/// Two points of a path, the earlier one first, as lengths from its start.
fn anywhere(path: &[Config], rng: &mut Rng) -> (f64, f64) {
    let length_rad = path_length_rad(path);
    let (a, b) = (rng.unit() * length_rad, rng.unit() * length_rad);
    (a.min(b), a.max(b))
}

/// The same, on the edges before and after a waypoint of a path that has one in between.
fn corner(path: &[Config], rng: &mut Rng) -> (f64, f64) {
    let between = path.len().saturating_sub(2).max(1) as u64;
    let corner = (rng.next_u64() % between) as usize;
    let mut edges_rad = path.windows(2).skip(corner).map(path_length_rad);
    let (before, after) = (edges_rad.next(), edges_rad.next());
    let edge_rad = path_length_rad(&path[..=corner]);
    let corner_rad = edge_rad + before.unwrap_or(0.0);
    (edge_rad + before.unwrap_or(0.0) * rng.unit(), corner_rad + after.unwrap_or(0.0) * rng.unit())
}

/// Leaves out the waypoints that can be gone around: from each, straight to the last that can be
/// reached.
pub(super) fn reduce<M: Motions>(motions: &mut M, path: &mut Vec<Config>) {
    let mut from = 0;
    while from + 2 < path.len() {
        let here = path[from];
        let mut farther = (from + 2..path.len()).rev();
        if let Some(reached) = farther.find(|to| motions.is_motion_free(&here, &path[*to])) {
            path.drain(from + 1..reached);
        }
        from += 1;
    }
}
