//! Times of searches on planning problems, each with a new planner, its memory included.
//!
//! `cargo run --release -p citrange-plan --example solve_problems -- problems.json body.json
//! [solids|cubes] [seeds] [settings as JSON]`

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use citrange_core::shape::PosedShape;
use citrange_plan::{
    Collider, ColliderSettings, Config, JointLimit, Obstacles, PlannedArm, Planner, Problem,
    Problems, SearchResult, SearchSettings, path_length_rad,
};
use citrange_robot::Robot;

type Failure = Box<dyn std::error::Error>;

/// The fastest of so many runs counts: other work on the machine disturbs it least.
const REPETITIONS: usize = 5;

/// How far the field of a problem's map reaches.
const REACH_M: f64 = 0.5;

/// What a search came to.
struct Solved {
    plan_us: f64,
    simplify_us: f64,
    raw_rad: f64,
    length_rad: f64,
    iterations: usize,
}

/// What a search came to in a world that has changed since.
struct Mended {
    same_us: f64,
    replan_us: f64,
    plan_us: f64,
}

fn main() -> Result<(), Failure> {
    let given: Vec<String> = std::env::args().collect();
    let [_, problems, body, rest @ ..] = given.as_slice() else {
        return Err("needs: problems.json body.json [solids|cubes] [seeds] [settings]".into());
    };
    let problems = Problems::read(Path::new(problems))?;
    let body: Robot = serde_json::from_str(&std::fs::read_to_string(body)?)?;
    let as_cubes = rest.first().is_some_and(|form| form == "cubes");
    let seeds: u64 = rest.get(1).map_or(Ok(1), |seeds| seeds.parse())?;
    let settings: SearchSettings = serde_json::from_str(rest.get(2).map_or("{}", |s| s))?;
    let limit = |range: &[f64; 2]| JointLimit {
        range: *range,
        velocity: 1.0,
        acceleration: 1.0,
        jerk: 1.0,
    };
    let limits: Vec<JointLimit> = problems.joint_limits.iter().map(limit).collect();
    let held = vec![0.0; body.chain().joints.len()];
    let arm = PlannedArm::new(body, limits, &held)?;
    let mut out = std::io::stdout().lock();
    let mut solved = Vec::new();
    let mut mended = Vec::new();
    let mut asked = 0;
    let valid = |p: &&Problem| if as_cubes { p.valid_voxels } else { p.valid_primitives };
    for problem in problems.problems.iter().filter(valid) {
        let obstacles = if as_cubes {
            problem.cubes(problems.voxel_size_m, REACH_M)?
        } else {
            problem.solids()
        };
        let mut collider = Collider::new(&arm, &obstacles, &ColliderSettings::default())?;
        for seed in 0..seeds {
            asked += 1;
            let settings = SearchSettings { seed, ..settings.clone() };
            let Some(s) = solve(&arm, &mut collider, problem, &settings)? else {
                writeln!(out, "{:28} seed {seed} no path", problem.name)?;
                continue;
            };
            if seed == 0 {
                writeln!(
                    out,
                    "{:28} plan {:8.1} us, simplify {:7.1} us, {:6} samples, {:.2} -> {:.2} rad",
                    problem.name, s.plan_us, s.simplify_us, s.iterations, s.raw_rad, s.length_rad
                )?;
            }
            solved.push(s);
            mended.extend(mend(&arm, &mut collider, problem, &obstacles, &settings)?);
            collider.set_obstacles(&obstacles)?;
        }
    }
    let mut row = |name: &str, mut values: Vec<f64>| -> Result<(), Failure> {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (values.len().saturating_sub(1) as f64 * share).round() as usize;
            values.get(place).copied().unwrap_or(f64::NAN)
        };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let (median, p95) = (at(0.5), at(0.95));
        writeln!(out, "{name:24} median {median:8.2}  95th {p95:8.2}  mean {mean:8.2}")?;
        Ok(())
    };
    let of = |value: fn(&Solved) -> f64| solved.iter().map(value).collect();
    row("plan, us", of(|s| s.plan_us))?;
    row("simplify, us", of(|s| s.simplify_us))?;
    row("both, us", of(|s| s.plan_us + s.simplify_us))?;
    row("samples", of(|s| s.iterations as f64))?;
    row("raw, rad", of(|s| s.raw_rad))?;
    row("simplified, rad", of(|s| s.length_rad))?;
    let of = |value: fn(&Mended) -> f64| mended.iter().map(value).collect();
    row("replan, same world, us", of(|m| m.same_us))?;
    row("replan, ball on path, us", of(|m| m.replan_us))?;
    row("plan, ball on path, us", of(|m| m.plan_us))?;
    writeln!(out, "solved {} of {asked}, {} with a ball on the path", solved.len(), mended.len())?;
    Ok(())
}

