//! Motions in flight: slowed, stopped, gone over into others; limits at every time, nothing jumps,
//! the path stays the path. Over random paths of real arms.

use citrange_core::rng::Rng;
use citrange_plan::{
    Config, JointLimit, Moment, Motions, PlannedArm, TimingSettings, Tracking, Trajectory,
};
use citrange_robot::Robot;
use citrange_sim::catalog::robot_description;

/// A world without anything in it, or with a ball in joint space.
struct World {
    joints: usize,
    ball: Option<(Vec<f64>, f64)>,
}

impl World {
    fn is_clear(&self, nearest: impl Fn(&[f64]) -> Vec<f64>) -> bool {
        self.ball.as_ref().is_none_or(|(middle, radius)| {
            let near = nearest(middle);
            near.iter().zip(middle).map(|(n, m)| (n - m).powi(2)).sum::<f64>() > radius * radius
        })
    }
}

impl Motions for World {
    fn joints(&self) -> usize {
        self.joints
    }
    fn is_free(&mut self, at: &Config) -> bool {
        self.is_clear(|_| at.positions(self.joints))
    }
    fn is_motion_free(&mut self, from: &Config, to: &Config) -> bool {
        let (a, b) = (from.positions(self.joints), to.positions(self.joints));
        self.is_clear(|middle| {
            let (mut dot, mut square) = (0.0, 0.0);
            for j in 0..a.len() {
                dot += (middle[j] - a[j]) * (b[j] - a[j]);
                square += (b[j] - a[j]).powi(2);
            }
            let share = if square > 0.0 { (dot / square).clamp(0.0, 1.0) } else { 0.0 };
            a.iter().zip(&b).map(|(a, b)| a + share * (b - a)).collect()
        })
    }
    fn is_box_free(&mut self, at: &Config, half_width: &Config) -> bool {
        let (at, half) = (at.positions(self.joints), half_width.positions(self.joints));
        self.is_clear(|middle| {
            (0..at.len()).map(|j| middle[j].clamp(at[j] - half[j], at[j] + half[j])).collect()
        })
    }
}

/// Random paths of every robot.
const ROUNDS: usize = 5;

fn empty(limits: &[JointLimit]) -> World {
    World { joints: limits.len(), ball: None }
}

/// Limits of the robots that are built in.
fn robots() -> Vec<(&'static str, Vec<JointLimit>)> {
    ["ur5e", "panda", "so101"].map(|name| (name, limits_of(name))).to_vec()
}

fn limits_of(name: &str) -> Vec<JointLimit> {
    let robot = Robot::load(name).unwrap();
    let described = robot_description(name).unwrap();
    let home = described.pose(&described.home).unwrap().to_vec();
    PlannedArm::described(robot, &described, &home).unwrap().limits().to_vec()
}

fn path(rng: &mut Rng, limits: &[JointLimit], from: Option<&[f64]>) -> Vec<Vec<f64>> {
    let point = |rng: &mut Rng| -> Vec<f64> {
        let part = |l: &JointLimit| [0.1, 0.9].map(|f| l.range[0] + f * (l.range[1] - l.range[0]));
        limits.iter().map(part).map(|[low, high]| rng.uniform(low, high)).collect()
    };
    let count = 2 + (rng.next_u64() % 4) as usize;
    let mut points: Vec<Vec<f64>> = (0..count).map(|_| point(rng)).collect();
    if let Some(from) = from {
        points[0] = from.to_vec();
    }
    points
}

fn timed(points: &[Vec<f64>], limits: &[JointLimit], scale: f64) -> Trajectory {
    let settings = TimingSettings { scale, ..TimingSettings::default() };
    Trajectory::along(points, limits, &settings, &mut empty(limits)).unwrap()
}

