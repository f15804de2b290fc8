//! What can go wrong between us and ROS.

use std::io;

use citrange_core::{Classified, ErrorKind};

/// Why there is no connection, or no answer.
#[derive(Debug, thiserror::Error)]
pub enum RosError {
    /// The master cannot be reached.
    #[error("no ROS master at {uri} ({reason}): is roscore running, and is ROS_MASTER_URI right?")]
    NoMaster {
        /// Where it should be.
        uri: String,
        /// What happened.
        reason: String,
    },
    /// Somebody was reached and said no.
    #[error("{whom} refused {what}: {reason}")]
    Refused {
        /// Who.
        whom: String,
        /// What was asked.
        what: String,
        /// The answer.
        reason: String,
    },
    /// Nobody answered in time.
    #[error("{whom} did not answer {what} within {seconds} s")]
    Late {
        /// Who.
        whom: String,
        /// What was asked.
        what: String,
        /// How long was waited.
        seconds: f64,
    },
    /// Bytes, a name or a value that is not as it should be.
    #[error("{what}: {reason}")]
    Bad {
        /// What: a message, a name, a setting.
        what: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// The system refused.
    #[error("{what}: {cause}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's reason.
        cause: io::Error,
    },
}

impl RosError {
    /// `what` is bad because of `reason`.
    pub fn bad(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Bad { what: what.into(), reason: reason.into() }
    }

    /// The system refused `what`.
    pub fn io(what: impl Into<String>, cause: io::Error) -> Self {
        Self::Io { what: what.into(), cause }
    }
}

impl Classified for RosError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoMaster { .. } | Self::Refused { .. } | Self::Late { .. } => ErrorKind::Robot,
            Self::Bad { .. } => ErrorKind::BadInput,
            Self::Io { .. } => ErrorKind::Robot,
        }
    }
}
