//! A path drawn tight: small changes that make it shorter and are proved free, one at a time.

use citrange_core::rng::Rng;

use crate::config::{Config, MAX_JOINTS};
use crate::motions::Motions;
use crate::search::informed::direction;
use crate::search::samples::Ranges;

/// Changes that shorten a path by less than this fraction of it are not worth a proof.
const LEAST_GAIN: f32 = 1e-4;
/// What is kept of the memory of a kind of change whenever it is tried again.
const MEMORY: f32 = 0.95;
/// The least share of tries that any kind gets, of what it would get if all were equal.
const LEAST_SHARE: f32 = 0.25;

/// Kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// Straight between two points anywhere.
    Shortcut,
    /// A corner cut off.
    Cut,
    /// A waypoint moved toward the straight way between its neighbours.
    Pull,
    /// A waypoint moved aside, such that the path becomes shorter: along what it is drawn against.
    Nudge,
    /// Some joints go straight from one waypoint to another, the others as before (partial
    /// shortcuts: Geraerts and Overmars, 2007).
    Straighten,
}

const CHANGES: [Change; 5] =
    [Change::Shortcut, Change::Cut, Change::Pull, Change::Nudge, Change::Straighten];

/// Draws paths tight, and learns which changes pay for their proofs.
#[derive(Clone, Debug)]
pub(super) struct Tightener {
    rng: Rng,
    joints: usize,
    /// Of each kind of change: what it gained as a fraction of the path, and what it cost.
    gained: [f32; CHANGES.len()],
    cost: [f32; CHANGES.len()],
    new: Vec<Config>,
}

impl Tightener {
    pub(super) fn new(rng: Rng, joints: usize) -> Self {
        // Equally good at first.
        let (gained, cost) = ([0.05; CHANGES.len()], [20.0; CHANGES.len()]);
        Self { rng, joints, gained, cost, new: Vec::new() }
    }

    /// Tries one change; the path's ends stay. What it gained, in radians.
    pub(super) fn step<M: Motions>(
        &mut self,
        motions: &mut M,
        ranges: &Ranges,
        path: &mut Vec<Config>,
    ) -> f32 {
        if path.len() < 3 {
            return 0.0;
        }
        let kind = self.choose();
        let before = motions.checks();
        let length_rad = length_rad(path);
        let (from, to) = self.propose(CHANGES[kind], ranges, path, length_rad);
        let gain_rad = replace(motions, path, from, to, &self.new, LEAST_GAIN * length_rad);
        let cost = (motions.checks() - before) as f32;
        if cost > 0.0 {
            self.gained[kind] = MEMORY * self.gained[kind] + gain_rad / length_rad.max(1e-6);
            self.cost[kind] = MEMORY * self.cost[kind] + cost;
        }
        gain_rad
    }

    /// A kind of change, those that gain most for their cost most often.
    fn choose(&mut self) -> usize {
        let rate = |kind: usize| self.gained[kind] / self.cost[kind].max(1.0);
        let all: f32 = (0..CHANGES.len()).map(rate).sum();
        let least = (LEAST_SHARE * all / CHANGES.len() as f32).max(1e-9);
        let share = |kind: usize| rate(kind) + least;
        let mut left = self.rng.unit() as f32 * (0..CHANGES.len()).map(share).sum::<f32>();
        for kind in 0..CHANGES.len() {
            left -= share(kind);
            if left < 0.0 {
                return kind;
            }
        }
        CHANGES.len() - 1
    }

    /// Which waypoints to replace, by those in `self.new`.
    fn propose(
        &mut self,
        change: Change,
        ranges: &Ranges,
        path: &[Config],
        length_rad: f32,
    ) -> (usize, usize) {
        self.new.clear();
        let between = path.len() - 2;
        match change {
            Change::Shortcut => {
                let (a, b) = (self.rng.unit() as f32, self.rng.unit() as f32);
                let spot = |share: f32| spot(path, share * length_rad, ranges);
                let (from, to) = (spot(a.min(b)), spot(a.max(b)));
                if from.0 == to.0 {
                    return self.straight(path);
                }
                self.new.extend([from.1, to.1]);
                (from.0 + 1, to.0 + 1)
            }
            Change::Cut => {
                let at = 1 + self.rng.below(between);
                for beside in [path[at - 1], path[at + 1]] {
                    let cut = path[at].toward(&beside, self.fraction());
                    self.new.push(ranges.clamp(cut));
                }
                (at, at + 1)
            }
            Change::Pull => {
                let at = 1 + self.rng.below(between);
                let foot = nearest_on_edge(&path[at - 1], &path[at + 1], &path[at]);
                let fraction = self.fraction();
                if fraction < 0.9 {
                    self.new.push(ranges.clamp(path[at].toward(&foot, fraction)));
                }
                (at, at + 1)
            }
            Change::Nudge => {
                let at = 1 + self.rng.below(between);
                let nudged = self.nudged(path, at);
                self.new.push(ranges.clamp(nudged));
                (at, at + 1)
            }
            Change::Straighten => {
                let (mut from, mut to) = (0, path.len() - 1);
                if between > 1 && self.rng.unit() < 0.7 {
                    from = self.rng.below(between);
                    to = from + 2 + self.rng.below(path.len() - from - 2);
                }
                let mask = self.rng.next_u64() >> 40 & self.rng.next_u64() >> 40;
                let one = 1 << self.rng.below(self.joints);
                self.straighten(&path[from..=to], mask | one);
                (from + 1, to)
            }
        }
    }

