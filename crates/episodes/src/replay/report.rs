//! What came of replays, in words, as JSON and as one verdict.

use std::collections::BTreeMap;

use citrange_core::{Classified as _, ErrorKind};
use citrange_tape::VerifyReport;
use serde_json::{Value, json};

use crate::error::{Context as _, EpisodesError, Result};
use crate::objects::ObjectReport;

/// What became of an episode.
#[derive(Debug)]
pub enum EpisodeResult {
    /// It was played, perhaps not to its end.
    Played(Replayed),
    /// It could not be.
    Failed(EpisodesError),
    /// The user asked to stop before its turn.
    NotPlayed,
}

/// What came of a replay; `of` are the frames that all of it would be.
#[derive(Debug)]
pub enum Replayed {
    /// Every command, every physics step compared.
    Exact {
        /// What the comparison found.
        verify: VerifyReport,
        /// Frames played.
        frames: u64,
        /// Frames that all of it would be.
        of: u64,
    },
    /// Every command, nothing compared.
    Commands {
        /// Frames played.
        frames: u64,
        /// Frames that all of it would be.
        of: u64,
        /// Ticks that began late.
        late_ticks: u64,
    },
    /// One target per frame.
    Near {
        /// Frames played.
        frames: u64,
        /// Frames that all of it would be.
        of: u64,
        /// How well the start was restored.
        level: String,
        /// What the numbers of the file were taken for, where it does not say.
        unit: Option<String>,
        /// Largest distance of a joint from the recorded one; not a number where none is recorded.
        largest_rad: f64,
        /// Mean distance.
        mean_rad: f64,
        /// How far objects ended from where they were; none where that is not known.
        objects_m: BTreeMap<String, f64>,
        /// Of a file of others: its objects frame by frame.
        objects: Option<ObjectReport>,
    },
}

/// What became of all episodes that were to be played.
#[derive(Debug)]
pub struct ReplayReport {
    /// Number and result of each.
    pub episodes: Vec<(usize, EpisodeResult)>,
    /// Whether every physics step was to be compared.
    pub verify: bool,
}

impl ReplayReport {
    fn count(&self, what: impl Fn(&EpisodeResult) -> bool) -> usize {
        self.episodes.iter().filter(|(_, result)| what(result)).count()
    }

    fn unreadable(&self) -> usize {
        self.count(|result| matches!(result, EpisodeResult::Failed(_)))
    }

    fn unfinished(&self) -> usize {
        self.count(|r| !r.is_complete() && !matches!(r, EpisodeResult::Failed(_)))
    }

    fn differing(&self) -> usize {
        self.count(|r| matches!(r, EpisodeResult::Played(played) if played.differs(self.verify)))
    }

    /// Whether there is anything to tell beside an error: an episode that cannot be read is an
    /// error, unless a verification looks for it.
    fn is_told(&self) -> bool {
        self.verify || self.unreadable() == 0
    }

    /// For machines; none where the error says it all.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        let not_played =
            self.episodes.iter().filter(|(_, result)| matches!(result, EpisodeResult::NotPlayed));
        let report = json!({
            "episodes": self.episodes.iter().map(|(n, result)| result.json(*n)).collect::<Vec<_>>(),
            "differing": self.differing(), "unreadable": self.unreadable(),
            "not_played": not_played.map(|(episode, _)| episode).collect::<Vec<_>>(),
            "complete": self.unfinished() == 0 && self.unreadable() == 0,
        });
        self.is_told().then_some(report)
    }

    /// For people: a line per episode.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let line = |(episode, result): &(usize, EpisodeResult)| {
            format!("episode {episode}: {}", result.text())
        };
        self.episodes.iter().filter(|_| self.is_told()).map(line).collect()
    }

    /// What all of it comes to.
    ///
    /// # Errors
    /// [`EpisodesError::Interrupted`] when not all was played, [`EpisodesError::ProblemsFound`]
    /// when something differs, and what went wrong where an episode could not be played.
    pub fn verdict(self) -> Result<()> {
        let (all, verify) = (self.episodes.len(), self.verify);
        let (unfinished, differing) = (self.unfinished(), self.differing());
        let unreadable = self.unreadable();
        let mut failure = None;
        let mut problems = Vec::new();
        for (episode, result) in self.episodes {
            match result {
                EpisodeResult::Played(replayed) => {
                    let problem = replayed.problem();
                    problems.extend(problem.map(|problem| format!("episode {episode}: {problem}")));
                }
                // A bad episode is what a verification looks for; a machine that cannot play is
                // not.
                EpisodeResult::Failed(error) if !verify || error.kind() != ErrorKind::BadInput => {
                    failure.get_or_insert((episode, error));
                }
                EpisodeResult::Failed(_) | EpisodeResult::NotPlayed => {}
            }
        }
        if unfinished > 0 {
            let what = format!("{unfinished} of {all} episodes were not played to their end");
            return Err(EpisodesError::Interrupted).with_context(|| what);
        }
        if let Some((episode, error)) = failure {
            return Err(error).with_context(|| format!("episode {episode}"));
        }
        if verify && differing > 0 {
            problems.push(format!("{differing} of {all} episodes differ"));
        }
        if unreadable > 0 {
            problems.push(format!("{unreadable} of {all} episodes cannot be read"));
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(EpisodesError::ProblemsFound(problems.join(", ")))
    }
}

