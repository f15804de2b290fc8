//! Joints for a place of the hand.
//!
//! | to change | look in |
//! |---|---|
//! | one answer near given joints, the tool pointing down, the jaws at a yaw | `hand.rs` |
//! | all answers to be found, for any place and orientation of the tool | `reach.rs`, settings and all |
//! | how they are searched, many starts at a time | `descent.rs`, `equations.rs`, `vectors.rs`; from where `starts.rs` |
//! | the arm as that search sees it | `linkage.rs` |
//! | which ends of the search are the same answer | `sift.rs` |

mod descent;
mod equations;
mod hand;
mod linkage;
mod reach;
mod sift;
mod starts;
mod vectors;

pub use hand::{Fit, HandGoal, HandPose, Tolerance, ToolDownIk, wrapped};
pub use reach::{IkSettings, IkSolution, IkSolutions, IkTarget, InverseKinematics, Orientation};
