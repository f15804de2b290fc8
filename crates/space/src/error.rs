//! What can be wrong with frames, cells and maps.

use citrange_cloud::CloudError;

use citrange_core::{Classified, ErrorKind};
use citrange_robot::RobotError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum SpaceError {
    /// Bytes or a file that are not what they say they are.
    #[error("{what}: {reason}")]
    BadInput {
        /// The message, file or array.
        what: String,
        /// What is wrong, where, and what would be right.
        reason: String,
    },
    /// A cloud or a file beside it.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    /// A robot, or what is asked of it, makes no sense.
    #[error(transparent)]
    Robot(#[from] RobotError),
    /// A setting out of range.
    #[error("setting {key}: {reason}")]
    Setting {
        /// Its name.
        key: String,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// More voxels than the pool holds. Nothing is dropped: the frame is refused.
    #[error(
        "{found} voxels are occupied, the pool holds {limit}: raise num_voxels, make voxels \
         larger, or the workspace smaller"
    )]
    TooManyVoxels {
        /// How many the frame has.
        found: usize,
        /// How many fit.
        limit: usize,
    },
    /// A frame older than what the map has seen already.
    #[error(
        "time goes backwards: the frame is stamped {stamp_ns} ns, the map has seen {newest_ns} ns"
    )]
    TimeBackwards {
        /// Stamp of the frame.
        stamp_ns: u64,
        /// Newest stamp so far.
        newest_ns: u64,
    },
    /// A file could not be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// The system's reason.
        cause: std::io::Error,
    },
}

impl SpaceError {
    /// Input `what` is bad because of `reason`.
    pub(crate) fn bad(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::BadInput { what: what.into(), reason: reason.into() }
    }

    /// Setting `key` is bad because of `reason`.
    pub(crate) fn setting(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Setting { key: key.into(), reason: reason.into() }
    }
}

impl Classified for SpaceError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { cause, .. } => ErrorKind::of_io(cause.kind()),
            Self::Cloud(error) => error.kind(),
            _ => ErrorKind::BadInput,
        }
    }
}
