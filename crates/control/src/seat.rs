//! The driver's seat: one driver at a time, and a dead man's grip on it.
//!
//! What a driver holds counts only for a moment after it was last heard of. A driver who falls
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

use crate::errand::{Errand, Halt};
use crate::keys::Held;

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

/// What the seat says at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grip {
    /// What is held; nothing when the driver is silent or gone.
    pub held: Held,
    /// Whether something was held and its driver fell silent or left, or the loop stalled: stop
    /// hard, until everything was let go.
    pub brake: bool,
    /// Number of the driver's last message, to measure the way there and back.
    pub seq: u64,
}

/// One driver's seat.
#[derive(Debug)]
pub struct Seat {
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
    errands: u64,
    errand: Option<Errand>,
    /// Why the last errand was stopped.
    halted: Option<Halt>,
    /// Who stopped the arm; nobody has taken the wheel since.
    stopped_by: Option<String>,
}

impl Inside {
    fn halt(&mut self, why: Halt) {
        if self.errand.take().is_some() {
            self.halted = Some(why);
        }
    }
}

#[derive(Debug)]
struct Driver {
    ticket: u64,
    name: String,
    held: Held,
    heard: Instant,
    seq: u64,
    /// A stop came while something was held: nothing counts until it was let go.
    must_let_go: bool,
}

impl Seat {
    /// Silence after which a driver's grip counts as lost.
    pub const LONGEST_SILENCE: Duration = Duration::from_millis(150);

    /// Who takes the seat so soon after a driver who left holding something may be the same one,
    /// on a new line and with the same key down.
    const SAME_HAND: Duration = Duration::from_secs(10);

