//! The twin: sees, decides, has the arm moved, and stops it. A Pilot of the one loop.

mod flight;
mod hold;
mod keep;
mod rest;
mod ways;

use std::collections::VecDeque;

use citrange_core::{
    BoxError, Command, Notes, Observation, Outcome, Pilot, RobotDescription, Start, Verdict,
};
use citrange_plan::PlannedArm;

use crate::cause::Cause;
use crate::driver::{Driver, DriverEvent};
use crate::error::TwinError;
use crate::eyes::Eyes;
use crate::finder::{Finder, Way};
use crate::goals::{Goal, GoalKind};
use crate::guard::Guard;
use crate::machine::Machine;
use crate::mirror::Mirror;
use crate::orders::{Order, Orders};
use crate::results::{GoalResult, GoalTally, Timings};
use crate::settings::TwinSettings;
use crate::state::State;
use crate::surroundings::Surroundings;
use flight::Flight;

/// Joints slower than this stand still.
const STILL_RAD_S: f64 = 0.02;
/// For so long they must.
const STILL_S: f64 = 0.1;

/// What a twin is made of.
pub struct TwinParts {
    /// Its numbers.
    pub settings: TwinSettings,
    /// The arm as the planner sees it.
    pub arm: PlannedArm,
    /// What the robot is called, its poses.
    pub description: RobotDescription,
    /// What does not move.
    pub surroundings: Surroundings,
    /// Its cameras.
    pub eyes: Eyes,
    /// Who finds ways.
    pub finder: Box<dyn Finder>,
    /// Who moves the arm.
    pub driver: Box<dyn Driver>,
    /// What people ask for.
    pub orders: Orders,
    /// Decides what searches try.
    pub seed: u64,
}

/// How a twin is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TwinMode {
    /// The run ends when all goals are done.
    pub ends: bool,
    /// Nobody is there who could clear what a person must.
    pub unattended: bool,
    /// Everything but sending.
    pub shadow: bool,
}

/// The robot's twin.
pub struct Twin {
    settings: TwinSettings,
    mode: TwinMode,
    arm: PlannedArm,
    description: RobotDescription,
    surroundings: Surroundings,
    mirror: Mirror,
    eyes: Eyes,
    guard: Guard,
    finder: Box<dyn Finder>,
    driver: Box<dyn Driver>,
    orders: Orders,
    seed: u64,
    machine: Machine,
    goals: VecDeque<Goal>,
    goal: Option<GoalTally>,
    results: Vec<GoalResult>,
    /// A way that was found, and when it may be used.
    way: Option<(Way, u64)>,
    flight: Option<Flight>,
    next_id: u64,
    plans: u64,
    confirmed: bool,
    ends: bool,
    still_since_ns: Option<u64>,
    lost_since_ns: Option<u64>,
    /// When it was last looked whether what holds the arm is gone.
    looked_ns: u64,
    /// Another map came in at this tick.
    has_new_map: bool,
    now_ns: u64,
    timings: Timings,
}

impl Twin {
    /// Puts it together. It begins without a link and asks nothing of the driver.
    ///
    /// # Errors
    /// When settings or the arm make no sense.
    pub fn new(parts: TwinParts, mode: TwinMode) -> Result<Self, TwinError> {
        parts.settings.check()?;
        let arm = &parts.arm;
        let names = arm.body().chain().joint_names().take(arm.joints()).map(str::to_owned);
        let fastest = arm.limits().iter().map(|limit| limit.velocity).collect();
        Ok(Self {
            mirror: Mirror::new(names.collect(), fastest)?,
            guard: Guard::new(arm, &parts.surroundings, &parts.settings.guard)?,
            settings: parts.settings,
            mode,
            arm: parts.arm,
            description: parts.description,
            surroundings: parts.surroundings,
            eyes: parts.eyes,
            finder: parts.finder,
            driver: parts.driver,
            orders: parts.orders,
            seed: parts.seed,
            machine: Machine::new(),
            goals: VecDeque::new(),
            goal: None,
            results: Vec::new(),
            way: None,
            flight: None,
            next_id: 1,
            plans: 0,
            confirmed: false,
            ends: false,
            still_since_ns: None,
            lost_since_ns: None,
            looked_ns: 0,
            has_new_map: false,
            now_ns: 0,
            timings: Timings::default(),
        })
    }

    /// Goals to go to, one after the other.
    pub fn give(&mut self, goals: impl IntoIterator<Item = Goal>) {
        self.goals.extend(goals);
    }

    /// The state machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What became of the goals so far.
    #[must_use]
    pub fn results(&self) -> &[GoalResult] {
        &self.results
    }

    /// Where the time went.
    #[must_use]
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// What it knows of its cameras.
    #[must_use]
    pub fn eyes(&self) -> &Eyes {
        &self.eyes
    }

    /// What the robot is called, its poses.
    #[must_use]
    pub fn description(&self) -> &RobotDescription {
        &self.description
    }

    fn go(&mut self, to: State, why: Cause, notes: &mut Notes) {
        self.machine.go(to, why, self.now_ns, notes);
    }

