//! The autopilot as a Pilot: looks, checks what must hold in every state, lets the state act.

use std::collections::BTreeMap;

use citrange_control::Chain;
use citrange_core::scene::Job;
use citrange_core::{
    Event, Fault, ObjectSeen, ObjectSpec, Observation, Outcome, Pilot, Rates, RigSpec, Verdict,
};
use nalgebra::Vector3;
use serde_json::json;

use crate::body::Body;
use crate::choice::{Around, Obstacle};
use crate::error::TaskError;
use crate::goal::{Goal, object_index};
use crate::judge::{GraspSample, Held, Placed, PlacementDetector, PlateState, Region, Resting};
use crate::memory::{Grip, Memory};
use crate::moves::{Limits, Line, Place};
use crate::reason::{Reason, State};
use crate::settings::{Settings, Turn};
use crate::table::{Row, Step, row};

/// Name of the memory in snapshots.
const FIELD: &str = "pilot/autopilot";
/// Most that the hand is sent aside for an arm that hangs.
const MOST_CORRECTION_M: f64 = 0.02;

/// What an autopilot is made for.
pub struct Setup<'a> {
    /// The arm.
    pub chain: &'a Chain,
    /// Pose that it starts from and returns to.
    pub home: &'a [f64],
    /// Height of the surface it works on.
    pub floor_z_m: f64,
    /// What the rig sees.
    pub spec: &'a RigSpec,
    /// What is to be done.
    pub job: &'a Job,
    /// All numbers.
    pub settings: Settings,
}

/// Picks things up and puts them where they belong, and judges whether it did.
#[derive(Clone, Debug)]
pub struct Autopilot {
    pub(crate) settings: Settings,
    pub(crate) body: Body,
    pub(crate) objects: Vec<ObjectSpec>,
    pub(crate) rates: Rates,
    pub(crate) tick_secs: f64,
    /// Which objects are to be fetched.
    pub(crate) targets: Vec<usize>,
    pub(crate) goal: Goal,
    pub(crate) memory: Option<Memory>,
    /// Where the hand was measured to be at this tick.
    pub(crate) hand: citrange_control::Hand,
    pub(crate) events: Vec<Event>,
}

