//! What a collection has so far.

use std::collections::BTreeMap;

use citrange_core::Outcome;

use super::goal::EpisodeOutcome;

/// Reasons that are named, the most frequent first.
const REASONS_SHOWN: usize = 3;

/// Counts of episodes.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    saved: BTreeMap<EpisodeOutcome, u64>,
    /// Of everything that was not a success, saved or not: why.
    reasons: BTreeMap<String, u64>,
    /// Made, but beyond a quota.
    pub left_out: u64,
    /// Could not be made.
    pub faults: u64,
    /// Frames made by this process.
    pub frames: u64,
}

impl Tally {
    /// An episode that an earlier start of the run saved.
    pub fn found(&mut self, outcome: &Outcome) {
        *self.saved.entry(EpisodeOutcome::of(outcome)).or_default() += 1;
        self.reason(outcome);
    }

    /// An episode was saved.
    pub fn save(&mut self, outcome: &Outcome, frames: u64) {
        self.found(outcome);
        self.frames += frames;
    }

    /// An episode was made, but is not wanted.
    pub fn leave_out(&mut self, outcome: &Outcome, frames: u64) {
        self.left_out += 1;
        self.frames += frames;
        self.reason(outcome);
    }

    fn reason(&mut self, outcome: &Outcome) {
        if outcome.success != Some(true) {
            *self.reasons.entry(outcome.reason.clone()).or_default() += 1;
        }
    }

    /// Episodes saved with an outcome.
    #[must_use]
    pub fn of(&self, kind: EpisodeOutcome) -> u64 {
        self.saved.get(&kind).copied().unwrap_or(0)
    }

    /// Episodes saved.
    #[must_use]
    pub fn saved(&self) -> u64 {
        self.saved.values().sum()
    }

    /// Why episodes were no success, and how often.
    #[must_use]
    pub fn reasons(&self) -> &BTreeMap<String, u64> {
        &self.reasons
    }

    /// What there is, in words: successes among the judged and the most frequent reasons.
    #[must_use]
    pub fn words(&self) -> String {
        let (good, bad) = (self.of(EpisodeOutcome::Success), self.of(EpisodeOutcome::Failure));
        let mut words = Vec::new();
        if good + bad > 0 {
            words.push(format!("{:.1} % success", 100.0 * good as f64 / (good + bad) as f64));
        }
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let most = reasons.into_iter().take(REASONS_SHOWN);
        words.extend(most.map(|(why, count)| format!("{why} {count}")));
        if self.left_out > 0 {
            words.push(format!("{} beyond the quota", self.left_out));
        }
        if self.faults > 0 {
            words.push(format!("{} could not be made", self.faults));
        }
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_the_rate_and_the_most_frequent_reasons() {
        let mut tally = Tally::default();
        let end = |success, reason: &str| Outcome { success, reason: reason.into() };
        tally.save(&end(Some(true), "placed"), 100);
        for (why, count) in [("slip", 2), ("grasp_missed", 5), ("ik", 1), ("time_up", 3)] {
            (0..count).for_each(|_| tally.save(&end(Some(false), why), 10));
        }
        assert_eq!(tally.words(), "8.3 % success, grasp_missed 5, time_up 3, slip 2");
        assert_eq!((tally.saved(), tally.frames), (12, 210));
    }
}
