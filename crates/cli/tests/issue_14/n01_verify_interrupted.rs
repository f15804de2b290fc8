//! A verification is good only when it is complete; what was stopped says so.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{citrange, fails, small_set, stderr, stdout, temp};

/// Starts replaying, so slowly that a signal comes while it plays.
fn slowly(folder: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
    command.current_dir(folder).args(args).args(["--speed", "0.02"]);
    command.env_remove("LD_LIBRARY_PATH").env_remove("CITRANGE_MUJOCO");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Whether a process catches a signal, as the system tells.
fn catches(child: &Child, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
    mask >> (signal.as_raw() - 1) & 1 == 1
}

/// Sends a signal as soon as it is caught, and waits for the end.
fn stopped_by(signal: Signal, mut child: Child) -> Output {
    let begun = Instant::now();
    while !catches(&child, signal) {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        assert!(begun.elapsed() < Duration::from_secs(120), "signals are never caught");
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn what_was_not_played_is_not_equal() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 2);
    for signal in [Signal::INT, Signal::TERM] {
        let output = stopped_by(signal, slowly(here, &["replay", "set", "--verify", "--json"]));
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["complete"], false, "{report}");
        let episodes = report["episodes"].as_array().unwrap();
        assert_eq!(episodes.len(), 2);
        for episode in episodes {
            assert_eq!((&episode["complete"], &episode["bitwise"]), (&false.into(), &Value::Null));
        }
        assert_eq!(episodes[1]["kind"], "not_played", "{report}");
        assert!(report["not_played"].as_array().unwrap().contains(&1.into()), "{report}");
    }
    // In words too.
    let output = stopped_by(Signal::TERM, slowly(here, &["replay", "set", "--verify"]));
    assert_eq!(output.status.code(), Some(130));
    let said = stdout(&output);
    assert!(!said.contains("bitwise equal") && said.contains("episode 1: not played"), "{said}");
    // Left alone it is what it was.
    let output = citrange(here, &["replay", "set", "--verify", "--json"], &[]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["complete"], &report["episodes"][1]["bitwise"]),
        (&true.into(), &true.into())
    );
}

#[test]
fn a_film_that_was_stopped_is_no_film() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 1);
    let mut child = slowly(here, &["replay", "set", "--render", "film.mp4"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let begun = lines.by_ref().map(Result::unwrap).any(|line| line.contains("filming 30 frames"));
    assert!(begun, "it never began");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let said: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said:?}");
    assert!(!here.join("film.mp4").exists());
    assert!(said.join(" ").contains("of 30 frames: film.partial.mp4"), "{said:?}");
    let movie = citrange_video::mp4::Movie::open(here.join("film.partial.mp4")).unwrap();
    assert!((1..30).contains(&movie.frame_count()));
}

#[test]
fn one_damaged_tape_does_not_hide_the_others() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 3);
    let tapes = here.join("set/citrange/episodes");
    let mut names: Vec<_> = tapes.read_dir().unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    let mut bytes = std::fs::read(&names[1]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&names[1], bytes).unwrap();
    for threads in ["1", "2"] {
        let args = ["replay", "set", "--verify", "--json", "--threads", threads];
        let output = citrange(here, &args, &[]);
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let bitwise: Vec<&Value> =
            report["episodes"].as_array().unwrap().iter().map(|e| &e["bitwise"]).collect();
        assert_eq!(bitwise, [&Value::Bool(true), &Value::Null, &Value::Bool(true)]);
        assert_eq!((&report["unreadable"], &report["complete"]), (&1.into(), &false.into()));
        assert!(report["episodes"][1]["error"].as_str().unwrap().contains("damaged"), "{report}");
    }
    // The frames before the damage are not the tape.
    let tape = names[1].to_str().unwrap();
    assert!(fails(here, &format!("replay {tape} --verify"), 4).contains("cannot be read"));
    let said = fails(here, "replay set --verify", 4);
    assert!(said.contains("1 of 3 episodes cannot be read"), "{said}");
}
