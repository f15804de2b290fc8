//! An autopilot behind the real server: the driver sends it, and it works while the driver is there.

mod common;

use std::time::{Duration, Instant};

use common::{Client, Rig, rig};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_millis(200);
const WORK: Duration = Duration::from_millis(300);

/// The arm must stop within 0.2 s. A busy machine may delay some tries, not all.
fn assert_quick(stops: &[Duration]) {
    assert!(stops.iter().min().is_some_and(|stop| *stop <= SOON), "{stops:?}");
    assert!(stops.iter().all(|stop| *stop < Duration::from_secs(1)), "{stops:?}");
}

/// Sends it and sees that it works; a busy machine may make silence where there was none.
async fn sent(rig: &Rig, ann: &mut Client, target: Value) {
    for _ in 0..10 {
        ann.listen(Duration::from_millis(100)).await;
        let before = rig.y_m();
        ann.fly(target.clone()).await;
        ann.attend(WORK).await;
        ann.keys(&[]).await;
        if rig.flight().flying {
            assert!(rig.y_m() > before + 0.1, "{}", rig.y_m());
            return;
        }
    }
    panic!("it does not fly: {:?}", rig.flight());
}

#[tokio::test]
async fn the_driver_sends_it_by_key_and_by_name_and_stops_it() {
    let rig = rig();
    let mut ann = rig.join().await;
    ann.take().await;
    for (target, request) in
        [(json!(2), "Target(2)"), (json!("apple"), "Target(1)"), (json!(0), "All")]
    {
        sent(&rig, &mut ann, target.clone()).await;
        assert_eq!(rig.flight().target.as_deref(), Some(request));
        ann.fly(target).await;
        let error = ann.json("error").await;
        assert!(error["message"].as_str().unwrap().contains("stop it first"), "{error}");
        ann.send(&json!({"type": "halt", "why": "asked"})).await;
        rig.moved_after(Instant::now()).await;
        let status = ann.json("status").await;
        assert!(status["flight"].is_object(), "{status}");
        assert_eq!(rig.flight().message, "you said so");
    }
    ann.listen(SOON).await;
    for (target, why) in [(json!(3), "1 apple, 2 pear"), (json!("plum"), "no target plum")] {
        ann.fly(target).await;
        let error = ann.json("error").await;
        assert!(error["message"].as_str().unwrap().contains(why), "{error}");
    }
    assert_eq!(ann.json("status").await["refused"]["bad"], 0, "unknown is not malformed");
    ann.fly(json!(17)).await;
    let error = ann.json("error").await;
    assert!(error["message"].as_str().unwrap().contains("0 to 9"), "{error}");
    ann.listen(SOON).await;
    assert_eq!(ann.json("status").await["refused"]["bad"], 1);
    assert!(!rig.flight().flying);
}

#[tokio::test]
async fn a_viewer_neither_sends_nor_stops_it() {
    let rig = rig();
    let (mut ann, mut bob) = (rig.join().await, rig.join().await);
    ann.take().await;
    bob.listen(SOON).await;
    bob.fly(json!(1)).await;
    let error = bob.json("error").await;
    assert!(error["message"].as_str().unwrap().contains("not driving"), "{error}");
    bob.attend(WORK).await;
    assert_eq!(rig.y_m(), 0.0);
    sent(&rig, &mut ann, json!(1)).await;
    bob.send(&json!({"type": "halt", "why": "asked"})).await;
    ann.attend(WORK).await;
    assert!(rig.flight().flying, "{:?}", rig.flight());
}

#[tokio::test]
async fn silence_stops_it_and_it_does_not_go_on_by_itself() {
    let rig = rig();
    let mut ann = rig.join().await;
    ann.take().await;
    let mut stops = Vec::new();
    for _ in 0..3 {
        sent(&rig, &mut ann, json!(1)).await;
        stops.push(rig.moved_after(Instant::now()).await);
        assert!(rig.flight().message.contains("nothing was heard"), "{:?}", rig.flight());
        let before = rig.y_m();
        ann.attend(WORK).await;
        assert_eq!(rig.y_m(), before, "it went on by itself");
    }
    assert_quick(&stops);
    // Words that lay somewhere for 200 ms do not show that somebody is there.
    sent(&rig, &mut ann, json!(1)).await;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(400) {
        let (echo, since) = ann.stamp();
        ann.keys_stamped(&[], (echo - 200.0).max(0.0), since).await;
        ann.listen(Duration::from_millis(40)).await;
    }
    assert!(rig.flight().message.contains("nothing was heard"), "{:?}", rig.flight());
}

#[tokio::test]
async fn a_movement_key_stops_it_and_moves_the_arm() {
    let rig = rig();
    let mut ann = rig.join().await;
    ann.take().await;
    sent(&rig, &mut ann, json!(1)).await;
    ann.keys(&["forward"]).await;
    ann.listen(Duration::from_millis(60)).await;
    let (x, y) = (rig.x_m(), rig.y_m());
    assert_eq!(rig.flight().message, "a movement key was pressed");
    ann.fly(json!(1)).await;
    ann.push(WORK).await;
    assert!(rig.x_m() > x + 0.1, "the key drives");
    assert_eq!(rig.y_m(), y, "it cannot be sent while a key is held");
    ann.keys(&[]).await;
    ann.attend(WORK).await;
    assert_eq!(rig.y_m(), y);
}

#[tokio::test]
async fn a_hidden_page_a_lost_focus_and_a_broken_line_stop_it() {
    let rig = rig();
    for (why, words) in [("hidden", "hidden"), ("focus", "focus")] {
        let mut ann = rig.join().await;
        ann.take().await;
        sent(&rig, &mut ann, json!(1)).await;
        ann.send(&json!({"type": "halt", "why": why})).await;
        ann.attend(WORK).await;
        assert!(rig.flight().message.contains(words), "{:?}", rig.flight());
    }
    while rig.driver_lock.driver().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut stops = Vec::new();
    for _ in 0..3 {
        let mut ann = rig.join().await;
        ann.take().await;
        sent(&rig, &mut ann, json!(2)).await;
        let end = Instant::now();
        drop(ann);
        stops.push(rig.moved_after(end).await);
        assert_eq!(rig.flight().message, "the driver left");
        // The next driver does not inherit it.
        let mut bob = rig.join().await;
        assert_eq!(bob.take().await["driving"], true);
        let before = rig.y_m();
        bob.attend(WORK).await;
        assert_eq!(rig.y_m(), before);
        bob.send(&json!({"type": "leave"})).await;
        bob.json("seat").await;
    }
    assert_quick(&stops);
}
