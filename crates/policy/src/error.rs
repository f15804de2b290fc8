//! What can be wrong with a policy, its training and its files.

use std::path::{Path, PathBuf};

use citrange_core::{Classified, ErrorKind};
use citrange_plan::PlanError;
use citrange_robot::RobotError;
use citrange_space::SpaceError;

/// Something that cannot be used, or could not be done.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// A value or a file that cannot be used.
    #[error("{what}: {reason}")]
    Bad {
        /// What it is.
        what: String,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// Training cannot go on.
    #[error("{0}")]
    Training(String),
    /// A file could not be read or written.
    #[error("{path}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The robot makes no sense.
    #[error(transparent)]
    Robot(#[from] RobotError),
    /// A plan makes no sense.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A map makes no sense.
    #[error(transparent)]
    Space(#[from] SpaceError),
}

impl PolicyError {
    pub(crate) fn bad(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Bad { what: what.into(), reason: reason.into() }
    }

    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::File { path: path.to_owned(), source }
    }
}

impl Classified for PolicyError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Bad { .. } => ErrorKind::BadInput,
            Self::Training(_) => ErrorKind::ProblemsFound,
            Self::File { source, .. } => ErrorKind::of_io(source.kind()),
            Self::Robot(error) => error.kind(),
            Self::Plan(error) => error.kind(),
            Self::Space(error) => error.kind(),
        }
    }
}
