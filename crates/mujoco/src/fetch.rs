//! Fetching: the package index's own client brings the package, we verify and unpack it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::locate::engine_dir;
use crate::{EngineError, LIBRARY, VERSION};

#[cfg(target_arch = "x86_64")]
mod pinned {
    pub(crate) const PLATFORM: &str = "manylinux_2_28_x86_64";
    pub(crate) const PACKAGE_SHA256: &str =
        "d66928d86a2d1b601bbaa4dc11db50214d17d5301bb8afd84721313b67ff0874";
    pub(crate) const LIBRARY_SHA256: &str =
        "23496b023ee80fb61ab71167e94bc649f9941710fde96b18bb8204fb332523ad";
}
#[cfg(target_arch = "aarch64")]
mod pinned {
    pub(crate) const PLATFORM: &str = "manylinux_2_28_aarch64";
    pub(crate) const PACKAGE_SHA256: &str =
        "91a70ed9979c383ff1f5c03f25cc2e1280a8254c1a8e558d5dd7f4184f01efc9";
    pub(crate) const LIBRARY_SHA256: &str =
        "e2edd0204fb9229f75f332a4fcd1a32345bb9f90651dc0fddfa20ec0670db789";
}
pub(crate) use pinned::LIBRARY_SHA256;
use pinned::{PACKAGE_SHA256, PLATFORM};

/// What is taken out of the package: the library and the licences that must travel with it.
const WANTED: [(&str, &str); 3] = [
    ("mujoco/libmujoco.so.3.17.0", LIBRARY),
    ("mujoco-3.17.0.dist-info/licenses/LICENSE", "LICENSE"),
    ("mujoco-3.17.0.dist-info/licenses/LICENSES_THIRD_PARTY.md", "LICENSES_THIRD_PARTY.md"),
];

/// Whether a verified copy is already in the cache.
#[must_use]
pub fn is_fetched() -> bool {
    engine_dir().is_ok_and(|dir| holds_verified_library(&dir))
}

fn holds_verified_library(dir: &Path) -> bool {
    sha256_of(&dir.join(LIBRARY)).is_ok_and(|found| found == LIBRARY_SHA256)
}

/// Brings the engine into the cache; does nothing when a verified copy is there.
///
/// Uses `pip download`, so that the user's own index, proxy and certificates apply. `say` gets
/// one line per step. Safe to run twice at once: the last step is one rename.
///
/// # Errors
/// When no pip is found, the download fails, a checksum does not match, or the disk refuses.
pub fn fetch(say: impl Fn(&str)) -> Result<PathBuf, EngineError> {
    let dir = engine_dir()?;
    if holds_verified_library(&dir) {
        return Ok(dir.join(LIBRARY));
    }
    let parent = dir.parent().unwrap_or(Path::new(".")).to_path_buf();
    fs::create_dir_all(&parent).map_err(|e| io("create", &parent, &e))?;
    let work = parent.join(format!(".mujoco-{VERSION}.{}.tmp", std::process::id()));
    remove_if_there(&work)?;
    fs::create_dir_all(&work).map_err(|e| io("create", &work, &e))?;
    let result = download_and_unpack(&work, &dir, &say);
    let cleaned = remove_if_there(&work);
    result.and(cleaned)?;
    Ok(dir.join(LIBRARY))
}

