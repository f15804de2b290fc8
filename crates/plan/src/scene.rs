//! A robot among what stands around it, and motions from goal to goal there: one call.

mod touch;

use std::sync::Arc;
use std::time::Duration;

use citrange_core::names::suggestion;
use citrange_core::robot::{RobotDescription, Servo};
use citrange_core::shape::PosedShape;
use citrange_robot::Robot;
use citrange_space::{MapSnapshot, UnknownCells};

use crate::arm::PlannedArm;
use crate::collide::{Collider, ColliderSettings};
use crate::cone::{ConeCheck, ToolCone};
use crate::config::Config;
use crate::error::PlanError;
use crate::finder::{BiRrt, PathFinder};
use crate::goal::{GoalSettings, PlanGoal, miss};
use crate::legs::{Leg, Legs};
use crate::make::{PlanRequest, goals_of, make_plan_with};
use crate::obstacles::Obstacles;
use crate::pilot::Feedforward;
use crate::search::{Planner, SearchSettings};
use crate::start::PlanStart;
use crate::straight::{Straight, StraightSettings};
use crate::words::ObstacleNames;

/// Unknown cells this near to the arm's first place count as its own: what the self filter takes,
/// and a voxel's half.
const OWN_SPACE_M: f64 = 0.06;

/// Postures at a place that are tried for the straight lines from there.
const MOST_BRANCHES: usize = 24;

/// A robot and what stands around it: of a simulated scene, of a real cell, or made by hand.
#[derive(Clone, Debug)]
pub struct PlanScene {
    /// What the robot is called, its poses and limits.
    pub description: RobotDescription,
    /// Its body, where it stands in the world.
    pub robot: Robot,
    /// Positions of all its joints now.
    pub joints: Vec<f64>,
    /// The gains in force, for targets that are sent ahead; none for robots that follow by
    /// themselves.
    pub servo: Option<Servo>,
    /// What is solid around it.
    pub solids: Vec<SceneSolid>,
    /// What a camera saw. It takes the place of everything that can move: it knows better where
    /// things are.
    pub map: Option<Arc<MapSnapshot>>,
}

/// A solid piece of something around a robot.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneSolid {
    /// What it is called when something touches it.
    pub name: String,
    /// Whether it can be moved: a part of an object, or of another robot.
    pub can_move: bool,
    /// What it is, and where in the world.
    pub solid: PosedShape,
}

/// A goal as people write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalText {
    /// Where the tool should come: `x y z` in metres, or with `roll pitch yaw` in radians.
    Place(String),
    /// A pose of the robot by name, or positions of the arm's joints in radians.
    Joints(String),
    /// The same as a place, in a straight line of the tool.
    Straight(String),
}

/// How motions in a scene are planned.
#[derive(Clone, Debug, Default)]
pub struct SceneSettings {
    /// Where the arm starts, as [`PlanStart::new`] reads it; none: where the scene has it.
    pub start: Option<String>,
    /// The gripper's opening, as [`PlanStart::new`] reads it; none: as it is at the start.
    pub gripper: Option<String>,
    /// What cells of the map are that no camera has seen.
    pub unknown: UnknownCells,
    /// What is in the hand: shapes as [`crate::HeldThing::parse`] reads them, or names of things
    /// that can be moved.
    pub hold: Vec<String>,
    /// What may touch: `link:thing` or `link:link`, by name. Held things are links, the first that
    /// is given as a shape is `held`.
    pub allow: Vec<String>,
    /// The tool stays as level as it is at the start, within this angle, rad.
    pub upright_rad: Option<f64>,
    /// How straight straight lines are.
    pub straight: StraightSettings,
    /// How near things may come.
    pub collider: ColliderSettings,
    /// What counts as a goal, how long is searched, how fast the arm moves.
    pub request: PlanRequest,
    /// Way-points of the plans that were made before, one after the other: see
    /// [`PlanRequest::before`].
    pub before: Option<Vec<Vec<Vec<f64>>>>,
}

/// Plans from goal to goal, until one cannot be reached.
///
/// # Errors
/// When the robot, a goal or a setting makes no sense. That a goal cannot be reached is an answer:
/// [`Legs::reason`].
pub fn plan_in_scene(
    scene: &PlanScene,
    goals: &[GoalText],
    settings: &SceneSettings,
) -> Result<Legs, PlanError> {
    plan_in_scene_with(scene, goals, settings, &mut BiRrt)
}

