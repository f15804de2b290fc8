//! Changing a dataset: planned and checked first, then built beside the old one and swapped in.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use citrange_core::time::Utc;

use crate::commit::Lock;
use crate::dataset::Dataset;
use crate::error::{LerobotError, Result, invalid, io};
use crate::files;
use crate::films;
use crate::rewrite::{self, Packing, Piece};
use crate::staging::{self, Staging};

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Takes episodes out.
    Delete {
        /// Which.
        episodes: Vec<usize>,
    },
    /// Takes out all others; the order given is the new order.
    Keep {
        /// Which.
        episodes: Vec<usize>,
    },
    /// Keeps only some frames of an episode.
    Trim {
        /// Which episode.
        episode: usize,
        /// Frames to keep.
        frames: Range<usize>,
    },
    /// Makes two episodes of one.
    Split {
        /// Which episode.
        episode: usize,
        /// First frame of the second one.
        at: usize,
    },
    /// Gives episodes another task text.
    Label {
        /// Which.
        episodes: Vec<usize>,
        /// The text.
        task: String,
    },
}

/// Where an episode of the new dataset comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Number of the episode in the old dataset.
    pub episode: usize,
    /// Which of its frames.
    pub frames: Range<usize>,
    /// A new task text.
    pub task: Option<String>,
}

/// A checked change, not yet done. Its text says what would happen.
#[derive(Clone, Debug)]
pub struct Plan {
    root: PathBuf,
    /// New episodes in order.
    pub origins: Vec<Origin>,
    /// Episodes and frames before.
    pub before: (usize, usize),
    /// Episodes and frames after.
    pub after: (usize, usize),
    /// Video files that stay as they are.
    pub videos_linked: usize,
    /// Video files that are cut or joined without encoding.
    pub videos_cut: usize,
    /// Video files of which some frames are encoded again.
    pub videos_encoded: usize,
    /// Frames encoded again, over all videos.
    pub frames_encoded: usize,
    lines: Vec<String>,
}

/// Checks a change completely and says what it would do.
///
/// # Errors
/// When an episode or frame is not there, a cut is empty, nothing would be left, nothing would
/// change, or a video is missing.
pub fn plan(dataset: &Dataset, edit: &Edit) -> Result<Plan> {
    let (origins, lines) = origins(dataset, edit)?;
    let pieces = pieces(dataset, &origins);
    rewrite::validate(&pieces)?;
    let mut plan = Plan {
        root: dataset.root.clone(),
        before: (dataset.info.total_episodes, dataset.info.total_frames),
        after: (origins.len(), origins.iter().map(|o| o.frames.len()).sum()),
        origins: origins.clone(),
        videos_linked: 0,
        videos_cut: 0,
        videos_encoded: 0,
        frames_encoded: 0,
        lines,
    };
    for key in dataset.info.features.video_keys() {
        for film in films::plan(&pieces, key, Packing::PerEpisode, 0)? {
            match (film.whole, film.to_encode()) {
                (true, _) => plan.videos_linked += 1,
                (_, 0) => plan.videos_cut += 1,
                (_, frames) => {
                    plan.videos_encoded += 1;
                    plan.frames_encoded += frames;
                }
            }
        }
    }
    Ok(plan)
}

fn pieces<'a>(dataset: &'a Dataset, origins: &[Origin]) -> Vec<Piece<'a>> {
    let piece = |o: &Origin| Piece {
        dataset,
        episode: o.episode,
        frames: o.frames.clone(),
        task: o.task.clone(),
        rescale: &[],
    };
    origins.iter().map(piece).collect()
}

fn origins(dataset: &Dataset, edit: &Edit) -> Result<(Vec<Origin>, Vec<String>)> {
    let whole = |e: usize| -> Result<Origin> {
        Ok(Origin { episode: e, frames: 0..dataset.episode(e)?.length, task: None })
    };
    let mut all: Vec<Origin> = (0..dataset.episodes.len()).map(whole).collect::<Result<_>>()?;
    let chosen = |list: &[usize]| -> Result<()> {
        if list.is_empty() {
            return invalid("no episode is named");
        }
        for (at, e) in list.iter().enumerate() {
            dataset.episode(*e)?;
            if list[..at].contains(e) {
                return invalid(format!("episode {e} is named twice"));
            }
        }
        Ok(())
    };
    let line = match edit {
        Edit::Delete { episodes } => {
            chosen(episodes)?;
            all.retain(|o| !episodes.contains(&o.episode));
            format!("delete episodes {}", ranges(episodes))
        }
        Edit::Keep { episodes } => {
            chosen(episodes)?;
            all = episodes.iter().map(|e| whole(*e)).collect::<Result<_>>()?;
            format!("keep episodes {}", ranges(episodes))
        }
        Edit::Trim { episode, frames } => {
            let length = dataset.episode(*episode)?.length;
            if *frames == (0..length) {
                return invalid(format!("episode {episode} has just these frames already"));
            }
            all[*episode].frames = frames.clone();
            format!("trim episode {episode} to frames {}..{} of {length}", frames.start, frames.end)
        }
        Edit::Split { episode, at } => {
            let length = dataset.episode(*episode)?.length;
            if *at == 0 || *at >= length {
                return invalid(format!(
                    "episode {episode} cannot be split at frame {at}; 1 to {} can",
                    length.saturating_sub(1)
                ));
            }
            let mut second = all[*episode].clone();
            all[*episode].frames.end = *at;
            second.frames.start = *at;
            all.insert(episode + 1, second);
            let next = episode + 1;
            format!("split episode {episode} at frame {at} of {length} into {episode} and {next}")
        }
        Edit::Label { episodes, task } => {
            chosen(episodes)?;
            episodes.iter().for_each(|e| all[*e].task = Some(task.clone()));
            format!("label episodes {} {task:?}", ranges(episodes))
        }
    };
    Ok((all, vec![line]))
}

