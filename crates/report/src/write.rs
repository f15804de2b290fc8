//! Writes a report into a folder.

use std::path::{Path, PathBuf};

use citrange_core::png::PngEffort;
use citrange_tape::Dataset;
use serde::Serialize;

use crate::charts::charts;
use crate::error::ReportError;
use crate::page::{Parts, page};
use crate::sheet::contact_sheet;
use crate::stills::{add_stills, lost_things, poster};
use crate::survey::Survey;

/// Version of `report.json`.
const FORMAT_VERSION: u32 = 1;
const SHEET: &str = "contact_sheet.png";
/// What is seen of the film before it is played.
const POSTER: &str = "poster.png";
/// Every chart that a report may have: those of an earlier report that this one has not must go.
const CHARTS: [&str; 7] =
    ["success", "outcomes", "failures", "durations", "starts", "ends", "lengths"];

#[derive(Debug, Serialize)]
struct Json<'a> {
    format_version: u32,
    tool_version: &'static str,
    film_episode: Option<usize>,
    #[serde(flatten)]
    survey: &'a Survey,
}

impl Survey {
    /// The few lines that a person wants to know at once.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let numbers = &self.numbers;
        let mut lines = Vec::new();
        let rate = |rate: &crate::Rate| {
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
        for problem in self.problems.iter().take(5) {
            lines.push(format!("could not be read: {problem}"));
        }
        if self.problems.len() > 5 {
            lines.push(format!("{} more problems are in the report", self.problems.len() - 5));
        }
        lines
    }

    /// Writes `report.html`, `report.json`, the charts and the contact sheet; answers the page's
    /// path. `film` is the episode of which `film.mp4` lies in the folder already. Pictures that
    /// cannot be decoded are told of in the report.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(
        &mut self,
        dataset: &Dataset,
        folder: &Path,
        film: Option<usize>,
    ) -> Result<PathBuf, ReportError> {
        std::fs::create_dir_all(folder).map_err(|e| ReportError::file("create", folder, e))?;
        let mut problems = Vec::new();
        let sheet = match self.about.cameras.first() {
            Some(camera) => contact_sheet(dataset, &self.episodes, camera, &mut problems),
            None => None,
        };
        let mut lost = lost_things(&self.episodes);
        add_stills(&mut lost, dataset, &self.about.cameras, &mut problems);
        let poster = film.and_then(|episode| {
            let facts = self.episodes.iter().find(|facts| facts.episode == episode)?;
            poster(dataset, facts, &self.about.cameras, &mut problems)
        });
        problems.dedup();
        self.problems.extend(problems);

        let sheet = sheet.map(|sheet| sheet.png(PngEffort::Small)).transpose()?;
        put(&folder.join(SHEET), sheet.as_deref())?;
        let poster = poster.map(|poster| poster.png(PngEffort::Small)).transpose()?;
        put(&folder.join(POSTER), poster.as_deref())?;
        let charts = charts(self);
        for name in CHARTS {
            let chart = charts.iter().find(|chart| chart.name == name).map(|chart| chart.file());
            let path = folder.join(format!("{name}.svg"));
            put(&path, chart.as_ref().map(String::as_bytes))?;
        }
        let json = Json {
            format_version: FORMAT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION"),
            film_episode: film,
            survey: self,
        };
        put(&folder.join("report.json"), Some(&serde_json::to_vec_pretty(&json)?))?;
        let lost = lost.as_slice();
        let (sheet, has_poster) = (sheet.as_deref(), poster.is_some());
        let parts = Parts { survey: self, charts: &charts, lost, sheet, film, has_poster };
        let path = folder.join("report.html");
        put(&path, Some(page(&parts)?.as_bytes()))?;
        Ok(path)
    }
}

/// Writes a file, or removes what an earlier report left.
fn put(path: &Path, bytes: Option<&[u8]>) -> Result<(), ReportError> {
    match bytes {
        Some(bytes) => std::fs::write(path, bytes).map_err(|e| ReportError::file("write", path, e)),
        None => match std::fs::remove_file(path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(ReportError::file("remove", path, e))
            }
            _ => Ok(()),
        },
    }
}
