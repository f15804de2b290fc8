//! `citrange plan bench`: problems of a file, solved, checked again, and timed.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use citrange_plan::{
    Arm, Collider, ColliderSettings, Config, JointLimit, Obstacles, Planner, Problem, Problems,
    SearchResult, SearchSettings, path_length_rad,
};
use citrange_space::Body;
use serde_json::{Value, json};

use crate::exit::ProblemsFound;
use crate::output;

/// How finely found paths are looked at again.
const CHECK_RAD: f32 = 1e-3;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Problems: starts, goals, boxes, spheres, capsules, cylinders, voxels.
    problems: PathBuf,
    /// The robot, as JSON; a UR5 with a gripper if it is not given.
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// What is in the way.
    #[arg(long, value_enum, default_value_t = Kind::Primitives)]
    obstacles: Kind,
    /// Do each problem this often, from nothing each time, and tell the median time.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Seed of the search.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Most milliseconds for one problem.
    #[arg(long, default_value_t = 10_000)]
    time_ms: u32,
    /// Print JSON: an object per problem, with its path, then one for all.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Boxes, balls and capsules.
    Primitives,
    /// Cubes of a voxel map.
    Voxels,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Primitives => "primitives",
            Self::Voxels => "voxels",
        }
    }
}

/// What one problem gave.
struct Solved {
    result: SearchResult,
    raw: Vec<Config>,
    short: Vec<Config>,
    plan_us: f64,
    simplify_us: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let problems = Problems::read(&args.problems)?;
    let arm = arm_of(args, &problems)?;
    let settings = SearchSettings {
        seed: args.seed,
        time_limit_s: Some(f64::from(args.time_ms) / 1e3),
        ..SearchSettings::default()
    };
    let is_free = |p: &&Problem| match args.obstacles {
        Kind::Primitives => p.valid_primitives,
        Kind::Voxels => p.valid_voxels,
    };
    let chosen: Vec<&Problem> = problems.problems.iter().filter(is_free).collect();
    let bar = output::progress("problems", chosen.len() as u64);
    let mut tally = Tally::default();
    if args.obstacles == Kind::Primitives {
        tally.cylinders = chosen.iter().map(|problem| problem.cylinders()).sum();
    }
    let mut collider = Collider::new(&arm, &Obstacles::default(), &ColliderSettings::default())?;
    for problem in chosen {
        let obstacles = match args.obstacles {
            Kind::Primitives => problem.solids(),
            Kind::Voxels => problem.cubes(problems.voxel_size_m, 0.3)?,
        };
        let solved = solve(args.repeat, (&arm, &mut collider), &obstacles, problem, &settings)?;
        let touched = [&solved.raw, &solved.short]
            .into_iter()
            .find_map(|path| first_contact(&mut collider, arm.joints(), path));
        tally.add(&solved, touched.is_none());
        if args.json {
            output::data(&told(args, &arm, problem, &solved).to_string())?;
        }
        if let Some(contact) = touched {
            output::talk(&format!("{}: a returned path touches: {contact}", problem.name));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if tally.cylinders > 0 {
        let count = tally.cylinders;
        output::talk(&format!("cylinders that count as the boxes around them: {count}"));
    }
    if args.json {
        output::data(&json!({"summary": tally.json(args.obstacles)}).to_string())?;
    } else {
        output::data(&tally.text(args.obstacles))?;
    }
    if tally.valid < tally.solved {
        return Err(ProblemsFound("not every path is free".into()).into());
    }
    Ok(())
}

fn arm_of(args: &Args, problems: &Problems) -> anyhow::Result<Arm> {
    let text = match &args.body {
        Some(path) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?,
        None => include_str!("../../../../benches/plan/ur5_robotiq.json").to_owned(),
    };
    let body: Body = serde_json::from_str(&text).context("this is not the body of a robot")?;
    // Problems say nothing of a gripper: all that it sweeps counts.
    let opening = |end: usize| -> Vec<f64> {
        body.chain().joints.iter().map(|j| j.gripper.map_or(0.0, |g| g[end])).collect()
    };
    let (held, open) = (opening(0), opening(1));
    let body = if held == open { body } else { body.swept(&held, [&held, &open], 0.004)? };
    let limit = |range: &[f64; 2]| JointLimit {
        range: *range,
        velocity: std::f64::consts::PI,
        acceleration: 5.0,
        jerk: 50.0,
    };
    Ok(Arm::new(body, problems.joint_limits.iter().map(limit).collect(), &held)?)
}

/// Solves a problem several times, each time with a new planner. The collider knows the robot
/// and, where there is one, the map; other obstacles are new to it each time.
fn solve(
    repeat: u32,
    (arm, collider): (&Arm, &mut Collider),
    obstacles: &Obstacles,
    problem: &Problem,
    settings: &SearchSettings,
) -> anyhow::Result<Solved> {
    let (start, goal) = (Config::of(&problem.start), Config::of(&problem.goal));
    let (mut plan_us, mut simplify_us) = (Vec::new(), Vec::new());
    let mut last = None;
    let nothing = Obstacles { map: obstacles.map.clone(), ..Obstacles::default() };
    for _ in 0..repeat {
        collider.set_obstacles(&nothing)?;
        let began = Instant::now();
        collider.set_obstacles(obstacles)?;
        let mut planner = Planner::new(arm.limits(), settings.clone())?;
        let result = planner.plan(collider, &start, &[goal]);
        plan_us.push(began.elapsed().as_secs_f64() * 1e6);
        let raw = match &result {
            SearchResult::Found { path, .. } => path.clone(),
            _ => Vec::new(),
        };
        let mut short = raw.clone();
        let began = Instant::now();
        if !short.is_empty() {
            planner.simplify(collider, &mut short);
        }
        simplify_us.push(began.elapsed().as_secs_f64() * 1e6);
        last = Some((result, raw, short));
    }
    let (result, raw, short) = last.context("nothing was repeated")?;
    let (plan_us, simplify_us) = (share_of(&mut plan_us, 0.5), share_of(&mut simplify_us, 0.5));
    Ok(Solved { result, raw, short, plan_us, simplify_us })
}

/// The first thing that a path touches, looked for step by step in double precision.
fn first_contact(collider: &mut Collider, joints: usize, path: &[Config]) -> Option<String> {
    for edge in path.windows(2) {
        let steps = (edge[0].distance(&edge[1]) / CHECK_RAD).ceil().max(1.0);
        for step in 0..=steps as usize {
            let at = edge[0].toward(&edge[1], step as f32 / steps);
            // What is nearer than single precision can tell is a contact of no depth.
            let contact = collider.contact(&at.positions(joints));
            if let Some(contact) = contact.filter(|contact| contact.depth_m > 0.0) {
                return Some(format!("{contact:?}"));
            }
        }
    }
    None
}

fn told(args: &Args, arm: &Arm, problem: &Problem, solved: &Solved) -> Value {
    let way = |path: &[Config]| -> Vec<Vec<f64>> {
        path.iter().map(|at| at.positions(arm.joints())).collect()
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
        "obstacles": args.obstacles.name(),
        "outcome": outcome,
        "iterations": iterations,
        "plan_us": solved.plan_us,
        "simplify_us": solved.simplify_us,
        "length_raw_rad": path_length_rad(&solved.raw),
        "length_rad": path_length_rad(&solved.short),
        "waypoints_raw": way(&solved.raw),
        "waypoints": way(&solved.short),
    })
}

/// All problems together.
#[derive(Default)]
struct Tally {
    /// Of all problems; boxes around them stand for them.
    cylinders: usize,
    total: usize,
    solved: usize,
    valid: usize,
    plan_us: Vec<f64>,
    whole_us: Vec<f64>,
    raw_rad: Vec<f64>,
    short_rad: Vec<f64>,
}

impl Tally {
    fn add(&mut self, solved: &Solved, is_valid: bool) {
        self.total += 1;
        self.plan_us.push(solved.plan_us);
        if solved.raw.is_empty() {
            return;
        }
        self.solved += 1;
        self.valid += usize::from(is_valid);
        self.whole_us.push(solved.plan_us + solved.simplify_us);
        self.raw_rad.push(path_length_rad(&solved.raw));
        self.short_rad.push(path_length_rad(&solved.short));
    }

