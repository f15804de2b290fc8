//! Collection: a pilot makes episodes, some at a time, and one writer saves them in the order of
//! their indices.
//!
//! An episode is a function of the run and its index, down to the bytes of its files: not of the
//! number of workers, of what ran before, or of the time of day. So a collection that was cut off
//! throws away what it had not saved and makes it again. Only a collection at a speed (`paced.rs`)
//! keeps time with the world, and keeps what it has when it is stopped.

mod gate;
mod goal;
mod journal;
mod paced;
mod plan;
mod shard;
mod show;
mod tally;
mod worker;
mod workers;
mod writer;

use citrange_tape::Dataset;

use crate::context::RunContext;
use crate::error::{EpisodesError, Result};
use crate::recording::tell_repaired;
use plan::Found;
use show::Show;
use writer::Writer;

pub(crate) use journal::write_merged;

pub use goal::{EpisodeOutcome, Goal, Quota};
pub use plan::{CollectOptions, Plan};
pub use shard::Shard;
pub use tally::Tally;
pub use workers::worker_count;

/// What a collection is to do beside its [`Plan`].
#[derive(Clone, Debug)]
pub struct Order {
    /// The dataset's folder.
    pub out: std::path::PathBuf,
    /// When it is complete.
    pub goal: Goal,
    /// Index of the first episode; by default it goes on after those in the dataset.
    pub first: Option<u64>,
    /// Episodes made at a time.
    pub workers: usize,
}

/// Makes episodes until the goal is reached; what is there of the same run counts.
///
/// # Errors
/// [`EpisodesError::Interrupted`] when the user asked to stop before it was complete,
/// [`EpisodesError::ProblemsFound`] when no more may be made, others when it cannot go on.
pub fn collect(plan: &Plan, order: &Order, ctx: RunContext<'_>) -> Result<()> {
    let (spec, goal) = (plan.spec(), &order.goal);
    let (mut dataset, repaired) =
        Dataset::record_with(&order.out, spec, plan.unit, &plan.images, plan.features)?;
    tell_repaired(&repaired, ctx)?;
    let mut tally = Tally::default();
    let start = Start::of(plan, &dataset, order.first, &mut tally);
    if start.next > start.first {
        let there = tally.saved();
        let words =
            format!("{there} episodes of this run are there; going on with index {}", start.next);
        ctx.tell(&serde_json::Value::Null, &words)?;
    }
    let show = Show::new(ctx, spec.rates.frame_hz, goal, &tally);
    if plan.speed.is_some() {
        paced::collect(plan, &mut dataset, goal, &mut tally, &show, start.first)?;
    } else {
        let Start { first, next } = start;
        let mut writer = Writer {
            plan,
            dataset: &mut dataset,
            goal,
            tally: &mut tally,
            show: &show,
            first,
            next,
        };
        writer.collect(order.workers)?;
    }
    show.done(&tally)?;
    let reached = goal.is_reached(&tally);
    if ctx.stopped() && (!reached || plan.speed.is_some()) {
        if plan.speed.is_none() {
            let words = "not complete: the same command with --resume goes on";
            ctx.tell(&serde_json::Value::Null, words)?;
        }
        return Err(EpisodesError::Interrupted);
    }
    if !reached {
        let (wanted, there) = goal.progress(&tally);
        let what = format!("{there} of {wanted} wanted episodes, and no more may be made");
        return Err(EpisodesError::ProblemsFound(what));
    }
    Ok(())
}

/// Where a collection begins.
struct Start {
    /// Index with which the run began.
    first: u64,
    /// Index of the next episode.
    next: u64,
}

impl Start {
    /// Goes on with a run of which there is something; a new one begins after what there is.
    fn of(plan: &Plan, dataset: &Dataset, wanted: Option<u64>, tally: &mut Tally) -> Self {
        let found = match plan.speed {
            // Episodes that keep time with the world are never the same again.
            Some(_) => None,
            None => plan.found(dataset),
        };
        let Some(Found { first, saved }) = found else {
            let first = wanted.unwrap_or(dataset.len() as u64);
            return Self { first, next: first };
        };
        let first = wanted.unwrap_or(first);
        let mut next = first;
        for (episode, outcome) in saved.range(first..) {
            tally.found(outcome);
            next = episode + 1;
        }
        Self { first, next }
    }
}
