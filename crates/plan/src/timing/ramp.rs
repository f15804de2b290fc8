//! Changes of speed along a straight piece with bounded acceleration and jerk.

/// Bounds along an edge. Accelerations are 0 where a change of speed begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ramp {
    /// Largest acceleration, 1/s.
    pub(super) acceleration: f64,
    /// Largest jerk, 1/s².
    pub(super) jerk: f64,
}

/// A time of constant jerk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    pub(super) duration: f64,
    /// Way behind it, speed and acceleration when it begins.
    pub(super) way: f64,
    pub(super) speed: f64,
    pub(super) acceleration: f64,
    pub(super) jerk: f64,
}

/// Halvings when the highest speed of a straight piece is looked for.
const HALVINGS: u32 = 50;

/// As many are enough to compare times.
const FEW_HALVINGS: u32 = 22;

impl Ramp {
    /// Shortest time of a change of speed.
    fn time(&self, from: f64, to: f64) -> f64 {
        let change = (to - from).abs();
        if change * self.jerk <= self.acceleration * self.acceleration {
            2.0 * (change / self.jerk).sqrt()
        } else {
            change / self.acceleration + self.acceleration / self.jerk
        }
    }

    /// Way that goes by meanwhile: speeds are symmetric about their mean.
    pub(super) fn way(&self, from: f64, to: f64) -> f64 {
        0.5 * (from + to) * self.time(from, to)
    }

    /// Highest speed, at most 1, that can be reached within a way (or braked from, backwards).
    pub(super) fn reach(&self, from: f64, way: f64) -> f64 {
        if from >= 1.0 || self.way(from, 1.0) <= way {
            return from.max(1.0);
        }
        if way <= 0.0 {
            return from;
        }
        let (a, j) = (self.acceleration, self.jerk);
        let knee = a * a / j;
        let gain = if self.way(from, from + knee) < way {
            // (from + gain / 2) (gain / a + a / j) = way
            let b = from + 0.5 * knee;
            let c = 2.0 * (a * way - from * knee);
            c / (b + (b * b + c).sqrt())
        } else {
            // x³ + 2 from x = way √j for x = √gain: convex, so Newton comes down to the root.
            let aim = way * j.sqrt();
            let mut x = aim.cbrt();
            for _ in 0..60 {
                let step = (x * x * x + 2.0 * from * x - aim) / (3.0 * x * x + 2.0 * from);
                x -= step;
                if step <= 1e-15 * x {
                    break;
                }
            }
            x * x
        };
        // Rounding must not make it more than there is room for.
        let mut to = (from + gain * (1.0 - 1e-12)).min(1.0);
        while to > from && self.way(from, to) > way {
            to = to.next_down();
        }
        to
    }

    /// Highest speed of a straight piece with the given speeds at its ends.
    fn peak(&self, from: f64, to: f64, way: f64, halvings: u32) -> f64 {
        let fits = |peak: f64| self.way(from, peak) + self.way(peak, to) <= way;
        let mut low = from.max(to);
        if fits(1.0) || low >= 1.0 {
            return low.max(1.0);
        }
        let mut high = self.reach(low, way);
        for _ in 0..halvings {
            let middle = 0.5 * (low + high);
            *(if fits(middle) { &mut low } else { &mut high }) = middle;
        }
        low
    }

    /// Shortest time of a straight piece, which must be long enough to change the speed; to a
    /// millionth.
    pub(super) fn duration(&self, from: f64, to: f64, way: f64) -> f64 {
        let peak = self.peak(from, to, way, FEW_HALVINGS);
        let cruise = (way - self.way(from, peak) - self.way(peak, to)).max(0.0);
        let cruise = if cruise > 0.0 { cruise / peak } else { 0.0 };
        self.time(from, peak) + cruise + self.time(peak, to)
    }

