//! Started with `nohup`, a polite kill must still end and keep the episode, and a hang-up must not
//! end it. (The handler used to give up on all signals when one of them was ignored.)

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{small_scene, temp};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

#[test]
fn a_polite_kill_keeps_the_episode_and_a_hang_up_does_not_end_it() {
    let folder = temp();
    small_scene(folder.path());
    let mut child = Command::new("nohup")
        .arg(env!("CARGO_BIN_EXE_citrange"))
        .args("collect small.yaml --speed 1 --json --out set".split(' '))
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    while next()["frame"] != 5 {}
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::HUP).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    while next()["frame"] != 12 {}
    kill_process(pid, Signal::TERM).unwrap();
    let saved = loop {
        let event = next();
        if event["event"] == "saved" {
            break event;
        }
    };
    assert_eq!(saved["outcome"]["reason"], "stopped");
    assert!(saved["frames"].as_u64().unwrap() > 12);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
