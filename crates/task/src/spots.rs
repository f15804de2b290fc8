//! Where things go: free places on the plate, from its middle to its edge.

use serde::{Deserialize, Serialize};

use crate::judge::checks::{between, positive, zero_or_more};

/// Most candidates that are ever looked at: one bit each.
const MOST_CANDIDATES: u32 = 128;
/// By how much the demanded distance is lowered from try to try.
const DISTANCE_STEP_M: f64 = 0.005;
/// Most partial sets that are looked at for one demanded distance.
const MOST_SETS: u32 = 2000;
/// Distances that differ by less are equal: rings meet demands exactly.
const ROUNDING_M: f64 = 1e-9;

/// How things are spread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpotSettings {
    /// Metres that the middles of two things must at least be apart.
    pub min_object_distance: f64,
    /// Metres that a thing's middle must be inside the edge.
    pub safety_margin_edge: f64,
    /// Most places that are tried.
    pub max_placement_attempts: u32,
    /// Distance from one ring of places to the next, and about that along a ring.
    pub ring_step_m: f64,
    /// Distance of middles that is aimed at while there is room.
    pub wanted_object_distance_m: f64,
    /// The least gap between two things, where their size asks for more than
    /// `min_object_distance`.
    pub min_object_gap_m: f64,
}

impl SpotSettings {
    /// Checks every number.
    ///
    /// # Errors
    /// Names the key, its value and what would be right.
    pub fn check(&self) -> Result<(), String> {
        zero_or_more("min_object_distance", self.min_object_distance)?;
        zero_or_more("safety_margin_edge", self.safety_margin_edge)?;
        let attempts = f64::from(self.max_placement_attempts);
        between("max_placement_attempts", attempts, 1.0, f64::from(MOST_CANDIDATES))?;
        positive("ring_step_m", self.ring_step_m)?;
        zero_or_more("min_object_gap_m", self.min_object_gap_m)?;
        let wanted = self.wanted_object_distance_m;
        between("wanted_object_distance_m", wanted, self.min_object_distance, 10.0)
    }
}

/// Places on a disc, relative to its middle: the middle, then rings outwards with six more
/// places each. Where the rings would have more places than may be tried, they are set wider
/// apart, so that the edge is not left out.
#[must_use]
pub fn candidates(radius_m: f64, settings: &SpotSettings) -> Vec<[f64; 2]> {
    let most = settings.max_placement_attempts.min(MOST_CANDIDATES);
    let inside_m = radius_m - settings.safety_margin_edge;
    if !(inside_m >= 0.0 && inside_m.is_finite()) || most == 0 {
        return Vec::new();
    }
    let most_rings = (1..).take_while(|ring| 3 * ring * (ring + 1) < most).last().unwrap_or(0);
    let is_inside = |ring: u32, step_m: f64| f64::from(ring) * step_m <= inside_m + ROUNDING_M;
    let step_m = if is_inside(most_rings + 1, settings.ring_step_m) && most_rings > 0 {
        inside_m / f64::from(most_rings)
    } else {
        settings.ring_step_m
    };
    let mut places = vec![[0.0; 2]];
    for ring in (1..=most_rings).take_while(|ring| is_inside(*ring, step_m)) {
        let radius_m = (f64::from(ring) * step_m).min(inside_m);
        let number = 6 * ring;
        for index in 0..number {
            let angle_rad = std::f64::consts::TAU * f64::from(index) / f64::from(number);
            places.push([radius_m * angle_rad.cos(), radius_m * angle_rad.sin()]);
        }
    }
    places
}

/// Where things may be put.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Area {
    /// A disc.
    Disc {
        /// Its middle.
        center_xy: [f64; 2],
        /// Its radius.
        radius_m: f64,
    },
    /// A rectangle.
    Rectangle {
        /// Its middle.
        center_xy: [f64; 2],
        /// Half its sides.
        half_m: [f64; 2],
        /// Its rotation.
        yaw_rad: f64,
    },
}

impl Area {
    /// Places in it for a thing that takes `object_radius_m`, the innermost first.
    pub(crate) fn places(&self, settings: &SpotSettings, object_radius_m: f64) -> Vec<[f64; 2]> {
        let margin = settings.safety_margin_edge.max(object_radius_m);
        match *self {
            Self::Disc { center_xy: [x, y], radius_m } => {
                // What is larger than the disc may still lie in its middle.
                let safety_margin_edge = margin.min(radius_m);
                let settings = SpotSettings { safety_margin_edge, ..settings.clone() };
                let places = candidates(radius_m, &settings).into_iter();
                places.map(|[dx, dy]| [x + dx, y + dy]).collect()
            }
            Self::Rectangle { center_xy: [x, y], half_m, yaw_rad } => {
                let inside = half_m.map(|half| (half - margin).max(0.0));
                if !inside.iter().chain(&[x, y, yaw_rad]).all(|n| n.is_finite()) {
                    return Vec::new();
                }
                let most = f64::from(settings.max_placement_attempts.min(MOST_CANDIDATES));
                let steps = |step_m: f64| inside.map(|half| (half / step_m).floor());
                let mut step_m = settings.ring_step_m;
                while steps(step_m).iter().map(|n| 2.0 * n + 1.0).product::<f64>() > most {
                    step_m *= 1.1;
                }
                let [rows, columns] = steps(step_m).map(|n| n as i32);
                let (sin, cos) = yaw_rad.sin_cos();
                let mut places: Vec<[f64; 2]> = Vec::new();
                for row in -rows..=rows {
                    for column in -columns..=columns {
                        let part = |n: i32, of: i32, half: f64| {
                            if of == 0 { 0.0 } else { half * f64::from(n) / f64::from(of) }
                        };
                        let [a, b] = [part(row, rows, inside[0]), part(column, columns, inside[1])];
                        places.push([x + a * cos - b * sin, y + a * sin + b * cos]);
                    }
                }
                let away = |p: &[f64; 2]| (p[0] - x).hypot(p[1] - y);
                places.sort_by(|p, q| away(p).total_cmp(&away(q)));
                places
            }
        }
    }

