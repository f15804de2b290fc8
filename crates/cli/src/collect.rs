//! Collection: a pilot makes episodes, some at a time, and one writer saves them in the order of
//! their indices.
//!
//! An episode is a function of the run and its index, down to the bytes of its files: not of the
//! number of workers, of what ran before, or of the time of day. So a collection that was cut off
//! throws away what it had not saved and makes it again. Only a collection at a speed ([`paced`])
//! keeps time with the world, and keeps what it has when it is stopped.

mod gate;
pub(crate) mod goal;
mod journal;
pub(crate) mod paced;
pub(crate) mod plan;
mod show;
mod tally;
mod worker;
pub(crate) mod writer;

pub(crate) use goal::Goal;
pub(crate) use plan::Plan;
pub(crate) use show::Show;
pub(crate) use tally::Tally;
