//! Gradients of a minibatch in blocks of fixed size, summed in a fixed order.

use citrange_lanes::Isa;
use rayon::prelude::*;

use super::actor_critic::ActorCritic;
use super::actors::{Actors, Gathered, HALF_LOG_TAU};
use super::settings::{BLOCK, TrainSettings};
use crate::network::{Adam, Backward, MlpGradient, MlpScratch, Transposed};

/// Samples that go through the networks at once: what a block's layers need then stays in the
/// cache.
const PART: usize = 128;

/// Memory of all tasks.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    blocks: Vec<BlockWork>,
    transposed: [Transposed; 2],
}

impl Workspace {
    /// For minibatches of a size.
    pub(crate) fn new(net: &ActorCritic, minibatch: usize) -> Self {
        let blocks = (0..minibatch.div_ceil(BLOCK)).map(|_| BlockWork::new(net)).collect();
        Self { blocks, transposed: Default::default() }
    }
}

/// What one task needs and makes.
#[derive(Clone, Debug)]
struct BlockWork {
    policy: MlpGradient,
    value: MlpGradient,
    log_sigma: Vec<f32>,
    inputs: Vec<f32>,
    out_grad: [Vec<f32>; 2],
    scratch: [MlpScratch; 2],
    backward: [Backward; 2],
    tally: Tally,
}

/// Sums over samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) divergence: f64,
    pub(crate) clipped: f64,
    pub(crate) value_loss: f64,
    pub(crate) samples: f64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.divergence += other.divergence;
        self.clipped += other.clipped;
        self.value_loss += other.value_loss;
        self.samples += other.samples;
    }
}

impl BlockWork {
    fn new(net: &ActorCritic) -> Self {
        Self {
            policy: net.policy.no_gradient(),
            value: net.value.no_gradient(),
            log_sigma: vec![0.0; net.log_sigma.len()],
            inputs: Vec::new(),
            out_grad: Default::default(),
            scratch: Default::default(),
            backward: Default::default(),
            tally: Tally::default(),
        }
    }

    /// Sums the gradients of some samples; `mean` and `scale` normalise advantages.
    fn run(
        &mut self,
        net: &ActorCritic,
        actors: &[Actors],
        samples: &[u32],
        batch: &Batch<'_>,
        isa: Isa,
    ) {
        self.policy.clear();
        self.value.clear();
        self.log_sigma.fill(0.0);
        self.tally = Tally::default();
        for part in samples.chunks(PART) {
            self.part(net, actors, part, batch, isa);
        }
    }

    fn part(
        &mut self,
        net: &ActorCritic,
        actors: &[Actors],
        samples: &[u32],
        batch: &Batch<'_>,
        isa: Isa,
    ) {
        let (inputs, count) = (net.policy.inputs(), net.log_sigma.len());
        self.inputs.clear();
        for sample in samples {
            let (gathered, at) = batch.find(actors, *sample);
            self.inputs.extend_from_slice(&gathered.inputs[at * inputs..(at + 1) * inputs]);
        }
        let [policy_grad, value_grad] = &mut self.out_grad;
        let (policy_stride, value_stride) = (net.policy.stride(), net.value.stride());
        policy_grad.clear();
        policy_grad.resize(samples.len() * policy_stride, 0.0);
        value_grad.clear();
        value_grad.resize(samples.len() * value_stride, 0.0);
        let [first, second] = &mut self.scratch;
        let means = net.policy.forward(isa, samples.len(), &self.inputs, first);
        let values = net.value.forward(isa, samples.len(), &self.inputs, second);
        let share = 1.0 / batch.size as f32;
        let constant: f32 = net.log_sigma.iter().map(|log| log + HALF_LOG_TAU).sum();
        for (row, sample) in samples.iter().enumerate() {
            let (gathered, at) = batch.find(actors, *sample);
            let actions = &gathered.actions[at * count..(at + 1) * count];
            let mean = &means[row * policy_stride..][..count];
            let mut squares = 0.0;
            for action in 0..count {
                let off = (actions[action] - mean[action]) * batch.inverse_sigma[action];
                squares += off * off;
            }
            let change = -0.5 * squares - constant - gathered.log_probability[at];
            let ratio = change.exp();
            let advantage = (gathered.advantages[at] - batch.mean) * batch.scale;
            let is_clipped =
                if advantage >= 0.0 { ratio > 1.0 + batch.clip } else { ratio < 1.0 - batch.clip };
            // Of the negative logarithm of the probability.
            let slope = if is_clipped { 0.0 } else { -advantage * ratio * share };
            for action in 0..count {
                let inverse = batch.inverse_sigma[action];
                let off = (actions[action] - mean[action]) * inverse;
                policy_grad[row * policy_stride + action] = slope * off * inverse;
                self.log_sigma[action] += slope * (off * off - 1.0);
            }
            let miss = values[row * value_stride] - gathered.returns[at];
            value_grad[row * value_stride] = 2.0 * batch.value_weight * miss * share;
            self.tally.divergence += f64::from(ratio - 1.0 - change);
            self.tally.clipped += if (ratio - 1.0).abs() > batch.clip { 1.0 } else { 0.0 };
            self.tally.value_loss += f64::from(miss * miss);
            self.tally.samples += 1.0;
        }
        let [policy, value] = &mut self.backward;
        let [turned_policy, turned_value] = batch.transposed;
        let seen = (samples.len(), self.inputs.as_slice());
        let memory = (turned_policy, policy);
        net.policy.backward(isa, seen, first, policy_grad, memory, &mut self.policy);
        let memory = (turned_value, value);
        net.value.backward(isa, seen, second, value_grad, memory, &mut self.value);
    }