    fn state(&self) -> State {
        self.machine.state()
    }

    /// One look and one decision.
    fn tick(&mut self, seen: &Observation, notes: &mut Notes) -> Result<(), TwinError> {
        self.now_ns = seen.at_ns;
        self.mirror.take(seen);
        let began = std::time::Instant::now();
        self.has_new_map = self.eyes.take(seen, &self.mirror);
        if self.has_new_map {
            self.timings.map_s.push(began.elapsed().as_secs_f64());
            self.timings.frame_delay_s = self.eyes.delay_s();
        }
        self.note_rest();
        self.measure();
        self.hear_driver(notes);
        self.hear_people(notes)?;
        self.watch(notes)?;
        // A state that is left at once must not cost a tick; no more than a way through the table.
        for _ in 0..6 {
            let before = self.state();
            self.act(notes)?;
            if self.state() == before {
                break;
            }
        }
        Ok(())
    }

    /// What the state does.
    fn act(&mut self, notes: &mut Notes) -> Result<(), TwinError> {
        let state = self.state();
        let motion_s = self
            .flight
            .as_ref()
            .map_or(0.0, |flight| flight.motion.duration_s() / self.driver.scale().max(1e-3));
        let limit_s = state.limit_s(&self.settings.limits, motion_s);
        let is_paused = self.driver.scale() <= 0.0 && state == State::Moving;
        if let (Some(limit_s), Some(next)) = (limit_s, state.row().when_over)
            && self.machine.age_s(self.now_ns) > limit_s
            && !is_paused
        {
            return self.time_over(next, limit_s, notes);
        }
        match state {
            State::Offline => self.offline(notes),
            State::Syncing => self.syncing(notes),
            State::Ready => self.ready(notes),
            State::Checking => return self.checking(notes),
            State::Planning => return self.planning(notes),
            State::Arming => return self.arming(notes),
            State::Sent | State::Fault => {}
            State::Moving | State::Replanning | State::Slowing => return self.moving(notes),
            State::Stopping => self.stopping(notes),
            State::Settling => self.settling(notes),
            State::Holding => return self.holding(notes),
        }
        Ok(())
    }

    fn time_over(&mut self, next: State, limit_s: f64, notes: &mut Notes) -> Result<(), TwinError> {
        let why = Cause::TimeOver { limit_s };
        match self.state() {
            State::Settling => {
                let off_rad = self.off_goal_rad();
                self.land(&Cause::NotReached { off_rad }, false);
                self.go(next, Cause::NotReached { off_rad }, notes);
            }
            State::Stopping => {
                self.driver.cancel();
                self.go(next, why, notes);
            }
            state if state.moves() => return self.stop(why, notes),
            State::Planning => {
                let why = Cause::NoPlan {
                    outcome: "no_plan_in_time".to_owned(),
                    reason: format!("no plan came within {limit_s} s"),
                };
                self.land(&why, false);
                self.go(next, why, notes);
            }
            _ => {
                self.land(&why, false);
                self.go(next, why, notes);
            }
        }
        Ok(())
    }

    fn hear_driver(&mut self, notes: &mut Notes) {
        for event in self.driver.events() {
            let own = |id: u64| self.flight.as_ref().is_some_and(|flight| flight.id == id);
            match event {
                DriverEvent::Accepted { id } if own(id) && self.state() == State::Sent => {
                    self.go(State::Moving, Cause::Accepted, notes);
                }
                DriverEvent::Refused { id, code, text } if own(id) => {
                    let why = Cause::Driver { code, text };
                    if self.state() == State::Sent {
                        self.flight = None;
                        self.land(&why, false);
                        self.go(State::Ready, why, notes);
                    } else if self.state().moves() {
                        self.flight = None;
                        self.fail(why, notes);
                    }
                }
                DriverEvent::Aborted { id, code, text } if own(id) => {
                    self.flight = None;
                    let why = Cause::Driver { code, text };
                    if self.state().moves() {
                        self.count(&why);
                        self.go(State::Holding, why, notes);
                    }
                }
                DriverEvent::Robot { what, cure } => {
                    self.flight = None;
                    self.fail(Cause::Robot { what, cure }, notes);
                }
                // What is not ours is not answered.
                _ => {}
            }
        }
    }

    fn hear_people(&mut self, notes: &mut Notes) -> Result<(), TwinError> {
        while let Some(order) = self.orders.take() {
            match order {
                Order::Go(goal) => self.goals.push_back(goal),
                Order::Confirm => self.confirmed = self.state() == State::Arming,
                Order::End => self.ends = true,
                Order::Speed(speed) if speed > 0.0 && speed <= 1.0 => self.settings.speed = speed,
                Order::Speed(_) => {}
                Order::Stop => {
                    self.goals.clear();
                    match self.state() {
                        state if state.moves() && state != State::Stopping => {
                            self.stop(Cause::PersonStop, notes)?;
                        }
                        State::Checking | State::Planning | State::Arming | State::Holding => {
                            self.land(&Cause::PersonStop, false);
                            self.go(State::Ready, Cause::PersonStop, notes);
                        }
                        _ => {}
                    }
                }
                Order::Clear => {
                    self.eyes.believe();
                    match self.state() {
                        State::Fault => {
                            self.mirror.forget();
                            self.go(State::Syncing, Cause::PersonGo, notes);
                        }
                        State::Holding => {
                            let why = self.machine.why().clone();
                            self.land(&why, false);
                            self.mirror.forget();
                            self.go(State::Syncing, Cause::PersonGo, notes);
                        }
                        _ => {}
                    }
                }
                Order::Camera { name, xyz_m, rpy_deg } => {
                    let pose = citrange_cloud::CameraPose { xyz_m, rpy_deg }.pose();
                    self.eyes.place(&name, pose)?;
                    self.eyes.believe();
                }
                Order::Voxels { size_m, self_filter_m, cluster_voxels } => {
                    self.set_voxels(size_m, self_filter_m, cluster_voxels, notes)?;
                }
            }
        }
        Ok(())
    }

