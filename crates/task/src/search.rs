//! Searches that take many ticks: a tick has time for a few candidates only, the arm holds
//! meanwhile. What they have found so far is part of the memory, and they look at the world as it
//! was when they began, so that they end the same however they are cut.

use citrange_core::{ObjectSeen, Observation, Pose};
use nalgebra::Vector3;

use crate::choice::YawSearch;
use crate::grasp_plan::{GraspPlan, GraspSearch};
use crate::judge::memory::{array, count, put, take, vector};

/// Grasps that are looked at in one tick.
pub(crate) const GRASPS_PER_TICK: usize = 1;
/// Hand poses that are looked at in one tick.
pub(crate) const POSES_PER_TICK: usize = 2;
/// Heights from which things are let go.
const HEIGHTS: usize = 2;

/// Where all things were at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Look(Vec<Option<Pose>>);

impl Look {
    pub(crate) fn of(seen: &Observation) -> Self {
        Self(seen.objects.iter().map(|object| object.map(|object| object.pose)).collect())
    }

    /// An observation with the things where they were then.
    pub(crate) fn seen(&self) -> Observation {
        let at = |pose: Pose| ObjectSeen { pose, lin_vel_m_s: [0.0; 3], touch_n: None };
        let objects = self.0.iter().map(|pose| pose.map(at)).collect();
        Observation { objects, ..Observation::default() }
    }

    fn save(&self, objects: usize, out: &mut Vec<f64>) {
        for index in 0..objects {
            let pose = self.0.get(index).copied().flatten();
            put(
                out,
                pose.map(|Pose { pos_m: [x, y, z], quat_wxyz: [a, b, c, d] }| {
                    [x, y, z, a, b, c, d]
                }),
            );
        }
    }

    fn load(numbers: &mut impl Iterator<Item = f64>, objects: usize) -> Option<Self> {
        let mut poses = Vec::new();
        for _ in 0..objects {
            let pose = take::<7>(numbers)?;
            poses.push(
                pose.map(|[x, y, z, a, b, c, d]| Pose {
                    pos_m: [x, y, z],
                    quat_wxyz: [a, b, c, d],
                }),
            );
        }
        Some(Self(poses))
    }
}

/// A search for how to take a thing, and whether it can be brought to the goal at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TakeSearch {
    pub(crate) look: Look,
    pub(crate) grasp: GraspSearch,
    /// The grasp that was chosen.
    pub(crate) plan: Option<GraspPlan>,
    /// Hand poses at the goal that were found to be out of reach.
    pub(crate) refused_poses: usize,
}

impl TakeSearch {
    pub(crate) fn new(seen: &Observation) -> Self {
        Self { look: Look::of(seen), ..Self::default() }
    }

    pub(crate) fn save(search: Option<&Self>, objects: usize, out: &mut Vec<f64>) {
        out.push(f64::from(u8::from(search.is_some())));
        let none = Self::default();
        let search = search.unwrap_or(&none);
        search.look.save(objects, out);
        out.push(search.grasp.next as f64);
        let best = search.grasp.best;
        put(out, best.map(|(score, _)| [score]));
        put(out, best.map(|(_, plan)| plan.numbers()));
        let nearest = search.grasp.nearest;
        put(out, nearest.map(|([kind, figure], index)| [kind, figure, index as f64]));
        put(out, search.plan.map(|plan| plan.numbers()));
        out.push(search.refused_poses as f64);
    }

    #[expect(clippy::option_option, reason = "absent and unreadable are two things")]
    pub(crate) fn load(
        numbers: &mut impl Iterator<Item = f64>,
        objects: usize,
    ) -> Option<Option<Self>> {
        let is_some = count(numbers, 1)? == 1;
        let look = Look::load(numbers, objects)?;
        let next = count(numbers, u32::MAX)? as usize;
        let score = take::<1>(numbers)?;
        let best = score.zip(take(numbers)?).map(|([s], plan)| (s, GraspPlan::of_numbers(plan)));
        let nearest = take::<3>(numbers)?;
        let nearest = nearest.map(|[kind, figure, index]| ([kind, figure], index as usize));
        let plan = take(numbers)?.map(GraspPlan::of_numbers);
        let refused_poses = count(numbers, u32::MAX)? as usize;
        let grasp = GraspSearch { next, best, nearest };
        Some(is_some.then_some(Self { look, grasp, plan, refused_poses }))
    }
}

