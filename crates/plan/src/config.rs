//! A joint vector as the planner keeps it: single precision, padded to one vector register.

/// Most joints that are planned for.
pub const MAX_JOINTS: usize = 8;

/// Positions of the planned joints; what is beyond them is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Config(pub [f32; MAX_JOINTS]);

impl Config {
    /// Of joint positions; those beyond [`MAX_JOINTS`] are left out.
    #[must_use]
    pub fn of(positions: &[f64]) -> Self {
        let mut config = Self::default();
        for (kept, position) in config.0.iter_mut().zip(positions) {
            *kept = *position as f32;
        }
        config
    }

    /// The first `joints` positions.
    #[must_use]
    pub fn positions(&self, joints: usize) -> Vec<f64> {
        self.0.iter().take(joints).map(|p| f64::from(*p)).collect()
    }

    /// The point at fraction `at` of the way to another.
    #[inline]
    #[must_use]
    pub fn toward(&self, other: &Self, at: f32) -> Self {
        let mut between = *self;
        for (joint, end) in between.0.iter_mut().zip(&other.0) {
            *joint += (end - *joint) * at;
        }
        between
    }

    /// Length of the straight way to another, in radians.
    #[inline]
    #[must_use]
    pub fn distance(&self, other: &Self) -> f32 {
        let mut sum = 0.0;
        for (a, b) in self.0.iter().zip(&other.0) {
            sum += (a - b) * (a - b);
        }
        sum.sqrt()
    }
}
