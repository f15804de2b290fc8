//! What can go wrong with a report.

use std::path::{Path, PathBuf};

use citrange_core::{Classified, ErrorKind};
use citrange_tape::TapeError;

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The dataset cannot be read.
    #[error(transparent)]
    Dataset(#[from] TapeError),
    /// The system refused something.
    #[error("cannot {what} {}: {reason}", .path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        reason: std::io::Error,
    },
    /// There is no place for the report.
    #[error("{} has no folder beside it; say where with --out", .0.display())]
    NoFolderBeside(PathBuf),
    /// A picture that cannot be written as PNG.
    #[error("a picture cannot be written as PNG: {0}")]
    Picture(#[from] citrange_core::png::PngError),
    /// Numbers that cannot be written as JSON.
    #[error("the report's numbers cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl ReportError {
    pub(crate) fn file(what: &'static str, path: &Path, reason: std::io::Error) -> Self {
        Self::File { what, path: path.to_owned(), reason }
    }
}

impl Classified for ReportError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Dataset(error) => error.kind(),
            Self::File { reason, .. } => ErrorKind::of_io(reason.kind()),
            Self::NoFolderBeside(_) | Self::Picture(_) | Self::Json(_) => ErrorKind::Failed,
        }
    }
}
