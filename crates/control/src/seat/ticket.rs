//! The right to drive, and what its holder can do.

use std::sync::Arc;
use std::time::Instant;

use super::{Order, Seat};
use crate::errand::{Busy, Errand, Halt};
use crate::keys::Held;

/// The right to drive; given back when it is dropped.
#[derive(Debug)]
pub struct Ticket {
    pub(super) seat: Arc<Seat>,
    pub(super) number: u64,
}

impl Ticket {
    /// Holds this from now on, until told otherwise or until silence. `seq` counts the driver's
    /// messages; an older one than the last is ignored.
    pub fn hold(&self, held: Held, seq: u64) {
        let (mut inside, now) = (self.seat.lock(), Instant::now());
        let Some(driver) = inside.driver.as_mut().filter(|d| d.ticket == self.number) else {
            return;
        };
        if seq < driver.seq {
            return;
        }
        let was_silent = self.seat.is_silent(driver, now);
        // Also when the loop was too slow to notice.
        driver.must_let_go |= was_silent && !driver.held.is_nothing();
        driver.must_let_go &= !held.is_nothing();
        (driver.held, driver.heard, driver.seq) = (held, now, seq);
        inside.left_holding = None;
        if was_silent {
            inside.halt(Halt::Silence);
        } else if !held.is_nothing() {
            inside.halt(Halt::Keys);
        }
    }

    /// Lets go of everything, by a message too old to show that the driver is there.
    pub fn let_go(&self, seq: u64) {
        let mut inside = self.seat.lock();
        if let Some(driver) = inside.driver.as_mut().filter(|d| d.ticket == self.number)
            && seq >= driver.seq
        {
            (driver.held, driver.seq, driver.must_let_go) = (Held::NOTHING, seq, false);
        }
    }

    /// Sends an autopilot on an errand. From now on it has to be heard of this driver without
    /// a pause; [`Ticket::hold`] with nothing held says that somebody is there.
    ///
    /// # Errors
    /// When one is at work, or the driver moves the arm.
    pub fn send(&self, errand: Errand) -> Result<(), Busy> {
        let mut inside = self.seat.lock();
        if inside.errand.is_some() {
            return Err(Busy::Flying);
        }
        let Some(driver) = inside.driver.as_mut().filter(|d| d.ticket == self.number) else {
            return Err(Busy::NotDriving);
        };
        if !driver.held.is_nothing() {
            return Err(Busy::Holding);
        }
        driver.heard = Instant::now();
        (inside.errand, inside.halted) = (Some(errand), None);
        inside.errands += 1;
        Ok(())
    }

    /// Stops the autopilot.
    pub fn halt(&self, why: Halt) {
        self.seat.lock().halt(why);
    }

    /// Whether an autopilot is on an errand.
    #[must_use]
    pub fn is_flying(&self) -> bool {
        self.seat.lock().errand.is_some()
    }

    /// Whether it still counts: anybody may have stopped the arm.
    #[must_use]
    pub fn drives(&self) -> bool {
        self.seat.lock().driver.as_ref().is_some_and(|driver| driver.ticket == self.number)
    }

    /// Gives an order.
    pub fn order(&self, order: Order) {
        self.seat.order(order);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut inside = self.seat.lock();
        if let Some(driver) = inside.driver.take_if(|d| d.ticket == self.number) {
            let holds = !driver.held.is_nothing() || driver.must_let_go;
            inside.left_holding = holds.then(Instant::now);
            inside.halt(Halt::Left);
        }
    }
}
