//! A stream of targets as trajectories that replace each other in flight: what the targets did
//! lately, smoothed over the network by a delay, and then the way to rest. An arm that hears no more
//! comes to rest by the last one.

use std::collections::VecDeque;

use citrange_control::{TargetLimiter, TargetMotion};
use citrange_robot::Chain;

/// Times of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamSettings {
    /// How long the arm runs behind the targets, s.
    pub delay_s: f64,
    /// How long before its first point a trajectory is sent, s.
    pub lead_s: f64,
    /// How often one is sent, s.
    pub every_s: f64,
    /// Between two points of one, s.
    pub spacing_s: f64,
}

impl Default for StreamSettings {
    fn default() -> Self {
        Self { delay_s: 0.12, lead_s: 0.02, every_s: 0.05, spacing_s: 0.024 }
    }
}

/// A point of a trajectory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamPoint {
    /// When, on the stream's clock, s.
    pub at_s: f64,
    /// Where.
    pub pos: Vec<f64>,
    /// How fast.
    pub vel: Vec<f64>,
    /// And how that changes.
    pub acc: Vec<f64>,
}

/// A trajectory to send now.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPart {
    /// When it begins, on the stream's clock, s.
    pub starts_s: f64,
    /// Its points, all after that; at rest in the last.
    pub points: Vec<StreamPoint>,
}

impl StreamPart {
    /// How long it takes, s.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.points.last().map_or(0.0, |last| last.at_s - self.starts_s)
    }

    /// Where the arm is to be at a time: quintic from point to point, at rest after the last.
    #[must_use]
    pub fn at(&self, at_s: f64) -> Option<StreamPoint> {
        let after = self.points.iter().position(|point| point.at_s > at_s);
        match after {
            None => self.points.last().cloned(),
            Some(0) => None,
            Some(after) => Some(between(&self.points[after - 1], &self.points[after], at_s)),
        }
    }
}

/// Turns targets into trajectories; pure, with a clock of its own in seconds.
#[derive(Clone, Debug)]
pub struct TargetStream {
    limiter: TargetLimiter,
    cycle_s: f64,
    settings: StreamSettings,
    /// When each target is to be reached, and where.
    path: VecDeque<(f64, Vec<f64>)>,
    /// How much faster or slower than the targets the arm's clock runs, to come back to the delay.
    rate: f64,
    sent: Option<(StreamPart, f64)>,
    /// Where the arm stands, where that is not where targets were.
    stands: Option<Vec<f64>>,
    /// Seconds of the sent trajectory that have passed on the arm's clock.
    looked_s: f64,
}

/// How quickly a wrong delay is made good, s/s per s, and at most, s/s.
const CORRECTION: [f64; 2] = [1.0, 0.1];
/// How fast the rate itself may change, per target.
const RATE_STEP: f64 = 0.004;
/// How long targets are kept that the arm has passed, s, and how many at most.
const KEPT_S: f64 = 0.5;
const MOST: usize = 2000;
/// How far beyond the joints' limits the way back onto the path may go.
const OVER: f64 = 1.15;
/// In which steps a time is looked for in which the arm comes to rest, and how long it may be, s.
const LOOK_S: f64 = 0.02;
const SLOWEST_S: f64 = 5.0;

impl TargetStream {
    /// Of targets that come `cycle_hz` times a second.
    #[must_use]
    pub fn new(chain: &Chain, cycle_hz: u32, settings: StreamSettings) -> Self {
        Self {
            limiter: TargetLimiter::new(chain, cycle_hz),
            cycle_s: 1.0 / f64::from(cycle_hz.max(1)),
            settings,
            path: VecDeque::new(),
            rate: 1.0,
            sent: None,
            stands: None,
            looked_s: 0.0,
        }
    }

    /// Begins anew: nothing was asked for, nothing sent.
    pub fn forget(&mut self) {
        self.path.clear();
        self.sent = None;
        self.stands = None;
        self.rate = 1.0;
    }

    /// What was sent last was not carried out: the arm stands there, and what is sent next begins
    /// there.
    pub fn begin_at(&mut self, stands: &[f64]) {
        self.sent = None;
        self.stands = Some(stands.to_vec());
    }

