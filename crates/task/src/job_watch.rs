//! Is a job done, and how far is the rest? For whoever does it: a learner, a person, an autopilot.
//! Things are judged by the same detector that the autopilot is judged by.

use citrange_core::rig::ObjectSpec;
use citrange_core::scene::{Goal as GoalSpec, Job};
use citrange_core::{Observation, RigSpec};
use nalgebra::Vector3;

use crate::error::TaskError;
use crate::goal::{Goal, object_index};
use crate::hull::Form;
use crate::judge::checks::{middle_in_world, usable};
use crate::judge::{Placed, PlacementDetector, PlacementSettings, Region, Resting};
use crate::thing::forms;

/// How much is left to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remaining {
    /// Whether all of it is done.
    pub done: bool,
    /// Targets that are where they should be.
    pub placed: usize,
    /// Targets.
    pub of: usize,
    /// The first target that is not: its place among the rig's objects.
    pub next: Option<usize>,
    /// From the tool to that target, metres; of a job to reach, to the place that is to be reached.
    pub tool_to_next_m: f64,
    /// From that target to the goal's middle, metres.
    pub next_to_goal_m: f64,
}

/// Watches the things of a job in one environment.
#[derive(Clone, Debug)]
pub struct JobWatch {
    objects: Vec<ObjectSpec>,
    forms: Vec<Vec<Form>>,
    targets: Vec<usize>,
    /// `None`: the tool is to come near the target.
    goal: Option<Goal>,
    /// Height above the target and tolerance, where it is to be reached.
    reach: [f64; 2],
    settings: PlacementSettings,
    detectors: Vec<PlacementDetector>,
    placed: Vec<bool>,
}

impl JobWatch {
    /// A watch over a job of a rig.
    ///
    /// # Errors
    /// When the rig does not see what the job names.
    pub fn new(spec: &RigSpec, job: &Job, settings: &PlacementSettings) -> Result<Self, TaskError> {
        let targets: Result<Vec<usize>, TaskError> =
            job.targets.iter().map(|name| object_index(spec, name)).collect();
        let targets = targets?;
        let (goal, reach) = match &job.goal {
            GoalSpec::Reach { above_m, tolerance_m } => (None, [*above_m, *tolerance_m]),
            goal => (Some(Goal::of(spec, goal)?), [0.0; 2]),
        };
        Ok(Self {
            objects: spec.objects.clone(),
            forms: spec.objects.iter().map(forms).collect(),
            detectors: vec![PlacementDetector::default(); targets.len()],
            placed: vec![false; targets.len()],
            targets,
            goal,
            reach,
            settings: settings.clone(),
        })
    }

    /// An episode begins.
    pub fn begin(&mut self) {
        self.detectors.fill(PlacementDetector::default());
        self.placed.fill(false);
    }

    /// Which targets are where they should be.
    #[must_use]
    pub fn placed(&self) -> &[bool] {
        &self.placed
    }

    /// The place that things are to come to (or the tool, where it is to reach); not a number
    /// where it is not seen.
    #[must_use]
    pub fn goal_m(&self, seen: &Observation) -> [f64; 3] {
        match &self.goal {
            Some(goal) => goal.region(seen).map_or([f64::NAN; 3], |region| region.center_m()),
            None => self.place_to_reach(seen),
        }
    }

    /// Takes the sample of a frame and judges.
    pub fn sample(&mut self, seen: &Observation, tool_m: Option<[f64; 3]>) -> Remaining {
        let region = self.goal.as_ref().and_then(|goal| goal.region(seen));
        for number in 0..self.targets.len() {
            self.placed[number] = match &self.goal {
                Some(_) => region.as_ref().is_some_and(|region| self.rests(number, region, seen)),
                None => {
                    let place = self.place_to_reach(seen);
                    tool_m.is_some_and(|tool| distance(tool, place) <= self.reach[1])
                }
            };
        }
        self.remaining(seen, tool_m)
    }

    /// The same as [`JobWatch::sample`] answered last, of things where they are now: for the first
    /// look of an episode.
    #[must_use]
    pub fn remaining(&self, seen: &Observation, tool_m: Option<[f64; 3]>) -> Remaining {
        let placed = self.placed.iter().filter(|placed| **placed).count();
        let next = self.placed.iter().position(|placed| !placed).map(|number| self.targets[number]);
        let middle = next.map_or([f64::NAN; 3], |object| self.middle_m(object, seen));
        let goal_m = self.goal_m(seen);
        let reached = if self.goal.is_some() { middle } else { goal_m };
        Remaining {
            done: placed == self.targets.len(),
            placed,
            of: self.targets.len(),
            next,
            tool_to_next_m: tool_m.map_or(f64::NAN, |tool| distance(tool, reached)),
            next_to_goal_m: distance(middle, goal_m),
        }
    }

    /// Whether a target lies at the goal, by one more sample of its detector.
    fn rests(&mut self, number: usize, region: &Region, seen: &Observation) -> bool {
        let object = self.targets[number];
        let box_m = &self.objects[object].box_m;
        let thing = seen.objects.get(object).and_then(Option::as_ref);
        let resting = Resting {
            box_m,
            // What is not inside is not asked how high it lies.
            rest_height_m: thing.filter(|thing| usable(thing)).and_then(|thing| {
                let at = thing.pose.isometry();
                let middle = middle_in_world(&at, box_m);
                if !region.holds(&middle, self.settings.placement_margin) {
                    return None;
                }
                let (rot, by) = (at.rotation.to_rotation_matrix(), at.translation.vector);
                let down = self.forms[object].iter().map(|form| {
                    let [low, _] = form.at(rot.matrix(), &by).extent(&Vector3::z());
                    low
                });
                Some(middle.z - down.fold(f64::INFINITY, f64::min))
            }),
            upright: matches!(region, Region::Top { .. }),
        };
        let placed = self.detectors[number].sample(&self.settings, region, thing, &resting);
        placed == Placed::Yes
    }

    fn middle_m(&self, object: usize, seen: &Observation) -> [f64; 3] {
        let thing = seen.objects.get(object).and_then(Option::as_ref).filter(|t| usable(t));
        thing.map_or([f64::NAN; 3], |thing| {
            middle_in_world(&thing.pose.isometry(), &self.objects[object].box_m).into()
        })
    }

    fn place_to_reach(&self, seen: &Observation) -> [f64; 3] {
        let [x, y, z] = match self.targets.first() {
            Some(object) => self.middle_m(*object, seen),
            None => [f64::NAN; 3],
        };
        [x, y, z + self.reach[0]]
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (Vector3::from(a) - Vector3::from(b)).norm()
}
