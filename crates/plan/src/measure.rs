//! Problems of a file, solved, checked again and timed: for measurements and comparisons.

use std::time::Instant;

use citrange_core::shape::PosedShape;
use citrange_robot::Robot;
use serde_json::{Value, json};

use crate::arm::{JointLimit, PlannedArm};
use crate::collide::{Collider, ColliderSettings};
use crate::config::Config;
use crate::error::PlanError;
use crate::obstacles::Obstacles;
use crate::problems::{Problem, Problems};
use crate::search::{Effort, Improved, Planner, SearchResult, SearchSettings, path_length_rad};

/// How finely found paths are looked at again.
const CHECK_RAD: f32 = 1e-3;
/// How much the spheres of a swept gripper may reach beyond what it sweeps.
const SWEEP_SLACK_M: f64 = 0.004;
/// How much larger a map of cubes is than what it holds.
const MAP_REACH_M: f64 = 0.3;

/// Which form of a problem's obstacles is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObstacleKind {
    /// Boxes, spheres and capsules.
    Primitives,
    /// Cubes of a voxel map.
    Voxels,
}

impl ObstacleKind {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Primitives => "primitives",
            Self::Voxels => "voxels",
        }
    }
}

/// A robot that solves problems of one file.
#[derive(Clone, Debug)]
pub struct Bench {
    arm: PlannedArm,
    collider: Collider,
    settings: SearchSettings,
    effort: Effort,
    kind: ObstacleKind,
    voxel_size_m: f64,
    /// What is in the way in every problem, besides its own.
    more: Vec<PosedShape>,
}

/// What one problem gave.
#[derive(Clone, Debug)]
pub struct Solved {
    result: SearchResult,
    raw: Vec<Config>,
    simplified_rad: f64,
    short: Vec<Config>,
    improved: Improved,
    plan_us: f64,
    simplify_us: f64,
    improve_us: f64,
    /// What a returned path touches, if it does.
    pub contact: Option<String>,
}

impl Bench {
    /// `body`: the robot, as JSON.
    ///
    /// # Errors
    /// When the robot cannot be read or does not fit the problems.
    pub fn new(
        problems: &Problems,
        body: &str,
        kind: ObstacleKind,
        settings: SearchSettings,
    ) -> Result<Self, PlanError> {
        let body: Robot = serde_json::from_str(body)
            .map_err(|e| PlanError::bad("this is not the body of a robot", e.to_string()))?;
        Self::of(problems, body, kind, settings)
    }

    /// The same for a robot that is known.
    ///
    /// # Errors
    /// When the robot does not fit the problems.
    pub fn of(
        problems: &Problems,
        body: Robot,
        kind: ObstacleKind,
        settings: SearchSettings,
    ) -> Result<Self, PlanError> {
        let (given, needed) = (problems.joint_limits.len(), body.chain().arm_joints);
        if given != needed {
            let what = format!("problems for {}", problems.robot);
            let reason = format!("{given} joints; the arm of {} has {needed}", body.chain().robot);
            return Err(PlanError::Bad { what, reason });
        }
        let arm = Self::arm_of(body, &problems.joint_limits)?;
        let collider = Collider::new(&arm, &Obstacles::default(), &ColliderSettings::default())?;
        let voxel_size_m = problems.voxel_size_m;
        let (effort, more) = (Effort::default(), Vec::new());
        Ok(Self { arm, collider, settings, effort, kind, voxel_size_m, more })
    }

    /// The arm of a robot with everything that its gripper sweeps, with these ranges. Problems say
    /// nothing of speeds.
    ///
    /// # Errors
    /// When there are not as many ranges as joints, or they make no sense.
    pub fn arm_of(body: Robot, ranges: &[[f64; 2]]) -> Result<PlannedArm, PlanError> {
        // Problems say nothing of a gripper: all that it sweeps counts.
        let opening = |end: usize| -> Vec<f64> {
            body.chain().joints.iter().map(|j| j.gripper.map_or(0.0, |g| g[end])).collect()
        };
        let (held, open) = (opening(0), opening(1));
        let body =
            if held == open { body } else { body.swept(&held, [&held, &open], SWEEP_SLACK_M)? };
        let limit = |range: &[f64; 2]| JointLimit {
            range: *range,
            velocity: std::f64::consts::PI,
            acceleration: 5.0,
            jerk: 50.0,
        };
        PlannedArm::new(body, ranges.iter().map(limit).collect(), &held)
    }

    /// How much is spent on better paths; what [`Effort::default`] says if it is not said.
    pub fn set_effort(&mut self, effort: Effort) {
        self.effort = effort;
    }

    /// More that is in the way, in every problem.
    pub fn add_solids(&mut self, solids: &[PosedShape]) {
        self.more.extend_from_slice(solids);
    }

