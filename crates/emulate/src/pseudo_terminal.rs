//! A bus on a pseudo-terminal, with a thread that lets its time pass.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use crate::servo::{Drive, FASTEST_COUNTS_S, Shaft};
use crate::servo_bus::ServoBus;

/// The longest that the arm's time is let pass at once.
const STEP: Duration = Duration::from_millis(2);

/// What the servos' motors move.
pub trait Arm: Send {
    /// Lets time pass; `shafts` are as they were, and become as they are then.
    fn advance(&mut self, dt_s: f64, drives: &[Drive], shafts: &mut [Shaft]);
}

/// An arm without weight: every shaft follows its setpoint at the speed that the servo has.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimpleArm;

impl Arm for SimpleArm {
    fn advance(&mut self, dt_s: f64, drives: &[Drive], shafts: &mut [Shaft]) {
        for (drive, shaft) in drives.iter().zip(shafts) {
            let goal = drive.goal_counts.filter(|_| drive.torque > 0.0).unwrap_or(shaft.counts);
            let most = FASTEST_COUNTS_S * dt_s;
            let step = (goal - shaft.counts).clamp(-most, most);
            *shaft = Shaft { counts: shaft.counts + step, counts_s: step / dt_s, load: 0.0 };
        }
    }
}

/// A bus that runs in a thread until it is dropped.
#[derive(Debug)]
pub struct EmulatedBus {
    path: PathBuf,
    bus: Arc<Mutex<ServoBus>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl EmulatedBus {
    /// What to open.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The servos and their faults; the bus waits meanwhile.
    pub fn bus(&self) -> MutexGuard<'_, ServoBus> {
        // A test that failed with it in its hand has said so already.
        self.bus.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for EmulatedBus {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

/// Puts a bus on a new pseudo-terminal, an arm behind its servos.
///
/// # Errors
/// When the system gives no pseudo-terminal.
pub fn spawn_servo_bus(bus: ServoBus, arm: impl Arm + 'static) -> io::Result<EmulatedBus> {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&near)?;
    unlockpt(&near)?;
    let name = ptsname(&near, Vec::new())?;
    let path = PathBuf::from(name.to_string_lossy().into_owned());
    // Kept open: else the bus would hang up whenever nobody has it open.
    let far = OpenOptions::new().read(true).write(true).open(&path)?;
    let mut raw = tcgetattr(&far)?;
    raw.make_raw();
    tcsetattr(&far, OptionalActions::Now, &raw)?;
    let bus = Arc::new(Mutex::new(bus));
    let is_over = Arc::new(AtomicBool::new(false));
    let run = Runner { near: File::from(near), _far: far.into(), bus: bus.clone(), arm };
    let over = is_over.clone();
    let thread =
        std::thread::Builder::new().name("servo bus".into()).spawn(move || run.run(&over))?;
    Ok(EmulatedBus { path, bus, is_over, thread: Some(thread) })
}

struct Runner<A> {
    near: File,
    _far: OwnedFd,
    bus: Arc<Mutex<ServoBus>>,
    arm: A,
}

impl<A: Arm> Runner<A> {
    fn run(mut self, is_over: &AtomicBool) {
        // Servos answer in microseconds, whatever else a machine does.
        let _as_far_as_the_system_allows = citrange_sim::priority::lead();
        let mut bytes = [0; 1024];
        let mut out = Vec::new();
        let mut until = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            let count = match self.is_readable() {
                Ok(true) => self.near.read(&mut bytes).unwrap_or(0),
                Ok(false) => 0,
                Err(_) => return,
            };
            let bus = self.bus.clone();
            let mut bus = bus.lock().unwrap_or_else(PoisonError::into_inner);
            until = self.advance(&mut bus, until);
            out.clear();
            // The far side's speed is seen from here.
            bus.baud = tcgetattr(&self.near).ok().map(|settings| settings.output_speed());
            bus.hear(&bytes[..count], &mut out);
            let on_the_wire = bus.time_on_wire(count + out.len(), !out.is_empty());
            drop(bus);
            if !out.is_empty() {
                std::thread::sleep(on_the_wire);
            }
            if self.near.write_all(&out).is_err() {
                return;
            }
        }
    }

    fn is_readable(&self) -> io::Result<bool> {
        let mut fds = [PollFd::new(&self.near, PollFlags::IN)];
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(STEP.subsec_nanos()) };
        match poll(&mut fds, Some(&timeout)) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets the arm's time pass until now; answers how far it came.
    fn advance(&mut self, bus: &mut ServoBus, since: Instant) -> Instant {
        // A process that stood still does not make up for it in one jump.
        const MOST: Duration = Duration::from_millis(200);
        let now = Instant::now();
        let mut left = now.saturating_duration_since(since).min(MOST);
        while !left.is_zero() {
            let step = left.min(STEP);
            left -= step;
            let dt_s = step.as_secs_f64();
            let drives: Vec<Drive> = bus.servos.iter_mut().map(|servo| servo.drive(dt_s)).collect();
            let mut shafts: Vec<Shaft> = bus.servos.iter().map(crate::Servo::shaft).collect();
            self.arm.advance(dt_s, &drives, &mut shafts);
            for (servo, shaft) in bus.servos.iter_mut().zip(shafts) {
                servo.moved(shaft, dt_s);
            }
        }
        now
    }
}
