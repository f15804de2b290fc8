//! Ctrl-C, polite kills and hang-ups.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::{Context as _, Result};
use crate::output;

/// Becomes true when the user asks to stop (Ctrl-C, or a polite kill).
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// Catches Ctrl-C, polite kills and hang-ups from here on: the episode in hand is ended and kept.
/// A second one ends at once. What whoever started us chose to ignore stays ignored, as hang-ups
/// under `nohup`.
pub(crate) fn catch_stop() -> Result<&'static AtomicBool> {
    catch("stopping; what was saved is kept (press again to leave at once)")
}

/// The same for what saves nothing.
pub(crate) fn catch_end() -> Result<&'static AtomicBool> {
    catch("ending (press again to leave at once)")
}

fn catch(words: &'static str) -> Result<&'static AtomicBool> {
    static CAUGHT: OnceLock<()> = OnceLock::new();
    if CAUGHT.set(()).is_err() {
        return Ok(&STOP);
    }
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored >> (s - 1) & 1 == 0);
    let mut signals = Signals::new(wanted).context(|| "cannot catch Ctrl-C".to_owned())?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for _ in signals.forever() {
                if STOP.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
                output::talk(&format!("\n{words}"));
            }
        })
        .context(|| "no thread to catch Ctrl-C".to_owned())?;
    Ok(&STOP)
}

/// A bit per signal that is ignored; none where the system does not tell.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
