//! How the time of a planned motion passes: at rate 1 as planned, slower where it is held back,
//! to a stop where it must. The path stays what it is, and so does what was proved of it.

/// A time in which the rate changes at constant jerk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClockPhase {
    /// When it begins.
    pub(super) begin_s: f64,
    /// Planned time then, its rate, and how the rate changes, 1/s.
    pub(super) at: [f64; 3],
    /// How that changes, 1/s².
    pub(super) jerk: f64,
}

/// Planned time over time. Without phases they are the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Clock {
    pub(super) phases: Vec<ClockPhase>,
}

impl ClockPhase {
    /// Planned time, rate and change of rate, so much after the phase began.
    pub(super) fn after(&self, t: f64) -> [f64; 3] {
        let ([planned, rate, change], jerk) = (self.at, self.jerk);
        [
            planned + t * (rate + t * (change / 2.0 + t * jerk / 6.0)),
            (rate + t * (change + t * jerk / 2.0)).max(0.0),
            change + t * jerk,
        ]
    }
}

impl Clock {
    /// Planned time, rate, change of rate and its change at a time.
    pub(super) fn at(&self, time_s: f64) -> [f64; 4] {
        let phase = self.phases.iter().rev().find(|p| p.begin_s <= time_s);
        let Some(phase) = phase else { return [time_s, 1.0, 0.0, 0.0] };
        let [planned, rate, change] = phase.after(time_s - phase.begin_s);
        [planned, rate, change, phase.jerk]
    }

    /// When a planned time is reached, if the last rate lasts; infinite where it never is.
    pub(super) fn time_of(&self, planned_s: f64) -> f64 {
        let Some(first) = self.phases.first().filter(|p| p.at[0] < planned_s) else {
            return planned_s;
        };
        let after = self.phases.iter().rposition(|p| p.at[0] <= planned_s).unwrap_or(0);
        let phase = self.phases.get(after).unwrap_or(first);
        let mut low = phase.begin_s;
        let mut high = match self.phases.get(after + 1) {
            Some(next) => next.begin_s,
            None if phase.at[1] > 0.0 => low + (planned_s - phase.at[0]) / phase.at[1] + 1e-9,
            None => return f64::INFINITY,
        };
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if phase.after(middle - phase.begin_s)[0] < planned_s {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// The first time after another at which planned time stands and goes on again, and the
    /// planned time then: the path has a corner there that must not be passed.
    pub(super) fn rest_after(&self, time_s: f64) -> Option<(f64, f64)> {
        let stands = |[before, next]: &[ClockPhase; 2]| {
            before.after(next.begin_s - before.begin_s)[1] < 1e-9 && next.at[1] > 0.0
        };
        let pairs = self.phases.iter().zip(self.phases.iter().skip(1));
        let mut pairs = pairs.map(|(a, b)| [*a, *b]).filter(|[_, next]| next.begin_s > time_s);
        pairs.find(stands).map(|[_, next]| (next.begin_s, next.at[0]))
    }

    /// The clock until a time, then other phases.
    pub(super) fn then(&self, from_s: f64, phases: &[ClockPhase]) -> Self {
        let kept = self.phases.iter().filter(|p| p.begin_s < from_s);
        Self { phases: kept.chain(phases).copied().collect() }
    }

    /// The same, all of it at a fraction of its speed.
    pub(super) fn slow_down(&mut self, fraction: f64) {
        for phase in &mut self.phases {
            // Planned time is stretched as well, so rates stay what they are.
            phase.begin_s /= fraction;
            phase.at[0] /= fraction;
            phase.at[2] *= fraction;
            phase.jerk *= fraction * fraction;
        }
    }
}

/// Phases that bring a rate from one value to another: as many as are needed, and the constant
/// one behind them.
///
/// `from`: time, planned time, rate, change of rate. None where the change that it begins with is
/// too great to end at `to`.
pub(super) fn change_of_rate(
    from: [f64; 4],
    to: f64,
    most_change: f64,
    jerk: f64,
) -> Option<Vec<ClockPhase>> {
    let [begin_s, planned, rate, change] = from;
    // Where the rate would come to if the change went back to 0 at once decides which way to go.
    let ends_at = rate + change * change.abs() / (2.0 * jerk);
    let sign = if ends_at > to { -1.0 } else { 1.0 };
    let (first, gain) = (sign * change, sign * (to - rate));
    // Up to a peak, hold, back to 0: areas must add up to the gain.
    let area = |peak: f64| (2.0 * peak * peak - first * first) / (2.0 * jerk);
    let mut peak = (jerk * gain + first * first / 2.0).max(0.0).sqrt();
    let mut hold_s = 0.0;
    if peak > most_change {
        peak = most_change;
        hold_s = (gain - area(peak)) / peak;
    }
    if peak < first - 1e-9 || hold_s < 0.0 {
        return None;
    }
    let parts = [((peak - first).max(0.0) / jerk, jerk), (hold_s, 0.0), (peak / jerk, -jerk)];
    let mut phases = Vec::with_capacity(4);
    let (mut begin_s, mut at) = (begin_s, [planned, rate, change]);
    for (duration_s, jerk) in parts {
        if duration_s > 0.0 {
            let phase = ClockPhase { begin_s, at, jerk: sign * jerk };
            at = phase.after(duration_s);
            begin_s += duration_s;
            phases.push(phase);
        }
    }
    at = [at[0], to, 0.0];
    phases.push(ClockPhase { begin_s, at, jerk: 0.0 });
    Some(phases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_change_smoothly_and_arrive() {
        for (rate, change, to) in
            [(1.0, 0.0, 0.0), (0.4, 0.0, 1.0), (1.0, -1.5, 0.0), (0.7, 2.0, 0.2), (0.3, -0.5, 0.9)]
        {
            for (most, jerk) in [(2.0, 30.0), (50.0, 9.0), (6.0, 400.0)] {
                let Some(phases) = change_of_rate([5.0, 3.0, rate, change], to, most, jerk) else {
                    continue;
                };
                let clock = Clock { phases: phases.clone() };
                let last = phases.last().copied();
                assert_eq!(last.map(|p| (p.at[1], p.at[2])), Some((to, 0.0)));
                for pair in phases.windows(2) {
                    let end = pair[0].after(pair[1].begin_s - pair[0].begin_s);
                    for (a, b) in end.iter().zip(&pair[1].at) {
                        assert!((a - b).abs() < 1e-9, "{rate} {change} {to}: {a} {b}");
                    }
                    assert!(pair[0].jerk.abs() <= jerk * (1.0 + 1e-12));
                    assert!(pair[1].at[2].abs() <= most.max(change.abs()) + 1e-9);
                }
                let [planned, ..] = clock.at(5.05);
                assert!((clock.time_of(planned) - 5.05).abs() < 1e-6, "{rate} {to}");
            }
        }
    }

    #[test]
    fn without_phases_time_is_time() {
        let clock = Clock::default();
        assert_eq!(clock.at(1.25), [1.25, 1.0, 0.0, 0.0]);
        assert_eq!(clock.time_of(1.25), 1.25);
    }
}
