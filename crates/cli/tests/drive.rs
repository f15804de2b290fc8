//! `citrange drive`, driven over its own socket: keys in, an arm that moves, episodes that stay.

mod common;
#[path = "common/page.rs"]
mod page;
#[path = "common/wheel.rs"]
mod wheel;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use citrange_studio::wire::ServerBytes;
use common::{fails, json, ok, temp};
use page::socket;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use wheel::Wheel;

#[test]
fn keys_move_the_arm_and_episodes_are_kept_judged_or_thrown_away() {
    let folder = temp();
    let words = "block_box --record set --cameras none --countdown 0.1 --reset-time 0.1 --episodes 2 --seed 5";
    let mut drive = Wheel::start(folder.path(), words);

    // Thrown away: the same scene comes again.
    assert_eq!(drive.wait_for("begin")["episode"], 0);
    drive.hold(&["up"], 0.3);
    drive.order("discard");
    drive.wait_for("discarded");

    assert_eq!(drive.wait_for("begin")["episode"], 0);
    // The page may still show the last moment of the wait before.
    std::thread::sleep(Duration::from_millis(200));
    drive.look();
    let (before, grip) = (drive.hand_m, drive.joints[5]);
    drive.drive(&["up", "open"], 1.0);
    drive.look();
    let risen = drive.hand_m[2] - before[2];
    // 0.04 m/s; the start is soft, the machine may be slow.
    assert!((0.015..0.05).contains(&risen), "rose by {risen} m in a second");
    assert!(drive.joints[5] - grip > 0.3, "opened from {grip} to {}", drive.joints[5]);
    drive.order("success");
    let saved = drive.wait_for("saved");
    assert_eq!((&saved["number"], &saved["outcome"]["success"]), (&json!(0), &json!(true)));

    assert_eq!(drive.wait_for("begin")["episode"], 1);
    drive.hold(&["left"], 0.3);
    drive.order("failure");
    assert_eq!(drive.wait_for("saved")["outcome"]["success"], false);
    let end = drive.end();
    assert_eq!((&end["saved"], &end["discarded"]), (&json!(2), &json!(1)));

    let report = json(&ok(folder.path(), "replay set --verify --json"));
    assert_eq!(
        (&report["differing"], report["episodes"].as_array().unwrap().len()),
        (&json!(0), 2)
    );
    ok(folder.path(), "replay set --episode 0 --frame-targets");
    ok(folder.path(), "data check set");

    // Driving goes on with the dataset, from the middle of an episode, with the controller's memory.
    let words =
        "block_box --record set --resume --from set:0:20 --cameras none --countdown 0 --episodes 1";
    let mut drive = Wheel::start(folder.path(), words);
    assert_eq!(drive.wait_for("begin")["episode"], 2);
    drive.hold(&["down"], 0.3);
    drive.order("stop");
    assert_eq!(drive.wait_for("saved")["number"], 2);
    assert_eq!(drive.end()["saved"], 1);
    let report = json(&ok(folder.path(), "replay set --episode 2 --verify --json"));
    assert_eq!(report["differing"], 0);
}

#[test]
fn of_two_arms_the_first_is_driven_and_both_are_recorded() {
    let folder = temp();
    let scene = "name: two\ntitle: Two arms\ntask: lift\n\
                 rates: {physics_hz: 360, control_hz: 180, frame_hz: 30}\nrobots:\n  \
                 left: {model: so101, pos_m: [0, 0.25, 0]}\n  \
                 right: {model: so101, pos_m: [0, -0.25, 0]}\n";
    std::fs::write(folder.path().join("two.yaml"), scene).unwrap();
    let words = "two.yaml --robots right,left --record set --countdown 0.1 --episodes 1";
    let mut drive = Wheel::start(folder.path(), words);
    drive.wait_for("begin");
    drive.drive(&["up"], 1.0);
    drive.look();
    assert_eq!(drive.joints.len(), 12);
    drive.order("success");
    drive.wait_for("saved");
    drive.end();
    let set = citrange_tape::Dataset::open(&folder.path().join("set")).unwrap();
    let (tape, shown) = set.tape(0).unwrap().unwrap();
    assert_eq!(tape.header.rig.robots_in_scene, ["right", "left"]);
    let targets = |frame: usize| tape.action(frame).unwrap();
    let (first, last) = (targets(0), targets(shown.end - 1));
    let moved = |joints: std::ops::Range<usize>| {
        joints.map(|j| (last[j] - first[j]).abs()).fold(0.0, f64::max)
    };
    assert!(moved(0..6) > 0.05, "the right arm: {}", moved(0..6));
    assert!((0..shown.len()).all(|frame| targets(frame)[6..] == first[6..]), "the left one");
    assert_eq!(json(&ok(folder.path(), "replay set --verify --json"))["differing"], 0);
}

