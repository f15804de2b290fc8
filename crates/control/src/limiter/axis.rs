//! One joint's target under its limits.

use super::MotionLimits;

/// Limits are kept with this much room, so that rounding never passes them.
const ROOM: f64 = 1.0 - 1e-4;
/// Speeds and accelerations below these are none.
const STILL: f64 = 1e-11;
/// Halvings in the search for the largest acceleration that is allowed.
const HALVINGS: usize = 24;
/// More ticks than any stop takes.
const MOST_TICKS: usize = 100_000;
/// Targets are the same within this: rounding.
const SAME: f64 = 1e-13;
/// A stream that stands still is met within this.
const MET: f64 = 1e-10;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At {
    pub(super) pos: f64,
    pub(super) speed: f64,
    pub(super) acc: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    speed: f64,
    acc: f64,
    jerk: f64,
    /// Change of acceleration in a tick.
    step: f64,
    tick_s: f64,
    low: f64,
    high: f64,
}

impl Axis {
    pub(super) fn new(limits: &MotionLimits, range: Option<[f64; 2]>, tick_s: f64) -> Self {
        let [low, high] = range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let jerk = limits.jerk * ROOM;
        Self {
            // A speed that is reached in one tick is left in one.
            speed: limits.speed * ROOM,
            acc: limits.acceleration * ROOM,
            jerk,
            step: jerk * tick_s,
            tick_s,
            low,
            high,
        }
    }

    pub(super) fn allowed(&self, speed: f64) -> f64 {
        speed.clamp(-self.speed, self.speed)
    }

    /// Whether the next tick may have this acceleration.
    pub(super) fn can_take(&self, at: At, acc: f64) -> bool {
        // What comes from positions is rounded; that is within the room.
        const ROUNDED: f64 = 1.0 + 2e-5;
        (acc - at.acc).abs() <= ROUNDED * self.step && acc.abs() <= ROUNDED * self.acc
    }

    /// The state after a tick with this acceleration.
    pub(super) fn advance(&self, at: At, acc: f64) -> At {
        let mut speed = at.speed + acc * self.tick_s;
        let mut acc = acc;
        if speed.abs() < STILL {
            speed = 0.0;
        }
        if acc.abs() < STILL {
            acc = 0.0;
        }
        let free = at.pos + speed * self.tick_s;
        // What is past the end by rounding only is at the end.
        let end = free.clamp(self.low, self.high);
        let pos = if (free - end).abs() < SAME { end } else { free };
        At { pos, speed, acc }
    }

    /// The acceleration of the next tick that leads to a speed: when from there on acceleration
    /// is taken back as fast as the jerk allows, that speed is met exactly.
    ///
    /// With steps of `m` an acceleration `a` between `n m` and `(n + 1) m` is taken back in `n`
    /// ticks and changes the speed, its own tick included, by `(n + 1) a - n (n + 1) m / 2` ticks.
    fn leading_to(&self, at: At, speed: f64) -> f64 {
        let change = (speed - at.speed) / self.tick_s;
        let m = self.step;
        let n = (((1.0 + 8.0 * change.abs() / m).sqrt() - 1.0) / 2.0).floor();
        (change.abs() + m * n * (n + 1.0) / 2.0) / (n + 1.0) * change.signum()
    }

    /// The same within the limits of acceleration and jerk.
    pub(super) fn steer(&self, at: At, speed: f64) -> f64 {
        let wanted = self.leading_to(at, self.allowed(speed));
        let low = (at.acc - self.step).max(-self.acc);
        let high = (at.acc + self.step).min(self.acc);
        if low <= high {
            wanted.clamp(low, high)
        } else {
            // Beyond its limits: back as fast as the jerk allows.
            at.acc - self.step.copysign(at.acc)
        }
    }

    pub(super) fn stop(&self, at: At) -> f64 {
        self.steer(at, 0.0)
    }

    /// Lowest and highest place on the way to rest, and where that is.
    fn until_rest(&self, mut at: At) -> (f64, f64, f64) {
        let (mut low, mut high) = (at.pos, at.pos);
        for _ in 0..MOST_TICKS {
            if at.speed == 0.0 && at.acc == 0.0 {
                break;
            }
            at = self.advance(at, self.stop(at));
            (low, high) = (low.min(at.pos), high.max(at.pos));
        }
        (low, high, at.pos)
    }