/// As [`plan_in_scene`], with paths that something else finds.
///
/// # Errors
/// As there, and when the finder cannot be asked this.
pub fn plan_in_scene_with(
    scene: &PlanScene,
    goals: &[GoalText],
    settings: &SceneSettings,
    finder: &mut dyn PathFinder,
) -> Result<Legs, PlanError> {
    let (robot, body) = (&scene.description, &scene.robot);
    let inertias = Some(body.details().inertias.as_slice()).filter(|known| !known.is_empty());
    let servo = scene.servo.as_ref();
    let feedforward = servo.map(|servo| Feedforward::new(body.chain(), servo, inertias));
    let feedforward = feedforward.transpose()?;
    let home = robot.pose(&robot.home).map_err(|reason| PlanError::bad("home", reason))?;
    let plain = PlannedArm::described(body.clone(), robot, home)?;
    let (start, gripper) = (settings.start.as_deref(), settings.gripper.as_deref());
    let start = PlanStart::new(&plain, robot, &scene.joints, start, gripper)?;
    let (body, held) = start.gripper.body(body.clone(), home)?;
    let arm = PlannedArm::described(body, robot, &held)?;
    let (mut obstacles, mut names) = scene.obstacles();
    let arm = scene.holding(arm, &settings.hold, &start.arm, &mut obstacles, &mut names)?;
    let arm = touch::allow(arm, &settings.allow, &mut obstacles, &names)?;
    let goals: Result<Vec<_>, _> = goals.iter().map(|goal| goal.read(&arm, robot)).collect();
    let goals = goals?;
    if let (UnknownCells::Blocked, Some(map)) = (settings.unknown, &scene.map) {
        // Where the arm is nobody can look, and there it is.
        let (mut joints, mut own) = (Vec::new(), Vec::new());
        arm.all_joints(&Config::of(&start.arm), &mut joints);
        arm.body().shapes_at(&joints, &mut own)?;
        obstacles.map = Some(Arc::new(map.with_unknown_blocked(&own, OWN_SPACE_M)?));
    }
    let mut collider = Collider::new(&arm, &obstacles, &settings.collider)?;
    let mut request = settings.request.clone();
    if let Some(half_angle_rad) = settings.upright_rad {
        request.cone = Some(ToolCone::upright(&arm, &start.arm, half_angle_rad));
    }
    let straight = PlanRequest { straight: Some(settings.straight), ..request.clone() };
    let mut planner = Planner::new(arm.limits(), request.search.clone())?;
    let mut from = start.arm.clone();
    let mut legs = Vec::new();
    for (number, AskedGoal { text, goal, is_straight }) in goals.iter().enumerate() {
        let text = text.clone();
        let before = settings.before.as_ref().and_then(|plans| plans.get(number).cloned());
        let request = PlanRequest { before, ..request.clone() };
        let lines = goals[number + 1..].iter().take_while(|next| next.is_straight);
        let lines: Vec<&PlanGoal> = lines.map(|next| &next.goal).collect();
        let made = if *is_straight {
            let tools = (&mut collider, &mut planner);
            make_plan_with(&arm, tools, finder, &from, goal, &straight)?
        } else {
            let aim = before_lines(&arm, &mut collider, &from, goal, &lines, &straight)?;
            let aim = aim.as_ref().unwrap_or(goal);
            let tools = (&mut collider, &mut planner);
            let mut made = make_plan_with(&arm, tools, finder, &from, aim, &request)?;
            if let Some(motion) = &made.trajectory {
                let (reached_m, reached_rad) = miss(&arm, goal, motion.goal())?;
                (made.goal.reached_m, made.goal.reached_rad) = (Some(reached_m), reached_rad);
            }
            made
        };
        let end = made.trajectory.as_ref().map(|motion| motion.goal().to_vec());
        legs.push(Leg { start: from, goal: text, made });
        let Some(end) = end else { break };
        from = end;
    }
    let mounts = collider.mounts().to_vec();
    let settings = SceneSettings { request, ..settings.clone() };
    Ok(Legs { arm, start, obstacles, names, mounts, feedforward, settings, legs })
}

