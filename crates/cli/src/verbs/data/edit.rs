//! `citrange data delete|trim|split|merge|label`: changing datasets, never losing any.

use std::path::PathBuf;

use citrange_episodes::edit::{self, Labels};
use citrange_episodes::selection::{episode_numbers, frame_range, split_parts};
use citrange_lerobot::Edit;
use citrange_tape::Dataset;

use crate::exit::{Result, usage};
use crate::output::{self, Output};

#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Episodes, for example 1,3,5-7.
    #[arg(long)]
    episodes: String,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Trim {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Which episode.
    #[arg(long)]
    episode: usize,
    /// Frames to keep, FROM:TO without TO; either may be left out.
    #[arg(long, value_name = "FROM:TO")]
    frames: String,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Split {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Make two episodes of this one.
    #[arg(long, requires = "at", conflicts_with = "into")]
    episode: Option<usize>,
    /// First frame of the second one.
    #[arg(long)]
    at: Option<usize>,
    /// Make several datasets, by parts: train=0.8,val=0.2. The dataset itself stays.
    #[arg(long, value_name = "NAME=PART,…", requires = "out")]
    into: Option<String>,
    /// Folder for the new datasets, with --into.
    #[arg(short, long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Merge {
    /// Datasets, in the order in which their episodes shall come.
    #[arg(required = true, num_args = 2..)]
    datasets: Vec<PathBuf>,
    /// Folder of the new dataset.
    #[arg(short, long)]
    out: PathBuf,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Label {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Episodes, for example 1,3,5-7; all by default.
    #[arg(long)]
    episodes: Option<String>,
    /// A new task text.
    #[arg(long)]
    task: Option<String>,
    /// Whether the task was done.
    #[arg(long)]
    success: Option<bool>,
    /// Add a label.
    #[arg(long)]
    add: Vec<String>,
    /// Take a label away.
    #[arg(long)]
    remove: Vec<String>,
    /// Write a note.
    #[arg(long)]
    note: Option<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct How {
    /// Only say what would happen.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn delete(args: &Delete) -> Result {
    let episodes = episode_numbers(&args.episodes)?;
    change(&Dataset::open(&args.dataset)?, &Edit::Delete { episodes }, &args.how)
}

pub(crate) fn trim(args: &Trim) -> Result {
    let dataset = Dataset::open(&args.dataset)?;
    dataset.check_episode(args.episode)?;
    let length = dataset.lerobot.episodes()[args.episode].length;
    let frames = frame_range(&args.frames, length)?;
    change(&dataset, &Edit::Trim { episode: args.episode, frames }, &args.how)
}

pub(crate) fn split(args: &Split) -> Result {
    let (dataset, how) = (Dataset::open(&args.dataset)?, &args.how);
    if let (Some(episode), Some(at)) = (args.episode, args.at) {
        return change(&dataset, &Edit::Split { episode, at }, how);
    }
    let (Some(into), Some(out)) = (&args.into, &args.out) else {
        return Err(usage("give --episode N --at FRAME, or --into train=0.8,val=0.2 --out FOLDER"));
    };
    let sets = split_parts(into, dataset.len())?;
    let answer = edit::split_into(&dataset, sets, out, how.dry_run, Output::Talk.context())?;
    output::answer(&answer, how.json)
}

pub(crate) fn merge(args: &Merge) -> Result {
    let datasets = args.datasets.iter().map(|p| Dataset::open(p)).collect::<Result<Vec<_>, _>>()?;
    let answer = edit::merge(&datasets, &args.out, args.how.dry_run, Output::Talk.context())?;
    output::answer(&answer, args.how.json)
}

pub(crate) fn label(args: &Label) -> Result {
    let labels = Labels {
        task: args.task.clone(),
        success: args.success,
        add: args.add.clone(),
        remove: args.remove.clone(),
        note: args.note.clone(),
    };
    if labels.changes().is_empty() {
        return Err(usage("give what to change: --task, --success, --add, --remove or --note"));
    }
    let mut dataset = Dataset::open(&args.dataset)?;
    let episodes = match &args.episodes {
        Some(list) => episode_numbers(list)?,
        None => (0..dataset.len()).collect(),
    };
    let ctx = Output::Talk.context();
    let answer = edit::label(&mut dataset, &episodes, &labels, args.how.dry_run, ctx)?;
    output::answer(&answer, args.how.json)
}

fn change(dataset: &Dataset, what: &Edit, how: &How) -> Result {
    let answer = edit::edit(dataset, what, how.dry_run, Output::Talk.context())?;
    output::answer(&answer, how.json)
}
