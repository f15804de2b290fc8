//! An autopilot works only while the driver who sent it is there.

use std::time::{Duration, Instant};

use citrange_teleop::{AutopilotRequest, Busy, DriverLock, Halt, HeldKeys, Key};

fn up() -> HeldKeys {
    HeldKeys::new([Key::Up], [0.0; 7])
}

#[test]
fn an_errand_lasts_while_its_driver_is_there() {
    let driver_lock = DriverLock::new(Duration::from_millis(150));
    let ticket = driver_lock.take("Ann").unwrap();
    ticket.send(AutopilotRequest::Target(2)).unwrap();
    assert_eq!(ticket.send(AutopilotRequest::All), Err(Busy::Flying));
    let now = Instant::now();
    assert_eq!(
        driver_lock.request(now + Duration::from_millis(100)),
        Some((1, AutopilotRequest::Target(2)))
    );
    assert_eq!(driver_lock.request(now + Duration::from_millis(200)), None);
    // It does not go on by itself when the driver is heard of again.
    ticket.hold(HeldKeys::NOTHING, 1);
    assert_eq!(
        (driver_lock.request(Instant::now()), driver_lock.halted()),
        (None, Some(Halt::Silence))
    );
    // A short press between two ticks of the loop stops it too.
    ticket.send(AutopilotRequest::All).unwrap();
    assert_eq!(
        (driver_lock.request(Instant::now()), driver_lock.halted()),
        (Some((2, AutopilotRequest::All)), None)
    );
    ticket.hold(up(), 2);
    assert_eq!(ticket.send(AutopilotRequest::All), Err(Busy::Holding));
    ticket.hold(HeldKeys::NOTHING, 3);
    assert_eq!(
        (driver_lock.request(Instant::now()), driver_lock.halted()),
        (None, Some(Halt::Keys))
    );
    ticket.send(AutopilotRequest::All).unwrap();
    driver_lock.forget_orders();
    assert_eq!(
        (driver_lock.request(Instant::now()), driver_lock.halted()),
        (None, Some(Halt::Over))
    );
    ticket.send(AutopilotRequest::All).unwrap();
    drop(ticket);
    assert_eq!(
        (driver_lock.request(Instant::now()), driver_lock.halted()),
        (None, Some(Halt::Left))
    );
    let bob = driver_lock.take("Bob").unwrap();
    assert_eq!(driver_lock.request(Instant::now()), None);
    bob.send(AutopilotRequest::All).unwrap();
    driver_lock.finish_errand();
    bob.halt(Halt::Asked);
    assert_eq!((bob.is_flying(), driver_lock.halted()), (false, None));
}

#[test]
fn silence_that_the_loop_did_not_see_and_old_words_count_as_silence() {
    let driver_lock = DriverLock::new(Duration::from_millis(30));
    let ticket = driver_lock.take("Ann").unwrap();
    ticket.send(AutopilotRequest::All).unwrap();
    std::thread::sleep(Duration::from_millis(40));
    ticket.hold(HeldKeys::NOTHING, 1);
    assert_eq!((ticket.is_flying(), driver_lock.halted()), (false, Some(Halt::Silence)));
    ticket.send(AutopilotRequest::All).unwrap();
    std::thread::sleep(Duration::from_millis(40));
    ticket.let_go(2);
    assert_eq!(
        (driver_lock.request(Instant::now()), driver_lock.halted()),
        (None, Some(Halt::Silence))
    );
}
