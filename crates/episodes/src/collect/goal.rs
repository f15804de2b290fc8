//! When a collection is complete, and which episodes it keeps.

use std::collections::BTreeMap;

use citrange_core::Outcome;

use super::tally::Tally;

/// Episodes made at most for every one that a quota asks for, unless the user says otherwise.
const TRIES_PER_WANTED: u64 = 10;

/// What became of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EpisodeOutcome {
    /// The task was done.
    Success,
    /// It was not.
    Failure,
    /// Nobody judged it.
    Unjudged,
}

impl EpisodeOutcome {
    /// Of an episode that ended.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        match outcome.success {
            Some(true) => Self::Success,
            Some(false) => Self::Failure,
            None => Self::Unjudged,
        }
    }
}

/// How many episodes of a kind are wanted: `success=200`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    kind: EpisodeOutcome,
    episodes: u64,
}

impl Quota {
    /// So many successes.
    #[must_use]
    pub fn successes(episodes: u64) -> Self {
        Self { kind: EpisodeOutcome::Success, episodes }
    }
}

impl std::str::FromStr for Quota {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is no quota; give for example success=200,failure=50");
        let (kind, episodes) = text.split_once('=').ok_or_else(wrong)?;
        let kind = match kind {
            "success" => EpisodeOutcome::Success,
            "failure" => EpisodeOutcome::Failure,
            "unjudged" => EpisodeOutcome::Unjudged,
            _ => {
                return Err(format!("\"{kind}\" is no outcome; use success, failure or unjudged"));
            }
        };
        Ok(Self { kind, episodes: episodes.parse().map_err(|_| wrong())? })
    }
}

/// What a collection is to have in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    wanted: Wanted,
    /// Episodes made at most, kept or not.
    max_episodes: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Episodes(u64),
    /// Kinds without a quota are kept as they come.
    Quotas(BTreeMap<EpisodeOutcome, u64>),
}

impl Goal {
    /// So many episodes, of whatever outcome.
    #[must_use]
    pub fn episodes(count: u64, max_episodes: Option<u64>) -> Self {
        Self { wanted: Wanted::Episodes(count), max_episodes }
    }

    /// So many of some outcomes.
    #[must_use]
    pub fn quotas(quotas: &[Quota], max_episodes: Option<u64>) -> Self {
        let quotas: BTreeMap<EpisodeOutcome, u64> =
            quotas.iter().map(|q| (q.kind, q.episodes)).collect();
        let sum: u64 = quotas.values().sum();
        let max_episodes = max_episodes.or(Some(sum.saturating_mul(TRIES_PER_WANTED)));
        Self { wanted: Wanted::Quotas(quotas), max_episodes }
    }

    /// Whether an episode that ended like this is to be saved.
    #[must_use]
    pub fn wants(&self, tally: &Tally, outcome: &Outcome) -> bool {
        match &self.wanted {
            Wanted::Episodes(count) => tally.saved() < *count,
            Wanted::Quotas(quotas) => {
                let kind = EpisodeOutcome::of(outcome);
                quotas.get(&kind).is_none_or(|quota| tally.of(kind) < *quota)
            }
        }
    }

    /// Whether everything that is wanted is there.
    #[must_use]
    pub fn is_reached(&self, tally: &Tally) -> bool {
        match &self.wanted {
            Wanted::Episodes(count) => tally.saved() >= *count,
            Wanted::Quotas(quotas) => quotas.iter().all(|(kind, quota)| tally.of(*kind) >= *quota),
        }
    }

    /// How many more episodes may be made now, when `made` were made so far: none that can be
    /// known not to be wanted.
    #[must_use]
    pub fn may_make(&self, tally: &Tally, made: u64) -> u64 {
        if self.is_reached(tally) {
            return 0;
        }
        let missing = match &self.wanted {
            Wanted::Episodes(count) => count - tally.saved(),
            Wanted::Quotas(_) => u64::MAX,
        };
        missing.min(self.max_episodes.map_or(u64::MAX, |max| max.saturating_sub(made)))
    }

    /// Episodes that are wanted, and how many of them are there.
    #[must_use]
    pub fn progress(&self, tally: &Tally) -> (u64, u64) {
        match &self.wanted {
            Wanted::Episodes(count) => (*count, tally.saved()),
            Wanted::Quotas(quotas) => {
                let there = quotas.iter().map(|(kind, quota)| tally.of(*kind).min(*quota));
                (quotas.values().sum(), there.sum())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(success: Option<bool>) -> Outcome {
        Outcome { success, reason: "test".into() }
    }

    #[test]
    fn quotas_are_read_and_wrong_ones_named() {
        let quota: Quota = "failure=50".parse().unwrap();
        assert_eq!(quota, Quota { kind: EpisodeOutcome::Failure, episodes: 50 });
        for (text, part) in [("failed=5", "failed"), ("success", "success=200"), ("success=x", "x")]
        {
            let said = text.parse::<Quota>().unwrap_err();
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn a_full_quota_takes_no_more_and_others_go_on() {
        let quotas = ["success=2".parse().unwrap(), "failure=1".parse().unwrap()];
        let goal = Goal::quotas(&quotas, None);
        let mut tally = Tally::default();
        let (good, bad) = (outcome(Some(true)), outcome(Some(false)));
        for _ in 0..2 {
            assert!(goal.wants(&tally, &good) && !goal.is_reached(&tally));
            tally.save(&good, 10);
        }
        assert!(!goal.wants(&tally, &good) && goal.wants(&tally, &bad));
        assert_eq!((goal.may_make(&tally, 2), goal.progress(&tally)), (28, (3, 2)));
        // Nobody asked for a limit of these.
        assert!(goal.wants(&tally, &outcome(None)));
        tally.save(&bad, 10);
        assert!(goal.is_reached(&tally) && !goal.wants(&tally, &bad));
        assert_eq!(goal.may_make(&tally, 3), 0);
    }

    #[test]
    fn no_more_episodes_are_made_than_are_missing() {
        let goal = Goal::episodes(3, Some(4));
        let mut tally = Tally::default();
        assert_eq!(goal.may_make(&tally, 0), 3);
        tally.save(&outcome(None), 1);
        assert_eq!((goal.may_make(&tally, 1), goal.may_make(&tally, 3)), (2, 1));
        assert_eq!(goal.may_make(&tally, 4), 0);
    }
}
