//! `citrange data …`: look at datasets, check, repair, edit them.

use std::path::PathBuf;

use super::{data_edit, data_files, data_look};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// The episodes of a dataset, a line each.
    List(data_look::List),
    /// What is known about a dataset, or about one of its episodes.
    Show(data_look::Show),
    /// Look for what is wrong: numbers, rates, videos, statistics. Exit code 4 on errors.
    Check(data_look::Check),
    /// Save what a recorder that was cut off left behind; name and clear away what killed edits,
    /// merges, imports and exports left.
    Repair {
        /// The dataset's folder.
        dataset: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Take episodes out (the dataset as it was goes to the trash beside it).
    Delete(data_edit::Delete),
    /// Keep only some frames of an episode.
    Trim(data_edit::Trim),
    /// Make two episodes of one, or several datasets of one.
    Split(data_edit::Split),
    /// Put several datasets together into a new one.
    Merge(data_edit::Merge),
    /// Change task text, outcome, labels and notes of episodes.
    Label(data_edit::Label),
    /// Write episodes as other programs keep them.
    Export(data_files::Export),
    /// Take an HDF5 demonstration, or the demos of a robomimic file, into a dataset.
    Import(data_files::Import),
}

impl Command {
    /// Whether its `--json` is one object per line.
    pub(crate) fn tells_lines(&self) -> bool {
        matches!(self, Self::Import(_))
    }
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::List(args) => data_look::list(args),
        Command::Show(args) => data_look::show(args),
        Command::Check(args) => data_look::check(args),
        Command::Repair { dataset, json } => data_edit::repair(dataset, *json),
        Command::Delete(args) => data_edit::delete(args),
        Command::Trim(args) => data_edit::trim(args),
        Command::Split(args) => data_edit::split(args),
        Command::Merge(args) => data_edit::merge(args),
        Command::Label(args) => data_edit::label(args),
        Command::Export(args) => data_files::export(args),
        Command::Import(args) => data_files::import(args),
    }
}
