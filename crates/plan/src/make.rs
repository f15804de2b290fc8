//! From a question to a motion: goal checked, path searched, shortened and timed.

use std::time::Instant;

use serde::Serialize;

use crate::arm::PlannedArm;
use crate::collide::Collider;
use crate::config::Config;
use crate::error::PlanError;
use crate::finder::{BiRrt, FoundPath, PathFinder, PathQuestion};
use crate::goal::{GoalReport, GoalSettings, PlanGoal, check_goal, miss};
use crate::outcome::{Path, PlanOutcome};
use crate::search::{Effort, Planner, SearchResult, SearchSettings, path_length_rad};
use crate::timing::{TimingSettings, Trajectory};

/// Share of full speed at which a robot backs out of a collision.
const ESCAPE_SPEED: f64 = 0.1;

/// What single precision may be off: far less than proofs leave between the robot and things.
const SAME_RAD: f64 = 1e-6;

/// How a plan is made.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// What counts as reaching the goal.
    pub goal: GoalSettings,
    /// How a path is searched for.
    pub search: SearchSettings,
    /// Searches of which the best is taken.
    pub effort: Effort,
    /// How fast the robot moves.
    pub timing: TimingSettings,
}

impl Default for PlanRequest {
    fn default() -> Self {
        Self {
            goal: GoalSettings::default(),
            search: SearchSettings { time_limit_s: Some(1.0), ..SearchSettings::default() },
            effort: Effort { rounds: 1, time_limit: None },
            timing: TimingSettings::default(),
        }
    }
}

/// What became of a request.
#[derive(Clone, Debug)]
pub struct MadePlan {
    /// A path, or the reason why there is none.
    pub outcome: PlanOutcome,
    /// Who said so: `birrt`, `policy`, or `check` where start or goal decided.
    pub found_by: &'static str,
    /// What was found out about start and goal.
    pub goal: GoalReport,
    /// A slow motion out of a collision, to be carried out first.
    pub escape: Option<Trajectory>,
    /// The motion along the path.
    pub trajectory: Option<Trajectory>,
    /// Where the time went.
    pub times: PlanTimes,
}

/// Seconds that each step of making a plan took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PlanTimes {
    /// Start and goal checked, inverse kinematics.
    pub goal_s: f64,
    /// Path found and shortened.
    pub search_s: f64,
    /// Corners rounded, motion timed.
    pub timing_s: f64,
}

/// Plans a motion of an arm from joints to a goal. The planner keeps what it learned, for
/// [`Planner::replan`].
///
/// # Errors
/// When start, goal or settings make no sense. That there is no path is an answer.
pub fn make_plan(
    arm: &PlannedArm,
    collider: &mut Collider,
    planner: &mut Planner,
    start: &[f64],
    goal: &PlanGoal,
    request: &PlanRequest,
) -> Result<MadePlan, PlanError> {
    make_plan_with(arm, (collider, planner), &mut BiRrt, start, goal, request)
}

/// As [`make_plan`], with a path that something else finds.
///
/// # Errors
/// As there, and when the finder cannot be asked this.
pub fn make_plan_with(
    arm: &PlannedArm,
    (collider, planner): (&mut Collider, &mut Planner),
    finder: &mut dyn PathFinder,
    start: &[f64],
    goal: &PlanGoal,
    request: &PlanRequest,
) -> Result<MadePlan, PlanError> {
    let _span = tracing::info_span!("plan").entered();
    let mut times = PlanTimes::default();
    let began = Instant::now();
    let span = tracing::debug_span!("check_goal").entered();
    let mut report = check_goal(arm, collider, start, goal, &request.goal)?;
    drop(span);
    times.goal_s = began.elapsed().as_secs_f64();
    if let Some(outcome) = report.outcome.take() {
        let (escape, trajectory) = (None, None);
        let found_by = "check";
        return Ok(MadePlan { outcome, found_by, goal: report, escape, trajectory, times });
    }
    let out_of_it = |out: Config| within(arm, &out);
    let first = report.escape.map_or_else(|| start.to_vec(), out_of_it);
    let began = Instant::now();
    let from = Config::of(&first);
    let span = tracing::debug_span!("search", goals = report.candidates.len()).entered();
    let candidates = &report.candidates;
    let question = PathQuestion { arm, from: &from, goal, candidates, effort: &request.effort };
    let FoundPath { result, by, notes } = finder.find(&question, collider, planner)?;
    report.warnings.extend(notes);
    drop(span);
    times.search_s = began.elapsed().as_secs_f64();
    let (path, iterations) = match result {
        SearchResult::Found { path, iterations, .. } => (path, iterations),
        SearchResult::NoPath { iterations, .. } => {
            let outcome = PlanOutcome::NoPath { iterations, spent_s: times.search_s };
            let (escape, trajectory) = (None, None);
            return Ok(MadePlan { outcome, found_by: by, goal: report, escape, trajectory, times });
        }
        SearchResult::StartBlocked | SearchResult::GoalBlocked => {
            // Both ends were free a moment ago: nothing else can have changed.
            return Err(PlanError::bad("search", "an end of the path is blocked after its check"));
        }
    };
    let mut waypoints: Vec<Vec<f64>> = path.iter().map(|at| within(arm, at)).collect();
    // The ends are the given ones to the last bit.
    if let Some(begin) = waypoints.first_mut() {
        begin.clone_from(&first);
    }
    if let (PlanGoal::Joints(wanted), Some(end)) = (goal, waypoints.last_mut())
        && end.iter().zip(wanted).all(|(e, w)| (e - w).abs() < SAME_RAD)
    {
        end.clone_from(wanted);
    }
    if let Some(end) = waypoints.last() {
        let (reached_m, reached_rad) = miss(arm, goal, end)?;
        report.reached_m = Some(reached_m);
        report.reached_rad = reached_rad;
    }
    let began = Instant::now();
    let _span = tracing::debug_span!("time", waypoints = waypoints.len()).entered();
    let trajectory = Trajectory::along(&waypoints, arm.limits(), &request.timing, collider)?;
    let escape = match report.escape {
        Some(_) => {
            let timing =
                TimingSettings { scale: ESCAPE_SPEED * request.timing.scale, ..request.timing };
            let way = [start.to_vec(), first.clone()];
            Some(Trajectory::along(&way, arm.limits(), &timing, collider)?)
        }
        None => None,
    };
    times.timing_s = began.elapsed().as_secs_f64();
    let length_rad = path_length_rad(&path);
    Ok(MadePlan {
        outcome: PlanOutcome::Found(Path { waypoints, length_rad, iterations }),
        found_by: by,
        goal: report,
        escape,
        trajectory: Some(trajectory),
        times,
    })
}

/// Positions in double precision, back within the limits that single precision rounds over.
fn within(arm: &PlannedArm, at: &Config) -> Vec<f64> {
    let positions = at.positions(arm.joints()).into_iter().zip(arm.limits());
    positions.map(|(p, limit)| p.clamp(limit.range[0], limit.range[1])).collect()
}
