//! An SO-101 behind the link, on the emulated bus: calibrated, held, driven, and everything that
//! breaks on the way.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use citrange_core::script::Script;
use citrange_core::tape::NoTape;
use citrange_core::{Mode, Pace, RunSettings, run};
use citrange_emulate::{EmulatedBus, Servo, ServoBus, SimpleArm, spawn_servo_bus};
use citrange_link::feetech::register::{GOAL_POSITION, P_GAIN, TORQUE_ENABLE};
use citrange_link::feetech::{
    Bus, BusSettings, Calibration, Faults, MotorCalibration, ServoArm, ServoSettings,
};
use citrange_link::{
    ArmDriver, ArmState, DriverSettings, Leader, LeaderPilot, LinkError, LinkRig, SerialPort,
};
use citrange_robot::{Chain, Robot};

const IDS: std::ops::RangeInclusive<u8> = 1..=6;
/// Other processes may have the processor for a while.
const PATIENT: BusSettings = BusSettings { answer_time: Duration::from_millis(60), retries: 2 };

fn chain() -> Chain {
    Robot::load("so101").unwrap().chain().clone()
}

fn calibration() -> Calibration {
    let chain = chain();
    let motors = chain.joints.iter().zip(IDS).map(|(joint, id)| {
        let wide = i32::from(id) * 10;
        let range = MotorCalibration {
            id,
            drive_mode: 0,
            homing_offset: 100 - 30 * i32::from(id),
            range_min: 700 + wide,
            range_max: 3400 - wide,
        };
        (joint.name.clone(), range)
    });
    Calibration::new(motors.collect()).unwrap()
}

/// An arm in the middle of its ranges, calibrated.
fn emulated() -> EmulatedBus {
    let servos = calibration()
        .motors()
        .map(|(_, motor)| Servo::new(motor.id, motor.middle() + f64::from(motor.homing_offset)))
        .collect();
    let bus = spawn_servo_bus(ServoBus::new(servos), SimpleArm).unwrap();
    let port = SerialPort::open(bus.path(), 1_000_000).unwrap();
    ServoArm::write_calibration(&mut Bus::new(port, PATIENT), &calibration()).unwrap();
    bus
}

type PortOf = Arc<Mutex<PathBuf>>;

fn connect(path: &PortOf) -> Result<ServoArm<SerialPort>, LinkError> {
    let port = SerialPort::open(&path.lock().unwrap(), 1_000_000)?;
    ServoArm::connect(port, &chain(), &calibration(), PATIENT, ServoSettings::default())
}

fn driver(bus: &EmulatedBus, change: fn(&mut DriverSettings)) -> (ArmDriver, PortOf) {
    let path = Arc::new(Mutex::new(bus.path().to_owned()));
    let mut settings =
        DriverSettings { cycle_hz: 100, release_s: 0.1, ..DriverSettings::default() };
    // What is tested is not how busy this machine is.
    settings.safety.stale_s = 0.6;
    settings.safety.lost_s = 3.0;
    settings.safety.command_timeout_s = 0.6;
    change(&mut settings);
    let arm = connect(&path).unwrap();
    let again = path.clone();
    let driver = ArmDriver::start(arm, Box::new(move || connect(&again)), &chain(), settings);
    (driver.unwrap(), path)
}

/// Waits for a state.
fn until(driver: &ArmDriver, what: &str, is: impl Fn(&ArmState) -> bool) -> ArmState {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let state = driver.next_state(Duration::from_millis(200));
        if is(&state) {
            return state;
        }
        assert!(Instant::now() < end, "never {what}: {state:?}");
    }
}

fn why(state: &ArmState) -> String {
    match &state.mode {
        Mode::Stopped { why } | Mode::Holding { why } => why.clone(),
        Mode::Ready => "ready".to_owned(),
    }
}

fn torques(bus: &EmulatedBus) -> Vec<bool> {
    bus.bus().servos.iter().map(Servo::has_torque).collect()
}