    /// A new target, now. Answers `false` where it is so far from the last that no joint moves
    /// there within its limits: then the stream begins anew there.
    pub fn push(&mut self, now_s: f64, target: &[f64]) -> bool {
        let Some((last_s, last)) = self.path.back() else {
            self.path.push_back((now_s + self.settings.delay_s, target.to_vec()));
            return true;
        };
        let limits = self.limiter.limits().iter();
        let is_leap = last
            .iter()
            .zip(target)
            .zip(limits)
            .any(|((from, to), limits)| (to - from).abs() > 1.5 * limits.speed * self.cycle_s);
        if is_leap {
            self.forget();
            self.path.push_back((now_s + self.settings.delay_s, target.to_vec()));
            return false;
        }
        // Late is positive: the arm's clock must run slower for a while.
        let late = now_s + self.settings.delay_s - (last_s + self.cycle_s);
        let wanted = 1.0 + (CORRECTION[0] * late).clamp(-CORRECTION[1], CORRECTION[1]);
        self.rate += (wanted - self.rate).clamp(-RATE_STEP, RATE_STEP);
        let is_still = self.path.iter().all(|(_, pos)| pos == target);
        // What stands still needs no smooth clock.
        let at_s = match is_still {
            true => now_s + self.settings.delay_s,
            false => last_s + self.cycle_s * self.rate,
        };
        self.path.push_back((at_s.max(last_s + 1e-6), target.to_vec()));
        while self.path.len() > 3 && (self.path[1].0 < now_s - KEPT_S || self.path.len() > MOST) {
            self.path.pop_front();
        }
        true
    }

    /// A trajectory to send now, if there is anything to say that was not said. The arm's clock runs
    /// at `scale` of ours.
    pub fn due(&mut self, now_s: f64, scale: f64) -> Option<StreamPart> {
        let passed = (now_s - self.looked_s).max(0.0);
        self.looked_s = now_s;
        let (_, newest) = self.path.back()?;
        if let Some((sent, shift)) = &mut self.sent {
            // A slider below 100 % stretches what was sent.
            *shift += passed * (1.0 - scale.clamp(0.0, 1.0));
            let is_said = sent.points.last().is_some_and(|last| {
                self.path.iter().rev().take(3).all(|(_, pos)| *pos == last.pos)
            });
            if is_said || now_s < sent.starts_s - self.settings.lead_s + self.settings.every_s {
                return None;
            }
        } else if self.stands.is_none() && self.path.iter().all(|(_, pos)| pos == newest) {
            return None;
        }
        let starts_s = now_s + self.settings.lead_s;
        // The controller bridges from where it is to the first point: not in no time at all.
        let first_s = starts_s + self.settings.lead_s;
        // After a stall too little is known of what comes until the next is sent: all of it later.
        self.postpone(first_s + self.settings.every_s - self.path.back()?.0, starts_s);
        let arm = match &self.sent {
            Some((sent, shift)) => sent.at(starts_s - shift)?,
            None => {
                let (_, front) = self.path.front()?.clone();
                let pos = self.stands.take().unwrap_or(front);
                let still = vec![0.0; pos.len()];
                StreamPoint { at_s: starts_s, pos, vel: still.clone(), acc: still }
            }
        };
        let mut part = StreamPart { starts_s, points: self.points(first_s) };
        self.bridge(&mut part, &arm);
        // With where it begins: what is sent next begins on the way from there.
        let mut sent = part.clone();
        sent.points.insert(0, StreamPoint { at_s: starts_s, ..arm });
        self.sent = Some((sent, 0.0));
        Some(part)
    }

    /// All that the arm has not passed comes so much later; what follows catches up slowly.
    fn postpone(&mut self, by_s: f64, passed_s: f64) {
        if by_s <= 0.0 {
            return;
        }
        let passed = self.path.partition_point(|(at_s, _)| *at_s < passed_s);
        // The last three say how targets move.
        self.path.drain(..passed.min(self.path.len().saturating_sub(3)));
        self.path.iter_mut().for_each(|(at_s, _)| *at_s += by_s);
    }

    /// The path from a time on, and then to rest.
    fn points(&self, first_s: f64) -> Vec<StreamPoint> {
        let mut path: Vec<(f64, Vec<f64>)> = self.path.iter().cloned().collect();
        self.brake(&mut path);
        let stride = (self.settings.spacing_s / self.cycle_s).round().max(1.0) as usize;
        let last = path.len() - 1;
        let first = path.partition_point(|(at_s, _)| *at_s < first_s).min(last);
        let mut chosen: Vec<usize> = (first..=last).step_by(stride).collect();
        if chosen.last() != Some(&last) {
            chosen.push(last);
        }
        chosen.into_iter().map(|i| moving(&path, i)).collect()
    }

