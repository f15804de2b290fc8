//! After a dead-man stop nothing moves by itself: what is held counts again only when an empty grip
//! was seen.

use std::time::Duration;

use crate::common::temp;
use crate::wheel::Wheel;

/// Keys that are still down do not move the arm; let go and pressed anew they do.
fn must_press_anew(wheel: &mut Wheel, after: &str) {
    wheel.until(&["up"], "the brake", |w| w.status["brake"] == true);
    // Long enough to come to rest.
    wheel.insist(&["up"], 1.0);
    let rest = wheel.targets.clone();
    wheel.insist(&["up"], 0.6);
    assert_eq!(wheel.targets, rest, "after {after} it goes on by itself");
    // Another key beside it changes nothing.
    wheel.insist(&["up", "left"], 0.4);
    assert_eq!((&wheel.targets, &wheel.status["brake"]), (&rest, &true.into()), "after {after}");
    wheel.until(&[], "an empty grip", |w| w.status["brake"] == false);
    assert_eq!(wheel.targets, rest, "after {after}");
    wheel.drive(&["up"], 0.4);
    assert_ne!(wheel.targets, rest, "after {after} it does not move any more");
}

#[test]
fn keys_are_pressed_anew_after_silence_and_on_a_new_line() {
    let folder = temp();
    let mut wheel = Wheel::start(folder.path(), "block_box --cameras none");
    wheel.drive(&["up"], 0.5);
    wheel.until(&[], "no brake", |w| w.status["brake"] == false);
    wheel.insist(&["up"], 0.5);
    // A frozen browser: nothing is said, and then as if nothing had been.
    std::thread::sleep(Duration::from_millis(1000));
    must_press_anew(&mut wheel, "silence");

    wheel.until(&[], "no brake", |w| w.status["brake"] == false);
    wheel.insist(&["up"], 0.4);
    wheel.cut();
    wheel.come_again();
    must_press_anew(&mut wheel, "a cut line");
    wheel.order("stop");
    wheel.end();
}
