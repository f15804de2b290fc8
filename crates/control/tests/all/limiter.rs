//! Targets never leave their limits, whatever is asked and however long a tick is.

use citrange_control::{
    CartesianController, ControllerSettings, MotionLimits, TargetLimiter, TargetMotion, Velocity,
};
use citrange_core::rng::Rng;

use crate::common::{Drive, chain, hz, linear, ready};

const ROBOTS: [&str; 4] = ["so101", "panda", "ur5e", "ur5"];

/// Highest speed, acceleration and jerk of a stream of targets, as fractions of the limits.
struct Watch {
    limits: Vec<MotionLimits>,
    hz: f64,
    pos: Vec<f64>,
    speed: Vec<f64>,
    acc: Vec<f64>,
    most: [f64; 3],
}

impl Watch {
    fn new(limits: &[MotionLimits], hz: u32, start: &[f64]) -> Self {
        let still = vec![0.0; start.len()];
        let (pos, speed, acc) = (start.to_vec(), still.clone(), still);
        Self { limits: limits.to_vec(), hz: f64::from(hz), pos, speed, acc, most: [0.0; 3] }
    }

    fn see(&mut self, targets: &[f64]) {
        for (j, limits) in self.limits.iter().enumerate() {
            let speed = (targets[j] - self.pos[j]) * self.hz;
            let acc = (speed - self.speed[j]) * self.hz;
            let jerk = (acc - self.acc[j]) * self.hz;
            let fractions = [speed / limits.speed, acc / limits.acceleration, jerk / limits.jerk];
            for (most, fraction) in self.most.iter_mut().zip(fractions) {
                *most = most.max(fraction.abs());
            }
            (self.pos[j], self.speed[j], self.acc[j]) = (targets[j], speed, acc);
        }
    }

    fn assert(&self, what: &str) {
        assert!(self.most.iter().all(|fraction| *fraction <= 1.0), "{what}: {:?}", self.most);
    }
}

#[test]
fn any_speeds_and_stops_stay_within_limits_and_ranges() {
    for robot in ROBOTS {
        for hz in [20, 50, 100, 180, 500] {
            let chain = chain(robot);
            let limiter = TargetLimiter::new(&chain, hz);
            let mut rng = Rng::new(u64::from(hz));
            let mut motion = TargetMotion::at_rest(&ready(robot));
            let mut watch = Watch::new(limiter.limits(), hz, &motion.pos);
            let mut speeds = vec![0.0; motion.pos.len()];
            let mut ends = 0;
            for tick in 0..6000 {
                if rng.uniform(0.0, 1.0) < 0.05 {
                    let most = rng.uniform(0.0, 6.0);
                    speeds.iter_mut().for_each(|s| *s = rng.uniform(-most, most));
                }
                if tick % 700 > 650 {
                    limiter.brake(&mut motion);
                } else {
                    limiter.steer(&mut motion, &speeds);
                }
                watch.see(&motion.pos);
                for (at, joint) in motion.pos.iter().zip(&chain.joints) {
                    let [low, high] = joint.range.unwrap();
                    assert!((low..=high).contains(at), "{robot} {}: {at}", joint.name);
                    ends += usize::from(at - low < 1e-3 || high - at < 1e-3);
                }
            }
            watch.assert(&format!("{robot} at {hz} Hz"));
            assert!(ends > 20 && watch.most[1] > 0.9, "{robot}: {ends} {:?}", watch.most);
            // At rest, to the last bit, within the time that the limits need.
            let ticks = (limiter.longest_stop_s() * f64::from(hz)).ceil() as usize + 3;
            (0..ticks).for_each(|_| limiter.brake(&mut motion));
            assert!(motion.is_at_rest(), "{robot} at {hz} Hz: {motion:?}");
        }
    }
}

