//! Episodes of other programs' files into a dataset. A new dataset appears when all of the file is
//! in it, or not at all.
//!
//! A format is an [`Importer`] in [`FORMATS`]: whoever adds one writes its file here, and names it
//! there; files are recognised by what is in them.

mod exact;
mod hdf5;
mod lerobot;
mod played;
mod so101;
mod staged;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use citrange_tape::{Dataset, DemoEpisode, Imported, Play, Unit, file_sha256};
use serde_json::Value;

use crate::cell::RigChoice;
use crate::context::RunContext;
use crate::error::{Context as _, EpisodesError, Result, bad_input};
use staged::Staged;

pub use crate::simulated::play_file::PlayOptions;
pub use hdf5::is_hdf5;

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

/// A format of other programs that episodes can be read from.
pub trait Importer: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What it is, in a few words.
    fn about(&self) -> &'static str;

    /// Whether a file, or folder, is of this format.
    fn knows(&self, file: &Path) -> bool;

    /// What tells this file from others, so that it is not taken twice.
    ///
    /// # Errors
    /// When it cannot be read.
    fn fingerprint(&self, file: &Path) -> Result<String> {
        Ok(file_sha256(file)?)
    }

    /// Its episodes, not played yet.
    ///
    /// # Errors
    /// When the file is damaged.
    fn read(&self, options: &ImportOptions) -> Result<Vec<Box<dyn SourceEpisode>>>;
}

/// An episode of a file of others.
pub trait SourceEpisode {
    /// Its name in the file.
    fn name(&self) -> &str;

    /// Makes it an episode of the dataset.
    ///
    /// # Errors
    /// When it cannot be played, or the user stops.
    fn take(self: Box<Self>, job: &Job<'_>) -> Result<Taken>;
}

/// What is said of an episode that was taken in, and why it is not what the file shows, where
/// something speaks against it.
pub type Taken = (Value, Option<String>);

/// All formats; the first one that knows a file reads it.
pub const FORMATS: [&dyn Importer; 5] =
    [&hdf5::DEMO, &hdf5::SO101, &hdf5::ROBOMIMIC, &hdf5::ALOHA, &lerobot::Lerobot];

/// What an import is made from.
#[derive(Debug)]
pub struct Job<'a> {
    args: &'a ImportOptions,
    ctx: RunContext<'a>,
    /// The dataset's folder, while it is being made.
    root: &'a Path,
    sha256: String,
}

impl Job<'_> {
    /// What the tape of an imported episode says about its source.
    fn note(&self, episode: &str, success_in_file: Option<bool>, play: Play) -> Imported {
        let file = self.args.file.file_name().map(|n| n.to_string_lossy().into_owned());
        Imported {
            file,
            sha256: self.sha256.clone(),
            episode: episode.to_owned(),
            play,
            start: None,
            targets: String::new(),
            success_in_file,
        }
    }

    /// The robots and cameras of the scene that is played in.
    fn choice(&self) -> RigChoice {
        let (robots, cameras) = (self.args.robots.clone(), self.args.cameras.clone());
        RigChoice { robots, cameras, ..RigChoice::default() }
    }
}

