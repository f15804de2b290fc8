//! The autopilot as a Pilot: looks, checks what must hold in every state, lets the state act.

use std::collections::BTreeMap;

use citrange_core::event::{Named, StateEntered, Summary, TargetSummary};
use citrange_core::scene::Job;
use citrange_core::shape::PosedShape;
use citrange_core::{
    BoxError, Command, Event, Notes, ObjectSpec, Observation, Outcome, Pilot, Rates, RigSpec,
    Verdict,
};
use citrange_robot::{Chain, LinkShape};

use crate::body::Body;
use crate::error::TaskError;
use crate::goal::{Goal, object_index};
use crate::hull::Form;
use crate::memory::{FIELD, GraspBelief, Memory, ROUTE_FIELD};
use crate::noise::PoseNoise;
use crate::reason::{Reason, State};
use crate::route::{Route, Router};
use crate::settings::AutopilotSettings;
use crate::table::{Step, row};
use crate::thing::forms;

/// What an autopilot is made for.
pub struct Setup<'a> {
    /// The arm.
    pub chain: &'a Chain,
    /// The solid shapes of its links; those of the hand say how it grasps.
    pub shapes: &'a [LinkShape],
    /// Pose that it starts from and returns to.
    pub home: &'a [f64],
    /// Height of the surface it works on.
    pub floor_z_m: f64,
    /// What the rig sees.
    pub spec: &'a RigSpec,
    /// What is to be done.
    pub job: &'a Job,
    /// All numbers.
    pub settings: AutopilotSettings,
    /// What stands fixed around the arm, in the world: it goes around that. Things that can be
    /// moved are seen.
    pub fixtures: &'a [PosedShape],
}

/// Picks things up and puts them where they belong, and judges whether it did.
#[derive(Clone, Debug)]
pub struct Autopilot {
    pub(crate) settings: AutopilotSettings,
    pub(crate) body: Body,
    pub(crate) objects: Vec<ObjectSpec>,
    /// Their shapes.
    pub(crate) forms: Vec<Vec<Form>>,
    pub(crate) rates: Rates,
    pub(crate) tick_s: f64,
    /// Which objects are to be fetched.
    pub(crate) targets: Vec<usize>,
    pub(crate) goal: Goal,
    pub(crate) memory: Option<Memory>,
    /// Where the hand was measured to be at this tick.
    pub(crate) hand: citrange_robot::HandPose,
    pub(crate) events: Vec<Event>,
    /// What the next failure is about, in figures.
    pub(crate) why: Option<String>,
    noise: Option<PoseNoise>,
    pub(crate) router: Router,
}

/// What the autopilot is at, for people to watch.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AutopilotProgress {
    /// State of the machine.
    pub state: &'static str,
    /// Name of the thing in hand.
    pub target: Option<String>,
    /// Which try it is, from 1.
    pub attempt: u32,
    /// Whether the thing is held: `yes`, `no`, `unknown`.
    pub held: &'static str,
    /// Things placed so far.
    pub placed: usize,
    /// Things to be placed.
    pub of: usize,
    /// Why the last attempt failed, while it returns.
    pub failing: Option<&'static str>,
}

impl Autopilot {
    /// An autopilot for all targets of a job.
    ///
    /// # Errors
    /// When the arm does not say how it grasps, or the rig does not see what the job names.
    pub fn new(setup: Setup<'_>) -> Result<Self, TaskError> {
        let Setup { chain, shapes, home, floor_z_m, spec, job, settings, fixtures } = setup;
        let targets: Result<Vec<usize>, TaskError> =
            job.targets.iter().map(|name| object_index(spec, name)).collect();
        let mut body = Body::new(chain, shapes, home, floor_z_m, &settings)?;
        Ok(Self {
            objects: spec.objects.clone(),
            forms: spec.objects.iter().map(forms).collect(),
            rates: spec.rates,
            tick_s: 1.0 / f64::from(spec.rates.control_hz),
            targets: targets?,
            goal: Goal::of(spec, &job.goal)?,
            memory: None,
            hand: body.hand(home),
            events: Vec::new(),
            why: None,
            noise: None,
            router: Router::new(chain, shapes, home, fixtures),
            body,
            settings,
        })
    }

