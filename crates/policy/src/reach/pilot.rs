//! A policy as a pilot: what is seen decides the next targets, tick by tick.

use std::sync::{Arc, Mutex, PoisonError};

use citrange_core::{
    BoxError, Command, Notes, Observation, Outcome, Pilot, RigSpec, Start, Verdict,
};
use citrange_lanes::{Isa, LANES, Lanes};

use crate::env::{Aabb, Copies, ReachArm};
use crate::error::PolicyError;
use crate::file::PolicyFile;
use crate::network::MlpScratch;

/// An arm that is farther from its targets than this has met something.
const LOST_RAD: f64 = 0.5;

/// Drives an arm to a place by a policy, around what it is told of while it moves.
///
/// Before every step the posture that it leads to is looked at: where that would touch something,
/// or itself, smaller steps are tried, and none at last. Speeds change by no more than the joints'
/// accelerations, and targets stay within their ranges. The guard looks at the next step only:
/// motions that must be proved wholly go through [`crate::ReachFinder`].
#[derive(Debug)]
pub struct ReachPilot {
    file: PolicyFile,
    copies: Copies,
    goal_m: [f64; 3],
    surroundings: Arc<Mutex<Vec<Aabb>>>,
    tick_s: f64,
    /// Ticks from one decision to the next, and how many have passed.
    decide_every: u64,
    ticks: u64,
    wanted_rad_s: Vec<f64>,
    speeds_rad_s: Vec<f64>,
    limits: Vec<[f64; 2]>,
    row: Vec<f32>,
    scratch: MlpScratch,
}

impl ReachPilot {
    /// For a rig whose first joints are the arm's. `surroundings`: what is in the way, in the
    /// world; whoever maps exchanges it at any time.
    ///
    /// # Errors
    /// When policy, arm and rig do not fit.
    pub fn new(
        file: PolicyFile,
        arm: &ReachArm,
        spec: &RigSpec,
        goal_m: [f64; 3],
        surroundings: Arc<Mutex<Vec<Aabb>>>,
    ) -> Result<Self, PolicyError> {
        let bad = |reason: String| Err(PolicyError::bad("a policy as pilot", reason));
        let joints = arm.robot().joints().len();
        if spec.joints.len() != joints || spec.rates.control_hz == 0 {
            let hz = spec.rates.control_hz;
            let reason = format!("{} joints at {hz} Hz, {joints} are right", spec.joints.len());
            return bad(reason);
        }
        if file.network.outputs() != arm.controlled().len() {
            return bad(format!("it moves {:?}", file.about.actions));
        }
        if !goal_m.iter().all(|x| x.is_finite()) {
            return bad(format!("{goal_m:?} is no place"));
        }
        let reach = Arc::new(file.about.reach.clone());
        let mut copies = Copies::new(&Arc::new(arm.clone()), &reach, Isa::best());
        copies.pass_first_link();
        let tick_s = 1.0 / f64::from(spec.rates.control_hz);
        let limits = arm.planned().limits().iter().map(|l| [l.velocity, l.acceleration]);
        Ok(Self {
            row: vec![0.0; LANES * copies.inputs()],
            copies,
            goal_m,
            surroundings,
            tick_s,
            decide_every: 1,
            ticks: 0,
            wanted_rad_s: vec![0.0; joints],
            speeds_rad_s: vec![0.0; joints],
            limits: limits.collect(),
            scratch: MlpScratch::default(),
            file,
        })
    }

    /// Decides every so many ticks only.
    #[must_use]
    pub fn deciding_every(mut self, ticks: u64) -> Self {
        self.decide_every = ticks.max(1);
        self
    }

