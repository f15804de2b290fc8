//! Where workers get the next episode's index. They may run ahead of the writer, but not far.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The counter, and how far it may go.
pub(crate) struct Gate {
    counter: Mutex<Counter>,
    moved: Condvar,
    halted: AtomicBool,
}

struct Counter {
    next: u64,
    until: u64,
}

impl Gate {
    /// Begins with an index, closed.
    pub(crate) fn at(first: u64) -> Self {
        let counter = Mutex::new(Counter { next: first, until: first });
        Self { counter, moved: Condvar::new(), halted: AtomicBool::new(false) }
    }

    /// The next index, as soon as it may be made; `None` when no more are.
    pub(crate) fn take(&self) -> Option<u64> {
        let mut counter = self.lock();
        loop {
            if self.halted.load(Ordering::Acquire) {
                return None;
            }
            if counter.next < counter.until {
                counter.next += 1;
                return Some(counter.next - 1);
            }
            counter = self.moved.wait(counter).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets all indices below `until` through.
    pub(crate) fn open_until(&self, until: u64) {
        self.lock().until = until;
        self.moved.notify_all();
    }

    /// Ends episodes at their next frame, and gives out no more.
    pub(crate) fn halt(&self) {
        let _nobody_misses_it = self.lock();
        self.halted.store(true, Ordering::Release);
        self.moved.notify_all();
    }

    /// Becomes true when episodes are to end.
    pub(crate) fn halted(&self) -> &AtomicBool {
        &self.halted
    }

    fn lock(&self) -> MutexGuard<'_, Counter> {
        self.counter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Halts when its thread panics: nobody then waits for an episode that never comes.
pub(crate) struct HaltOnPanic<'a>(pub(crate) &'a Gate);

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.halt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_given_out_once_and_none_too_early() {
        let gate = Gate::at(5);
        gate.open_until(8);
        let taken = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while let Some(index) = gate.take() {
                        taken.lock().unwrap().push(index);
                    }
                });
            }
            while taken.lock().unwrap().len() < 3 {
                std::thread::yield_now();
            }
            assert!(taken.lock().unwrap().iter().all(|index| (5..8).contains(index)));
            gate.open_until(10);
            while taken.lock().unwrap().len() < 5 {
                std::thread::yield_now();
            }
            gate.halt();
        });
        let mut taken = taken.into_inner().unwrap();
        taken.sort_unstable();
        assert_eq!(taken, [5, 6, 7, 8, 9]);
        assert_eq!(gate.take(), None);
    }
}
