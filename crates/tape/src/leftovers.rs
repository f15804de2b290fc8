//! What killed processes left of edits, saves, merges, imports and exports, named and cleared away.

use std::path::{Path, PathBuf};

use citrange_lerobot::Leftover;

use crate::dataset::{Dataset, lock};
use crate::error::TapeError;
use crate::index::SIDE;

impl Dataset {
    /// Names and clears away what killed processes left in a dataset and beside it. A dataset that
    /// an edit swapped out is kept, in the trash. Recordings that were cut off are left to
    /// [`Dataset::repair`].
    ///
    /// # Errors
    /// When another process records into the dataset, or the system refuses.
    pub fn clear_leftovers(root: &Path) -> Result<Vec<Leftover>, TapeError> {
        // Leftovers of edits lie beside the real folder, those of a dataset that never came to be
        // beside its name.
        let real = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let mut found = match real.file_name() {
            Some(_) => citrange_lerobot::clear(&real, true)?,
            None => Vec::new(),
        };
        // A folder of exported files has nobody who records into it.
        let is_dataset = real.join("meta").is_dir() || real.join(SIDE).is_dir();
        let _lock = is_dataset.then(|| lock(&real)).transpose()?;
        if real.is_dir() {
            found.extend(citrange_lerobot::clear_inside(&real)?);
        }
        Ok(found)
    }

    /// Copies of this dataset as it was before edits, oldest first.
    #[must_use]
    pub fn undo_copies(root: &Path) -> Vec<PathBuf> {
        let real = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let Some(name) = real.file_name() else { return Vec::new() };
        let prefix = format!("{}-", name.to_string_lossy());
        let is_stamp =
            |rest: &str| rest.len() >= 16 && rest.starts_with(|c: char| c.is_ascii_digit());
        let entries = std::fs::read_dir(citrange_lerobot::default_trash(&real));
        let mut all: Vec<PathBuf> = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
                name.is_some_and(|n| n.strip_prefix(&prefix).is_some_and(is_stamp))
            })
            .collect();
        all.sort();
        all
    }
}
