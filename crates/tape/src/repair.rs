//! After a recorder was cut off: its whole frames become an episode. Only episodes that are made
//! again anyway are thrown away.
//!
//! Only what cannot be anything but an unfinished end is left out. Where a file was damaged
//! otherwise, what lies before the damage is saved, and the files are kept in `citrange/damaged`.

use std::path::{Path, PathBuf};

use crate::dataset::{Dataset, info, lock, recordings, save};
use crate::error::TapeError;
use crate::index::{Index, SIDE};
use crate::recording::Recording;
use crate::recover::{Found, is_repeatable, recover};

/// An episode that was cut off and is now part of the dataset, or why it cannot be.
#[derive(Debug)]
pub struct Repaired {
    /// Name of the recording.
    pub uid: String,
    /// Its number in the dataset; `None` when it held no whole frame.
    pub episode: Option<usize>,
    /// Frames that were saved.
    pub frames: usize,
    /// It was thrown away, because the collection it belongs to makes it again.
    pub discarded: bool,
    /// What could not be saved, and why; its files were moved to `citrange/damaged`.
    pub problem: Option<String>,
}

impl Dataset {
    /// Saves what interrupted recorders left.
    ///
    /// # Errors
    /// When another process records into the dataset, it is damaged, or the disk is full; what
    /// the recorders left is then still there.
    pub fn repair(root: &Path) -> Result<Vec<Repaired>, TapeError> {
        if !root.is_dir() {
            return Err(TapeError::Missing(format!("there is no folder {}", root.display())));
        }
        let _lock = lock(root)?;
        repair_locked(root)
    }
}

pub(crate) fn repair_locked(root: &Path) -> Result<Vec<Repaired>, TapeError> {
    let folders = unfinished(root)?;
    if root.is_dir() {
        // A save that was cut off may hold the very recording that still lies there.
        citrange_lerobot::Dataset::finish_interrupted(root)?;
    }
    let mut repaired = Vec::new();
    for folder in folders {
        let uid = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        repaired.push(repair_one(root, &folder, uid)?);
    }
    Ok(repaired)
}

/// Folders of recordings that nobody saved, oldest first.
pub(crate) fn unfinished(root: &Path) -> Result<Vec<PathBuf>, TapeError> {
    let folder = recordings(root);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(TapeError::file("list", &folder, e)),
    };
    let all: Result<Vec<PathBuf>, _> = entries.map(|e| e.map(|e| e.path())).collect();
    let mut all = all.map_err(|e| TapeError::file("list", &folder, e))?;
    all.sort();
    Ok(all)
}

fn repair_one(root: &Path, folder: &Path, uid: String) -> Result<Repaired, TapeError> {
    let gone = || std::fs::remove_dir_all(folder).map_err(|e| TapeError::file("remove", folder, e));
    let put_away = |problem: String| {
        put_away(root, folder, &uid)?;
        Ok::<_, TapeError>(Some(problem))
    };
    let done = |episode, frames, problem| Repaired {
        uid: uid.clone(),
        episode,
        frames,
        discarded: false,
        problem,
    };
    let index = Index::read(root)?;
    let known = index
        .as_ref()
        .and_then(|i| i.episodes.iter().position(|e| e.as_ref().is_some_and(|e| e.uid == uid)));
    if let Some(number) = known {
        // Cut off after the save, before the folder was removed.
        let frames = index.as_ref().and_then(|i| i.episodes[number].as_ref());
        let frames = frames.map_or(0, |entry| entry.frames.len());
        gone()?;
        return Ok(done(Some(number), frames, None));
    }
    if is_repeatable(folder)? {
        gone()?;
        return Ok(Repaired { discarded: true, ..done(None, 0, None) });
    }
    let (recording, damage) = match recover(folder) {
        Ok(Found::Frames { recording, damage }) => (recording, damage),
        Ok(Found::Nothing) => {
            gone()?;
            return Ok(done(None, 0, None));
        }
        Err(error @ TapeError::File { .. }) => return Err(error),
        Err(error) => return Ok(done(None, 0, put_away(error.to_string())?)),
    };
    let frames = recording.frames();
    match save_into(root, index, *recording) {
        Ok(number) => {
            let problem = match damage {
                Some(damage) => put_away(damage)?,
                None => {
                    gone()?;
                    None
                }
            };
            Ok(done(Some(number), frames, problem))
        }
        // It belongs to another robot, or its pictures cannot be decoded: not the dataset's fault.
        Err(
            error @ (TapeError::LeRobot(citrange_lerobot::LerobotError::Disagrees { .. })
            | TapeError::Missing(_)
            | TapeError::Refused(_)
            | TapeError::Video(_)
            | TapeError::Log { .. }),
        ) => Ok(done(None, 0, put_away(error.to_string())?)),
        Err(error) => Err(error),
    }
}

fn save_into(root: &Path, index: Option<Index>, recording: Recording) -> Result<usize, TapeError> {
    let header = &recording.header;
    let units = header.unit.of(&header.rig).map_err(TapeError::Missing)?;
    let info = info(&header.rig, (header.unit, header.features), &units, &header.images);
    let mut lerobot = citrange_lerobot::Dataset::open_or_create(root, info)?;
    let index = index.unwrap_or_else(|| Index::new(units));
    Ok(save(&mut lerobot, &index, recording)?.0)
}

/// Moves a recording to where nobody removes it.
fn put_away(root: &Path, folder: &Path, uid: &str) -> Result<(), TapeError> {
    let damaged = root.join(SIDE).join("damaged");
    std::fs::create_dir_all(&damaged)
        .and_then(|()| std::fs::rename(folder, damaged.join(uid)))
        .map_err(|e| TapeError::file("move", folder, e))
}
