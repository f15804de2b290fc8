//! Attempts of a policy at episodes, sixteen at once.

use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_lanes::{Isa, LANES, Lanes};
use rayon::prelude::*;
use serde::Serialize;

use super::episodes::{Episode, EpisodeSet};
use crate::disturb::Disturber;
use crate::env::{Copies, Ends, ReachArm, ReachSettings};
use crate::network::{Mlp, MlpScratch, normal};

/// Attempts that one task makes.
const TASK: usize = 64;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEnd {
    /// The tool came to the goal.
    Reached,
    /// It touched a box.
    Box,
    /// It touched the floor.
    Floor,
    /// It touched itself.
    Itself,
    /// It did not come there in time.
    Late,
}

/// An attempt at an episode.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// How it ended.
    pub end: AttemptEnd,
    /// Steps that it took.
    pub steps: u32,
    /// The way in joint space, controlled joints.
    pub length_rad: f64,
    /// The tool's way.
    pub tool_m: f64,
    /// The least clearance of a sphere on the way.
    pub clearance_m: f64,
    /// All joints after every step, the start first; where it was asked to be kept.
    pub path: Vec<Vec<f64>>,
}

/// How attempts are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tries<'a> {
    /// Logarithms of the deviations of actions; none for the mean action.
    pub(crate) log_sigma: Option<&'a [f32]>,
    /// Decides the noise.
    pub(crate) seed: u64,
    /// Whether paths are kept.
    pub(crate) keep_paths: bool,
}

impl Tries<'_> {
    /// The mean action.
    pub(crate) const MEAN: Tries<'static> = Tries { log_sigma: None, seed: 0, keep_paths: false };
}

/// Makes attempts.
#[derive(Clone)]
pub(crate) struct Roller {
    arm: Arc<ReachArm>,
    settings: Arc<ReachSettings>,
    isa: Isa,
}

impl Roller {
    pub(crate) fn new(arm: &Arc<ReachArm>, settings: &Arc<ReachSettings>) -> Self {
        Self { arm: arm.clone(), settings: settings.clone(), isa: Isa::best() }
    }

    /// One attempt at each episode. The answer does not depend on how tasks are divided.
    pub(crate) fn roll(&self, policy: &Mlp, set: &EpisodeSet, tries: Tries<'_>) -> Vec<Attempt> {
        let episodes: Vec<(u64, &Episode)> =
            set.episodes.iter().enumerate().map(|(index, of)| (index as u64, of)).collect();
        let task = |part: &[(u64, &Episode)]| Task::new(self, policy, part, tries).run();
        episodes.par_chunks(TASK).flat_map_iter(task).collect()
    }
}

/// Episodes that go through sixteen copies, each copy taking the next one when it is done.
struct Task<'a> {
    copies: Copies,
    policy: &'a Mlp,
    isa: Isa,
    tries: Tries<'a>,
    left: std::iter::Peekable<std::vec::IntoIter<(usize, u64, &'a Episode)>>,
    at: [Option<usize>; LANES],
    rngs: [Rng; LANES],
    disturber: Disturber,
    done: Vec<Option<Attempt>>,
    open: [Attempt; LANES],
}

