//! What can go wrong between us and an arm.

use std::io;

use citrange_core::{Classified, ErrorKind};

/// Why there is no link, or no answer.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A port cannot be opened.
    #[error("{port}: {reason}")]
    CannotOpen {
        /// Its path.
        port: String,
        /// Why, and what helps.
        reason: String,
    },
    /// A port that was open answers no more.
    #[error("{port} is gone ({cause}): plug the cable in again")]
    PortGone {
        /// Its path.
        port: String,
        /// The system's reason.
        cause: io::Error,
    },
    /// Nobody answered.
    #[error(
        "no answer from {servos} ({tries} tries): is the power on, and does the chain of cables \
         reach it?"
    )]
    NoAnswer {
        /// `servo 3`, `servos 3, 4`.
        servos: String,
        /// How often it was asked.
        tries: u32,
    },
    /// An arm does not hold, or must not move now.
    #[error("the arm is not ready: {why}")]
    NotReady {
        /// Why, and what helps.
        why: String,
    },
    /// A file, a value or a servo that is not as it should be.
    #[error("{what}: {reason}")]
    BadInput {
        /// The file, joint or servo.
        what: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// The system's reason.
        cause: io::Error,
    },
}

impl LinkError {
    /// `what` is bad because of `reason`.
    pub fn bad(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::BadInput { what: what.into(), reason: reason.into() }
    }
}

impl Classified for LinkError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::CannotOpen { .. }
            | Self::PortGone { .. }
            | Self::NoAnswer { .. }
            | Self::NotReady { .. } => ErrorKind::Robot,
            Self::BadInput { .. } => ErrorKind::BadInput,
            Self::Io { cause, .. } => ErrorKind::of_io(cause.kind()),
        }
    }
}

/// `servo 3`, `servos 3, 4`.
pub(crate) fn ids_text(ids: &[u8]) -> String {
    let names: Vec<String> = ids.iter().map(u8::to_string).collect();
    format!("servo{} {}", if ids.len() == 1 { "" } else { "s" }, names.join(", "))
}
