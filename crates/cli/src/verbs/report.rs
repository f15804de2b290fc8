//! `citrange report`: what a dataset shows, as one page with charts, pictures and a film.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use citrange_report::Survey;
use citrange_tape::Dataset;
use serde_json::json;

use crate::output::{self, Output};
use citrange_episodes::film::film_episode;

/// The film's name inside the report's folder.
const FILM: &str = "film.mp4";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Where to put the report; beside the dataset, as NAME_report, when absent.
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// The episode to film; the first that went well when absent.
    #[arg(long, conflicts_with = "no_film")]
    episode: Option<usize>,
    /// Make no film.
    #[arg(long)]
    no_film: bool,
    /// Print the numbers as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let dataset = Dataset::open(&args.dataset)?;
    if let Some(episode) = args.episode {
        dataset.check_episode(episode)?;
    }
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => beside(&args.dataset)?,
    };
    let wanted = if args.no_film { Wanted::None } else { Wanted::of(args.episode) };
    let (survey, page, filmed) = write(&dataset, &folder, wanted)?;
    if args.json {
        let summary = json!({
            "page": page,
            "film_episode": filmed,
            "numbers": survey.numbers,
            "problems": survey.problems,
        });
        return output::data(&summary.to_string());
    }
    for line in survey.lines() {
        output::talk(&line);
    }
    output::data(&page.display().to_string())
}

/// Makes the report of a dataset, with a film of the first episode that went well.
pub(crate) fn make(dataset: &Path, folder: &Path) -> anyhow::Result<()> {
    let (survey, ..) = write(&Dataset::open(dataset)?, folder, Wanted::First)?;
    for line in survey.lines() {
        output::talk(&line);
    }
    Ok(())
}

/// Which episode to film.
#[derive(Clone, Copy)]
enum Wanted {
    None,
    First,
    This(usize),
}

impl Wanted {
    fn of(episode: Option<usize>) -> Self {
        episode.map_or(Self::First, Self::This)
    }
}

/// Writes everything; answers what was found, the page and the episode that was filmed.
fn write(
    dataset: &Dataset,
    folder: &Path,
    wanted: Wanted,
) -> anyhow::Result<(Survey, PathBuf, Option<usize>)> {
    let bar = output::progress("reading", dataset.len() as u64);
    let mut survey = Survey::of(dataset, &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let film = folder.join(FILM);
    let wanted = match wanted {
        Wanted::None => None,
        Wanted::First => survey.film_episode(),
        Wanted::This(episode) => Some(episode),
    };
    let filmed = match wanted {
        Some(episode) => match film_episode(
            dataset,
            &survey.about.cameras,
            episode,
            &film,
            Output::Talk.context(),
        ) {
            Ok(made) => made.then_some(episode),
            // The numbers are worth having without the film.
            Err(error) => {
                survey.problems.push(format!("film of episode {episode}: {}", error.text()));
                None
            }
        },
        None => None,
    };
    if filmed.is_none() && film.exists() {
        std::fs::remove_file(&film).with_context(|| format!("cannot remove {}", film.display()))?;
    }
    let page = survey.write(dataset, folder, filmed)?;
    Ok((survey, page, filmed))
}

/// `<name>_report` in the folder that the dataset lies in.
fn beside(dataset: &Path) -> anyhow::Result<PathBuf> {
    let full =
        dataset.canonicalize().with_context(|| format!("cannot find {}", dataset.display()))?;
    let (Some(parent), Some(name)) = (full.parent(), full.file_name()) else {
        anyhow::bail!("{} has no folder beside it; say where with --out", full.display());
    };
    Ok(parent.join(format!("{}_report", name.to_string_lossy())))
}
