//! What can be wrong with a calibration.

use citrange_core::{Classified, ErrorKind};

/// Why there is no camera pose.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// Points that say nothing about the pose.
    #[error("{what}: {reason}")]
    BadInput {
        /// Which points.
        what: String,
        /// What is wrong, where, and what would be right.
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

impl CalibrateError {
    /// Input `what` is bad because of `reason`.
    pub(crate) fn bad(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::BadInput { what: what.into(), reason: reason.into() }
    }

    /// Setting `key` is bad because of `reason`.
    pub(crate) fn setting(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Setting { key: key.into(), reason: reason.into() }
    }
}

impl Classified for CalibrateError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}