fn solve(
    arm: &PlannedArm,
    collider: &mut Collider,
    problem: &Problem,
    settings: &SearchSettings,
) -> Result<Option<Solved>, Failure> {
    let (start, goal) = (Config::of(&problem.start), Config::of(&problem.goal));
    let mut best: Option<Solved> = None;
    for _ in 0..REPETITIONS {
        let began = Instant::now();
        let mut planner = Planner::new(arm.limits(), settings.clone())?;
        let result = planner.plan(collider, &start, &[goal]);
        let plan_us = began.elapsed().as_secs_f64() * 1e6;
        let SearchResult::Found { mut path, iterations, .. } = result else { return Ok(None) };
        let raw_rad = path_length_rad(&path);
        let began = Instant::now();
        let length_rad = planner.simplify(collider, &mut path);
        let simplify_us = began.elapsed().as_secs_f64() * 1e6;
        let run = Solved { plan_us, simplify_us, raw_rad, length_rad, iterations };
        best = Some(match best {
            Some(best) => Solved {
                plan_us: best.plan_us.min(plan_us),
                simplify_us: best.simplify_us.min(simplify_us),
                ..run
            },
            None => run,
        });
    }
    Ok(best)
}

/// The last path again, then with a ball where the hand would be halfway: mended, and searched
/// anew. Nothing where the ball leaves no path or blocks an end.
fn mend(
    arm: &PlannedArm,
    collider: &mut Collider,
    problem: &Problem,
    obstacles: &Obstacles,
    settings: &SearchSettings,
) -> Result<Option<Mended>, Failure> {
    let (start, goal) = (Config::of(&problem.start), Config::of(&problem.goal));
    let mut planner = Planner::new(arm.limits(), settings.clone())?;
    let SearchResult::Found { mut path, .. } = planner.plan(collider, &start, &[goal]) else {
        return Ok(None);
    };
    planner.simplify(collider, &mut path);
    let began = Instant::now();
    planner.replan(collider, &start, &[goal]);
    let same_us = began.elapsed().as_secs_f64() * 1e6;
    let middle = path.len() / 2;
    let [Some(before), Some(after)] = [path.get(middle - 1), path.get(middle)] else {
        return Ok(None);
    };
    let mut joints = Vec::new();
    arm.all_joints(&before.toward(after, 0.5), &mut joints);
    let mut more = obstacles.clone();
    more.solids.push(PosedShape::sphere(arm.body().tool_at(&joints)?, 0.05));
    collider.set_obstacles(&more)?;
    let began = Instant::now();
    let again = planner.replan(collider, &start, &[goal]);
    let replan_us = began.elapsed().as_secs_f64() * 1e6;
    let mut planner = Planner::new(arm.limits(), settings.clone())?;
    let began = Instant::now();
    let anew = planner.plan(collider, &start, &[goal]);
    let plan_us = began.elapsed().as_secs_f64() * 1e6;
    let found = |result: &SearchResult| matches!(result, SearchResult::Found { .. });
    Ok((found(&again) && found(&anew)).then_some(Mended { same_us, replan_us, plan_us }))
}
