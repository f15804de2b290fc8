//! The driver lock: one driver at a time, and a dead-man switch on it.
//!
//! A watchdog runs on the driver: what is held counts only for a moment after it was last heard of. A driver who falls
//! silent, whose connection breaks or who leaves holds nothing, and the arm brakes. What was held
//! then does not count again by itself: nothing does until an empty grip was seen, so that every
//! key must be let go and pressed anew. The same grip
//! is on an autopilot: it works for the driver who sent it, while that driver is there, and once
//! it was stopped it does not go on by itself.

mod ticket;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::autopilot_request::{AutopilotRequest, Halt};
use crate::keys::HeldKeys;

pub use ticket::Ticket;

/// Something asked for once, not held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Save the episode, unjudged (right arrow); also ends a wait early.
    Save,
    /// Throw the episode away and record it again (left arrow).
    Discard,
    /// Save it as a success (Enter).
    Success,
    /// Save it as a failure (Backspace).
    Failure,
    /// Put the scene back to the start of the episode; throws away what is being recorded.
    Reset,
    /// Stop: keep what was recorded and end (Esc).
    Stop,
}

/// Orders that wait; more are dropped, oldest first, except [`Order::Stop`].
const MOST_ORDERS: usize = 16;

/// Somebody else drives.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{by} is driving; one driver at a time")]
pub struct Taken {
    /// Who.
    pub by: String,
}

/// What the driver lock says at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeadmanInput {
    /// What is held; nothing when the driver is silent or gone.
    pub held: HeldKeys,
    /// Whether something was held and its driver fell silent or left, or the loop stalled: stop
    /// hard, until everything was let go.
    pub brake: bool,
    /// Number of the driver's last message, to measure the way there and back.
    pub seq: u64,
}

/// One driver lock.
#[derive(Debug)]
pub struct DriverLock {
    longest_silence: Duration,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    tickets: u64,
    driver: Option<Driver>,
    /// When the last driver left while holding something.
    left_holding: Option<Instant>,
    orders: VecDeque<Order>,
    /// Errands so far, to tell one from the next.
    requests: u64,
    request: Option<AutopilotRequest>,
    /// Why the last request was stopped.
    halted: Option<Halt>,
    /// Who stopped the arm; nobody has taken the wheel since.
    stopped_by: Option<String>,
}

impl Inside {
    fn halt(&mut self, why: Halt) {
        if self.request.take().is_some() {
            self.halted = Some(why);
        }
    }
}

#[derive(Debug)]
struct Driver {
    ticket: u64,
    name: String,
    held: HeldKeys,
    heard: Instant,
    seq: u64,
    /// A stop came while something was held: nothing counts until it was let go.
    must_let_go: bool,
}

impl DriverLock {
    /// Silence after which a driver's grip counts as lost.
    pub const LONGEST_SILENCE: Duration = Duration::from_millis(150);

    /// Who takes the driver lock so soon after a driver who left holding something may be the same one,
    /// on a new line and with the same key down.
    const SAME_HAND: Duration = Duration::from_secs(10);

