//! `citrange/collect.jsonl`: when, how fast and by whom episodes were made. Of all files of a
//! collection the only one that differs from run to run.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::error::{Context as _, Result};

pub(crate) struct Journal(File);

impl Journal {
    /// The journal of a dataset, to be gone on with.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let path = root.join("citrange/collect.jsonl");
        let file = File::options().create(true).append(true).open(&path);
        Ok(Self(file.with_context(|| format!("cannot open {}", path.display()))?))
    }

    /// Adds a line, in one call to the system: a kill leaves no half of it.
    pub(crate) fn add(&mut self, line: &Value) -> Result<()> {
        let line = format!("{line}\n");
        self.0.write_all(line.as_bytes()).context("cannot write citrange/collect.jsonl")
    }
}