#[test]
fn a_stream_of_positions_is_followed_within_limits() {
    for robot in ROBOTS {
        for hz in [20, 100, 180] {
            let chain = chain(robot);
            let limiter = TargetLimiter::new(&chain, hz);
            let mut rng = Rng::new(7);
            let mut motion = TargetMotion::at_rest(&ready(robot));
            let mut watch = Watch::new(limiter.limits(), hz, &motion.pos);
            for _ in 0..60 {
                let goal: Vec<f64> = motion
                    .pos
                    .iter()
                    .map(|at| {
                        if rng.uniform(0.0, 1.0) < 0.05 {
                            f64::NAN
                        } else {
                            at + rng.uniform(-0.6, 0.6)
                        }
                    })
                    .collect();
                let ticks = rng.uniform(1.0, 2.0 * f64::from(hz)) as usize;
                for _ in 0..ticks {
                    let mut targets = goal.clone();
                    limiter.follow(&mut motion, &mut targets);
                    assert_eq!(targets, motion.pos);
                    watch.see(&targets);
                }
            }
            watch.assert(&format!("{robot} at {hz} Hz"));
            // A place that stands still is reached, and not passed on the way.
            let goal = ready(robot);
            let ticks = 12 * hz;
            (0..(limiter.longest_stop_s() * f64::from(hz)) as usize + 3)
                .for_each(|_| limiter.brake(&mut motion));
            let start = motion.pos.clone();
            for _ in 0..ticks {
                let mut targets = goal.clone();
                limiter.follow(&mut motion, &mut targets);
                for j in 0..goal.len() {
                    let passed = (targets[j] - goal[j]) * (goal[j] - start[j]).signum();
                    // The first step may look like a stream that goes on.
                    let quantum = limiter.limits()[j].jerk / f64::from(hz).powi(3);
                    assert!(passed < 1e-6 + quantum, "{robot} joint {j} by {passed}");
                }
            }
            for j in 0..goal.len() {
                let off = (motion.pos[j] - chain.joints[j].clamp(goal[j])).abs();
                assert!(off < 1e-9, "{robot} at {hz} Hz, joint {j}: {off}");
            }
            // What is within the limits passes as it is.
            let mut gentle = motion.clone();
            let mut twin = motion.clone();
            let speeds: Vec<f64> = goal.iter().map(|_| rng.uniform(-0.05, 0.05)).collect();
            for _ in 0..hz {
                limiter.steer(&mut gentle, &speeds);
                let mut targets = gentle.pos.clone();
                limiter.follow(&mut twin, &mut targets);
                for (a, b) in targets.iter().zip(&gentle.pos) {
                    assert!((a - b).abs() < 1e-9, "{robot}: {a} {b}");
                }
            }
        }
    }
}

/// Through the controller: random wishes, brakes, an arm that lags, sticks and is pushed about.
#[test]
fn what_the_law_sends_stays_within_limits() {
    let settings = ControllerSettings::load("default").unwrap();
    for robot in ROBOTS {
        let start = ready(robot);
        let floor = Drive::new(robot, "default", None, &start).lowest() - 0.02;
        let controller =
            CartesianController::new(chain(robot), &settings, hz(robot), Some(floor)).unwrap();
        let limits = controller.limiter().limits().to_vec();
        let mut rng = Rng::new(5);
        let mut drive = Drive::of(controller, &start);
        let mut watch = Watch::new(&limits, hz(robot), &start);
        let mut measured = start.clone();
        let mut wish = Velocity::ZERO;
        let mut brake = false;
        for tick in 0..60 * hz(robot) {
            if rng.uniform(0.0, 1.0) < 5.0 / f64::from(hz(robot)) {
                let mut number = |most: f64| rng.uniform(-most, most);
                wish = linear([number(0.1), number(0.1), number(0.1)].into());
                (wish.roll_rad_s, wish.gripper_per_s) = (number(1.2), number(0.7));
                wish.tilt_rad_s = [number(0.5), number(0.5)];
                brake = rng.uniform(0.0, 1.0) < 0.2;
                if rng.uniform(0.0, 1.0) < 0.2 {
                    wish = Velocity::ZERO;
                }
            }
            // Two of ten seconds the arm is held fast.
            if tick / hz(robot) % 10 < 8 {
                for (at, target) in measured.iter_mut().zip(&drive.targets) {
                    *at += 0.3 * (target - *at);
                }
            }
            drive.step_with(&measured, &wish, brake);
            watch.see(&drive.targets);
        }
        watch.assert(robot);
        println!("{robot}: {:?} of the limits", watch.most);
        assert!(watch.most[2] > 0.5, "{robot}: {:?}", watch.most);
        let before = drive.targets.clone();
        let mut last = 0;
        for tick in 0..2 * hz(robot) {
            let was = drive.targets.clone();
            drive.step_with(&measured, &Velocity::ZERO, false);
            if was != drive.targets {
                last = tick;
            }
        }
        let longest = drive.controller.limiter().longest_stop_s() * f64::from(hz(robot)) + 3.0;
        assert!(f64::from(last) <= longest, "{robot}: moved for {last} ticks from {before:?}");
    }
}
