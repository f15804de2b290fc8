//! An arm that is not there, in a process of its own.
#![allow(dead_code, unreachable_pub)] // every test file uses some of it

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// `citrange rig emulate so101`.
pub struct Emulated {
    pub child: Child,
    pub orders: ChildStdin,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    pub port: String,
    /// What it said when it was ready.
    pub ready: Value,
    /// All that it said to the last order.
    pub last: Value,
}

impl Emulated {
    pub fn start(folder: &Path) -> Self {
        Self::with(folder, "--calibration arm.json")
    }

    /// With more to say.
    pub fn with(folder: &Path, words: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
        command.args(["rig", "emulate", "so101", "--json"]).args(words.split(' '));
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut own = Self {
            child,
            orders,
            lines,
            port: String::new(),
            ready: Value::Null,
            last: Value::Null,
        };
        let ready = own.told();
        assert_eq!(ready["event"], "ready");
        own.port = ready["port"].as_str().unwrap().to_owned();
        own.ready = ready;
        own
    }

    pub fn told(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    /// Its servos after an order.
    pub fn order(&mut self, order: &str) -> Vec<Value> {
        writeln!(self.orders, "{order}").unwrap();
        let told = self.told();
        assert_eq!((&told["event"], &told["order"]), (&"order".into(), &order.into()), "{told}");
        self.last = told["arm"].clone();
        self.last["servos"].as_array().unwrap().clone()
    }

    pub fn torques(&mut self) -> Vec<bool> {
        self.order("look").iter().map(|servo| servo["torque"].as_bool().unwrap()).collect()
    }

    pub fn end(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _nobody_asks = self.child.wait();
    }
}