#[test]
fn a_replay_is_shown_to_whoever_opens_the_link() {
    let folder = temp();
    ok(folder.path(), "collect orange_plate --cameras none --seconds 1 --out set");
    let mut child = Command::new(env!("CARGO_BIN_EXE_citrange"))
        .current_dir(folder.path())
        .args("replay set --verify --show --speed 4 --listen 127.0.0.1:0 --json".split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let link = said.into_iter().find_map(|line| Some(line.split_once("http:")?.1.to_owned()));
    let mut socket = socket(&format!("http:{}", link.unwrap())).unwrap();
    let (mut seen, mut moved) = (Vec::new(), false);
    while let Ok(message) = socket.read() {
        if let Message::Binary(bytes) = message
            && let Some(ServerBytes::State { live, .. }) = ServerBytes::decode(&bytes)
        {
            moved |= !seen.is_empty() && seen != live.joint_pos;
            seen = live.joint_pos;
        }
    }
    assert!(moved, "nothing was seen to move");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["differing"], 0);
}

#[test]
fn a_driver_who_vanishes_stops_the_arm_and_a_polite_kill_keeps_the_episode() {
    let folder = temp();
    let words = "block_box --record set --cameras none --countdown 0 --episode-time 30";
    let mut drive = Wheel::start(folder.path(), words);
    drive.wait_for("begin");
    drive.hold(&["up"], 0.6);
    // Cut in the middle of a held key: no goodbye.
    drive.keys(&["up"]);
    drive.cut();
    std::thread::sleep(Duration::from_millis(600));
    drive.signal(rustix::process::Signal::TERM);
    drive.wait_for("saved");
    assert_eq!(drive.running.child.wait().unwrap().code(), Some(130));
    // The wrist's targets stand still for the last frames.
    let shown = json(&ok(folder.path(), "replay set --verify --json"));
    assert_eq!(shown["differing"], 0);
    let dataset = citrange_tape::Dataset::open(&folder.path().join("set")).unwrap();
    let (tape, _) = dataset.tape(0).unwrap().unwrap();
    let last = &tape.ticks.last().unwrap().limited;
    let before = &tape.ticks[tape.ticks.len() - 40].limited;
    let moved = last.iter().zip(before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-4, "targets still moved by {moved} rad");
    assert!(tape.events.iter().any(|(_, e)| e.name() == "keys" && e.detail()["brake"] == true));
}

