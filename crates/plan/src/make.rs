//! From a question to a motion: goal checked, path searched, shortened and timed.

use std::time::Instant;

use serde::Serialize;

use crate::arm::PlannedArm;
use crate::collide::Collider;
use crate::cone::{ConeCheck, Coned, ToolCone};
use crate::config::Config;
use crate::error::PlanError;
use crate::finder::{BiRrt, FoundPath, PathFinder, PathQuestion};
use crate::goal::{GoalReport, GoalSettings, PlanGoal, check_goal, miss};
use crate::outcome::{Path, PathEnd, PlanOutcome};
use crate::search::{
    Effort, Improved, Planner, Reused, SearchResult, SearchSettings, path_length_rad,
};
use crate::straight::{Straight, StraightSettings};
use crate::timing::{TimingSettings, Trajectory};

/// Share of full speed at which a robot backs out of a collision.
const ESCAPE_SPEED: f64 = 0.1;

/// Collision checks before a search gives up.
const MOST_CHECKS: u64 = 2_000_000;

/// What single precision may be off: far less than proofs leave between the robot and things.
const SAME_RAD: f64 = 1e-6;

/// How a plan is made.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// What counts as reaching the goal.
    pub goal: GoalSettings,
    /// How a path is searched for.
    pub search: SearchSettings,
    /// How much is spent on a better path than the first.
    pub effort: Effort,
    /// How fast the robot moves.
    pub timing: TimingSettings,
    /// Directions of the tool that are kept all the way; none: any.
    pub cone: Option<ToolCone>,
    /// The tool goes along a straight line, this straight; none: as it comes.
    pub straight: Option<StraightSettings>,
    /// Way-points of a path that was planned before, for a world that has changed since: it is
    /// proved again first, then mended, and only then looked for anew.
    pub before: Option<Vec<Vec<f64>>>,
}

impl Default for PlanRequest {
    fn default() -> Self {
        Self {
            goal: GoalSettings::default(),
            search: Self::search_of(0),
            effort: Effort::default(),
            timing: TimingSettings::default(),
            cone: None,
            straight: None,
            before: None,
        }
    }
}

impl PlanRequest {
    /// A search that gives up after as many collision checks as a second or two have: on every
    /// machine alike.
    #[must_use]
    pub fn search_of(seed: u64) -> SearchSettings {
        SearchSettings { seed, max_checks: Some(MOST_CHECKS), ..SearchSettings::default() }
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
    /// What was proved of a straight motion: how far the tool may be off the line, and turned
    /// away, at most.
    pub straight: Option<(f64, f64)>,
    /// Where the time went.
    pub times: PlanTimes,
    /// What was spent on a better path than the first, and what came of it.
    pub improved: Option<Improved>,
    /// How much of the path before is in this one, where there was one.
    pub reused: Option<Reused>,
}

/// Seconds that each step of making a plan took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PlanTimes {
    /// Start and goal checked, inverse kinematics.
    pub goal_s: f64,
    /// Path found, shortened and improved.
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
    if request.straight.is_some() {
        return make_straight(arm, collider, start, goal, request);
    }
    let mut cone = request.cone.as_ref().map(|cone| ConeCheck::new(arm, cone)).transpose()?;
    let coned = request.cone.as_ref().map(|cone| in_cone(goal, cone, &request.goal));
    let (aim, goal_settings) = coned.as_ref().map_or((goal, &request.goal), |(a, s)| (a, s));
    let mut times = PlanTimes::default();
    let began = Instant::now();
    let span = tracing::debug_span!("check_goal").entered();
    let mut report = check_goal(arm, collider, start, aim, goal_settings)?;
    drop(span);
    if let Some(cone) = &mut cone {
        keep_in_cone(arm, cone, start, &mut report);
    }
    times.goal_s = began.elapsed().as_secs_f64();
    if let Some(outcome) = report.outcome.take() {
        return Ok(MadePlan::none(outcome, report, times));
    }
    let out_of_it = |out: Config| within(arm, &out);
    let first = report.escape.map_or_else(|| start.to_vec(), out_of_it);
    let began = Instant::now();
    let from = Config::of(&first);
    let span = tracing::debug_span!("search", goals = report.candidates.len()).entered();
    let candidates = &report.candidates;
    let found = match &mut cone {
        Some(cone) => {
            let mut kept = Coned { inner: collider, cone };
            let result = planner.plan_constrained(&mut kept, &from, candidates);
            let reused = request.before.as_ref().map(|_| Reused::Replanned);
            FoundPath { reused, ..FoundPath::new(result, BiRrt::NAME) }
        }
        None => {
            let (effort, before) = (&request.effort, request.before.as_deref());
            let question = PathQuestion { arm, from: &from, goal, candidates, effort, before };
            finder.find(&question, collider, planner)?
        }
    };
    let FoundPath { result, by, notes, improved, reused } = found;
    report.warnings.extend(notes);
    drop(span);
    times.search_s = began.elapsed().as_secs_f64();
    let (path, iterations) = match result {
        SearchResult::Found { path, iterations, .. } => (path, iterations),
        SearchResult::NoPath { iterations, .. } => {
            let outcome = PlanOutcome::NoPath { iterations, spent_s: times.search_s };
            return Ok(MadePlan { found_by: by, ..MadePlan::none(outcome, report, times) });
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
    let trajectory = match &mut cone {
        Some(cone) => {
            let mut kept = Coned { inner: &mut *collider, cone };
            Trajectory::along(&waypoints, arm.limits(), &request.timing, &mut kept)?
        }
        None => Trajectory::along(&waypoints, arm.limits(), &request.timing, collider)?,
    };
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
        straight: None,
        times,
        improved,
        reused,
    })
}