/// Which places were looked at from one height, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PlacesSeen {
    pub(crate) known: u128,
    pub(crate) reached: u128,
    /// Those that leave the hand the usual room.
    pub(crate) roomy: u128,
}

/// A search for a place at the goal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SpotSearch {
    pub(crate) look: Look,
    /// Where the thing is in the hand.
    pub(crate) carried_m: Vector3<f64>,
    pub(crate) places: [PlacesSeen; HEIGHTS],
    /// The yaws of the place that is being looked at.
    pub(crate) yaws: YawSearch,
}

impl SpotSearch {
    pub(crate) fn new(seen: &Observation, carried_m: Vector3<f64>) -> Self {
        Self { look: Look::of(seen), carried_m, ..Self::default() }
    }

    pub(crate) fn save(search: Option<&Self>, objects: usize, out: &mut Vec<f64>) {
        out.push(f64::from(u8::from(search.is_some())));
        let none = Self::default();
        let search = search.unwrap_or(&none);
        search.look.save(objects, out);
        out.extend(&search.carried_m);
        for PlacesSeen { known, reached, roomy } in search.places {
            [known, reached, roomy].into_iter().for_each(|bits| put_bits(out, bits));
        }
        out.push(search.yaws.next as f64);
        put(out, search.yaws.best);
    }

    #[expect(clippy::option_option, reason = "absent and unreadable are two things")]
    pub(crate) fn load(
        numbers: &mut impl Iterator<Item = f64>,
        objects: usize,
    ) -> Option<Option<Self>> {
        let is_some = count(numbers, 1)? == 1;
        let look = Look::load(numbers, objects)?;
        let carried_m = vector(numbers)?;
        let mut places = [PlacesSeen::default(); HEIGHTS];
        for PlacesSeen { known, reached, roomy } in &mut places {
            for bits in [known, reached, roomy] {
                *bits = take_bits(numbers)?;
            }
        }
        let next = count(numbers, u32::MAX)? as usize;
        let yaws = YawSearch { next, best: take(numbers)? };
        Some(is_some.then_some(Self { look, carried_m, places, yaws }))
    }
}

/// Bits as four numbers: what a number holds exactly.
fn put_bits(out: &mut Vec<f64>, bits: u128) {
    out.extend((0..4).map(|part| f64::from((bits >> (32 * part)) as u32)));
}

fn take_bits(numbers: &mut impl Iterator<Item = f64>) -> Option<u128> {
    let parts: [f64; 4] = array(numbers)?;
    let bits = parts.iter().enumerate();
    Some(bits.fold(0, |bits, (part, number)| bits | u128::from(*number as u32) << (32 * part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_are_read_back_as_they_were() {
        let look = Look(vec![None, Some(Pose::from_yaw([0.1, 0.2, 0.3], 0.4))]);
        let plan = GraspPlan { relative_yaw_rad: 0.3, contact: 0.5, ..GraspPlan::default() };
        let nearest = Some(([4.0, -0.002], 7));
        let grasp = GraspSearch { next: 12, best: Some((0.01, plan)), nearest };
        let taking = TakeSearch { look: look.clone(), grasp, plan: Some(plan), refused_poses: 3 };
        let mut placing = SpotSearch { look, ..SpotSearch::default() };
        placing.places[1].known = 1 << 127 | 0x1234_5678_9abc_def0;
        placing.yaws = YawSearch { next: 4, best: Some([0.01, -0.4, 0.002]) };
        for (taking, placing) in [(Some(taking), Some(placing)), (None, None)] {
            let mut numbers = Vec::new();
            TakeSearch::save(taking.as_ref(), 2, &mut numbers);
            SpotSearch::save(placing.as_ref(), 2, &mut numbers);
            let mut numbers = numbers.into_iter();
            assert_eq!(TakeSearch::load(&mut numbers, 2), Some(taking));
            assert_eq!(SpotSearch::load(&mut numbers, 2), Some(placing));
            assert_eq!(numbers.next(), None);
        }
    }
}
