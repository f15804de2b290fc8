//! A report with its film, in one call.

use std::path::{Path, PathBuf};

use citrange_episodes::RunContext;
use citrange_episodes::film::film_episode;
use citrange_tape::Dataset;
use serde_json::{Value, json};

use crate::error::ReportError;
use crate::survey::Survey;

/// The film's name inside the report's folder.
const FILM: &str = "film.mp4";

/// Which episode is filmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilmChoice {
    /// None.
    No,
    /// The first that went well, else the first.
    #[default]
    Best,
    /// This one.
    Episode(usize),
}

/// Where a report goes and what is in it.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Its folder: see [`folder_beside`] for the usual one.
    pub folder: PathBuf,
    /// Which episode is filmed.
    pub film: FilmChoice,
}

/// A report that was written.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the dataset shows.
    pub survey: Survey,
    /// The page.
    pub page: PathBuf,
    /// The episode that was filmed; none where there are no pictures.
    pub filmed: Option<usize>,
}

impl Report {
    /// As JSON: the page, the episode that was filmed, the numbers and problems.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "page": self.page,
            "film_episode": self.filmed,
            "numbers": self.survey.numbers,
            "problems": self.survey.problems,
        })
    }
}

/// Writes the report of a dataset with its film. A film that cannot be made is a problem to tell
/// of, not an error: the numbers are worth having without it.
///
/// # Errors
/// When an episode is asked for that is not there, or files cannot be written.
pub fn make_report(
    dataset: &Dataset,
    options: &ReportOptions,
    ctx: RunContext<'_>,
) -> Result<Report, ReportError> {
    if let FilmChoice::Episode(episode) = options.film {
        dataset.check_episode(episode)?;
    }
    let folder = options.folder.as_path();
    let bar = ctx.progress("reading", dataset.len() as u64);
    let mut survey = Survey::of(dataset, &|done| bar.set(done as u64));
    bar.finish();
    std::fs::create_dir_all(folder).map_err(|e| ReportError::file("create", folder, e))?;
    let film = folder.join(FILM);
    let wanted = match options.film {
        FilmChoice::No => None,
        FilmChoice::Best => survey.film_episode(),
        FilmChoice::Episode(episode) => Some(episode),
    };
    let mut filmed = None;
    if let Some(episode) = wanted {
        match film_episode(dataset, &survey.about.cameras, episode, &film, ctx) {
            Ok(made) => filmed = made.then_some(episode),
            Err(error) => {
                survey.problems.push(format!("film of episode {episode}: {}", error.text()));
            }
        }
    }
    if filmed.is_none() && film.exists() {
        std::fs::remove_file(&film).map_err(|e| ReportError::file("remove", &film, e))?;
    }
    let page = survey.write(dataset, folder, filmed)?;
    Ok(Report { survey, page, filmed })
}

/// `<name>_report` in the folder that a dataset lies in.
///
/// # Errors
/// When there is no such dataset, or no folder around it.
pub fn folder_beside(dataset: &Path) -> Result<PathBuf, ReportError> {
    let full = dataset.canonicalize().map_err(|e| ReportError::file("find", dataset, e))?;
    let (Some(parent), Some(name)) = (full.parent(), full.file_name()) else {
        return Err(ReportError::NoFolderBeside(full));
    };
    Ok(parent.join(format!("{}_report", name.to_string_lossy())))
}
