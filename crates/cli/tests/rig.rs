//! `citrange rig`: an arm that is not there, for those without one.

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use citrange_link::SerialPort;
use citrange_link::feetech::{Bus, BusSettings, Calibration, register};
use common::temp;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

#[test]
fn an_emulated_arm_is_a_bus_that_takes_orders() {
    let folder = temp();
    let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
    command.args(["rig", "emulate", "so101", "--json", "--calibration", "arm.json"]);
    command.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut orders = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let ready = told();
    assert_eq!(ready["event"], "ready");
    let port = SerialPort::open(Path::new(ready["port"].as_str().unwrap()), 1_000_000).unwrap();
    let settings = BusSettings { answer_time: Duration::from_millis(100), retries: 3 };
    let mut bus = Bus::new(port, settings);
    assert_eq!(bus.scan(1..=7).unwrap(), [1, 2, 3, 4, 5, 6]);
    let calibration = Calibration::load(&folder.path().join("arm.json")).unwrap();
    for (name, motor) in calibration.motors() {
        let offset = bus.read(motor.id, register::HOMING_OFFSET).unwrap();
        assert_eq!(offset, motor.homing_offset, "{name}");
    }
    writeln!(orders, "gone 3").unwrap();
    let order = told();
    assert_eq!((&order["event"], &order["order"]), (&"order".into(), &"gone 3".into()));
    assert_eq!(order["arm"]["servos"].as_array().unwrap().len(), 6);
    assert_eq!(bus.scan(1..=6).unwrap(), [1, 2, 4, 5, 6]);
    writeln!(orders, "dance").unwrap();
    let refused = told();
    assert_eq!(refused["event"], "refused");
    assert!(refused["reason"].as_str().unwrap().contains("there are: look"), "{refused}");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
