//! Adding to a dataset so that it can be read at every moment, and after any crash.
//!
//! New files are prepared and synced in `citrange/commit/`. Then an intent is written that lists
//! where each belongs, and they are renamed one by one, in an order in which every state between
//! can be loaded. Opening a dataset finishes what an intent says, and removes what has none.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{LerobotError, Result, damaged, io};
use crate::files;

pub(crate) const DIR: &str = "citrange/commit";
const LOCK: &str = "citrange/commit.lock";
const INTENT: &str = "intent.json";
const FORMAT_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Intent {
    format_version: u32,
    tool_version: String,
    moves: Vec<Rename>,
}

/// One rename: a name inside the commit folder, a path inside the dataset.
#[derive(Clone, Serialize, Deserialize)]
struct Rename {
    from: String,
    to: String,
}

/// Held while a dataset is changed; other processes wait.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take(root: &Path) -> Result<Self> {
        let path = root.join(LOCK);
        files::create_dir(&root.join("citrange"))?;
        loop {
            let file = File::create(&path).map_err(io("create", &path))?;
            file.lock().map_err(io("lock", &path))?;
            // While we waited an edit may have put another dataset here.
            if is_at(&file, &path) {
                return Ok(Self { _file: file });
            }
            files::create_dir(&root.join("citrange"))?;
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |m: &fs::Metadata| (m.dev(), m.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(a), Ok(b)) if id(&a) == id(&b))
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Files on their way into a dataset. Dropped before [`PendingCommit::commit`], it leaves no trace.
pub(crate) struct PendingCommit {
    root: PathBuf,
    dir: PathBuf,
    moves: Vec<Rename>,
    armed: bool,
    _lock: Lock,
}

impl PendingCommit {
    /// Takes the lock, finishes or removes what an earlier process left, starts empty.
    pub(crate) fn begin(root: &Path) -> Result<Self> {
        let lock = Lock::take(root)?;
        recover_locked(root)?;
        let dir = root.join(DIR);
        files::create_dir(&dir)?;
        Ok(Self { root: root.to_path_buf(), dir, moves: Vec::new(), armed: true, _lock: lock })
    }

    /// Where to write the file that shall become `to`. The order of calls is the order in which
    /// files become visible.
    pub(crate) fn add(&mut self, to: String) -> PathBuf {
        let from = format!("{:04}.part", self.moves.len());
        let path = self.dir.join(&from);
        self.moves.push(Rename { from, to });
        #[cfg(test)]
        full_disk::on_add(&path);
        path
    }

    /// Makes everything visible.
    pub(crate) fn commit(self) -> Result<()> {
        self.commit_up_to(usize::MAX)
    }

    /// Like [`PendingCommit::commit`], but stops dead after some renames, as a crash would.
    pub(crate) fn commit_up_to(mut self, renames: usize) -> Result<()> {
        files::sync_dir(&self.dir)?;
        let intent = Intent {
            format_version: FORMAT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").into(),
            moves: self.moves.clone(),
        };
        let text = crate::info::pretty(&intent);
        files::write_replacing(&self.dir.join(INTENT), &text)?;
        // From here on the files belong to the dataset, whatever happens.
        self.armed = false;
        carry_out(&self.root, &intent.moves, renames)
    }
}

