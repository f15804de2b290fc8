//! Episodes that training never draws, and what becomes of them.
//!
//! | to change | look in |
//! |---|---|
//! | the episodes, shown to be possible by the planner | `episodes.rs` |
//! | attempts of a policy, sixteen at once | `attempts.rs` |
//! | all figures of an evaluation | `figures.rs`; the proof `proof.rs`; the page `page.rs` |

mod attempts;
mod episodes;
mod figures;
mod page;
mod proof;

pub use attempts::{Attempt, AttemptEnd};
pub(crate) use attempts::{Roller, Tries, end_of};
pub use episodes::{Episode, EpisodeSet};
pub use figures::{
    BestOf, Ended, EvaluateSettings, FamilyFigures, Figures, PlannerFigures, ProofFigures,
    RungFigures, Share, Spread, evaluate,
};
pub use proof::touching_postures;
