//! The thread that owns an arm: reads it, asks the gate, sends, tells. Nobody who asks it waits for
//! a wire.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use citrange_core::{Mode, Pace, Pacer};
use citrange_robot::Chain;
use serde::{Deserialize, Serialize};

use crate::device::{ArmDevice, JointReading};
use crate::error::LinkError;
use crate::feetech::{BusCounts, Faults};
use crate::safety::{SafetyGate, SafetySettings, Timed};

/// How often a lost arm is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// How an arm is driven, and let go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DriverSettings {
    /// Cycles per second: joints read, targets sent.
    pub cycle_hz: u32,
    /// What is sent, whoever asks.
    pub safety: SafetySettings,
    /// In the end: time over which torque goes, so that the arm sinks and does not fall.
    pub release_s: f64,
    /// In the end the arm holds still, with torque, instead of being let go.
    pub hold_at_end: bool,
}

impl Default for DriverSettings {
    fn default() -> Self {
        let safety = SafetySettings::default();
        Self { cycle_hz: 200, safety, release_s: 1.5, hold_at_end: false }
    }
}

/// What is known of an arm.
#[derive(Clone, Debug)]
pub struct ArmState {
    /// The newest joints.
    pub reading: JointReading,
    /// The targets in force.
    pub targets: Vec<f64>,
    /// Whether commands are carried out, and if not, why.
    pub mode: Mode,
    /// Why the way to the arm is gone, while it is; also for an arm that is only read.
    pub lost: Option<String>,
    /// Cycles, late ones, readings that lacked a joint.
    pub counts: DriverCounts,
    /// What happened on its bus.
    pub bus: Option<BusCounts>,
}

/// What happened since the driver began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriverCounts {
    /// Cycles done.
    pub cycles: u64,
    /// Cycles that began more than a cycle late; they are not made up for.
    pub late: u64,
    /// Times that somebody asked for torque, whether it came or not.
    pub engaged: u64,
    /// Readings in which a joint was missing.
    pub incomplete: u64,
    /// Times that the way to the arm was found again.
    pub reconnected: u64,
}

/// Makes the device anew when its port is back.
pub type Reconnect<D> = Box<dyn FnMut() -> Result<D, LinkError> + Send>;

#[derive(Debug, Default)]
struct Orders {
    command: Option<(Vec<f64>, Instant)>,
    engage: bool,
    stop: Option<String>,
}

struct Shared {
    orders: Mutex<Orders>,
    state: Mutex<ArmState>,
    changed: Condvar,
    is_over: AtomicBool,
}

/// An arm that is driven by a thread of its own until this is dropped.
pub struct ArmDriver {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    cycle_hz: u32,
}

impl std::fmt::Debug for ArmDriver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArmDriver").field("cycle_hz", &self.cycle_hz).finish_non_exhaustive()
    }
}

