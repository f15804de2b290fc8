//! Episodes of a dataset as other programs keep them.
//!
//! A format is an [`Exporter`] in [`FORMATS`]: whoever adds one writes its file here, and names it
//! there. The command line, its help and its completions know it from then on.

mod autopilot;
mod hdf5;
mod lerobot;
mod robomimic;
mod so101;
mod source;

use std::path::{Path, PathBuf};

use citrange_tape::{Dataset, Unit};

use crate::context::RunContext;
use crate::error::{EpisodesError, Result, bad_input};

/// What an export can be told.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// A new folder or file, as the format has it.
    pub out: PathBuf,
    /// What joint values shall mean, where a format has a choice; by default what they mean now.
    pub unit: Option<Unit>,
}

/// A format of other programs that episodes can be written in.
pub trait Exporter: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it is, in a few words.
    fn about(&self) -> &'static str;

    /// Writes episodes, all of them or none; answers what there is now.
    ///
    /// # Errors
    /// When they cannot be read, lack what the format needs, or cannot be written.
    fn write(
        &self,
        dataset: &Dataset,
        episodes: &[usize],
        options: &ExportOptions,
        ctx: RunContext<'_>,
    ) -> Result<Vec<PathBuf>>;
}

/// All formats.
pub const FORMATS: [&dyn Exporter; 4] =
    [&lerobot::Lerobot, &hdf5::Hdf5, &robomimic::Robomimic, &so101::So101Hdf5];

/// A format by its name.
///
/// # Errors
/// When there is none, with those that there are.
pub fn format(name: &str) -> Result<&'static dyn Exporter> {
    let found = FORMATS.into_iter().find(|format| format.name() == name);
    found.ok_or_else(|| {
        let known = FORMATS.iter().map(|format| format.name());
        let hint = citrange_core::names::suggestion(name, known);
        EpisodesError::BadInput(format!("there is no format \"{name}\", {hint}"))
    })
}

/// All episodes; those that failed only if they are asked for. What nobody judged is no failure.
///
/// # Errors
/// When all of them failed.
pub fn without_failures(
    dataset: &Dataset,
    failures: bool,
    ctx: RunContext<'_>,
) -> Result<Vec<usize>> {
    let failed = |episode: &usize| {
        dataset.entry(*episode).is_some_and(|entry| entry.outcome.success == Some(false))
    };
    let episodes: Vec<usize> =
        (0..dataset.len()).filter(|episode| failures || !failed(episode)).collect();
    let left_out = dataset.len() - episodes.len();
    if episodes.is_empty() && left_out > 0 {
        bad_input!(
            "all {left_out} episodes of {} failed; --failures exports them",
            dataset.root().display()
        );
    }
    if left_out > 0 {
        ctx.say(&format!("{left_out} episodes that failed are left out; --failures takes them"));
    }
    Ok(episodes)
}

/// Refuses to write over what is there; makes the folder that a file goes into.
fn must_be_new(path: &Path) -> Result<()> {
    use crate::error::Context as _;
    if path.exists() {
        bad_input!("{} exists already; remove it or give another --out", path.display());
    }
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_names_of_their_own_and_are_found_by_them() {
        for one in FORMATS {
            assert_eq!(format(one.name()).map(Exporter::name).unwrap(), one.name());
            assert_eq!(FORMATS.iter().filter(|f| f.name() == one.name()).count(), 1);
            assert!(!one.about().is_empty());
        }
        let error = format("hdf").err().map(|error| error.to_string()).unwrap();
        assert!(error.contains("hdf5"), "{error}");
    }
}