impl<'a> Task<'a> {
    fn new(
        roller: &Roller,
        policy: &'a Mlp,
        episodes: &[(u64, &'a Episode)],
        tries: Tries<'a>,
    ) -> Self {
        let numbered = episodes.iter().enumerate().map(|(at, (index, of))| (at, *index, *of));
        let empty = Attempt {
            end: AttemptEnd::Late,
            steps: 0,
            length_rad: 0.0,
            tool_m: 0.0,
            clearance_m: f64::INFINITY,
            path: Vec::new(),
        };
        let count = roller.arm.controlled().len();
        Self {
            copies: Copies::new(&roller.arm, &roller.settings, roller.isa),
            policy,
            isa: roller.isa,
            tries,
            left: numbered.collect::<Vec<_>>().into_iter().peekable(),
            at: [None; LANES],
            rngs: std::array::from_fn(|_| Rng::new(0)),
            disturber: Disturber::new(&roller.settings.disturbance, count),
            done: vec![None; episodes.len()],
            open: std::array::from_fn(|_| empty.clone()),
        }
    }

    fn run(mut self) -> Vec<Attempt> {
        (0..LANES).for_each(|lane| self.next(lane));
        self.copies.look();
        let inputs = self.copies.inputs();
        let count = self.copies.arm.controlled().len();
        let mut row = vec![0.0; inputs * LANES];
        let mut scratch = MlpScratch::default();
        let mut actions = vec![Lanes::splat(0.0); count];
        while self.at.iter().any(Option::is_some) {
            self.disturber.observe(&mut self.copies, &mut self.rngs, &mut row);
            let means = self.policy.forward(self.isa, LANES, &row, &mut scratch);
            let stride = self.policy.stride();
            for lane in 0..LANES {
                for action in 0..count {
                    let mut taken = means[lane * stride + action];
                    if let Some(log_sigma) = self.tries.log_sigma {
                        let sigma = log_sigma.get(action).map_or(0.0, |log| log.exp());
                        taken += sigma * normal(&mut self.rngs[lane]) as f32;
                    }
                    actions[action].0[lane] = taken;
                }
            }
            self.disturber.delay(&mut actions);
            self.step(&actions);
        }
        self.done.into_iter().flatten().collect()
    }

    /// One step of all copies; those that are done begin anew.
    fn step(&mut self, actions: &[Lanes]) {
        let (joints, tool_m) = (self.copies.joints.clone(), self.copies.tool_m);
        let ends = self.copies.advance(actions);
        for lane in 0..LANES {
            if self.at[lane].is_none() {
                continue;
            }
            let open = &mut self.open[lane];
            let moved = joints.iter().zip(&self.copies.joints);
            let moved = moved.map(|(a, b)| f64::from(a.0[lane] - b.0[lane]).powi(2));
            open.length_rad += moved.sum::<f64>().sqrt();
            let tool = |a: usize| f64::from(tool_m[a].0[lane] - self.copies.tool_m[a].0[lane]);
            open.tool_m += (0..3).map(|a| tool(a) * tool(a)).sum::<f64>().sqrt();
            let clearance = f64::from(self.copies.sensed.least_m.0[lane]);
            open.clearance_m = open.clearance_m.min(clearance);
            open.steps += 1;
            if self.tries.keep_paths {
                open.path.push(self.copies.posture(lane));
            }
        }
        let over = ends.over();
        for lane in (0..LANES).filter(|lane| over >> lane & 1 == 1) {
            if let Some(at) = self.at[lane] {
                self.open[lane].end = end_of(&ends, lane);
                let open = &mut self.open[lane];
                let path = std::mem::take(&mut open.path);
                self.done[at] = Some(Attempt { path, ..open.clone() });
            }
            self.next(lane);
        }
        if over != 0 {
            self.copies.look();
        }
    }

    /// The next episode for a copy.
    fn next(&mut self, lane: usize) {
        self.at[lane] = None;
        let Some((at, index, episode)) = self.left.next() else {
            // The copy goes on in what it has; nobody looks.
            self.copies.steps[lane] = 0;
            return;
        };
        self.at[lane] = Some(at);
        self.rngs[lane] = Rng::for_episode(self.tries.seed, index, "attempt");
        self.copies.boxes.set(lane, &episode.drawn.boxes);
        self.copies.put(lane, &episode.drawn.start, episode.drawn.goal_m);
        self.disturber.begin(lane, &mut self.rngs[lane]);
        let path = if self.tries.keep_paths { vec![episode.start()] } else { Vec::new() };
        self.open[lane] = Attempt {
            end: AttemptEnd::Late,
            steps: 0,
            length_rad: 0.0,
            tool_m: 0.0,
            clearance_m: f64::INFINITY,
            path,
        };
    }
}

/// How a copy ended; what it touched first of all.
pub(crate) fn end_of(ends: &Ends, lane: usize) -> AttemptEnd {
    let is = |bits: u16| bits >> lane & 1 == 1;
    if is(ends.own) {
        AttemptEnd::Itself
    } else if is(ends.floor) {
        AttemptEnd::Floor
    } else if is(ends.boxes) {
        AttemptEnd::Box
    } else if is(ends.success) {
        AttemptEnd::Reached
    } else {
        AttemptEnd::Late
    }
}
