//! How much `citrange plan` spends on a path.

use std::time::Duration;

use citrange_plan::Effort;

#[derive(Clone, Debug, clap::Args)]
pub(super) struct EffortArgs {
    /// Collision checks that are spent on a better path than the first; 0 takes the first. The
    /// same seed gives the same path everywhere. About 2 ms if it is not given.
    #[arg(long, value_name = "N", conflicts_with = "budget_ms")]
    checks: Option<u64>,
    /// Milliseconds that are spent on a better path instead. The path is another one on every
    /// machine, and every time.
    #[arg(long, value_name = "MS")]
    budget_ms: Option<u64>,
    /// The same as so many times the usual --checks.
    #[arg(long, hide = true, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Most milliseconds until a first path is found. A search also ends after as many collision
    /// checks as a second or two have, on every machine alike.
    #[arg(long, value_name = "MS")]
    time_ms: Option<u32>,
}

impl EffortArgs {
    pub(super) fn effort(&self) -> Effort {
        if let Some(ms) = self.budget_ms {
            return Effort { checks: u64::MAX, time_limit: Some(Duration::from_millis(ms)) };
        }
        let rounds = u64::from(self.rounds.unwrap_or(1));
        let checks = self.checks.unwrap_or(rounds.saturating_mul(Effort::DEFAULT_CHECKS));
        Effort { checks, time_limit: None }
    }

    pub(super) fn time_limit(&self) -> Option<Duration> {
        self.time_ms.map(|ms| Duration::from_millis(ms.into()))
    }
}
