//! Sixteen environments that gather experience with a policy.

use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_lanes::{Isa, LANES, Lanes};

use super::actor_critic::ActorCritic;
use super::settings::TrainSettings;
use crate::disturb::Disturber;
use crate::env::{Copies, Drawer, Drawn, ReachArm, ReachSettings};
use crate::network::{MlpScratch, normal};

/// Sixteen environments, their random numbers and what they gathered.
#[derive(Clone, Debug)]
pub(crate) struct Actors {
    pub(crate) copies: Copies,
    drawer: Drawer,
    /// What the attempts in hand began with.
    pub(crate) begun: Vec<Drawn>,
    pub(crate) rngs: [Rng; LANES],
    pub(crate) disturber: Disturber,
    pub(crate) gathered: Gathered,
    actions: Vec<Lanes>,
    row: Vec<f32>,
    scratch: [MlpScratch; 2],
}

/// Experience of sixteen environments: sample `step * 16 + lane`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) inputs: Vec<f32>,
    pub(crate) actions: Vec<f32>,
    pub(crate) log_probability: Vec<f32>,
    pub(crate) values: Vec<f32>,
    pub(crate) rewards: Vec<f32>,
    pub(crate) over: Vec<bool>,
    pub(crate) advantages: Vec<f32>,
    pub(crate) returns: Vec<f32>,
    /// Attempts that ended, and how.
    pub(crate) ended: u32,
    pub(crate) reached: u32,
    pub(crate) collided: u32,
}

impl Actors {
    /// Environments `number * 16` and the fifteen behind it, at the beginning of an attempt.
    pub(crate) fn new(
        arm: &Arc<ReachArm>,
        reach: &Arc<ReachSettings>,
        seed: u64,
        number: u64,
        isa: Isa,
    ) -> Self {
        let copies = Copies::new(arm, reach, isa);
        let stream = |lane: usize| Rng::for_episode(seed, number * 16 + lane as u64, "environment");
        let mut made = Self {
            drawer: Drawer::new(arm, reach, isa),
            begun: Vec::with_capacity(LANES),
            rngs: std::array::from_fn(stream),
            disturber: Disturber::new(&reach.disturbance, arm.controlled().len()),
            gathered: Gathered::default(),
            actions: vec![Lanes::splat(0.0); arm.controlled().len()],
            row: vec![0.0; LANES * copies.inputs()],
            scratch: Default::default(),
            copies,
        };
        for lane in 0..LANES {
            let drawn = made.drawer.draw(&mut made.rngs[lane]);
            made.begun.push(drawn);
            made.begin(lane, 1.0);
        }
        made.copies.look();
        made
    }

    /// A new attempt: at another episode, or with the chance `again` at the same.
    fn begin(&mut self, lane: usize, again: f64) {
        if again < 1.0 && !(again > 0.0 && self.rngs[lane].unit() < again) {
            self.begun[lane] = self.drawer.draw(&mut self.rngs[lane]);
        }
        let drawn = &self.begun[lane];
        self.copies.boxes.set(lane, &drawn.boxes);
        self.copies.put(lane, &drawn.start, drawn.goal_m);
        self.disturber.begin(lane, &mut self.rngs[lane]);
    }

