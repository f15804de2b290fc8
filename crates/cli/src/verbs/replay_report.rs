//! What came of replays, in words, as JSON and as an exit code.

use std::collections::BTreeMap;

use anyhow::Context as _;
use citrange_tape::VerifyReport;
use serde_json::{Value, json};

use crate::exit::{Code, Interrupted, ProblemsFound, code};
use crate::objects::ObjectReport;
use crate::output;

/// What became of an episode.
pub(super) enum Told {
    Played(Replayed),
    Failed(anyhow::Error),
    /// The user asked to stop before its turn.
    NotPlayed,
}

/// What came of a replay; `of` are the frames that all of it would be.
pub(super) enum Replayed {
    Exact {
        verify: VerifyReport,
        frames: u64,
        of: u64,
    },
    /// Every command, nothing compared.
    Commands {
        frames: u64,
        of: u64,
        late_ticks: u64,
    },
    Near {
        frames: u64,
        of: u64,
        level: String,
        /// What the numbers of the file were taken for, where it does not say.
        unit: Option<String>,
        largest_rad: f64,
        mean_rad: f64,
        /// How far objects ended from where they were; none where that is not known.
        objects_m: BTreeMap<String, f64>,
        /// Of a file of others: its objects frame by frame.
        objects: Option<ObjectReport>,
    },
}

/// Prints what became of every episode and answers with the exit code that all of it deserves.
pub(super) fn conclude(
    told: Vec<(usize, Told)>,
    verify: bool,
    as_json: bool,
) -> anyhow::Result<()> {
    let all = told.len();
    let is = |what: &dyn Fn(&Told) -> bool| told.iter().filter(|(_, t)| what(t)).count();
    let unfinished = is(&|t| !t.is_complete() && !matches!(t, Told::Failed(_)));
    let unreadable = is(&|t| matches!(t, Told::Failed(_)));
    let differing = is(&|t| matches!(t, Told::Played(replayed) if replayed.differs(verify)));
    if as_json && (verify || unreadable == 0) {
        let not_played = told.iter().filter(|(_, t)| matches!(t, Told::NotPlayed));
        let report = json!({
            "episodes": told.iter().map(|(episode, t)| t.json(*episode)).collect::<Vec<_>>(),
            "differing": differing, "unreadable": unreadable,
            "not_played": not_played.map(|(episode, _)| episode).collect::<Vec<_>>(),
            "complete": unfinished == 0 && unreadable == 0,
        });
        output::data(&report.to_string())?;
    }
    let mut failure = None;
    let mut problems = Vec::new();
    for (episode, told) in told {
        if let Told::Played(replayed) = &told {
            let problem = replayed.problem().map(|problem| format!("episode {episode}: {problem}"));
            problems.extend(problem);
        }
        if !as_json && (verify || unreadable == 0) {
            output::data(&format!("episode {episode}: {}", told.text()))?;
        }
        // A bad episode is what a verification looks for; a machine that cannot play is not.
        if let Told::Failed(error) = told
            && !(verify && code(&error) == Code::BadInput)
        {
            failure.get_or_insert(error.context(format!("episode {episode}")));
        }
    }
    if unfinished > 0 {
        let what = format!("{unfinished} of {all} episodes were not played to their end");
        return Err(anyhow::Error::new(Interrupted)).context(what);
    }
    if let Some(error) = failure {
        return Err(error);
    }
    if verify && differing > 0 {
        problems.push(format!("{differing} of {all} episodes differ"));
    }
    if unreadable > 0 {
        problems.push(format!("{unreadable} of {all} episodes cannot be read"));
    }
    if problems.is_empty() { Ok(()) } else { Err(ProblemsFound(problems.join(", ")).into()) }
}

impl Told {
    fn is_complete(&self) -> bool {
        matches!(self, Self::Played(replayed) if replayed.is_complete())
    }

    fn text(&self) -> String {
        match self {
            Self::Played(replayed) => replayed.text(),
            Self::Failed(error) => format!("cannot be read: {error:#}"),
            Self::NotPlayed => "not played".into(),
        }
    }

    fn json(&self, episode: usize) -> Value {
        match self {
            Self::Played(replayed) => replayed.json(episode),
            Self::Failed(error) => json!({
                "episode": episode, "kind": "unreadable", "complete": false, "bitwise": null,
                "error": format!("{error:#}"),
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