    /// An empty driver lock.
    #[must_use]
    pub fn new(longest_silence: Duration) -> Arc<Self> {
        Arc::new(Self { longest_silence, inside: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        // Nothing that is done under the lock can leave it half done.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the driver lock for as long as the ticket lives.
    ///
    /// # Errors
    /// When somebody else has it.
    pub fn take(self: &Arc<Self>, name: &str) -> Result<Ticket, Taken> {
        let mut inside = self.lock();
        if let Some(driver) = &inside.driver {
            return Err(Taken { by: driver.name.clone() });
        }
        inside.stopped_by = None;
        inside.tickets += 1;
        let ticket = inside.tickets;
        let (name, now) = (name.to_owned(), Instant::now());
        let left = inside.left_holding;
        let must_let_go = left.is_some_and(|left| now - left < Self::SAME_HAND);
        inside.driver =
            Some(Driver { ticket, name, held: HeldKeys::NOTHING, heard: now, seq: 0, must_let_go });
        Ok(Ticket { driver_lock: Arc::clone(self), number: ticket })
    }

    /// Who drives.
    #[must_use]
    pub fn driver(&self) -> Option<String> {
        self.lock().driver.as_ref().map(|driver| driver.name.clone())
    }

    /// Stops the arm, whoever asks: the driver loses the wheel, an autopilot its request, and the
    /// arm brakes and holds until somebody takes the wheel anew.
    pub fn stop_all(&self, by: &str) {
        let mut inside = self.lock();
        // Whoever takes the wheel next may be the same, with the key still down.
        if inside.driver.take().is_some_and(|driver| !driver.held.is_nothing()) {
            inside.left_holding = Some(Instant::now());
        }
        inside.stopped_by = Some(by.to_owned());
        inside.halt(Halt::Stopped);
    }

    /// Who stopped the arm, until somebody takes the wheel anew.
    #[must_use]
    pub fn stopped_by(&self) -> Option<String> {
        self.lock().stopped_by.clone()
    }

    /// What is held at `now`.
    #[must_use]
    pub fn grip(&self, now: Instant) -> DeadmanInput {
        let mut inside = self.lock();
        let is_stopped = inside.left_holding.is_some() || inside.stopped_by.is_some();
        let Some(driver) = &mut inside.driver else {
            return DeadmanInput { brake: is_stopped, ..DeadmanInput::default() };
        };
        if self.is_silent(driver, now) && !driver.held.is_nothing() {
            driver.must_let_go = true;
        }
        if driver.must_let_go && !driver.held.is_nothing() {
            return DeadmanInput { held: HeldKeys::NOTHING, brake: true, seq: driver.seq };
        }
        DeadmanInput { held: driver.held, brake: false, seq: driver.seq }
    }

    /// What is held now was held while the loop stood still: it does not count until it was let
    /// go.
    pub fn distrust(&self) {
        if let Some(driver) = self.lock().driver.as_mut().filter(|d| !d.held.is_nothing()) {
            driver.must_let_go = true;
        }
    }

    /// What an autopilot should be doing at `now`, with a number that is another one for every
    /// request. A driver who is silent, gone, or moves the arm has stopped it.
    pub fn request(&self, now: Instant) -> Option<(u64, AutopilotRequest)> {
        let mut inside = self.lock();
        let lost = match &inside.driver {
            None => Some(Halt::Left),
            Some(driver) if !driver.held.is_nothing() => Some(Halt::Keys),
            Some(driver) if self.is_silent(driver, now) => Some(Halt::Silence),
            Some(_) => None,
        };
        if let Some(why) = lost {
            inside.halt(why);
        }
        inside.request.map(|request| (inside.requests, request))
    }

    /// Why the last request was stopped; none when it ended by itself.
    #[must_use]
    pub fn halted(&self) -> Option<Halt> {
        self.lock().halted
    }

    /// The autopilot has done its request.
    pub fn finish_errand(&self) {
        self.lock().request = None;
    }

    fn is_silent(&self, driver: &Driver, now: Instant) -> bool {
        now.saturating_duration_since(driver.heard) > self.longest_silence
    }

    /// The next order, oldest first.
    pub fn next_order(&self) -> Option<Order> {
        self.lock().orders.pop_front()
    }

    /// Forgets orders given before now: an episode that begins must not be ended by an old key,
    /// and no autopilot goes on from one into the next.
    pub fn forget_orders(&self) {
        let mut inside = self.lock();
        inside.orders.retain(|order| *order == Order::Stop);
        inside.halt(Halt::Over);
    }

    /// Gives an order from outside the driver lock, as the program itself may.
    pub fn order(&self, order: Order) {
        let mut inside = self.lock();
        if inside.orders.len() >= MOST_ORDERS
            && let Some(oldest) = inside.orders.iter().position(|o| *o != Order::Stop)
        {
            inside.orders.remove(oldest);
        }
        if inside.orders.len() < MOST_ORDERS {
            inside.orders.push_back(order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Key;

    fn up() -> HeldKeys {
        HeldKeys::new([Key::Up], [0.0; 7])
    }

    #[test]
    fn one_driver_at_a_time() {
        let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
        let ann = driver_lock.take("Ann").unwrap();
        assert_eq!(driver_lock.take("Bob").unwrap_err(), Taken { by: "Ann".into() });
        ann.hold(up(), 1);
        drop(ann);
        assert_eq!(driver_lock.driver(), None);
        let grip = driver_lock.grip(Instant::now());
        assert!(grip.held.is_nothing() && grip.brake, "left while holding: {grip:?}");
        let bob = driver_lock.take("Bob").unwrap();
        assert_eq!(driver_lock.grip(Instant::now()), DeadmanInput::default());
        // It may be Ann again, with the key still down.
        bob.hold(up(), 1);
        assert_eq!(
            driver_lock.grip(Instant::now()),
            DeadmanInput { held: HeldKeys::NOTHING, brake: true, seq: 1 }
        );
        bob.hold(HeldKeys::NOTHING, 2);
        bob.hold(up(), 3);
        assert_eq!(
            driver_lock.grip(Instant::now()),
            DeadmanInput { held: up(), brake: false, seq: 3 }
        );
    }

    /// After a stop what is held counts again only when it was let go: after silence, after a
    /// silence that nobody looked at, after a stall of the loop.
    #[test]
    fn keys_are_pressed_anew_after_a_stop() {
        let silence = Duration::from_millis(30);
        for stop in ["silence", "unseen silence", "stall"] {
            let driver_lock =
                DriverLock::new(if stop == "stall" { Duration::from_secs(60) } else { silence });
            let ticket = driver_lock.take("Ann").unwrap();
            ticket.hold(up(), 1);
            match stop {
                "stall" => driver_lock.distrust(),
                _ => std::thread::sleep(2 * silence),
            }
            let brakes = |driver_lock: &DriverLock| {
                let grip = driver_lock.grip(Instant::now());
                grip.held.is_nothing() && grip.brake
            };
            if stop == "silence" {
                assert!(brakes(&driver_lock), "{stop}");
            }
            ticket.hold(up(), 2);
            assert!(brakes(&driver_lock), "{stop}: goes on by itself");
            ticket.hold(HeldKeys::new([Key::Left], [0.0; 7]), 3);
            assert!(brakes(&driver_lock), "{stop}: another key beside or instead");
            if stop == "silence" {
                // Letting go is never too late.
                ticket.let_go(4);
            } else {
                ticket.hold(HeldKeys::NOTHING, 4);
            }
            assert!(!driver_lock.grip(Instant::now()).brake, "{stop}");
            ticket.hold(up(), 5);
            assert_eq!(driver_lock.grip(Instant::now()).held, up(), "{stop}");
        }
    }

    #[test]
    fn anybody_stops_the_arm_and_it_holds_until_the_wheel_is_taken_anew() {
        let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
        let ann = driver_lock.take("Ann").unwrap();
        ann.hold(up(), 1);
        driver_lock.stop_all("Bob");
        // Ann's browser has not heard of it yet.
        ann.hold(up(), 2);
        let grip = driver_lock.grip(Instant::now());
        assert!(grip.held.is_nothing() && grip.brake && !ann.drives(), "{grip:?}");
        assert_eq!((driver_lock.driver(), driver_lock.stopped_by()), (None, Some("Bob".into())));
        let again = driver_lock.take("Ann").unwrap();
        // The old ticket does not take the new one's wheel away.
        drop(ann);
        assert!(again.drives() && driver_lock.stopped_by().is_none());
        assert_eq!(driver_lock.grip(Instant::now()), DeadmanInput::default());
        again.hold(up(), 1);
        assert!(driver_lock.grip(Instant::now()).brake, "the key was never let go");
        again.hold(HeldKeys::NOTHING, 2);
        assert_eq!(driver_lock.grip(Instant::now()).held, HeldKeys::NOTHING);
        again.send(AutopilotRequest::All).unwrap();
        driver_lock.stop_all("Bob");
        assert_eq!(
            (driver_lock.request(Instant::now()), driver_lock.halted()),
            (None, Some(Halt::Stopped))
        );
    }

    #[test]
    fn silence_lets_go_and_brakes() {
        let driver_lock = DriverLock::new(Duration::from_millis(150));
        let ticket = driver_lock.take("Ann").unwrap();
        ticket.hold(up(), 1);
        let now = Instant::now();
        assert_eq!(driver_lock.grip(now + Duration::from_millis(140)).held, up());
        let late = driver_lock.grip(now + Duration::from_millis(151));
        assert!(late.held.is_nothing() && late.brake);
        // Silence with nothing held is no emergency.
        ticket.hold(HeldKeys::NOTHING, 2);
        assert_eq!(
            driver_lock.grip(Instant::now() + Duration::from_secs(9)),
            DeadmanInput { seq: 2, ..DeadmanInput::default() }
        );
    }

    #[test]
    fn old_messages_do_not_count() {
        let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
        let ticket = driver_lock.take("Ann").unwrap();
        ticket.hold(HeldKeys::NOTHING, 7);
        ticket.hold(up(), 6);
        assert!(driver_lock.grip(Instant::now()).held.is_nothing());
    }

    #[test]
    fn orders_wait_in_line_and_a_stop_is_never_lost() {
        let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
        driver_lock.order(Order::Stop);
        for _ in 0..100 {
            driver_lock.order(Order::Save);
        }
        driver_lock.order(Order::Failure);
        let all: Vec<Order> = std::iter::from_fn(|| driver_lock.next_order()).collect();
        assert_eq!((all.len(), all[0], all[15]), (16, Order::Stop, Order::Failure));
        driver_lock.order(Order::Save);
        driver_lock.order(Order::Stop);
        driver_lock.forget_orders();
        assert_eq!((driver_lock.next_order(), driver_lock.next_order()), (Some(Order::Stop), None));
    }
}
