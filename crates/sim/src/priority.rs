//! Who goes first when cores are scarce: the control loop, then keys, then pictures.
//!
//! On Linux priorities count per thread, and a new thread begins with that of the thread that
//! starts it: so they are set to values, not changed by steps. Elsewhere they would hold for the
//! whole process, and nothing is done.

/// The control loop: ahead of everything that asks for nothing.
#[cfg(target_os = "linux")]
const LOOP: i32 = -10;
/// Drawing; coders stand as far back.
#[cfg(target_os = "linux")]
const DRAWING: i32 = 10;

/// Puts the calling thread, which runs a control loop in real time, first. Whether the system
/// allows it: most let only an administrator, or users with a `nice` limit.
#[must_use]
pub fn lead() -> bool {
    #[cfg(target_os = "linux")]
    {
        rustix::process::setpriority_process(None, LOOP).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        false
    }
}

/// Pictures may be late by a moment; the control loop may not. Where priorities cannot be set it
/// is tried in vain, and nothing is lost.
pub(crate) fn stand_back() {
    #[cfg(target_os = "linux")]
    {
        // Whoever started us further back meant it.
        let now = rustix::process::getpriority_process(None).unwrap_or(0);
        let _in_vain = rustix::process::setpriority_process(None, now.max(DRAWING));
    }
}