/// What the autopilot is at, for people to watch.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Status {
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
        let Setup { chain, home, floor_z_m, spec, job, settings } = setup;
        let targets: Result<Vec<usize>, TaskError> =
            job.targets.iter().map(|name| object_index(spec, name)).collect();
        let mut body = Body::new(chain, home, floor_z_m, &settings)?;
        Ok(Self {
            objects: spec.objects.clone(),
            rates: spec.rates,
            tick_secs: 1.0 / f64::from(spec.rates.control_hz),
            targets: targets?,
            goal: Goal::of(spec, &job.goal)?,
            memory: None,
            hand: body.hand(home),
            events: Vec::new(),
            body,
            settings,
        })
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
    pub fn recall(&mut self, fields: &BTreeMap<String, Vec<f64>>) -> Result<(), TaskError> {
        let numbers = fields
            .get(FIELD)
            .ok_or_else(|| TaskError::Memory(format!("it has no field {FIELD}")))?;
        let mut numbers = numbers.iter().copied();
        let joints = self.body.chain.joints.len();
        let memory = Memory::recall(&mut numbers, joints, self.targets.len());
        let memory = memory
            .filter(|_| numbers.next().is_none())
            .ok_or_else(|| TaskError::Memory("the numbers do not fit this arm and job".into()))?;
        if let Some(object) = memory.current.map(|n| self.targets[n]) {
            let half = self.half_width_m(object);
            self.body.hold(half);
        }
        self.memory = Some(memory);
        Ok(())
    }

    /// What it is at.
    #[must_use]
    pub fn status(&self) -> Status {
        let memory = self.memory.as_ref();
        let fetches = memory.map_or(&[][..], |m| &m.fetches);
        Status {
            state: memory.map_or(State::Idle, |m| m.state).name(),
            target: memory.and_then(|m| m.current).map(|n| self.name(n).to_owned()),
            attempt: memory
                .and_then(|m| m.current.map(|n| m.fetches[n].attempts))
                .unwrap_or_default(),
            held: match memory.map(|m| m.grip) {
                Some(Grip::Yes) => "yes",
                Some(Grip::No) => "no",
                _ => "unknown",
            },
            placed: fetches.iter().filter(|f| f.is_placed).count(),
            of: self.targets.len(),
            failing: memory.and_then(|m| m.failing).map(Reason::name),
        }
    }

    /// Name of a target by its place in the list.
    pub(crate) fn name(&self, target: usize) -> &str {
        &self.objects[self.targets[target]].name
    }

    /// The thing in hand as it is seen.
    pub(crate) fn target<'a>(&self, m: &Memory, seen: &'a Observation) -> Option<&'a ObjectSeen> {
        seen.objects.get(self.targets[m.current?])?.as_ref()
    }

    /// Half the width of an object between the jaws.
    pub(crate) fn half_width_m(&self, object: usize) -> f64 {
        let [low, high] = self.objects[object].box_m;
        ((high[0] - low[0]).min(high[1] - low[1])) / 2.0
    }

    /// Height of an object's origin above its underside.
    pub(crate) fn below_m(&self, object: usize) -> f64 {
        -self.objects[object].box_m[0][2]
    }

    /// Everything that the jaws must not meet while they work at one thing.
    pub(crate) fn around(&self, seen: &Observation, target: usize, at_goal: bool) -> Around {
        let mut around = Around::default();
        for (index, (spec, object)) in self.objects.iter().zip(&seen.objects).enumerate() {
            let Some(object) = object.filter(|_| index != target) else { continue };
            // The goal is in the way from outside, not for things that are at it.
            if Some(index) == self.goal.object() && at_goal {
                continue;
            }
            let [low, high] = spec.box_m;
            let half = ((high[0] - low[0]).max(high[1] - low[1])) / 2.0;
            let [x, y, z] = object.pose.pos_m;
            around.obstacles.push(Obstacle { at_m: [x, y], radius_m: half, top_m: z + high[2] });
        }
        if at_goal {
            around.rim = self.goal.rim(seen);
        }
        around
    }

    /// Whether an object lies at the goal now, by one more sample of a detector.
    pub(crate) fn rests(
        &self,
        watch: &mut PlacementDetector,
        object: usize,
        region: Option<&Region>,
        seen: &Observation,
    ) -> Placed {
        let Some(region) = region else {
            return Placed::Unknown(crate::judge::NotPlaced::NotSeen);
        };
        let box_m = &self.objects[object].box_m;
        let is_round = self.settings.turn == Turn::Free;
        let resting = Resting {
            box_m,
            rest_height_m: is_round.then(|| (box_m[1][2] - box_m[0][2]) / 2.0),
            upright: matches!(region, Region::Top { .. }),
        };
        let thing = seen.objects.get(object).and_then(Option::as_ref);
        watch.sample(&self.settings.placement, region, thing, &resting)
    }

    /// Whether this tick is a frame.
    pub(crate) fn is_frame(&self, seen: &Observation) -> bool {
        seen.tick.is_multiple_of(u64::from(self.rates.ticks_per_frame()))
    }

    pub(crate) fn note(&mut self, name: &str, detail: serde_json::Value) {
        self.events.push(Event { name: name.to_owned(), detail });
    }

    /// How far the jaws stand open beyond what they were commanded.
    pub(crate) fn jaw_gap(&self, m: &Memory, seen: &Observation) -> f64 {
        self.body.jaws(&seen.joint_pos) - m.jaws
    }

    /// Sends the hand along a line from where it was sent last.
    pub(crate) fn send(&self, m: &mut Memory, to: Place, step_m: f64) {
        let speed = self.settings.speed_m_s(step_m);
        m.line = Some(Line::new(m.hand, to, speed, self.settings.turn_speed_rad_s));
    }

    /// Follows the line; answers whether its end is reached.
    pub(crate) fn follow(&mut self, m: &mut Memory) -> Result<bool, Reason> {
        let Some(mut line) = m.line else { return Ok(true) };
        let limits =
            Limits { speed: line.speed_m_s, acceleration: self.settings.acceleration_m_s2 };
        let mut ramp = line.ramp.after(self.tick_secs, &limits);
        let mut joints = self.joints_for(m, &line.at(&ramp))?;
        // Where the joints cannot follow, the hand waits for them.
        let arm = self.body.ik.arm_joints();
        let steps = joints.iter().zip(&m.joints).zip(&self.body.speeds).take(arm);
        let most = steps.map(|((to, from), v)| (to - from).abs() / (v * self.tick_secs));
        let most = most.fold(0.0, f64::max);
        if most > 1.0 {
            ramp = line.ramp.slowed(&ramp, 1.0 / most);
            joints = self.joints_for(m, &line.at(&ramp))?;
        }
        line.ramp = ramp;
        m.hand = line.at(&ramp);
        m.joints[..arm].copy_from_slice(&joints[..arm]);
        let is_over = ramp.is_over();
        m.line = (!is_over).then_some(line);
        Ok(is_over)
    }

    /// Joints that bring the hand to a place, near those in force.
    pub(crate) fn joints_for(&mut self, m: &Memory, place: &Place) -> Result<Vec<f64>, Reason> {
        let mut goal = self.body.goal(place);
        goal.at_m += m.correction_m;
        let mut joints = m.joints.clone();
        let fit = self.body.ik.solve(&goal, &mut joints);
        if fit.keeps(&self.body.within) { Ok(joints) } else { Err(Reason::IkFailed) }
    }

    /// Moves the jaws evenly towards an opening, `frames` after the state began it is reached.
    pub(crate) fn move_jaws(&self, m: &mut Memory, to: f64, frames: f64) -> bool {
        let secs = (m.ticks + 1) as f64 * self.tick_secs;
        let share = (secs / self.settings.secs(frames).max(self.tick_secs)).min(1.0);
        m.jaws = m.jaws_from + share * (to - m.jaws_from);
        self.body.set_jaws(m.jaws, &mut m.joints);
        share >= 1.0
    }

    /// Adds to the correction what the hand misses sideways and in height.
    pub(crate) fn correct(&self, m: &mut Memory, miss_m: &Vector3<f64>, per_sec: f64) {
        m.correction_m += miss_m * (per_sec * self.tick_secs).min(1.0);
        if m.correction_m.norm() > MOST_CORRECTION_M {
            m.correction_m *= MOST_CORRECTION_M / m.correction_m.norm();
        }
    }

    /// Seconds spent in the state.
    pub(crate) fn secs(&self, m: &Memory) -> f64 {
        m.ticks as f64 * self.tick_secs
    }

    /// What must hold whatever the state does.
    fn checks(&mut self, row: &Row, m: &mut Memory, seen: &Observation) -> Option<Reason> {
        let limits = &self.settings;
        if let Some((limit, reason)) = &row.limit
            && self.secs(m) > limits.secs(limit(limits))
        {
            return Some(*reason);
        }
        if m.failing.is_some() || m.state == State::Idle || m.state == State::ReturnHome {
            return None;
        }
        if m.target_ticks as f64 * self.tick_secs > limits.secs(limits.target_duration_steps) {
            return Some(Reason::TargetTimeout);
        }
        let away = (self.hand.at_m - m.hand.at_m).norm();
        if away > limits.blocked_m {
            return Some(Reason::ArmBlocked);
        }
        if !self.is_frame(seen) {
            return None;
        }
        if row.watches_goal
            && let Some(watch) = &mut m.plate
        {
            match watch.check(&self.settings.plate, self.goal.seen(seen)) {
                PlateState::Still => {}
                PlateState::Moved { .. } => return Some(Reason::PlateMoved),
                PlateState::Unknown => return Some(Reason::PlateNotSeen),
            }
        }
        let [missed, lost] = row.holds?;
        self.feel(m, seen);
        match m.grip {
            Grip::No if m.was_held => Some(lost),
            Grip::No => Some(missed),
            _ => None,
        }
    }

    /// Asks the detector whether the thing is held.
    fn feel(&mut self, m: &mut Memory, seen: &Observation) {
        let Some(mut detector) = m.grasp.take() else { return };
        let object = self.target(m, seen);
        let sample = GraspSample { hand_m: self.hand.at_m, object, jaw_gap: self.jaw_gap(m, seen) };
        let held = detector.sample(&self.settings.grasp_detection, &sample);
        let grip = Grip::from(held);
        if grip != m.grip {
            let (word, doubt) = match held {
                Held::Yes => (json!(true), None),
                Held::No(doubt) => (json!(false), Some(doubt.as_str())),
                Held::Unknown(doubt) => (json!("unknown"), Some(doubt.as_str())),
            };
            let target = m.current.map(|n| self.name(n).to_owned());
            let evidence = json!(detector.evidence());
            self.note(
                "grasp",
                json!({"target": target, "held": word, "doubt": doubt, "evidence": evidence}),
            );
        }
        m.grip = grip;
        m.was_held |= grip == Grip::Yes;
        m.grasp = Some(detector);
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
                let object_m = self.target(m, seen).map(|o| o.pose.pos_m);
                let target = m.current.map(|n| self.name(n).to_owned());
                let attempt = m.fetch().map_or(0, |f| f.attempts);
                let detail = json!({
                    "target": target, "attempt": attempt, "state": m.state.name(),
                    "reason": reason.name(), "object_m": object_m,
                });
                self.note("failed", detail);
                m.failing = Some(reason);
                self.enter(m, State::ReturnHome);
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
        m.jaws_from = m.jaws;
        let target = m.current.map(|n| self.name(n).to_owned());
        let attempt = m.fetch().map_or(0, |f| f.attempts);
        let detail = json!({"state": state.name(), "target": target, "attempt": attempt});
        self.note("state", detail);
    }

    /// How it all ended, and a summary for the tape.
    pub(crate) fn outcome(&mut self, m: &Memory, seen: &Observation) -> Outcome {
        let rows = m.fetches.iter().enumerate().map(|(n, fetch)| {
            let end_m = seen.objects.get(self.targets[n]).and_then(Option::as_ref);
            json!({
                "name": self.name(n), "placed": fetch.is_placed, "attempts": fetch.attempts,
                "reason": fetch.reason.filter(|_| !fetch.is_placed).map(Reason::name),
                "start_m": fetch.start_m, "end_m": end_m.map(|o| o.pose.pos_m),
            })
        });
        let rows: Vec<serde_json::Value> = rows.collect();
        let lost = m.fetches.iter().find(|f| !f.is_placed);
        let hard_reset = m.fetches.iter().any(|f| f.reason == Some(Reason::PlateMoved));
        self.note("summary", json!({"targets": rows, "hard_reset": hard_reset}));
        match lost {
            None => Outcome { success: Some(true), reason: "placed_all".into() },
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
        targets: &mut [f64],
        events: &mut Vec<Event>,
    ) -> Result<Verdict, Fault> {
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
                Memory::new(targets, hand, jaws, self.targets.len())
            }
        };
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

    fn remember(&self, fields: &mut BTreeMap<String, Vec<f64>>) {
        if let Some(memory) = &self.memory {
            let mut numbers = Vec::new();
            memory.remember(&mut numbers);
            fields.insert(FIELD.to_owned(), numbers);
        }
    }
}