impl ArmDriver {
    /// Begins to read an arm. It is not held before [`ArmDriver::engage`].
    ///
    /// # Errors
    /// When its joints cannot be read, or there is no thread.
    pub fn start<D: ArmDevice + 'static>(
        mut device: D,
        reconnect: Reconnect<D>,
        chain: &Chain,
        settings: DriverSettings,
    ) -> Result<Self, LinkError> {
        let mut reading = JointReading::new(chain.joints.len());
        device.read(&mut reading)?;
        if let Some(j) = reading.is_missing.iter().position(|missing| *missing) {
            let reason = "it does not answer: is the power on?";
            return Err(LinkError::bad(chain.joints[j].name.clone(), reason));
        }
        let cycle_hz = settings.cycle_hz.max(1);
        let gate = SafetyGate::new(chain, cycle_hz, settings.safety.clone());
        let state = ArmState {
            targets: reading.pos.clone(),
            reading: reading.clone(),
            mode: gate.mode(),
            lost: None,
            counts: DriverCounts::default(),
            bus: device.bus_counts(),
        };
        let shared = Arc::new(Shared {
            orders: Mutex::default(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            is_over: AtomicBool::new(false),
        });
        let joints = chain.joints.iter();
        let joints = joints.map(|joint| (joint.name.clone(), joint.gripper.is_some())).collect();
        let counts = DriverCounts::default();
        let cycle = Cycle {
            device: Some(device),
            reconnect,
            gate,
            settings,
            joints,
            reading,
            counts,
            shared: shared.clone(),
            pacer: Pacer::new(Pace::REAL_TIME, cycle_hz),
            began: Instant::now(),
        };
        let thread = std::thread::Builder::new()
            .name("arm".into())
            .spawn(move || cycle.run())
            .map_err(|cause| LinkError::Io { path: "a thread for the arm".into(), cause })?;
        Ok(Self { shared, thread: Some(thread), cycle_hz })
    }

    /// Cycles per second.
    #[must_use]
    pub fn cycle_hz(&self) -> u32 {
        self.cycle_hz
    }

    /// What is known now.
    #[must_use]
    pub fn state(&self) -> ArmState {
        locked(&self.shared.state).clone()
    }

    /// What is to be known after the next cycle, or after `wait`.
    #[must_use]
    pub fn next_state(&self, wait: Duration) -> ArmState {
        let state = locked(&self.shared.state);
        let cycles = state.counts.cycles;
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, wait, |state| state.counts.cycles == cycles);
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Torque on, targets where the arm is; also how a person releases a stop.
    pub fn engage(&self) {
        let mut orders = locked(&self.shared.orders);
        (orders.engage, orders.stop, orders.command) = (true, None, None);
    }

    /// Where the joints should be from now on; the newest is what counts.
    pub fn send(&self, targets: &[f64]) {
        locked(&self.shared.orders).command = Some((targets.to_vec(), Instant::now()));
    }

    /// No more commands: it brakes and holds, and goes on with the next command.
    pub fn rest(&self) {
        locked(&self.shared.orders).command = None;
    }

    /// Brakes and holds until it is engaged again.
    pub fn stop(&self, why: &str) {
        let mut orders = locked(&self.shared.orders);
        (orders.engage, orders.command) = (false, None);
        orders.stop.get_or_insert_with(|| why.to_owned());
    }
}

impl Drop for ArmDriver {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _it_has_let_go = thread.join();
        }
    }
}

/// A thread that panicked with it has nothing half-written in it: values are replaced whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread's own.
struct Cycle<D: ArmDevice> {
    device: Option<D>,
    reconnect: Reconnect<D>,
    gate: SafetyGate,
    settings: DriverSettings,
    /// Names, and which are grippers'.
    joints: Vec<(String, bool)>,
    reading: JointReading,
    counts: DriverCounts,
    shared: Arc<Shared>,
    pacer: Pacer,
    began: Instant,
}

impl<D: ArmDevice> Cycle<D> {
    fn run(mut self) {
        let tick = Duration::from_secs(1) / self.settings.cycle_hz.max(1);
        go_first();
        // Late cycles are skipped, never made up for: the loop's own rule.
        self.pacer.restart();
        while !self.shared.is_over.load(Ordering::Relaxed) {
            self.counts.late += u64::from(self.pacer.wait().is_late);
            match self.once() {
                Ok(()) => {}
                Err(error @ LinkError::PortGone { .. }) => {
                    self.look_again(&error);
                    self.pacer.restart();
                }
                Err(error) => self.gate.stop(error.to_string()),
            }
            self.publish();
        }
        self.brake_to_rest(tick);
        // Dropping lets go.
    }

    fn once(&mut self) -> Result<(), LinkError> {
        let Some(device) = &mut self.device else { return Ok(()) };
        device.read(&mut self.reading)?;
        let now = Instant::now();
        self.counts.cycles += 1;
        self.counts.incomplete += u64::from(self.reading.is_missing.contains(&true));
        let (engage, stop, command) = {
            let mut orders = locked(&self.shared.orders);
            (std::mem::take(&mut orders.engage), orders.stop.take(), orders.command.clone())
        };
        if let Some(why) = stop {
            self.gate.stop(why);
        }
        if engage {
            self.counts.engaged += 1;
            device.hold().inspect_err(|error| self.gate.stop(error.to_string()))?;
            // Where it is now: it sank a little while nobody held it.
            device.read(&mut self.reading)?;
            self.gate.engage(&self.reading.pos);
        }
        if let Some(why) = serious(&self.joints, &self.reading) {
            self.gate.stop(why);
        }
        let since = |at: Instant| at.saturating_duration_since(self.began);
        let measured = Timed { pos: &self.reading.pos, at: since(self.reading.at) };
        let command = command.as_ref().map(|(pos, at)| Timed { pos, at: since(*at) });
        let Some(targets) = self.gate.step(since(now), measured, command) else { return Ok(()) };
        // However long reading took: two commands are never closer than half a cycle.
        self.pacer.before_act();
        device.write(targets)?;
        self.pacer.after_act();
        Ok(())
    }

