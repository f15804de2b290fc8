//! What can be wrong before an autopilot starts.

use citrange_core::names::suggestion;
use citrange_core::yaml::YamlError;
use citrange_core::{Classified, ErrorKind};
use citrange_robot::RobotError;

/// Why there is no autopilot.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// A settings file cannot be read.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A settings file is not YAML as it should be.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A number makes no sense.
    #[error("{file}: {reason}")]
    Setting {
        /// The file or profile.
        file: String,
        /// The key and what would be right.
        reason: String,
    },
    /// Something named is not there.
    #[error("there is no {what} \"{name}\", {hint}")]
    Unknown {
        /// What it should be.
        what: &'static str,
        /// The name.
        name: String,
        /// What there is.
        hint: String,
    },
    /// A job that is only to reach a place.
    #[error("the job is to reach a place, not to bring things: no autopilot does that")]
    NothingToBring,
    /// The arm cannot work by itself.
    #[error(transparent)]
    Arm(#[from] RobotError),
    /// Nothing is known of the shapes of its hand.
    #[error("the hand of {0} has no solid shapes to grasp with: give its jaws collision geometry")]
    NoHand(String),
    /// A snapshot does not hold the memory of this autopilot.
    #[error("the snapshot does not hold the memory of this autopilot: {0}")]
    Memory(String),
}

impl TaskError {
    pub(crate) fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        Self::Unknown { what, name: name.to_owned(), hint: suggestion(name, known) }
    }
}

impl Classified for TaskError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}
