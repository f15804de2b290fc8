//! What a session of driving was like, in numbers and in words.

use citrange_sim::priority::Lead;
use serde::Serialize;

use super::session::Drive;

/// More late ticks than this fraction are worth a word.
const MANY_LATE: f64 = 0.01;

/// What a session was like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriveReport {
    /// Episodes saved.
    pub saved: u64,
    /// Episodes thrown away.
    pub discarded: u64,
    /// How long the arm was driven.
    pub seconds: f64,
    /// Control ticks.
    pub ticks: u64,
    /// Of these, late ones.
    pub late_ticks: u64,
    /// How often the loop stalled.
    pub stalls: u64,
    /// The latest start of a tick.
    pub worst_late_ms: f64,
    /// Pictures of a dataset that were dropped.
    pub dropped_pictures: u64,
    /// Pictures that were drawn.
    pub drawn_pictures: u64,
    /// What the system gave to the loop: see [`Lead::name`].
    pub loop_priority: &'static str,
}

impl Drive<'_> {
    /// What it was like so far, with what the system gave to its loop.
    #[must_use]
    pub fn report(&self, lead: Lead) -> DriveReport {
        let tally = self.tally();
        DriveReport {
            saved: tally.saved,
            discarded: tally.discarded,
            seconds: self.driven_s(),
            ticks: tally.ticks,
            late_ticks: tally.late_ticks,
            stalls: tally.stalls,
            worst_late_ms: 1e3 * tally.worst_late.as_secs_f64(),
            dropped_pictures: tally.dropped,
            drawn_pictures: self.board().read(|live| live.session.drawn),
            loop_priority: lead.name(),
        }
    }
}

impl DriveReport {
    /// In words, with a cure where the loop was often late.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let Self { seconds, late_ticks, ticks, worst_late_ms, stalls, .. } = self;
        let mut lines = vec![format!(
            "drove {seconds:.0} s: {late_ticks} of {ticks} ticks late (worst {worst_late_ms:.1} \
             ms), {stalls} stalls, {} pictures dropped, {} episodes saved, {} thrown away",
            self.dropped_pictures, self.saved, self.discarded
        )];
        let is_first = self.loop_priority == Lead::RealTime.name();
        if !is_first && *late_ticks as f64 > MANY_LATE * *ticks as f64 {
            lines.push(
                "more than 1 % of the ticks were late: fewer cameras, or an rtprio limit of 1 for \
                 this user (ulimit -r), give the loop its turns"
                    .to_owned(),
            );
        }
        lines
    }
}