    /// Sees where things are with errors, and knows how large they are.
    #[must_use]
    pub fn with_noise(mut self, noise: Option<PoseNoise>) -> Self {
        self.noise = noise;
        self
    }

    /// Whether the place of an object is known well enough to plan by it.
    pub(crate) fn is_sure(&self, m: &Memory, object: usize) -> bool {
        self.noise.is_none_or(|noise| m.sight.is_sure(object, noise.sigma_m))
    }

    /// Fetches only one of the job's targets, by its number from 1.
    ///
    /// # Errors
    /// When there is no such target.
    pub fn only(mut self, number: usize) -> Result<Self, TaskError> {
        let index = number.checked_sub(1).and_then(|n| self.targets.get(n)).ok_or_else(|| {
            let names = self.targets.iter().map(|t| self.objects[*t].name.as_str());
            TaskError::unknown("target number", &number.to_string(), names)
        })?;
        self.targets = vec![*index];
        Ok(self)
    }

    /// Goes on with the memory that a snapshot has.
    ///
    /// # Errors
    /// When the snapshot holds the memory of another arm or job.
    pub fn load(&mut self, fields: &BTreeMap<String, Vec<f64>>) -> Result<(), TaskError> {
        let numbers = fields
            .get(FIELD)
            .ok_or_else(|| TaskError::Memory(format!("it has no field {FIELD}")))?;
        let mut numbers = numbers.iter().copied();
        let joints = self.body.chain.joints.len();
        let memory = Memory::load(&mut numbers, joints, self.targets.len(), self.objects.len());
        let mut memory = memory
            .filter(|_| numbers.next().is_none())
            .ok_or_else(|| TaskError::Memory("the numbers do not fit this arm and job".into()))?;
        self.body.hold(&memory.plan.point_m);
        if memory.current.is_some() {
            self.body.measure_ring(memory.carry_z_m);
        }
        if let Some(numbers) = fields.get(ROUTE_FIELD) {
            let unfit = || TaskError::Memory("the way around does not fit".into());
            memory.route = Route::load(numbers).ok_or_else(unfit)?;
        }
        self.memory = Some(memory);
        Ok(())
    }

    /// What it is at.
    #[must_use]
    pub fn status(&self) -> AutopilotProgress {
        let memory = self.memory.as_ref();
        let fetches = memory.map_or(&[][..], |m| &m.fetches);
        AutopilotProgress {
            state: memory.map_or(State::Idle, |m| m.state).name(),
            target: memory.and_then(|m| m.current).map(|n| self.target_name(n).to_owned()),
            attempt: memory
                .and_then(|m| m.current.map(|n| m.fetches[n].attempts))
                .unwrap_or_default(),
            held: match memory.map(|m| m.grip) {
                Some(GraspBelief::Yes) => "yes",
                Some(GraspBelief::No) => "no",
                _ => "unknown",
            },
            placed: fetches.iter().filter(|f| f.is_placed).count(),
            of: self.targets.len(),
            failing: memory.and_then(|m| m.failing).map(Reason::name),
        }
    }

    /// Carries out what a state wants.
    fn take_step(&mut self, m: &mut Memory, step: Step, seen: &Observation) -> Verdict {
        match step {
            Step::Stay => m.ticks += 1,
            Step::To(state) => self.enter(m, state),
            Step::Fail(reason) if m.failing.is_some() || m.state == State::ReturnHome => {
                // Even the way home failed: nothing more can be done.
                let reason = m.failing.unwrap_or(reason);
                if let Some(fetch) = m.fetch() {
                    fetch.reason = Some(reason);
                    fetch.is_placed = false;
                }
                return Verdict::Done(self.outcome(m, seen));
            }
            Step::Fail(reason) => {
                self.note_failure(m, m.current, reason, seen);
                m.failing = Some(reason);
                self.enter(m, State::ReturnHome);
            }
            Step::Refuse(reason) => {
                self.note_failure(m, m.current, reason, seen);
                m.failing = Some(reason);
                self.enter(m, State::Failed);
            }
            Step::End(outcome) => return Verdict::Done(outcome),
        }
        Verdict::Go
    }

