//! `citrange/collect.jsonl`: when, how fast and by whom episodes were made, and with which index
//! their run began. Of all files of a collection the only one that differs from run to run.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use citrange_tape::{Dataset, RunName};
use serde_json::{Value, json};

use crate::error::{Context as _, Result};

pub(crate) struct Journal(File);

fn path_in(root: &Path) -> PathBuf {
    root.join("citrange/collect.jsonl")
}

impl Journal {
    /// The journal of a dataset, to be gone on with.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let path = path_in(root);
        let file = File::options().create(true).append(true).open(&path);
        Ok(Self(file.with_context(|| format!("cannot open {}", path.display()))?))
    }

    /// Adds a line, in one call to the system: a kill leaves no half of it.
    pub(crate) fn add(&mut self, line: &Value) -> Result<()> {
        let line = format!("{line}\n");
        self.0.write_all(line.as_bytes()).context("cannot write citrange/collect.jsonl")
    }
}

/// The lines of a dataset's journal; none where it has none. Lines that make no sense are left out.
fn lines(root: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path_in(root)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The index with which a run began, as the journal has it.
pub(crate) fn first_of(root: &Path, run: &RunName) -> Option<u64> {
    let of_run = |line: &Value| {
        run.episode_of(line["uid"].as_str()?)?;
        line["first"].as_u64()
    };
    lines(root).iter().filter_map(of_run).min()
}

/// The journal of a dataset that was put together of parts: their lines of the episodes that are in
/// it, under their new numbers. The run of all of them began where the first of them did.
pub(crate) fn write_merged(parts: &[(&Dataset, usize)], to: &Path) -> Result<()> {
    let mut texts: Vec<(&Path, Vec<Value>)> = Vec::new();
    for (dataset, _) in parts {
        if texts.iter().all(|(root, _)| *root != dataset.root()) {
            texts.push((dataset.root(), lines(dataset.root())));
        }
    }
    let all = texts.iter().flat_map(|(_, lines)| lines);
    let Some(first) = all.filter_map(|line| line["first"].as_u64()).min() else { return Ok(()) };
    let mut merged = String::new();
    for (number, (dataset, episode)) in parts.iter().enumerate() {
        let uid = dataset.entry(*episode).map(|entry| entry.uid.as_str());
        let of_part = texts.iter().filter(|(root, _)| *root == dataset.root());
        let mut lines = of_part.flat_map(|(_, lines)| lines);
        let line = lines.find(|line| {
            line["number"].as_u64() == Some(*episode as u64) && line["uid"].as_str() == uid
        });
        if let Some(mut line) = line.cloned() {
            (line["number"], line["first"]) = (json!(number), json!(first));
            merged.push_str(&format!("{line}\n"));
        }
    }
    let path = path_in(to);
    std::fs::write(&path, merged).with_context(|| format!("cannot write {}", path.display()))
}