    /// Its diameter.
    pub(crate) fn size_m(&self) -> f64 {
        match self {
            Self::Disc { radius_m, .. } => 2.0 * radius_m,
            Self::Rectangle { half_m, .. } => 2.0 * half_m[0].hypot(half_m[1]),
        }
    }
}

/// The place for the next of `remaining` things (itself included) in an area, so that all of them
/// still fit; `None` where no places for all were found.
///
/// Looks for a set of `remaining` reachable candidates that keep a distance to each other and to
/// the `others` (measured middles of what lies there): first the wanted one, then smaller ones,
/// down to `min_object_distance`, and never so small that two things of `object_radius_m` would
/// come nearer than the least gap. Of the set found it takes the member nearest to the middle (the
/// first in the order of the candidates): inner places are the ones that later get closed in.
/// `reachable` is asked at most once for a place.
pub fn choose(
    settings: &SpotSettings,
    area: &Area,
    object_radius_m: f64,
    others: &[[f64; 2]],
    remaining: usize,
    reachable: &mut dyn FnMut([f64; 2]) -> bool,
) -> Option<[f64; 2]> {
    if !object_radius_m.is_finite() {
        return None;
    }
    let places = area.places(settings, object_radius_m);
    if !places.iter().flatten().all(|n| n.is_finite()) {
        return None;
    }
    let mut search = Search { places, keeps: Vec::new(), asked: 0, refused: 0, sets: 0, reachable };
    let least_m =
        settings.min_object_distance.max(2.0 * object_radius_m + settings.min_object_gap_m);
    // Nothing in an area is farther apart than its width.
    let mut demanded_m = settings.wanted_object_distance_m.min(area.size_m()).max(least_m);
    loop {
        let free = search.demand(demanded_m, others);
        if let Some(index) = search.first_of_set(free, remaining.max(1)) {
            return search.places.get(index).copied();
        }
        if demanded_m <= least_m {
            return None;
        }
        demanded_m = (demanded_m - DISTANCE_STEP_M).max(least_m);
    }
}

/// A search for places that go together. Sets of places are bits.
struct Search<'a> {
    places: Vec<[f64; 2]>,
    /// For each place, which later ones keep the demanded distance from it.
    keeps: Vec<u128>,
    /// Places that were asked for, and those of them that cannot be reached.
    asked: u128,
    refused: u128,
    /// Partial sets looked at for this demand.
    sets: u32,
    reachable: &'a mut dyn FnMut([f64; 2]) -> bool,
}

impl Search<'_> {
    /// Prepares for a demanded distance; the places that keep it from all others.
    fn demand(&mut self, demanded_m: f64, others: &[[f64; 2]]) -> u128 {
        self.sets = 0;
        let places = &self.places;
        let least_m2 = (demanded_m - ROUNDING_M).max(0.0).powi(2);
        let keeps = |one: &[f64; 2], other: &[f64; 2]| {
            let [x, y] = [one[0] - other[0], one[1] - other[1]];
            x * x + y * y >= least_m2
        };
        self.keeps.clear();
        let mut free = 0;
        for (index, place) in places.iter().enumerate() {
            let later = places.iter().enumerate().skip(index + 1);
            let kept =
                later.fold(0, |bits, (at, other)| bits | u128::from(keeps(place, other)) << at);
            self.keeps.push(kept);
            free |= u128::from(others.iter().all(|other| keeps(place, other))) << index;
        }
        free
    }

    /// The first member of a set of `number` places out of `free`, if there is one.
    fn first_of_set(&mut self, mut free: u128, number: usize) -> Option<usize> {
        while free.count_ones() as usize >= number && self.sets < MOST_SETS {
            self.sets += 1;
            let index = free.trailing_zeros() as usize;
            free &= !(1 << index);
            if !self.is_reachable(index) {
                continue;
            }
            let with_it = free & self.keeps.get(index)?;
            if number == 1 || self.first_of_set(with_it, number - 1).is_some() {
                return Some(index);
            }
        }
        None
    }

    fn is_reachable(&mut self, index: usize) -> bool {
        let bit = 1 << index;
        if self.asked & bit == 0 {
            self.asked |= bit;
            if !self.places.get(index).is_some_and(|place| (self.reachable)(*place)) {
                self.refused |= bit;
            }
        }
        self.refused & bit == 0
    }
}
