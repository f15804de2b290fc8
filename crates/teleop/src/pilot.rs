//! A person as a Pilot: what is held in the driver lock goes through the controller, tick by tick.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use citrange_control::{
    CartesianController, ControlError, ControllerMemory, ControllerStatus, Scratch, TargetMotion,
    Velocity,
};
use citrange_core::event::KeysHeld;
use citrange_core::{BoxError, Command, Event, Notes, Observation, Outcome, Pilot, Verdict};

use crate::driver_lock::{DeadmanInput, DriverLock, Order};
use crate::keys::{HeldKeys, Speeds};

/// What a stretch of driving waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// An order, or the end of its time.
    Order,
    /// Somebody in the driver lock; the arm holds still.
    Driver,
    /// The end of its time, or an order; the arm holds still.
    Still,
}

/// Drives an arm by the keys held in a driver lock.
pub struct Teleop {
    driver_lock: Arc<DriverLock>,
    controller: Arc<CartesianController>,
    speeds: Speeds,
    until: Until,
    memory: Option<ControllerMemory>,
    /// How the targets moved before the controller had them.
    before: Option<TargetMotion>,
    /// Ticks since the arm was taken over, and how many of them are soft.
    ticks: u64,
    soft_ticks: f64,
    requested: Velocity,
    scratch: Scratch,
    grip: DeadmanInput,
    status: ControllerStatus,
    ended_by: Option<Order>,
}

impl Teleop {
    /// A driver's pilot; the controller begins from the targets in force at the first tick.
    #[must_use]
    pub fn new(
        driver_lock: Arc<DriverLock>,
        controller: Arc<CartesianController>,
        speeds: Speeds,
        until: Until,
    ) -> Self {
        let scratch = controller.scratch();
        let soft_ticks = controller.settings().soft_start_s / controller.tick_s();
        Self {
            driver_lock,
            controller,
            speeds,
            until,
            memory: None,
            before: None,
            ticks: 0,
            soft_ticks,
            requested: Velocity::ZERO,
            scratch,
            grip: DeadmanInput::default(),
            status: ControllerStatus::default(),
            ended_by: None,
        }
    }

    /// Goes on with the memory that a snapshot has, so that driving continues as it was. Where it
    /// has none (an autopilot flew, or an older controller drove), the controller begins anew.
    ///
    /// # Errors
    /// When the snapshot holds the memory of another arm.
    pub fn load(&mut self, fields: &BTreeMap<String, Vec<f64>>) -> Result<(), ControlError> {
        if ControllerMemory::is_in(fields) {
            self.memory =
                Some(ControllerMemory::load(fields, self.controller.chain().joints.len())?);
        }
        Ok(())
    }

    /// The order that ended it.
    #[must_use]
    pub fn ended_by(&self) -> Option<Order> {
        self.ended_by
    }

    /// What was held at the last tick.
    #[must_use]
    pub fn grip(&self) -> &DeadmanInput {
        &self.grip
    }

    /// The controller.
    #[must_use]
    pub fn controller(&self) -> &CartesianController {
        &self.controller
    }

    /// The motion that was asked of the controller at the last tick.
    #[must_use]
    pub fn requested(&self) -> &Velocity {
        &self.requested
    }

    /// What the controller made of it.
    #[must_use]
    pub fn status(&self) -> &ControllerStatus {
        &self.status
    }

    /// Takes in what the driver orders and holds; `Some` when the stretch is over. The first half
    /// of a tick, for one who does the second half otherwise than with [`Teleop::drive`].
    pub fn attend(&mut self, events: &mut Vec<Event>) -> Option<Outcome> {
        if let Some(order) = self.driver_lock.next_order() {
            return Some(self.outcome(order));
        }
        if self.until == Until::Driver && self.driver_lock.driver().is_some() {
            return Some(Outcome::unjudged("driver_came"));
        }
        let mut grip = self.driver_lock.grip(Instant::now());
        if self.until != Until::Order {
            grip.held = HeldKeys::NOTHING;
        }
        if grip.held != self.grip.held || grip.brake != self.grip.brake {
            let held = grip.held.keys().map(|key| key.name().to_owned()).collect();
            let (sticks, brake) = (grip.held.pushed().to_vec(), grip.brake);
            events.push(Event::Keys(KeysHeld { held, sticks, brake }));
        }
        self.grip = grip;
        None
    }

    /// Moves the targets as the controller makes of what is held.
    pub fn drive(&mut self, seen: &Observation, targets: &mut [f64]) {
        let memory = match &mut self.memory {
            Some(memory) => memory,
            None => {
                let memory = self.memory.insert(self.controller.begin(targets, &seen.joint_pos));
                let before = self.before.take().filter(|b| b.pos.len() == targets.len());
                memory.continue_from(before.unwrap_or_else(|| TargetMotion::at_rest(targets)));
                memory
            }
        };
        // The first moments of driving are slower: a hand already on the keys starts softly.
        self.ticks += 1;
        let softly = (self.ticks as f64 / self.soft_ticks.max(1.0)).min(1.0);
        self.requested = self.speeds.velocity(&self.grip.held).scaled(softly);
        let (scratch, brake) = (&mut self.scratch, self.grip.brake);
        self.status =
            self.controller.step(memory, scratch, &seen.joint_pos, &self.requested, brake, targets);
    }

    /// How the targets move, since the controller has them.
    #[must_use]
    pub fn motion(&self) -> Option<&TargetMotion> {
        self.memory.as_ref().map(ControllerMemory::motion).or(self.before.as_ref())
    }

    /// Forgets how the arm was driven: the controller begins again from targets that move like this.
    pub fn begin_anew(&mut self, motion: TargetMotion) {
        (self.memory, self.ticks, self.status) = (None, 0, ControllerStatus::default());
        self.requested = Velocity::ZERO;
        self.before = Some(motion);
    }

    fn outcome(&mut self, order: Order) -> Outcome {
        self.ended_by = Some(order);
        match order {
            Order::Save => Outcome::unjudged("saved"),
            Order::Discard => Outcome::unjudged("discarded"),
            Order::Reset => Outcome::unjudged("reset"),
            Order::Stop => Outcome::unjudged("stopped"),
            Order::Success => Outcome { success: Some(true), reason: "success".into() },
            Order::Failure => Outcome { success: Some(false), reason: "failure".into() },
        }
    }
}

impl Pilot for Teleop {
    fn name(&self) -> &str {
        "teleop"
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let targets = command.pos.as_mut_slice();
        if let Some(outcome) = self.attend(events) {
            return Ok(Verdict::Done(outcome));
        }
        self.drive(seen, targets);
        Ok(Verdict::Go)
    }

    fn stalled(&mut self, _late: Duration) {
        self.driver_lock.distrust();
    }

    fn finish(&mut self, command: &mut Command) {
        if let Some(memory) = &mut self.memory {
            self.controller.rest(memory, &mut command.pos);
        }
    }

    fn load(&mut self, memory: &citrange_core::Memory) -> Result<(), BoxError> {
        Ok(Self::load(self, memory)?)
    }

    fn save(&self, fields: &mut BTreeMap<String, Vec<f64>>) {
        if let Some(memory) = &self.memory {
            memory.save(fields);
        }
    }
}
