//! What sort of trouble an error is: the one thing that a program's exit code needs to know of it.

use std::io;

/// Sorts of trouble. The same trouble is the same kind wherever it happens: a full disk is
/// [`Failed`](Self::Failed) wherever it fills up, a file that is not there is
/// [`BadInput`](Self::BadInput) whoever looked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The machine or the program: a full disk, no permission, no engine.
    Failed,
    /// The command line itself.
    Usage,
    /// A file or value that is not there or not as it should be.
    BadInput,
    /// A check ran and found problems.
    ProblemsFound,
    /// A robot, or the way to it.
    Robot,
    /// The user asked to stop.
    Interrupted,
}

impl ErrorKind {
    /// The word for it in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::BadInput => "bad_input",
            Self::ProblemsFound => "problems_found",
            Self::Robot => "robot",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether the system refused because of what it was given, or because of what it has.
    #[must_use]
    pub fn of_io(kind: io::ErrorKind) -> Self {
        use io::ErrorKind as Io;
        match kind {
            Io::NotFound
            | Io::AlreadyExists
            | Io::IsADirectory
            | Io::NotADirectory
            | Io::InvalidData
            | Io::InvalidInput
            | Io::InvalidFilename
            | Io::UnexpectedEof => Self::BadInput,
            _ => Self::Failed,
        }
    }
}

/// An error that knows its kind. What the system refused decides first, then what was asked for.
pub trait Classified {
    /// What sort of trouble it is.
    fn kind(&self) -> ErrorKind;
}

impl Classified for io::Error {
    fn kind(&self) -> ErrorKind {
        ErrorKind::of_io(Self::kind(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_bad_input_and_a_missing_file_is() {
        let of = |kind| Classified::kind(&io::Error::from(kind));
        assert_eq!(of(io::ErrorKind::StorageFull), ErrorKind::Failed);
        assert_eq!(of(io::ErrorKind::PermissionDenied), ErrorKind::Failed);
        assert_eq!(of(io::ErrorKind::NotFound), ErrorKind::BadInput);
        assert_eq!(ErrorKind::of_io(io::ErrorKind::UnexpectedEof).word(), "bad_input");
    }
}
