//! `citrange/index.json`: what belongs to each LeRobot episode beside its rows and videos.

use std::ops::Range;
use std::path::Path;

use citrange_core::Outcome;
use serde::{Deserialize, Serialize};

use crate::error::TapeError;
use crate::header::{Parent, Play};
use crate::units::JointUnit;

const FORMAT_VERSION: u32 = 1;
/// Our folder inside a dataset; lerobot does not look into it.
pub(crate) const SIDE: &str = "citrange";
pub(crate) const INDEX: &str = "citrange/index.json";

/// One entry per episode, in the order of the dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Index {
    format_version: u32,
    tool_version: String,
    /// How the dataset's joint values are to be read.
    pub units: Vec<JointUnit>,
    /// `None` for an episode that somebody else recorded.
    pub episodes: Vec<Option<Entry>>,
}

/// What is known about an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of its tape: `citrange/episodes/<uid>.tape`.
    pub uid: String,
    /// The frames of the tape that the episode shows; fewer than all after trimming or splitting.
    pub frames: Range<usize>,
    /// How it ended.
    pub outcome: Outcome,
    /// Labels people gave it.
    #[serde(default)]
    pub labels: Vec<String>,
    /// A note people wrote.
    #[serde(default)]
    pub note: String,
    /// The episode that it continues.
    #[serde(default)]
    pub parent: Option<Parent>,
    /// How it was played when it was imported from a file of others: its tape is exact about that
    /// play, not about what the file shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Play>,
}

impl Index {
    pub(crate) fn new(units: Vec<JointUnit>) -> Self {
        let tool_version = env!("CARGO_PKG_VERSION").to_owned();
        Self { format_version: FORMAT_VERSION, tool_version, units, episodes: Vec::new() }
    }

    /// The dataset's index; `None` when it has none: somebody else's dataset.
    pub(crate) fn read(root: &Path) -> Result<Option<Self>, TapeError> {
        let path = root.join(INDEX);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(TapeError::file("read", &path, e)),
        };
        let fail = |reason: String| TapeError::Log { path: path.clone(), reason };
        let index: Self = serde_json::from_slice(&text).map_err(|e| fail(e.to_string()))?;
        if index.format_version != FORMAT_VERSION {
            let version = index.format_version;
            return Err(fail(format!("it has format {version}, this Citrange reads 1: update it")));
        }
        // A tape's name becomes a file name.
        let odd = |uid: &str| uid.is_empty() || uid.contains(['/', '\\']) || uid.starts_with('.');
        if let Some(entry) = index.episodes.iter().flatten().find(|e| odd(&e.uid)) {
            return Err(fail(format!("\"{}\" is no name of an episode", entry.uid)));
        }
        Ok(Some(index))
    }

    pub(crate) fn to_json(&self) -> Result<Vec<u8>, TapeError> {
        let fail = |e| TapeError::Recording(format!("the index cannot be written: {e}"));
        serde_json::to_vec_pretty(self).map_err(fail)
    }
}

/// Path of a tape inside a dataset.
pub(crate) fn tape_name(uid: &str) -> String {
    format!("{SIDE}/episodes/{uid}.tape")
}
