//! Numbers 11 to 14 together: three robots driven with random keys, while the process is stopped,
//! lines are cut and browsers freeze, beside two busy loops. Never over the limits of the robot's
//! description, never in motion without a held key beyond what a stop takes.
//!
//! `CITRANGE_SOAK_SECONDS=1800` drives half an hour; two minutes otherwise, shared by the robots.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use citrange_core::rng::Rng;
use rustix::process::Signal;

use crate::common::temp;
use crate::wheel::{Motion, Wheel, motion};

const KEYS: [&str; 14] = [
    "forward",
    "backward",
    "left",
    "right",
    "up",
    "down",
    "roll_left",
    "roll_right",
    "open",
    "close",
    "tilt_forward",
    "tilt_backward",
    "tilt_left",
    "tilt_right",
];

/// What was done to a robot.
#[derive(Debug, Default)]
struct Done {
    presses: u32,
    stops: u32,
    cuts: u32,
    freezes: u32,
}

/// Drives for so long by the robot's own clock, and answers what became of its targets.
fn soak(scene: &str, seconds: f64, seed: u64) -> (Done, Motion) {
    let folder = temp();
    let words = format!("{scene} --record set --cameras none --countdown 0 --episodes 1");
    let mut wheel = Wheel::start(folder.path(), &words);
    wheel.wait_for("begin");
    let mut rng = Rng::new(seed);
    let mut done = Done::default();
    let begun = Instant::now();
    while wheel.time_s < seconds {
        assert!(begun.elapsed().as_secs_f64() < 20.0 * seconds + 300.0, "it hardly goes on");
        let count = rng.uniform(0.0, 4.0) as usize;
        let held: Vec<&str> =
            (0..count).map(|_| KEYS[rng.uniform(0.0, KEYS.len() as f64) as usize]).collect();
        let tap = rng.uniform(0.0, 1.0) < 0.3;
        let press_s = if tap { rng.uniform(0.02, 0.15) } else { rng.uniform(0.2, 1.5) };
        wheel.drive(&held, press_s);
        done.presses += 1;
        let what = rng.uniform(0.0, 1.0);
        if what < 0.06 {
            wheel.insist(&held, 0.1);
            wheel.signal(Signal::STOP);
            std::thread::sleep(Duration::from_secs_f64(rng.uniform(0.05, 0.8)));
            wheel.signal(Signal::CONT);
            wheel.insist(&held, 0.3);
            done.stops += 1;
        } else if what < 0.12 {
            wheel.insist(&held, 0.1);
            wheel.cut();
            wheel.come_again();
            wheel.insist(&held, 0.3);
            done.cuts += 1;
        } else if what < 0.2 {
            wheel.insist(&held, 0.1);
            std::thread::sleep(Duration::from_secs_f64(rng.uniform(0.1, 0.8)));
            wheel.insist(&held, 0.3);
            done.freezes += 1;
        }
        wheel.keys(&[]);
    }
    wheel.order("success");
    wheel.wait_for("saved");
    wheel.end();
    (done, motion(&folder.path().join("set"), 0))
}

#[test]
fn random_keys_stalls_cuts_and_freezes_stay_within_limits() {
    let all: f64 = match std::env::var("CITRANGE_SOAK_SECONDS") {
        Ok(text) => text.parse().unwrap(),
        Err(_) => 120.0,
    };
    let over = AtomicBool::new(false);
    let robots = [("block_box", 1), ("multi_table_assembly", 2), ("ur5_cell", 3)];
    let results: Vec<_> = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let runs = robots.map(|(scene, seed)| scope.spawn(move || soak(scene, all / 3.0, seed)));
        let results = runs.map(|run| run.join());
        over.store(true, Ordering::Relaxed);
        results.into_iter().collect()
    });
    for ((scene, _), result) in robots.iter().zip(results) {
        let (done, motion) = result.unwrap();
        let [speed, acceleration, jerk] = motion.most.map(|share| 100.0 * share);
        println!(
            "{scene}: {:.0} s, {done:?}, {} stalls and {} brakes on the tape; highest speed \
             {speed:.2} %, acceleration {acceleration:.2} %, jerk {jerk:.2} % of the limits; moved \
             for {:.3} s at most with nothing held, {:.3} s would be needed from full speed",
            motion.seconds, motion.stalls, motion.brakes, motion.unheld_s, motion.stop_s
        );
        assert!(motion.most.iter().all(|share| *share <= 1.0), "{scene}: over its limits");
        assert!(motion.most[1] > 0.1, "{scene}: nothing was tested");
        assert!(motion.unheld_s <= motion.stop_s, "{scene}: moves with nothing held");
        assert!(done.presses > 10, "{scene}: {done:?}");
    }
}
