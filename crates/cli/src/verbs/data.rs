//! `citrange data …`: look at datasets, check, repair, edit them.

mod edit;
mod files;

use std::path::PathBuf;

use citrange_episodes::edit::repair;
use citrange_episodes::look;
use citrange_tape::Dataset;

use crate::exit::{Result, problems_found};
use crate::output::{self, Output};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// The episodes of a dataset, a line each.
    List {
        /// The dataset's folder.
        dataset: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// What is known about a dataset, or about one of its episodes.
    Show {
        /// The dataset's folder.
        dataset: PathBuf,
        /// One episode: its tape, events, outcome.
        #[arg(long)]
        episode: Option<usize>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Look for what is wrong: numbers, rates, videos, statistics. Exit code 4 on errors.
    Check {
        /// The dataset's folder.
        dataset: PathBuf,
        /// Decode every video too: finds frozen pictures for sure; takes longer.
        #[arg(long)]
        deep: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
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
    Delete(edit::Delete),
    /// Keep only some frames of an episode.
    Trim(edit::Trim),
    /// Make two episodes of one, or several datasets of one.
    Split(edit::Split),
    /// Put several datasets together into a new one.
    Merge(edit::Merge),
    /// Change task text, outcome, labels and notes of episodes.
    Label(edit::Label),
    /// Write episodes as other programs keep them.
    Export(files::Export),
    /// Take an HDF5 demonstration, the demos of a robomimic file, or a LeRobot dataset of others
    /// into a dataset.
    Import(files::Import),
}

impl Command {
    /// Whether its `--json` is one object per line.
    pub(crate) fn tells_lines(&self) -> bool {
        matches!(self, Self::Import(_))
    }
}

pub(crate) fn run(command: &Command) -> Result {
    let ctx = Output::Talk.context();
    match command {
        Command::List { dataset, json } => {
            output::answer(&look::list(&Dataset::open(dataset)?, ctx), *json)
        }
        Command::Show { dataset, episode, json } => {
            let dataset = Dataset::open(dataset)?;
            let answer = match episode {
                Some(episode) => look::show_episode(&dataset, *episode)?,
                None => look::show(&dataset, ctx),
            };
            output::answer(&answer, *json)
        }
        Command::Check { dataset, deep, json } => check(&Dataset::open(dataset)?, *deep, *json),
        Command::Repair { dataset, json } => output::answer(&repair(dataset)?, *json),
        Command::Delete(args) => edit::delete(args),
        Command::Trim(args) => edit::trim(args),
        Command::Split(args) => edit::split(args),
        Command::Merge(args) => edit::merge(args),
        Command::Label(args) => edit::label(args),
        Command::Export(args) => files::export(args),
        Command::Import(args) => files::import(args),
    }
}

fn check(dataset: &Dataset, deep: bool, json: bool) -> Result {
    let report = look::check(dataset, deep, Output::Talk.context())?;
    output::answer(&report.answer, json)?;
    if report.errors > 0 {
        return Err(problems_found(report.counts));
    }
    let (episodes, frames) = (dataset.len(), dataset.lerobot.info().total_frames);
    output::talk(&format!("{episodes} episodes, {frames} frames: {}", report.counts));
    Ok(())
}
