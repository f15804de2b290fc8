//! A person at the wheel of a running `citrange drive`, over its own socket: holds keys as a page
//! does, and lets go and presses anew when the arm had to brake.

#![allow(dead_code, unreachable_pub)] // every test file uses some of it

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::{Duration, Instant};

use citrange_core::Event;
use serde_json::{Value, json};

use super::page::{LONGEST, Page, Running};

pub struct Wheel {
    pub running: Running,
    page: Page,
}

impl Deref for Wheel {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl DerefMut for Wheel {
    fn deref_mut(&mut self) -> &mut Page {
        &mut self.page
    }
}

impl Wheel {
    pub fn start(folder: &Path, words: &str) -> Self {
        let running = Running::start(folder, &format!("--listen 127.0.0.1:0 {words}"));
        let mut page = Page::open(running.link());
        page.say(&json!({"type": "take"}));
        Self { running, page }
    }

    /// Holds keys for so many seconds of simulation, and lets go. When the arm brakes meanwhile
    /// (a busy machine), lets go and presses anew, as a person would.
    pub fn drive(&mut self, held: &[&str], sim_seconds: f64) {
        let (from, begun) = (self.time_s, Instant::now());
        self.hold_while(held, |wheel| {
            let done = wheel.time_s - from;
            assert!(begun.elapsed() < LONGEST, "{held:?}: {done} of {sim_seconds} s");
            done < sim_seconds
        });
    }

    /// Holds keys for so many seconds of the wall, and lets go; presses anew after a brake.
    pub fn hold(&mut self, held: &[&str], seconds: f64) {
        let begun = Instant::now();
        self.hold_while(held, |_| begun.elapsed().as_secs_f64() < seconds);
    }

    fn hold_while(&mut self, held: &[&str], goes_on: impl Fn(&Self) -> bool) {
        while goes_on(self) {
            let is_braked = self.status["brake"] == true;
            self.keys(if is_braked { &[] } else { held });
            self.look();
        }
        self.keys(&[]);
    }

    /// Holds keys for so many seconds of the wall, whatever becomes of it.
    pub fn insist(&mut self, held: &[&str], seconds: f64) {
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < seconds {
            self.keys(held);
            self.look();
        }
    }

    /// Looks until something is so, saying what is held.
    pub fn until(&mut self, held: &[&str], what: &str, is: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is(self) {
            assert!(begun.elapsed() < LONGEST, "{what} never came: {}", self.status);
            self.keys(held);
            self.look();
        }
    }

    pub fn order(&mut self, order: &str) {
        self.say_now(json!({"type": "order", "order": order}));
    }

    /// Sends the autopilot to a target, by its number.
    pub fn fly(&mut self, target: u8) {
        self.say_now(json!({"type": "fly", "target": target}));
    }

    /// Sends the autopilot and is there until it is done. A busy machine may fall silent for a
    /// moment, which stops it: then it is sent again.
    pub fn fetch(&mut self, target: u8) {
        for _ in 0..10 {
            self.hold(&[], 0.2);
            self.fly(target);
            self.hold(&[], 1.0);
            let end = Instant::now() + Duration::from_secs(90);
            while self.flight()["flying"] == true && Instant::now() < end {
                self.hold(&[], 0.1);
            }
            if !self.flight()["message"].as_str().unwrap().contains("nothing was heard") {
                return;
            }
        }
        panic!("it is always stopped: {}", self.flight());
    }

    /// What the autopilot was last said to be at.
    pub fn flight(&self) -> &Value {
        &self.status["flight"]
    }

