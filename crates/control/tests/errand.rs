//! An autopilot works only while the driver who sent it is there.

use std::time::{Duration, Instant};

use citrange_control::{Busy, Errand, Halt, Held, Key, Seat};

fn up() -> Held {
    Held::new([Key::Up], [0.0; 7])
}

#[test]
fn an_errand_lasts_while_its_driver_is_there() {
    let seat = Seat::new(Duration::from_millis(150));
    let ticket = seat.take("Ann").unwrap();
    ticket.send(Errand::Target(2)).unwrap();
    assert_eq!(ticket.send(Errand::All), Err(Busy::Flying));
    let now = Instant::now();
    assert_eq!(seat.errand(now + Duration::from_millis(100)), Some((1, Errand::Target(2))));
    assert_eq!(seat.errand(now + Duration::from_millis(200)), None);
    // It does not go on by itself when the driver is heard of again.
    ticket.hold(Held::NOTHING, 1);
    assert_eq!((seat.errand(Instant::now()), seat.halted()), (None, Some(Halt::Silence)));
    // A short press between two ticks of the loop stops it too.
    ticket.send(Errand::All).unwrap();
    assert_eq!((seat.errand(Instant::now()), seat.halted()), (Some((2, Errand::All)), None));
    ticket.hold(up(), 2);
    assert_eq!(ticket.send(Errand::All), Err(Busy::Holding));
    ticket.hold(Held::NOTHING, 3);
    assert_eq!((seat.errand(Instant::now()), seat.halted()), (None, Some(Halt::Keys)));
    ticket.send(Errand::All).unwrap();
    seat.forget_orders();
    assert_eq!((seat.errand(Instant::now()), seat.halted()), (None, Some(Halt::Over)));
    ticket.send(Errand::All).unwrap();
    drop(ticket);
    assert_eq!((seat.errand(Instant::now()), seat.halted()), (None, Some(Halt::Left)));
    let bob = seat.take("Bob").unwrap();
    assert_eq!(seat.errand(Instant::now()), None);
    bob.send(Errand::All).unwrap();
    seat.finish_errand();
    bob.halt(Halt::Asked);
    assert_eq!((bob.is_flying(), seat.halted()), (false, None));
}

#[test]
fn silence_that_the_loop_did_not_see_and_old_words_count_as_silence() {
    let seat = Seat::new(Duration::from_millis(30));
    let ticket = seat.take("Ann").unwrap();
    ticket.send(Errand::All).unwrap();
    std::thread::sleep(Duration::from_millis(40));
    ticket.hold(Held::NOTHING, 1);
    assert_eq!((ticket.is_flying(), seat.halted()), (false, Some(Halt::Silence)));
    ticket.send(Errand::All).unwrap();
    std::thread::sleep(Duration::from_millis(40));
    ticket.let_go(2);
    assert_eq!((seat.errand(Instant::now()), seat.halted()), (None, Some(Halt::Silence)));
}
