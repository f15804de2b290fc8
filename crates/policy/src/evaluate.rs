//! Episodes that training never draws, and what becomes of them.
//!
//! | to change | look in |
//! |---|---|
//! | the episodes, shown to be possible by the planner | `episodes.rs` |
//! | attempts of a policy, sixteen at once | `attempts.rs` |
//! | all figures of an evaluation | `figures.rs`; the proof `proof.rs`; the page `page.rs` |

mod attempts;
mod episodes;

pub use attempts::{Attempt, AttemptEnd};
pub(crate) use attempts::{Roller, Tries};
pub use episodes::{Episode, EpisodeSet};
