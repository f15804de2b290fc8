//! A robot whose arm is planned for: its body, what its other joints do meanwhile, its limits.

use citrange_core::Pose;
use citrange_core::names::suggestion;
use citrange_core::robot::RobotDescription;
use citrange_robot::Robot;

use crate::config::{Config, MAX_JOINTS};
use crate::error::PlanError;
use crate::held::HeldThing;
use crate::outcome::{PathEnd, PlanOutcome};
use crate::tool::Tool;

/// What a joint may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLimit {
    /// Lowest and highest position.
    pub range: [f64; 2],
    /// Largest speed, rad/s.
    pub velocity: f64,
    /// Largest acceleration, rad/s².
    pub acceleration: f64,
    /// Largest jerk, rad/s³.
    pub jerk: f64,
}

/// A robot as the planner sees it. The arm's joints are planned, all others stay where they are.
#[derive(Clone, Debug)]
pub struct PlannedArm {
    body: Robot,
    limits: Vec<JointLimit>,
    held: Vec<f64>,
    things: Vec<HeldThing>,
    /// Pairs of links, numbers of things behind those of the body, lower first.
    allowed: Vec<[u16; 2]>,
}

impl PlannedArm {
    /// For a body; `limits` of the arm's joints, in their order; `held`: positions of all joints,
    /// of which those that are not the arm's count.
    ///
    /// # Errors
    /// When the numbers of joints do not agree, or a limit is not a positive number.
    pub fn new(body: Robot, limits: Vec<JointLimit>, held: &[f64]) -> Result<Self, PlanError> {
        let chain = body.chain();
        let (all, arm) = (chain.joints.len(), chain.arm_joints);
        let what = format!("arm of {}", chain.robot);
        if arm == 0 || arm > MAX_JOINTS {
            return Err(PlanError::bad(what, format!("{arm} joints, 1 to {MAX_JOINTS} are right")));
        }
        if limits.len() != arm || held.len() != all {
            let reason = format!(
                "{} limits for {arm} arm joints, {} positions for {all} joints",
                limits.len(),
                held.len()
            );
            return Err(PlanError::bad(what, reason));
        }
        for (joint, limit) in chain.joints.iter().zip(&limits) {
            let positive = [limit.velocity, limit.acceleration, limit.jerk];
            if positive.iter().any(|l| !(l.is_finite() && *l > 0.0))
                || limit.range[0] >= limit.range[1]
                || limit.range.iter().any(|l| !(-100.0..=100.0).contains(l))
            {
                let reason = format!(
                    "{}: limits must be finite, above 0, and low below high: {limit:?}",
                    joint.name
                );
                return Err(PlanError::bad(what, reason));
            }
        }
        if let Some(position) = held.iter().find(|p| !p.is_finite()) {
            return Err(PlanError::bad(what, format!("{position} is not a position")));
        }
        let (things, allowed) = (Vec::new(), Vec::new());
        Ok(Self { held: held.to_vec(), body, limits, things, allowed })
    }

    /// With the limits that a robot's description has.
    ///
    /// # Errors
    /// As [`PlannedArm::new`], and when the description lacks a limit.
    pub fn described(
        body: Robot,
        robot: &RobotDescription,
        held: &[f64],
    ) -> Result<Self, PlanError> {
        let limits = body.chain().joints.iter().take(body.chain().arm_joints);
        let limits: Result<Vec<_>, PlanError> = limits
            .map(|joint| {
                let missing = |key: &str| {
                    let what = format!("joint_limits of {}", robot.name);
                    PlanError::bad(what, format!("{} needs {key}", joint.name))
                };
                let known = robot.joint_limits.get(&joint.name);
                let known = known.ok_or_else(|| missing("velocity_rad_s"))?;
                let acceleration =
                    known.acceleration_rad_s2.ok_or_else(|| missing("acceleration_rad_s2"))?;
                Ok(JointLimit {
                    range: joint.range.ok_or_else(|| missing("a range in the model"))?,
                    velocity: known.velocity_rad_s.ok_or_else(|| missing("velocity_rad_s"))?,
                    acceleration,
                    jerk: known.jerk_rad_s3.ok_or_else(|| missing("jerk_rad_s3"))?,
                })
            })
            .collect();
        Self::new(body, limits?, held)
    }

    /// The same with things in its hand: they must touch nothing either.
    ///
    /// # Errors
    /// When a thing makes no sense, or has a name that there is already.
    pub fn holding(mut self, things: Vec<HeldThing>) -> Result<Self, PlanError> {
        for thing in things {
            if self.link_names().any(|name| name == thing.name()) {
                let reason = format!("{} is a link or held already", thing.name());
                return Err(PlanError::bad("held thing", reason));
            }
            if thing.link() >= self.body.links().len() {
                return Err(PlanError::bad("held thing", "the robot has no such link"));
            }
            self.things.push(thing);
        }
        Ok(self)
    }