    /// Comes again on a new line and takes the wheel.
    pub fn come_again(&mut self) {
        self.page = Page::open(self.running.link());
        let begun = Instant::now();
        while self.status["you_drive"] != true {
            assert!(begun.elapsed() < LONGEST, "the wheel is not given: {}", self.status);
            self.look();
            self.say(&json!({"type": "take"}));
        }
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.running.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    pub fn wait_for(&self, event: &str) -> Value {
        self.running.wait_for(event)
    }

    /// Its own end: exit code 0 and its last words.
    pub fn end(mut self) -> Value {
        let end = self.wait_for("end");
        assert!(self.running.child.wait().unwrap().success());
        end
    }
}

/// The targets of a tape beside the limits of its robot's description.
pub struct Motion {
    /// Highest speed, acceleration and jerk, as shares of the limits.
    pub most: [f64; 3],
    /// Longest time in which targets moved while nothing counted as held, beyond the first
    /// moments of an episode.
    pub unheld_s: f64,
    /// Time that the limits need from full speed to rest.
    pub stop_s: f64,
    pub stalls: usize,
    pub brakes: usize,
    pub seconds: f64,
}

/// Reads a tape's ticks as a stream of targets, by the limits of the robot's own description.
pub fn motion(root: &Path, episode: usize) -> Motion {
    let dataset = citrange_tape::Dataset::open(root).unwrap();
    let (tape, _) = dataset.tape(episode).unwrap().unwrap();
    let spec = &tape.header.rig;
    let hz = f64::from(spec.rates.control_hz);
    let limits = limits(&spec.robot, spec.joints.iter().map(|j| j.name.as_str()));
    let mut motion = Motion {
        most: [0.0; 3],
        unheld_s: 0.0,
        stop_s: limits.iter().map(|[v, a, j]| v / a + 2.0 * a / j).fold(0.0, f64::max),
        stalls: tape.events.iter().filter(|(_, e)| e.name() == "stall").count(),
        brakes: tape.events.iter().filter(|(_, e)| e.detail()["brake"] == true).count(),
        seconds: tape.ticks.len() as f64 / hz,
    };
    let keys: Vec<(u64, bool)> = tape
        .events
        .iter()
        .filter_map(|(tick, e)| match e {
            Event::Keys(keys) => Some((*tick, keys.sticks.iter().any(|s| *s != 0.0))),
            _ => None,
        })
        .collect();
    let first = &tape.ticks[0].limited;
    let still = vec![0.0; first.len()];
    let (mut pos, mut speed, mut acc) = (first.clone(), still.clone(), still);
    let mut let_go = 0.0_f64;
    for tick in &tape.ticks {
        let is_held = keys.iter().rfind(|(at, _)| *at <= tick.index).is_some_and(|(_, is)| *is);
        let time_s = tick.index as f64 / hz;
        if is_held {
            let_go = time_s;
        }
        for (j, limit) in limits.iter().enumerate() {
            let v = (tick.limited[j] - pos[j]) * hz;
            let a = (v - speed[j]) * hz;
            let shares = [v, a, (a - acc[j]) * hz];
            // Differences of the first ticks are not known: what was in force before is not.
            for (order, (is, limit)) in shares.into_iter().zip(limit).enumerate() {
                if tick.index > order as u64 {
                    motion.most[order] = motion.most[order].max(is.abs() / limit);
                }
            }
            // Taking over the arm's weight in the first moments is no motion of the arm.
            if v != 0.0 && !is_held && time_s > 1.0 {
                motion.unheld_s = motion.unheld_s.max(time_s - let_go.max(1.0));
            }
            (pos[j], speed[j], acc[j]) = (tick.limited[j], v, a);
        }
    }
    motion
}

/// Speed, acceleration and jerk of each joint, read from `models/<robot>/robot.yaml`; a jerk that
/// is not given is the acceleration in 0.1 s.
fn limits<'a>(robot: &str, joints: impl Iterator<Item = &'a str>) -> Vec<[f64; 3]> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(robot).join("robot.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let described: citrange_core::RobotDescription =
        citrange_core::yaml::from_yaml(&text, robot).unwrap();
    let of = |joint: &str| {
        let l = &described.joint_limits[joint];
        let speed = l.velocity_rad_s.or(l.velocity_m_s).unwrap();
        let acc = l.acceleration_rad_s2.or(l.acceleration_m_s2).unwrap();
        [speed, acc, l.jerk_rad_s3.or(l.jerk_m_s3).unwrap_or(acc / 0.1)]
    };
    joints.map(of).collect()
}
