//! Where the library may be.

use std::env;
use std::path::{Path, PathBuf};

use crate::{EngineError, LIBRARY, VERSION};

/// Environment variable: a user's own library, a file or the folder that holds it.
pub const ENV_LIBRARY: &str = "CITRANGE_MUJOCO";
/// Environment variable: the folder under which Citrange caches what it fetched.
pub const ENV_CACHE: &str = "CITRANGE_CACHE";

/// A library file and whether Citrange put it there (then its checksum is known).
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) managed: bool,
}

/// The folder under which Citrange keeps what it fetched: `$CITRANGE_CACHE`, else
/// `$XDG_CACHE_HOME/citrange`, else `~/.cache/citrange`.
///
/// # Errors
/// When none of these variables is set.
pub fn cache_dir() -> Result<PathBuf, EngineError> {
    let set = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set(ENV_CACHE)
        .or_else(|| set("XDG_CACHE_HOME").map(|d| d.join("citrange")))
        .or_else(|| set("HOME").map(|d| d.join(".cache/citrange")))
        .ok_or_else(|| EngineError::Fetch {
            reason: "there is no cache folder: HOME is not set".into(),
            cure: format!("set {ENV_CACHE} to a folder you can write to"),
        })
}

/// The folder of the fetched engine.
pub(crate) fn engine_dir() -> Result<PathBuf, EngineError> {
    Ok(cache_dir()?.join(format!("mujoco-{VERSION}")))
}

/// The first library that exists. A user's own choice is never passed over.
pub(crate) fn find() -> Result<Candidate, EngineError> {
    if let Some(own) = env::var_os(ENV_LIBRARY).filter(|v| !v.is_empty()).map(PathBuf::from) {
        let path = if own.is_dir() { own.join(LIBRARY) } else { own };
        return if path.is_file() {
            Ok(Candidate { path, managed: false })
        } else {
            Err(EngineError::Wrong {
                path: path.display().to_string(),
                reason: "no such file".into(),
                cure: format!("{ENV_LIBRARY} names it: correct or unset that variable"),
            })
        };
    }
    let mut looked_at = Vec::new();
    let beside = env::current_exe().ok();
    let folders = ["lib", "../lib"];
    let shipped = beside.as_deref().and_then(Path::parent).into_iter().flat_map(|dir| {
        folders.iter().map(|f| Candidate { path: dir.join(f).join(LIBRARY), managed: true })
    });
    let cached = engine_dir().ok().map(|d| Candidate { path: d.join(LIBRARY), managed: true });
    for candidate in shipped.chain(cached) {
        if candidate.path.is_file() {
            return Ok(candidate);
        }
        looked_at.push(candidate.path.display().to_string());
    }
    Err(EngineError::Missing { looked_at })
}