#[test]
fn what_the_autopilot_does_is_part_of_the_episode_and_repeats_bit_for_bit() {
    let folder = temp();
    let words = "orange_plate --record set --cameras none --countdown 0 --episodes 1 --seed 3";
    let mut drive = Wheel::start(folder.path(), words);
    drive.wait_for("begin");
    drive.hold(&["up"], 0.3);
    drive.fetch(2);
    assert_eq!(drive.flight()["placed"], json!([false, true, false]), "{}", drive.flight());
    // Taken back in the middle of the next one.
    let mut is_stopped = false;
    for _ in 0..10 {
        drive.hold(&[], 0.2);
        drive.fly(1);
        drive.hold(&[], 1.5);
        drive.hold(&["up"], 0.4);
        drive.hold(&[], 0.3);
        is_stopped = drive.flight()["message"] == "stopped: a movement key was pressed";
        if is_stopped {
            break;
        }
    }
    assert!(is_stopped, "{}", drive.flight());
    drive.order("success");
    assert_eq!(drive.wait_for("saved")["outcome"]["success"], true);
    drive.end();

    let report = json(&ok(folder.path(), "replay set --verify --json"));
    assert_eq!(report["differing"], 0);
    ok(folder.path(), "data check set");
    let dataset = citrange_tape::Dataset::open(&folder.path().join("set")).unwrap();
    let (tape, _) = dataset.tape(0).unwrap().unwrap();
    let events = |name: &str| -> Vec<(u64, Value)> {
        let named = tape.events.iter().filter(|(_, event)| event.name() == name);
        named.map(|(tick, event)| (*tick, event.detail())).collect()
    };
    let summary = &events("summary")[0].1;
    let summary = &summary["targets"][0];
    assert_eq!((&summary["name"], &summary["placed"]), (&json!("orange_2"), &json!(true)));
    let own = events("autopilot");
    let (ended, _) = own.iter().find(|(_, what)| what["do"] == "end").unwrap();
    let (stopped, _) = own.iter().rfind(|(_, what)| what["why"] == "keys").unwrap();
    let (last, _) = own.iter().rfind(|(_, what)| what["do"] == "start").unwrap();
    assert!(ended < last && last < stopped);

    // Frames have the memory of whoever had the arm.
    let per_frame = (tape.ticks.len() / tape.frames.len()) as u64;
    let has = |tick: u64, name: &str| {
        let snapshot = tape.snapshot((tick / per_frame) as usize).unwrap();
        snapshot.fields.keys().any(|field| field.starts_with(name))
    };
    let between = last + 60;
    assert!(has(between, "pilot/autopilot") && !has(between, "pilot/law/"));
    let after = stopped + 2 * per_frame;
    assert!(!has(after, "pilot/autopilot") && has(after, "pilot/law/"));

    // Handed over without a jump: no joint is told to go faster than in the flight.
    let step = |tick: u64| {
        let [before, now] = [tick - 1, tick].map(|tick| &tape.ticks[tick as usize].requested);
        before.iter().zip(now).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let most = (last + 1..*stopped).map(step).fold(0.0, f64::max);
    for tick in [*ended + 1, *stopped, *stopped + 1] {
        assert!(step(tick) <= most.max(1e-3), "{} rad in a tick, {most} before", step(tick));
    }

    // From a frame at which the autopilot flew, a person goes on.
    let words = format!(
        "orange_plate --record set --resume --from set:0:{} --cameras none --countdown 0 --episodes 1",
        between / per_frame
    );
    let mut drive = Wheel::start(folder.path(), &words);
    drive.wait_for("begin");
    drive.hold(&["up"], 0.3);
    assert_eq!(drive.flight()["flying"], false, "it does not fly by itself");
    drive.order("stop");
    assert_eq!(drive.wait_for("saved")["number"], 1);
    drive.end();
    let report = json(&ok(folder.path(), "replay set --episode 1 --verify --json"));
    assert_eq!(report["differing"], 0);
}

#[test]
fn bad_wishes_are_refused_before_anything_moves() {
    let folder = temp();
    let path = folder.path();
    assert!(fails(path, "drive block_bx", 3).contains("block_box"));
    assert!(fails(path, "drive --profile sed", 3).contains("seed"));
    std::fs::write(path.join("mine.yaml"), "lin_sped_m_s: 0.1\n").unwrap();
    let said = fails(path, "drive --profile mine.yaml", 3);
    assert!(said.contains("lin_speed_m_s") && said.contains("mine.yaml"), "{said}");
    assert!(fails(path, "drive --record set --episode-time NaN", 3).contains("--episode-time"));
    assert!(fails(path, "drive --tui", 1).contains("terminal"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let said = fails(path, &format!("drive --listen {}", taken.local_addr().unwrap()), 1);
    assert!(said.contains("--listen") || said.contains("port"), "{said}");
    assert!(!path.join("set").exists());
}