    /// Another map, while the arm stands; a wrong number changes nothing.
    fn set_voxels(
        &mut self,
        size_m: f64,
        self_filter_m: Option<f64>,
        cluster_voxels: Option<usize>,
        notes: &mut Notes,
    ) -> Result<(), TwinError> {
        let mut settings = self.settings.clone();
        settings.voxel_size_m = size_m;
        settings.self_filter_m = self_filter_m.unwrap_or(settings.self_filter_m);
        settings.cluster_voxels = cluster_voxels.unwrap_or(settings.cluster_voxels);
        let refused = match settings.check() {
            Err(error) => Some(error.to_string()),
            Ok(()) if self.state().moves() => Some("the arm moves: stop it first".to_owned()),
            // What is taken out of pictures must be covered by what fixtures are larger.
            Ok(()) if settings.self_filter_m > self.settings.self_filter_m => {
                Some("a larger self_filter_m needs a new start, with --config".to_owned())
            }
            Ok(()) => None,
        };
        let detail = serde_json::json!({
            "voxel_size_m": size_m, "self_filter_m": settings.self_filter_m,
            "cluster_voxels": settings.cluster_voxels, "refused": refused,
        });
        notes.push(citrange_core::Event::other("twin_voxels", detail));
        if refused.is_none() {
            self.eyes.begin_anew(&settings)?;
            self.settings = settings;
        }
        Ok(())
    }

    /// Into the state that a person must clear.
    fn fail(&mut self, why: Cause, notes: &mut Notes) {
        if self.state() != State::Fault {
            self.count(&why);
            self.land(&why, false);
            self.go(State::Fault, why, notes);
        }
    }

    /// Whether nothing is left to be done.
    fn is_done(&self) -> bool {
        let is_idle = self.state() == State::Ready && self.goals.is_empty() && self.goal.is_none();
        (self.mode.ends || self.ends) && is_idle
    }

    /// Whether it waits for a person where nobody is.
    fn is_left_alone(&self) -> bool {
        let waits = match self.state() {
            State::Fault => true,
            State::Holding => !self.machine.why().resumes_by_itself(),
            State::Syncing | State::Offline => !self.machine.log().is_empty(),
            _ => false,
        };
        let age_s = self.machine.age_s(self.now_ns);
        self.mode.unattended && waits && age_s > self.settings.limits.hold_s
    }

    fn outcome(&self) -> Outcome {
        let reached = self.results.iter().all(|result| result.reached);
        let reason = if reached { "reached" } else { "not_all_reached" };
        Outcome { success: Some(reached), reason: reason.to_owned() }
    }
}

impl Pilot for Twin {
    fn name(&self) -> &str {
        "twin"
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        let found = start.spec.joints.iter().map(|joint| joint.name.as_str());
        let arm = self.mirror.names().len();
        let found: Vec<&str> = found.take(arm).collect();
        if found != self.mirror.names() {
            let wanted = self.mirror.names();
            return Err(
                format!("the rig has the joints {found:?}, the twin is of {wanted:?}").into()
            );
        }
        Ok(())
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        self.tick(seen, notes)?;
        if let (Some(flight), Some(time_s)) = (&self.flight, self.driver.time_s()) {
            let wanted = flight.motion.sample(time_s).positions;
            command.pos.iter_mut().zip(wanted).for_each(|(target, wanted)| *target = wanted);
        }
        if self.is_done() {
            return Ok(Verdict::Done(self.outcome()));
        }
        if self.is_left_alone() {
            let why = self.machine.why().clone();
            self.land(&why, false);
            return Ok(Verdict::Done(Outcome::failed(why.code())));
        }
        Ok(Verdict::Go)
    }

    fn stalled(&mut self, late: std::time::Duration) {
        tracing::warn!(late_ms = late.as_millis(), "the loop stalled");
        self.timings.stalls += 1;
    }
}

impl std::fmt::Debug for Twin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Twin").field("state", &self.state()).finish_non_exhaustive()
    }
}

/// Whether a goal is a wait, and for how long.
fn wait_of(goal: &Goal) -> Option<f64> {
    match goal.kind {
        GoalKind::Wait(wait_s) => Some(wait_s),
        GoalKind::Go(_) => None,
    }
}