    /// How the newest targets come to rest within the joints' limits.
    fn brake(&self, path: &mut Vec<(f64, Vec<f64>)>) {
        let n = path.len();
        let (Some((last_s, last)), true) = (path.last().cloned(), n >= 2) else { return };
        let before = &path[n - 2].1;
        let earlier = path.get(n.wrapping_sub(3)).map_or(before, |(_, pos)| pos);
        let rate = |to: &[f64], from: &[f64]| -> Vec<f64> {
            to.iter().zip(from).map(|(to, from)| (to - from) / self.cycle_s).collect()
        };
        let (speed, was) = (rate(&last, before), rate(before, earlier));
        let mut motion = TargetMotion::new(last, speed.clone(), rate(&speed, &was));
        let mut at_s = last_s;
        // Longer than any limits take.
        for _ in 0..2000 {
            if motion.is_at_rest() {
                break;
            }
            self.limiter.brake(&mut motion);
            at_s += self.cycle_s * self.rate;
            path.push((at_s, motion.pos.clone()));
        }
    }

    /// Begins with the first point that the arm reaches from where it is without a jolt: it may have
    /// come to rest by itself, or run slower. Where it reaches none in time, all comes later.
    fn bridge(&mut self, part: &mut StreamPart, arm: &StreamPoint) {
        let start = StreamPoint { at_s: part.starts_s, ..arm.clone() };
        let reached = part.points.iter().position(|point| self.is_gentle(&start, point));
        let Some(mut rest) = part.points.last().cloned() else { return };
        if let Some(reached) = reached {
            part.points.drain(..reached);
            return;
        }
        let due_s = rest.at_s;
        while !self.is_gentle(&start, &rest) && rest.at_s < part.starts_s + SLOWEST_S {
            rest.at_s += LOOK_S;
        }
        self.postpone(rest.at_s - due_s, part.starts_s);
        part.points = vec![rest];
    }

    /// Whether a quintic between two points keeps near the joints' limits.
    fn is_gentle(&self, from: &StreamPoint, to: &StreamPoint) -> bool {
        let h = to.at_s - from.at_s;
        if h < self.settings.lead_s / 2.0 {
            return false;
        }
        let within = |point: &StreamPoint| {
            let limits = self.limiter.limits().iter().enumerate();
            limits.into_iter().all(|(j, limits)| {
                point.vel[j].abs() <= OVER * limits.speed
                    && point.acc[j].abs() <= OVER * limits.acceleration
            })
        };
        (1..=12).all(|k| within(&between(from, to, from.at_s + h * f64::from(k) / 12.0)))
    }
}

/// Speed and acceleration at a place of a path, by its neighbours.
fn moving(path: &[(f64, Vec<f64>)], i: usize) -> StreamPoint {
    let (at_s, pos) = &path[i];
    let still = vec![0.0; pos.len()];
    let point = StreamPoint { at_s: *at_s, pos: pos.clone(), vel: still.clone(), acc: still };
    let (Some((before_s, before)), Some((after_s, after))) =
        (i.checked_sub(1).map(|i| &path[i]), path.get(i + 1))
    else {
        return point;
    };
    let (h0, h1) = (at_s - before_s, after_s - at_s);
    let each = |j: usize| {
        let (v0, v1) = ((pos[j] - before[j]) / h0, (after[j] - pos[j]) / h1);
        ((v0 * h1 + v1 * h0) / (h0 + h1), 2.0 * (v1 - v0) / (h0 + h1))
    };
    let (vel, acc) = (0..pos.len()).map(each).unzip();
    StreamPoint { vel, acc, ..point }
}

