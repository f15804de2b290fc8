//! `citrange data export` and `import`: episodes in the files of other programs.

use std::path::PathBuf;

use citrange_episodes::export::{ExportOptions, FORMATS, format, without_failures};
use citrange_episodes::import::ImportOptions;
use citrange_episodes::selection::episodes_of;
use citrange_tape::{Dataset, Unit};
use clap::builder::PossibleValuesParser;
use serde_json::json;

use crate::args::{PlayArgs, cameras, units};
use crate::exit::{Result, problems_found};
use crate::output::{self, Output};
use crate::stop::catch_stop;

#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// The dataset's folder.
    dataset: PathBuf,
    /// lerobot: a packed dataset without tapes; hdf5: a file per episode, its tape inside;
    /// robomimic: one file for training; so101-hdf5: one file of joints, actions and pictures.
    #[arg(long, value_parser = formats())]
    to: String,
    /// A new folder (lerobot, hdf5) or file (robomimic, so101-hdf5).
    #[arg(short, long)]
    out: PathBuf,
    /// Which episodes: 0,3,5-9; by default all but those that failed.
    #[arg(long)]
    episodes: Option<String>,
    /// Also the episodes that failed.
    #[arg(long, conflicts_with = "episodes")]
    failures: bool,
    /// What joint values shall mean, with --to lerobot; by default what they mean now.
    #[arg(long, value_parser = units())]
    unit: Option<Unit>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Formats by their names.
fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.map(|format| format.name()))
}

#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// An HDF5 file: one episode, many in robomimic's or robosuite's layout, recordings of an
    /// SO-101 (obs/joint_pos, obs/actions and pictures), or one episode of ALOHA's
    /// (observations/qpos, action); or the folder of a LeRobot dataset of others.
    file: PathBuf,
    /// The dataset's folder.
    #[arg(short, long)]
    out: PathBuf,
    /// Scene to play files without a tape in; by default that of their environment's name.
    /// SO-101 recordings are taken as they are, with their pictures, unless a scene is given.
    #[arg(long)]
    scene: Option<String>,
    /// Robots of that scene, separated by commas; by default as many as the file moves.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    robots: Option<Vec<String>>,
    #[command(flatten)]
    play: PlayArgs,
    /// Import a file once more of which all episodes are in the dataset already.
    #[arg(long)]
    again: bool,
    /// Go on with a dataset that exists.
    #[arg(long)]
    resume: bool,
    /// Cameras for files without a tape, separated by commas; all by default, "none" for none.
    #[arg(long, value_delimiter = ',')]
    cameras: Option<Vec<String>>,
    /// What joint values in the dataset mean, for files without a tape.
    #[arg(long, value_parser = units(), default_value = "degrees")]
    unit: Unit,
    /// Print one JSON object per episode.
    #[arg(long)]
    json: bool,
}

/// Writes episodes of a dataset as files of another kind.
pub(crate) fn export(args: &Export) -> Result {
    let (output, dataset) = (Output::Talk, Dataset::open(&args.dataset)?);
    let ctx = output.context();
    let episodes = match &args.episodes {
        Some(list) => episodes_of(&dataset, list)?,
        None => without_failures(&dataset, args.failures, ctx)?,
    };
    let options = ExportOptions { out: args.out.clone(), unit: args.unit };
    let files = format(&args.to)?.write(&dataset, &episodes, &options, ctx)?;
    if args.json {
        let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        let all = if args.episodes.is_some() { episodes.len() } else { dataset.len() };
        let left_out = all - episodes.len();
        let report = json!({ "episodes": episodes, "files": files, "failures_left_out": left_out });
        return output::data(&report.to_string());
    }
    files.iter().try_for_each(|file| output::data(&file.display().to_string()))
}

/// Adds the episodes of a file to a dataset.
pub(crate) fn import(args: &Import) -> Result {
    let options = ImportOptions {
        file: args.file.clone(),
        out: args.out.clone(),
        scene: args.scene.clone(),
        robots: args.robots.clone(),
        play: args.play.options(),
        again: args.again,
        resume: args.resume,
        cameras: cameras(args.cameras.as_deref()),
        unit: args.unit,
    };
    catch_stop()?;
    let problems = citrange_episodes::import::import(&options, Output::of(args.json).context())?;
    if !args.json {
        output::data(&args.out.display().to_string())?;
    }
    if problems.is_empty() { Ok(()) } else { Err(problems_found(problems.join("; "))) }
}
