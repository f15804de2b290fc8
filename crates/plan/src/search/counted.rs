//! What a search spends: collision checks, and questions, so that every question costs something.

use std::time::{Duration, Instant};

use crate::config::Config;
use crate::motions::Motions;

/// Motions whose questions are counted.
pub(super) struct Counted<'a, M> {
    inner: &'a mut M,
    begun: u64,
    asked: u64,
    began: Instant,
}

impl<'a, M: Motions> Counted<'a, M> {
    /// Nothing spent yet.
    pub(super) fn new(inner: &'a mut M) -> Self {
        let begun = inner.checks();
        Self { inner, begun, asked: 0, began: Instant::now() }
    }

    /// More than was asked: tries that ask nothing cost something, too.
    pub(super) fn tried(&mut self, tries: usize) {
        self.asked += tries as u64;
    }

    /// Whether this much time is over.
    pub(super) fn is_late(&self, limit: Option<Duration>) -> bool {
        limit.is_some_and(|limit| self.began.elapsed() >= limit)
    }
}

impl<M: Motions> Motions for Counted<'_, M> {
    fn joints(&self) -> usize {
        self.inner.joints()
    }

    fn is_free(&mut self, at: &Config) -> bool {
        self.asked += 1;
        self.inner.is_free(at)
    }

    fn is_motion_free(&mut self, from: &Config, to: &Config) -> bool {
        self.asked += 1;
        self.inner.is_motion_free(from, to)
    }

    fn is_box_free(&mut self, at: &Config, half_width: &Config) -> bool {
        self.asked += 1;
        self.inner.is_box_free(at, half_width)
    }

    /// Checks, and questions.
    fn checks(&self) -> u64 {
        self.inner.checks().saturating_sub(self.begun) + self.asked
    }
}
