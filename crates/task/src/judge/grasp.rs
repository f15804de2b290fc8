//! Is the thing held? Six methods, each of which may say no, and none of which may guess.
//!
//! | method | says no when |
//! |---|---|
//! | jaw gap | the jaws reached what they were commanded: nothing is between them |
//! | contact force | a jaw has not pressed on it for three frames (where a rig can feel) |
//! | relative distance | its distance from the hand has changed since the jaws closed |
//! | absolute distance | it is too far from the hand, sideways or in height |
//! | movement ratio | it does not move as the hand does |
//! | variance | its sideways distance from the hand trembles |
//!
//! The movement ratio is taken twice: against the oldest of the last ten samples, which sees a
//! fall within frames wherever the hand has been, and since the jaws closed, which still speaks
//! when the hand has come to rest, and sees what slips too slowly for a window. It is the fraction
//! of the hand's movement that the object did not miss: 1 less the difference of the two
//! movements over the hand's. Lengths alone would not do: a thing that falls while the hand moves
//! sideways flies on with it.

use citrange_core::ObjectSeen;
use nalgebra::Vector3;

use super::checks::usable;
use super::evidence::{Doubt, Evidence, GraspSample, GraspSettings, GraspVerdict};
use super::memory::{count, put, take, vector};

/// Samples that are kept for the movement ratio and the variance.
const WINDOW: usize = 10;
/// Samples after which there can be a verdict.
const ENOUGH_SAMPLES: u32 = 3;
/// Frames in a row without force that count as no contact: contacts flicker.
const WEAK_FRAMES: u32 = 3;

/// Hand and object at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pair {
    hand_m: Vector3<f64>,
    object_m: Vector3<f64>,
}

impl Pair {
    fn apart(&self) -> Vector3<f64> {
        self.object_m - self.hand_m
    }

    /// The object's movement since `from` as fractions of the hand's: what it did not miss of it,
    /// and its length.
    fn ratio_since(&self, from: &Self, min_move_m: f64) -> Option<[f64; 2]> {
        let hand = self.hand_m - from.hand_m;
        let object = self.object_m - from.object_m;
        let moved_m = hand.norm();
        (moved_m >= min_move_m)
            .then(|| [1.0 - (object - hand).norm() / moved_m, object.norm() / moved_m])
    }
}

/// Watches whether a thing stays in the jaws.
#[derive(Clone, Debug, PartialEq)]
pub struct GraspDetector {
    /// Hand when the jaws had closed.
    hand_at_begin_m: Vector3<f64>,
    /// Hand and object when the object was first seen, the hand not having moved yet.
    anchor: Option<Pair>,
    /// The last samples with an object: a ring, the oldest at `next` when it is full.
    recent: [Pair; WINDOW],
    filled: usize,
    next: usize,
    /// Samples with an object since the beginning, up to [`ENOUGH_SAMPLES`].
    samples: u32,
    /// Frames in a row in which a jaw did not press enough, up to [`WEAK_FRAMES`].
    weak_frames: u32,
    evidence: Evidence,
}

impl GraspDetector {
    /// Begins to watch: the jaws have closed and settled, the hand has not moved yet.
    #[must_use]
    pub fn begin(first: &GraspSample<'_>) -> Self {
        let mut detector = Self {
            hand_at_begin_m: first.hand_m,
            anchor: None,
            recent: [Pair::default(); WINDOW],
            filled: 0,
            next: 0,
            samples: 0,
            weak_frames: 0,
            evidence: Evidence::default(),
        };
        if let Ok(pair) = pair(first) {
            detector.anchor = Some(pair);
            detector.push(pair);
        }
        detector
    }

