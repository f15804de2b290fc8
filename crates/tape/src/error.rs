//! What can go wrong with a tape, each with what would be right.

use std::path::{Path, PathBuf};

use citrange_core::{Classified, ErrorKind};

/// Why a tape could not be written, read, repaired or replayed.
#[derive(Debug, thiserror::Error)]
pub enum TapeError {
    /// The system refused something.
    #[error("cannot {what} {}: {reason}{}", .path.display(), full(.reason))]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        reason: std::io::Error,
    },
    /// A log that cannot be read.
    #[error("{}: {reason}", .path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A dataset that cannot be used.
    #[error(transparent)]
    LeRobot(citrange_lerobot::LerobotError),
    /// Pictures that cannot be coded.
    #[error(transparent)]
    Video(citrange_video::VideoError),
    /// A demonstration file that cannot be used.
    #[error(transparent)]
    Hdf5(#[from] citrange_hdf5::Hdf5Error),
    /// Somebody else is writing.
    #[error(
        "{} is being written by another process; wait for it, or record into another folder",
        .0.display()
    )]
    Busy(PathBuf),
    /// The recording could not go on.
    #[error("recording stopped: {0}")]
    Recording(String),
    /// Something asked for is not there.
    #[error("{0}")]
    Missing(String),
    /// What is asked for cannot be done with what is there.
    #[error("{0}")]
    Refused(String),
}

impl TapeError {
    pub(crate) fn file(what: &'static str, path: &Path, reason: std::io::Error) -> Self {
        Self::File { what, path: path.to_owned(), reason }
    }
}

// What the system refused is one kind of error, whoever asked: a full disk is never taken for a
// damaged file.
impl From<citrange_lerobot::LerobotError> for TapeError {
    fn from(error: citrange_lerobot::LerobotError) -> Self {
        match error {
            citrange_lerobot::LerobotError::Io { what, path, source } => {
                Self::File { what, path, reason: source }
            }
            other => Self::LeRobot(other),
        }
    }
}

impl From<citrange_video::VideoError> for TapeError {
    fn from(error: citrange_video::VideoError) -> Self {
        match error {
            citrange_video::VideoError::Io { doing, path, source } => {
                Self::File { what: doing, path, reason: source }
            }
            other => Self::Video(other),
        }
    }
}

/// What to do about a full disk.
fn full(reason: &std::io::Error) -> &'static str {
    match reason.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            ": the disk is full; make room and run `citrange data repair` on the dataset: nothing saved is lost"
        }
        _ => "",
    }
}

impl Classified for TapeError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::File { reason, .. } => ErrorKind::of_io(reason.kind()),
            Self::LeRobot(error) => lerobot_kind(error),
            Self::Hdf5(citrange_hdf5::Hdf5Error::Io { source, .. })
            | Self::Video(citrange_video::VideoError::Io { source, .. }) => {
                ErrorKind::of_io(source.kind())
            }
            Self::Busy(_) | Self::Recording(_) => ErrorKind::Failed,
            Self::Log { .. }
            | Self::Video(_)
            | Self::Hdf5(_)
            | Self::Missing(_)
            | Self::Refused(_) => ErrorKind::BadInput,
        }
    }
}

fn lerobot_kind(error: &citrange_lerobot::LerobotError) -> ErrorKind {
    use citrange_lerobot::LerobotError;
    match error {
        LerobotError::Io { source, .. } => ErrorKind::of_io(source.kind()),
        // What a crate beside lerobot handed through: ours, or the system's.
        LerobotError::Side(error) => match error.downcast_ref::<TapeError>() {
            Some(error) => error.kind(),
            None => error
                .downcast_ref::<std::io::Error>()
                .map_or(ErrorKind::BadInput, |error| ErrorKind::of_io(error.kind())),
        },
        _ => ErrorKind::BadInput,
    }
}