    /// The same with pairs of links, or of links and held things, that may touch; by name.
    ///
    /// # Errors
    /// When there is no such link or held thing.
    pub fn allowing(mut self, pairs: &[[String; 2]]) -> Result<Self, PlanError> {
        for pair in pairs {
            let [a, b] = [self.link(&pair[0])?, self.link(&pair[1])?];
            self.allowed.push([a.min(b) as u16, a.max(b) as u16]);
        }
        Ok(self)
    }

    /// The number of a link or of a held thing, by its name or that of a body of it.
    ///
    /// # Errors
    /// When there is none.
    pub fn link(&self, name: &str) -> Result<usize, PlanError> {
        let by_body = || {
            let shape = self.body.link_shapes().iter().find(|shape| shape.body() == name);
            shape.map(|shape| shape.link.map_or(0, |joint| joint + 1))
        };
        self.link_names().position(|link| link == name).or_else(by_body).ok_or_else(|| {
            PlanError::Bad {
                what: format!("{} has no link {name:?}", self.body.chain().robot),
                reason: suggestion(name, self.link_names()),
            }
        })
    }

    /// Names of the body's links, then of the things it holds.
    pub fn link_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.body.links().chain(self.things.iter().map(HeldThing::name))
    }

    /// What it holds.
    #[must_use]
    pub fn things(&self) -> &[HeldThing] {
        &self.things
    }

    /// Pairs of links that must not touch, held things behind the links; lower number first.
    #[must_use]
    pub fn checked_pairs(&self) -> Vec<[u16; 2]> {
        let links = self.body.links().len();
        let mut pairs = self.body.checked_pairs().to_vec();
        for (number, thing) in self.things.iter().enumerate() {
            // What is moved together with it cannot be kept away from it: fingers hold it.
            let carrier = self.carrier(thing.link());
            let others = (0..links).filter(|link| self.carrier(*link) != carrier);
            pairs.extend(others.map(|link| [link as u16, (links + number) as u16]));
            let before = self.things[..number].iter().enumerate();
            let apart = before.filter(|(_, other)| self.carrier(other.link()) != carrier);
            pairs.extend(apart.map(|(k, _)| [(links + k) as u16, (links + number) as u16]));
        }
        pairs.retain(|pair| !self.allowed.contains(pair));
        pairs
    }

    /// The link that carries another when only the planned joints move.
    fn carrier(&self, link: usize) -> usize {
        match link.checked_sub(1) {
            Some(joint) if joint >= self.limits.len() => {
                let parent = self.body.chain().joints.get(joint).and_then(|j| j.parent);
                self.carrier(parent.map_or(0, |p| p + 1))
            }
            _ => link,
        }
    }

    /// Where its tool is in the world, and how it is oriented.
    #[must_use]
    pub fn tool_at(&self, joints: &[f64]) -> Pose {
        Pose::from(Tool::new(self).place(joints).isometry())
    }

    /// Its shapes, spheres and links.
    #[must_use]
    pub fn body(&self) -> &Robot {
        &self.body
    }

    /// How many joints are planned: the first ones of the body's chain.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.limits.len()
    }

    /// Limits of the planned joints.
    #[must_use]
    pub fn limits(&self) -> &[JointLimit] {
        &self.limits
    }

    /// Where the joints that are not planned stay; those that are planned are first.
    #[must_use]
    pub fn held(&self) -> &[f64] {
        &self.held
    }

    /// All joints of the body for a configuration.
    pub fn all_joints(&self, at: &Config, joints: &mut Vec<f64>) {
        joints.clear();
        joints.extend_from_slice(&self.held);
        for (joint, planned) in joints.iter_mut().zip(&at.0[..self.limits.len()]) {
            *joint = f64::from(*planned);
        }
    }

    /// The first joint that is out of its range, as an answer.
    #[must_use]
    pub fn outside(&self, end: PathEnd, positions: &[f64]) -> Option<PlanOutcome> {
        let joints = self.body.chain().joint_names().zip(positions).zip(&self.limits);
        for ((name, position), limit) in joints {
            let [low, high] = limit.range;
            if !(low..=high).contains(position) {
                return Some(PlanOutcome::OutsideLimits {
                    end,
                    joint: name.to_owned(),
                    position: *position,
                    range: limit.range,
                });
            }
        }
        None
    }
}
