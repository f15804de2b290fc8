//! What is new is built beside its place, under a hidden name, and published by one rename: a
//! kill leaves all of it or nothing, and what it leaves can be told apart.
//!
//! A folder in the making carries a mark until it is in its place. So a hidden folder with the
//! mark was never published and may go; one without it was a dataset before an edit swapped it
//! out, and belongs into the trash. Whoever builds holds a lock on the folder.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::edit::{TRASH, free_name};
use crate::error::{LerobotError, Result, invalid, io};
use crate::files;

/// Between the name of the place and the number of the process.
const TAG: &str = ".citrange-tmp-";
/// The file that says: not published.
const MARK: &str = ".citrange-unpublished";
/// What the mark holds once everything is built and an old dataset is about to be replaced.
const READY: &str = "ready";

/// A folder in the making. Dropped before it is published, it leaves no trace.
#[derive(Debug)]
pub struct Staging {
    place: PathBuf,
    path: PathBuf,
    // The folder itself, locked.
    _lock: File,
    armed: bool,
}

/// What a process that was killed left behind, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The file or folder.
    pub path: PathBuf,
    /// What it was.
    pub what: &'static str,
    /// What was done about it.
    pub done: String,
}

/// A hidden name beside `place` for something in the making: `.set.citrange-tmp-4711-0`.
///
/// # Errors
/// When `place` has no name of its own, as `/` and `..`.
pub fn staging_name(place: &Path) -> Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let (folder, name) = split(place)?;
    Ok(folder.join(format!(".{name}{TAG}{}-{count}", std::process::id())))
}

/// The folder around a place, and the place's name in it.
fn split(place: &Path) -> Result<(PathBuf, String)> {
    let Some(name) = place.file_name() else {
        return invalid(format!("{} is no name for something new", place.display()));
    };
    let folder = place.parent().filter(|p| !p.as_os_str().is_empty());
    Ok((folder.unwrap_or(Path::new(".")).to_owned(), name.to_string_lossy().into_owned()))
}

impl Staging {
    /// Begins what shall be at `place`, where there must be nothing or an empty folder. What
    /// killed processes left of the same place is cleared away.
    ///
    /// # Errors
    /// When there is something, or the folder cannot be made.
    pub fn begin(place: &Path) -> Result<Self> {
        Self::must_be_free(place)?;
        let (folder, _) = split(place)?;
        files::create_dir(&folder)?;
        clear(place, false)?;
        Self::make(place)
    }

    /// Begins what shall take the place of the dataset at `place`.
    pub(crate) fn instead_of(place: &Path) -> Result<Self> {
        clear(place, false)?;
        // Else the old dataset would carry the mark into the trash.
        remove_mark(place)?;
        Self::make(place)
    }

    fn make(place: &Path) -> Result<Self> {
        let path = staging_name(place)?;
        fs::create_dir(&path).map_err(io("create the folder", &path))?;
        let lock = File::open(&path).map_err(io("open", &path))?;
        // Where folders cannot be locked, others cannot either and leave it alone.
        let _locked = lock.try_lock();
        let staging = Self { place: place.to_owned(), path, _lock: lock, armed: true };
        files::write_synced(&staging.path.join(MARK), b"building")?;
        Ok(staging)
    }

