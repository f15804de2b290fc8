//! What can be wrong with a robot or with what is asked of it.

/// Why there is no robot or no answer.
#[derive(Debug, thiserror::Error)]
pub enum RobotError {
    /// A robot that makes no sense, or that cannot do what is asked.
    #[error("robot {robot}: {reason}")]
    Chain {
        /// Name of the robot.
        robot: String,
        /// What does not fit, and what would.
        reason: String,
    },
    /// Numbers or a file that do not fit the robot.
    #[error("{what}: {reason}")]
    BadInput {
        /// What was given.
        what: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A setting out of range.
    #[error("setting {key}: {reason}")]
    Setting {
        /// Its name.
        key: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

impl RobotError {
    /// Input `what` is bad because of `reason`.
    pub(crate) fn bad(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::BadInput { what: what.into(), reason: reason.into() }
    }

    /// Setting `key` is bad because of `reason`.
    pub(crate) fn setting(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Setting { key: key.into(), reason: reason.into() }
    }
}

impl citrange_core::Classified for RobotError {
    fn kind(&self) -> citrange_core::ErrorKind {
        citrange_core::ErrorKind::BadInput
    }
}
