//! `citrange rig`: an arm that is not there, for those without one.

mod common;
#[path = "common/emulated.rs"]
mod emulated;
#[path = "common/page.rs"]
mod page;
#[path = "common/wheel.rs"]
mod wheel;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use citrange_link::SerialPort;
use citrange_link::feetech::{Bus, BusSettings, Calibration, register};
use common::{citrange, fails, ok, stderr, stdout, temp};
use emulated::Emulated;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use wheel::Wheel;

#[test]
fn a_real_arm_is_driven_recorded_and_replayed() {
    let folder = temp();
    let here = folder.path();
    let mut arm = Emulated::start(here);
    let rig = format!("--rig so101:{} --calibration arm.json", arm.port);
    let words =
        format!("block_box {rig} --record set --countdown 0.1 --reset-time 0.1 --episodes 1");
    let mut drive = Wheel::start(here, &words);
    drive.wait_for("begin");
    std::thread::sleep(Duration::from_millis(200));
    drive.look();
    let before = drive.hand_m;
    drive.drive(&["up", "open"], 1.5);
    drive.look();
    assert!(drive.hand_m[2] - before[2] > 0.015, "{:?} after {before:?}", drive.hand_m);
    assert_eq!(arm.torques(), [true; 6]);
    drive.order("success");
    assert_eq!(drive.wait_for("saved")["outcome"]["success"], true);
    drive.end();
    assert_eq!(arm.torques(), [false; 6], "let go in the end");
    ok(here, "data check set");
    let shown = stdout(&ok(here, "data show set --episode 0"));
    assert!(shown.contains("no scene"), "{shown}");
    // Nobody can simulate it again.
    assert!(fails(here, "replay set --verify", 4).contains("cannot be read"));
    // The arm repeats it: brought to the start first.
    arm.order("turn 1 1700");
    std::thread::sleep(Duration::from_millis(500));
    arm.order("free 1");
    let told = common::json(&ok(here, &format!("replay set {rig} --json")));
    let played = &told["episodes"][0];
    assert_eq!(played["kind"], "frame_targets", "{told}");
    assert!(played["mean_joint_error_rad"].as_f64().unwrap() < 0.05, "{told}");
    assert_eq!(arm.torques(), [false; 6]);
    arm.end();
}

#[test]
fn ctrl_c_lets_the_arm_go_and_kill_9_leaves_it_holding() {
    let folder = temp();
    let here = folder.path();
    let mut arm = Emulated::start(here);
    let words = format!("block_box --rig so101:{} --calibration arm.json", arm.port);
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        let mut drive = Wheel::start(here, &words);
        drive.drive(&["left"], 0.5);
        drive.hold(&["left"], 0.2);
        kill_process(Pid::from_child(&drive.running.child), signal).unwrap();
        assert_eq!(drive.running.child.wait().unwrap().code(), code);
        let holds = signal == Signal::KILL;
        assert_eq!(arm.torques(), [holds; 6], "{signal:?}");
        let at = |arm: &mut Emulated| arm.order("look")[0]["counts"].as_f64().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let first = at(&mut arm);
        std::thread::sleep(Duration::from_millis(300));
        assert!((at(&mut arm) - first).abs() < 2.0, "it stands: {signal:?}");
    }
    arm.end();
}

#[test]
fn an_arm_that_is_brought_to_a_start_can_be_stopped() {
    let folder = temp();
    let here = folder.path();
    let mut arm = Emulated::start(here);
    let tape = "collect orange_plate --episodes 1 --cameras none --out set --retries 0";
    ok(here, tape);
    arm.order("turn 1 3000");
    std::thread::sleep(Duration::from_millis(800));
    arm.order("free 1");
    let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
    let rig = format!("so101:{}", arm.port);
    command.args(["replay", "set", "--rig", &rig, "--calibration", "arm.json"]);
    command.current_dir(here).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let end = std::time::Instant::now() + Duration::from_secs(60);
    while arm.torques() != [true; 6] {
        assert!(std::time::Instant::now() < end, "it is never held");
    }
    std::thread::sleep(Duration::from_millis(300));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = stderr(&output);
    assert!(said.contains("bringing the arm"), "{said}");
    assert_ne!(output.status.code(), Some(0), "{said}");
    assert_eq!(arm.torques(), [false; 6]);
    let at = arm.order("look")[0]["counts"].as_f64().unwrap();
    assert!(at > 2300.0, "it went on to {at}");
    // A tape of another robot never reaches the servos.
    ok(here, "collect ur5_cell --episodes 1 --seconds 0.2 --cameras none --out other");
    let words = format!("replay other --rig {rig} --calibration arm.json");
    let other = citrange(here, &words.split(' ').collect::<Vec<_>>(), &[]);
    assert_eq!(other.status.code(), Some(3));
    assert!(stderr(&other).contains("the set moves shoulder_pan_joint"), "{}", stderr(&other));
    // Nor where no tape says so, but the names of its columns.
    std::fs::remove_dir_all(here.join("other/citrange")).unwrap();
    let other = citrange(here, &words.split(' ').collect::<Vec<_>>(), &[]);
    assert_eq!(other.status.code(), Some(3));
    assert!(stderr(&other).contains("the set moves shoulder_pan_joint"), "{}", stderr(&other));
    assert_eq!(arm.torques(), [false; 6]);
    arm.end();
}

