//! `citrange report`: what a dataset shows, as one page with charts, pictures and a film.

use std::path::PathBuf;

use citrange_report::{FilmChoice, ReportOptions, folder_beside, make_report};
use citrange_tape::Dataset;

use crate::exit::Result;
use crate::output::{self, Output};

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

pub(crate) fn run(args: &Args) -> Result {
    let dataset = Dataset::open(&args.dataset)?;
    let film = match args.episode {
        _ if args.no_film => FilmChoice::No,
        Some(episode) => FilmChoice::Episode(episode),
        None => FilmChoice::Best,
    };
    let folder = args.out.clone().map_or_else(|| folder_beside(&args.dataset), Ok)?;
    let made = make_report(&dataset, &ReportOptions { folder, film }, Output::Talk.context())?;
    if args.json {
        return output::data(&made.json().to_string());
    }
    made.survey.lines().iter().for_each(|line| output::talk(line));
    output::data(&made.page.display().to_string())
}