    /// Leaves out what is between two waypoints.
    fn straight(&mut self, path: &[Config]) -> (usize, usize) {
        let from = self.rng.below(path.len() - 2);
        let to = from + 2 + self.rng.below(path.len() - from - 2);
        (from + 1, to)
    }

    /// From 1 down to 1/128, small ones as likely as large ones.
    fn fraction(&mut self) -> f32 {
        let halved = 1.0 / (1_u32 << self.rng.below(7)) as f32;
        halved * (0.5 + 0.5 * self.rng.unit() as f32)
    }

    fn nudged(&mut self, path: &[Config], at: usize) -> Config {
        let (before, here, after) = (path[at - 1], path[at], path[at + 1]);
        let (to_rad, on_rad) = (before.distance(&here), here.distance(&after));
        let mut way = direction(&mut self.rng, self.joints);
        // Downhill: both edges pull at the waypoint.
        let pull: [f32; MAX_JOINTS] = std::array::from_fn(|joint| {
            (before.0[joint] - here.0[joint]) / to_rad.max(1e-6)
                + (after.0[joint] - here.0[joint]) / on_rad.max(1e-6)
        });
        let along: f32 = way.0.iter().zip(&pull).map(|(w, p)| w * p).sum();
        if along < 0.0 {
            way.0.iter_mut().for_each(|w| *w = -*w);
        }
        let step = 0.5 * self.fraction() * to_rad.min(on_rad);
        let aside = 0.5 * self.rng.unit() as f32;
        Config(std::array::from_fn(|joint| {
            here.0[joint] + step * (way.0[joint] + aside * pull[joint])
        }))
    }

    /// Has joints of a mask go straight along part of a path, in proportion to its length.
    fn straighten(&mut self, part: &[Config], mask: u64) {
        let whole_rad = length_rad(part).max(1e-6);
        let mut so_far_rad = 0.0;
        for edge in part.windows(2).take(part.len() - 2) {
            so_far_rad += edge[0].distance(&edge[1]);
            let straight = part[0].toward(&part[part.len() - 1], so_far_rad / whole_rad);
            let mut at = edge[1];
            for joint in 0..self.joints {
                if mask >> joint & 1 == 1 {
                    at.0[joint] = straight.0[joint];
                }
            }
            self.new.push(at);
        }
    }
}

/// Replaces the waypoints `from..to` of a path if that makes it shorter by more than `least_rad`
/// and all that is new is free. What it gained.
fn replace<M: Motions>(
    motions: &mut M,
    path: &mut Vec<Config>,
    from: usize,
    to: usize,
    new: &[Config],
    least_rad: f32,
) -> f32 {
    let (before, after) = (path[from - 1], path[to]);
    let mut last = before;
    let mut new_rad = 0.0;
    for at in new.iter().chain([&after]) {
        new_rad += last.distance(at);
        last = *at;
    }
    let gain_rad = length_rad(&path[from - 1..=to]) - new_rad;
    if gain_rad.is_nan() || gain_rad <= least_rad {
        return 0.0;
    }
    let mut last = before;
    for at in new.iter().chain([&after]) {
        if last != *at && !motions.is_motion_free(&last, at) {
            return 0.0;
        }
        last = *at;
    }
    path.splice(from..to, new.iter().copied());
    path.dedup();
    if path.len() == 1 {
        path.push(after);
    }
    gain_rad
}

fn length_rad(path: &[Config]) -> f32 {
    path.windows(2).map(|edge| edge[0].distance(&edge[1])).sum()
}

/// The edge of a path and the point on it after so much of its length.
fn spot(path: &[Config], after_rad: f32, ranges: &Ranges) -> (usize, Config) {
    let mut left_rad = after_rad;
    for (edge, ends) in path.windows(2).enumerate() {
        let edge_rad = ends[0].distance(&ends[1]);
        if left_rad < edge_rad || edge + 2 == path.len() {
            let share = (left_rad / edge_rad.max(1e-9)).min(1.0);
            return (edge, ranges.clamp(ends[0].toward(&ends[1], share)));
        }
        left_rad -= edge_rad;
    }
    (0, path[0])
}

/// The point between two others that is nearest to a third.
pub(super) fn nearest_on_edge(a: &Config, b: &Config, to: &Config) -> Config {
    let (mut along, mut whole) = (0.0, 0.0);
    for joint in 0..a.0.len() {
        let edge = b.0[joint] - a.0[joint];
        along += edge * (to.0[joint] - a.0[joint]);
        whole += edge * edge;
    }
    if whole > 0.0 { a.toward(b, (along / whole).clamp(0.0, 1.0)) } else { *a }
}
