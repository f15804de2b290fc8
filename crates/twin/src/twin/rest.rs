//! States in which the arm stands: what must come in, the next goal.

use citrange_core::Notes;

use super::{STILL_RAD_S, STILL_S, Twin, wait_of};
use crate::cause::Cause;
use crate::results::GoalTally;
use crate::state::State;

impl Twin {
    pub(super) fn offline(&mut self, notes: &mut Notes) {
        if !self.mirror.pos().is_empty() {
            self.go(State::Syncing, Cause::LinkUp, notes);
        }
    }

    /// What must come in before anything moves, and does not.
    pub(super) fn missing(&self) -> Option<String> {
        let guard = &self.settings.guard;
        if let Some(wrong) = self.mirror.wrong() {
            return Some(format!("joints that can be: {}", wrong.words()));
        }
        let joints_s = self.mirror.age_s(self.now_ns);
        if joints_s > guard.joints_stop_s {
            return Some(format!("joints, silent for {joints_s:.1} s"));
        }
        if !self.driver.is_ready() {
            return Some("the robot: its program does not run, or it was stopped".to_owned());
        }
        if self.driver.scale() <= 0.0 {
            return Some("the robot's speed slider, which is at 0".to_owned());
        }
        if let Some(camera) = self.eyes.missing() {
            return Some(format!("three pictures of {camera}"));
        }
        if let Some(moved) = self.eyes.moved() {
            return Some(format!("a camera that stands where it did: {}", moved.words()));
        }
        if let Some(blind) = self.eyes.blind() {
            return Some(format!("a camera that sees: {}", blind.words()));
        }
        let (map_s, camera) = self.eyes.age_s(self.now_ns);
        if map_s > guard.map_stop_s {
            return Some(format!("pictures of {camera}, silent for {map_s:.1} s"));
        }
        if self.flight.is_none()
            && let Some(id) = self.driver.running()
        {
            return Some(format!("the end of motion {id}, which somebody else has sent"));
        }
        None
    }

    pub(super) fn syncing(&mut self, notes: &mut Notes) {
        if self.missing().is_none() {
            self.go(State::Ready, Cause::StreamsComplete, notes);
        }
    }

    pub(super) fn ready(&mut self, notes: &mut Notes) {
        if let Some(wait_s) = self.goal.as_ref().and_then(|tally| wait_of(&tally.goal)) {
            let begun_ns = self.goal.as_ref().map_or(0, |tally| tally.begun_ns);
            if self.now_ns.saturating_sub(begun_ns) as f64 * 1e-9 >= wait_s {
                self.land(&Cause::Wait { wait_s }, true);
            }
            return;
        }
        if let Some(what) = self.missing() {
            self.go(State::Syncing, Cause::Missing { what }, notes);
            return;
        }
        if self.goal.is_some() {
            return;
        }
        let Some(goal) = self.goals.pop_front() else { return };
        let text = goal.text.clone();
        let is_wait = wait_of(&goal).is_some();
        self.goal = Some(GoalTally::new(goal, self.now_ns));
        self.way = None;
        self.confirmed = false;
        if !is_wait {
            self.go(State::Checking, Cause::GoalGiven { goal: text }, notes);
        }
    }

    /// Notes since when the arm stands still.
    pub(super) fn note_rest(&mut self) {
        let is_still = self.mirror.speed_rad_s() < STILL_RAD_S;
        self.still_since_ns = match (is_still, self.still_since_ns) {
            (false, _) => None,
            (true, None) => Some(self.now_ns),
            (true, since) => since,
        };
    }

    /// Whether the arm has been standing still for long enough, as far as is known.
    pub(super) fn is_at_rest(&self) -> bool {
        let since = self.still_since_ns;
        since.is_some_and(|since| self.now_ns.saturating_sub(since) as f64 * 1e-9 >= STILL_S)
    }
}
