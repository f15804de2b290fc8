//! What can be wrong with settings.

use std::path::PathBuf;

use citrange_control::ControlError;
use citrange_core::yaml::YamlError;
use citrange_core::{Classified, ErrorKind};
use citrange_sim::SimError;
use citrange_space::SpaceError;
use citrange_task::TaskError;
use citrange_twin::TwinError;

/// Why settings cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Words of a command line that cannot be understood.
    #[error("{0}")]
    Usage(String),
    /// A file that is not as it should be.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A scene.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// A controller's profile.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// An autopilot's profile.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A cell.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A twin.
    #[error(transparent)]
    Twin(#[from] TwinError),
    /// A file that cannot be read.
    #[error("cannot read {}: {reason}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        reason: std::io::Error,
    },
}

impl SettingsError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        move |reason| Self::File { path: path.into(), reason }
    }
}

impl Classified for SettingsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Usage(_) => ErrorKind::Usage,
            Self::Yaml(_) => ErrorKind::BadInput,
            Self::Sim(error) => error.kind(),
            Self::Control(error) => error.kind(),
            Self::Task(error) => error.kind(),
            Self::Space(error) => error.kind(),
            Self::Twin(error) => error.kind(),
            Self::File { reason, .. } => ErrorKind::of_io(reason.kind()),
        }
    }
}