impl Drop for PendingCommit {
    fn drop(&mut self) {
        if self.armed {
            // The error that brought us here is the one to tell.
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

/// Renames in order, each durable before the next, then removes the intent.
fn carry_out(root: &Path, moves: &[Rename], renames: usize) -> Result<()> {
    let dir = root.join(DIR);
    for step in moves.iter().take(renames) {
        let (from, to) = (dir.join(&step.from), root.join(&step.to));
        let folder = to.parent().unwrap_or(root);
        create_dirs_synced(root, folder)?;
        match fs::rename(&from, &to) {
            Ok(()) => files::sync_dir(folder)?,
            // Done before the crash.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && to.exists() => {}
            Err(e) => return Err(io("rename to", &to)(e)),
        }
    }
    if renames > moves.len() {
        let intent = dir.join(INTENT);
        fs::remove_file(&intent).map_err(io("remove", &intent))?;
        fs::remove_dir_all(&dir).map_err(io("remove", &dir))?;
    }
    Ok(())
}

fn create_dirs_synced(root: &Path, folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    files::create_dir(folder)?;
    let mut above = folder.parent();
    while let Some(dir) = above.filter(|d| d.starts_with(root)) {
        files::sync_dir(dir)?;
        above = dir.parent();
    }
    Ok(())
}

/// Whether a commit was interrupted, and if so, whether it had begun to make files visible.
pub(crate) fn interrupted(root: &Path) -> Option<bool> {
    let dir = root.join(DIR);
    dir.exists().then(|| dir.join(INTENT).exists())
}

/// Finishes an interrupted commit, or removes what was prepared for one.
pub(crate) fn recover(root: &Path) -> Result<()> {
    if !root.join(DIR).exists() {
        return Ok(());
    }
    let _lock = Lock::take(root)?;
    recover_locked(root)
}

fn recover_locked(root: &Path) -> Result<()> {
    let dir = root.join(DIR);
    let path = dir.join(INTENT);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            if dir.exists() {
                fs::remove_dir_all(&dir).map_err(io("remove", &dir))?;
            }
            return Ok(());
        }
        Err(e) => return Err(io("read", &path)(e)),
    };
    tracing::warn!(dataset = %root.display(), "a save that was interrupted is finished now");
    let intent: Intent =
        serde_json::from_slice(&text).map_err(|e| damaged(&path, format!("not an intent: {e}")))?;
    if intent.format_version != FORMAT_VERSION {
        return Err(LerobotError::OtherVersion {
            path,
            version: format!("intent {}", intent.format_version),
        });
    }
    let inside = |name: &str| {
        !name.is_empty()
            && !name.contains('\\')
            && name.split('/').all(|p| !matches!(p, "" | "." | ".."))
    };
    let mut targets = BTreeSet::new();
    for step in &intent.moves {
        if !inside(&step.from) || !inside(&step.to) || !targets.insert(&step.to) {
            return Err(damaged(&path, format!("it moves {:?} to {:?}", step.from, step.to)));
        }
    }
    carry_out(root, &intent.moves, usize::MAX)
}

/// Lets the disk be full from some file on: its name leads to a device that has no room.
#[cfg(test)]
pub(crate) mod full_disk {
    use std::cell::Cell;
    use std::path::Path;

    thread_local! {
        static FILES_LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    pub(crate) fn after(files: Option<usize>) {
        FILES_LEFT.set(files);
    }

    pub(crate) fn on_add(path: &Path) {
        match FILES_LEFT.get() {
            None => {}
            Some(0) => std::os::unix::fs::symlink("/dev/full", path).unwrap(),
            Some(n) => FILES_LEFT.set(Some(n - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(root: &Path) -> PendingCommit {
        let mut stage = PendingCommit::begin(root).unwrap();
        for name in ["videos/c/a.mp4", "data/a.parquet", "meta/info.json"] {
            files::write_synced(&stage.add(name.into()), name.as_bytes()).unwrap();
        }
        stage
    }

    #[test]
    fn a_crash_after_any_rename_is_finished() {
        for renames in 0..=3 {
            let dir = tempfile::tempdir().unwrap();
            stage(dir.path()).commit_up_to(renames).unwrap();
            let before = ["videos/c/a.mp4", "data/a.parquet", "meta/info.json"]
                .iter()
                .filter(|n| dir.path().join(n).exists())
                .count();
            assert_eq!(before, renames);
            recover(dir.path()).unwrap();
            for name in ["videos/c/a.mp4", "data/a.parquet", "meta/info.json"] {
                assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), name);
            }
            assert!(!dir.path().join(DIR).exists());
        }
    }

    #[test]
    fn what_has_no_intent_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let stage = stage(dir.path());
        std::mem::forget(stage);
        recover_locked(dir.path()).unwrap();
        assert!(!dir.path().join(DIR).exists() && !dir.path().join("data").exists());
    }

    #[test]
    fn intents_cannot_reach_outside() {
        for to in ["../x", "/x", "a/../../x", "", "a//b", "a\\b"] {
            let dir = tempfile::tempdir().unwrap();
            files::create_dir(&dir.path().join(DIR)).unwrap();
            let intent = Intent {
                format_version: 1,
                tool_version: String::new(),
                moves: vec![Rename { from: "0".into(), to: to.into() }],
            };
            fs::write(dir.path().join(DIR).join("0"), "x").unwrap();
            fs::write(dir.path().join(DIR).join(INTENT), crate::info::pretty(&intent)).unwrap();
            let error = recover(dir.path()).unwrap_err().to_string();
            assert!(error.contains("intent.json"), "{error}");
        }
    }
}
