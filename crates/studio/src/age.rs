//! How long a message was under way.
//!
//! A page repeats the newest server time it has seen and says how long ago that was. What is
//! missing to now was spent on the way to the page and back. The shortest such round is what the
//! line needs at best; half of it is the way out, the rest is how old a message is. Keys that lay
//! in a stalled network are old, and must not move the arm when they come through at last.

use crate::protocol::Stamp;

/// Oldest key message that counts.
pub(crate) const OLDEST_KEYS_MS: f64 = 150.0;
/// Oldest order that counts; a stop always does.
pub(crate) const OLDEST_ORDER_MS: f64 = 1000.0;

/// Measures one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgeGate {
    base_ms: f64,
}

impl AgeGate {
    pub(crate) fn new() -> Self {
        Self { base_ms: f64::INFINITY }
    }

    /// A round measured by other means, such as a ping.
    pub(crate) fn learn(&mut self, round_ms: f64) {
        if round_ms >= 0.0 {
            self.base_ms = self.base_ms.min(round_ms);
        }
    }

    /// Age of a message that arrived at `now_ms`; `None` when its times are impossible: from the
    /// future, or a page's clock that runs ahead of time.
    pub(crate) fn age_ms(&mut self, stamp: Stamp, now_ms: f64) -> Option<f64> {
        let round = now_ms - stamp.echo_ms - stamp.since_ms;
        // Browsers round their clocks, some to 1 ms and more.
        if !(-CLOCK_GRAIN_MS..).contains(&round) {
            return None;
        }
        let round = round.max(0.0);
        self.learn(round);
        Some(round - self.base_ms / 2.0)
    }
}

const CLOCK_GRAIN_MS: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(echo_ms: f64, since_ms: f64) -> Stamp {
        Stamp { echo_ms, since_ms }
    }

    #[test]
    fn a_steady_line_is_half_its_round_old() {
        let mut gate = AgeGate::new();
        // 40 ms there and back, 10 ms spent in the page.
        assert_eq!(gate.age_ms(stamp(1000.0, 10.0), 1050.0), Some(20.0));
        assert_eq!(gate.age_ms(stamp(2000.0, 0.0), 2040.0), Some(20.0));
    }

    #[test]
    fn a_stall_in_either_direction_shows() {
        let mut gate = AgeGate::new();
        gate.learn(40.0);
        // The message waited 300 ms.
        assert_eq!(gate.age_ms(stamp(1000.0, 10.0), 1350.0), Some(320.0));
        // The page has heard nothing for 5 s: its own clock says so, and the message is fresh.
        assert_eq!(gate.age_ms(stamp(1000.0, 5000.0), 6040.0), Some(20.0));
    }

    #[test]
    fn the_base_only_shrinks() {
        let mut gate = AgeGate::new();
        gate.learn(f64::NAN);
        gate.learn(-3.0);
        assert_eq!(gate.age_ms(stamp(0.0, 0.0), 200.0), Some(100.0));
        assert_eq!(gate.age_ms(stamp(0.0, 0.0), 100.0), Some(50.0));
        assert_eq!(gate.age_ms(stamp(0.0, 0.0), 200.0), Some(150.0));
    }

    #[test]
    fn impossible_times_have_no_age() {
        let mut gate = AgeGate::new();
        assert_eq!(gate.age_ms(stamp(5000.0, 0.0), 1000.0), None);
        assert_eq!(gate.age_ms(stamp(900.0, 500.0), 1000.0), None);
        assert_eq!(gate.age_ms(stamp(990.0, 20.0), 1000.0), Some(0.0));
    }
}
