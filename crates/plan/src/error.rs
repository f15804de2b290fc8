//! What is wrong with what the planner was given.

use citrange_core::{Classified, ErrorKind};
use citrange_robot::RobotError;
use citrange_space::SpaceError;

/// A question that makes no sense. That there is no path is an answer, not an error: see
/// [`crate::PlanOutcome`].
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A value that cannot be used.
    #[error("{what}: {reason}")]
    Bad {
        /// What it is.
        what: String,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// The robot or the map makes no sense.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A robot, or what is asked of it, makes no sense.
    #[error(transparent)]
    Robot(#[from] RobotError),
}

impl PlanError {
    pub(crate) fn bad(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Bad { what: what.into(), reason: reason.into() }
    }
}

impl Classified for PlanError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Bad { .. } => ErrorKind::BadInput,
            Self::Robot(error) => error.kind(),
            Self::Space(error) => error.kind(),
        }
    }
}
