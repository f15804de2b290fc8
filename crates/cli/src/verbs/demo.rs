//! `citrange demo`: an SO-101 puts three oranges on a plate by itself; the episode is recorded,
//! replayed and compared, and becomes a report with a film.

use std::path::PathBuf;

use citrange_episodes::demo::{DemoOptions, demo};
use citrange_report::{FilmChoice, ReportOptions, make_report};
use citrange_tape::Dataset;

use crate::exit::{Result, problems_found};
use crate::output::{self, Output};
use crate::stop::catch_stop;

pub(super) const SCENE: &str = "orange_plate";
const CAMERA: &str = "front";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder for the dataset, the report and the film; those of an earlier demo are replaced.
    #[arg(short, long, default_value = "out/demo")]
    output: PathBuf,
    /// Seed of the run.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Episode index.
    #[arg(long, default_value_t = 0)]
    episode: u64,
}

pub(crate) fn run(args: &Args) -> Result {
    catch_stop()?;
    let (folder, dataset) = (args.output.clone(), args.output.join("dataset"));
    let (scene, seed, episode) = (SCENE.to_owned(), args.seed, args.episode);
    let options = DemoOptions { scene, dataset: dataset.clone(), seed, episode };
    let shown = demo(&options, Output::Quiet.context())?;
    let reason = &shown.outcome.reason;
    output::talk(&format!("{reason} after {:.0} s of simulation.", shown.seconds));
    output::talk(&format!("replayed: {}.", shown.replay));
    if !shown.replay.is_bitwise() {
        return Err(problems_found("the replay differs from the recording"));
    }
    let options = ReportOptions { folder, film: FilmChoice::Best };
    let report = make_report(&Dataset::open(&dataset)?, &options, Output::Talk.context())?;
    report.survey.lines().iter().for_each(|line| output::talk(line));
    shown.draw_end(CAMERA, &args.output)?;
    for name in ["report.html", "film.mp4", "contact_sheet.png", "dataset"] {
        output::data(&args.output.join(name).display().to_string())?;
    }
    output::talk("report.html: open it in a browser; dataset: opens in lerobot.");
    if shown.outcome.success != Some(true) {
        return Err(problems_found(format!("not all is placed: {reason}")));
    }
    Ok(())
}
