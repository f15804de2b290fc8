//! The index made again from the tapes: which of them an episode shows is told by its rows, which
//! are those of the tape bit for bit.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use citrange_core::Outcome;

use crate::dataset::{ACTION, Dataset, STATE, lock, units_said, write_synced};
use crate::episode::Episode;
use crate::error::TapeError;
use crate::header::TapeHeader;
use crate::index::{Entry, Found, INDEX, Index, SIDE, tape_files, tape_name};
use crate::tapes::{RowBits, tape_row};

/// What became of the index of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebuilt {
    /// What was wrong with it.
    pub reason: String,
    /// Whether it is another one now.
    pub changed: bool,
    /// Episodes of the dataset.
    pub episodes: usize,
    /// Those that have their tape.
    pub with_tape: usize,
    /// Those whose labels, notes and outcomes could be taken over from the old index.
    pub kept: usize,
    /// Tapes that were put under their own names.
    pub renamed: usize,
    /// Where the old index is, if it was damaged.
    pub old: Option<PathBuf>,
    /// What is still wrong, in words.
    pub problems: Vec<String>,
}

impl Dataset {
    /// Makes `citrange/index.json` again where it is damaged or missing, and ties tapes that lie
    /// unused to the episodes whose rows they hold. `None` when nothing is wrong with it.
    ///
    /// # Errors
    /// When somebody records into the dataset, it is damaged otherwise, or the index was written
    /// by a newer Citrange.
    pub fn repair_index(root: &Path) -> Result<Option<Rebuilt>, TapeError> {
        if !root.join("meta/info.json").exists() {
            return Ok(None);
        }
        let lock = lock(root)?;
        // Finishes a save that was cut off, which may be that of the index.
        let lerobot = citrange_lerobot::Dataset::open(root)?;
        let files = tape_files(root)?;
        let (found, wrong) = match Found::look(root)? {
            Found::None if files.is_empty() => return Ok(None),
            Found::None => (Old::default(), "it is missing".to_owned()),
            Found::Damaged { reason, entries } => {
                (Old { entries, ..Old::default() }, format!("it is damaged ({reason})"))
            }
            // The message says what to do.
            Found::Newer(_) => return Index::read(root).map(|_| None),
            Found::Good(index) => {
                let entries = index.episodes.iter().flatten().cloned().collect();
                (Old { index: Some(index), entries }, String::new())
            }
        };
        let index = found.index.clone().unwrap_or_else(|| Index::new(units_said(lerobot.info())));
        let mut dataset = Self { lerobot, index, _lock: Some(lock) };
        let broken = dataset.broken();
        let is_all_right = wrong.is_empty() && broken.is_empty();
        if is_all_right && dataset.unused_tapes()?.is_empty() {
            return Ok(None);
        }
        dataset.rebuild(&found, wrong, files).map(Some)
    }

    /// Episodes whose tape cannot be used, and why.
    fn broken(&self) -> Vec<(usize, String)> {
        let problem = |episode| self.tape(episode).err().map(|e| (episode, e.to_string()));
        (0..self.len()).filter_map(problem).collect()
    }

    fn rebuild(
        &mut self,
        old: &Old,
        wrong: String,
        files: Vec<String>,
    ) -> Result<Rebuilt, TapeError> {
        let (renamed, mut problems) = name_rightly(self.root(), files)?;
        let tapes = self.read_tapes(&mut problems)?;
        let mut entries = self.index.episodes.clone();
        entries.resize(self.len(), None);
        entries.truncate(self.len());
        let mut used: Vec<(String, Range<usize>)> = Vec::new();
        let mut open = Vec::new();
        for (episode, entry) in entries.iter().enumerate() {
            match (self.tape(episode), entry) {
                (Ok(Some(_)), Some(entry)) => used.push((entry.uid.clone(), entry.frames.clone())),
                _ => open.push(episode),
            }
        }
        let mut kept = 0;
        for episode in open {
            let fits = self.fitting(episode, &tapes)?;
            // Episodes that look alike are told apart by the order in which they were recorded.
            let free = |fit: &&(usize, Range<usize>)| {
                let overlaps = |(uid, frames): &(String, Range<usize>)| {
                    *uid == tapes.all[fit.0].header.uid
                        && frames.start < fit.1.end
                        && fit.1.start < frames.end
                };
                !used.iter().any(overlaps)
            };
            let Some((tape, frames)) = fits.iter().find(free).or(fits.first()).cloned() else {
                continue;
            };
            let Known { header, outcome, .. } = &tapes.all[tape];
            let before = old.entries.iter().find(|e| e.uid == header.uid && e.frames == frames);
            kept += usize::from(before.is_some());
            used.push((header.uid.clone(), frames.clone()));
            entries[episode] = Some(
                before.cloned().unwrap_or_else(|| Entry::new(header, frames, outcome.clone())),
            );
        }
        let changed = entries != self.index.episodes || old.index.is_none();
        self.index.episodes = entries;
        let damaged = if changed { self.replace_index(old.index.is_none())? } else { None };
        let still = self.broken();
        problems.extend(still.iter().map(|(episode, why)| format!("episode {episode}: {why}")));
        let unused = self.unused_tapes()?.into_iter().filter_map(|finding| finding.file);
        problems.extend(unused.map(|name| format!("{name}: its rows are in no episode")));
        let has = |episode: &usize| matches!(self.tape(*episode), Ok(Some(_)));
        Ok(Rebuilt {
            reason: if wrong.is_empty() { "tapes and rows do not agree".into() } else { wrong },
            changed,
            episodes: self.len(),
            with_tape: (0..self.len()).filter(has).count(),
            kept,
            renamed,
            old: damaged,
            problems,
        })
    }