/// Everything at 5 kHz: limits hold, and what is sampled is what the derivatives say.
fn check(motion: &Trajectory, limits: &[JointLimit], what: &str) {
    const HZ: f64 = 1000.0;
    let mut last: Option<Moment> = None;
    for moment in motion.moments(HZ) {
        for (j, limit) in limits.iter().enumerate() {
            let found = [moment.velocities[j], moment.accelerations[j], moment.jerks[j]];
            let most = [limit.velocity, limit.acceleration, limit.jerk];
            for (k, (found, most)) in found.iter().zip(most).enumerate() {
                let slack = most * 1e-5 + 1e-9;
                assert!(
                    found.abs() <= most + slack,
                    "{what}: derivative {} of joint {j} is {found} at {} s of {}, at most {most}",
                    k + 1,
                    moment.time_s,
                    motion.duration_s()
                );
            }
            if let Some(last) = &last {
                let dt = moment.time_s - last.time_s;
                let jerk = limit.jerk * (1.0 + 1e-5);
                let jump = (moment.accelerations[j] - last.accelerations[j]).abs();
                assert!(jump <= jerk * dt + 1e-6, "{what}: acceleration jumps by {jump}");
                let mean = 0.5 * (moment.accelerations[j] + last.accelerations[j]);
                let jump = moment.velocities[j] - last.velocities[j] - mean * dt;
                assert!(
                    jump.abs() <= jerk * dt * dt + 1e-8,
                    "{what}: velocity of joint {j} jumps by {jump} at {} s of {}",
                    moment.time_s,
                    motion.duration_s()
                );
                let mean = 0.5 * (moment.velocities[j] + last.velocities[j]);
                let jump = moment.positions[j] - last.positions[j] - mean * dt;
                let most = limit.acceleration * dt * dt + 1e-8;
                assert!(jump.abs() <= most, "{what}: position jumps by {jump}");
            }
        }
        last = Some(moment);
    }
}

