//! `drive --leader`: an arm in a person's hand, and the one that follows it, both on emulated buses.

mod common;
#[path = "common/emulated.rs"]
mod emulated;
#[path = "common/page.rs"]
mod page;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{citrange, fails, ok, stderr, temp};
use emulated::Emulated;
use page::{Page, Running};
use rustix::process::{Pid, Signal, kill_process};

/// Where each servo's shaft is, in counts.
fn counts(arm: &mut Emulated) -> Vec<f64> {
    arm.order("look").iter().map(|servo| servo["counts"].as_f64().unwrap()).collect()
}

fn words(leader: &Emulated, arm: &Emulated, more: &str) -> String {
    let words = format!(
        "block_box --rig so101:{} --calibration arm.json --leader so101:{} \
         --leader-calibration leader.json {more}",
        arm.port, leader.port
    );
    format!("--listen 127.0.0.1:0 {}", words.trim_end())
}

/// A leader and a follower, the leader held by a hand where it stands.
fn both(folder: &Path) -> (Emulated, Emulated) {
    let mut leader = Emulated::with(folder, "--calibration leader.json");
    for (id, count) in (1..).zip(counts(&mut leader)) {
        leader.order(&format!("turn {id} {count:.0}"));
    }
    (leader, Emulated::start(folder))
}

#[test]
fn an_arm_follows_its_leader_and_is_recorded_and_replayed() {
    let folder = temp();
    let here = folder.path();
    let (mut leader, mut arm) = both(here);
    // Far from its follower when it begins.
    let start = counts(&mut arm);
    leader.order(&format!("turn 1 {:.0}", start[0] + 350.0));
    std::thread::sleep(Duration::from_millis(400));
    let more = "--record set --episodes 1 --episode-time 3 --countdown 0.2 --reset-time 0.1";
    let drive = Running::start(here, &words(&leader, &arm, more));
    let mut page = Page::open(drive.link());
    let shown: Vec<&str> = page.hello["stage"]["bodies"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|b| b.as_str())
        .collect();
    assert!(
        shown.contains(&"robot0/gripper") && shown.contains(&"leader: robot0/gripper"),
        "{shown:?}"
    );
    page.until(&[], |status| status["leader"]["away_deg"].as_f64().is_some_and(|away| away > 10.0));
    drive.wait_for("begin");
    let near = counts(&mut arm)[0] - counts(&mut leader)[0];
    assert!(near.abs() < 90.0, "it came before the recording began: {near} counts away");
    for away in [200.0, 420.0, 380.0] {
        leader.order(&format!("turn 1 {:.0}", start[0] + away));
        leader.order(&format!("turn 3 {:.0}", start[2] - away / 3.0));
        std::thread::sleep(Duration::from_millis(600));
    }
    assert_eq!(leader.torques(), [false; 6], "a leader is never held");
    assert_eq!(arm.torques(), [true; 6]);
    let saved = drive.wait_for("saved");
    assert_eq!(saved["outcome"]["reason"], "time_up", "{saved}");
    drive.wait_for("end");
    ok(here, "data check set");
    let dataset = citrange_tape::Dataset::open(&here.join("set")).unwrap();
    let (tape, _) = dataset.tape(0).unwrap().unwrap();
    assert_eq!(tape.header.pilot, "leader");
    let pan = |at: usize| tape.frames[at].joint_pos[0];
    let turned = (0..tape.len())
        .map(pan)
        .fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)));
    assert!(turned.1 - turned.0 > 0.15, "it followed: {turned:?}");
    drop((drive, page));
    let rig = format!("--rig so101:{} --calibration arm.json", arm.port);
    let told = common::json(&ok(here, &format!("replay set {rig} --json")));
    assert!(told["episodes"][0]["mean_joint_error_rad"].as_f64().unwrap() < 0.06, "{told}");
    assert_eq!(arm.torques(), [false; 6]);
    arm.end();
    leader.end();
}

#[test]
fn a_stop_holds_the_arm_and_a_lost_leader_ends_it() {
    let folder = temp();
    let here = folder.path();
    let (mut leader, mut arm) = both(here);
    let mut drive = Running::start(here, &words(&leader, &arm, ""));
    let mut page = Page::open(drive.link());
    page.until(&[], |status| status["leader"].is_object());
    // Anybody who looks may stop it.
    page.say(&serde_json::json!({"type": "stop"}));
    page.until(&[], |status| status["brake"] == true);
    let held = counts(&mut arm)[0];
    let at = counts(&mut leader)[0];
    leader.order(&format!("turn 1 {:.0}", at + 300.0));
    std::thread::sleep(Duration::from_millis(900));
    let moved = counts(&mut arm)[0] - held;
    assert!(moved.abs() < 12.0, "stopped, and moved by {moved} counts");
    page.take();
    let end = Instant::now() + Duration::from_secs(30);
    while (counts(&mut arm)[0] - held).abs() < 200.0 {
        assert!(Instant::now() < end, "it does not go on");
        page.look();
    }
    // Its cable is pulled: nothing moves any more, and the arm is let go.
    kill_process(Pid::from_child(&leader.child), Signal::KILL).unwrap();
    let begun = Instant::now();
    let status = drive.child.wait().unwrap();
    assert_eq!(status.code(), Some(5), "a robot's fault");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert_eq!(arm.torques(), [false; 6]);
    arm.end();
}

#[test]
fn what_cannot_lead_is_refused() {
    let folder = temp();
    let here = folder.path();
    let arm = Emulated::start(here);
    let rig = format!("so101:{}", arm.port);
    let said = fails(here, "drive block_box --leader so101:/dev/ttyNONE8", 2);
    assert!(said.contains("--rig"), "{said}");
    let itself = format!("drive block_box --rig {rig} --calibration arm.json --leader {rig}");
    assert!(fails(here, &itself, 3).contains("the arm itself"));
    let home = here.to_str().unwrap();
    let env = [("XDG_CONFIG_HOME", home), ("HF_HOME", home)];
    let other = Emulated::with(here, "--calibration other.json");
    let none =
        format!("drive block_box --rig {rig} --calibration arm.json --leader so101:{}", other.port);
    let output = citrange(here, &none.split(' ').collect::<Vec<_>>(), &env);
    let said = stderr(&output);
    assert!(said.contains("the leader's calibration") && said.contains("so_leader"), "{said}");
    other.end();
    arm.end();
}

#[test]
fn an_attached_emulator_ends_with_whoever_started_it() {
    let folder = temp();
    let mut arm = Emulated::with(folder.path(), "--attached");
    let orders = std::mem::replace(&mut arm.orders, {
        let mut idle = std::process::Command::new("true");
        idle.stdin(std::process::Stdio::piped()).spawn().unwrap().stdin.take().unwrap()
    });
    drop(orders);
    let end = Instant::now() + Duration::from_secs(20);
    while arm.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "it stays");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(arm.child.wait().unwrap().code(), Some(0));
}
