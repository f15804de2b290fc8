//! A person and an autopilot at one arm: the person sends it, watches it, and takes the arm back
//! with any movement key. Whoever is in the driver lock decides; the [`DriverLock`] says whether the
//! driver is still there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use citrange_control::TargetMotion;
use citrange_core::event::AutopilotEvent;
use citrange_core::{BoxError, Command, Event, Notes, Observation, Outcome, Pilot, Verdict};

use crate::autopilot_request::{AutopilotRequest, Halt};
use crate::autopilot_status::FlightView;
use crate::driver_lock::DriverLock;
use crate::pilot::Teleop;
use crate::telemetry::{AutopilotInfo, AutopilotStatus};

/// Work that a driver may send an autopilot for; which autopilot that is, is not this crate's
/// business.
pub trait AutopilotWork {
    /// Who does it.
    type Autopilot: Pilot;

    /// What people are told of it.
    fn description(&self) -> &WorkDescription;

    /// Somebody who does what is asked for, and what it is called on tapes: a target, or `all`.
    ///
    /// # Errors
    /// When there is no such work.
    fn begin(&self, request: AutopilotRequest) -> Result<(Self::Autopilot, String), BoxError>;

    /// What somebody who was sent is at.
    fn progress(&self, autopilot: &Self::Autopilot) -> Progress;
}

/// What there is to do in a scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkDescription {
    /// Things to bring somewhere.
    pub targets: Vec<String>,
    /// Places of the targets among the objects that the rig sees.
    pub objects: Vec<usize>,
    /// What the things are brought to.
    pub goal: String,
    /// Control ticks per second.
    pub control_hz: u32,
    /// Names of the states an autopilot goes through.
    pub states: Vec<&'static str>,
}

impl WorkDescription {
    /// What people are shown of it before it begins.
    #[must_use]
    pub fn info(&self) -> AutopilotInfo {
        AutopilotInfo { targets: self.targets.clone(), states: self.states.clone() }
    }
}

/// What an autopilot is at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// State of its machine.
    pub state: &'static str,
    /// Name of the thing that it fetches.
    pub target: Option<String>,
    /// Which try it is, from 1.
    pub attempt: u32,
    /// Whether the thing is held: `yes`, `no`, `unknown`.
    pub held: &'static str,
}

/// A person's pilot that can hand the arm to an autopilot and take it back.
pub struct SharedControl<'a, W: AutopilotWork> {
    teleop: Teleop,
    driver_lock: Arc<DriverLock>,
    work: Option<&'a W>,
    /// Whether the arm may move in this stretch.
    may_fly: bool,
    /// The request's number and who does it.
    flying: Option<(u64, W::Autopilot)>,
    /// How the targets move while an autopilot has them.
    motion: TargetMotion,
    /// The loop stalled: it goes on from rest.
    brakes: bool,
    view: FlightView<'a>,
}

impl<W: AutopilotWork> std::fmt::Debug for SharedControl<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedControl").field("is_flying", &self.is_flying()).finish()
    }
}

impl<'a, W: AutopilotWork> SharedControl<'a, W> {
    /// A person's pilot; `may_fly` says whether the autopilot may be sent in this stretch.
    pub fn new(
        teleop: Teleop,
        driver_lock: Arc<DriverLock>,
        work: Option<&'a W>,
        may_fly: bool,
    ) -> Self {
        let view = FlightView::new(work.map(AutopilotWork::description));
        let motion = TargetMotion::at_rest(&[]);
        Self { teleop, driver_lock, work, may_fly, flying: None, motion, brakes: false, view }
    }

    /// What is to be shown of the autopilot, when that changed since the last time.
    pub fn news(&mut self) -> Option<&AutopilotStatus> {
        self.view.news()
    }

    /// The person's own part.
    #[must_use]
    pub fn teleop(&self) -> &Teleop {
        &self.teleop
    }

    /// Takes in what the driver orders and holds, and nothing more: for whoever has the arm moved
    /// by somebody else. `Some` when the stretch is over.
    pub fn attend(&mut self, events: &mut Vec<Event>) -> Option<Outcome> {
        self.teleop.attend(events)
    }

    /// How the targets move.
    #[must_use]
    pub fn motion(&self) -> Option<&TargetMotion> {
        if self.is_flying() { Some(&self.motion) } else { self.teleop.motion() }
    }

    /// Whether an autopilot has the arm.
    #[must_use]
    pub fn is_flying(&self) -> bool {
        self.flying.is_some()
    }