/// `0-3, 7` for 0, 1, 2, 3, 7.
fn ranges(episodes: &[usize]) -> String {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for e in episodes {
        match out.last_mut() {
            Some((_, last)) if *last + 1 == *e => *last = *e,
            _ => out.push((*e, *e)),
        }
    }
    let text = |(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    out.iter().map(text).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{line} of {}", self.root.display())?;
        }
        let ((episodes, frames), (episodes_after, frames_after)) = (self.before, self.after);
        writeln!(
            f,
            "  episodes {episodes} -> {episodes_after}, frames {frames} -> {frames_after}"
        )?;
        write!(f, "  videos: {} linked, {} cut", self.videos_linked, self.videos_cut)?;
        match self.videos_encoded {
            0 => Ok(()),
            n => write!(f, ", {n} partly encoded again ({} frames)", self.frames_encoded),
        }
    }
}

/// What carries the files beside the dataset over: old folder, new folder, where each new
/// episode comes from.
pub type SideFiles<'a> = dyn Fn(&Path, &Path, &[Origin]) -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>
    + 'a;

/// What [`apply`] did.
#[derive(Debug)]
pub struct Applied {
    /// The dataset as it is now.
    pub dataset: Dataset,
    /// Where the old one lies.
    pub trash: PathBuf,
}

/// Name of the trash folder.
pub(crate) const TRASH: &str = ".citrange-trash";

/// The trash folder beside a dataset: beside the real folder, on its file system, wherever links
/// lead there from.
#[must_use]
pub fn default_trash(root: &Path) -> PathBuf {
    let real = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    real.parent().unwrap_or(&real).join(TRASH)
}

/// Carries out a plan: builds the new dataset beside the old one, swaps them in one step where
/// the system can, and puts the old one into `trash` (on the same file system).
///
/// # Errors
/// When the dataset has changed since the plan was made, or something cannot be written. The old
/// dataset then stays as it is.
pub fn apply(
    plan: &Plan,
    trash: &Path,
    side: &SideFiles<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Applied> {
    let root = staging::real(&plan.root)?;
    let (Some(parent), Some(name)) = (root.parent(), root.file_name()) else {
        return invalid(format!("{} has no folder around it", root.display()));
    };
    must_be_movable(&root, parent)?;
    let name = name.to_string_lossy();
    let old = Dataset::open(&root)?;
    let lock = Lock::take(&root)?;
    if (old.info.total_episodes, old.info.total_frames) != plan.before {
        return invalid(format!("{} has changed since the plan was made", root.display()));
    }
    let new = Staging::instead_of(&root)?;
    build(&old, plan, new.path(), side, progress)?;
    let target = free_name(trash, &name)?;
    new.swap(&target)?;
    drop(lock);
    Ok(Applied { dataset: Dataset::open(&root)?, trash: target })
}

/// A folder that is a file system of its own cannot be swapped.
#[cfg(unix)]
fn must_be_movable(root: &Path, parent: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let device =
        |path: &Path| std::fs::metadata(path).map(|m| m.dev()).map_err(io("look at", path));
    if device(root)? != device(parent)? {
        return invalid(format!(
            "{} is a file system of its own, so that an edited dataset cannot take its place; move \
             the dataset into a folder there",
            root.display()
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn must_be_movable(_: &Path, _: &Path) -> Result<()> {
    Ok(())
}

fn build(
    old: &Dataset,
    plan: &Plan,
    new: &Path,
    side: &SideFiles<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<()> {
    rewrite::rewrite_into(&pieces(old, &plan.origins), new, Packing::PerEpisode, progress)?;
    // What neither the format nor we know is kept: a README, pictures of the set-up, subtasks.
    for name in files::list(&old.root, ".")? {
        let name = name.trim_start_matches("./");
        let known = ["data/", "videos/", "citrange/", "meta/episodes/"];
        let to = new.join(name);
        if known.iter().any(|k| name.starts_with(k)) || to.exists() {
            continue;
        }
        to.parent().map_or(Ok(()), files::create_dir)?;
        files::link_or_copy(&old.root.join(name), &to)?;
    }
    side(&old.root, new, &plan.origins).map_err(LerobotError::Side)
}

pub(crate) fn free_name(trash: &Path, name: &str) -> Result<PathBuf> {
    files::create_dir(trash)?;
    let stamp = stamp(&Utc::now());
    let names = std::iter::once(format!("{name}-{stamp}"))
        .chain((2..1000).map(|n| format!("{name}-{stamp}-{n}")));
    match names.map(|n| trash.join(n)).find(|path| !path.exists()) {
        Some(path) => Ok(path),
        None => invalid(format!("{} is full", trash.display())),
    }
}

/// `20260131T235959Z`.
fn stamp(utc: &Utc) -> String {
    let (day, time) = utc.compact();
    format!("{day}T{time}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_right() {
        assert_eq!(stamp(&Utc::of_unix_s(951_782_400)), "20000229T000000Z");
    }

    #[test]
    fn runs_are_short() {
        assert_eq!(ranges(&[0, 1, 2, 7, 9, 10]), "0-2, 7, 9-10");
        assert_eq!(ranges(&[3, 1]), "3, 1");
    }
}
