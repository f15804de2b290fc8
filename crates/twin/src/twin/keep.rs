//! What is kept of a goal: ways, times, causes, and how it ended.

use super::Twin;
use super::ways::distance;
use crate::cause::Cause;

/// A way shorter than this is noise of the joints, rad.
const NOISE_RAD: f64 = 1e-4;

impl Twin {
    /// Adds up ways and times of the goal that is gone to.
    pub(super) fn measure(&mut self) {
        let tick_s = 1.0 / f64::from(self.settings.embedded.joints_hz.max(1));
        let is_moving = self.state().moves();
        let joints = self.mirror.pos().to_vec();
        let tool = self.tool_at(&joints).ok();
        let rate = self.flight.as_ref().map_or(1.0, |flight| flight.rate);
        let Some(tally) = self.goal.as_mut().filter(|_| is_moving) else { return };
        tally.moving_s += tick_s;
        if rate < 1.0 {
            tally.slowed_s += tick_s;
        }
        let moved: f64 = joints.iter().zip(&tally.joints_at).map(|(a, b)| (a - b).abs()).sum();
        if moved > NOISE_RAD || tally.joints_at.is_empty() {
            tally.joints_rad += moved;
            if let (Some(now), Some(last)) = (tool, tally.tool_at_m) {
                tally.tool_m += distance(now, last);
            }
            (tally.joints_at, tally.tool_at_m) = (joints, tool);
        }
    }

    /// Counts what stopped or slowed the arm.
    pub(super) fn count(&mut self, why: &Cause) {
        if let Some(tally) = &mut self.goal {
            *tally.causes.entry(why.code()).or_default() += 1;
        }
    }

    /// The goal is over.
    pub(super) fn land(&mut self, why: &Cause, reached: bool) {
        let Some(tally) = self.goal.take() else { return };
        let number = self.results.len();
        let result = tally.ended(number, why, reached, self.now_ns, self.mirror.pos());
        tracing::info!(goal = result.goal, reached, words = result.words, "goal");
        self.results.push(result);
    }
}