impl SceneSettings {
    /// One seed for goals and searches, and a time limit for each search, if there is one.
    #[must_use]
    pub fn with_seed_and_time(seed: u64, time_limit: Option<Duration>) -> Self {
        let time_limit_s = time_limit.map(|limit| limit.as_secs_f64());
        let request = PlanRequest {
            goal: GoalSettings { seed, ..GoalSettings::default() },
            search: SearchSettings { time_limit_s, ..PlanRequest::search_of(seed) },
            ..PlanRequest::default()
        };
        Self { request, ..Self::default() }
    }
}

impl PlanScene {
    /// What is in the robot's way, and what it is called.
    #[must_use]
    pub fn obstacles(&self) -> (Obstacles, ObstacleNames) {
        let counts = |solid: &&SceneSolid| self.map.is_none() || !solid.can_move;
        let solids = self.solids.iter().filter(counts);
        let (names, solids) = solids.map(|s| (s.name.clone(), s.solid.clone())).unzip();
        let map = self.map.clone();
        (Obstacles { solids, map, ..Obstacles::default() }, ObstacleNames { solids: names })
    }
}

/// Where the arm is free to choose how it stands at a place, and goes on from there in straight
/// lines: the joints there from which these are possible. `None` where there are none, or no
/// lines.
fn before_lines(
    arm: &PlannedArm,
    collider: &mut Collider,
    from: &[f64],
    goal: &PlanGoal,
    lines: &[&PlanGoal],
    request: &PlanRequest,
) -> Result<Option<PlanGoal>, PlanError> {
    if lines.is_empty() || matches!(goal, PlanGoal::Joints(_)) {
        return Ok(None);
    }
    let plain = PlanRequest { straight: None, ..request.clone() };
    let candidates = goals_of(arm, collider, from, goal, &plain)?;
    let settings = request.straight.unwrap_or_default();
    let straight = Straight { arm, settings, timing: request.timing };
    let mut cone = request.cone.as_ref().map(|cone| ConeCheck::new(arm, cone)).transpose()?;
    let mut possible = Vec::new();
    for candidate in candidates.into_iter().take(MOST_BRANCHES) {
        let mut at = candidate.clone();
        let mut all = true;
        for line in lines {
            match straight.plan(collider, cone.as_mut(), &at, line)? {
                Ok(motion) => at = motion.trajectory.goal().to_vec(),
                Err(_) => all = false,
            }
            if !all {
                break;
            }
        }
        if all {
            possible.push(PlanGoal::Joints(candidate));
        }
    }
    Ok((!possible.is_empty()).then_some(PlanGoal::Any(possible)))
}

/// A goal that was read.
struct AskedGoal {
    /// As it was written.
    text: String,
    goal: PlanGoal,
    is_straight: bool,
}

impl GoalText {
    /// What it means.
    fn read(&self, arm: &PlannedArm, robot: &RobotDescription) -> Result<AskedGoal, PlanError> {
        let is_straight = matches!(self, Self::Straight(_));
        let (text, goal) = match self {
            Self::Place(text) => match text.trim_start().strip_prefix("straight ") {
                Some(place) => return Self::Straight(place.to_owned()).read(arm, robot),
                None => (text, PlanGoal::parse(text)?),
            },
            Self::Straight(text) => (text, PlanGoal::parse(text)?),
            Self::Joints(text) => (text, joints(text, arm, robot)?),
        };
        Ok(AskedGoal { text: text.clone(), goal, is_straight })
    }
}

/// Joints of the arm by the name of a pose, or as numbers.
fn joints(text: &str, arm: &PlannedArm, robot: &RobotDescription) -> Result<PlanGoal, PlanError> {
    let name = if text == "home" { &robot.home } else { text };
    if let Some(pose) = robot.poses.get(name) {
        return Ok(PlanGoal::Joints(pose[..arm.joints().min(pose.len())].to_vec()));
    }
    if text.contains(char::is_alphabetic) {
        let known = robot.poses.keys().map(String::as_str).chain(["home"]);
        let reason = suggestion(text, known);
        return Err(PlanError::Bad { what: format!("the robot has no pose {text:?}"), reason });
    }
    PlanGoal::parse_joints(text, arm)
}