    /// The robot, with its gripper swept.
    #[must_use]
    pub fn arm(&self) -> &PlannedArm {
        &self.arm
    }

    /// Which obstacles are in the way.
    #[must_use]
    pub fn kind(&self) -> ObstacleKind {
        self.kind
    }

    /// The problems whose ends are free among these obstacles.
    pub fn chosen<'a>(&self, problems: &'a Problems) -> impl Iterator<Item = &'a Problem> {
        let kind = self.kind;
        problems.problems.iter().filter(move |problem| match kind {
            ObstacleKind::Primitives => problem.valid_primitives,
            ObstacleKind::Voxels => problem.valid_voxels,
        })
    }

    /// Solves a problem `repeat` times, each time with a new planner, and looks at the paths of
    /// the last time again. The collider knows the robot and, where there is one, the map; other
    /// obstacles are new to it each time.
    ///
    /// # Errors
    /// When the problem makes no sense, or is to be solved no time at all.
    pub fn solve(&mut self, problem: &Problem, repeat: u32) -> Result<Solved, PlanError> {
        let mut obstacles = match self.kind {
            ObstacleKind::Primitives => problem.solids(),
            ObstacleKind::Voxels => problem.cubes(self.voxel_size_m, MAP_REACH_M)?,
        };
        obstacles.solids.extend_from_slice(&self.more);
        let (start, goal) = (Config::of(&problem.start), Config::of(&problem.goal));
        let (mut plan_us, mut simplify_us, mut improve_us) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = None;
        let nothing = Obstacles { map: obstacles.map.clone(), ..Obstacles::default() };
        for _ in 0..repeat {
            self.collider.set_obstacles(&nothing)?;
            let began = Instant::now();
            self.collider.set_obstacles(&obstacles)?;
            let mut planner = Planner::new(self.arm.limits(), self.settings.clone())?;
            let result = planner.plan(&mut self.collider, &start, &[goal]);
            plan_us.push(began.elapsed().as_secs_f64() * 1e6);
            let raw = match &result {
                SearchResult::Found { path, .. } => path.clone(),
                _ => Vec::new(),
            };
            let mut short = raw.clone();
            let began = Instant::now();
            if !short.is_empty() {
                planner.simplify(&mut self.collider, &mut short);
            }
            simplify_us.push(began.elapsed().as_secs_f64() * 1e6);
            let simplified_rad = path_length_rad(&short);
            let mut improved = Improved::default();
            let began = Instant::now();
            if !short.is_empty() {
                let effort = &self.effort;
                improved = planner.improve(&mut self.collider, &[goal], &mut short, effort);
            }
            improve_us.push(began.elapsed().as_secs_f64() * 1e6);
            last = Some((result, raw, simplified_rad, short, improved));
        }
        let (result, raw, simplified_rad, short, improved) =
            last.ok_or_else(|| PlanError::bad("repeat", "at least once is right"))?;
        let plan_us = quantile(&mut plan_us, 0.5);
        let simplify_us = quantile(&mut simplify_us, 0.5);
        let improve_us = quantile(&mut improve_us, 0.5);
        let contact = [&raw, &short].into_iter().find_map(|path| self.first_contact(path));
        Ok(Solved {
            result,
            raw,
            simplified_rad,
            short,
            improved,
            plan_us,
            simplify_us,
            improve_us,
            contact,
        })
    }

    /// The first thing that a path touches, looked for step by step in double precision.
    fn first_contact(&mut self, path: &[Config]) -> Option<String> {
        for edge in path.windows(2) {
            let steps = (edge[0].distance(&edge[1]) / CHECK_RAD).ceil().max(1.0);
            for step in 0..=steps as usize {
                let at = edge[0].toward(&edge[1], step as f32 / steps);
                // What is nearer than single precision can tell is a contact of no depth.
                let contact = self.collider.contact(&at.positions(self.arm.joints()));
                if let Some(contact) = contact.filter(|contact| contact.depth_m > 0.0) {
                    return Some(format!("{contact:?}"));
                }
            }
        }
        None
    }

    /// What a problem gave, with its paths.
    #[must_use]
    pub fn json(&self, problem: &Problem, solved: &Solved) -> Value {
        let way = |path: &[Config]| -> Vec<Vec<f64>> {
            path.iter().map(|at| at.positions(self.arm.joints())).collect()
        };
        let (outcome, iterations) = match &solved.result {
            SearchResult::Found { iterations, .. } => ("found", *iterations),
            SearchResult::NoPath { iterations, .. } => ("no_path", *iterations),
            SearchResult::StartBlocked => ("start_in_collision", 0),
            SearchResult::GoalBlocked => ("goal_in_collision", 0),
        };
        json!({
            "name": problem.name,
            "cls": problem.kind,
            "obstacles": self.kind.name(),
            "outcome": outcome,
            "iterations": iterations,
            "plan_us": solved.plan_us,
            "simplify_us": solved.simplify_us,
            "improve_us": solved.improve_us,
            "checks": solved.improved.checks,
            "is_reproducible": !solved.improved.is_timed_out,
            "solvable": problem.solvable,
            "length_raw_rad": path_length_rad(&solved.raw),
            "length_simplified_rad": solved.simplified_rad,
            "length_rad": path_length_rad(&solved.short),
            "waypoints_raw": way(&solved.raw),
            "waypoints": way(&solved.short),
        })
    }
}

