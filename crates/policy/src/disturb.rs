//! What a real arm and a real camera do not do right: late actions, noise of joints, boxes that are
//! not seen or not there.

use citrange_core::rng::Rng;
use citrange_lanes::{LANES, Lanes};

use crate::env::{Aabb, Copies, Disturbance};
use crate::network::normal;

/// Half the edge of a ghost, and where it may be: in units of the scale.
const GHOST_HALF_M: f32 = 0.04;
const GHOST_WITHIN_M: f64 = 0.9;

/// Disturbs sixteen copies.
#[derive(Clone, Debug)]
pub(crate) struct Disturber {
    settings: Disturbance,
    /// Of each copy: how many steps its actions are late.
    pub(crate) late: [u32; LANES],
    /// Actions of the two steps before, the newest first.
    pub(crate) before: [Vec<Lanes>; 2],
}

impl Disturber {
    pub(crate) fn new(settings: &Disturbance, actions: usize) -> Self {
        let nothing = vec![Lanes::splat(0.0); actions];
        Self { settings: settings.clone(), late: [0; LANES], before: [nothing.clone(), nothing] }
    }

    /// A new attempt of a copy.
    pub(crate) fn begin(&mut self, lane: usize, rng: &mut Rng) {
        if self.settings.latency_steps > 0 {
            self.late[lane] = rng.below(self.settings.latency_steps as usize + 1) as u32;
        }
        for actions in &mut self.before {
            actions.iter_mut().for_each(|action| action.0[lane] = 0.0);
        }
    }

    /// What the policy sees of the copies, which have looked. They are as before afterwards.
    pub(crate) fn observe(&self, copies: &mut Copies, rngs: &mut [Rng; LANES], row: &mut [f32]) {
        let settings = &self.settings;
        let sees =
            settings.joint_noise_rad > 0.0 || settings.drop_out > 0.0 || settings.ghosts > 0.0;
        if !sees {
            return copies.observe(row);
        }
        let (joints, boxes) = (copies.joints.clone(), copies.boxes.clone());
        let (tool_m, distance_m, sensed) =
            (copies.tool_m, copies.distance_m, copies.sensed.clone());
        let scale = copies.arm.scale();
        for (lane, rng) in rngs.iter_mut().enumerate() {
            for joint in &mut copies.joints {
                joint.0[lane] += (settings.joint_noise_rad * normal(rng)) as f32;
            }
            let mut seen = boxes.get(lane);
            let mut index = 0;
            seen.retain(|_| {
                index += 1;
                index == 1 || rng.unit() >= settings.drop_out
            });
            if rng.unit() < settings.ghosts {
                let mut at = || rng.uniform(-GHOST_WITHIN_M, GHOST_WITHIN_M) * scale;
                let middle = [at() as f32, at() as f32, at().abs() as f32];
                let half = [GHOST_HALF_M * scale as f32; 3];
                seen.push((Aabb::around(middle, half), [0.0; 3]));
            }
            copies.boxes.set(lane, &seen);
        }
        copies.look();
        copies.observe(row);
        copies.joints = joints;
        copies.boxes = boxes;
        copies.tool_m = tool_m;
        copies.distance_m = distance_m;
        copies.sensed = sensed;
    }

    /// The actions that take effect now instead of those that were just decided.
    pub(crate) fn delay(&mut self, actions: &mut [Lanes]) {
        if self.settings.latency_steps == 0 {
            return;
        }
        let decided = actions.to_vec();
        for lane in 0..LANES {
            let Some(late) = (self.late[lane] as usize).checked_sub(1) else { continue };
            let from = &self.before[late.min(1)];
            for (action, before) in actions.iter_mut().zip(from) {
                action.0[lane] = before.0[lane];
            }
        }
        self.before.swap(0, 1);
        self.before[0] = decided;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_actions_come_as_late_as_was_drawn() {
        let settings = Disturbance { latency_steps: 2, ..Disturbance::default() };
        let mut disturber = Disturber::new(&settings, 1);
        disturber.late = std::array::from_fn(|lane| lane as u32 % 3);
        let mut seen = Vec::new();
        for step in 1..=5 {
            let mut actions = vec![Lanes::splat(step as f32)];
            disturber.delay(&mut actions);
            seen.push([actions[0].0[0], actions[0].0[1], actions[0].0[2]]);
        }
        assert_eq!(seen[0], [1.0, 0.0, 0.0]);
        assert_eq!(seen[1], [2.0, 1.0, 0.0]);
        assert_eq!(seen[4], [5.0, 4.0, 3.0]);
    }
}