/// Adds all episodes of a file to a dataset.
///
/// Answers why what was played is not what the file shows, where something speaks against it.
///
/// # Errors
/// When the file cannot be taken in.
pub fn import(args: &ImportOptions, ctx: RunContext<'_>) -> Result<Vec<String>> {
    let exists = args.out.join("meta/info.json").exists();
    if exists && !args.resume {
        bad_input!("{} is a dataset already; --resume adds to it", args.out.display());
    }
    let format = format_of(&args.file)?;
    let mut episodes = format.read(args)?;
    let sha256 = format.fingerprint(&args.file)?;
    if exists && !args.again {
        leave_out_known(args, &sha256, &mut episodes, ctx)?;
    }
    let staged = Staged::begin(&args.out, exists, ctx)?;
    let job = Job { args, ctx, root: staged.root(), sha256 };
    let mut lines = Vec::new();
    let mut problems = Vec::new();
    for episode in episodes {
        if ctx.stopped() {
            return Err(EpisodesError::Interrupted);
        }
        let name = episode.name().to_owned();
        let (line, problem) = episode.take(&job).with_context(|| name.clone())?;
        problems.extend(problem.map(|problem| format!("{name}: {problem}")));
        // What is not published yet is not said to be imported.
        match staged.is_direct() {
            true => tell(ctx, &name, &line)?,
            false => lines.push((name, line)),
        }
    }
    staged.publish()?;
    for (name, line) in &lines {
        tell(ctx, name, line)?;
    }
    Ok(problems)
}

/// The format of a file.
///
/// # Errors
/// When it is of none, with what it is.
pub fn format_of(file: &Path) -> Result<&'static dyn Importer> {
    if let Some(format) = FORMATS.into_iter().find(|format| format.knows(file)) {
        return Ok(format);
    }
    if file.is_dir() {
        bad_input!("{} is no LeRobot dataset: it has no meta/info.json", file.display());
    }
    // Whoever reads HDF5 says best what is wrong with it.
    DemoEpisode::read(file)?;
    bad_input!("{} is of no format that is known here", file.display())
}

fn tell(ctx: RunContext<'_>, name: &str, event: &Value) -> Result<()> {
    let words = format!("{name}: episode {}, {} frames", event["number"], event["frames"]);
    Ok(ctx.tell(event, &words)?)
}

/// Goes on with a file of which a part is there; refuses one that is there.
fn leave_out_known(
    args: &ImportOptions,
    sha256: &str,
    episodes: &mut Vec<Box<dyn SourceEpisode>>,
    ctx: RunContext<'_>,
) -> Result<()> {
    let dataset = Dataset::open(&args.out)?;
    let mut known = BTreeSet::new();
    for number in 0..dataset.len() {
        if dataset.entry(number).is_none_or(|entry| entry.imported.is_none()) {
            continue;
        }
        // A tape that is damaged says nothing.
        let tape = dataset.tape(number).ok().flatten();
        let source = tape.and_then(|(tape, _)| tape.header.imported());
        known.extend(source.filter(|s| s.sha256 == sha256).map(|source| source.episode));
    }
    let all = episodes.len();
    episodes.retain(|episode| !known.contains(episode.name()));
    let (root, there) = (args.out.display(), all - episodes.len());
    if there > 0 && episodes.is_empty() {
        bad_input!(
            "{root} has all {all} episodes of {} already, by its sha256; --again imports it once more",
            args.file.display()
        );
    }
    if there > 0 {
        ctx.say(&format!("{there} of {all} episodes of the file are in {root} already"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_names_of_their_own_and_know_files_by_their_contents() {
        for one in FORMATS {
            assert_eq!(FORMATS.iter().filter(|f| f.name() == one.name()).count(), 1);
            assert!(!one.about().is_empty());
        }
        let folder = tempfile::tempdir().unwrap();
        // Named like another thing.
        let file = folder.path().join("episode.bin");
        let aloha = citrange_hdf5::AlohaEpisode {
            qpos: citrange_hdf5::Array::matrix(1, 2, vec![0.0, 1.0]).ok(),
            ..citrange_hdf5::AlohaEpisode::default()
        };
        citrange_hdf5::write_aloha(&file, &aloha).unwrap();
        assert_eq!(format_of(&file).map(Importer::name).unwrap(), "aloha");
        std::fs::write(folder.path().join("no.h5"), "nothing of the kind").unwrap();
        let error = |path: &Path| format_of(path).err().unwrap().to_string();
        assert!(error(&folder.path().join("no.h5")).contains("not an HDF5 file"));
        assert!(error(folder.path()).contains("no LeRobot dataset"));
    }
}