    /// Speeds of all joints that the policy wants at a posture; sets whether it is at the goal.
    fn decide_speeds(&mut self, posture: &[f64]) -> bool {
        let boxes = self.surroundings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let still: Vec<(Aabb, [f32; 3])> = boxes.into_iter().map(|of| (of, [0.0; 3])).collect();
        let copies = &mut self.copies;
        copies.boxes.set_all(&still);
        let at: Vec<f32> = posture.iter().map(|x| *x as f32).collect();
        (0..LANES).for_each(|lane| copies.put(lane, &at, self.goal_m.map(|x| x as f32)));
        copies.look();
        let reach = &self.file.about.reach;
        let scale = copies.arm.scale();
        if f64::from(copies.distance_m.0[0]) < reach.tolerance_m * scale {
            return true;
        }
        copies.observe(&mut self.row);
        let inputs = copies.inputs();
        let means =
            self.file.network.forward(Isa::best(), 1, &self.row[..inputs], &mut self.scratch);
        // Lane by lane a smaller step; the last one stays.
        let controlled = copies.arm.controlled().to_vec();
        let actions: Vec<Lanes> = (0..controlled.len())
            .map(|action| {
                let whole = means[action].clamp(-1.0, 1.0);
                Lanes(std::array::from_fn(|lane| whole * (1.0 - lane as f32 / (LANES - 1) as f32)))
            })
            .collect();
        let ends = copies.advance(&actions);
        let free = (0..LANES).find(|lane| ends.collided() >> lane & 1 == 0).unwrap_or(LANES - 1);
        self.wanted_rad_s.fill(0.0);
        for (action, joint) in actions.iter().zip(controlled) {
            self.wanted_rad_s[joint] = f64::from(action.0[free]) * reach.action_rad / reach.step_s;
        }
        false
    }
}

impl Pilot for ReachPilot {
    fn name(&self) -> &str {
        "policy"
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        if start.targets.len() != self.speeds_rad_s.len() {
            return Err(format!("{} targets", start.targets.len()).into());
        }
        self.speeds_rad_s.fill(0.0);
        self.wanted_rad_s.fill(0.0);
        self.ticks = 0;
        Ok(())
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let joints = self.speeds_rad_s.len();
        if seen.joint_pos.len() != joints || command.pos.len() != joints {
            return Err(format!("the policy is for {joints} joints").into());
        }
        if !seen.joint_pos.iter().all(|x| x.is_finite()) {
            return Err("a joint's position is no number".into());
        }
        let off = seen.joint_pos.iter().zip(&command.pos).map(|(a, b)| (a - b).abs());
        if off.fold(0.0, f64::max) > LOST_RAD {
            return Err("the arm does not follow: something holds it".into());
        }
        if self.ticks % self.decide_every == 0 && self.decide_speeds(&seen.joint_pos) {
            let reason = "reached".to_owned();
            return Ok(Verdict::Done(Outcome { success: Some(true), reason }));
        }
        self.ticks += 1;
        let most = u64::from(self.file.about.reach.max_steps) as f64 * self.file.about.reach.step_s;
        if self.ticks as f64 * self.tick_s > most {
            return Ok(Verdict::Done(Outcome::failed("too_slow")));
        }
        for (joint, [fastest, acceleration]) in self.limits.iter().enumerate() {
            let wanted = self.wanted_rad_s[joint].clamp(-fastest, *fastest);
            let change = acceleration * self.tick_s;
            let speed = &mut self.speeds_rad_s[joint];
            *speed += (wanted - *speed).clamp(-change, change);
            let [low, high] = self.copies.arm.ranges()[joint];
            command.pos[joint] = (command.pos[joint] + *speed * self.tick_s).clamp(low, high);
        }
        Ok(Verdict::Go)
    }

    fn finish(&mut self, command: &mut Command) {
        // What still moves comes to rest.
        for (joint, [_, acceleration]) in self.limits.iter().enumerate() {
            let change = acceleration * self.tick_s;
            let speed = &mut self.speeds_rad_s[joint];
            *speed -= speed.clamp(-change, change);
            let [low, high] = self.copies.arm.ranges()[joint];
            if let Some(target) = command.pos.get_mut(joint) {
                *target = (*target + *speed * self.tick_s).clamp(low, high);
            }
        }
    }
}
