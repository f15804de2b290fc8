//! Everything that takes time comes through here: the interpreter is released while Rust works,
//! panics become exceptions, Ctrl-C is heard, and a process that was forked after our threads began
//! is told so instead of hanging.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use citrange_core::{Classified, ErrorKind};
use pyo3::prelude::*;

use crate::raise::{exception, raise};

/// How long Ctrl-C may wait.
const LOOKS: Duration = Duration::from_millis(50);

/// The process in which our threads began; 0 before.
static HOME: AtomicU32 = AtomicU32::new(0);

/// Threads do not survive a fork: whoever was forked from a process that used them is told so.
pub(crate) fn check_process(py: Python<'_>) -> PyResult<()> {
    let now = std::process::id();
    match HOME.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Err(home) if home != now => Err(exception(
            py,
            ErrorKind::Failed,
            "this process was forked after citrange had begun to work: its threads are not here. \
             Start workers with the method \"spawn\" or \"forkserver\", or use citrange only in \
             the workers",
        )),
        _ => Ok(()),
    }
}

/// What a panic said.
fn panicked(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    exception(py, ErrorKind::Failed, &format!("citrange has a bug, please tell: {said}"))
}

/// Works without the interpreter, in this thread: for what is short.
pub(crate) fn guarded<R: Send, E: Classified + std::error::Error + Send>(
    py: Python<'_>,
    job: impl FnOnce() -> Result<R, E> + Send,
) -> PyResult<R> {
    check_process(py)?;
    match py.detach(|| catch_unwind(AssertUnwindSafe(job))) {
        Ok(result) => result.map_err(|error| raise(py, &error)),
        Err(panic) => Err(panicked(py, panic.as_ref())),
    }
}

/// Works with something that one thread may use at a time; others wait.
pub(crate) fn locked<T: Send, R: Send, E: Classified + std::error::Error + Send>(
    py: Python<'_>,
    what: &Mutex<T>,
    job: impl FnOnce(&mut T) -> Result<R, E> + Send,
) -> PyResult<R> {
    guarded(py, || {
        // What a panic left is still a world: every call checks what it is given.
        let mut it = what.lock().unwrap_or_else(PoisonError::into_inner);
        job(&mut it)
    })
}

/// A job that took its time, heard Ctrl-C and stopped; or one that failed.
pub(crate) enum Broken<E> {
    Signal(PyErr),
    Failed(E),
}

/// Looks for Ctrl-C now and then, in the middle of a long job that holds what it works with.
pub(crate) struct Patience {
    next: Instant,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { next: Instant::now() + LOOKS }
    }

    /// The exception that the user's signal raised, if there was one.
    pub(crate) fn check(&mut self) -> PyResult<()> {
        if Instant::now() < self.next {
            return Ok(());
        }
        let heard = Python::attach(|py| py.check_signals());
        self.next = Instant::now() + LOOKS;
        heard
    }
}

/// As [`locked`], for jobs that look for Ctrl-C themselves.
pub(crate) fn patient<T: Send, R: Send, E: Classified + std::error::Error + Send>(
    py: Python<'_>,
    what: &Mutex<T>,
    job: impl FnOnce(&mut T, &mut Patience) -> Result<R, Broken<E>> + Send,
) -> PyResult<R> {
    check_process(py)?;
    let done = py.detach(|| {
        catch_unwind(AssertUnwindSafe(|| {
            let mut it = what.lock().unwrap_or_else(PoisonError::into_inner);
            job(&mut it, &mut Patience::new())
        }))
    });
    match done {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(Broken::Signal(error))) => Err(error),
        Ok(Err(Broken::Failed(error))) => Err(raise(py, &error)),
        Err(panic) => Err(panicked(py, panic.as_ref())),
    }
}

/// Works in a thread of its own while this one listens for Ctrl-C, which sets `stop`; the job then
/// comes to a good end by itself, and the signal's exception is raised.
pub(crate) fn stoppable<R: Send, E: Classified + std::error::Error + Send>(
    py: Python<'_>,
    job: impl FnOnce(&AtomicBool) -> Result<R, E> + Send,
) -> PyResult<R> {
    check_process(py)?;
    let stop = AtomicBool::new(false);
    let (done, heard) = py.detach(|| {
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            let stop = &stop;
            scope.spawn(move || {
                // The listener waits until something is said.
                let _listens = tell.send(catch_unwind(AssertUnwindSafe(|| job(stop))));
            });
            let mut heard = None;
            loop {
                match told.recv_timeout(LOOKS) {
                    Ok(done) => break (Some(done), heard),
                    Err(mpsc::RecvTimeoutError::Disconnected) => break (None, heard),
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            stop.store(true, Ordering::Relaxed);
                            heard.get_or_insert(error);
                        }
                    }
                }
            }
        })
    });
    if let Some(error) = heard {
        return Err(error);
    }
    match done {
        Some(Ok(result)) => result.map_err(|error| raise(py, &error)),
        Some(Err(panic)) => Err(panicked(py, panic.as_ref())),
        None => Err(exception(py, ErrorKind::Failed, "the work ended without an answer")),
    }
}
