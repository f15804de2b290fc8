//! The right to drive, and what its holder can do.

use std::sync::Arc;
use std::time::Instant;

use super::{DriverLock, Order};
use crate::autopilot_request::{AutopilotRequest, Busy, Halt};
use crate::keys::HeldKeys;

/// The right to drive; given back when it is dropped.
#[derive(Debug)]
pub struct Ticket {
    pub(super) driver_lock: Arc<DriverLock>,
    pub(super) number: u64,
}

impl Ticket {
    /// Holds this from now on, until told otherwise or until silence. `seq` counts the driver's
    /// messages; an older one than the last is ignored.
    pub fn hold(&self, held: HeldKeys, seq: u64) {
        let (mut inside, now) = (self.driver_lock.lock(), Instant::now());
        let Some(driver) = inside.driver.as_mut().filter(|d| d.ticket == self.number) else {
            return;
        };
        if seq < driver.seq {
            return;
        }
        let was_silent = self.driver_lock.is_silent(driver, now);
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
        let mut inside = self.driver_lock.lock();
        if let Some(driver) = inside.driver.as_mut().filter(|d| d.ticket == self.number)
            && seq >= driver.seq
        {
            (driver.held, driver.seq, driver.must_let_go) = (HeldKeys::NOTHING, seq, false);
        }
    }

    /// Sends an autopilot on a request. From now on it has to be heard of this driver without
    /// a pause; [`Ticket::hold`] with nothing held says that somebody is there.
    ///
    /// # Errors
    /// When one is at work, or the driver moves the arm.
    pub fn send(&self, request: AutopilotRequest) -> Result<(), Busy> {
        let mut inside = self.driver_lock.lock();
        if inside.request.is_some() {
            return Err(Busy::Flying);
        }
        let Some(driver) = inside.driver.as_mut().filter(|d| d.ticket == self.number) else {
            return Err(Busy::NotDriving);
        };
        if !driver.held.is_nothing() {
            return Err(Busy::Holding);
        }
        driver.heard = Instant::now();
        (inside.request, inside.halted) = (Some(request), None);
        inside.requests += 1;
        Ok(())
    }

    /// Stops the autopilot.
    pub fn halt(&self, why: Halt) {
        self.driver_lock.lock().halt(why);
    }

    /// Whether an autopilot is on a request.
    #[must_use]
    pub fn is_flying(&self) -> bool {
        self.driver_lock.lock().request.is_some()
    }

    /// Whether it still counts: anybody may have stopped the arm.
    #[must_use]
    pub fn drives(&self) -> bool {
        self.driver_lock.lock().driver.as_ref().is_some_and(|driver| driver.ticket == self.number)
    }

    /// Gives an order.
    pub fn order(&self, order: Order) {
        self.driver_lock.order(order);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut inside = self.driver_lock.lock();
        if let Some(driver) = inside.driver.take_if(|d| d.ticket == self.number) {
            let holds = !driver.held.is_nothing() || driver.must_let_go;
            inside.left_holding = holds.then(Instant::now);
            inside.halt(Halt::Left);
        }
    }
}
