//! The search for a path: two trees that grow toward each other, then shortcuts.
//!
//! | to change | look in |
//! |---|---|
//! | numbers of a search | `settings.rs` |
//! | where it looks | `samples.rs` |
//! | configurations that can be reached, the nearest of them | `tree.rs` |
//! | how trees grow and meet | `planner.rs` |
//! | a shorter path | `simplify.rs` |
//! | a better path, given more checks | `improve.rs`; where it can be `informed.rs`, small changes `tighten.rs`, what it cost `counted.rs` |
//! | a path when the world has changed | `replan.rs` |
//! | a path that keeps something all the way | `constrained.rs` |

mod constrained;
mod counted;
mod improve;
mod informed;
mod planner;
mod replan;
mod samples;
mod settings;
mod simplify;
mod tighten;
mod tree;

pub(crate) use constrained::Constrained;
pub use improve::{Effort, Improved};
pub use planner::{Planner, SearchResult, Spent};
pub use replan::Reused;
pub use settings::{SearchSettings, SimplifySettings};

use crate::config::Config;

/// Length of a path in joint space, in radians.
#[must_use]
pub fn path_length_rad(path: &[Config]) -> f64 {
    path.windows(2).map(|edge| f64::from(edge[0].distance(&edge[1]))).sum()
}
