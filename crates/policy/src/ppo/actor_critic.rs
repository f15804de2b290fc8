//! A policy and its value: two networks, and one deviation per action.

use citrange_core::rng::Rng;

use super::settings::TrainSettings;
use crate::network::{Adam, Mlp};

/// What is learned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ActorCritic {
    pub(crate) policy: Mlp,
    pub(crate) value: Mlp,
    pub(crate) log_sigma: Vec<f32>,
}

impl ActorCritic {
    pub(crate) fn fresh(inputs: usize, actions: usize, settings: &TrainSettings) -> Self {
        let mut rng = Rng::for_episode(settings.seed, 0, "weights");
        let sizes = |outputs: usize| [&[inputs], settings.hidden.as_slice(), &[outputs]].concat();
        Self {
            policy: Mlp::fresh(&sizes(actions), 0.01, &mut rng),
            value: Mlp::fresh(&sizes(1), 1.0, &mut rng),
            log_sigma: vec![settings.log_sigma; actions],
        }
    }

    /// All numbers that are learned, in a fixed order.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Vec<f32>> {
        self.policy.parameters().chain(self.value.parameters()).chain([&self.log_sigma])
    }

    pub(crate) fn parameters_mut(&mut self) -> impl Iterator<Item = &mut Vec<f32>> {
        let value = self.value.parameters_mut();
        self.policy.parameters_mut().chain(value).chain([&mut self.log_sigma])
    }

    pub(crate) fn optimiser(&self) -> Adam {
        Adam::new(self.parameters().map(Vec::len))
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.parameters().all(|numbers| numbers.iter().all(|n| n.is_finite()))
    }
}
