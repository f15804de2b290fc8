//! What can be wrong with clouds and the files beside them.

use citrange_core::{Classified, ErrorKind};

/// Why there is no cloud.
#[derive(Debug, thiserror::Error)]
pub enum CloudError {
    /// Bytes or a file that are not what they say they are.
    #[error("{what}: {reason}")]
    BadInput {
        /// The message, file or array.
        what: String,
        /// What is wrong, where, and what would be right.
        reason: String,
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

impl CloudError {
    /// Input `what` is bad because of `reason`.
    pub fn bad(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::BadInput { what: what.into(), reason: reason.into() }
    }
}

impl Classified for CloudError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { cause, .. } => ErrorKind::of_io(cause.kind()),
            Self::BadInput { .. } => ErrorKind::BadInput,
        }
    }
}