#[test]
fn an_arm_that_is_not_there_or_another_is_said() {
    let folder = temp();
    let here = folder.path();
    let arm = Emulated::start(here);
    let run = |words: &str| {
        // Nobody's calibration but what is here.
        let home = here.to_str().unwrap();
        let env = [("XDG_CONFIG_HOME", home), ("HF_HOME", home)];
        let output = citrange(here, &words.split(' ').collect::<Vec<_>>(), &env);
        (output.status.code(), stderr(&output))
    };
    let (code, text) = run("drive block_box --rig so101:/dev/ttyNONE7 --calibration arm.json");
    assert_eq!(code, Some(5), "{text}");
    assert!(text.contains("/dev/ttyNONE7: is not there"), "{text}");
    let (code, text) = run(&format!("drive block_box --rig so101:{}", arm.port));
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("--calibration FILE"), "{text}");
    let (code, text) = run("drive block_box --rig panda:1");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("so101:PORT"), "{text}");
    let words = format!("drive ur5_cell --rig so101:{} --calibration arm.json", arm.port);
    let (code, text) = run(&words);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("choose a scene with so101"), "{text}");
    arm.end();
}

#[test]
fn an_emulated_arm_is_a_bus_that_takes_orders() {
    let folder = temp();
    let mut arm = Emulated::start(folder.path());
    let port = SerialPort::open(Path::new(&arm.port), 1_000_000).unwrap();
    let settings = BusSettings { answer_time: Duration::from_millis(100), retries: 3 };
    let mut bus = Bus::new(port, settings);
    assert_eq!(bus.scan(1..=7).unwrap(), [1, 2, 3, 4, 5, 6]);
    let calibration = Calibration::load(&folder.path().join("arm.json")).unwrap();
    for (name, motor) in calibration.motors() {
        let offset = bus.read(motor.id, register::HOMING_OFFSET).unwrap();
        assert_eq!(offset, motor.homing_offset, "{name}");
    }
    assert_eq!(arm.order("gone 3").len(), 6);
    assert_eq!(bus.scan(1..=6).unwrap(), [1, 2, 4, 5, 6]);
    writeln!(arm.orders, "dance").unwrap();
    let refused = arm.told();
    assert_eq!(refused["event"], "refused");
    assert!(refused["reason"].as_str().unwrap().contains("there are: look"), "{refused}");
    arm.end();
}

#[test]
fn an_arm_is_checked_without_being_touched() {
    let folder = temp();
    let here = folder.path();
    let mut arm = Emulated::start(here);
    let words = format!("rig check so101:{} --calibration arm.json --json", arm.port);
    let check = |arm: &mut Emulated| -> (Option<i32>, Value) {
        let output = citrange(here, &words.split(' ').collect::<Vec<_>>(), &[]);
        assert_eq!(arm.torques(), [false; 6]);
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
    };
    let grade = |told: &Value, name: &str| -> (String, String) {
        let all = told["checks"].as_array().unwrap().iter();
        let one = all.clone().find(|one| one["check"] == name).unwrap();
        let text = |key: &str| one[key].as_str().unwrap().to_owned();
        (text("grade"), text("detail"))
    };
    let (code, told) = check(&mut arm);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(told["checks"].as_array().unwrap().len(), 16);
    assert_eq!(grade(&told, "servo elbow_flex").0, "OK");
    let (hand, text) = grade(&told, "pose");
    assert!(hand == "OK" && text.contains("ahead"), "{hand} {text}");
    arm.order("supply 3 57 120");
    arm.order("supply 4 72 98");
    let (code, told) = check(&mut arm);
    assert_eq!(code, Some(4), "{told}");
    let (warm, text) = grade(&told, "servo elbow_flex");
    assert!(warm == "WARN" && text.contains("57 °C") && text.contains("rest"), "{text}");
    let (hot, text) = grade(&told, "servo wrist_flex");
    assert!(hot == "FAIL" && text.contains("too hot"), "{text}");
    arm.end();
}

#[test]
fn an_arm_is_set_up_by_hand() {
    let folder = temp();
    let here = folder.path();
    let mut arm = Emulated::start(here);
    let middle: Vec<f64> =
        arm.order("look").iter().map(|servo| servo["counts"].as_f64().unwrap()).collect();
    let words = format!("rig setup so101:{} --calibration mine.json --json", arm.port);
    let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
    command.args(words.split(' ')).current_dir(here);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut enter = child.stdin.take().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut until = |word: &str| {
        while !said.next().unwrap().unwrap().contains(word) {}
    };
    until("hold the arm");
    for (id, count) in (1..).zip(&middle) {
        arm.order(&format!("turn {id} {count:.0}"));
    }
    writeln!(enter).unwrap();
    until("to the middle");
    writeln!(enter).unwrap();
    until("from end to end");
    for away in [-400.0, 350.0] {
        for (id, count) in (1..).zip(&middle) {
            arm.order(&format!("turn {id} {:.0}", count + away));
        }
        std::thread::sleep(Duration::from_millis(1500));
    }
    writeln!(enter).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["calibration"], "mine.json");
    let found = Calibration::load(&here.join("mine.json")).unwrap();
    for ((name, motor), middle) in found.motors().zip(&middle) {
        let off = f64::from(motor.homing_offset) - (middle - 2047.0);
        assert!(off.abs() < 40.0, "{name}: {motor:?} around {middle}");
        assert!(motor.range_max - motor.range_min > 500, "{name}: {motor:?}");
    }
    // Once more only when that is said.
    let again = citrange(here, &words.split(' ').collect::<Vec<_>>(), &[]);
    assert_eq!(again.status.code(), Some(3));
    assert!(stderr(&again).contains("--overwrite"), "{}", stderr(&again));
    arm.end();
}
