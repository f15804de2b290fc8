//! What a check finds.

use std::collections::BTreeMap;
use std::fmt;

use citrange_video::mp4::Movie;

use crate::movie;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look; training works.
    Warning,
    /// Readers fail, or get wrong frames or numbers.
    Error,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad.
    pub severity: Severity,
    /// Which kind: a short word that stays the same between versions.
    pub code: &'static str,
    /// In which episode.
    pub episode: Option<usize>,
    /// At which frame of it (the first, when there are several).
    pub frame: Option<usize>,
    /// In which file, relative to the dataset.
    pub file: Option<String>,
    /// What is wrong, in words.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.severity == Severity::Error { "error" } else { "warning" };
        write!(f, "{severity} [{}]", self.code)?;
        if let Some(episode) = self.episode {
            write!(f, " episode {episode}")?;
        }
        if let Some(frame) = self.frame {
            write!(f, " frame {frame}")?;
        }
        write!(f, ": {}", self.message)?;
        self.file.as_ref().map_or(Ok(()), |file| write!(f, " ({file})"))
    }
}

/// What a check found, and what it could not look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// What is wrong, worst first.
    pub findings: Vec<Finding>,
    /// Videos whose pictures were to be decoded and cannot be here, by codec: `AV1`.
    pub not_decoded: BTreeMap<String, usize>,
}

impl Checked {
    /// `2 videos not decoded: AV1`; nothing where all was decoded, or nothing was to be.
    #[must_use]
    pub fn not_decoded_text(&self) -> Option<String> {
        let each = |(codec, count): (&String, &usize)| {
            let videos = if *count == 1 { "video" } else { "videos" };
            format!("{count} {videos} not decoded: {codec}")
        };
        let all: Vec<String> = self.not_decoded.iter().map(each).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// Collects findings.
#[derive(Default)]
pub(crate) struct Findings(pub(crate) Checked);

/// Where a finding is.
#[derive(Clone, Debug, Default)]
pub(crate) struct At {
    pub(crate) episode: Option<usize>,
    pub(crate) frame: Option<usize>,
    pub(crate) file: Option<String>,
}

impl At {
    pub(crate) fn file(name: &str) -> Self {
        Self { file: Some(name.into()), ..Self::default() }
    }

    pub(crate) fn frame(&self, frame: usize) -> Self {
        Self { frame: Some(frame), ..self.clone() }
    }
}

impl Findings {
    fn add(&mut self, severity: Severity, code: &'static str, at: At, message: String) {
        let At { episode, frame, file } = at;
        self.0.findings.push(Finding { severity, code, episode, frame, file, message });
    }

    pub(crate) fn not_decoded(&mut self, movie: &Movie) {
        *self.0.not_decoded.entry(movie::kind(movie)).or_default() += 1;
    }

    pub(crate) fn error(&mut self, code: &'static str, at: At, message: String) {
        self.add(Severity::Error, code, at, message);
    }

    pub(crate) fn warning(&mut self, code: &'static str, at: At, message: String) {
        self.add(Severity::Warning, code, at, message);
    }
}