    fn add(&mut self, other: &Self) {
        self.policy.add(&other.policy);
        self.value.add(&other.value);
        self.log_sigma.iter_mut().zip(&other.log_sigma).for_each(|(a, b)| *a += b);
        self.tally.add(&other.tally);
    }
}

/// What all samples of a minibatch share.
struct Batch<'a> {
    size: usize,
    per_actors: usize,
    mean: f32,
    scale: f32,
    clip: f32,
    value_weight: f32,
    inverse_sigma: &'a [f32],
    transposed: &'a [Transposed; 2],
}

impl Batch<'_> {
    fn find<'a>(&self, actors: &'a [Actors], sample: u32) -> (&'a Gathered, usize) {
        let sample = sample as usize;
        (&actors[sample / self.per_actors].gathered, sample % self.per_actors)
    }
}

/// One step of the optimiser with the samples of a minibatch. Answers its sums and the length of
/// the gradient.
pub(crate) fn step(
    net: &mut ActorCritic,
    adam: &mut Adam,
    actors: &[Actors],
    samples: &[u32],
    workspace: &mut Workspace,
    settings: &TrainSettings,
    (rate, isa): (f64, Isa),
) -> (Tally, f64) {
    let per_actors = settings.rollout_steps * citrange_lanes::LANES;
    let advantage = |sample: &u32| {
        let sample = *sample as usize;
        f64::from(actors[sample / per_actors].gathered.advantages[sample % per_actors])
    };
    let count = samples.len() as f64;
    let mean = samples.iter().map(advantage).sum::<f64>() / count;
    let spread = samples.iter().map(|s| (advantage(s) - mean).powi(2)).sum::<f64>();
    let spread = (spread / (count - 1.0).max(1.0)).sqrt();
    let inverse_sigma: Vec<f32> = net.log_sigma.iter().map(|log| (-log).exp()).collect();
    let Workspace { blocks: work, transposed } = workspace;
    net.policy.transpose(&mut transposed[0]);
    net.value.transpose(&mut transposed[1]);
    let batch = Batch {
        transposed,
        size: samples.len(),
        per_actors,
        mean: mean as f32,
        scale: (1.0 / (spread + 1e-8)) as f32,
        clip: settings.clip,
        value_weight: settings.value_weight,
        inverse_sigma: &inverse_sigma,
    };
    let shared = &*net;
    let blocks = samples.chunks(BLOCK).count().min(work.len());
    let tasks = work[..blocks].par_iter_mut().zip(samples.par_chunks(BLOCK));
    tasks.for_each(|(work, samples)| work.run(shared, actors, samples, &batch, isa));
    // One after the other: sums do not depend on which task was done first.
    let Some((total, rest)) = work[..blocks].split_first_mut() else {
        return (Tally::default(), 0.0);
    };
    rest.iter().for_each(|other| total.add(other));
    total.log_sigma.iter_mut().for_each(|g| *g -= settings.entropy_weight);
    let parts = || total.policy.parts().chain(total.value.parts()).chain([&total.log_sigma]);
    let length = parts().flatten().map(|g| f64::from(*g) * f64::from(*g)).sum::<f64>().sqrt();
    let shorten = (f64::from(settings.max_gradient) / (length + 1e-6)).min(1.0) as f32;
    if length.is_finite() {
        adam.step(net.parameters_mut(), parts(), shorten, rate);
    }
    (total.tally, length)
}
