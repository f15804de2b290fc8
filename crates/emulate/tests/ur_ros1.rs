//! An arm behind ROS 1, driven by the link's own thread against our stand-in, and what goes wrong
//! between them. With CITRANGE_ROS_TIMES=20 each fault comes so often, at moments that chance
//! chooses.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use citrange_core::Mode;
use citrange_core::rng::Rng;
use citrange_emulate::{EmulatedUr, UrOptions};
use citrange_link::ros1::{Ros1Settings, Ros1Watch, open_ros1};
use citrange_link::{ArmDriver, DriverSettings, LinkError};
use citrange_robot::Robot;
use citrange_ros::Master;
use serde_json::Value;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

struct Cell {
    arm: EmulatedUr,
    _master: Master,
    settings: Ros1Settings,
}

impl Cell {
    fn new() -> Self {
        let master = Master::start(HERE, 0).unwrap();
        let master_uri = Some(master.uri());
        let options = UrOptions { master_uri: master_uri.clone(), ..UrOptions::default() };
        let arm = EmulatedUr::spawn(options).unwrap();
        assert!(!arm.has_own_master());
        let settings = Ros1Settings { master_uri, connect_s: 3.0, ..Ros1Settings::default() };
        Self { arm, _master: master, settings }
    }

    fn open(&self) -> Result<(ArmDriver, Arc<Ros1Watch>), LinkError> {
        let driver = DriverSettings { cycle_hz: 125, ..DriverSettings::default() };
        let robot = Robot::load("ur5e").unwrap();
        open_ros1(robot.chain(), &self.settings, driver)
    }

    fn order(&self, order: &str) -> Value {
        self.arm.order(order).unwrap()
    }

    fn positions(&self) -> Vec<f64> {
        let told = self.order("look");
        told["positions"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect()
    }
}

fn why(driver: &ArmDriver) -> String {
    match driver.state().mode {
        Mode::Ready => String::new(),
        Mode::Holding { why } | Mode::Stopped { why } => why,
    }
}

fn is_stopped(driver: &ArmDriver) -> bool {
    matches!(driver.state().mode, Mode::Stopped { .. })
}

#[track_caller]
fn wait(what: &str, driver: &ArmDriver, mut is: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(15), "{what}: {:?}", driver.state().mode);
        std::thread::sleep(Duration::from_millis(2));
    }
    began.elapsed()
}

fn engage(driver: &ArmDriver) {
    let before = driver.state().counts.engaged;
    driver.engage();
    wait("torque", driver, || driver.state().counts.engaged > before);
}

/// Asks for these joints, as a loop does, until the time is up or it was stopped.
fn ask(driver: &ArmDriver, targets: &[f64], seconds: f64) {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end && !is_stopped(driver) {
        driver.send(targets);
        std::thread::sleep(Duration::from_millis(8));
    }
}

#[track_caller]
fn comes_to(cell: &Cell, driver: &ArmDriver, targets: &[f64]) {
    let end = Instant::now() + Duration::from_secs(15);
    loop {
        ask(driver, targets, 0.1);
        let at = cell.positions();
        let off = at.iter().zip(targets).map(|(a, b)| (a - b).abs());
        if off.fold(0.0, f64::max) < 0.01 {
            return;
        }
        assert!(Instant::now() < end && !is_stopped(driver), "{:?}", driver.state().mode);
    }
}

/// Where the arm is, and a place a little away from there.
fn there(cell: &Cell, by: f64) -> Vec<f64> {
    let mut targets = cell.positions();
    targets[0] += by;
    targets[2] -= by / 2.0;
    targets
}

/// What its joints did since this was asked last.
#[track_caller]
fn stayed_within_limits(cell: &Cell) {
    let told = cell.order("look");
    let numbers = |key: &str| -> Vec<f64> {
        told[key].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect()
    };
    let (fastest, hardest) = (numbers("fastest_rad_s"), numbers("hardest_rad_s2"));
    assert!(fastest.iter().all(|speed| *speed < 3.15), "{told}");
    for (j, hardest) in hardest.iter().enumerate() {
        // 5 and 10 rad/s² are asked for at most; simulated servos add their own.
        let limit = if j < 3 { 5.0 } else { 10.0 };
        assert!(*hardest < 2.0 * limit, "joint {j}: {hardest} rad/s²: {told}");
    }
}

#[track_caller]
fn stands(cell: &Cell) {
    std::thread::sleep(Duration::from_millis(700));
    let first = cell.positions();
    std::thread::sleep(Duration::from_millis(300));
    let moved = cell.positions().iter().zip(&first).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved < 2e-3, "it still moves: {moved} rad in 0.3 s");
}

#[test]
fn an_arm_goes_where_it_is_sent_and_stands_when_nobody_asks() {
    let cell = Cell::new();
    let (driver, watch) = cell.open().unwrap();
    engage(&driver);
    let targets = there(&cell, 0.6);
    let began = Instant::now();
    comes_to(&cell, &driver, &targets);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    stayed_within_limits(&cell);
    let goals = cell.order("look")["goals"]["accepted"].as_u64().unwrap();
    // It is there: nothing is sent any more.
    ask(&driver, &targets, 0.6);
    let more = cell.order("look")["goals"]["accepted"].as_u64().unwrap();
    assert!(more <= goals + 3, "{more} after {goals}");
    // In the middle of a motion nobody asks any more: it brakes and stands.
    ask(&driver, &there(&cell, -0.8), 0.8);
    wait("the brake", &driver, || why(&driver).contains("no command"));
    stands(&cell);
    stayed_within_limits(&cell);
    assert_eq!(watch.joint_counts().not_numbers, 0);
    let told = cell.order("look");
    assert_eq!((&told["goals"]["rejected"], &told["goals"]["aborted"]), (&0.into(), &0.into()));
}

