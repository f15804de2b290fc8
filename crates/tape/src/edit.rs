//! Changing a dataset: LeRobot's files by `citrange_lerobot`, tapes and index along with them.
//!
//! Tapes are never cut: an episode that was trimmed or split shows part of its tape, so nothing
//! of what was recorded is lost, and every part still replays exactly.

use std::ops::Range;
use std::path::Path;

use citrange_lerobot::{Applied, Edit, Origin, Packing, Piece, Plan, Rescale, Staging};

use crate::dataset::{ACTION, Dataset, STATE, UNITS_KEY, lock, units_json, write_synced};
use crate::depth::beside_files;
use crate::error::TapeError;
use crate::features::StateFeatures;
use crate::index::{Entry, INDEX, Index, SIDE, tape_name};
use crate::repair::unfinished;
use crate::units::{JointUnit, Unit};

/// Progress of long work: done, in all.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize);

/// An episode of a new dataset: from which dataset, which episode, which of its frames.
struct Source<'a> {
    dataset: &'a Dataset,
    episode: usize,
    frames: Range<usize>,
}

impl Dataset {
    /// Checks a change completely and says what it would do; nothing is touched.
    ///
    /// # Errors
    /// When an episode or frame is not there, or nothing would be left or change.
    pub fn plan(&self, edit: &Edit) -> Result<Plan, TapeError> {
        Ok(citrange_lerobot::plan(&self.lerobot, edit)?)
    }

    /// Carries a plan out. The dataset as it was goes to the trash folder beside it.
    ///
    /// # Errors
    /// When somebody records into it, it changed meanwhile, or something cannot be written; then
    /// it stays as it is.
    pub fn apply(&self, plan: &Plan, progress: Progress<'_>) -> Result<Applied, TapeError> {
        let _lock = lock(self.root())?;
        // The dataset as it was goes away, and with it what lies unsaved in it.
        if !unfinished(self.root())?.is_empty() {
            let root = self.root().display();
            return Err(TapeError::Refused(format!(
                "{root} holds a recording that was cut off; run `citrange data repair {root}` first"
            )));
        }
        let side = |_: &Path, new: &Path, origins: &[Origin]| {
            let sources: Vec<Source<'_>> = origins
                .iter()
                .map(|o| Source { dataset: self, episode: o.episode, frames: o.frames.clone() })
                .collect();
            Ok(bring_tapes(new, &sources)?)
        };
        let trash = citrange_lerobot::default_trash(self.root());
        Ok(citrange_lerobot::apply(plan, &trash, &side, progress)?)
    }

    /// Puts episodes of several datasets, one after the other, into a new one, which appears when
    /// it is complete. With `tapes` the exact episodes come along.
    ///
    /// # Errors
    /// When the datasets do not agree (each difference is listed), units differ, an episode is
    /// not there, or the folder exists.
    pub fn gather(
        sources: &[(&Self, &[usize])],
        out: &Path,
        packing: Packing,
        tapes: bool,
        progress: Progress<'_>,
    ) -> Result<(), TapeError> {
        let staging = Staging::begin(out)?;
        Self::gather_into(sources, staging.path(), packing, tapes, progress)?;
        Ok(staging.publish()?)
    }

    /// Like [`Dataset::gather`], but into a folder that somebody else publishes.
    ///
    /// # Errors
    /// As [`Dataset::gather`].
    pub fn gather_into(
        sources: &[(&Self, &[usize])],
        out: &Path,
        packing: Packing,
        tapes: bool,
        progress: Progress<'_>,
    ) -> Result<(), TapeError> {
        let Some((first, _)) = sources.first() else {
            return Err(TapeError::Refused("give at least one dataset".into()));
        };
        if let Some((other, _)) = sources.iter().find(|(d, _)| d.index.units != first.index.units) {
            return Err(TapeError::Refused(format!(
                "{} and {} have joint values in different units; export one of them in the \
                 other's unit first",
                first.root().display(),
                other.root().display()
            )));
        }
        let (mut pieces, mut origins) = (Vec::new(), Vec::new());
        for (dataset, episodes) in sources {
            for &episode in *episodes {
                dataset.check_episode(episode)?;
                let piece = Piece::whole(&dataset.lerobot, episode)?;
                let frames = piece.frames.clone();
                origins.push(Source { dataset, episode, frames });
                pieces.push(piece);
            }
        }
        citrange_lerobot::rewrite_into(&pieces, out, packing, progress)?;
        if tapes {
            bring_tapes(out, &origins)?;
        }
        Ok(())
    }

