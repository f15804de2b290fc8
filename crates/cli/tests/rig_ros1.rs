//! `citrange … --rig ros1:ur5e` on a UR that is not there, with a master of our own: no ROS is
//! installed for these.

mod common;
#[path = "common/page.rs"]
mod page;
#[path = "common/wheel.rs"]
mod wheel;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use common::{fails, json, ok, temp};
use serde_json::Value;
use wheel::Wheel;

/// `citrange rig emulate ur5e --ros1`.
struct Emulated {
    child: Child,
    orders: ChildStdin,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Emulated {
    /// On a free port; `rig.yaml` says so to those who look for it.
    fn start(folder: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let uri = format!("http://127.0.0.1:{port}");
        let file = format!("ros1: {{master_uri: \"{uri}\"}}\n");
        std::fs::write(folder.join("rig.yaml"), file).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
        command.args(["rig", "emulate", "ur5e", "--ros1", "--master", &uri, "--json"]);
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut own = Self { child, orders, lines };
        let ready = own.told();
        assert_eq!((&ready["event"], &ready["own_master"]), (&"ready".into(), &true.into()));
        own
    }

    fn told(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    fn order(&mut self, order: &str) -> Value {
        writeln!(self.orders, "{order}").unwrap();
        let told = self.told();
        assert_eq!(told["event"], "order", "{told}");
        told["arm"].clone()
    }

    fn positions(&mut self) -> Vec<f64> {
        numbers(&self.order("look")["positions"])
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _nobody_asks = self.child.wait();
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect()
}

const RIG: &str = "--rig ros1:ur5e --rig-file rig.yaml";

#[test]
fn a_ur_is_driven_recorded_and_replayed_within_its_limits() {
    let folder = temp();
    let here = folder.path();
    let mut arm = Emulated::start(here);
    let checked = json(&ok(here, "rig check ros1:ur5e --rig-file rig.yaml --json"));
    let grades = checked["checks"].as_array().unwrap();
    assert!(grades.iter().all(|check| check["grade"] == "OK"), "{checked}");
    let words = format!("{RIG} --record set --countdown 0.1 --reset-time 0.1 --episodes 1");
    let mut drive = Wheel::start(here, &words);
    drive.wait_for("begin");
    std::thread::sleep(Duration::from_millis(300));
    drive.look();
    let (before, home) = (drive.hand_m, arm.positions());
    drive.drive(&["up"], 1.5);
    drive.look();
    std::thread::sleep(Duration::from_millis(600));
    drive.look();
    assert!(drive.hand_m[2] - before[2] > 0.015, "{:?} after {before:?}", drive.hand_m);
    drive.order("success");
    assert_eq!(drive.wait_for("saved")["outcome"]["success"], true);
    drive.end();
    ok(here, "data check set");
    // What its joints really did, behind network and controller.
    let told = arm.order("look");
    for (fastest, hardest) in
        numbers(&told["fastest_rad_s"]).iter().zip(numbers(&told["hardest_rad_s2"]))
    {
        assert!(*fastest < 3.2, "{fastest} rad/s: {told}");
        assert!(hardest < 12.0, "{hardest} rad/s²: {told}");
    }
    assert!(told["goals"]["accepted"].as_u64().unwrap() > 5 && told["goals"]["rejected"] == 0);
    assert_eq!(told["goals"]["aborted"], 0);
    // It repeats it: brought to the start first.
    let told = json(&ok(here, &format!("replay set {RIG} --json")));
    let played = &told["episodes"][0];
    assert_eq!(played["kind"], "frame_targets", "{told}");
    assert!(played["mean_joint_error_rad"].as_f64().unwrap() < 0.05, "{told}");
    let there = arm.positions();
    assert!(there.iter().zip(&home).any(|(now, then)| (now - then).abs() > 0.01));
}

#[test]
fn a_robot_that_is_not_ready_is_refused_with_what_a_person_does() {
    let folder = temp();
    let here = folder.path();
    let mut arm = Emulated::start(here);
    let drive =
        format!("drive {RIG} --record kept --episodes 1 --countdown 0.1 --listen 127.0.0.1:0");
    arm.order("program off");
    let why = fails(here, &drive, 5);
    assert!(why.contains("press play"), "{why}");
    let checked = fails(here, "rig check ros1:ur5e --rig-file rig.yaml --json", 4);
    assert!(checked.contains("1 of 11 checks failed"), "{checked}");
    let other = fails(here, &format!("{drive} block_box"), 3);
    assert!(other.contains("choose a scene with ur5e"), "{other}");
    drop(arm);
    let gone = fails(here, &drive, 5);
    assert!(gone.contains("roscore"), "{gone}");
}
