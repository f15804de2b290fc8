//! A policy at work: as a planner, and tick by tick.

mod finder;
mod pilot;

pub use finder::ReachFinder;
pub use pilot::ReachPilot;
