//! `citrange/index.json`: what belongs to each LeRobot episode beside its rows and videos.

use std::ops::Range;
use std::path::Path;

use citrange_core::Outcome;
use serde::{Deserialize, Serialize};

use crate::error::TapeError;
use crate::header::{Parent, Play, TapeHeader};
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

impl Entry {
    pub(crate) fn new(header: &TapeHeader, frames: Range<usize>, outcome: Outcome) -> Self {
        Self {
            uid: header.uid.clone(),
            frames,
            outcome,
            labels: Vec::new(),
            note: String::new(),
            parent: header.parent.clone(),
            imported: header.imported().map(|imported| imported.play),
        }
    }
}

impl Index {
    pub(crate) fn new(units: Vec<JointUnit>) -> Self {
        let tool_version = env!("CARGO_PKG_VERSION").to_owned();
        Self { format_version: FORMAT_VERSION, tool_version, units, episodes: Vec::new() }
    }

    /// The dataset's index; `None` when it has none: somebody else's dataset.
    ///
    /// # Errors
    /// When it cannot be used; what can be mended says how.
    pub(crate) fn read(root: &Path) -> Result<Option<Self>, TapeError> {
        let path = root.join(INDEX);
        let fail = |reason: String| Err(TapeError::Log { path: path.clone(), reason });
        let cure =
            || format!("`citrange data repair {}` makes it again from the tapes", root.display());
        match Found::look(root)? {
            Found::Good(index) => Ok(Some(index)),
            Found::None if tape_files(root)?.is_empty() => Ok(None),
            Found::None => fail(format!("it is missing though there are tapes; {}", cure())),
            Found::Newer(version) => fail(format!(
                "it has format {version}, this Citrange reads {FORMAT_VERSION}: update it"
            )),
            Found::Damaged { reason, .. } => fail(format!("it is damaged ({reason}); {}", cure())),
        }
    }

    pub(crate) fn to_json(&self) -> Result<Vec<u8>, TapeError> {
        let fail = |e| TapeError::Recording(format!("the index cannot be written: {e}"));
        serde_json::to_vec_pretty(self).map_err(fail)
    }
}

/// What lies where the index should be.
pub(crate) enum Found {
    None,
    Good(Index),
    /// Written by a newer Citrange: this is its format.
    Newer(u64),
    Damaged {
        reason: String,
        /// What can still be made out.
        entries: Vec<Entry>,
    },
}

impl Found {
    pub(crate) fn look(root: &Path) -> Result<Self, TapeError> {
        let path = root.join(INDEX);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::None),
            Err(e) => return Err(TapeError::file("read", &path, e)),
        };
        let damaged = |reason: String| Ok(Self::Damaged { reason, entries: entries_among(&text) });
        let json: serde_json::Value = match serde_json::from_slice(&text) {
            Ok(json) => json,
            Err(e) => return damaged(e.to_string()),
        };
        let version = json.get("format_version").and_then(serde_json::Value::as_u64);
        if let Some(version) = version.filter(|v| *v > u64::from(FORMAT_VERSION)) {
            return Ok(Self::Newer(version));
        }
        let index: Index = match serde_json::from_value(json) {
            Ok(index) => index,
            Err(e) => return damaged(e.to_string()),
        };
        if index.format_version != FORMAT_VERSION {
            return damaged(format!("there is no format {}", index.format_version));
        }
        match index.episodes.iter().flatten().find(|e| !is_name(&e.uid)) {
            Some(entry) => damaged(format!("\"{}\" is no name of an episode", entry.uid)),
            None => Ok(Self::Good(index)),
        }
    }
}

/// A tape's name becomes a file name.
fn is_name(uid: &str) -> bool {
    !(uid.is_empty() || uid.contains(['/', '\\']) || uid.starts_with('.'))
}

/// The entries that are whole in a damaged index: labels and notes are nowhere else.
fn entries_among(text: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (at, _) in text.windows(5).enumerate().filter(|(_, w)| *w == b"\"uid\"") {
        let Some(begins) = text[..at].iter().rposition(|byte| *byte == b'{') else { continue };
        let json = serde_json::Deserializer::from_slice(&text[begins..]);
        // A parent has a name too, and is no entry.
        if let Some(Ok(entry)) = json.into_iter::<Entry>().next()
            && is_name(&entry.uid)
        {
            entries.push(entry);
        }
    }
    entries
}

/// The tapes that lie in a dataset, by their paths inside it, in order.
pub(crate) fn tape_files(root: &Path) -> Result<Vec<String>, TapeError> {
    let folder = root.join(SIDE).join("episodes");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(TapeError::file("list", &folder, e)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| TapeError::file("list", &folder, e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".tape") {
            names.push(format!("{SIDE}/episodes/{name}"));
        }
    }
    names.sort();
    Ok(names)
}

/// Path of a tape inside a dataset.
pub(crate) fn tape_name(uid: &str) -> String {
    format!("{SIDE}/episodes/{uid}.tape")
}