    /// Reads every tape; those that cannot be used are named.
    fn read_tapes(&mut self, problems: &mut Vec<String>) -> Result<Tapes, TapeError> {
        let mut tapes = Tapes::default();
        for name in tape_files(self.root())? {
            let tape = match Episode::read(&self.root().join(&name)) {
                Ok(tape) if tape.damage.is_empty() => tape,
                Ok(_) => {
                    problems.push(format!("{name}: it is damaged"));
                    continue;
                }
                Err(error @ TapeError::File { .. }) => return Err(error),
                Err(error) => {
                    problems.push(error.to_string());
                    continue;
                }
            };
            if self.index.units.is_empty() {
                let units = tape.header.unit.of(&tape.header.rig);
                self.index.units = units.map_err(TapeError::Missing)?;
            }
            let (features, units) = (self.features(), &self.index.units);
            let row = |frame| key(tape_row(features, units, &tape, frame).into_iter().map(Some));
            let rows: Vec<u64> = (0..tape.len()).map(row).collect();
            for (frame, key) in rows.iter().enumerate() {
                tapes.frames.entry(*key).or_default().push((tapes.all.len(), frame));
            }
            tapes.all.push(Known { outcome: tape.outcome(), header: tape.header, rows });
        }
        Ok(tapes)
    }

    /// The tapes and their frames that an episode's rows may be; those with its task first.
    fn fitting(
        &self,
        episode: usize,
        tapes: &Tapes,
    ) -> Result<Vec<(usize, Range<usize>)>, TapeError> {
        let data = self.lerobot.read_columns(episode, &[STATE, ACTION])?;
        let Some(bits) = RowBits::new(self, &data) else { return Ok(Vec::new()) };
        let rows: Vec<u64> = (0..data.length).map(|row| key(bits.row(row))).collect();
        let begins = rows.first().and_then(|first| tapes.frames.get(first));
        let whole = begins.into_iter().flatten().filter_map(|(tape, start)| {
            let frames = *start..start + rows.len();
            (tapes.all[*tape].rows.get(frames.clone())? == rows).then_some((*tape, frames))
        });
        let mut whole: Vec<(usize, Range<usize>)> = whole.collect();
        whole.sort_by_key(|(tape, _)| !data.tasks.contains(&tapes.all[*tape].header.task));
        Ok(whole)
    }

    /// Writes the index; a damaged one is put away.
    fn replace_index(&self, put_away: bool) -> Result<Option<PathBuf>, TapeError> {
        let path = self.root().join(INDEX);
        let part = path.with_extension("json.part");
        write_synced(&part, &self.index.to_json()?)?;
        let mut old = None;
        if put_away && path.exists() {
            let folder = self.root().join(SIDE).join("damaged");
            let free = (0..).map(|n| folder.join(format!("index-{n}.json"))).find(|p| !p.exists());
            old = free;
            if let Some(old) = &old {
                std::fs::create_dir_all(&folder)
                    .and_then(|()| std::fs::copy(&path, old).map(|_| ()))
                    .map_err(|e| TapeError::file("copy", &path, e))?;
            }
        }
        std::fs::rename(&part, &path).map_err(|e| TapeError::file("rename to", &path, e))?;
        Ok(old)
    }
}

/// What is known of the index as it was.
#[derive(Default)]
struct Old {
    /// It, where it can be read.
    index: Option<Index>,
    /// Entries that can be made out.
    entries: Vec<Entry>,
}

/// A tape that can be used.
struct Known {
    header: TapeHeader,
    outcome: Outcome,
    /// A key of what a row of each frame holds.
    rows: Vec<u64>,
}

#[derive(Default)]
struct Tapes {
    all: Vec<Known>,
    /// Where a row may be: tape and frame.
    frames: HashMap<u64, Vec<(usize, usize)>>,
}

fn key(row: impl Iterator<Item = Option<f32>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.for_each(|value| value.map(f32::to_bits).hash(&mut hasher));
    hasher.finish()
}

/// Gives tapes the names that their headers say; answers how many, and which could not be.
fn name_rightly(root: &Path, files: Vec<String>) -> Result<(usize, Vec<String>), TapeError> {
    let wrong = |name: String| {
        let tape = Episode::read(&root.join(&name)).ok()?;
        let right = tape_name(&tape.header.uid);
        (right != name && !tape.header.uid.contains(['/', '\\'])).then_some((name, right))
    };
    let wrong: Vec<(String, String)> = files.into_iter().filter_map(wrong).collect();
    let rename = |from: &str, to: &str| {
        let (from, to) = (root.join(from), root.join(to));
        std::fs::rename(&from, &to).map_err(|e| TapeError::file("rename", &from, e))
    };
    let (mut renamed, mut problems) = (0, Vec::new());
    // Swapped tapes stand in each other's way: first all step aside. Still tapes by their names,
    // so that whoever is cut off here goes on next time.
    let aside = |name: &str| format!("{}.aside.tape", name.trim_end_matches(".tape"));
    for (name, _) in &wrong {
        rename(name, &aside(name))?;
    }
    for (name, right) in &wrong {
        if root.join(right).exists() {
            rename(&aside(name), name)?;
            problems.push(format!("{name}: it is a second tape of the name {right}"));
        } else {
            rename(&aside(name), right)?;
            renamed += 1;
        }
    }
    Ok((renamed, problems))
}