    /// Takes the sample of a frame and judges.
    pub fn sample(&mut self, settings: &GraspSettings, sample: &GraspSample<'_>) -> GraspVerdict {
        self.evidence = Evidence {
            jaw_gap: sample.jaw_gap.is_finite().then_some(sample.jaw_gap),
            ..Evidence::default()
        };
        let pair = pair(sample);
        if let (Ok(pair), Some(object)) = (pair, sample.object) {
            self.take_in(settings, pair, object);
        }
        // Closed jaws hold nothing, whatever is seen.
        if self.evidence.jaw_gap.is_some_and(|gap| gap < settings.jaw_gap_min) {
            return GraspVerdict::No(Doubt::JawGap);
        }
        match pair {
            Err(doubt) => GraspVerdict::Unknown(doubt),
            Ok(_) if self.evidence.jaw_gap.is_none() => GraspVerdict::Unknown(Doubt::NotFinite),
            Ok(_) if self.samples < ENOUGH_SAMPLES => GraspVerdict::Unknown(Doubt::TooFewSamples),
            Ok(_) => self.verdict(settings),
        }
    }

    /// The numbers that the last sample was judged by.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// Brings the memory and the evidence up to date with an object that is seen.
    fn take_in(&mut self, settings: &GraspSettings, pair: Pair, object: &ObjectSeen) {
        let hand_rests = (pair.hand_m - self.hand_at_begin_m).norm() < settings.min_move_m;
        if self.anchor.is_none() && hand_rests {
            self.anchor = Some(pair);
        }
        let oldest = self.oldest();
        self.push(pair);
        self.samples = (self.samples + 1).min(ENOUGH_SAMPLES);

        let weaker = object.touch_n.map(|[one, other]| one.min(other));
        let is_weak = weaker.is_some_and(|force| force < settings.contact_force_threshold_n);
        self.weak_frames = if is_weak { (self.weak_frames + 1).min(WEAK_FRAMES) } else { 0 };

        let apart = pair.apart();
        let ratios = [oldest, self.anchor]
            .into_iter()
            .flatten()
            .filter_map(|from| pair.ratio_since(&from, settings.min_move_m));
        let evidence = Evidence {
            relative_distance_m: self
                .anchor
                .map(|anchor| (apart.norm() - anchor.apart().norm()).abs()),
            absolute_distance_m: Some([apart.xy().norm(), apart.z.abs()]),
            movement_ratio: ratios
                .reduce(|one, other| [one[0].min(other[0]), one[1].max(other[1])]),
            variance_m2: self.variance_m2(),
            jaw_gap: self.evidence.jaw_gap,
            contact_force_n: weaker,
        };
        self.evidence = evidence;
    }

    /// What the methods say together. The movement ratio since the anchor is known as soon as
    /// the hand is `min_move_m` away from there, so a moving hand is never judged without it.
    fn verdict(&self, settings: &GraspSettings) -> GraspVerdict {
        let Evidence { relative_distance_m, absolute_distance_m, .. } = self.evidence;
        let Evidence { movement_ratio, variance_m2, .. } = self.evidence;
        if self.weak_frames >= WEAK_FRAMES {
            return GraspVerdict::No(Doubt::ContactForce);
        }
        if relative_distance_m.is_some_and(|m| m > settings.grasp_relative_distance_threshold) {
            return GraspVerdict::No(Doubt::RelativeDistance);
        }
        if absolute_distance_m.is_some_and(|[xy_m, z_m]| {
            xy_m > settings.grasp_success_xy_threshold || z_m > settings.grasp_success_z_threshold
        }) {
            return GraspVerdict::No(Doubt::AbsoluteDistance);
        }
        if movement_ratio.is_some_and(|[low, high]| {
            low < settings.grasp_movement_ratio_threshold
                || high > settings.grasp_movement_ratio_max
        }) {
            return GraspVerdict::No(Doubt::MovementRatio);
        }
        if variance_m2.is_some_and(|m2| m2 > settings.grasp_stability_variance_threshold) {
            return GraspVerdict::No(Doubt::Variance);
        }
        if relative_distance_m.is_none() {
            GraspVerdict::Unknown(Doubt::NotSeen)
        } else {
            GraspVerdict::Yes
        }
    }

