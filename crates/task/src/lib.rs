//! An arm that works by itself: picks things up, puts them where they belong, and judges whether
//! it did.
//!
//! | to change | look in |
//! |---|---|
//! | whether something is held, graspable, placed, moved | `judge/` |
//! | where things go on the plate | `spots.rs` |

pub mod judge;
pub mod spots;