    /// An upper bound of the way until rest after the next tick, whatever it is.
    pub(super) fn longest_way(&self, at: At) -> f64 {
        let acc = at.acc.abs() + self.step;
        let reversal_s = acc / self.jerk + 2.0 * self.tick_s;
        let speed = at.speed.abs() + acc * reversal_s;
        let longest_s =
            reversal_s + speed / self.acc + 2.0 * self.acc / self.jerk + 4.0 * self.tick_s;
        speed * longest_s
    }

    /// A speed from which it comes to rest within a way, with some of it to spare.
    pub(super) fn speed_with_stop(&self, way: f64) -> f64 {
        const SPARE: f64 = 0.85;
        // All jerk: v^1.5 / sqrt(J); with a stretch of full acceleration: v²/2A + vA/2J.
        let gentle = (way * way * self.jerk).cbrt();
        let half = self.acc * self.acc / (2.0 * self.jerk);
        let speed = if gentle > 2.0 * half {
            (half * half + 2.0 * self.acc * way).sqrt() - half
        } else {
            gentle
        };
        SPARE * speed.min(way / self.tick_s)
    }

    /// An acceleration as near to the wanted one as leaves a way to rest inside the range.
    pub(super) fn within_range(&self, at: At, wanted: f64) -> f64 {
        let way = self.longest_way(at);
        if at.pos - self.low > way && self.high - at.pos > way {
            return wanted;
        }
        // Who is outside already must not get further out.
        let (least, most) = (self.low.min(at.pos), self.high.max(at.pos));
        let stays = |acc: f64| {
            let (low, high, _) = self.until_rest(self.advance(at, acc));
            low >= least - SAME / 2.0 && high <= most + SAME / 2.0
        };
        self.nearest(self.stop(at), wanted, stays)
    }

    /// The acceleration nearest to `wanted` between it and `safe` that is fine.
    fn nearest(&self, safe: f64, wanted: f64, is_fine: impl Fn(f64) -> bool) -> f64 {
        if is_fine(wanted) {
            return wanted;
        }
        let (mut good, mut bad) = (safe, wanted);
        for _ in 0..HALVINGS {
            let middle = (good + bad) / 2.0;
            if is_fine(middle) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        good
    }

    /// The acceleration of the next tick towards a position that is part of a stream, `before` the
    /// one before it.
    pub(super) fn follow(&self, at: At, before: f64, target: f64) -> f64 {
        let inside = |pos: f64| pos.clamp(self.low.min(at.pos), self.high.max(at.pos));
        let (before, target) = (inside(before), inside(target));
        let speed = (target - at.pos) / self.tick_s;
        let exact = (speed - at.speed) / self.tick_s;
        // It is joined when its speed can be met in the tick after, or it would be passed.
        let after = ((target - before) / self.tick_s - speed) / self.tick_s;
        let is_with_it = (at.pos - before).abs() < 10.0 * MET;
        let joins = (after - exact).abs() <= self.step && after.abs() <= self.step.min(self.acc);
        if (is_with_it || joins) && self.can_take(at, exact) && self.stays_slow(at, exact) {
            let kept = self.within_range(at, exact);
            if kept == exact {
                return exact;
            }
        }
        // As fast as it goes, but so that it could still come to rest at the target.
        let stop = self.stop(at);
        let (.., rest) = self.until_rest(self.advance(at, stop));
        let ahead = target - rest;
        if ahead.abs() < MET {
            return self.within_range(at, stop);
        }
        let full = self.steer(at, self.speed.copysign(ahead));
        let fine = |acc: f64| {
            let (low, high, _) = self.until_rest(self.advance(at, acc));
            if ahead > 0.0 { high <= target } else { low >= target }
        };
        self.within_range(at, self.nearest(stop, full, fine))
    }

    /// Whether the speed stays below its limit when this acceleration is taken back at once.
    fn stays_slow(&self, at: At, acc: f64) -> bool {
        let n = (acc.abs() / self.step).floor();
        let change = (n + 1.0) * acc.abs() - n * (n + 1.0) * self.step / 2.0;
        let peak = at.speed + change.copysign(acc) * self.tick_s;
        peak.abs() <= self.speed && (at.speed + acc * self.tick_s).abs() <= self.speed
    }
}
