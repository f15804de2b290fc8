//! What can be wrong with environments for learners.

use citrange_core::{Classified, ErrorKind};
use citrange_sim::SimError;
use citrange_task::TaskError;

/// Why environments cannot be made or stepped.
#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    /// The simulation refused.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// The job makes no sense for this robot.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A setting or argument makes no sense.
    #[error("{what}: {reason}")]
    Argument {
        /// Its name.
        what: &'static str,
        /// What is wrong and what would be right.
        reason: String,
    },
}

impl EnvError {
    pub(crate) fn argument(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Argument { what, reason: reason.into() }
    }
}

impl Classified for EnvError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Sim(error) => error.kind(),
            Self::Task(error) => error.kind(),
            Self::Argument { .. } => ErrorKind::BadInput,
        }
    }
}
