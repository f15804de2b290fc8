//! Why a twin cannot run at all. That a goal is not reached, a camera is silent or a driver refuses
//! is no error: the twin holds, says so, and goes on to look.

use std::path::{Path, PathBuf};

use citrange_core::yaml::YamlError;
use citrange_core::{Classified, ErrorKind};
use citrange_episodes::EpisodesError;
use citrange_plan::PlanError;
use citrange_robot::RobotError;
use citrange_sim::SimError;
use citrange_space::SpaceError;

/// What can go wrong with a twin.
#[derive(Debug, thiserror::Error)]
pub enum TwinError {
    /// A value that cannot be used.
    #[error("{what}: {reason}")]
    Bad {
        /// What it is.
        what: String,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// A file of settings or goals is not as it should be.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// The planner was given something that makes no sense.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A map or a frame makes no sense.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A robot makes no sense.
    #[error(transparent)]
    Robot(#[from] RobotError),
    /// The simulator.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// A rig of a scene.
    #[error(transparent)]
    Episodes(#[from] EpisodesError),
    /// The loop was ended by pilot, rig or tape.
    #[error(transparent)]
    Run(#[from] citrange_core::run::RunError),
    /// The system refused something.
    #[error("cannot {what} {}", .path.display())]
    File {
        /// What could not be done.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl TwinError {
    pub(crate) fn bad(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Bad { what: what.into(), reason: reason.into() }
    }

    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::File { what, path: path.to_owned(), source }
    }
}

impl Classified for TwinError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Bad { .. } | Self::Yaml(_) => ErrorKind::BadInput,
            Self::Plan(error) => error.kind(),
            Self::Space(error) => error.kind(),
            Self::Robot(error) => error.kind(),
            Self::Sim(error) => error.kind(),
            Self::Episodes(error) => error.kind(),
            Self::Run(_) => ErrorKind::Failed,
            Self::File { source, .. } => ErrorKind::of_io(source.kind()),
        }
    }
}
