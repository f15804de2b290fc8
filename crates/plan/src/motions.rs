//! What a search asks about motions.

use crate::config::Config;

/// Answers whether motions of a robot touch anything. "Free" is a promise: it is said only where
/// it was proved for every configuration in between.
pub trait Motions {
    /// How many joints of a [`Config`] count.
    fn joints(&self) -> usize;

    /// Whether the robot touches nothing there.
    fn is_free(&mut self, at: &Config) -> bool;

    /// Whether it touches nothing on the straight way (in joint space) between the two, ends
    /// included.
    fn is_motion_free(&mut self, from: &Config, to: &Config) -> bool;

    /// Whether it touches nothing wherever every joint is within `half_width` of `at`.
    fn is_box_free(&mut self, at: &Config, half_width: &Config) -> bool;

    /// Collision checks that were made so far: each looks at up to sixteen configurations or parts
    /// of motions at once. What budgets of searches count; 0 where nobody counts.
    fn checks(&self) -> u64 {
        0
    }
}
