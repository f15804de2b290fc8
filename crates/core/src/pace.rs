//! Who keeps time: nobody, the wall's clock, or the rig.

use std::time::{Duration, Instant};

/// Who says when a tick begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Pace {
    /// Nobody: as fast as it goes.
    #[default]
    Free,
    /// The wall's clock.
    Wall {
        /// Times real time.
        speed: f64,
        /// What becomes of ticks that are late.
        late: Late,
    },
    /// The rig: it waits for its own cycle in [`crate::Rig::observe`]. Late ticks are skipped.
    Rig,
}

impl Pace {
    /// Real time, late ticks skipped: whenever a person drives, or anything real moves.
    pub const REAL_TIME: Self = Self::Wall { speed: 1.0, late: Late::Skip };

    /// At a speed where one is given, catching up; else as fast as it goes.
    #[must_use]
    pub fn at_speed(speed: Option<f64>) -> Self {
        let speed = speed.filter(|s| s.is_finite() && *s > 0.0);
        speed.map_or(Self::Free, |speed| Self::Wall { speed, late: Late::CatchUp })
    }
}

/// What becomes of ticks that are late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// They are made up for as fast as it goes: for simulations that nobody drives.
    #[default]
    CatchUp,
    /// They are left out, and what follows is that much later; two commands are never closer
    /// together than half a tick.
    Skip,
}

/// A tick that is later than this, and than two ticks, is a stall.
pub const STALL: Duration = Duration::from_millis(40);

/// How a tick began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Began {
    /// After it was due.
    pub late: Duration,
    /// More than one tick.
    pub is_late: bool,
    /// So late that the pilot must know.
    pub is_stall: bool,
}

/// Waits for due times: the loop's, and those of whatever else has a cycle to keep.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    pace: Pace,
    tick: Duration,
    /// Due times count from here; it moves when time is skipped.
    anchor: Instant,
    /// Ticks begun since.
    ticks: u64,
    last_act: Option<Instant>,
    /// Time of the last look by the rig's clock.
    last_seen_ns: Option<u64>,
}

impl Pacer {
    /// Of so many ticks a second, the first one due now.
    #[must_use]
    pub fn new(pace: Pace, control_hz: u32) -> Self {
        let speed = match pace {
            Pace::Wall { speed, .. } if speed.is_finite() && speed > 0.0 => speed,
            _ => 1.0,
        };
        let tick = Duration::from_secs_f64(1.0 / (f64::from(control_hz.max(1)) * speed));
        let anchor = Instant::now();
        Self { pace, tick, anchor, ticks: 0, last_act: None, last_seen_ns: None }
    }

    fn skips(&self) -> bool {
        matches!(self.pace, Pace::Wall { late: Late::Skip, .. } | Pace::Rig)
    }

    /// Waits until the next tick is due.
    pub fn wait(&mut self) -> Began {
        if !matches!(self.pace, Pace::Wall { .. }) {
            return Began::default();
        }
        // In whole nanoseconds from the anchor: nothing adds up over an hour.
        let nanos = self.tick.as_nanos() * u128::from(self.ticks);
        let due = self.anchor + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        sleep_until(due);
        let now = Instant::now();
        self.ticks += 1;
        // Also after a sleep: it may last longer than it should.
        let late = now.saturating_duration_since(due);
        let is_late = late > self.tick;
        if is_late && self.skips() {
            (self.anchor, self.ticks) = (now, 1);
        }
        let is_stall = is_late && self.skips() && is_stall(late, self.tick);
        Began { late, is_late, is_stall }
    }

    /// The rig has looked: where it sets the pace, its clock says how the tick began.
    pub(crate) fn looked(&mut self, at_ns: u64) -> Began {
        if self.pace != Pace::Rig {
            return Began::default();
        }
        let gap = self.last_seen_ns.replace(at_ns).map_or(0, |last| at_ns.saturating_sub(last));
        let late = Duration::from_nanos(gap).saturating_sub(self.tick);
        Began { late, is_late: late > self.tick, is_stall: is_stall(late, self.tick) }
    }

    /// A command is about to be sent: waits where the last one was a moment ago, however late
    /// this one is.
    pub fn before_act(&self) {
        if let Some(last) = self.last_act.filter(|_| self.skips()) {
            sleep_until(last + self.tick / 2);
        }
    }

    /// It was sent. Only now: whoever was held up just before it was sent it later than it knew.
    pub fn after_act(&mut self) {
        self.last_act = Some(Instant::now());
    }

    /// Time counts from here: what was before was not the loop's.
    pub fn restart(&mut self) {
        if self.skips() {
            (self.anchor, self.ticks) = (Instant::now(), 1);
        }
    }
}

fn is_stall(late: Duration, tick: Duration) -> bool {
    late > STALL && late > 2 * tick
}

fn sleep_until(when: Instant) {
    // A sleep may end early on some systems.
    while let Some(wait) = when.checked_duration_since(Instant::now()).filter(|w| !w.is_zero()) {
        std::thread::sleep(wait);
    }
}
