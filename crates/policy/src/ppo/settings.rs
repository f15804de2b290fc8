//! Every number of the training.

use serde::{Deserialize, Serialize};

use crate::env::{ReachSettings, Rung};
use crate::error::PolicyError;

/// How a policy is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrainSettings {
    /// Decides everything random.
    pub seed: u64,
    /// Steps of all environments together until the training is done.
    pub total_steps: u64,
    /// Copies of the arm; a multiple of 16.
    pub environments: usize,
    /// Steps of each before the policy is changed.
    pub rollout_steps: usize,
    /// Samples of one step of the optimiser; a multiple of 256.
    pub minibatch: usize,
    /// How often each sample is used.
    pub epochs: usize,
    /// Discount per step.
    pub discount: f32,
    /// Decay of the generalised advantage estimate.
    pub advantage_decay: f32,
    /// How far the ratio of probabilities may leave 1.
    pub clip: f32,
    /// Weight of the value's loss.
    pub value_weight: f32,
    /// Weight of the entropy.
    pub entropy_weight: f32,
    /// Gradients longer than this are shortened.
    pub max_gradient: f32,
    /// Learning rate at the beginning.
    pub learning_rate: f64,
    /// Its share that is left at the end; it falls in a straight line.
    pub final_rate: f64,
    /// Sizes of the hidden layers of policy and value.
    pub hidden: Vec<usize>,
    /// Logarithm of the standard deviation of actions at the beginning.
    pub log_sigma: f32,
    /// How often an episode that failed is tried again: what is hard is met more often.
    pub again: f64,
    /// Iterations from one evaluation to the next.
    pub evaluate_every: u64,
    /// Episodes of an evaluation, which training never draws.
    pub evaluation_episodes: usize,
}

impl Default for TrainSettings {
    fn default() -> Self {
        Self {
            seed: 1,
            total_steps: 4_000_000,
            environments: 256,
            rollout_steps: 32,
            minibatch: 2048,
            epochs: 4,
            discount: 0.98,
            advantage_decay: 0.95,
            clip: 0.2,
            value_weight: 0.5,
            entropy_weight: 0.0,
            max_gradient: 0.5,
            learning_rate: 5e-4,
            final_rate: 0.1,
            hidden: vec![128, 128],
            log_sigma: -0.5,
            again: 0.7,
            evaluate_every: 25,
            evaluation_episodes: 1024,
        }
    }
}

/// A file of settings, as people write it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrainFile {
    /// The environment.
    pub reach: ReachSettings,
    /// The training.
    pub train: TrainSettings,
}

impl TrainFile {
    /// The settings of a rung, with as many steps as suit it.
    #[must_use]
    pub fn of(rung: Rung) -> Self {
        let total_steps = match rung {
            Rung::A => 5_000_000,
            Rung::B | Rung::E => 20_000_000,
            Rung::C | Rung::Mixed => 30_000_000,
        };
        Self {
            reach: ReachSettings { world: rung.training(), ..ReachSettings::default() },
            train: TrainSettings { total_steps, ..TrainSettings::default() },
        }
    }
}

/// Samples whose gradients are summed by one task.
pub(crate) const BLOCK: usize = 256;

impl TrainSettings {
    /// Steps of one iteration.
    #[must_use]
    pub fn iteration_steps(&self) -> u64 {
        (self.environments * self.rollout_steps) as u64
    }

    /// How many iterations there are.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        self.total_steps.div_ceil(self.iteration_steps().max(1))
    }

    /// Whether the numbers make sense.
    ///
    /// # Errors
    /// Names the first that does not.
    pub fn check(&self) -> Result<(), PolicyError> {
        let bad = |name: &str, reason: String| Err(PolicyError::bad(name, reason));
        if self.environments == 0
            || !self.environments.is_multiple_of(16)
            || self.environments > 1 << 16
        {
            let reason = format!("{}: a multiple of 16 is right, such as 256", self.environments);
            return bad("environments", reason);
        }
        let samples = self.environments * self.rollout_steps;
        let fits = self.minibatch > 0
            && self.minibatch.is_multiple_of(BLOCK)
            && samples.is_multiple_of(self.minibatch)
            && samples <= 1 << 22;
        if !fits {
            let reason = format!(
                "{}: a multiple of {BLOCK} that divides environments x rollout_steps, {samples}, \
                 is right",
                self.minibatch
            );
            return bad("minibatch", reason);
        }
        let shares = [
            ("discount", self.discount),
            ("advantage_decay", self.advantage_decay),
            ("clip", self.clip),
        ];
        for (name, share) in shares {
            if !(0.0..=1.0).contains(&share) {
                return bad(name, format!("{share} is not between 0 and 1"));
            }
        }
        if !(0.0..=0.99).contains(&self.again) {
            return bad("again", format!("{} is not between 0 and 0.99", self.again));
        }
        if !(self.learning_rate > 0.0 && self.learning_rate < 1.0) {
            return bad("learning_rate", format!("{}: such as 0.0005", self.learning_rate));
        }
        if !(0.0..=1.0).contains(&self.final_rate) {
            return bad("final_rate", format!("{} is not between 0 and 1", self.final_rate));
        }
        if self.hidden.is_empty() || self.hidden.iter().any(|n| *n == 0 || *n > 4096) {
            return bad("hidden", format!("{:?}: such as [128, 128]", self.hidden));
        }
        let rest = [self.value_weight, self.entropy_weight, self.max_gradient];
        if rest.iter().any(|n| !(n.is_finite() && *n >= 0.0)) || !self.log_sigma.is_finite() {
            return bad("weights", "they must be numbers from 0 on".to_owned());
        }
        if self.epochs == 0 || self.evaluate_every == 0 || self.evaluation_episodes == 0 {
            return bad(
                "epochs, evaluate_every, evaluation_episodes",
                "they must be above 0".to_owned(),
            );
        }
        Ok(())
    }
}
