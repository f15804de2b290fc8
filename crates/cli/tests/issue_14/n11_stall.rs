//! After a stall the loop does not catch up: late ticks are skipped, the arm brakes to rest within
//! its limits, what is held does not count until it is pressed anew, and the episode says so.

use std::time::Duration;

use rustix::process::Signal;

use crate::common::{ok, temp};
use crate::wheel::{Wheel, motion};

#[test]
fn nothing_is_caught_up_and_the_arm_rests() {
    let folder = temp();
    let words = "block_box --record set --cameras none --countdown 0 --episodes 1";
    let mut wheel = Wheel::start(folder.path(), words);
    wheel.wait_for("begin");
    wheel.drive(&["up"], 1.2);
    let stalls = wheel.status["stalls"].as_u64().unwrap();
    wheel.until(&[], "no brake", |w| w.status["brake"] == false);
    wheel.insist(&["up"], 0.4);
    wheel.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(1500));
    wheel.signal(Signal::CONT);
    // The key stays down, and the arm comes to rest.
    wheel.until(&["up"], "a stall", |w| w.status["stalls"].as_u64().unwrap() > stalls);
    wheel.insist(&["up"], 1.0);
    let rest = wheel.targets.clone();
    wheel.insist(&["up"], 0.5);
    assert_eq!((&wheel.targets, &wheel.status["brake"]), (&rest, &true.into()));
    // Pressed anew it goes on.
    wheel.until(&[], "an empty grip", |w| w.status["brake"] == false);
    wheel.drive(&["up"], 0.5);
    assert_ne!(wheel.targets, rest);
    wheel.order("success");
    let saved = wheel.wait_for("saved");
    assert!(saved["stalls"].as_u64().unwrap() >= 1, "{saved}");
    assert!(wheel.end()["stalls"].as_u64().unwrap() >= 1);
    ok(folder.path(), "replay set --verify");

    let root = folder.path().join("set");
    let motion = motion(&root, 0);
    assert!(motion.most.iter().all(|share| *share <= 1.0), "{:?} of the limits", motion.most);
    assert!(motion.unheld_s <= 1.5 * motion.stop_s, "moved for {} s", motion.unheld_s);
    // The tape knows where frames are not evenly spaced, and from there on none come faster than
    // their rate.
    let dataset = citrange_tape::Dataset::open(&root).unwrap();
    let (tape, _) = dataset.tape(0).unwrap().unwrap();
    let stall = tape.events.iter().find(|(_, event)| {
        event.name() == "stall" && event.detail()["late_ms"].as_f64().unwrap() > 1000.0
    });
    let rates = tape.header.rig.rates;
    let frame = (stall.unwrap().0 / u64::from(rates.ticks_per_frame())) as usize + 1;
    let after: Vec<u64> = tape.frames[frame..].iter().map(|f| f.wall_ns).collect();
    assert!(after.len() > 30, "{} frames after the stall", after.len());
    let least = 10.0 / f64::from(rates.frame_hz) * 0.8;
    for frames in after.windows(11) {
        let secs = (frames[10] - frames[0]) as f64 * 1e-9;
        assert!(secs > least, "10 frames in {secs} s");
    }
}
