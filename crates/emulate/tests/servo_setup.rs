//! Factory servos get their ids, an arm moved by hand gets its calibration.

use std::time::Duration;

use citrange_emulate::{EmulatedBus, Servo, ServoBus, Shaft, SimpleArm, spawn_servo_bus};
use citrange_link::SerialPort;
use citrange_link::feetech::register::{BAUD, HOMING_OFFSET, ID, LOCK, MAX_POSITION};
use citrange_link::feetech::{Bus, BusSettings, Calibrator, give_id, lock};

const JOINTS: [(&str, u8, bool); 6] = [
    ("shoulder_pan", 1, false),
    ("shoulder_lift", 2, false),
    ("elbow_flex", 3, false),
    ("wrist_flex", 4, false),
    ("wrist_roll", 5, true),
    ("gripper", 6, false),
];

fn bus_of(servos: Vec<Servo>) -> (EmulatedBus, Bus<SerialPort>) {
    let emulated = spawn_servo_bus(ServoBus::new(servos), SimpleArm).unwrap();
    let settings = BusSettings { answer_time: Duration::from_millis(60), retries: 1 };
    let bus = Bus::new(SerialPort::open(emulated.path(), 1_000_000).unwrap(), settings);
    (emulated, bus)
}

/// Somebody's hand: a shaft without torque is where it is put.
fn turn(emulated: &EmulatedBus, id: u8, counts: f64) {
    let mut own = emulated.bus();
    own.servo(id).unwrap().moved(Shaft { counts, ..Shaft::default() }, 0.001);
}

#[test]
fn a_factory_servo_gets_an_id_that_it_keeps() {
    let (emulated, mut bus) = bus_of(vec![Servo::new(1, 2000.0)]);
    assert_eq!(give_id(&mut bus, 0..=10, 6).unwrap(), 1);
    emulated.bus().servos[0].power_cycle();
    assert_eq!(emulated.bus().servos[0].get(ID), 6);
    assert_eq!(bus.scan(0..=10).unwrap(), [6]);
    assert_eq!(give_id(&mut bus, 0..=10, 6).unwrap(), 6, "again is no harm");
}

/// One that somebody set to another speed hears only that, and 1 Mbaud from then on.
#[test]
fn a_servo_of_another_speed_gets_the_usual_one() {
    let mut slow = Servo::new(9, 2000.0);
    slow.write(LOCK.address, &[0]);
    slow.write(BAUD.address, &[4]);
    let (emulated, mut bus) = bus_of(vec![slow]);
    assert!(bus.scan(0..=10).unwrap().is_empty(), "it does not hear 1 Mbaud");
    drop(bus);
    let settings = BusSettings { answer_time: Duration::from_millis(60), retries: 1 };
    let port = SerialPort::open(emulated.path(), 115_200).unwrap();
    assert_eq!(give_id(&mut Bus::new(port, settings), 0..=10, 6).unwrap(), 9);
    let port = SerialPort::open(emulated.path(), 1_000_000).unwrap();
    let mut bus = Bus::new(port, settings);
    lock(&mut bus, 6).unwrap();
    emulated.bus().servos[0].power_cycle();
    assert_eq!(bus.scan(0..=10).unwrap(), [6]);
}

#[test]
fn two_servos_at_once_or_none_are_refused() {
    let (emulated, mut bus) = bus_of(vec![Servo::new(1, 2000.0), Servo::new(3, 2000.0)]);
    let error = give_id(&mut bus, 0..=10, 2).unwrap_err().to_string();
    assert!(error.contains("servos 1, 3: plug in one alone"), "{error}");
    emulated.bus().faults.gone = vec![1, 3];
    let error = give_id(&mut bus, 0..=10, 2).unwrap_err().to_string();
    assert!(error.contains("no answer from any servo"), "{error}");
}

#[test]
fn an_arm_moved_by_hand_is_calibrated_and_stays_so() {
    let middles = [2100.0, 1500.0, 1800.0, 2600.0, 900.0, 3000.0];
    let servos = JOINTS.iter().zip(middles).map(|((_, id, _), at)| Servo::new(*id, at));
    let (emulated, mut bus) = bus_of(servos.collect());
    let mut calibrator = Calibrator::begin(&mut bus, &JOINTS).unwrap();
    calibrator.middle(&mut bus).unwrap();
    let error = calibrator.finish(&mut bus).unwrap_err().to_string();
    let said = "shoulder_pan, shoulder_lift, elbow_flex, wrist_flex, gripper: was not moved";
    assert!(error.contains(said), "{error}");
    for ((_, id, _), middle) in JOINTS.iter().zip(middles) {
        for away in [-700.0, 0.0, 600.0, 100.0] {
            turn(&emulated, *id, middle + away);
            calibrator.look(&mut bus).unwrap();
        }
    }
    let found = calibrator.finish(&mut bus).unwrap();
    let elbow = found.motor("elbow_flex").unwrap();
    // As LeRobot found it on its own bus: 1800 - 2047.
    assert_eq!(elbow.homing_offset, -247);
    assert_eq!((elbow.range_min, elbow.range_max), (2047 - 700, 2047 + 600));
    let roll = found.motor("wrist_roll").unwrap();
    assert_eq!((roll.range_min, roll.range_max), (0, 4095));
    for servo in &mut emulated.bus().servos {
        servo.power_cycle();
    }
    let mut own = emulated.bus();
    let servo = own.servo(3).unwrap();
    assert_eq!(servo.get(HOMING_OFFSET), -247);
    assert_eq!((servo.get(MAX_POSITION), servo.get(LOCK)), (2647, 1));
    assert_eq!(servo.present(), 2147, "100 from the middle");
}

#[test]
fn a_middle_where_the_count_jumps_is_refused_with_the_cure() {
    let servos = JOINTS.map(|(_, id, _)| Servo::new(id, if id == 4 { 4095.0 } else { 2000.0 }));
    let (_emulated, mut bus) = bus_of(servos.into());
    let mut calibrator = Calibrator::begin(&mut bus, &JOINTS).unwrap();
    let error = calibrator.middle(&mut bus).unwrap_err().to_string();
    assert!(error.contains("wrist_flex (servo 4)") && error.contains("horn"), "{error}");
}