    /// Refuses a place where something is; an empty folder is nothing.
    ///
    /// # Errors
    /// Says what is there.
    pub fn must_be_free(place: &Path) -> Result<()> {
        let empty = || fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_none());
        // A link that leads nowhere is something too.
        if place.symlink_metadata().is_ok_and(|m| !m.is_dir()) || (place.exists() && !empty()) {
            return invalid(format!("{} exists already; give a new folder", place.display()));
        }
        Ok(())
    }

    /// Where to build.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts it into its place, in one step.
    ///
    /// # Errors
    /// When something is there by now, or the system refuses; then nothing is published.
    pub fn publish(mut self) -> Result<()> {
        files::sync_dir(&self.path)?;
        Self::must_be_free(&self.place)?;
        if self.place.exists() {
            fs::remove_dir(&self.place).map_err(io("replace", &self.place))?;
        }
        files::rename(&self.path, &self.place)?;
        self.armed = false;
        files::sync_dir(&split(&self.place)?.0)?;
        remove_mark(&self.place)
    }

    /// Puts it in the place of the old dataset, which goes to `trash` (a free name on the same
    /// file system). There is a dataset in the place at every moment, where the system can.
    pub(crate) fn swap(mut self, trash: &Path) -> Result<()> {
        files::sync_dir(&self.path)?;
        // The old dataset lies under the hidden name for a moment: nobody may clear it away.
        let old = File::open(&self.place).map_err(io("open", &self.place))?;
        let _locked = old.try_lock();
        if exchange(&self.place, &self.path) {
            if let Err(e) = files::rename(&self.path, trash) {
                self.armed = exchange(&self.place, &self.path);
                return Err(e);
            }
        } else {
            // In between there is none: whoever looks next finishes it.
            files::write_replacing(&self.path.join(MARK), READY.as_bytes())?;
            files::rename(&self.place, trash)?;
            if let Err(e) = files::rename(&self.path, &self.place) {
                files::rename(trash, &self.place)?;
                return Err(e);
            }
        }
        self.armed = false;
        trash.parent().map_or(Ok(()), files::sync_dir)?;
        files::sync_dir(&split(&self.place)?.0)?;
        remove_mark(&self.place)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.armed {
            // The error that brought us here is the one to tell.
            let _ = remove(&self.path);
        }
    }
}

/// Removes the mark of a folder that is in its place.
fn remove_mark(place: &Path) -> Result<()> {
    match fs::remove_file(place.join(MARK)) {
        Ok(()) => files::sync_dir(place),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(io("remove", &place.join(MARK))(e)),
    }
}

/// Removes a folder. What makes it a dataset goes first: cut off in between, it is never taken for
/// a dataset that was.
fn remove(path: &Path) -> Result<()> {
    let meta = path.join("meta");
    let gone = |result: std::io::Result<()>| match result {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    };
    gone(fs::remove_file(meta.join("info.json"))).map_err(io("remove", &meta))?;
    gone(fs::remove_dir_all(path)).map_err(io("remove", path))
}

/// Swaps two names in one step, so that there is a dataset at every moment.
#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> bool {
    false
}

/// Clears away what killed processes left beside `place`: of this place, or of all `beside` it.
/// What is still being built is left alone; a dataset that an edit swapped out goes to the trash.
///
/// # Errors
/// When the system refuses.
pub fn clear(place: &Path, beside: bool) -> Result<Vec<Leftover>> {
    let (folder, name) = split(place)?;
    let mut found = Vec::new();
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(found),
        Err(e) => return Err(io("list", &folder)(e)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io("list", &folder))?;
        let text = entry.file_name().to_string_lossy().into_owned();
        let Some(text) = text.strip_prefix('.') else { continue };
        let of = text.rsplit_once(TAG).map(|(of, _)| of).filter(|of| beside || *of == name);
        // The second form is that of Citrange 0.1; others may use such names, too.
        if let Some(of) = of.or_else(|| text.strip_suffix(".edit").filter(|of| *of == name)) {
            names.push((entry.path(), of.to_owned()));
        }
    }
    names.sort();
    for (path, of) in names {
        found.extend(settle(&path, &folder.join(of))?);
    }
    Ok(found)
}

/// Does away with one leftover; `None` when it is no leftover, as somebody works on it.
fn settle(path: &Path, place: &Path) -> Result<Option<Leftover>> {
    let Ok(handle) = File::open(path) else { return Ok(None) };
    if matches!(handle.try_lock(), Err(TryLockError::WouldBlock)) {
        return Ok(None);
    }
    let left = |what, done: String| Ok(Some(Leftover { path: path.to_owned(), what, done }));
    if !path.is_dir() {
        fs::remove_file(path).map_err(io("remove", path))?;
        return left("a file that was not written to its end", "removed".into());
    }
    let mark = fs::read_to_string(path.join(MARK)).ok();
    if mark.is_none() && path.join("meta/info.json").exists() {
        let (folder, name) = split(place)?;
        let target = free_name(&folder.join(TRASH), &name)?;
        files::rename(path, &target)?;
        let done = format!("moved to {}", target.display());
        return left("the dataset as it was before an edit that was cut off", done);
    }
    if mark.as_deref() == Some(READY) && !place.exists() {
        files::rename(path, place)?;
        files::sync_dir(&split(place)?.0)?;
        remove_mark(place)?;
        let done = format!("moved to {}", place.display());
        return left("the result of an edit that was cut off", done);
    }
    remove(path)?;
    left("a dataset or folder of files that was not finished", "removed".into())
}

