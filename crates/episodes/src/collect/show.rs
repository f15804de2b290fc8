//! What a collection tells while it runs and when it is over.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::goal::{EpisodeOutcome, Goal};
use super::tally::Tally;
use crate::context::{Progress, RunContext};
use crate::error::Result;

pub(crate) struct Show<'a> {
    pub(crate) ctx: RunContext<'a>,
    bar: Arc<dyn Progress>,
    begun: Instant,
    frame_hz: u32,
    /// Episodes that were there before.
    before: u64,
}

impl<'a> Show<'a> {
    pub(crate) fn new(ctx: RunContext<'a>, frame_hz: u32, goal: &Goal, tally: &Tally) -> Self {
        let (wanted, there) = goal.progress(tally);
        let bar = ctx.progress("collecting", wanted);
        bar.set(there);
        Self { ctx, bar, begun: Instant::now(), frame_hz, before: tally.saved() }
    }

    /// Something that happened. For people a bar that is seen says it all, unless it is important.
    pub(crate) fn tell(&self, event: &Value, words: &str, important: bool) -> Result<()> {
        if !self.bar.is_seen() {
            self.ctx.tell(event, words)?;
        } else {
            self.ctx.tell(event, "")?;
            if important {
                self.bar.say(words);
            }
        }
        Ok(())
    }

    /// Moves the bar.
    pub(crate) fn progress(&self, goal: &Goal, tally: &Tally) {
        let wall_s = self.begun.elapsed().as_secs_f64().max(1e-9);
        let per_min = 60.0 * (tally.saved() - self.before + tally.left_out) as f64 / wall_s;
        let times = self.sim_s(tally) / wall_s;
        let words = tally.words();
        self.bar.rename(format!("{per_min:.0}/min, {times:.1} x real time, {words}"));
        self.bar.set(goal.progress(tally).1);
    }

    fn sim_s(&self, tally: &Tally) -> f64 {
        tally.frames as f64 / f64::from(self.frame_hz)
    }

    /// The last words.
    pub(crate) fn done(&self, tally: &Tally) -> Result<()> {
        self.bar.finish();
        let wall_s = self.begun.elapsed().as_secs_f64();
        let sim_s = self.sim_s(tally);
        let times = sim_s / wall_s.max(1e-9);
        let event = json!({
            "event": "done", "episodes": tally.saved(), "success": tally.of(EpisodeOutcome::Success),
            "failure": tally.of(EpisodeOutcome::Failure), "unjudged": tally.of(EpisodeOutcome::Unjudged),
            "left_out": tally.left_out, "faults": tally.faults, "reasons": tally.reasons(),
            "wall_s": wall_s, "sim_s": sim_s, "times_real_time": times,
        });
        let new = tally.saved() - self.before;
        let before = match self.before {
            0 => String::new(),
            there => format!(" ({there} were there)"),
        };
        let words = format!(
            "{new} episodes{before}: {}; {sim_s:.0} s of simulation in {wall_s:.1} s, \
             {times:.1} x real time",
            tally.words()
        );
        Ok(self.ctx.tell(&event, &words)?)
    }
}
