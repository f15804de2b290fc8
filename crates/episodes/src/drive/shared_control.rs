//! A person and an autopilot at one arm: the person sends it, watches it, and takes the arm back
//! with any movement key. Whoever is in the driver lock decides; the [`DriverLock`] says whether the
//! driver is still there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use citrange_control::TargetMotion;
use citrange_core::event::AutopilotEvent;
use citrange_core::scene::Goal;
use citrange_core::{BoxError, Command, Event, Notes, Observation, Outcome, Pilot, Verdict};
use citrange_robot::Chain;
use citrange_task::{Autopilot, AutopilotSettings, State};
use citrange_teleop::telemetry::{AutopilotInfo, AutopilotStatus};
use citrange_teleop::{AutopilotRequest, DriverLock, Halt, Teleop};

use super::autopilot_status::FlightView;
use crate::cell::EpisodeRig;
use crate::error::Result;
use crate::pilots;

/// What there is to do for an autopilot in a scene.
pub(crate) struct Work {
    /// For all targets, not begun.
    autopilot: Autopilot,
    pub(crate) targets: Vec<String>,
    /// Places of the targets among the objects that the rig sees.
    pub(crate) objects: Vec<usize>,
    /// What the things are brought to.
    pub(crate) goal: String,
    pub(crate) control_hz: u32,
}

impl Work {
    /// The work of a rig's scene; none without a job or on an arm that does not say how it
    /// grasps.
    pub(crate) fn of(rig: &dyn EpisodeRig, chain: &Chain) -> Result<Option<Self>> {
        let Some(job) = rig.scene().job.as_ref().filter(|_| chain.grasp.is_some()) else {
            return Ok(None);
        };
        let settings = AutopilotSettings::load(job.profile.as_deref().unwrap_or("default"))?;
        let (autopilot, spec) = (pilots::autopilot(rig, job, &settings)?, rig.spec());
        let index = |name: &String| spec.objects.iter().position(|object| object.name == *name);
        let goal = match &job.goal {
            Goal::Plate { object, .. } | Goal::TopOf { object } => object.clone(),
            Goal::VirtualPlate { .. } => "goal".to_owned(),
        };
        Ok(Some(Self {
            autopilot,
            targets: job.targets.clone(),
            objects: job.targets.iter().filter_map(index).collect(),
            goal,
            control_hz: spec.rates.control_hz,
        }))
    }

    /// What people are shown of it before it begins.
    pub(crate) fn stage(&self) -> AutopilotInfo {
        let states = State::ALL.iter().filter(|state| **state != State::Idle);
        AutopilotInfo {
            targets: self.targets.clone(),
            states: states.map(|state| state.name()).collect(),
        }
    }

    fn begin(&self, request: AutopilotRequest) -> Result<(Autopilot, String)> {
        Ok(match request {
            AutopilotRequest::All => (self.autopilot.clone(), "all".to_owned()),
            AutopilotRequest::Target(number) => {
                let name = number.checked_sub(1).and_then(|at| self.targets.get(at));
                (self.autopilot.clone().only(number)?, name.cloned().unwrap_or_default())
            }
        })
    }
}

/// A person's pilot that can hand the arm to an autopilot and take it back.
pub(crate) struct SharedControl<'a> {
    pub(crate) teleop: Teleop,
    driver_lock: Arc<DriverLock>,
    work: Option<&'a Work>,
    /// Whether the arm may move in this stretch.
    may_fly: bool,
    /// The request's number and who does it.
    flying: Option<(u64, Autopilot)>,
    /// How the targets move while an autopilot has them.
    motion: TargetMotion,
    /// The loop stalled: it goes on from rest.
    brakes: bool,
    view: FlightView<'a>,
}

impl<'a> SharedControl<'a> {
    pub(crate) fn new(
        teleop: Teleop,
        driver_lock: Arc<DriverLock>,
        work: Option<&'a Work>,
        may_fly: bool,
    ) -> Self {
        let (view, motion) = (FlightView::new(work), TargetMotion::at_rest(&[]));
        Self { teleop, driver_lock, work, may_fly, flying: None, motion, brakes: false, view }
    }

    /// What is to be shown of the autopilot, when that changed since the last time.
    pub(crate) fn news(&mut self) -> Option<&AutopilotStatus> {
        self.view.news()
    }

    /// How the targets move.
    pub(crate) fn motion(&self) -> Option<&TargetMotion> {
        if self.is_flying() { Some(&self.motion) } else { self.teleop.motion() }
    }

    pub(crate) fn is_flying(&self) -> bool {
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
        self.view.show(&autopilot.status());
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

impl Pilot for SharedControl<'_> {
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
