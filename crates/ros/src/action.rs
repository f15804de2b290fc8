//! The action FollowJointTrajectory: goals, how they stand and how they end; both sides of it.

mod client;
mod server;
mod tracker;

pub use client::ActionClient;
pub use server::{ActionServer, Asked};
pub use tracker::{GoalEnd, GoalEvent, GoalTracker};

/// The five topics of an action.
pub(crate) const TOPICS: [&str; 5] = ["goal", "cancel", "status", "feedback", "result"];
