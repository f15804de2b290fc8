//! The soft start lasts as long as its setting says, whatever the rate of the loop. Loops slower
//! than 100 Hz integrate in several sub-steps per tick; the soft start was once divided by the
//! length of a sub-step and counted per tick, so that at 20 Hz half a second became 2.5 s.

use std::sync::Arc;
use std::time::Duration;

use citrange_control::{CartesianController, ControllerSettings};
use citrange_core::{Command, Observation, Pilot as _};
use citrange_robot::Chain;
use citrange_teleop::{DriverLock, HeldKeys, Key, Speeds, Teleop, Until};

const RATES_HZ: [u32; 6] = [10, 20, 50, 125, 180, 500];

fn so101() -> Chain {
    serde_json::from_str(include_str!("../../robot/tests/chains/so101.json")).unwrap()
}

/// A pose with room in every direction.
const READY: [f64; 6] = [0.2, 0.1, 0.2, 1.27, 0.0, 0.5];

fn controller(hz: u32, settings: &ControllerSettings) -> Arc<CartesianController> {
    Arc::new(CartesianController::new(so101(), settings, hz, None).unwrap())
}

#[test]
fn a_held_key_counts_in_full_after_the_soft_start_at_every_rate() {
    let settings = ControllerSettings::load("default").unwrap();
    assert_eq!(settings.soft_start_s, 0.5);
    for hz in RATES_HZ {
        let speeds = Speeds::of(&settings, &so101());
        let full = speeds.velocity(&HeldKeys::new([Key::Up], [0.0; HeldKeys::STICKS]));
        // Nothing here is about silence: a loaded machine may take as long as it likes.
        let lock = DriverLock::new(Duration::from_secs(3600));
        let ticket = lock.take("Ann").unwrap();
        ticket.hold(HeldKeys::new([Key::Up], [0.0; HeldKeys::STICKS]), 1);
        let mut pilot = Teleop::new(lock, controller(hz, &settings), speeds, Until::Order);
        let mut command = Command::at(&READY);
        let mut is_full_at_s = None;
        for tick in 1..=hz {
            let seen = Observation { joint_pos: command.pos.clone(), ..Observation::default() };
            pilot.decide(&seen, &mut command, &mut Vec::new()).unwrap();
            let time_s = f64::from(tick) / f64::from(hz);
            let fraction = pilot.requested().linear_m_s[2] / full.linear_m_s[2];
            let expected = (time_s / settings.soft_start_s).min(1.0);
            assert!((fraction - expected).abs() < 1e-9, "{hz} Hz, {time_s} s: {fraction}");
            if fraction == 1.0 && is_full_at_s.is_none() {
                is_full_at_s = Some(time_s);
            }
        }
        // The first tick at or after half a second; 125 Hz has one at 0.504 s.
        let late_s = is_full_at_s.unwrap() - settings.soft_start_s;
        assert!((0.0..1.0 / f64::from(hz)).contains(&late_s), "{hz} Hz: {late_s} s late");
    }
}

#[test]
fn targets_in_force_fade_within_the_soft_start_at_every_rate() {
    let settings = ControllerSettings::load("default").unwrap();
    // What the targets pull beyond the arm, as a fraction of what they pulled at first. Two arms
    // differ only in that, so gravity cancels.
    const PULL_RAD: f64 = 0.02;
    let mut pulled = READY.to_vec();
    pulled[0] += PULL_RAD;
    for hz in RATES_HZ {
        let controller = controller(hz, &settings);
        let drive = |start: &[f64], ticks: u32| {
            let lock = DriverLock::new(Duration::from_secs(3600));
            let speeds = Speeds::of(&settings, &so101());
            let mut pilot = Teleop::new(lock, Arc::clone(&controller), speeds, Until::Order);
            let mut command = Command::at(start);
            for _ in 0..ticks {
                let seen = Observation { joint_pos: READY.to_vec(), ..Observation::default() };
                pilot.decide(&seen, &mut command, &mut Vec::new()).unwrap();
            }
            command.pos[0]
        };
        let fraction = |time_s: f64| {
            let ticks = (time_s * f64::from(hz)).round() as u32;
            (drive(&pulled, ticks) - drive(&READY, ticks)) / PULL_RAD
        };
        // A minimum-jerk fade is at a half in its middle; the limiter may be a little behind.
        let middle = fraction(settings.soft_start_s / 2.0);
        assert!((0.2..0.95).contains(&middle), "{hz} Hz: {middle} in the middle");
        let end = fraction(settings.soft_start_s + 0.3);
        assert!(end.abs() < 0.02, "{hz} Hz: {end} at the end");
    }
}
