//! Small file habits: everything that becomes visible is complete and on the disk.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Result, io};

/// Makes the entries of a folder durable. Where folders cannot be opened, the rename has to do.
pub(crate) fn sync_dir(dir: &Path) -> Result<()> {
    match File::open(dir) {
        Ok(handle) if cfg!(unix) => handle.sync_all().map_err(io("sync", dir)),
        Ok(_) => Ok(()),
        Err(_) if cfg!(not(unix)) => Ok(()),
        Err(e) => Err(io("open", dir)(e)),
    }
}

pub(crate) fn create_dir(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).map_err(io("create the folder", dir))
}

/// Writes bytes to a new file and syncs it.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = File::create(path).map_err(io("create", path))?;
    file.write_all(bytes).map_err(io("write", path))?;
    file.sync_all().map_err(io("sync", path))
}

/// Writes beside the target, syncs, renames.
pub(crate) fn write_replacing(path: &Path, bytes: &[u8]) -> Result<()> {
    let part = with_suffix(path, ".part");
    write_synced(&part, bytes)?;
    rename(&part, path)?;
    path.parent().map_or(Ok(()), sync_dir)
}

pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(io("rename to", to))
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// A second name for the same bytes; a copy where the file system has no hard links.
/// True when it was a link.
pub(crate) fn link_or_copy(from: &Path, to: &Path) -> Result<bool> {
    if fs::hard_link(from, to).is_ok() {
        // A link shares its bytes with a file whose writer may not have synced it.
        File::open(to).and_then(|f| f.sync_all()).map_err(io("sync", to))?;
        return Ok(true);
    }
    fs::copy(from, to).map_err(io("copy", from))?;
    File::open(to).and_then(|f| f.sync_all()).map_err(io("sync", to))?;
    Ok(false)
}

/// Files below a folder as paths with `/`, relative to it, sorted. A missing folder has none.
pub(crate) fn list(root: &Path, below: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![below.to_string()];
    while let Some(dir) = open.pop() {
        let path = root.join(&dir);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(io("list", &path)(e)),
        };
        for entry in entries {
            let entry = entry.map_err(io("list", &path))?;
            let kind = entry.file_type().map_err(io("look at", &entry.path()))?;
            let name = format!("{dir}/{}", entry.file_name().to_string_lossy());
            if kind.is_dir() {
                open.push(name);
            } else {
                found.push(name);
            }
        }
    }
    found.sort();
    Ok(found)
}