    fn push(&mut self, pair: Pair) {
        if let Some(place) = self.recent.get_mut(self.next) {
            *place = pair;
        }
        self.next = (self.next + 1) % WINDOW;
        self.filled = (self.filled + 1).min(WINDOW);
    }

    fn oldest(&self) -> Option<Pair> {
        let index = if self.filled == WINDOW { self.next } else { 0 };
        self.recent.get(index).copied().filter(|_| self.filled > 0)
    }

    /// Variance of the horizontal distance over the ring, from three samples on.
    fn variance_m2(&self) -> Option<f64> {
        if self.filled < 3 {
            return None;
        }
        let number = self.filled as f64;
        let distances = || self.recent.iter().take(self.filled).map(|p| p.apart().xy().norm());
        let mean = distances().sum::<f64>() / number;
        Some(distances().map(|d| (d - mean).powi(2)).sum::<f64>() / number)
    }

    /// Adds everything it remembers to a list of numbers.
    pub fn save(&self, out: &mut Vec<f64>) {
        out.extend(self.hand_at_begin_m.iter());
        put(out, self.anchor.map(Pair::numbers));
        for pair in self.recent {
            out.extend(pair.numbers());
        }
        out.extend([self.filled as f64, self.next as f64]);
        out.extend([f64::from(self.samples), f64::from(self.weak_frames)]);
        let evidence = &self.evidence;
        put(out, evidence.relative_distance_m.map(|n| [n]));
        put(out, evidence.absolute_distance_m);
        put(out, evidence.movement_ratio);
        put(out, evidence.variance_m2.map(|n| [n]));
        put(out, evidence.jaw_gap.map(|n| [n]));
        put(out, evidence.contact_force_n.map(|n| [n]));
    }

    /// Takes back what [`GraspDetector::save`] wrote; `None` where that is something else.
    pub fn load(numbers: &mut impl Iterator<Item = f64>) -> Option<Self> {
        let hand_at_begin_m = vector(numbers)?;
        let anchor = take(numbers)?.map(Pair::from_numbers);
        let mut recent = [Pair::default(); WINDOW];
        for pair in &mut recent {
            *pair = Pair { hand_m: vector(numbers)?, object_m: vector(numbers)? };
        }
        let filled = count(numbers, WINDOW as u32)? as usize;
        let next = count(numbers, WINDOW as u32 - 1)? as usize;
        let samples = count(numbers, ENOUGH_SAMPLES)?;
        let weak_frames = count(numbers, WEAK_FRAMES)?;
        let evidence = Evidence {
            relative_distance_m: take(numbers)?.map(|[n]| n),
            absolute_distance_m: take(numbers)?,
            movement_ratio: take(numbers)?,
            variance_m2: take(numbers)?.map(|[n]| n),
            jaw_gap: take(numbers)?.map(|[n]| n),
            contact_force_n: take(numbers)?.map(|[n]| n),
        };
        let detector =
            Self { hand_at_begin_m, anchor, recent, filled, next, samples, weak_frames, evidence };
        Some(detector)
    }
}

impl Pair {
    fn numbers(self) -> [f64; 6] {
        let (hand, object) = (self.hand_m, self.object_m);
        [hand.x, hand.y, hand.z, object.x, object.y, object.z]
    }

    fn from_numbers([hx, hy, hz, ox, oy, oz]: [f64; 6]) -> Self {
        Self { hand_m: Vector3::new(hx, hy, hz), object_m: Vector3::new(ox, oy, oz) }
    }
}

/// Hand and object of a sample, or why they cannot be used.
fn pair(sample: &GraspSample<'_>) -> Result<Pair, Doubt> {
    let object = sample.object.ok_or(Doubt::NotSeen)?;
    if !usable(object) || !sample.hand_m.iter().all(|n| n.is_finite()) {
        return Err(Doubt::NotFinite);
    }
    Ok(Pair { hand_m: sample.hand_m, object_m: Vector3::from(object.pose.pos_m) })
}
