//! Our side of the bus against the emulated one, over a pseudo-terminal, with every fault of the
//! wire.

use std::path::Path;
use std::time::{Duration, Instant};

use citrange_emulate::{EmulatedBus, Servo, ServoBus, SimpleArm, WireFaults, spawn_servo_bus};
use citrange_link::feetech::register::{
    GOAL_POSITION, MAX_POSITION, MIN_POSITION, PRESENT_POSITION, PRESENT_TEMPERATURE, TORQUE_ENABLE,
};
use citrange_link::feetech::{Answer, Bus, BusSettings, Faults};
use citrange_link::{LinkError, SerialPort};

const IDS: [u8; 6] = [1, 2, 3, 4, 5, 6];

fn emulated() -> EmulatedBus {
    let servos = IDS.map(|id| Servo::new(id, 1000.0 + 100.0 * f64::from(id)));
    spawn_servo_bus(ServoBus::new(servos.into()), SimpleArm).unwrap()
}

/// Patient: other processes may have the processor for a while.
fn open(path: &Path) -> Bus<SerialPort> {
    let settings = BusSettings { answer_time: Duration::from_millis(80), retries: 2 };
    Bus::new(SerialPort::open(path, 1_000_000).unwrap(), settings)
}

fn positions(bus: &mut Bus<SerialPort>) -> Vec<(u8, i32)> {
    let mut answers: Vec<Answer> = Vec::new();
    bus.sync_read(&IDS, PRESENT_POSITION.address, 2, &mut answers).unwrap();
    answers.iter().map(|answer| (answer.id, PRESENT_POSITION.decode(&answer.bytes))).collect()
}

#[test]
fn an_arm_is_found_read_and_moved() {
    let emulated = emulated();
    let mut bus = open(emulated.path());
    assert_eq!(bus.scan(0..=9).unwrap(), IDS);
    let at: Vec<(u8, i32)> = IDS.map(|id| (id, 1000 + 100 * i32::from(id))).into();
    assert_eq!(positions(&mut bus), at);
    for id in IDS {
        bus.write(id, TORQUE_ENABLE, 1).unwrap();
    }
    let goals: Vec<(u8, i32)> = at.iter().map(|(id, count)| (*id, count + 300)).collect();
    bus.sync_write(GOAL_POSITION, &goals).unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    while positions(&mut bus) != goals {
        assert!(Instant::now() < end, "{:?} instead of {goals:?}", positions(&mut bus));
    }
    // What we read is what the emulator has, to the count.
    let mut own = emulated.bus();
    for (id, count) in goals {
        assert_eq!(own.servo(id).unwrap().present(), count);
    }
}

/// An answer that comes after it was asked for again is no answer to the next question.
#[test]
fn a_late_answer_is_not_taken_for_another() {
    let emulated = emulated();
    let settings = BusSettings { answer_time: Duration::from_millis(60), retries: 3 };
    let mut bus = Bus::new(SerialPort::open(emulated.path(), 1_000_000).unwrap(), settings);
    for _ in 0..10 {
        {
            let mut own = emulated.bus();
            (own.faults.late, own.faults.late_by) = (1, Duration::from_millis(85));
        }
        assert_eq!(bus.read(3, MIN_POSITION).unwrap(), 0);
        assert_eq!(bus.read(3, MAX_POSITION).unwrap(), 4095);
    }
    assert!(bus.counts().repeated >= 10, "{:?}", bus.counts());
}

#[test]
fn lost_damaged_doubled_and_cut_answers_cost_a_repetition_and_no_more() {
    let emulated = emulated();
    let mut bus = open(emulated.path());
    let right = positions(&mut bus);
    let faults = [
        WireFaults { lose: 1, ..WireFaults::default() },
        WireFaults { corrupt: 1, ..WireFaults::default() },
        WireFaults { corrupt: 6, ..WireFaults::default() },
        WireFaults { cut: 1, ..WireFaults::default() },
        WireFaults { double: 6, ..WireFaults::default() },
        WireFaults { noise: 20, ..WireFaults::default() },
        WireFaults { lose: 2, corrupt: 2, cut: 1, double: 3, noise: 5, ..WireFaults::default() },
    ];
    for wire in faults {
        emulated.bus().faults = wire.clone();
        assert_eq!(positions(&mut bus), right, "{wire:?}");
        // And for one servo alone.
        let cut = wire.cut.min(u32::from(wire.lose == 0));
        let once = WireFaults { lose: wire.lose.min(1), corrupt: wire.corrupt.min(1), cut, ..wire };
        emulated.bus().faults = once.clone();
        assert_eq!(bus.read(3, PRESENT_TEMPERATURE).unwrap(), 30, "{once:?}");
        emulated.bus().faults = WireFaults::default();
    }
    assert!(bus.counts().repeated > 0 && bus.counts().lost == 0, "{:?}", bus.counts());
    assert!(bus.counts().damaged_bytes > 0, "{:?}", bus.counts());
}

#[test]
fn a_servo_that_is_gone_is_named_and_the_others_still_answer() {
    let emulated = emulated();
    let mut bus = open(emulated.path());
    emulated.bus().faults.gone = vec![4];
    let ids: Vec<u8> = positions(&mut bus).iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [1, 2, 3, 5, 6]);
    let error = bus.ping(4).unwrap_err();
    assert!(matches!(error, LinkError::NoAnswer { .. }), "{error}");
    assert!(error.to_string().contains("servo 4") && error.to_string().contains("3 tries"));
    emulated.bus().faults.gone.clear();
    assert_eq!(positions(&mut bus).len(), 6, "it came back");
}

#[test]
fn fault_bits_come_with_every_answer() {
    let emulated = emulated();
    let mut bus = open(emulated.path());
    emulated.bus().servo(2).unwrap().force_faults(Faults::OVERLOAD | Faults::CURRENT);
    let mut answers = Vec::new();
    bus.sync_read(&IDS, PRESENT_POSITION.address, 2, &mut answers).unwrap();
    let bad: Vec<(u8, String)> = answers
        .iter()
        .filter(|answer| !answer.faults.is_empty())
        .map(|answer| (answer.id, answer.faults.to_string()))
        .collect();
    assert_eq!(bad, [(2, "too much current, overloaded".to_owned())]);
    assert_eq!(bus.write(2, TORQUE_ENABLE, 0).unwrap(), Faults::OVERLOAD | Faults::CURRENT);
}

#[test]
fn a_port_that_is_gone_or_taken_is_said() {
    let emulated = emulated();
    let path = emulated.path().to_owned();
    let mut bus = open(&path);
    let second = SerialPort::open(&path, 1_000_000).unwrap_err().to_string();
    assert!(second.contains("another citrange has it"), "{second}");
    bus.ping(1).unwrap();
    drop(emulated);
    let end = Instant::now() + Duration::from_secs(10);
    let error = loop {
        match bus.ping(1) {
            Err(error @ LinkError::PortGone { .. }) => break error.to_string(),
            other => assert!(Instant::now() < end, "{other:?}"),
        }
    };
    assert!(error.contains("is gone") && error.contains("plug"), "{error}");
    let missing = SerialPort::open(Path::new("/dev/ttyNONE7"), 1_000_000).unwrap_err().to_string();
    assert!(missing.contains("/dev/ttyNONE7: is not there"), "{missing}");
    let no_port = SerialPort::open(Path::new("/dev/null"), 1_000_000).unwrap_err().to_string();
    assert!(no_port.contains("no serial port"), "{no_port}");
}
