//! The physics of our simulated SO-101 behind the emulated servos: weight, blocked joints, limits.

use std::time::{Duration, Instant};

use citrange_core::Mode;
use citrange_emulate::{Assembly, EmulatedSo101, Servo};
use citrange_link::feetech::{BusSettings, ServoArm, ServoSettings};
use citrange_link::{ArmDriver, ArmState, DriverSettings, LinkError, SerialPort};
use citrange_robot::{Chain, Robot};

const PATIENT: BusSettings = BusSettings { answer_time: Duration::from_millis(60), retries: 2 };

fn chain() -> Chain {
    Robot::load("so101").unwrap().chain().clone()
}

fn emulated() -> (EmulatedSo101, ArmDriver) {
    let (chain, arm) = (chain(), EmulatedSo101::spawn("block_box", Assembly::Calibrated).unwrap());
    let port = SerialPort::open(arm.bus().path(), 1_000_000).unwrap();
    let settings = ServoSettings::default();
    let device = ServoArm::connect(port, &chain, arm.calibration(), PATIENT, settings).unwrap();
    let mut settings = DriverSettings { cycle_hz: 100, release_s: 0.3, ..Default::default() };
    settings.safety.stale_s = 0.6;
    settings.safety.lost_s = 3.0;
    settings.safety.command_timeout_s = 1.0;
    let never = || Err(LinkError::bad("port", "it is not looked for again"));
    (arm, ArmDriver::start(device, Box::new(never), &chain, settings).unwrap())
}

fn until(driver: &ArmDriver, what: &str, is: impl Fn(&ArmState) -> bool) -> ArmState {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let state = driver.next_state(Duration::from_millis(200));
        if is(&state) {
            return state;
        }
        assert!(Instant::now() < end, "never {what}: {state:?}");
    }
}

#[test]
fn it_carries_its_weight_goes_where_it_is_sent_and_sinks_when_let_go() {
    let (arm, driver) = emulated();
    let start = driver.state().reading.pos;
    driver.engage();
    let held = until(&driver, "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    assert!(held.reading.pos.iter().zip(&start).all(|(a, b)| (a - b).abs() < 0.05));
    let mut wanted = held.targets.clone();
    wanted[0] += 0.4;
    wanted[1] -= 0.3;
    wanted[5] = 1.0;
    let there = until(&driver, "there", |state| {
        driver.send(&wanted);
        state.reading.pos.iter().zip(&wanted).all(|(is, to)| (is - to).abs() < 0.03)
    });
    assert!(there.reading.effort.iter().any(|effort| effort.abs() > 0.05), "it has weight");
    assert!(there.reading.effort.iter().all(|effort| effort.is_finite()));
    let lift = there.reading.pos[1];
    drop(driver);
    assert!(!arm.bus().bus().servos.iter().any(Servo::has_torque));
    let was = arm.bus().bus().servos[1].shaft().counts;
    std::thread::sleep(Duration::from_millis(1500));
    let sank = (arm.bus().bus().servos[1].shaft().counts - was).abs();
    assert!(sank > 5.0, "{sank} counts from {lift}: an arm without torque sinks");
}

#[test]
fn its_joints_never_exceed_their_limits_whatever_is_sent() {
    let (arm, driver) = emulated();
    driver.engage();
    until(&driver, "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    // Its own place first: what is far from it would be eased towards.
    until(&driver, "ready", |state| {
        driver.send(&state.targets);
        state.mode == Mode::Ready
    });
    let limit = chain().joints[0].max_speed.unwrap();
    let counts = limit * 4095.0 / std::f64::consts::TAU;
    let end = Instant::now() + Duration::from_secs(5);
    let (mut fastest, mut moved) = (0.0_f64, 0.0_f64);
    let mut round = 0_u32;
    while Instant::now() < end {
        round += 1;
        let far = if (round / 40).is_multiple_of(2) { 9.0 } else { -9.0 };
        driver.send(&[far, 0.0, 0.0, 1.0, far, 0.5]);
        std::thread::sleep(Duration::from_millis(5));
        let shaft = arm.bus().bus().servos[0].shaft();
        fastest = fastest.max(shaft.counts_s.abs());
        moved = moved.max(driver.state().reading.pos[0].abs());
    }
    // The servo's own overshoot is no more than a tenth.
    assert!(fastest > 0.3 * counts && fastest < 1.1 * counts, "{fastest} of {counts}");
    let range = chain().joints[0].range.unwrap();
    assert!(moved < range[1] + 0.03, "{moved}");
    drop(driver);
}

#[test]
fn a_hand_moves_it_without_torque_and_orders_say_what_it_is() {
    let (arm, driver) = emulated();
    let start = arm.bus().bus().servos[2].shaft().counts;
    let target = start - 200.0;
    arm.order(&format!("turn 3 {target:.0}")).unwrap();
    let radians = driver.state().reading.pos[2];
    let moved = until(&driver, "moved", |state| (state.reading.pos[2] - radians).abs() > 0.25);
    assert!(moved.reading.pos[2] < radians);
    let told = arm.order("look").unwrap();
    assert_eq!(told["servos"][2]["torque"], false);
    assert!(arm.order("lose many").unwrap_err().contains("no number"));
    assert!(arm.order("fault 9 1").unwrap_err().contains("no servo 9"));
    assert!(arm.order("jump").unwrap_err().contains("there are: look"));
}