    /// The same, phase by phase: up, along, down.
    pub(super) fn phases(&self, from: f64, to: f64, way: f64) -> Vec<Phase> {
        let peak = self.peak(from, to, way, HALVINGS);
        let (up, down) = (self.way(from, peak), self.way(peak, to));
        let mut phases = Vec::with_capacity(7);
        self.change(from, peak, 0.0, &mut phases);
        let cruise = (way - up - down).max(0.0);
        if cruise > 0.0 && peak > 0.0 {
            let duration = cruise / peak;
            phases.push(Phase { duration, way: up, speed: peak, acceleration: 0.0, jerk: 0.0 });
        }
        self.change(peak, to, up + cruise, &mut phases);
        phases
    }

    fn change(&self, from: f64, to: f64, mut way: f64, phases: &mut Vec<Phase>) {
        let change = (to - from).abs();
        let most = self.acceleration.min((change * self.jerk).sqrt());
        if most <= 0.0 {
            return;
        }
        let sign = (to - from).signum();
        let rise = most / self.jerk;
        let hold = (change / most - rise).max(0.0);
        let (jerk, most) = (sign * self.jerk, sign * most);
        let mut speed = from;
        let parts = [(rise, 0.0, jerk), (hold, most, 0.0), (rise, most, -jerk)];
        for (duration, acceleration, jerk) in parts.into_iter().filter(|p| p.0 > 0.0) {
            phases.push(Phase { duration, way, speed, acceleration, jerk });
            let t = duration;
            way += t * (speed + t * (acceleration / 2.0 + t * jerk / 6.0));
            speed += t * (acceleration + t * jerk / 2.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAMPS: [Ramp; 3] = [
        Ramp { acceleration: 2.0, jerk: 20.0 },
        Ramp { acceleration: 50.0, jerk: 3.0 },
        Ramp { acceleration: 0.1, jerk: 9000.0 },
    ];

    #[test]
    fn what_is_reached_takes_the_whole_way() {
        for ramp in RAMPS {
            for from in [0.0, 1e-6, 0.2, 0.9] {
                for way in [1e-12, 1e-6, 1e-3, 0.04, 0.3] {
                    let to = ramp.reach(from, way);
                    let needed = ramp.way(from, to);
                    assert!(needed <= way, "{ramp:?} {from} {way}: {needed}");
                    let faster = ramp.way(from, to * (1.0 + 1e-9));
                    assert!(to == 1.0 || faster > way, "{ramp:?} {from} {way}: {to}");
                }
            }
        }
    }

    #[test]
    fn phases_lead_from_speed_to_speed_over_the_way() {
        for ramp in RAMPS {
            for (from, to) in [(0.0, 0.0), (0.3, 0.0), (0.0, 0.7), (0.5, 0.5), (1.0, 0.2)] {
                for extra in [0.0, 1e-9, 0.01, 100.0] {
                    let way = ramp.way(from, to) + extra;
                    let phases = ramp.phases(from, to, way);
                    let (mut at, mut speed, mut acceleration, mut time) = (0.0, from, 0.0, 0.0);
                    for p in &phases {
                        assert!((p.way - at).abs() < 1e-12 * (1.0 + way), "{p:?} after {at}");
                        assert!((p.speed - speed).abs() < 1e-12, "{p:?} after {speed}");
                        assert!((p.acceleration - acceleration).abs() < 1e-9 * ramp.acceleration);
                        assert!(p.jerk.abs() <= ramp.jerk && p.speed <= 1.0 + 1e-12);
                        let t = p.duration;
                        at = p.way + t * (p.speed + t * (p.acceleration / 2.0 + t * p.jerk / 6.0));
                        speed = p.speed + t * (p.acceleration + t * p.jerk / 2.0);
                        acceleration = p.acceleration + t * p.jerk;
                        time += t;
                    }
                    assert!((at - way).abs() < 1e-12 * (1.0 + way), "{at} of {way}");
                    assert!((speed - to).abs() < 1e-9, "{speed} instead of {to}");
                    let expected = ramp.duration(from, to, way);
                    assert!((time - expected).abs() <= 1e-6 * (1e-3 + time), "{time} {expected}");
                }
            }
        }
    }
}
