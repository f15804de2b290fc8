//! Finds, verifies and loads the MuJoCo library at run time.
//!
//! `mujoco-rs` declares the engine's functions; this crate defines each of them as a one-jump
//! trampoline and points the jumps at the real library when [`load`] succeeds. So `cargo build`
//! needs no engine on the machine, the binary needs no `LD_LIBRARY_PATH`, and a missing or wrong
//! library is an [`EngineError`] that names the cure.
//!
//! ```no_run
//! citrange_mujoco::fetch(|line| eprintln!("{line}"))?; // once per machine
//! let engine = citrange_mujoco::load()?; // once per process, cheap afterwards
//! println!("MuJoCo {} from {}", engine.version, engine.path.display());
//! # Ok::<(), citrange_mujoco::EngineError>(())
//! ```
//!
//! Calling any `mj*` function before [`load`] succeeded ends the process with a message; the
//! `sim` crate calls [`load`] before it touches the engine.

mod fetch;
mod load;
mod locate;

pub use fetch::{fetch, is_fetched};
pub use load::{Engine, load};
pub use locate::{ENV_CACHE, ENV_LIBRARY, cache_dir};

/// Engine version this build is made for.
pub const VERSION: &str = "3.17.0";
/// The same version as `mj_version()` returns it.
const VERSION_NUMBER: i32 = 3_017_000;
/// File name of the library inside the cache and inside the package.
const LIBRARY: &str = "libmujoco.so.3.17.0";

/// Why the engine cannot be used. Every message ends with what to do.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    /// No library at any of the places looked at.
    #[error(
        "MuJoCo {VERSION} was not found; run `citrange setup` once, or point {ENV_LIBRARY} at \
         your own {LIBRARY}. Looked at: {}", .looked_at.join(", ")
    )]
    Missing {
        /// Every path tried, in order.
        looked_at: Vec<String>,
    },
    /// The file is there but is not what it should be.
    #[error("{path} is not the MuJoCo {VERSION} library: {reason}. {cure}")]
    Wrong {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
        /// What to do.
        cure: String,
    },
    /// The download step failed.
    #[error("could not fetch MuJoCo {VERSION}: {reason}. {cure}")]
    Fetch {
        /// What failed.
        reason: String,
        /// What to do.
        cure: String,
    },
    /// Reading or writing the cache failed.
    #[error("cannot {action} {path}: {reason}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: String,
        /// The system's answer.
        reason: String,
    },
}
