//! Loading: open the library, check it, point the trampolines at it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

use crate::fetch::{LIBRARY_SHA256, sha256_of};
use crate::locate::{Candidate, ENV_LIBRARY, find};
use crate::{EngineError, VERSION, VERSION_NUMBER};

include!(concat!(env!("OUT_DIR"), "/symbols.rs"));
std::arch::global_asm!(include_str!(concat!(env!("OUT_DIR"), "/trampolines.s")));

// SAFETY: defined by the assembly above with exactly SYMBOLS.len() pointer-sized entries, and
// accessed only through atomics from Rust.
unsafe extern "C" {
    static citrange_mj_table: [AtomicPtr<c_void>; SYMBOLS.len()];
}

/// Target of every trampoline until the library is loaded.
// SAFETY: the name is this crate's own; nothing else defines it.
#[unsafe(no_mangle)]
#[allow(clippy::print_stderr)] // the process ends here: there is no caller to return an error to
extern "C" fn citrange_mj_missing() -> ! {
    eprintln!("citrange: a MuJoCo function was called before the library was loaded");
    std::process::abort()
}

/// The loaded engine.
#[derive(Clone, Debug)]
pub struct Engine {
    /// The library file in use.
    pub path: PathBuf,
    /// Its version, for example `3.17.0`.
    pub version: &'static str,
    /// Whether Citrange fetched it (checksum verified) or the user brought it.
    pub managed: bool,
}

/// Loads the engine once per process; later calls return the first answer.
///
/// # Errors
/// When no library is found, or the one found is of another version, damaged or not MuJoCo.
pub fn load() -> Result<&'static Engine, EngineError> {
    static ENGINE: OnceLock<Result<Engine, EngineError>> = OnceLock::new();
    ENGINE.get_or_init(|| open(find()?)).as_ref().map_err(Clone::clone)
}

fn open(candidate: Candidate) -> Result<Engine, EngineError> {
    let Candidate { path, managed } = candidate;
    let wrong = |reason: String| EngineError::Wrong {
        path: path.display().to_string(),
        reason,
        cure: if managed {
            "Run `citrange setup` to fetch it again".into()
        } else {
            format!("{ENV_LIBRARY} names it: correct or unset that variable")
        },
    };
    if managed {
        let found = sha256_of(&path)?;
        if found != LIBRARY_SHA256 {
            return Err(wrong(format!("its sha256 is {found}, expected {LIBRARY_SHA256}")));
        }
    }
    // SAFETY: loading runs the library's initialisers. A managed file has the known checksum; a
    // user's own file is the user's choice, as with any plug-in.
    let library = unsafe { Library::new(&path) }.map_err(|e| wrong(e.to_string()))?;
    {
        // SAFETY: mj_version has this signature in every MuJoCo release.
        let version = unsafe { library.get::<unsafe extern "C" fn() -> i32>(c"mj_version") }
            .map_err(|_| wrong("it has no mj_version()".into()))?;
        // SAFETY: the function takes nothing and only returns a constant.
        let number = unsafe { version() };
        if number != VERSION_NUMBER {
            return Err(wrong(format!("it is version {}", dotted(number))));
        }
    }
    let mut targets = Vec::with_capacity(SYMBOLS.len());
    for symbol in SYMBOLS {
        // SAFETY: only the address is taken here.
        let target = unsafe { library.get::<*mut c_void>(symbol) }
            .map_err(|_| wrong(format!("it has no {}()", symbol.to_string_lossy())))?;
        // SAFETY: the address stays valid because the library is never closed (see below).
        let address = unsafe { target.try_as_raw_ptr() }.filter(|p| !p.is_null());
        targets.push(address.ok_or_else(|| wrong(format!("{symbol:?} has no address")))?);
    }
    for (index, target) in targets.into_iter().enumerate() {
        // SAFETY: the table has SYMBOLS.len() entries (see its declaration).
        let table = unsafe { &citrange_mj_table };
        table[index].store(target, Ordering::Release);
    }
    // The trampolines point into it for the rest of the process.
    std::mem::forget(library);
    Ok(Engine { path, version: VERSION, managed })
}

/// `3017000` as `3.17.0`.
fn dotted(number: i32) -> String {
    format!("{}.{}.{}", number / 1_000_000, number / 1000 % 1000, number % 1000)
}

#[cfg(test)]
mod tests {
    use super::dotted;

    #[test]
    fn version_numbers_are_readable() {
        assert_eq!(dotted(3_017_000), "3.17.0");
        assert_eq!(dotted(4_000_000), "4.0.0");
    }
}