    /// Gathers experience, and what it was worth.
    pub(crate) fn gather(&mut self, net: &ActorCritic, settings: &TrainSettings, isa: Isa) {
        let (inputs, count) = (self.copies.inputs(), self.actions.len());
        let steps = settings.rollout_steps;
        let samples = steps * LANES;
        let g = &mut self.gathered;
        g.inputs.resize(samples * inputs, 0.0);
        g.actions.resize(samples * count, 0.0);
        for list in [
            &mut g.log_probability,
            &mut g.values,
            &mut g.rewards,
            &mut g.advantages,
            &mut g.returns,
        ] {
            list.resize(samples, 0.0);
        }
        g.over.resize(samples, false);
        (g.ended, g.reached, g.collided) = (0, 0, 0);
        let (policy_stride, value_stride) = (net.policy.stride(), net.value.stride());
        let sigma: Vec<f32> = net.log_sigma.iter().map(|log| log.exp()).collect();
        let constant: f32 = net.log_sigma.iter().map(|log| log + HALF_LOG_TAU).sum();
        for step in 0..steps {
            let from = step * LANES;
            let row = &mut self.gathered.inputs[from * inputs..(from + LANES) * inputs];
            self.disturber.observe(&mut self.copies, &mut self.rngs, row);
            let [first, second] = &mut self.scratch;
            let means = net.policy.forward(isa, LANES, row, first);
            let values = net.value.forward(isa, LANES, row, second);
            for lane in 0..LANES {
                let mut squares = 0.0;
                for action in 0..count {
                    let noise = normal(&mut self.rngs[lane]) as f32;
                    let taken = means[lane * policy_stride + action] + sigma[action] * noise;
                    squares += noise * noise;
                    self.actions[action].0[lane] = taken;
                    self.gathered.actions[(from + lane) * count + action] = taken;
                }
                self.gathered.log_probability[from + lane] = -0.5 * squares - constant;
                self.gathered.values[from + lane] = values[lane * value_stride];
            }
            self.disturber.delay(&mut self.actions);
            let ends = self.copies.advance(&self.actions);
            let over = ends.over();
            self.gathered.rewards[from..from + LANES].copy_from_slice(&ends.reward);
            for lane in 0..LANES {
                self.gathered.over[from + lane] = over >> lane & 1 == 1;
            }
            self.gathered.ended += over.count_ones();
            self.gathered.reached += ends.success.count_ones();
            self.gathered.collided += ends.collided().count_ones();
            if ends.late != 0 {
                // Cut off by the clock: what would have come is what the value expects.
                self.copies.observe(&mut self.row);
                let values = net.value.forward(isa, LANES, &self.row, &mut self.scratch[1]);
                for lane in (0..LANES).filter(|lane| ends.late >> lane & 1 == 1) {
                    self.gathered.rewards[from + lane] +=
                        settings.discount * values[lane * value_stride];
                }
            }
            if over != 0 {
                for lane in (0..LANES).filter(|lane| over >> lane & 1 == 1) {
                    let has_failed = ends.success >> lane & 1 == 0;
                    self.begin(lane, if has_failed { settings.again } else { 0.0 });
                }
                self.copies.look();
            }
        }
        self.copies.observe(&mut self.row);
        let last = net.value.forward(isa, LANES, &self.row, &mut self.scratch[1]);
        let last: [f32; LANES] = std::array::from_fn(|lane| last[lane * value_stride]);
        self.gathered.estimate(settings, &last);
    }
}

/// Half of the logarithm of a whole turn: of the normal density's factor.
pub(super) const HALF_LOG_TAU: f32 = 0.918_938_5;

impl Gathered {
    /// Generalised advantage estimates (Schulman and others, 2016), from the last step back.
    fn estimate(&mut self, settings: &TrainSettings, last: &[f32; LANES]) {
        let (gamma, lambda) = (settings.discount, settings.advantage_decay);
        let mut next = *last;
        let mut advantage = [0.0_f32; LANES];
        for step in (0..self.rewards.len() / LANES).rev() {
            for lane in 0..LANES {
                let at = step * LANES + lane;
                let goes_on = if self.over[at] { 0.0 } else { 1.0 };
                let value = self.values[at];
                let surprise = self.rewards[at] + gamma * next[lane] * goes_on - value;
                advantage[lane] = surprise + gamma * lambda * goes_on * advantage[lane];
                self.advantages[at] = advantage[lane];
                self.returns[at] = advantage[lane] + value;
                next[lane] = value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advantages_are_sums_of_surprises() {
        let settings =
            TrainSettings { discount: 0.5, advantage_decay: 0.5, ..TrainSettings::default() };
        let mut gathered = Gathered {
            rewards: [[1.0; LANES], [2.0; LANES], [4.0; LANES]].concat(),
            values: vec![1.0; 3 * LANES],
            over: [[false; LANES], [true; LANES], [false; LANES]].concat(),
            advantages: vec![0.0; 3 * LANES],
            returns: vec![0.0; 3 * LANES],
            ..Gathered::default()
        };
        gathered.estimate(&settings, &[3.0; LANES]);
        // 4 + .5 * 3 - 1; 2 - 1, as nothing comes behind an end; (1 + .5 - 1) + .25 * 1.
        assert_eq!(gathered.advantages[2 * LANES], 4.5);
        assert_eq!(gathered.advantages[LANES + 3], 1.0);
        assert_eq!(gathered.advantages[5], 0.75);
        assert_eq!(gathered.returns[5], 1.75);
    }
}
