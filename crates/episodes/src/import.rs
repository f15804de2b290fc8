//! Episodes of other programs' files into a dataset.

mod hdf5;
mod so101;
mod staged;

use std::path::PathBuf;

use citrange_tape::Unit;

pub use crate::simulated::play_file::PlayOptions;
pub use hdf5::{import, is_hdf5};

/// What an import can be told.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The file.
    pub file: PathBuf,
    /// The dataset's folder.
    pub out: PathBuf,
    /// Scene to play files without a tape in; by default that of their environment's name.
    pub scene: Option<String>,
    /// Robots of that scene; `None` for all, or the first alone where the file has one arm.
    pub robots: Option<Vec<String>>,
    /// How such files are played.
    pub play: PlayOptions,
    /// Whether a file is taken once more of which all episodes are in the dataset already.
    pub again: bool,
    /// Whether it may go on with a dataset that exists.
    pub resume: bool,
    /// Cameras for files without a tape; `None` for all.
    pub cameras: Option<Vec<String>>,
    /// What joint values in the dataset mean, for files without a tape.
    pub unit: Unit,
}
