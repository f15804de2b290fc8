//! Files that are there whole, or not at all.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::error::CloudError;

/// Writes a file under a temporary name, syncs it, and gives it its name.
///
/// # Errors
/// When the system refuses a step; then there is the old file or none.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CloudError> {
    let io = |cause| CloudError::Io { path: path.display().to_string(), cause };
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    if let Some(folder) = folder {
        fs::create_dir_all(folder).map_err(io)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let mut file = File::create(&part).map_err(io)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(cause) = written.and_then(|()| fs::rename(&part, path)) {
        // What is left of it is of no use to anybody.
        let _gone = fs::remove_file(&part);
        return Err(io(cause));
    }
    // The name itself is on the disk once the folder is.
    File::open(folder.unwrap_or(Path::new("."))).and_then(|f| f.sync_all()).map_err(io)
}
