//! `citrange data export` and `import`: episodes in the files of other programs.

use std::path::{Path, PathBuf};

use anyhow::bail;
use citrange_tape::{Dataset, TapeError};
use serde_json::json;

use super::data_lists::numbers;
use crate::hdf5_play::PlayArgs;
use crate::recording::UnitArg;
use crate::{hdf5_in, hdf5_out, output, robomimic_out, so101_out};

#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// The dataset's folder.
    pub(crate) dataset: PathBuf,
    /// lerobot: a packed dataset without tapes; hdf5: a file per episode, its tape inside;
    /// robomimic: one file for training; so101-hdf5: one file of joints, actions and pictures.
    #[arg(long, value_enum)]
    pub(crate) to: Format,
    /// A new folder (lerobot, hdf5) or file (robomimic, so101-hdf5).
    #[arg(short, long)]
    pub(crate) out: PathBuf,
    /// Which episodes: 0,3,5-9; by default all but those that failed.
    #[arg(long)]
    pub(crate) episodes: Option<String>,
    /// Also the episodes that failed.
    #[arg(long, conflicts_with = "episodes")]
    pub(crate) failures: bool,
    /// What joint values shall mean, with --to lerobot; by default what they mean now.
    #[arg(long, value_enum)]
    pub(crate) unit: Option<UnitArg>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    Lerobot,
    Hdf5,
    Robomimic,
    #[value(name = "so101-hdf5")]
    So101Hdf5,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// An HDF5 file: one episode, many in robomimic's or robosuite's layout, or recordings of an
    /// SO-101 (obs/joint_pos, obs/actions and pictures).
    pub(crate) file: PathBuf,
    /// The dataset's folder.
    #[arg(short, long)]
    pub(crate) out: PathBuf,
    /// Scene to play files without a tape in; by default that of their environment's name.
    /// SO-101 recordings are taken as they are, with their pictures, unless a scene is given.
    #[arg(long)]
    pub(crate) scene: Option<String>,
    #[command(flatten)]
    pub(crate) play: PlayArgs,
    /// Import a file once more of which all episodes are in the dataset already.
    #[arg(long)]
    pub(crate) again: bool,
    /// Go on with a dataset that exists.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Cameras for files without a tape, separated by commas; all by default, "none" for none.
    #[arg(long, value_delimiter = ',')]
    pub(crate) cameras: Option<Vec<String>>,
    /// What joint values in the dataset mean, for files without a tape.
    #[arg(long, value_enum, default_value_t = UnitArg::Degrees)]
    pub(crate) unit: UnitArg,
    /// Print one JSON object per episode.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Writes episodes of a dataset as files of another kind.
pub(crate) fn export(args: &Export) -> anyhow::Result<()> {
    let dataset = Dataset::open(&args.dataset)?;
    let episodes = match &args.episodes {
        Some(list) => chosen(&dataset, list)?,
        None => all(&dataset, args.failures)?,
    };
    let files = match args.to {
        Format::Lerobot => vec![lerobot(&dataset, &episodes, &args.out, args.unit)?],
        Format::Hdf5 => hdf5_out::write(&dataset, &episodes, &args.out)?,
        Format::Robomimic => vec![robomimic_out::write(&dataset, &episodes, &args.out)?],
        Format::So101Hdf5 => vec![so101_out::write(&dataset, &episodes, &args.out)?],
    };
    if args.json {
        let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        let left_out = match args.episodes {
            Some(_) => 0,
            None => dataset.len() - episodes.len(),
        };
        let report = json!({ "episodes": episodes, "files": files, "failures_left_out": left_out });
        return output::data(&report.to_string());
    }
    files.iter().try_for_each(|file| output::data(&file.display().to_string()))
}

/// Adds the episodes of a file to a dataset.
pub(crate) fn import(args: &Import) -> anyhow::Result<()> {
    hdf5_in::import(args)
}

fn lerobot(
    dataset: &Dataset,
    episodes: &[usize],
    out: &Path,
    unit: Option<UnitArg>,
) -> anyhow::Result<PathBuf> {
    let bar = output::progress("writing", 0);
    let mut show = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let written = dataset.export_lerobot(episodes, out, unit.map(Into::into), &mut show);
    bar.finish_and_clear();
    written?;
    output::talk("without tapes: rows and videos only; for exact replay use --to hdf5");
    Ok(out.to_owned())
}

/// Refuses to write over what is there.
pub(crate) fn must_be_new(path: &Path) -> anyhow::Result<()> {
    if path.exists() {
        bail!(TapeError::Missing(format!(
            "{} exists already; remove it or give another --out",
            path.display()
        )));
    }
    Ok(())
}

/// The episodes that a list like `0,3,5-9` names.
fn chosen(dataset: &Dataset, list: &str) -> anyhow::Result<Vec<usize>> {
    let episodes = numbers(list)?;
    for episode in &episodes {
        dataset.check_episode(*episode)?;
    }
    Ok(episodes)
}

/// All episodes; those that failed only if they are asked for. What nobody judged is no failure.
fn all(dataset: &Dataset, failures: bool) -> anyhow::Result<Vec<usize>> {
    let failed = |episode: &usize| {
        dataset.entry(*episode).is_some_and(|entry| entry.outcome.success == Some(false))
    };
    let episodes: Vec<usize> =
        (0..dataset.len()).filter(|episode| failures || !failed(episode)).collect();
    let left_out = dataset.len() - episodes.len();
    if episodes.is_empty() && left_out > 0 {
        bail!(TapeError::Missing(format!(
            "all {left_out} episodes of {} failed; --failures exports them",
            dataset.root().display()
        )));
    }
    if left_out > 0 {
        output::talk(&format!(
            "{left_out} episodes that failed are left out; --failures takes them"
        ));
    }
    Ok(episodes)
}