impl EpisodeResult {
    fn is_complete(&self) -> bool {
        matches!(self, Self::Played(replayed) if replayed.is_complete())
    }

    fn text(&self) -> String {
        match self {
            Self::Played(replayed) => replayed.text(),
            Self::Failed(error) => format!("cannot be read: {}", error.text()),
            Self::NotPlayed => "not played".into(),
        }
    }

    fn json(&self, episode: usize) -> Value {
        match self {
            Self::Played(replayed) => replayed.json(episode),
            Self::Failed(error) => json!({
                "episode": episode, "kind": "unreadable", "complete": false, "bitwise": null,
                "error": error.text(),
            }),
            Self::NotPlayed => json!({
                "episode": episode, "kind": "not_played", "complete": false, "bitwise": null,
            }),
        }
    }
}

impl Replayed {
    fn played(&self) -> (u64, u64) {
        match self {
            Self::Exact { frames, of, .. }
            | Self::Commands { frames, of, .. }
            | Self::Near { frames, of, .. } => (*frames, *of),
        }
    }

    fn is_complete(&self) -> bool {
        let (frames, of) = self.played();
        let compared = match self {
            Self::Exact { verify, .. } => verify.is_complete() || verify.first.is_some(),
            _ => true,
        };
        frames >= of && compared
    }

    /// Whether it is known not to be the recorded episode.
    fn differs(&self, verify: bool) -> bool {
        match self {
            Self::Exact { verify, .. } => verify.first.is_some(),
            Self::Commands { .. } => false,
            Self::Near { .. } => verify && self.is_complete(),
        }
    }

    /// Why what was played is not what the file shows.
    fn problem(&self) -> Option<String> {
        match self {
            Self::Near { objects: Some(objects), .. } => objects.problem(),
            _ => None,
        }
    }

    fn text(&self) -> String {
        let (frames, of) = self.played();
        let frames = if frames < of {
            format!("stopped after {frames} of {of} frames")
        } else {
            format!("{frames} frames")
        };
        match self {
            Self::Exact { verify, .. } => verify.to_string(),
            Self::Commands { late_ticks, .. } => {
                format!("{frames}, every command, {late_ticks} ticks late")
            }
            Self::Near { level, largest_rad, mean_rad, objects_m, objects, .. } => {
                let mut text = format!("{frames} by one target per frame; {level}; ");
                text += &match largest_rad.is_nan() {
                    true => "no joints to compare".to_owned(),
                    false => format!(
                        "joints within {largest_rad:.4} rad of the recorded ones (mean \
                         {mean_rad:.4})"
                    ),
                };
                if let Some(objects) = objects {
                    text += &format!("; {objects}");
                }
                if let Some(worst) = objects_m.values().copied().reduce(f64::max) {
                    text += &format!("; objects end within {:.1} mm", worst * 1e3);
                }
                text
            }
        }
    }

    fn json(&self, episode: usize) -> Value {
        let complete = self.is_complete();
        match self {
            Self::Exact { verify, frames, .. } => {
                // Equal as far as it was compared is not equal.
                let known = verify.is_complete() || verify.first.is_some();
                json!({
                    "episode": episode, "kind": "exact", "frames": frames, "complete": complete,
                    "bitwise": known.then(|| verify.is_bitwise()), "verify": verify,
                })
            }
            Self::Commands { frames, late_ticks, .. } => json!({
                "episode": episode, "kind": "exact", "frames": frames, "complete": complete,
                "late_ticks": late_ticks,
            }),
            Self::Near {
                frames, level, unit, largest_rad, mean_rad, objects_m, objects, ..
            } => {
                json!({
                    "episode": episode, "kind": "frame_targets", "frames": frames,
                    "complete": complete, "start": level, "unit": unit,
                    "largest_joint_error_rad": largest_rad, "mean_joint_error_rad": mean_rad,
                    "object_end_errors_m": objects_m, "objects": objects,
                    "problem": self.problem(),
                })
            }
        }
    }
}
