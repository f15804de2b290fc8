//! What can go wrong, with the file and what would be right.

use std::path::{Path, PathBuf};

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum LerobotError {
    /// The file system refused.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `write`, …
        what: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The folder holds no dataset.
    #[error(
        "{} is not a LeRobot dataset: {reason}; a dataset has meta/info.json, meta/tasks.parquet, \
         meta/episodes/ and data/",
        path.display()
    )]
    NotADataset {
        /// The folder.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// A dataset of another format version.
    #[error(
        "{} has format {version:?}; v3.0 is read here. Convert older ones with lerobot 0.4: \
         python -m lerobot.datasets.v30.convert_dataset_v21_to_v30 --repo-id=<user>/<name> --root=<folder>",
        path.display()
    )]
    OtherVersion {
        /// Its info.json.
        path: PathBuf,
        /// The version it states.
        version: String,
    },
    /// A file that cannot be what it should be.
    #[error("{} is damaged or not as expected: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// Two datasets, or a dataset and a recorder, that do not fit together.
    #[error("{} cannot take this: {}", path.display(), differences.join("; "))]
    Disagrees {
        /// The dataset.
        path: PathBuf,
        /// One line per difference, ours and theirs.
        differences: Vec<String>,
    },
    /// What the caller asked for or gave is not possible.
    #[error("{0}")]
    Invalid(String),
    /// A video could not be read or joined.
    #[error("{}: {reason}", path.display())]
    Video {
        /// The video.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The owner of the side files refused an edit.
    #[error("the files beside the dataset cannot follow the edit: {0}")]
    Side(Box<dyn std::error::Error + Send + Sync>),
}

/// Result with this crate's error.
pub type Result<T> = std::result::Result<T, LerobotError>;

/// Turns an I/O error into ours, with the path.
pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> LerobotError {
    let path = path.to_path_buf();
    move |source| LerobotError::Io { what, path, source }
}

pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> LerobotError {
    LerobotError::Damaged { path: path.to_path_buf(), reason: reason.into() }
}

pub(crate) fn invalid<T>(reason: impl Into<String>) -> Result<T> {
    Err(LerobotError::Invalid(reason.into()))
}