/// A quintic through position, speed and acceleration of two points.
fn between(a: &StreamPoint, b: &StreamPoint, at_s: f64) -> StreamPoint {
    let h = b.at_s - a.at_s;
    let t = at_s - a.at_s;
    let mut point = StreamPoint { at_s, ..StreamPoint::default() };
    for j in 0..a.pos.len() {
        let c = quintic([a.pos[j], a.vel[j], a.acc[j]], [b.pos[j], b.vel[j], b.acc[j]], h);
        point.pos.push(c.iter().rev().fold(0.0, |sum, c| sum * t + c));
        let slope = |k: usize| k as f64 * c[k];
        point.vel.push((1..6).rev().fold(0.0, |sum, k| sum * t + slope(k)));
        let bend = |k: usize| (k * (k - 1)) as f64 * c[k];
        point.acc.push((2..6).rev().fold(0.0, |sum, k| sum * t + bend(k)));
    }
    point
}

/// Coefficients of the quintic between two states (position, speed, acceleration) that lie `h`
/// apart, from the constant on.
#[must_use]
pub fn quintic([p0, v0, a0]: [f64; 3], [p1, v1, a1]: [f64; 3], h: f64) -> [f64; 6] {
    let d = p1 - p0;
    let c3 = (20.0 * d - (8.0 * v1 + 12.0 * v0) * h - (3.0 * a0 - a1) * h * h) / (2.0 * h.powi(3));
    let c4 = (-30.0 * d + (14.0 * v1 + 16.0 * v0) * h + (3.0 * a0 - 2.0 * a1) * h * h)
        / (2.0 * h.powi(4));
    let c5 = (12.0 * d - 6.0 * (v1 + v0) * h + (a1 - a0) * h * h) / (2.0 * h.powi(5));
    [p0, v0, a0 / 2.0, c3, c4, c5]
}

#[cfg(test)]
mod tests {
    use citrange_robot::Robot;
    use proptest::prelude::*;

    use super::*;

    const HZ: u32 = 125;
    const CYCLE_S: f64 = 1.0 / 125.0;

    /// A controller that follows what it is sent, as real ones do: quintic from where it is to the
    /// first point, then from point to point.
    struct Controller {
        now: StreamPoint,
        plan: Option<StreamPart>,
    }

    impl Controller {
        fn take(&mut self, mut part: StreamPart) {
            let start = match &self.plan {
                Some(plan) => plan.at(part.starts_s).unwrap_or_else(|| self.now.clone()),
                None => StreamPoint { at_s: part.starts_s, ..self.now.clone() },
            };
            part.points.insert(0, StreamPoint { at_s: part.starts_s, ..start });
            self.plan = Some(part);
        }

        fn at(&mut self, at_s: f64) -> StreamPoint {
            if let Some(now) = self.plan.as_ref().and_then(|plan| plan.at(at_s)) {
                self.now = now;
            }
            self.now.clone()
        }
    }

    fn chain() -> Chain {
        Robot::load("ur5e").unwrap().chain().clone()
    }

    /// Where a controller's joints were, every 2 ms, when targets are followed by a limiter whose
    /// cycles come at these times.
    fn followed(wanted: &[[f64; 6]], times: &[f64], until_s: f64) -> (Vec<StreamPoint>, Vec<f64>) {
        let chain = chain();
        let limiter = TargetLimiter::new(&chain, HZ);
        let mut motion = TargetMotion::at_rest(&[0.0; 6]);
        let mut stream = TargetStream::new(&chain, HZ, StreamSettings::default());
        let still =
            StreamPoint { pos: vec![0.0; 6], vel: vec![0.0; 6], acc: vec![0.0; 6], at_s: 0.0 };
        let mut controller = Controller { now: still, plan: None };
        let (mut seen, mut looked) = (Vec::new(), 0.0);
        for (now_s, wanted) in times.iter().zip(wanted) {
            while looked < *now_s {
                seen.push(controller.at(looked));
                looked += 0.002;
            }
            let mut targets = wanted.to_vec();
            limiter.follow(&mut motion, &mut targets);
            assert!(stream.push(*now_s, &motion.pos));
            if let Some(part) = stream.due(*now_s, 1.0) {
                controller.take(part);
            }
        }
        while looked < until_s {
            seen.push(controller.at(looked));
            looked += 0.002;
        }
        (seen, motion.pos)
    }