#[test]
fn a_link_that_vanishes_in_the_middle_of_a_motion_leaves_the_arm_at_rest() {
    let cell = Cell::new();
    let (driver, watch) = cell.open().unwrap();
    engage(&driver);
    ask(&driver, &there(&cell, 1.2), 1.2);
    let moving = cell.order("look")["velocities"][0].as_f64().unwrap();
    assert!(moving.abs() > 0.1, "{moving}");
    // As a killed process: nobody brakes, nobody cancels.
    std::mem::forget((driver, watch));
    // The forgotten thread goes on without commands; the arm came to rest by its last trajectory.
    stands(&cell);
    stayed_within_limits(&cell);
}

/// A fault in the middle of a motion, what it is called, and how it ends.
fn fault(cell: &Cell, driver: &ArmDriver, order: &str, words: &[&str], end: &str, rng: &mut Rng) {
    engage(driver);
    let by = if rng.unit() < 0.5 { 0.9 } else { -0.9 };
    ask(driver, &there(cell, by), rng.uniform(0.3, 1.0));
    cell.order(order);
    let since = Instant::now();
    let goal = there(cell, by);
    while !is_stopped(driver) && since.elapsed() < Duration::from_secs(8) {
        driver.send(&goal);
        std::thread::sleep(Duration::from_millis(8));
    }
    let told = why(driver);
    assert!(is_stopped(driver), "{order}: {told}");
    assert!(words.iter().any(|word| told.contains(word)), "{order}: {told}");
    if order.starts_with("hang") {
        // What it had accepted it carries out when it wakes, and that ends at rest.
        std::thread::sleep(Duration::from_millis(1200));
    }
    stands(cell);
    cell.order(end);
}

#[test]
fn what_goes_wrong_stops_the_arm_is_named_and_a_person_goes_on() {
    let times: u64 =
        std::env::var("CITRANGE_ROS_TIMES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let cell = Cell::new();
    let (driver, _watch) = cell.open().unwrap();
    let mut rng = Rng::new(18);
    for _ in 0..times {
        fault(&cell, &driver, "program off", &["press play"], "program on", &mut rng);
        fault(&cell, &driver, "safety 3", &["protective stop"], "safety 1", &mut rng);
        fault(&cell, &driver, "leave", &["closed its connections"], "back", &mut rng);
        fault(&cell, &driver, "stall", &["far from its path", "blocks"], "free", &mut rng);
        fault(&cell, &driver, "nan pos", &["joints"], "nan off", &mut rng);
        fault(&cell, &driver, "drop elbow_joint", &["joints"], "whole", &mut rng);
        fault(&cell, &driver, "hang 1.6", &["joints", "silent"], "look", &mut rng);
        stayed_within_limits(&cell);
    }
    // A person starts it again, and it goes where it is sent.
    std::thread::sleep(Duration::from_millis(500));
    engage(&driver);
    comes_to(&cell, &driver, &there(&cell, 0.2));
}

#[test]
fn what_is_odd_but_harmless_stops_nothing() {
    let cell = Cell::new();
    let (driver, watch) = cell.open().unwrap();
    engage(&driver);
    for order in ["order random", "nan vel", "stamp 10", "stamp -10", "mute on", "whole"] {
        cell.order(order);
        let by = if cell.positions()[0] > -1.5 { -0.15 } else { 0.15 };
        comes_to(&cell, &driver, &there(&cell, by));
    }
    assert!(watch.joint_counts().clock_jumps >= 2, "{:?}", watch.joint_counts());
    // A hang that is short: it holds, and goes on by itself.
    cell.order("mute off");
    let targets = there(&cell, 0.3);
    ask(&driver, &targets, 0.4);
    cell.order("hang 0.4");
    wait("the hold", &driver, || {
        driver.send(&targets);
        why(&driver).contains("ms old")
    });
    comes_to(&cell, &driver, &targets);
    stayed_within_limits(&cell);
}

#[test]
fn an_arm_that_is_not_whole_or_not_there_is_refused_by_name() {
    let cell = Cell::new();
    cell.order("drop wrist_2_joint");
    let error = cell.open().unwrap_err().to_string();
    assert!(error.contains("wrist_2_joint"), "{error}");
    cell.order("leave");
    let error = cell.open().unwrap_err().to_string();
    assert!(error.contains("is the robot's driver running"), "{error}");
    let settings =
        Ros1Settings { master_uri: Some("http://127.0.0.1:9".into()), ..Ros1Settings::default() };
    let chain = Robot::load("ur5e").unwrap().chain().clone();
    let error = open_ros1(&chain, &settings, DriverSettings::default()).unwrap_err().to_string();
    assert!(error.contains("roscore"), "{error}");
}
