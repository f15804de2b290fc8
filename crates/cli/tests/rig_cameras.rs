//! What sees a linked arm: a stand-in's cameras and things; what is recorded is what was there.

mod common;
#[path = "common/emulated.rs"]
mod emulated;
#[path = "common/page.rs"]
mod page;
#[path = "common/wheel.rs"]
mod wheel;

use std::path::Path;
use std::time::{Duration, Instant};

use citrange_link::feetech::{Calibration, ServoJoint};
use citrange_robot::Robot;
use common::{fails, ok, small_scene, temp};
use emulated::Emulated;
use wheel::Wheel;

fn arm(folder: &Path, more: &str) -> Emulated {
    small_scene(folder);
    let words = format!("--scene small.yaml --socket arm.sock --calibration arm.json {more}");
    Emulated::with(folder, words.trim_end())
}

/// Every position that the bus gave: monotonic time in ns, and the newest of all six.
fn positions(folder: &Path) -> Vec<(u64, [i32; 6])> {
    let text = std::fs::read_to_string(folder.join("positions.csv")).unwrap();
    let mut last = [i32::MIN; 6];
    let mut rows = Vec::new();
    for line in text.lines() {
        let numbers: Vec<i64> = line.split(',').map(|word| word.parse().unwrap()).collect();
        last[numbers[1] as usize - 1] = numbers[2] as i32;
        if numbers[1] == 6 && last.iter().all(|count| *count > i32::MIN) {
            rows.push((numbers[0] as u64, last));
        }
    }
    rows
}

#[test]
fn a_recording_with_cameras_is_what_was_there() {
    let folder = temp();
    let here = folder.path();
    let mut arm = arm(here, "--log positions.csv");
    let words = format!(
        "small.yaml --rig so101:{} --calibration arm.json --camera front=emulated:arm.sock@10 \
         --record set --countdown 0.1 --reset-time 0.1 --episodes 1 --max-lost-pictures 100",
        arm.port
    );
    let mut drive = Wheel::start(here, &words);
    assert_eq!(drive.hello["stage"]["cameras"][0]["name"], "front");
    drive.wait_for("begin");
    drive.drive(&["left"], 1.0);
    // A camera that stands still is said to, and its pictures count as lost.
    let begun = Instant::now();
    arm.order("camera front hang");
    drive.until(&["right"], "trouble", |drive| {
        drive.status["troubles"].to_string().contains("camera front: no picture")
    });
    let seen_s = begun.elapsed().as_secs_f64();
    assert!(seen_s < 2.5, "0.4 s, and what a busy machine adds: {seen_s}");
    drive.drive(&["right"], 0.5);
    arm.order("camera front well");
    drive.until(&["left"], "well", |drive| drive.status["troubles"].as_array().unwrap().is_empty());
    drive.drive(&["left"], 0.5);
    drive.order("save");
    let saved = drive.wait_for("saved");
    let lost = saved["dropped_pictures"].as_u64().unwrap();
    assert!(lost > 2, "{saved}");
    drive.end();
    arm.end();
    ok(here, "data check set");

    let dataset = citrange_tape::Dataset::open(&here.join("set")).unwrap();
    let (tape, _) = dataset.tape(0).unwrap().unwrap();
    let times: Vec<_> = tape.frames.iter().map(|frame| frame.times.clone().unwrap()).collect();
    // A picture's time is when it was taken: before the frame, ever later, and the same where it
    // is not another one.
    let mut fresh = 0;
    for (before, now) in times.iter().zip(&times[1..]) {
        let ((was, _), (is, is_fresh)) = (before.cameras[0], now.cameras[0]);
        assert!(is >= was && is <= now.at_ns, "{was} {is} {}", now.at_ns);
        // What was taken before the episode began has its time.
        assert!(!is_fresh || is > was || is == 0, "fresh, and of the same time: {is}");
        fresh += usize::from(is_fresh);
    }
    let seconds = times.last().unwrap().at_ns as f64 * 1e-9;
    assert!(
        fresh as f64 > 2.0 * seconds && (fresh as f64) < 10.5 * seconds,
        "{fresh} in {seconds} s"
    );

    // Every sample is what the bus gave at its read time, within a count.
    let calibration = Calibration::load(&here.join("arm.json")).unwrap();
    let robot = Robot::load("so101").unwrap();
    let joints: Vec<ServoJoint> = robot
        .joints()
        .iter()
        .map(|joint| ServoJoint::new(joint, *calibration.motor(&joint.name).unwrap()))
        .collect();
    let log = positions(here);
    let counts: Vec<[i32; 6]> = tape
        .frames
        .iter()
        .map(|frame| std::array::from_fn(|j| joints[j].count(frame.joint_pos[j])))
        .collect();
    let agrees = |row: &[i32; 6], frame: &[i32; 6]| {
        row.iter().zip(frame).zip(&joints).all(|((is, seen), joint)| {
            // The gripper's is limited to its range.
            (joint.count(joint.position(*is)) - seen).abs() <= 1
        })
    };
    // The clocks differ by a constant, which the first frame in motion tells; all others must have
    // it, too.
    let offsets = |at: usize| -> Vec<i64> {
        let rows = log.iter().filter(|(_, row)| agrees(row, &counts[at]));
        rows.map(|(at_ns, _)| *at_ns as i64 - times[at].joints_at_ns as i64).collect()
    };
    // What is read, noted, sent, received: a busy machine may hold up either side.
    const NEAR_NS: i64 = 30_000_000;
    let moving = (0..counts.len()).min_by_key(|at| {
        let count = offsets(*at).len();
        if count == 0 { usize::MAX } else { count }
    });
    let offset = offsets(moving.unwrap());
    let best = offset.iter().map(|offset| {
        (0..counts.len())
            .filter(|at| offsets(*at).iter().any(|o| (o - offset).abs() < NEAR_NS))
            .count()
    });
    let (agree, all) = (best.max().unwrap(), counts.len());
    assert!(all > 30, "{all} frames");
    assert_eq!(agree, all, "samples that were on the bus at their time");
}