#[test]
fn a_calibrated_arm_is_read_held_moved_and_let_go() {
    let bus = emulated();
    let (driver, _) = driver(&bus, |_| {});
    let state = driver.state();
    let gripper = chain().joints[5].gripper.unwrap();
    let middle = [0.0, 0.0, 0.0, 0.0, 0.0, (gripper[0] + gripper[1]) / 2.0];
    for (is, middle) in state.reading.pos.iter().zip(middle) {
        assert!((is - middle).abs() < 0.002, "{:?}", state.reading.pos);
    }
    assert_eq!((state.reading.temperature_c[0], state.reading.voltage_v[5]), (30.0, 12.0));
    assert_eq!(torques(&bus), [false; 6], "reading holds nothing");
    assert_eq!(bus.bus().servo(2).unwrap().get(P_GAIN), 32, "and writes nothing");
    driver.engage();
    until(&driver, "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    assert_eq!(torques(&bus), [true; 6]);
    assert_eq!(bus.bus().servo(2).unwrap().get(P_GAIN), 16);
    let wanted = [0.3, -0.2, 0.25, 0.1, -0.4, 0.5];
    let end = Instant::now() + Duration::from_secs(20);
    let near = |state: &ArmState| {
        state.reading.pos.iter().zip(&wanted).all(|(is, wanted)| (is - wanted).abs() < 0.004)
    };
    while !near(&driver.state()) {
        driver.send(&wanted);
        std::thread::sleep(Duration::from_millis(10));
        assert!(Instant::now() < end, "{:?}", driver.state());
    }
    drop(driver);
    assert_eq!(torques(&bus), [false; 6], "let go");
}

#[test]
fn another_arms_calibration_is_refused() {
    let bus = emulated();
    let offset = citrange_link::feetech::register::HOMING_OFFSET;
    let bytes = offset.encode(55);
    bus.bus().servo(3).unwrap().write(offset.address, &bytes);
    let path = Arc::new(Mutex::new(bus.path().to_owned()));
    let error = connect(&path).unwrap_err().to_string();
    let said = "elbow_flex (servo 3): homing_offset is 55 in the servo and 10 in the calibration";
    assert!(error.contains(said), "{error}");
    assert_eq!(torques(&bus), [false; 6]);
}

#[test]
fn silence_holds_and_stops_are_released_by_a_person_only() {
    let bus = emulated();
    let (driver, _) = driver(&bus, |settings| settings.safety.command_timeout_s = 0.2);
    driver.engage();
    until(&driver, "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    driver.send(&[0.5; 6]);
    until(&driver, "ready", |state| state.mode == Mode::Ready);
    let state = until(&driver, "silent", |state| matches!(state.mode, Mode::Holding { .. }));
    assert!(why(&state).contains("no command for 200 ms"), "{}", why(&state));
    driver.stop("the red button");
    let stopped = until(&driver, "stopped", |state| matches!(state.mode, Mode::Stopped { .. }));
    assert_eq!(why(&stopped), "the red button");
    for _ in 0..20 {
        driver.send(&[0.5; 6]);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(why(&driver.state()), "the red button", "commands do not release it");
    assert_eq!(torques(&bus), [true; 6], "it holds");
    driver.engage();
    until(&driver, "ready again", |state| !matches!(state.mode, Mode::Stopped { .. }));
}

#[test]
fn a_hot_servo_and_a_blocked_one_stop_the_arm_with_their_names() {
    let bus = emulated();
    let (driver, _) = driver(&bus, |_| {});
    driver.engage();
    until(&driver, "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    // A gripper that gives way does what it should.
    bus.bus().servo(6).unwrap().force_faults(Faults::OVERLOAD);
    driver.send(&driver.state().targets);
    until(&driver, "ready", |state| {
        driver.send(&state.targets);
        state.mode == Mode::Ready && !state.reading.faults[5].is_empty()
    });
    bus.bus().servo(3).unwrap().force_faults(Faults::TEMPERATURE);
    let state = until(&driver, "stopped", |state| matches!(state.mode, Mode::Stopped { .. }));
    assert!(why(&state).contains("elbow_flex: too hot"), "{}", why(&state));
}

#[test]
fn a_servo_that_vanishes_stops_the_arm_and_all_others_are_let_go() {
    let bus = emulated();
    let (driver, _) = driver(&bus, |settings| {
        (settings.safety.stale_s, settings.safety.lost_s) = (0.3, 0.6);
    });
    driver.engage();
    until(&driver, "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    bus.bus().faults.gone = vec![4];
    let state = until(&driver, "stopped", |state| matches!(state.mode, Mode::Stopped { .. }));
    assert!(why(&state).contains("no joints were heard"), "{}", why(&state));
    assert_eq!(state.reading.is_missing, [false, false, false, true, false, false]);
    drop(driver);
    assert_eq!(torques(&bus), [false, false, false, true, false, false], "whoever answers");
}

#[test]
fn a_pulled_cable_is_seen_and_found_again() {
    let bus = emulated();
    let (driver, path) = driver(&bus, |_| {});
    driver.engage();
    until(&driver, "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    drop(bus);
    let state = until(&driver, "stopped", |state| matches!(state.mode, Mode::Stopped { .. }));
    assert!(why(&state).contains("plug the cable in again"), "{}", why(&state));
    let bus = emulated();
    *path.lock().unwrap() = bus.path().to_owned();
    let state = until(&driver, "found", |state| state.counts.reconnected == 1);
    assert!(matches!(state.mode, Mode::Stopped { .. }), "not by itself: {state:?}");
    driver.engage();
    until(&driver, "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    assert_eq!(torques(&bus), [true; 6]);
}

#[test]
fn a_lossy_wire_costs_nothing_that_is_seen() {
    let bus = emulated();
    let (driver, _) = driver(&bus, |_| {});
    driver.engage();
    until(&driver, "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    for round in 0..30 {
        {
            let mut own = bus.bus();
            own.faults.lose = round % 2;
            own.faults.corrupt = round % 3 % 2;
            own.faults.double = round % 4;
            own.faults.noise = round;
        }
        driver.send(&[0.1, 0.1, 0.1, 0.1, 0.1, 0.5]);
        let state = driver.next_state(Duration::from_secs(1));
        assert!(!matches!(state.mode, Mode::Stopped { .. }), "{state:?}");
    }
    let bus_counts = driver.state().bus.unwrap();
    assert!(bus_counts.repeated > 0 && bus_counts.unexpected > 0, "{bus_counts:?}");
}

/// Every count that the link reads is the emulator's own, and every goal arrives to the count.
#[test]
fn goals_arrive_within_a_count() {
    let bus = emulated();
    let chain = chain();
    let joints: Vec<_> = chain
        .joints
        .iter()
        .zip(calibration().motors())
        .map(|(joint, (_, motor))| citrange_link::feetech::ServoJoint::new(joint, *motor))
        .collect();
    let (driver, _) = driver(&bus, |_| {});
    driver.engage();
    until(&driver, "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    for _ in 0..50 {
        driver.send(&[0.4, -0.3, 0.2, 0.1, 0.3, 1.0]);
        std::thread::sleep(Duration::from_millis(10));
    }
    driver.stop("look");
    let rests = |state: &ArmState| state.reading.vel.iter().all(|vel| *vel == 0.0);
    until(&driver, "stopped", |state| matches!(state.mode, Mode::Stopped { .. }));
    std::thread::sleep(Duration::from_millis(500));
    let state = until(&driver, "rests", rests);
    let mut own = bus.bus();
    for (j, joint) in joints.iter().enumerate() {
        let servo = own.servo(j as u8 + 1).unwrap();
        assert_eq!(servo.get(GOAL_POSITION), joint.count(state.targets[j]), "joint {j}");
        assert_eq!(joint.position(servo.present()), state.reading.pos[j], "joint {j}");
    }
}

/// A shaft without torque is where a hand puts it.
fn turn(bus: &EmulatedBus, id: u8, counts: f64) {
    let shaft = citrange_emulate::Shaft { counts, ..Default::default() };
    bus.bus().servo(id).unwrap().moved(shaft, 0.001);
}

#[test]
fn a_follower_eases_to_its_leader_and_follows_it() {
    let (leader, follower) = (emulated(), emulated());
    // Far away when it begins.
    let middle = leader.bus().servos[0].shaft().counts;
    turn(&leader, 1, middle + 500.0);
    let (reading, _) = driver(&leader, |_| {});
    let hand = Arc::new(Leader::new(reading, &chain()));
    let mut pilot = LeaderPilot::new(hand, Some(150));
    let (driven, _) = driver(&follower, |_| {});
    let mut rig = LinkRig::new(driven, &chain(), 50, 25).unwrap();
    let settings = RunSettings { pace: Pace::REAL_TIME, ..RunSettings::default() };
    let report = run(&mut pilot, &mut rig, NoTape, &settings).unwrap();
    assert_eq!(report.outcome.reason, "leader_end");
    let counts = |bus: &EmulatedBus| bus.bus().servos[0].shaft().counts;
    assert!((counts(&follower) - counts(&leader)).abs() < 4.0, "{}", counts(&follower));
    assert_eq!(torques(&leader), [false; 6], "a leader is never held");
    // A leader that is gone ends the episode.
    drop(leader);
    let error = run(&mut pilot, &mut rig, NoTape, &settings).unwrap_err().to_string();
    assert!(error.contains("the leader"), "{error}");
}

#[test]
fn it_is_a_rig_of_the_one_loop() {
    let bus = emulated();
    let (driver, _) = driver(&bus, |_| {});
    let mut rig = LinkRig::new(driver, &chain(), 50, 25).unwrap();
    let script = Script::to(&[0.2, -0.1, 0.15, 0.05, 0.1, 0.7], 100);
    let settings = RunSettings { pace: Pace::REAL_TIME, ..RunSettings::default() };
    let report = run(script, &mut rig, NoTape, &settings).unwrap();
    assert!(report.frames >= 50, "{report:?}");
    let state = until(rig.driver(), "holds", |state| matches!(state.mode, Mode::Holding { .. }));
    assert!((state.targets[0] - 0.2).abs() < 0.05, "{:?}", state.targets);
    assert_eq!(torques(&bus), [true; 6], "it holds between episodes");
    bus.bus().servo(1).unwrap().force_faults(Faults::VOLTAGE);
    until(rig.driver(), "stopped", |state| matches!(state.mode, Mode::Stopped { .. }));
    let again = run(Script::to(&[0.0; 6], 50), &mut rig, NoTape, &settings).unwrap_err();
    assert!(again.to_string().contains("voltage"), "{again}");
    drop(rig);
    assert!(!bus.bus().servos.iter().any(|servo| servo.get(TORQUE_ENABLE) == 1));
}