    /// The way to the arm is gone: it is looked for, and a person starts it again.
    fn look_again(&mut self, error: &LinkError) {
        self.gate.stop(error.to_string());
        self.device = None;
        self.publish();
        while !self.shared.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK_AGAIN);
            if let Ok(device) = (self.reconnect)() {
                self.device = Some(device);
                self.counts.reconnected += 1;
                // Orders from before are not for the arm that came back.
                *locked(&self.shared.orders) = Orders::default();
                return;
            }
        }
    }

    /// The end: whatever moves comes to rest within its limits first.
    fn brake_to_rest(&mut self, tick: Duration) {
        self.gate.stop("the link ends");
        let end = Instant::now() + Duration::from_secs(3);
        while let Some(device) = self.device.as_mut().filter(|_| Instant::now() < end) {
            let _gone = device.read(&mut self.reading);
            let now = self.began.elapsed();
            let at = self.reading.at.saturating_duration_since(self.began);
            let measured = Timed { pos: &self.reading.pos, at };
            let sent = self.gate.step(now, measured, None).map(|targets| device.write(targets));
            if !matches!(sent, Some(Ok(()))) || self.gate.is_at_rest() {
                break;
            }
            std::thread::sleep(tick);
        }
    }

    /// Why the joints are not heard.
    fn lost(&self) -> Option<String> {
        if self.device.is_none() {
            return Some("the port is gone: plug the cable in again".to_owned());
        }
        let age_s = self.reading.at.elapsed().as_secs_f64();
        if age_s <= self.settings.safety.lost_s {
            return None;
        }
        let missing = self.joints.iter().zip(&self.reading.is_missing);
        let missing: Vec<&str> = missing
            .filter(|(_, is_missing)| **is_missing)
            .map(|((name, _), _)| name.as_str())
            .collect();
        Some(format!("nothing heard of {} for {age_s:.1} s", missing.join(", ")))
    }

    fn publish(&self) {
        let mut state = locked(&self.shared.state);
        state.reading.clone_from(&self.reading);
        state.targets.clear();
        state.targets.extend_from_slice(self.gate.targets());
        state.mode = self.gate.mode();
        state.lost = self.lost();
        state.counts = self.counts;
        state.bus = self.device.as_ref().and_then(D::bus_counts);
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl<D: ArmDevice> Drop for Cycle<D> {
    /// On every way out, a panic too.
    fn drop(&mut self) {
        let over = Duration::from_secs_f64(self.settings.release_s.clamp(0.0, 10.0));
        if let Some(device) = self.device.as_mut().filter(|_| !self.settings.hold_at_end) {
            let _whoever_answers_is_let_go = device.release(over);
        }
    }
}

/// The arm's cycle goes before whatever may wait. Where that is not allowed it is tried in vain. On Linux
/// this counts per thread; elsewhere it would hold for the whole process, and nothing is done.
fn go_first() {
    #[cfg(target_os = "linux")]
    {
        const AHEAD: i32 = -10;
        let _in_vain = rustix::process::setpriority_process(None, AHEAD);
    }
}

/// A fault for which a person must look at the arm. A gripper that gives way to what it holds does
/// what it should.
fn serious(joints: &[(String, bool)], reading: &JointReading) -> Option<String> {
    let gives_way = Faults::OVERLOAD.0 | Faults::CURRENT.0;
    let bad = joints.iter().zip(&reading.faults).find_map(|((name, is_gripper), faults)| {
        let faults = if *is_gripper { Faults(faults.0 & !gives_way) } else { *faults };
        (!faults.is_empty()).then_some((name, faults))
    });
    let (name, faults) = bad?;
    let cure = faults.cure().map(|cure| format!(": {cure}")).unwrap_or_default();
    Some(format!("{name}: {faults}{cure}"))
}