fn away(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// How far a configuration is from a motion's path, and where it is nearest, within a span.
fn off_path(motion: &Trajectory, at: &[f64], [mut low, mut high]: [f64; 2]) -> (f64, f64) {
    let mut best = (f64::INFINITY, low);
    for _ in 0..6 {
        let step_s = (high - low) / 100.0;
        for step in 0..=100 {
            let time_s = low + step_s * f64::from(step);
            let off = away(&motion.sample(time_s).positions, at);
            if off < best.0 {
                best = (off, time_s);
            }
        }
        (low, high) = ((best.1 - 2.0 * step_s).max(low), (best.1 + 2.0 * step_s).min(high));
    }
    best
}

#[test]
fn stops_and_slow_parts_keep_the_path_and_all_limits() {
    let mut rng = Rng::new(20);
    let (mut stop_s, mut begun_at_once, mut count) = (0.0, 0, 0_usize);
    for (name, limits) in robots() {
        for round in 0..ROUNDS {
            let motion = timed(&path(&mut rng, &limits, None), &limits, 0.8);
            check(&motion, &limits, name);
            let from_s = rng.uniform(0.05, 0.95) * motion.duration_s();
            let what = format!("{name} {round} from {from_s}");
            let stopped = motion.stopped(from_s, &limits).unwrap();
            check(&stopped, &limits, &what);
            assert!(stopped.duration_s() <= motion.duration_s() + 1e-9, "{what}");
            let end = stopped.sample(stopped.duration_s() - 1e-6);
            assert!(end.velocities.iter().all(|v| v.abs() < 1e-3), "{what}: {end:?}");
            assert!(away(&end.positions, stopped.goal()) < 1e-6, "{what}");
            let mut planned_s = 0.0;
            for moment in stopped.moments(20.0) {
                let (off, nearest_s) =
                    off_path(&motion, &moment.positions, [planned_s, moment.time_s]);
                assert!(off < 1e-6, "{what}: {off} off the path at {}", moment.time_s);
                planned_s = nearest_s;
                if moment.time_s <= from_s {
                    assert_eq!(moment.positions, motion.sample(moment.time_s).positions);
                }
            }
            (stop_s, count) = (stop_s + stopped.duration_s() - from_s, count + 1);
            begun_at_once += usize::from(stopped.duration_s() < motion.duration_s());
            // Slower, and faster again before that is done or after.
            let slow = motion.at_rate(from_s, 0.3, &limits).unwrap();
            check(&slow, &limits, &what);
            let again_s = from_s + rng.uniform(0.01, 0.6);
            let fast = slow.at_rate(again_s, 1.0, &limits).unwrap();
            check(&fast, &limits, &what);
            assert!(fast.duration_s() <= slow.duration_s() + 1e-9);
            assert_eq!(fast.goal(), motion.goal());
            let stopped = fast.stopped(again_s + 0.1, &limits).unwrap();
            check(&stopped, &limits, &what);
        }
    }
    eprintln!(
        "{count} stops, {:.3} s on average, {begun_at_once} before the end",
        stop_s / count as f64
    );
    assert!(
        begun_at_once * 10 >= 9 * count,
        "{begun_at_once} of {count} stops were before the end"
    );
}

#[test]
fn seams_have_no_jumps_and_mostly_no_stop() {
    let mut rng = Rng::new(21);
    let (mut stops, mut count, mut saved_s) = (0, 0_usize, 0.0);
    for (name, limits) in robots() {
        for round in 0..ROUNDS {
            let motion = timed(&path(&mut rng, &limits, None), &limits, 0.8);
            let seam_s = rng.uniform(0.1, 0.7) * motion.duration_s();
            let stopped = motion.stopped(seam_s, &limits).unwrap();
            let next = timed(&path(&mut rng, &limits, Some(stopped.goal())), &limits, 0.8);
            let what = format!("{name} {round} at {seam_s} of {}", motion.duration_s());
            let joined = motion.joined(seam_s, &next, &limits, &mut empty(&limits)).unwrap();
            check(&joined.trajectory, &limits, &format!("{what} {}", joined.stops));
            assert_eq!(joined.trajectory.goal(), next.goal());
            let before = joined.seam_s.min(seam_s) - 0.01;
            assert_eq!(
                joined.trajectory.sample(before).positions,
                motion.sample(before).positions,
                "{what}"
            );
            let end = joined.trajectory.sample(joined.trajectory.duration_s() - 1e-7);
            assert!(away(&end.positions, next.goal()) < 1e-6, "{what}");
            (stops, count) = (stops + usize::from(joined.stops), count + 1);
            saved_s += stopped.duration_s() + next.duration_s() - joined.trajectory.duration_s();
            // And once more, out of the one that was joined, which may be slowed down by then.
            let again_s = seam_s + 0.4;
            let slowed = joined.trajectory.at_rate(seam_s + 0.1, 0.5, &limits).unwrap();
            let stopped = slowed.stopped(again_s, &limits).unwrap();
            let third = timed(&path(&mut rng, &limits, Some(stopped.goal())), &limits, 0.8);
            let twice = slowed.joined(again_s, &third, &limits, &mut empty(&limits)).unwrap();
            check(&twice.trajectory, &limits, &format!("{what} again {}", twice.stops));
            assert_eq!(twice.trajectory.goal(), third.goal());
        }
    }
    eprintln!("{stops} of {count} stop; {:.3} s saved on average", saved_s / count as f64);
    assert!(stops * 5 <= count, "{stops} of {count} seams needed a stop");
}

#[test]
fn a_seam_goes_around_what_is_in_the_way_or_stops() {
    let limits = limits_of("ur5e");
    let mut rng = Rng::new(22);
    let (mut ways, mut stops) = (0, 0);
    for _ in 0..12 {
        let points = path(&mut rng, &limits, None);
        let motion = timed(&points[..2], &limits, 0.8);
        let seam_s = 0.5 * motion.duration_s();
        let stopped = motion.stopped(seam_s, &limits).unwrap();
        let next = timed(&path(&mut rng, &limits, Some(stopped.goal()))[..2], &limits, 0.8);
        // A ball beside the place where it would stop: in the corner that is cut.
        let middle: Vec<f64> = next.sample(0.15 * next.duration_s()).positions;
        let old = motion.sample(seam_s + 0.3).positions;
        let ball: Vec<f64> = middle.iter().zip(&old).map(|(a, b)| 0.5 * (a + b)).collect();
        let [a, b] = [&next, &motion].map(|m| off_path(m, &ball, [0.0, m.duration_s()]).0);
        let radius = 0.45 * a.min(b);
        let mut world = World { joints: 6, ball: Some((ball.clone(), radius)) };
        let joined = motion.joined(seam_s, &next, &limits, &mut world).unwrap();
        check(&joined.trajectory, &limits, "ball");
        for moment in joined.trajectory.moments(2000.0).filter(|m| m.time_s > seam_s) {
            assert!(world.is_free(&Config::of(&moment.positions)), "it touches");
        }
        (ways, stops) = (ways + usize::from(!joined.stops), stops + usize::from(joined.stops));
    }
    eprintln!("{ways} ways, {stops} stops");
    assert!(ways > 0);
}

#[test]
fn what_is_left_is_proved_from_where_the_arm_is() {
    let limits = limits_of("panda");
    let mut rng = Rng::new(23);
    let (mut free, mut blocked) = (0, 0);
    for round in 0..60 {
        let motion = timed(&path(&mut rng, &limits, None), &limits, 0.8);
        let now_s = rng.uniform(0.1, 0.8) * motion.duration_s();
        let lag_s = rng.uniform(0.0, 0.08);
        let off_rad = 0.01;
        let arm = motion.sample(now_s - rng.unit() * lag_s).positions;
        let measured: Vec<f64> = arm.iter().map(|p| p + rng.uniform(-0.008, 0.008)).collect();
        let tracking = Tracking { measured, lag_s, off_rad };
        let hit_s = rng.uniform(0.0, 1.2) * motion.duration_s();
        let middle = motion.sample(hit_s).positions;
        let middle: Vec<f64> = middle.iter().map(|p| p + rng.uniform(-0.2, 0.2)).collect();
        let mut world = World { joints: 7, ball: Some((middle, rng.uniform(0.02, 0.4))) };
        let span = [now_s, motion.duration_s()];
        let proof = motion.prove_remainder(span, &tracking, &mut world).unwrap();
        // What the arm may do: late by anything, and off by anything within the tube.
        let mut touched_s = f64::INFINITY;
        for step in 0..4000 {
            let time_s = proof.arm_s + (span[1] - proof.arm_s) * f64::from(step) / 4000.0;
            let at: Vec<f64> = motion.sample(time_s).positions;
            let off = at.iter().map(|p| p + rng.uniform(-off_rad, off_rad)).collect::<Vec<_>>();
            if !world.is_free(&Config::of(&off)) {
                touched_s = touched_s.min(time_s);
            }
        }
        match proof.blocked_s {
            None => assert!(touched_s.is_infinite(), "{round}: touches at {touched_s}"),
            Some(at_s) => assert!(at_s <= touched_s + 1e-3, "{round}: {at_s} after {touched_s}"),
        }
        (free, blocked) = match proof.is_free() {
            true => (free + 1, blocked),
            false => (free, blocked + 1),
        };
        // An arm that is elsewhere makes the tube as wide.
        let mut far = tracking.clone();
        far.measured[2] += 0.3;
        let proof = motion.prove_remainder(span, &far, &mut world).unwrap();
        assert!(proof.off_rad[2] > 0.1, "{:?}", proof.off_rad);
    }
    eprintln!("{free} free, {blocked} blocked");
    assert!(free > 10 && blocked > 10, "{free} {blocked}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let limits = limits_of("ur5e");
    let motion = timed(&path(&mut Rng::new(1), &limits, None), &limits, 1.0);
    for rate in [-0.1, 1.1, f64::NAN] {
        assert!(motion.at_rate(0.1, rate, &limits).is_err());
    }
    assert!(motion.stopped(f64::NAN, &limits).is_err());
    assert!(motion.stopped(0.1, &limits[..5]).is_err());
    let other = timed(&path(&mut Rng::new(2), &limits, None), &limits, 1.0);
    let mut closed = World { joints: 6, ball: Some((vec![0.0; 6], 100.0)) };
    let refused = motion.joined(0.2, &other, &limits, &mut closed).unwrap_err().to_string();
    assert!(refused.contains("does not begin"), "{refused}");
    let tracking = Tracking { measured: vec![0.0; 5], lag_s: 0.0, off_rad: 0.0 };
    assert!(motion.prove_remainder([0.0, 1.0], &tracking, &mut empty(&limits)).is_err());
    let past = motion.stopped(motion.duration_s() + 1.0, &limits).unwrap();
    assert_eq!(past, motion, "there is nothing left to stop");
}