    /// Begins what the driver lock asks for, stops what it does not ask for any more.
    fn follow_driver_lock(&mut self, seen: &Observation, targets: &[f64], events: &mut Vec<Event>) {
        let wanted = self.driver_lock.request(Instant::now());
        if self.flying.as_ref().map(|(number, _)| *number) == wanted.map(|(number, _)| number) {
            return;
        }
        self.hand_back(self.driver_lock.halted().unwrap_or(Halt::Asked), seen, events);
        let Some((number, request)) = wanted else { return };
        let Some(work) = self.work.filter(|_| self.may_fly) else {
            self.driver_lock.finish_errand();
            self.view.say("not now: the autopilot can be sent while you can drive");
            return;
        };
        match work.begin(request) {
            Ok((autopilot, target)) => {
                let motion = self.teleop.motion().filter(|motion| motion.pos == targets);
                self.motion = motion.cloned().unwrap_or_else(|| TargetMotion::at_rest(targets));
                self.flying = Some((number, autopilot));
                self.view.begin();
                self.note(AutopilotEvent::Start { target }, seen, events);
            }
            Err(error) => {
                self.driver_lock.finish_errand();
                self.view.say(&error.to_string());
            }
        }
    }

    /// Stops the autopilot, if it flies: the arm holds the targets in force.
    fn hand_back(&mut self, why: Halt, seen: &Observation, events: &mut Vec<Event>) {
        if self.flying.take().is_some() {
            // The controller knows nothing of where the autopilot went.
            self.teleop.begin_anew(self.motion.clone());
            self.view.end(&format!("stopped: {}", why.words()));
            let why = why.name().to_owned();
            self.note(AutopilotEvent::Stop { why, fault: None }, seen, events);
        }
    }

    /// One tick of the autopilot, within the limits of the arm. After a stall it waits until the
    /// arm is at rest.
    fn fly(&mut self, seen: &Observation, command: &mut Command, events: &mut Notes) {
        let Some((_, autopilot)) = &mut self.flying else { return };
        let limiter = self.teleop.controller().limiter();
        self.brakes &= !self.motion.is_at_rest();
        if self.brakes {
            limiter.brake(&mut self.motion);
            command.pos.copy_from_slice(&self.motion.pos);
            return;
        }
        let from = events.len();
        let verdict = autopilot.decide(seen, command, events);
        limiter.follow(&mut self.motion, &mut command.pos);
        self.view.hear(events.get(from..).unwrap_or_default(), seen);
        if let Some(work) = self.work {
            self.view.show(&work.progress(autopilot));
        }
        match verdict {
            Ok(Verdict::Go) => return,
            Ok(Verdict::Done(Outcome { success, reason })) => {
                self.view.end_with(success, &reason);
                self.note(AutopilotEvent::End { success, reason }, seen, events);
            }
            Err(fault) => {
                self.view.end(&format!("stopped: {fault}"));
                let (why, fault) = ("fault".to_owned(), Some(fault.to_string()));
                self.note(AutopilotEvent::Stop { why, fault }, seen, events);
            }
        }
        self.flying = None;
        self.teleop.begin_anew(self.motion.clone());
        self.driver_lock.finish_errand();
    }

    fn note(&mut self, event: AutopilotEvent, seen: &Observation, events: &mut Vec<Event>) {
        let event = Event::Autopilot(event);
        self.view.hear(std::slice::from_ref(&event), seen);
        events.push(event);
    }
}

impl<W: AutopilotWork> Pilot for SharedControl<'_, W> {
    fn name(&self) -> &str {
        self.teleop.name()
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        if let Some(outcome) = self.teleop.attend(events) {
            self.hand_back(Halt::Over, seen, events);
            return Ok(Verdict::Done(outcome));
        }
        self.follow_driver_lock(seen, &command.pos, events);
        if self.is_flying() {
            self.fly(seen, command, events);
        } else {
            self.teleop.drive(seen, &mut command.pos);
        }
        self.view.look(seen);
        Ok(Verdict::Go)
    }

    fn stalled(&mut self, late: Duration) {
        self.teleop.stalled(late);
        self.brakes = self.is_flying();
    }

    fn finish(&mut self, command: &mut Command) {
        if self.is_flying() {
            self.teleop.controller().limiter().brake(&mut self.motion);
            command.pos.copy_from_slice(&self.motion.pos);
        } else {
            self.teleop.finish(command);
        }
    }

    fn save(&self, fields: &mut BTreeMap<String, Vec<f64>>) {
        match &self.flying {
            Some((_, autopilot)) => autopilot.save(fields),
            None => self.teleop.save(fields),
        }
    }
}
