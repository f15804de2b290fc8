//! Everything that can go wrong, in one enum.

use std::path::{Path, PathBuf};

/// Why a demonstration could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Hdf5Error {
    /// The operating system said no.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried: `open`, `write`, …
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Not an HDF5 file at all.
    #[error("not an HDF5 file: {}", path.display())]
    NotHdf5 {
        /// The file.
        path: PathBuf,
    },
    /// An HDF5 file, but not of the layout that was asked for.
    #[error("{what}; a {wanted} is needed: {}", path.display())]
    Layout {
        /// What the file holds.
        what: String,
        /// The layout that would be right.
        wanted: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// The file ends before the place that its own header names.
    #[error(
        "truncated at byte {bytes}: an HDF5 file whose header says {expected} bytes: {}", path.display()
    )]
    Truncated {
        /// Bytes there are.
        bytes: u64,
        /// Bytes there should be.
        expected: u64,
        /// The file.
        path: PathBuf,
    },
    /// A part of HDF5 that is not read here: virtual datasets, filters of others.
    #[error("cannot read `{object}`: {what}: {}", path.display())]
    Unsupported {
        /// Path of the object inside the file.
        object: String,
        /// What it is.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// The file contradicts itself or is damaged.
    #[error("cannot read `{object}`: {what}: {}", path.display())]
    Damaged {
        /// Path of the object inside the file.
        object: String,
        /// What is wrong with it.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// An object has another type or shape than its name promises.
    #[error("`{object}` is {found}, expected {wanted}: {}", path.display())]
    Type {
        /// Path of the object inside the file.
        object: String,
        /// What it is.
        found: String,
        /// What it should be.
        wanted: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A demonstration of that name or number is not in the file.
    #[error("no demonstration {index} in a file of {count}: {}", path.display())]
    NoSuchDemo {
        /// The index asked for.
        index: usize,
        /// Demonstrations there are.
        count: usize,
        /// The file.
        path: PathBuf,
    },
    /// Values given for writing do not fit together.
    #[error("`{object}` has {found}, expected {wanted}")]
    Shape {
        /// Name of the values.
        object: String,
        /// What they are.
        found: String,
        /// What they should be.
        wanted: String,
    },
    /// A name or text that HDF5 cannot hold.
    #[error("`{object}` cannot be stored: {why}")]
    Unstorable {
        /// Name of the object or attribute.
        object: String,
        /// What is in the way.
        why: &'static str,
    },
    /// A picture source did not deliver.
    #[error("frame {frame} of `{object}` is missing: {why}")]
    Frame {
        /// Name of the camera.
        object: String,
        /// Index of the frame.
        frame: usize,
        /// What the source said.
        why: String,
    },
}

impl Hdf5Error {
    /// Wraps an I/O error; to be used as `map_err(Hdf5Error::io("open", path))`.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// For values that do not have the shape they need.
    pub(crate) fn shape(object: &str, found: impl Into<String>, wanted: impl Into<String>) -> Self {
        Self::Shape { object: object.into(), found: found.into(), wanted: wanted.into() }
    }
}
