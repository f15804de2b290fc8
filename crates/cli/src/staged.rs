//! A new dataset is made beside its place and moved there when it is whole.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use citrange_tape::TapeError;

use crate::say;

/// A folder in the making; dropped before [`Staged::publish`] it leaves nothing behind.
pub(crate) struct Staged {
    out: PathBuf,
    /// Where it is made; `None` where an existing dataset is added to, episode by episode.
    folder: Option<PathBuf>,
}

impl Staged {
    pub(crate) fn begin(out: &Path, exists: bool) -> anyhow::Result<Self> {
        if exists {
            return Ok(Self { out: out.to_owned(), folder: None });
        }
        if out.exists() && std::fs::read_dir(out).is_ok_and(|mut all| all.next().is_some()) {
            bail!(TapeError::Missing(format!(
                "{} exists and is no dataset; remove it or give another --out",
                out.display()
            )));
        }
        let name = out.file_name().context("--out names no folder")?.to_string_lossy().into_owned();
        let beside = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(beside)
            .with_context(|| format!("cannot create {}", beside.display()))?;
        clear_leftovers(beside, &name)?;
        let folder = beside.join(format!(".{name}.importing-{}", std::process::id()));
        std::fs::create_dir(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self { out: out.to_owned(), folder: Some(folder) })
    }

    /// Where to write.
    pub(crate) fn root(&self) -> &Path {
        self.folder.as_deref().unwrap_or(&self.out)
    }

    /// Whether what is written is published at once.
    pub(crate) fn is_direct(&self) -> bool {
        self.folder.is_none()
    }

    /// Gives the folder its name.
    pub(crate) fn publish(mut self) -> anyhow::Result<()> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        std::fs::rename(&folder, &self.out)
            .with_context(|| format!("cannot move {} to its place", folder.display()))?;
        self.folder = None;
        let beside = self.out.parent().filter(|p| !p.as_os_str().is_empty());
        let beside = std::fs::File::open(beside.unwrap_or(Path::new(".")));
        Ok(beside.and_then(|folder| folder.sync_all())?)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder
            && std::fs::remove_dir_all(folder).is_err()
        {
            say::talk(&format!("an import that failed left {}; remove it", folder.display()));
        }
    }
}

/// Removes what imports into this place left that were killed, and says so.
fn clear_leftovers(beside: &Path, name: &str) -> anyhow::Result<()> {
    let prefix = format!(".{name}.importing-");
    for entry in std::fs::read_dir(beside)?.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(pid) = file.strip_prefix(&prefix).and_then(|pid| pid.parse::<u32>().ok()) else {
            continue;
        };
        let lives = pid != std::process::id() && Path::new(&format!("/proc/{pid}")).exists();
        if lives {
            bail!(TapeError::Busy(beside.join(name)));
        }
        std::fs::remove_dir_all(entry.path())
            .with_context(|| format!("cannot remove {}", entry.path().display()))?;
        say::talk(&format!("{file}: what a killed import left is removed"));
    }
    Ok(())
}