fn download_and_unpack(work: &Path, dir: &Path, say: &impl Fn(&str)) -> Result<(), EngineError> {
    say(&format!("fetching MuJoCo {VERSION} (27 MB) with pip"));
    let package = download(work)?;
    let found = sha256_of(&package)?;
    if found != PACKAGE_SHA256 {
        return Err(EngineError::Fetch {
            reason: format!("the package's sha256 is {found}, expected {PACKAGE_SHA256}"),
            cure: "The index served another file: check pip's index settings".into(),
        });
    }
    say("checksum verified, unpacking");
    let unpacked = work.join("unpacked");
    fs::create_dir_all(&unpacked).map_err(|e| io("create", &unpacked, &e))?;
    unpack(&package, &unpacked)?;
    if !holds_verified_library(&unpacked) {
        return Err(EngineError::Fetch {
            reason: "the unpacked library has a wrong checksum".into(),
            cure: "Run it again; if it stays, the disk or memory of this machine is faulty".into(),
        });
    }
    // A damaged older copy makes way; a copy that someone finished meanwhile is as good as ours.
    if !holds_verified_library(dir) {
        remove_if_there(dir)?;
        fs::rename(&unpacked, dir).map_err(|e| io("rename into", dir, &e))?;
    }
    say(&format!("MuJoCo {VERSION} is in {}", dir.display()));
    Ok(())
}

/// Runs the first pip that exists and returns the downloaded file.
fn download(work: &Path) -> Result<PathBuf, EngineError> {
    let clients: [(&str, &[&str]); 3] = [("python3", &["-m", "pip"]), ("pip3", &[]), ("pip", &[])];
    let mut failures = Vec::new();
    for (program, prefix) in clients {
        let output = Command::new(program)
            .args(prefix)
            .args(["download", "--quiet", "--no-deps", "--only-binary=:all:"])
            .args(["--python-version", "3.11", "--platform", PLATFORM, "--dest"])
            .arg(work)
            .arg(format!("mujoco=={VERSION}"))
            .output();
        match output {
            Ok(out) if out.status.success() => return the_wheel_in(work),
            Ok(out) => failures.push(format!(
                "{program}: {}",
                String::from_utf8_lossy(&out.stderr).lines().last().unwrap_or("failed").trim()
            )),
            Err(e) => failures.push(format!("{program}: {e}")),
        }
    }
    Err(EngineError::Fetch {
        reason: failures.join("; "),
        cure: format!(
            "Install python3 with pip and check that it can download packages, or bring your own \
             {LIBRARY} and point {} at it",
            crate::ENV_LIBRARY
        ),
    })
}

fn the_wheel_in(work: &Path) -> Result<PathBuf, EngineError> {
    let entries = fs::read_dir(work).map_err(|e| io("list", work, &e))?;
    entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|ext| ext == "whl"))
        .ok_or_else(|| EngineError::Fetch {
            reason: "pip reported success but left no package".into(),
            cure: "Run it again".into(),
        })
}

fn unpack(package: &Path, into: &Path) -> Result<(), EngineError> {
    let bad = |e: &dyn std::fmt::Display| EngineError::Fetch {
        reason: format!("cannot unpack {}: {e}", package.display()),
        cure: "Run it again".into(),
    };
    let file = File::open(package).map_err(|e| io("open", package, &e))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|e| bad(&e))?;
    for (inside, name) in WANTED {
        let mut entry = archive.by_name(inside).map_err(|e| bad(&e))?;
        let target = into.join(name);
        let mut out = File::create(&target).map_err(|e| io("create", &target, &e))?;
        std::io::copy(&mut entry, &mut out).map_err(|e| io("write", &target, &e))?;
        out.flush().and_then(|()| out.sync_all()).map_err(|e| io("sync", &target, &e))?;
    }
    Ok(())
}

/// The file's sha256 in hex.
pub(crate) fn sha256_of(path: &Path) -> Result<String, EngineError> {
    let mut file = File::open(path).map_err(|e| io("open", path, &e))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut buffer).map_err(|e| io("read", path, &e))?;
        if n == 0 {
            break;
        }
        hasher.update(&buffer[..n]);
    }
    Ok(hasher.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

fn remove_if_there(dir: &Path) -> Result<(), EngineError> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(io("remove", dir, &e)),
        _ => Ok(()),
    }
}

fn io(action: &'static str, path: &Path, error: &std::io::Error) -> EngineError {
    EngineError::Io { action, path: path.display().to_string(), reason: error.to_string() }
}