    fn enter(&mut self, m: &mut Memory, state: State) {
        m.state = state;
        m.ticks = 0;
        m.part = 0;
        m.line = None;
        m.swing = None;
        (m.taking, m.placing) = (None, None);
        m.route = Route::None;
        m.jaws_from = m.jaws;
        let target = m.current.map(|n| self.target_name(n).to_owned());
        let attempt = m.fetch().map_or(0, |f| f.attempts.into());
        let state = Named::Known(state);
        self.note(Event::State(StateEntered { state, target, attempt }));
    }

    /// How it all ended, and a summary for the tape.
    pub(crate) fn outcome(&mut self, m: &Memory, seen: &Observation) -> Outcome {
        let rows = m.fetches.iter().enumerate().map(|(n, fetch)| {
            let end_m = seen.objects.get(self.targets[n]).and_then(Option::as_ref);
            TargetSummary {
                name: self.target_name(n).to_owned(),
                placed: Some(fetch.is_placed),
                attempts: Some(fetch.attempts.into()),
                reason: fetch.reason.filter(|_| !fetch.is_placed).map(Named::Known),
                start_m: fetch.start_m,
                end_m: end_m.map(|o| o.pose.pos_m),
            }
        });
        let targets = rows.collect();
        let lost = m.fetches.iter().find(|f| !f.is_placed);
        let hard_reset = m.fetches.iter().any(|f| f.reason == Some(Reason::PlateMoved));
        self.note(Event::Summary(Summary { targets, hard_reset }));
        match lost {
            None => {
                // Whoever does not want retries in the data finds them by this.
                let is_retried = m.fetches.iter().any(|f| f.attempts > 1);
                let reason = if is_retried { "placed_with_retry" } else { "placed_all" };
                Outcome { success: Some(true), reason: reason.into() }
            }
            Some(fetch) => {
                let reason = fetch.reason.map_or("not_fetched", Reason::name);
                Outcome { success: Some(false), reason: reason.into() }
            }
        }
    }
}

impl Pilot for Autopilot {
    fn name(&self) -> &str {
        "autopilot"
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let targets = command.pos.as_mut_slice();
        let joints = self.body.chain.joints.len();
        if seen.joint_pos.len() != joints || targets.len() != joints {
            let found = seen.joint_pos.len();
            return Err(format!("the autopilot knows {joints} joints, the rig has {found}").into());
        }
        if let Some(bad) = seen.joint_pos.iter().position(|q| !q.is_finite()) {
            let name = &self.body.chain.joints[bad].name;
            return Err(format!("joint {name} is at no number").into());
        }
        let mut m = match self.memory.take() {
            Some(memory) => memory,
            None => {
                let hand = self.body.place(targets);
                let jaws = self.body.jaws(targets);
                let mut memory = Memory::new(targets, hand, jaws, self.targets.len());
                memory.plan.point_m = self.body.grasp_m;
                memory
            }
        };
        let noisy = self.noise.map(|noise| {
            let mut noisy = noise.seen(seen, &self.rates);
            m.sight.follow(&mut noisy, noise.sigma_m, self.tick_s, self.is_frame(seen));
            noisy
        });
        let seen = noisy.as_ref().unwrap_or(seen);
        self.hand = self.body.hand(&seen.joint_pos);
        let row = row(m.state);
        let step = match self.checks(row, &mut m, seen) {
            Some(reason) => Step::Fail(reason),
            None => (row.act)(self, &mut m, seen),
        };
        m.target_ticks += 1;
        let verdict = self.take_step(&mut m, step, seen);
        targets.copy_from_slice(&m.joints);
        self.memory = Some(m);
        events.append(&mut self.events);
        Ok(verdict)
    }

    fn save(&self, fields: &mut BTreeMap<String, Vec<f64>>) {
        if let Some(memory) = &self.memory {
            let mut numbers = Vec::new();
            memory.save(self.objects.len(), &mut numbers);
            fields.insert(FIELD.to_owned(), numbers);
            if let Some(numbers) = memory.route.save() {
                fields.insert(ROUTE_FIELD.to_owned(), numbers);
            }
        }
    }

    fn load(&mut self, memory: &citrange_core::Memory) -> Result<(), BoxError> {
        if memory.contains_key(FIELD) {
            Self::load(self, memory)?;
        }
        Ok(())
    }
}