    /// Writes episodes as a plain LeRobot dataset, few large files, without tapes; `unit` changes
    /// what joint values mean.
    ///
    /// # Errors
    /// When an episode is not there, the folder exists, or a unit is asked for and the joints are
    /// not known.
    pub fn export_lerobot(
        &self,
        episodes: &[usize],
        out: &Path,
        unit: Option<Unit>,
        progress: Progress<'_>,
    ) -> Result<(), TapeError> {
        let said = unit.map(|unit| Ok::<_, TapeError>((unit, self.units_as(unit)?))).transpose()?;
        let rescale = match &said {
            Some((_, units)) => self.rescale(units),
            None => Vec::new(),
        };
        let mut pieces = Vec::new();
        for &episode in episodes {
            self.check_episode(episode)?;
            pieces.push(Piece { rescale: &rescale, ..Piece::whole(&self.lerobot, episode)? });
        }
        let staging = Staging::begin(out)?;
        let new = staging.path();
        citrange_lerobot::rewrite_into(&pieces, new, Packing::Packed, progress)?;
        if let Some((unit, units)) = said {
            let mut new = citrange_lerobot::Dataset::open(new)?;
            new.set_extra(UNITS_KEY, units_json(unit, &units))?;
        }
        Ok(staging.publish()?)
    }

    /// The dataset's joints in another unit.
    fn units_as(&self, unit: Unit) -> Result<Vec<JointUnit>, TapeError> {
        for episode in 0..self.len() {
            if let Ok(Some((tape, _))) = self.tape(episode) {
                return unit.of(&tape.header.rig).map_err(TapeError::Missing);
            }
        }
        Err(TapeError::Missing(format!(
            "{} has no tape that says what its joints are: its unit cannot be changed",
            self.root().display()
        )))
    }

    fn rescale(&self, new: &[JointUnit]) -> Vec<Rescale> {
        let rescale = |feature: &str, holds: StateFeatures| {
            let (factors, offsets) = holds.rescale(&self.index.units, new);
            Rescale { feature: feature.to_owned(), factors, offsets }
        };
        vec![rescale(STATE, self.features()), rescale(ACTION, StateFeatures::default())]
    }

    /// Changes what people say about episodes; rows, videos and tapes stay as they are.
    ///
    /// # Errors
    /// When an episode is not there or was not recorded by us, or somebody records.
    pub fn annotate(
        &mut self,
        episodes: &[usize],
        change: &dyn Fn(&mut Entry),
    ) -> Result<(), TapeError> {
        let _lock = lock(self.root())?;
        // Somebody may have recorded since this dataset was opened.
        let mut index = Index::read(self.root())?.unwrap_or_else(|| self.index.clone());
        if index != self.index {
            return Err(TapeError::Refused(format!(
                "{} was changed by another process; open it again",
                self.root().display()
            )));
        }
        for &episode in episodes {
            self.check_episode(episode)?;
            if self.entry(episode).is_none() {
                return Err(TapeError::Refused(format!(
                    "episode {episode} of {} was not recorded by Citrange: only its task text can \
                     be changed",
                    self.root().display()
                )));
            }
            if let Some(Some(entry)) = index.episodes.get_mut(episode) {
                change(entry);
            }
        }
        let path = self.root().join(INDEX);
        let part = path.with_extension("json.part");
        write_synced(&part, &index.to_json()?)?;
        std::fs::rename(&part, &path).map_err(|e| TapeError::file("rename to", &path, e))?;
        self.index = index;
        Ok(())
    }
}

/// Writes the index of a new dataset and links the tapes it needs.
fn bring_tapes(root: &Path, sources: &[Source<'_>]) -> Result<(), TapeError> {
    let Some(first) = sources.first() else { return Ok(()) };
    let mut index = Index::new(first.dataset.index.units.clone());
    for source in sources {
        let entry = source.dataset.entry(source.episode).cloned().map(|mut entry| {
            let start = entry.frames.start;
            entry.frames = start + source.frames.start..start + source.frames.end;
            entry
        });
        if let Some(entry) = &entry {
            let name = tape_name(&entry.uid);
            link(&source.dataset.root().join(&name), &root.join(&name))?;
            for name in beside_files(source.dataset.root(), &entry.uid)? {
                link(&source.dataset.root().join(&name), &root.join(&name))?;
            }
        }
        index.episodes.push(entry);
    }
    // Somebody else's dataset stays somebody else's.
    if index.units.is_empty() && index.episodes.iter().all(Option::is_none) {
        return Ok(());
    }
    let path = root.join(INDEX);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| TapeError::file("create", folder, e))?;
    }
    write_synced(&path, &index.to_json()?)?;
    sync_folder(&root.join(SIDE))?;
    sync_folder(&root.join(SIDE).join("episodes"))
}

/// Makes the names in a folder durable; one that is not there has none.
fn sync_folder(folder: &Path) -> Result<(), TapeError> {
    if !cfg!(unix) || !folder.is_dir() {
        return Ok(());
    }
    std::fs::File::open(folder)
        .and_then(|handle| handle.sync_all())
        .map_err(|e| TapeError::file("sync", folder, e))
}

/// A second name for the same bytes, or a copy on another file system. Tapes never change.
fn link(from: &Path, to: &Path) -> Result<(), TapeError> {
    if to.exists() {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(|e| TapeError::file("create", folder, e))?;
    }
    if std::fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    std::fs::copy(from, to).map_err(|e| TapeError::file("copy", from, e))?;
    let file = std::fs::File::open(to).map_err(|e| TapeError::file("open", to, e))?;
    file.sync_all().map_err(|e| TapeError::file("sync", to, e))
}
