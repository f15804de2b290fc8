//! Everything that can go wrong between a wish and joint targets.

use std::path::PathBuf;

use citrange_core::yaml::YamlError;
use citrange_core::{Classified, ErrorKind};
use citrange_robot::RobotError;

/// Why an arm cannot be controlled as asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A settings file is not as it should be.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A value that makes no sense.
    #[error("setting {key} is {value}: {wanted}")]
    Setting {
        /// The key.
        key: &'static str,
        /// What was given.
        value: f64,
        /// What would be right.
        wanted: &'static str,
    },
    /// A name that is not known.
    #[error("unknown {kind} \"{name}\", {suggestion}")]
    Unknown {
        /// What kind of thing was looked for.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The nearest known name, and all of them.
        suggestion: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {reason}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        reason: String,
    },
    /// A robot that this controller cannot drive.
    #[error(transparent)]
    Robot(#[from] RobotError),
    /// An action that cannot be read.
    #[error("action: {0}")]
    Action(String),
    /// A memory that belongs to another controller.
    #[error("kept memory: {field}: {reason}")]
    ControllerMemory {
        /// Name of the field.
        field: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

impl ControlError {
    /// An unknown name, with the nearest known one.
    pub(crate) fn unknown<'a>(
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Self {
        let suggestion = citrange_core::names::suggestion(name, known);
        Self::Unknown { kind, name: name.to_owned(), suggestion }
    }
}

impl Classified for ControlError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}
