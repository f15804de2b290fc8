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
}

impl citrange_core::Classified for RobotError {
    fn kind(&self) -> citrange_core::ErrorKind {
        citrange_core::ErrorKind::BadInput
    }
}
