//! Targets stay within speed, acceleration and jerk of the robot's description: short taps near
//! full stretch, and an autopilot that is taken over from. More: `soak.rs`, and
//! `crates/control/tests/all/limiter.rs`.

use serde_json::json;

use crate::common::{json, ok, temp};
use crate::wheel::{Wheel, motion};

#[test]
fn short_taps_near_full_stretch_stay_within_limits() {
    let folder = temp();
    let words = "block_box --record set --cameras none --countdown 0 --episodes 1";
    let mut wheel = Wheel::start(folder.path(), words);
    wheel.wait_for("begin");
    // Out until reach limits it, then taps against the end.
    wheel.drive(&["up", "forward"], 4.0);
    for _ in 0..6 {
        wheel.drive(&["forward"], 0.1);
        wheel.drive(&["backward", "left"], 0.08);
        wheel.drive(&["forward", "up", "open"], 0.05);
        wheel.drive(&[], 0.05);
    }
    wheel.order("success");
    wheel.wait_for("saved");
    wheel.end();
    let motion = motion(&folder.path().join("set"), 0);
    println!("{:?} of the limits", motion.most);
    assert!(motion.most.iter().all(|share| *share <= 1.0), "{:?} of the limits", motion.most);
    assert!(motion.most[2] > 0.5, "nothing was tested: {:?}", motion.most);
}

#[test]
fn an_autopilot_and_its_hand_over_stay_within_limits() {
    let folder = temp();
    let words = "orange_plate --record set --cameras none --countdown 0 --episodes 1 --seed 3";
    let mut wheel = Wheel::start(folder.path(), words);
    wheel.wait_for("begin");
    for target in [1, 2, 3] {
        wheel.drive(&[], 0.3);
        wheel.fly(target);
        // Stopped in the middle of a motion, by a key.
        wheel.drive(&[], 1.5);
        wheel.drive(&["up"], 0.3);
    }
    wheel.order("failure");
    wheel.wait_for("saved");
    wheel.end();
    let report = json(&ok(folder.path(), "replay set --verify --json"));
    assert_eq!(report["differing"], json!(0));
    let motion = motion(&folder.path().join("set"), 0);
    println!("{:?} of the limits", motion.most);
    assert!(motion.most.iter().all(|share| *share <= 1.0), "{:?} of the limits", motion.most);
}