    /// An empty seat.
    #[must_use]
    pub fn new(longest_silence: Duration) -> Arc<Self> {
        Arc::new(Self { longest_silence, inside: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        // Nothing that is done under the lock can leave it half done.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the seat for as long as the ticket lives.
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
            Some(Driver { ticket, name, held: Held::NOTHING, heard: now, seq: 0, must_let_go });
        Ok(Ticket { seat: Arc::clone(self), number: ticket })
    }

    /// Who drives.
    #[must_use]
    pub fn driver(&self) -> Option<String> {
        self.lock().driver.as_ref().map(|driver| driver.name.clone())
    }

    /// Stops the arm, whoever asks: the driver loses the wheel, an autopilot its errand, and the
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
    pub fn grip(&self, now: Instant) -> Grip {
        let mut inside = self.lock();
        let is_stopped = inside.left_holding.is_some() || inside.stopped_by.is_some();
        let Some(driver) = &mut inside.driver else {
            return Grip { brake: is_stopped, ..Grip::default() };
        };
        if self.is_silent(driver, now) && !driver.held.is_nothing() {
            driver.must_let_go = true;
        }
        if driver.must_let_go && !driver.held.is_nothing() {
            return Grip { held: Held::NOTHING, brake: true, seq: driver.seq };
        }
        Grip { held: driver.held, brake: false, seq: driver.seq }
    }

    /// What is held now was held while the loop stood still: it does not count until it was let
    /// go.
    pub fn distrust(&self) {
        if let Some(driver) = self.lock().driver.as_mut().filter(|d| !d.held.is_nothing()) {
            driver.must_let_go = true;
        }
    }

    /// What an autopilot should be doing at `now`, with a number that is another one for every
    /// errand. A driver who is silent, gone, or moves the arm has stopped it.
    pub fn errand(&self, now: Instant) -> Option<(u64, Errand)> {
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
        inside.errand.map(|errand| (inside.errands, errand))
    }

    /// Why the last errand was stopped; none when it ended by itself.
    #[must_use]
    pub fn halted(&self) -> Option<Halt> {
        self.lock().halted
    }

    /// The autopilot has done its errand.
    pub fn finish_errand(&self) {
        self.lock().errand = None;
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

    /// Gives an order from outside the seat, as the program itself may.
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

    fn up() -> Held {
        Held::new([Key::Up], [0.0; 7])
    }

    #[test]
    fn one_driver_at_a_time() {
        let seat = Seat::new(Seat::LONGEST_SILENCE);
        let ann = seat.take("Ann").unwrap();
        assert_eq!(seat.take("Bob").unwrap_err(), Taken { by: "Ann".into() });
        ann.hold(up(), 1);
        drop(ann);
        assert_eq!(seat.driver(), None);
        let grip = seat.grip(Instant::now());
        assert!(grip.held.is_nothing() && grip.brake, "left while holding: {grip:?}");
        let bob = seat.take("Bob").unwrap();
        assert_eq!(seat.grip(Instant::now()), Grip::default());
        // It may be Ann again, with the key still down.
        bob.hold(up(), 1);
        assert_eq!(seat.grip(Instant::now()), Grip { held: Held::NOTHING, brake: true, seq: 1 });
        bob.hold(Held::NOTHING, 2);
        bob.hold(up(), 3);
        assert_eq!(seat.grip(Instant::now()), Grip { held: up(), brake: false, seq: 3 });
    }

    /// After a stop what is held counts again only when it was let go: after silence, after a
    /// silence that nobody looked at, after a stall of the loop.
    #[test]
    fn keys_are_pressed_anew_after_a_stop() {
        let silence = Duration::from_millis(30);
        for stop in ["silence", "unseen silence", "stall"] {
            let seat = Seat::new(if stop == "stall" { Duration::from_secs(60) } else { silence });
            let ticket = seat.take("Ann").unwrap();
            ticket.hold(up(), 1);
            match stop {
                "stall" => seat.distrust(),
                _ => std::thread::sleep(2 * silence),
            }
            let brakes = |seat: &Seat| {
                let grip = seat.grip(Instant::now());
                grip.held.is_nothing() && grip.brake
            };
            if stop == "silence" {
                assert!(brakes(&seat), "{stop}");
            }
            ticket.hold(up(), 2);
            assert!(brakes(&seat), "{stop}: goes on by itself");
            ticket.hold(Held::new([Key::Left], [0.0; 7]), 3);
            assert!(brakes(&seat), "{stop}: another key beside or instead");
            if stop == "silence" {
                // Letting go is never too late.
                ticket.let_go(4);
            } else {
                ticket.hold(Held::NOTHING, 4);
            }
            assert!(!seat.grip(Instant::now()).brake, "{stop}");
            ticket.hold(up(), 5);
            assert_eq!(seat.grip(Instant::now()).held, up(), "{stop}");
        }
    }

    #[test]
    fn anybody_stops_the_arm_and_it_holds_until_the_wheel_is_taken_anew() {
        let seat = Seat::new(Seat::LONGEST_SILENCE);
        let ann = seat.take("Ann").unwrap();
        ann.hold(up(), 1);
        seat.stop_all("Bob");
        // Ann's browser has not heard of it yet.
        ann.hold(up(), 2);
        let grip = seat.grip(Instant::now());
        assert!(grip.held.is_nothing() && grip.brake && !ann.drives(), "{grip:?}");
        assert_eq!((seat.driver(), seat.stopped_by()), (None, Some("Bob".into())));
        let again = seat.take("Ann").unwrap();
        // The old ticket does not take the new one's wheel away.
        drop(ann);
        assert!(again.drives() && seat.stopped_by().is_none());
        assert_eq!(seat.grip(Instant::now()), Grip::default());
        again.hold(up(), 1);
        assert!(seat.grip(Instant::now()).brake, "the key was never let go");
        again.hold(Held::NOTHING, 2);
        assert_eq!(seat.grip(Instant::now()).held, Held::NOTHING);
        again.send(Errand::All).unwrap();
        seat.stop_all("Bob");
        assert_eq!((seat.errand(Instant::now()), seat.halted()), (None, Some(Halt::Stopped)));
    }

    #[test]
    fn silence_lets_go_and_brakes() {
        let seat = Seat::new(Duration::from_millis(150));
        let ticket = seat.take("Ann").unwrap();
        ticket.hold(up(), 1);
        let now = Instant::now();
        assert_eq!(seat.grip(now + Duration::from_millis(140)).held, up());
        let late = seat.grip(now + Duration::from_millis(151));
        assert!(late.held.is_nothing() && late.brake);
        // Silence with nothing held is no emergency.
        ticket.hold(Held::NOTHING, 2);
        assert_eq!(
            seat.grip(Instant::now() + Duration::from_secs(9)),
            Grip { seq: 2, ..Grip::default() }
        );
    }

    #[test]
    fn old_messages_do_not_count() {
        let seat = Seat::new(Seat::LONGEST_SILENCE);
        let ticket = seat.take("Ann").unwrap();
        ticket.hold(Held::NOTHING, 7);
        ticket.hold(up(), 6);
        assert!(seat.grip(Instant::now()).held.is_nothing());
    }

    #[test]
    fn orders_wait_in_line_and_a_stop_is_never_lost() {
        let seat = Seat::new(Seat::LONGEST_SILENCE);
        seat.order(Order::Stop);
        for _ in 0..100 {
            seat.order(Order::Save);
        }
        seat.order(Order::Failure);
        let all: Vec<Order> = std::iter::from_fn(|| seat.next_order()).collect();
        assert_eq!((all.len(), all[0], all[15]), (16, Order::Stop, Order::Failure));
        seat.order(Order::Save);
        seat.order(Order::Stop);
        seat.forget_orders();
        assert_eq!((seat.next_order(), seat.next_order()), (Some(Order::Stop), None));
    }
}