    fn largest(seen: &[StreamPoint], of: impl Fn(&StreamPoint) -> f64) -> f64 {
        seen.iter().map(|point| of(point).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn an_arm_follows_smoothly_and_is_there_in_the_end() {
        let times: Vec<f64> = (0..500).map(|i| f64::from(i) * CYCLE_S).collect();
        let wanted = vec![[1.0, -0.5, 0.3, 0.0, 0.0, 0.0]; times.len()];
        let (seen, end) = followed(&wanted, &times, 4.5);
        let last = seen.last().unwrap();
        assert!(last.pos.iter().zip(&end).all(|(is, to)| (is - to).abs() < 1e-6), "{last:?}");
        assert!(last.vel.iter().all(|vel| *vel == 0.0));
        // 5 rad/s² are allowed.
        let (speed, acc) = (largest(&seen, |p| p.vel[0]), largest(&seen, |p| p.acc[0]));
        assert!(speed < 3.2 && acc < 5.0 * 1.1 && acc > 3.0, "{speed} rad/s {acc} rad/s²");
    }

    #[test]
    fn silence_brings_the_arm_to_rest_within_its_limits() {
        // Nothing is pushed any more while it moves fast.
        let times: Vec<f64> = (0..70).map(|i| f64::from(i) * CYCLE_S).collect();
        let wanted = vec![[2.5; 6]; times.len()];
        let (seen, last_target) = followed(&wanted, &times, 4.0);
        let moving = largest(&seen, |p| p.vel[0]);
        assert!(moving > 1.0, "{moving}");
        let last = seen.last().unwrap();
        assert_eq!(last.vel, vec![0.0; 6]);
        assert!(last.pos[0] >= last_target[0] - 1e-9 && last.pos[0] < last_target[0] + 1.0);
        assert!(largest(&seen, |p| p.acc[0]) < 5.5, "{}", largest(&seen, |p| p.acc[0]));
    }

    #[test]
    fn after_a_stall_of_any_length_it_goes_on_without_a_jolt() {
        for stall_s in [0.03, 0.08, 0.15, 0.4, 1.5] {
            let late = |i: i32| if i >= 70 { stall_s } else { 0.0 };
            let times: Vec<f64> = (0..600).map(|i| f64::from(i) * CYCLE_S + late(i)).collect();
            let wanted = vec![[2.5, 1.0, 0.0, 0.0, 0.0, 0.0]; times.len()];
            let (seen, end) = followed(&wanted, &times, 8.0);
            let (speed, acc) = (largest(&seen, |p| p.vel[0]), largest(&seen, |p| p.acc[0]));
            // What braked by itself is caught up with as fast as the joint may.
            assert!(
                speed < std::f64::consts::PI * 1.25 && acc < 5.0 * 2.5,
                "{stall_s}: {speed} {acc}"
            );
            let last = seen.last().unwrap();
            assert!((last.pos[0] - end[0]).abs() < 1e-6, "{stall_s}");
        }
    }

    #[test]
    fn nothing_is_sent_while_nothing_moves() {
        let mut stream = TargetStream::new(&chain(), HZ, StreamSettings::default());
        for i in 0..500 {
            let now_s = f64::from(i) * CYCLE_S;
            stream.push(now_s, &[0.3; 6]);
            assert_eq!(stream.due(now_s, 1.0), None);
        }
        assert!(!stream.push(5.0, &[1.3; 6]), "a leap begins anew");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Targets that a limiter lets pass, on a clock that jitters: the arm behind the network
        /// keeps near the limits, too.
        #[test]
        fn limits_hold_behind_the_network(
            turns in prop::collection::vec((-2.5..2.5_f64, -1.0..1.0_f64, 10_usize..120), 2..6),
            jitter in prop::collection::vec(0.0..0.006_f64, 800),
        ) {
            let mut wanted = Vec::new();
            for (a, b, cycles) in turns {
                wanted.extend(std::iter::repeat_n([a, b, -b, 0.0, a / 2.0, 0.0], cycles));
            }
            let times: Vec<f64> =
                (0..wanted.len()).map(|i| i as f64 * CYCLE_S + jitter[i % 800]).collect();
            let until_s = wanted.len() as f64 * CYCLE_S + 3.0;
            let (seen, _) = followed(&wanted, &times, until_s);
            prop_assert!(largest(&seen, |p| p.vel[0]) < std::f64::consts::PI * 1.12, "{}", largest(&seen, |p| p.vel[0]));
            prop_assert!(largest(&seen, |p| p.acc[0]) < 5.0 * 1.6, "{}", largest(&seen, |p| p.acc[0]));
            prop_assert_eq!(&seen.last().unwrap().vel, &vec![0.0; 6]);
        }
    }
}