    fn json(&mut self, kind: Kind) -> Value {
        json!({
            "obstacles": kind.name(),
            "cylinders_as_boxes": self.cylinders,
            "total": self.total,
            "solved": self.solved,
            "valid": self.valid,
            "plan_us": {
                "median": share_of(&mut self.plan_us, 0.5),
                "p95": share_of(&mut self.plan_us, 0.95),
                "worst": share_of(&mut self.plan_us, 1.0),
            },
            "plan_and_simplify_us": {
                "median": share_of(&mut self.whole_us, 0.5),
                "p95": share_of(&mut self.whole_us, 0.95),
            },
            "length_raw_rad": {"median": share_of(&mut self.raw_rad, 0.5)},
            "length_rad": {"median": share_of(&mut self.short_rad, 0.5)},
        })
    }

    fn text(&mut self, kind: Kind) -> String {
        format!(
            "{}: solved {}, valid {} of {}; plan median {:.0} µs, 95th {:.0} µs, worst {:.0} µs; \
             with shortcuts median {:.0} µs, 95th {:.0} µs; length {:.2} rad, shortened {:.2} rad",
            kind.name(),
            self.solved,
            self.valid,
            self.total,
            share_of(&mut self.plan_us, 0.5),
            share_of(&mut self.plan_us, 0.95),
            share_of(&mut self.plan_us, 1.0),
            share_of(&mut self.whole_us, 0.5),
            share_of(&mut self.whole_us, 0.95),
            share_of(&mut self.raw_rad, 0.5),
            share_of(&mut self.short_rad, 0.5),
        )
    }
}

/// The value below which a share of all lies; 0 of none.
fn share_of(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    values.get((share * last).round() as usize).copied().unwrap_or(0.0)
}
