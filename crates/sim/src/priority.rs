//! Who goes first when cores are scarce: the control loop, then keys, then pictures.
//!
//! Priorities alone do not help a loop whose own program draws: Linux shares cores first between
//! sessions (autogroups), and a session that draws has used its share when its loop wakes. Only
//! real-time scheduling goes before that. The system allows it to administrators and to users with
//! an `rtprio` limit; others get what the next best is.
//!
//! On Linux all of this counts per thread, and a new thread begins with the priority of the one
//! that starts it: so it is set to values, not changed by steps. Elsewhere it would hold for the
//! whole process, and nothing is done.
#![allow(unsafe_code)]

/// What the system gave to a control loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// It runs when it is due, before every program that is not of real time.
    RealTime,
    /// It goes before the other threads of its session.
    Ahead,
    /// It waits for its turn like everything else.
    Equal,
}

impl Lead {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RealTime => "real_time",
            Self::Ahead => "ahead",
            Self::Equal => "equal",
        }
    }
}

/// Puts the calling thread, which runs a control loop in real time, as far ahead as the system
/// allows. The loop must sleep between its ticks.
#[must_use]
pub fn lead() -> Lead {
    #[cfg(target_os = "linux")]
    {
        if linux::round_robin() {
            return Lead::RealTime;
        }
        if rustix::process::setpriority_process(None, linux::AHEAD).is_ok() {
            return Lead::Ahead;
        }
    }
    Lead::Equal
}

/// Pictures may be late by a moment; the control loop may not. Where priorities cannot be set it
/// is tried in vain, and nothing is lost.
pub(crate) fn stand_back() {
    #[cfg(target_os = "linux")]
    {
        // Whoever started us further back meant it.
        let now = rustix::process::getpriority_process(None).unwrap_or(0);
        let _in_vain = rustix::process::setpriority_process(None, now.max(linux::DRAWING));
    }
}

#[cfg(target_os = "linux")]
mod linux {
    /// The control loop, where it cannot have real time.
    pub(super) const AHEAD: i32 = -10;
    /// Drawing; coders stand as far back.
    pub(super) const DRAWING: i32 = 10;

    /// Real time, in turns with others of the same priority.
    const SCHED_RR: i32 = 2;
    /// Threads that are started from here are not of real time.
    const SCHED_RESET_ON_FORK: i32 = 0x4000_0000;

    /// As the C library has it.
    #[repr(C)]
    struct SchedParam {
        priority: i32,
    }

    unsafe extern "C" {
        fn sched_setscheduler(pid: i32, policy: i32, param: *const SchedParam) -> i32;
    }

    /// Lowest priority of real time for the calling thread; whether it was allowed.
    pub(super) fn round_robin() -> bool {
        let param = SchedParam { priority: 1 };
        // SAFETY: 0 is the calling thread, and the parameter lives until the call returns.
        unsafe { sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &raw const param) == 0 }
    }
}
