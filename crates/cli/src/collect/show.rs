//! What a collection tells while it runs and when it is over.

use std::time::Instant;

use indicatif::ProgressBar;
use serde_json::json;

use super::goal::{Goal, Kind};
use super::tally::Tally;
use crate::output;

pub(crate) struct Show {
    json: bool,
    bar: ProgressBar,
    begun: Instant,
    frame_hz: u32,
    /// Episodes that were there before.
    before: u64,
}

impl Show {
    pub(crate) fn new(json: bool, frame_hz: u32, goal: &Goal, tally: &Tally) -> Self {
        let (wanted, there) = goal.progress(tally);
        let bar = output::progress("collecting", wanted);
        bar.set_position(there);
        Self { json, bar, begun: Instant::now(), frame_hz, before: tally.saved() }
    }

    /// An event for machines.
    pub(crate) fn event(&self, line: &serde_json::Value) -> anyhow::Result<()> {
        if self.json { output::data(&line.to_string()) } else { Ok(()) }
    }

    /// A line for people. A bar that is seen says it all, unless it is important.
    pub(crate) fn line(&self, line: &str, important: bool) {
        if self.json {
            return;
        }
        if self.bar.is_hidden() {
            output::talk(line);
        } else if important {
            self.bar.suspend(|| output::talk(line));
        }
    }

    /// Moves the bar.
    pub(crate) fn progress(&self, goal: &Goal, tally: &Tally) {
        let wall_s = self.begun.elapsed().as_secs_f64().max(1e-9);
        let per_min = 60.0 * (tally.saved() - self.before + tally.left_out) as f64 / wall_s;
        let times = self.sim_s(tally) / wall_s;
        let words = tally.words();
        self.bar.set_message(format!("{per_min:.0}/min, {times:.1} x real time, {words}"));
        self.bar.set_position(goal.progress(tally).1);
    }

    fn sim_s(&self, tally: &Tally) -> f64 {
        tally.frames as f64 / f64::from(self.frame_hz)
    }

    /// The last words.
    pub(crate) fn done(&self, tally: &Tally) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        let wall_s = self.begun.elapsed().as_secs_f64();
        let sim_s = self.sim_s(tally);
        let times = sim_s / wall_s.max(1e-9);
        self.event(&json!({
            "event": "done", "episodes": tally.saved(), "success": tally.of(Kind::Success),
            "failure": tally.of(Kind::Failure), "unjudged": tally.of(Kind::Unjudged),
            "left_out": tally.left_out, "faults": tally.faults, "reasons": tally.reasons(),
            "wall_s": wall_s, "sim_s": sim_s, "times_real_time": times,
        }))?;
        let new = tally.saved() - self.before;
        let before = match self.before {
            0 => String::new(),
            there => format!(" ({there} were there)"),
        };
        if !self.json {
            output::talk(&format!(
                "{new} episodes{before}: {}; {sim_s:.0} s of simulation in {wall_s:.1} s, \
                 {times:.1} x real time",
                tally.words()
            ));
        }
        Ok(())
    }
}