/// Removes the mark and half-written files inside a dataset; finishes a save that was cut off.
///
/// # Errors
/// When the system refuses, or the list of a save's moves is damaged.
pub fn clear_inside(root: &Path) -> Result<Vec<Leftover>> {
    let mut found = Vec::new();
    let mut tell = |name: &str, what, done: &str| {
        found.push(Leftover { path: root.join(name), what, done: done.to_owned() });
    };
    if let Some(intent) = crate::commit::interrupted(root) {
        crate::commit::recover(root)?;
        match intent {
            true => tell(crate::commit::DIR, "a save that was cut off", "finished"),
            false => tell(crate::commit::DIR, "files of a save that never began", "removed"),
        }
    }
    for name in ["meta/info.json.part", "citrange/index.json.part"] {
        let path = root.join(name);
        if path.exists() {
            fs::remove_file(&path).map_err(io("remove", &path))?;
            tell(name, "a file that was not written to its end", "removed");
        }
    }
    if root.join(MARK).exists() {
        remove_mark(root)?;
        tell(MARK, "the mark of a dataset that was just published", "removed");
    }
    Ok(found)
}

/// Puts back what an edit that was cut off had just taken away, where nothing is at `root`.
pub(crate) fn put_back(root: &Path) -> Result<()> {
    if root.file_name().is_some() && root.symlink_metadata().is_err() {
        clear(root, false)?;
    }
    Ok(())
}

/// The real folder of a dataset, with all links resolved.
pub(crate) fn real(root: &Path) -> Result<PathBuf> {
    fs::canonicalize(root).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => LerobotError::NotADataset {
            path: root.into(),
            reason: "there is no such folder".into(),
        },
        _ => io("find", root)(e),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(path: &Path, says: &str) {
        fs::create_dir_all(path.join("meta")).unwrap();
        fs::write(path.join("meta/info.json"), says).unwrap();
    }

    fn says(path: &Path) -> Option<String> {
        fs::read_to_string(path.join("meta/info.json")).ok()
    }

    #[test]
    fn what_is_published_is_whole_and_unmarked() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("set");
        let staging = Staging::begin(&place).unwrap();
        set(staging.path(), "new");
        assert!(!place.exists());
        // Somebody builds it: no leftover.
        assert_eq!(clear(&place, true).unwrap(), []);
        staging.publish().unwrap();
        assert_eq!(says(&place).as_deref(), Some("new"));
        assert!(!place.join(MARK).exists());
        assert!(Staging::begin(&place).unwrap_err().to_string().contains("exists already"));
        drop(Staging::begin(&dir.path().join("other")).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn leftovers_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("set");
        let hidden = |n: u32| dir.path().join(format!(".set{TAG}{n}-0"));
        set(&hidden(1), "unpublished");
        fs::write(hidden(1).join(MARK), "building").unwrap();
        set(&hidden(2), "old");
        fs::create_dir(hidden(3)).unwrap();
        fs::write(dir.path().join(format!(".x.h5{TAG}4-0")), "half").unwrap();
        set(&place, "now");
        // Somebody else's.
        fs::create_dir(dir.path().join(".notes.edit")).unwrap();
        let found = clear(&place, true).unwrap();
        assert_eq!(found.len(), 4, "{found:?}");
        let trash = fs::read_dir(dir.path().join(".citrange-trash")).unwrap();
        let kept: Vec<_> = trash.map(|e| says(&e.unwrap().path()).unwrap()).collect();
        assert_eq!(kept, ["old"]);
        assert!(dir.path().join(".notes.edit").exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
        // Where names cannot be exchanged, a kill may leave the place empty.
        fs::remove_dir_all(&place).unwrap();
        set(&hidden(5), "new");
        fs::write(hidden(5).join(MARK), READY).unwrap();
        put_back(&place).unwrap();
        assert_eq!(says(&place).as_deref(), Some("new"));
    }
}