impl MadePlan {
    /// No path, for a reason.
    fn none(outcome: PlanOutcome, goal: GoalReport, times: PlanTimes) -> Self {
        Self {
            outcome,
            found_by: "check",
            goal,
            escape: None,
            trajectory: None,
            straight: None,
            times,
            improved: None,
            reused: None,
        }
    }
}

/// Joints that lead to a goal, nearest first; none where it cannot be reached freely.
pub(crate) fn goals_of(
    arm: &PlannedArm,
    collider: &mut Collider,
    start: &[f64],
    goal: &PlanGoal,
    request: &PlanRequest,
) -> Result<Vec<Vec<f64>>, PlanError> {
    let coned = request.cone.as_ref().map(|cone| in_cone(goal, cone, &request.goal));
    let (aim, settings) = coned.as_ref().map_or((goal, &request.goal), |(a, s)| (a, s));
    let report = check_goal(arm, collider, start, aim, settings)?;
    Ok(report.candidates.iter().map(|at| within(arm, at)).collect())
}

/// As [`make_plan`], the tool along a line.
fn make_straight(
    arm: &PlannedArm,
    collider: &mut Collider,
    start: &[f64],
    goal: &PlanGoal,
    request: &PlanRequest,
) -> Result<MadePlan, PlanError> {
    let mut times = PlanTimes::default();
    let began = Instant::now();
    let mut report = GoalReport::default();
    // The start alone: whether the goal can be reached is for the line to say.
    let here = PlanGoal::Joints(start.to_vec());
    let settings = GoalSettings { proceed_anyway: false, ..request.goal.clone() };
    if let Some(outcome) = check_goal(arm, collider, start, &here, &settings)?.outcome {
        return Ok(MadePlan::none(outcome, report, times));
    }
    let mut cone = request.cone.as_ref().map(|cone| ConeCheck::new(arm, cone)).transpose()?;
    times.goal_s = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let settings = request.straight.unwrap_or_default();
    let straight = Straight { arm, settings, timing: request.timing };
    let made = straight.plan(collider, cone.as_mut(), start, goal)?;
    times.search_s = began.elapsed().as_secs_f64();
    let motion = match made {
        Ok(motion) => motion,
        Err(fault) => {
            return Ok(MadePlan::none(PlanOutcome::NotStraight { fault }, report, times));
        }
    };
    if let Some(end) = motion.waypoints.last() {
        let (reached_m, reached_rad) = miss(arm, goal, end)?;
        (report.reached_m, report.reached_rad) = (Some(reached_m), reached_rad);
    }
    let path: Vec<Config> = motion.waypoints.iter().map(|at| Config::of(at)).collect();
    let length_rad = path_length_rad(&path);
    Ok(MadePlan {
        outcome: PlanOutcome::Found(Path {
            waypoints: motion.waypoints,
            length_rad,
            iterations: 0,
        }),
        found_by: "straight",
        goal: report,
        escape: None,
        trajectory: Some(motion.trajectory),
        straight: Some((motion.off_m, motion.turned_rad)),
        times,
        improved: None,
        reused: None,
    })
}

/// The goal of a motion that keeps a cone: where any orientation will do, the tool as the cone
/// wants it.
fn in_cone(goal: &PlanGoal, cone: &ToolCone, settings: &GoalSettings) -> (PlanGoal, GoalSettings) {
    let ToolCone { axis_in_tool: of_tool, axis_in_world: toward, half_angle_rad } = *cone;
    let tolerance_rad = settings.tolerance_rad.max(half_angle_rad);
    let goal = match goal {
        PlanGoal::Point { at_m } => PlanGoal::Axis { at_m: *at_m, of_tool, toward },
        PlanGoal::Any(goals) => {
            PlanGoal::Any(goals.iter().map(|goal| in_cone(goal, cone, settings).0).collect())
        }
        PlanGoal::Region { low_m, high_m, roll_pitch_yaw_rad: None } => {
            // Its places, with the tool as it must be.
            let places = PlanGoal::places_of(*low_m, *high_m, settings.seed);
            PlanGoal::Any(places.map(|at_m| PlanGoal::Axis { at_m, of_tool, toward }).collect())
        }
        other => return (other.clone(), settings.clone()),
    };
    (goal, GoalSettings { tolerance_rad, ..settings.clone() })
}

/// Leaves only goals that keep a cone; says so where the start or all goals do not.
fn keep_in_cone(arm: &PlannedArm, cone: &mut ConeCheck, start: &[f64], report: &mut GoalReport) {
    if report.outcome.is_some() {
        return;
    }
    let half_angle_rad = cone.half_angle_rad();
    if !cone.holds(start) {
        let off_rad = cone.angle_rad(start);
        report.outcome =
            Some(PlanOutcome::OffCone { end: PathEnd::Start, off_rad, half_angle_rad });
        return;
    }
    let off_rad = report.candidates.iter().map(|at| cone.angle_rad(&at.positions(arm.joints())));
    let off_rad = off_rad.fold(f64::INFINITY, f64::min);
    report.candidates.retain(|at| cone.holds(&at.positions(arm.joints())));
    if report.candidates.is_empty() {
        report.outcome = Some(PlanOutcome::OffCone { end: PathEnd::Goal, off_rad, half_angle_rad });
    }
}

/// Positions in double precision, back within the limits that single precision rounds over.
fn within(arm: &PlannedArm, at: &Config) -> Vec<f64> {
    let positions = at.positions(arm.joints()).into_iter().zip(arm.limits());
    positions.map(|(p, limit)| p.clamp(limit.range[0], limit.range[1])).collect()
}
