//! `citrange report`: what a dataset shows, as one page with charts, pictures and a film.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use citrange_core::rig::CameraSpec;
use citrange_render::Image;
use citrange_report::Survey;
use citrange_tape::Dataset;
use serde_json::json;

use crate::output;
use citrange_episodes::film::Film;

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
    for line in summary(&survey) {
        output::talk(&line);
    }
    output::data(&page.display().to_string())
}

/// Makes the report of a dataset, with a film of the first episode that went well.
pub(crate) fn make(dataset: &Path, folder: &Path) -> anyhow::Result<()> {
    let (survey, ..) = write(&Dataset::open(dataset)?, folder, Wanted::First)?;
    for line in summary(&survey) {
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
        Some(episode) => match make_film(dataset, &survey.about.cameras, episode, &film) {
            Ok(made) => made.then_some(episode),
            // The numbers are worth having without the film.
            Err(error) => {
                survey.problems.push(format!("film of episode {episode}: {error:#}"));
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

/// The few lines that a person wants to know at once.
fn summary(survey: &Survey) -> Vec<String> {
    let numbers = &survey.numbers;
    let mut lines = Vec::new();
    let rate = |rate: &citrange_report::Rate| {
        let [low, high] = rate.interval_95.map(|fraction| 100.0 * fraction);
        let (good, of, percent) = (rate.good, rate.of, 100.0 * rate.fraction);
        format!("{good} of {of} ({percent:.1} %, 95 %: {low:.1} to {high:.1} %)")
    };
    match &numbers.success {
        Some(success) => lines.push(format!("success: {}", rate(success))),
        None => lines.push(format!("{} episodes, nobody judged them", numbers.episodes)),
    }
    if let Some(things) = &numbers.things {
        let retried = numbers.placed_by_retry;
        lines.push(format!("placed: {}, {retried} of them with retries", rate(things)));
    }
    for problem in survey.problems.iter().take(5) {
        lines.push(format!("could not be read: {problem}"));
    }
    if survey.problems.len() > 5 {
        lines.push(format!("{} more problems are in the report", survey.problems.len() - 5));
    }
    lines
}

/// Films an episode, all cameras side by side; says whether there was a camera.
fn make_film(
    dataset: &Dataset,
    cameras: &[String],
    episode: usize,
    path: &Path,
) -> anyhow::Result<bool> {
    let films: Vec<_> =
        cameras.iter().map(|camera| dataset.pictures(episode, camera)).collect::<Result<_, _>>()?;
    let specs: Vec<_> = cameras
        .iter()
        .zip(&films)
        .map(|(name, film)| CameraSpec::rgb(name, film.width() as u32, film.height() as u32))
        .collect();
    let frames = films.iter().map(|film| film.frames()).min().unwrap_or(0);
    if frames == 0 {
        return Ok(false);
    }
    let mut film = Film::begin(path, &specs, dataset.lerobot.info().fps)?;
    let bar = output::progress("filming", frames as u64);
    for frame in 0..frames {
        let image = |film: &citrange_hdf5::Images| {
            let rgb = film.frame(frame)?;
            anyhow::Ok(Image { width: film.width(), height: film.height(), rgb })
        };
        let images = films.iter().map(image).collect::<anyhow::Result<Vec<_>>>()?;
        film.add_image(&Image::sheet(&images, images.len()))?;
        bar.set_position(frame as u64 + 1);
    }
    bar.finish_and_clear();
    film.finish()?;
    Ok(true)
}
