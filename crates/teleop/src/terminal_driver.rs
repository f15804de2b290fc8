//! Somebody at a terminal who drives: what its keys do, by the [table](crate::KEY_TABLE). Reading
//! the terminal and drawing on it is somebody else's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::autopilot_request::Halt;
use crate::driver_lock::{DriverLock, Order, Taken, Ticket};
use crate::key_table::{Action, Binding};
use crate::terminal_keys::{Sender, Telling, TerminalKeys};

/// Who drives, for the others.
const NAME: &str = "the terminal";
/// A key that is still down from an order before repeats within this time: it answers no question.
const REPEAT: Duration = Duration::from_secs(1);

/// What a terminal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalInput<'a> {
    /// A key went down; `cap` is what is printed on it.
    Press(&'a str),
    /// It is still down.
    Repeat(&'a str),
    /// It went up.
    Release(&'a str),
    /// Another window has the keys.
    FocusLost,
    /// Control and C.
    Interrupt,
}

/// A driver at a terminal.
#[derive(Debug)]
pub struct TerminalDriver {
    driver_lock: Arc<DriverLock>,
    ticket: Ticket,
    keys: TerminalKeys,
    sender: Sender,
    /// Targets of the autopilot; none when there is no autopilot.
    targets: usize,
    /// Counts what was said to the driver lock.
    seq: u64,
    /// The last order, and when its key was last heard of.
    ordered: Option<(Order, Instant)>,
}

impl TerminalDriver {
    /// Takes the driver lock. `targets` is the number of targets of the autopilot.
    ///
    /// # Errors
    /// When somebody else drives.
    pub fn new(driver_lock: Arc<DriverLock>, targets: usize) -> Result<Self, Taken> {
        let ticket = driver_lock.take(NAME)?;
        let (keys, sender) = (TerminalKeys::new(Telling::Presses), Sender::default());
        Ok(Self { driver_lock, ticket, keys, sender, targets, seq: 0, ordered: None })
    }

    /// How the terminal tells keys, known once it was asked; until then it tells presses only.
    pub fn tells(&mut self, telling: Telling) {
        self.keys = TerminalKeys::new(telling);
    }

    /// What to say about the wheel, which somebody at a page may have taken away by stopping the
    /// arm; none while it is ours.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        if self.ticket.drives() {
            return None;
        }
        Some(match (self.driver_lock.driver(), self.driver_lock.stopped_by()) {
            (Some(driver), _) => format!("{driver} drives"),
            (None, Some(by)) => format!("STOPPED by {by}: press T to take the wheel again"),
            (None, None) => "press T to take the wheel".to_owned(),
        })
    }

    /// Renews the grip; to be called well within the driver lock's longest silence.
    pub fn hold(&mut self, now: Instant) {
        self.seq += 1;
        self.ticket.hold(self.keys.held(now), self.seq);
    }

    /// The terminal is lost: what was recorded is kept, and the session stops.
    pub fn lost(&self) {
        self.driver_lock.order(Order::Stop);
    }

    /// One thing that the terminal said. `is_asked` says whether a question waits for an answer.
    pub fn take_in(&mut self, input: TerminalInput<'_>, is_asked: bool, now: Instant) {
        let (cap, is_press) = match input {
            TerminalInput::FocusLost => {
                self.ticket.halt(Halt::Focus);
                return self.keys.release_all();
            }
            TerminalInput::Interrupt => return self.ticket.order(Order::Stop),
            TerminalInput::Press(cap) => (cap, true),
            TerminalInput::Repeat(cap) | TerminalInput::Release(cap) => (cap, false),
        };
        let action = Binding::in_terminal(cap).map(|binding| binding.action);
        match (action, input) {
            (Some(Action::Hold(key)), TerminalInput::Release(_)) => self.keys.release(key, now),
            (Some(Action::Hold(key)), _) => self.keys.press(key, now),
            _ if is_press => self.press(cap, action, is_asked, now),
            _ => {}
        }
    }

    /// A key that is not held: sends the autopilot, or stops it, or orders something.
    fn press(&mut self, cap: &str, action: Option<Action>, is_asked: bool, now: Instant) {
        if action == Some(Action::TakeWheel) {
            self.take_wheel();
        }
        let request = match action {
            Some(Action::Send(request)) if request.fits(self.targets) => Some(request),
            _ => None,
        };
        let order = match action {
            Some(Action::Order(order)) => Some(order),
            _ => None,
        };
        if self.ticket.is_flying() {
            // A terminal that tells no releases repeats the key that sent it, as presses.
            if request.is_some() && self.sender.repeats(cap, now) {
                return;
            }
            self.ticket.halt(Halt::Asked);
            self.sender = Sender::default();
            if let Some(order) = order.filter(|order| *order != Order::Stop) {
                self.order(order, is_asked, now);
            }
        } else if let Some(request) = request {
            // A key that stays down after its request has ended does not send it again.
            if !self.sender.repeats(cap, now) && self.ticket.send(request).is_ok() {
                self.sender.press(cap, now);
            }
        } else if let Some(order) = order {
            self.order(order, is_asked, now);
        }
    }

    /// Takes the wheel again, if nobody else has it.
    fn take_wheel(&mut self) {
        if !self.ticket.drives()
            && let Ok(ticket) = self.driver_lock.take(NAME)
        {
            self.ticket = ticket;
        }
    }

    /// Gives an order, unless its key is still down from the order before and would answer a
    /// question that nobody has read yet.
    fn order(&mut self, order: Order, is_asked: bool, now: Instant) {
        let is_repeat = self
            .ordered
            .replace((order, now))
            .is_some_and(|(last, at)| last == order && now.saturating_duration_since(at) < REPEAT);
        // Whoever sits at the terminal may always end it.
        let may = self.ticket.drives() || order == Order::Stop;
        if may && !(is_asked && is_repeat) {
            self.ticket.order(order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autopilot_request::AutopilotRequest;

    fn driver(targets: usize) -> (Arc<DriverLock>, TerminalDriver) {
        let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
        let driver = TerminalDriver::new(Arc::clone(&driver_lock), targets).unwrap();
        (driver_lock, driver)
    }

    fn press(driver: &mut TerminalDriver, cap: &str) {
        driver.take_in(TerminalInput::Press(cap), false, Instant::now());
    }

    #[test]
    fn digits_send_the_autopilot_and_any_other_press_stops_it() {
        let (driver_lock, mut driver) = driver(3);
        press(&mut driver, "4");
        assert!(!driver.ticket.is_flying(), "there are three targets");
        let request = || driver_lock.request(Instant::now()).map(|(_, request)| request);
        for (cap, request_of_it) in [
            ("2", AutopilotRequest::Target(2)),
            ("0", AutopilotRequest::All),
            ("g", AutopilotRequest::All),
        ] {
            press(&mut driver, cap);
            assert_eq!(request(), Some(request_of_it));
            press(&mut driver, cap);
            assert!(driver.ticket.is_flying(), "the key may stay down");
            for stop in ["Esc", "Space", "1", "Tab"] {
                driver.sender = Sender::default();
                if !driver.ticket.is_flying() {
                    press(&mut driver, cap);
                }
                press(&mut driver, stop);
                assert_eq!((request(), driver_lock.halted()), (None, Some(Halt::Asked)), "{stop}");
            }
        }
        assert_eq!(driver_lock.next_order(), None, "Esc stopped the autopilot, not the session");
        press(&mut driver, "Esc");
        assert_eq!(driver_lock.next_order(), Some(Order::Stop));
    }

    #[test]
    fn a_key_that_is_still_down_answers_no_question_and_a_stopped_driver_gives_no_orders() {
        let (driver_lock, mut driver) = driver(0);
        press(&mut driver, "Enter");
        assert_eq!(driver_lock.next_order(), Some(Order::Success));
        driver.take_in(TerminalInput::Press("Enter"), true, Instant::now());
        assert_eq!(driver_lock.next_order(), None, "it repeats");
        driver.take_in(TerminalInput::Press("Backspace"), true, Instant::now());
        assert_eq!(driver_lock.next_order(), Some(Order::Failure));
        driver.ordered = None;
        driver_lock.stop_all("viewer 2");
        assert!(driver.words().unwrap().contains("STOPPED by viewer 2"));
        press(&mut driver, "Enter");
        assert_eq!(driver_lock.next_order(), None);
        press(&mut driver, "t");
        assert_eq!((driver.words(), driver_lock.driver().as_deref()), (None, Some(NAME)));
    }

    #[test]
    fn movement_keys_and_a_lost_focus_stop_it() {
        let (driver_lock, mut driver) = driver(1);
        driver.ticket.send(AutopilotRequest::All).unwrap();
        press(&mut driver, "w");
        driver.hold(Instant::now());
        assert_eq!((driver.ticket.is_flying(), driver_lock.halted()), (false, Some(Halt::Keys)));
        driver.keys.release_all();
        driver.hold(Instant::now());
        driver.ticket.send(AutopilotRequest::All).unwrap();
        driver.take_in(TerminalInput::FocusLost, false, Instant::now());
        assert_eq!((driver.ticket.is_flying(), driver_lock.halted()), (false, Some(Halt::Focus)));
    }
}