/// All problems together.
#[derive(Clone, Debug)]
pub struct BenchTally {
    kind: ObstacleKind,
    /// Problems.
    pub total: usize,
    /// With a path.
    pub solved: usize,
    /// Whose paths touch nothing.
    pub valid: usize,
    plan_us: Vec<f64>,
    whole_us: Vec<f64>,
    improve_us: Vec<f64>,
    simplified_rad: Vec<f64>,
    raw_rad: Vec<f64>,
    short_rad: Vec<f64>,
}

impl Solved {
    /// Length of the last path; none where there is none.
    #[must_use]
    pub fn length_rad(&self) -> Option<f64> {
        (!self.short.is_empty()).then(|| path_length_rad(&self.short))
    }

    /// Time of search, shortcuts and improvement.
    #[must_use]
    pub fn whole_us(&self) -> f64 {
        self.plan_us + self.simplify_us + self.improve_us
    }
}

impl BenchTally {
    /// Of nothing yet.
    #[must_use]
    pub fn new(kind: ObstacleKind) -> Self {
        let none = Vec::new;
        Self {
            kind,
            total: 0,
            solved: 0,
            valid: 0,
            plan_us: none(),
            whole_us: none(),
            improve_us: none(),
            simplified_rad: none(),
            raw_rad: none(),
            short_rad: none(),
        }
    }

    /// Counts a problem.
    pub fn add(&mut self, solved: &Solved) {
        self.total += 1;
        self.plan_us.push(solved.plan_us);
        if solved.raw.is_empty() {
            return;
        }
        self.solved += 1;
        self.valid += usize::from(solved.contact.is_none());
        self.whole_us.push(solved.plan_us + solved.simplify_us);
        self.improve_us.push(solved.improve_us);
        self.simplified_rad.push(solved.simplified_rad);
        self.raw_rad.push(path_length_rad(&solved.raw));
        self.short_rad.push(path_length_rad(&solved.short));
    }

    /// As JSON.
    #[must_use]
    pub fn json(&mut self) -> Value {
        json!({
            "obstacles": self.kind.name(),
            // Cylinders are cylinders now; readers of older output find the key.
            "cylinders_as_boxes": 0,
            "total": self.total,
            "solved": self.solved,
            "valid": self.valid,
            "plan_us": {
                "median": quantile(&mut self.plan_us, 0.5),
                "p95": quantile(&mut self.plan_us, 0.95),
                "worst": quantile(&mut self.plan_us, 1.0),
            },
            "plan_and_simplify_us": {
                "median": quantile(&mut self.whole_us, 0.5),
                "p95": quantile(&mut self.whole_us, 0.95),
            },
            "improve_us": {
                "median": quantile(&mut self.improve_us, 0.5),
                "p95": quantile(&mut self.improve_us, 0.95),
            },
            "length_raw_rad": {"median": quantile(&mut self.raw_rad, 0.5)},
            "length_simplified_rad": {"median": quantile(&mut self.simplified_rad, 0.5)},
            "length_rad": {"median": quantile(&mut self.short_rad, 0.5)},
        })
    }

    /// In a line.
    #[must_use]
    pub fn text(&mut self) -> String {
        format!(
            "{}: solved {}, valid {} of {}; plan median {:.0} µs, 95th {:.0} µs, worst {:.0} µs; \
             with shortcuts median {:.0} µs, 95th {:.0} µs; improved in {:.0} µs more; length \
             {:.2} rad, with shortcuts {:.2} rad, improved {:.2} rad",
            self.kind.name(),
            self.solved,
            self.valid,
            self.total,
            quantile(&mut self.plan_us, 0.5),
            quantile(&mut self.plan_us, 0.95),
            quantile(&mut self.plan_us, 1.0),
            quantile(&mut self.whole_us, 0.5),
            quantile(&mut self.whole_us, 0.95),
            quantile(&mut self.improve_us, 0.5),
            quantile(&mut self.raw_rad, 0.5),
            quantile(&mut self.simplified_rad, 0.5),
            quantile(&mut self.short_rad, 0.5),
        )
    }
}

/// The value below which a fraction of all lies; 0 of none.
pub(crate) fn quantile(values: &mut [f64], fraction: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    values.get((fraction * last).round() as usize).copied().unwrap_or(0.0)
}