#[test]
fn what_a_camera_cannot_do_is_refused_with_what_it_can() {
    let folder = temp();
    let here = folder.path();
    let mut arm = arm(here, "");
    let drive = |camera: &str| {
        format!("drive small.yaml --rig so101:{} --calibration arm.json {camera}", arm.port)
    };
    let said = fails(here, &drive("--camera front=emulated:arm.sock@640x480"), 5);
    assert!(said.contains("cannot do 640x480") && said.contains("MJPG 64x48 at 30 Hz"), "{said}");
    let said = fails(here, &drive("--camera top=emulated:arm.sock"), 5);
    assert!(said.contains("there are: front, wrist"), "{said}");
    let said = fails(here, &drive("--camera front=emulated:other.sock"), 5);
    assert!(said.contains("no stand-in listens there"), "{said}");
    let said = fails(here, &drive("--camera front=/dev/videoNONE3"), 5);
    assert!(said.contains("is not there"), "{said}");
    let twice = "--camera a=emulated:arm.sock:front --camera a=emulated:arm.sock:wrist";
    assert!(fails(here, &drive(twice), 3).contains("two cameras are called a"));
    let collect =
        format!("collect small.yaml --rig so101:{} --calibration arm.json --out set", arm.port);
    assert!(fails(here, &collect, 3).contains("--things SOCKET"));
    arm.order("look");
    arm.end();
}

#[test]
fn the_autopilot_fetches_an_orange_on_a_linked_arm() {
    let folder = temp();
    let here = folder.path();
    let mut arm = arm(here, "");
    let words = format!(
        "collect small.yaml --rig so101:{} --calibration arm.json --things arm.sock --camera \
         front=emulated:arm.sock@10 --targets 1 --successes 1 --max-episodes 3 --out set --json",
        arm.port
    );
    ok(here, &words);
    assert_eq!(arm.torques(), [false; 6]);
    ok(here, "data check set");
    // By the stand-in's own physics: on the plate, at rest, and nobody holds it.
    std::thread::sleep(Duration::from_millis(500));
    arm.order("look");
    let things = arm.last["things"].clone();
    let at = |name: &str| -> Vec<f64> {
        let pos = things[name]["pos_m"].as_array().unwrap();
        pos.iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let (orange, plate) = (at("orange_1"), at("plate"));
    let away = (orange[0] - plate[0]).hypot(orange[1] - plate[1]);
    assert!(away < 0.088 && orange[2] < 0.06, "{away} m from the plate's middle, {orange:?}");
    arm.end();
}
