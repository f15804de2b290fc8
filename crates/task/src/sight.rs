//! Where things are, by many looks that each have an error: what was known moves on with the speed
//! that is seen, and every look corrects it a little (a complementary filter).

use citrange_core::Observation;

use crate::judge::memory::{put, take};

/// The least weight of a look against those before: what moves unseen is followed in a second.
const LEAST_WEIGHT: f64 = 0.03;
/// A look that is so many standard deviations off is of a thing that is elsewhere.
const ELSEWHERE: f64 = 6.0;
/// How well a place should be known before a grasp is planned by it.
const WANTED_M: f64 = 0.001;

/// A thing's place and how many looks it is the mean of.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Track {
    pos_m: [f64; 3],
    looks: f64,
}

/// The places of all things.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sight(Vec<Option<Track>>);

impl Sight {
    /// Takes a tick's look with errors of `sigma_m` and replaces its places by what is known now.
    pub(crate) fn follow(
        &mut self,
        seen: &mut Observation,
        sigma_m: f64,
        tick_s: f64,
        is_frame: bool,
    ) {
        self.0.resize(seen.objects.len(), None);
        for (track, object) in self.0.iter_mut().zip(&mut seen.objects) {
            let Some(object) = object else {
                *track = None;
                continue;
            };
            let look_m = object.pose.pos_m;
            let mut known = track.unwrap_or(Track { pos_m: look_m, looks: 0.0 });
            for (at, speed) in known.pos_m.iter_mut().zip(object.lin_vel_m_s) {
                *at += speed * tick_s;
            }
            if is_frame {
                let off = |a: usize| look_m[a] - known.pos_m[a];
                let off_m = (0..3).map(|a| off(a).powi(2)).sum::<f64>().sqrt();
                let is_elsewhere = off_m > ELSEWHERE * sigma_m * (1.0 + 1.0 / known.looks.max(1.0));
                let looks = if is_elsewhere { 0.0 } else { known.looks };
                let weight = (1.0 / (looks + 1.0)).max(LEAST_WEIGHT);
                let pos_m = std::array::from_fn(|a| known.pos_m[a] + weight * off(a));
                known = Track { pos_m, looks: looks + 1.0 };
            }
            object.pose.pos_m = known.pos_m;
            *track = Some(known);
        }
    }

    /// Whether a thing was looked at often enough for its place to be known well.
    pub(crate) fn is_sure(&self, object: usize, sigma_m: f64) -> bool {
        let enough = (sigma_m / WANTED_M).powi(2).min(1.0 / LEAST_WEIGHT);
        self.0.get(object).copied().flatten().is_none_or(|track| track.looks >= enough)
    }

    pub(crate) fn save(&self, objects: usize, out: &mut Vec<f64>) {
        for index in 0..objects {
            let track = self.0.get(index).copied().flatten();
            put(out, track.map(|Track { pos_m: [x, y, z], looks }| [x, y, z, looks]));
        }
    }

    pub(crate) fn load(numbers: &mut impl Iterator<Item = f64>, objects: usize) -> Option<Self> {
        let mut tracks = Vec::new();
        for _ in 0..objects {
            let track = take::<4>(numbers)?;
            tracks.push(track.map(|[x, y, z, looks]| Track { pos_m: [x, y, z], looks }));
        }
        // Nothing was followed yet, or nothing is seen: the same to come.
        Some(Self(if tracks.iter().all(Option::is_none) { Vec::new() } else { tracks }))
    }
}

#[cfg(test)]
mod tests {
    use citrange_core::{ObjectSeen, Pose};

    use super::*;

    #[test]
    fn many_looks_are_better_than_one_and_moving_things_are_followed() {
        let mut sight = Sight::default();
        let mut rng = citrange_core::rng::Rng::new(4);
        let (sigma_m, tick_s, speed) = (0.006, 1.0 / 180.0, 0.1);
        let mut worst: f64 = 0.0;
        for tick in 0..1800 {
            let x = speed * f64::from(tick) * tick_s;
            // An even spread of this width has this standard deviation.
            let error = sigma_m * 12_f64.sqrt() * (rng.unit() - 0.5);
            let pose = Pose::from_yaw([x + error, 0.0, 0.0], 0.0);
            let object = ObjectSeen { pose, lin_vel_m_s: [speed, 0.0, 0.0], touch_n: None };
            let mut seen = Observation { objects: vec![Some(object)], ..Observation::default() };
            sight.follow(&mut seen, sigma_m, tick_s, tick % 6 == 0);
            if sight.is_sure(0, sigma_m) {
                worst = worst.max((seen.objects[0].unwrap().pose.pos_m[0] - x).abs());
            }
        }
        assert!(worst > 0.0 && worst < 0.004, "{worst}");
        let mut numbers = Vec::new();
        sight.save(1, &mut numbers);
        assert_eq!(Sight::load(&mut numbers.into_iter(), 1), Some(sight));
    }
}
