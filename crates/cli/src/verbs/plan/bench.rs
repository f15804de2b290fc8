//! `citrange plan bench`: problems of a file, solved, checked again, and timed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use citrange_core::shape::PosedShape;
use citrange_plan::{
    Bench, CurveSettings, Effort, ObstacleKind, PlanError, Problem, Problems, SearchSettings,
    Solved, WorldFile,
};
use citrange_robot::Robot;
use citrange_sim::described_robot;
use serde_json::json;

use crate::exit::{Context as _, Failure, Result, bad_input, problems_found};
use crate::output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Problems: starts, goals, boxes, spheres, capsules, cylinders, voxels.
    problems: PathBuf,
    /// The robot, as JSON, such as benches/plan/ur5_robotiq.json.
    #[arg(long, value_name = "FILE", conflicts_with = "robot")]
    body: Option<PathBuf>,
    /// The robot, at the world's origin, by name or by its robot.yaml, MJCF or URDF file. As the
    /// problems say if neither is given; a UR5 with a gripper where they say nothing.
    #[arg(long, value_name = "ROBOT")]
    robot: Option<String>,
    /// What is in the way: primitives, voxels, or the primitives and what a YAML file has (as
    /// `plan --obstacles`).
    #[arg(long, value_name = "primitives|voxels|FILE", default_value = "primitives")]
    obstacles: String,
    /// Do each problem this often, from nothing each time, and tell the median time.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Seed of the search.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Most milliseconds for one problem's first path.
    #[arg(long, default_value_t = 10_000)]
    time_ms: u32,
    /// Collision checks that are spent on a better path; several, with commas between, tell how
    /// long paths become for how much.
    #[arg(long, value_name = "N[,N...]", value_delimiter = ',',
          default_values_t = [Effort::DEFAULT_CHECKS])]
    checks: Vec<u64>,
    /// A better path for so many milliseconds instead; with several --checks once more, for the
    /// best path that is known. Not reproducible.
    #[arg(long, value_name = "MS")]
    budget_ms: Option<u64>,
    /// Only the first so many problems of each family (with several --checks).
    #[arg(long, value_name = "N")]
    first: Option<usize>,
    /// Take problems on all cores at once. Times are longer then.
    #[arg(long)]
    parallel: bool,
    /// Print JSON: an object per problem, with its path, then one for all.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result {
    let problems = Problems::read(&args.problems)?;
    let (kind, more) = args.kind()?;
    let settings = SearchSettings {
        seed: args.seed,
        time_limit_s: Some(f64::from(args.time_ms) / 1e3),
        ..SearchSettings::default()
    };
    let mut bench = Bench::of(&problems, args.robot(&problems)?, kind, settings)?;
    bench.add_solids(&more);
    if args.checks.len() > 1 {
        return args.curve(&bench, &problems);
    }
    bench.set_effort(args.effort());
    let bar = output::progress("problems", bench.chosen(&problems).count() as u64);
    let tell = |bench: &Bench, problem: &Problem, solved: &Solved| {
        if args.json {
            output::data(&bench.json(problem, solved).to_string())?;
        }
        if let Some(contact) = &solved.contact {
            output::talk(&format!("{}: a returned path touches: {contact}", problem.name));
        }
        bar.inc(1);
        Ok::<_, Failure>(())
    };
    let mut tally = if args.parallel {
        bench.solve_all_at_once(&problems, args.repeat, tell)?
    } else {
        bench.solve_all(&problems, args.repeat, tell)?
    };
    bar.finish_and_clear();
    let summary =
        if args.json { json!({"summary": tally.json()}).to_string() } else { tally.text() };
    output::data(&summary)?;
    if args.budget_ms.is_some() && !args.json {
        output::talk("a budget of time: lengths are not reproducible");
    }
    if tally.valid < tally.solved {
        return Err(problems_found("not every path is free"));
    }
    Ok(())
}

impl Args {
    /// Whether its `--json` is one object per line.
    pub(super) fn tells_lines(&self) -> bool {
        self.checks.len() < 2
    }

    /// Which form of obstacles, and what comes on top.
    fn kind(&self) -> Result<(ObstacleKind, Vec<PosedShape>)> {
        if let Some(kind) = ObstacleKind::named(&self.obstacles) {
            return Ok((kind, Vec::new()));
        }
        let path = Path::new(&self.obstacles);
        let is_yaml = path.extension().is_some_and(|e| e == "yaml" || e == "yml");
        if !is_yaml {
            let known = "primitives, voxels or a .yaml file of obstacles";
            return Err(bad_input(format!("--obstacles {}: {known} are right", self.obstacles)));
        }
        let solids = WorldFile::load(path)?;
        Ok((ObstacleKind::Primitives, solids.into_iter().map(|solid| solid.solid).collect()))
    }

    fn robot(&self, problems: &Problems) -> Result<Robot> {
        let bad = |error: &dyn std::fmt::Display| PlanError::Bad {
            what: "this is not the body of a robot".to_owned(),
            reason: error.to_string(),
        };
        let read = |text: &str| serde_json::from_str::<Robot>(text).map_err(|error| bad(&error));
        if let Some(path) = &self.body {
            let text = std::fs::read_to_string(path);
            return Ok(read(&text.context(|| format!("cannot read {}", path.display()))?)?);
        }
        match self.robot.as_ref().or(problems.model.as_ref()) {
            Some(model) => Ok(described_robot(model, Path::new(""))?.1),
            None if problems.robot == "ur5" => Ok(read(Bench::UR5)?),
            None => Err(bad_input(format!(
                "{}: problems for {}: --robot or --body says which robot that is",
                self.problems.display(),
                problems.robot
            ))),
        }
    }

    fn effort(&self) -> Effort {
        match (self.budget_ms, self.checks.first()) {
            (Some(ms), _) => {
                Effort { checks: u64::MAX, time_limit: Some(Duration::from_millis(ms)) }
            }
            (None, Some(checks)) => Effort { checks: *checks, time_limit: None },
            (None, None) => Effort::default(),
        }
    }

    fn curve(&self, bench: &Bench, problems: &Problems) -> Result {
        let settings = CurveSettings {
            checks: self.checks.clone(),
            long: self.budget_ms.map(Duration::from_millis),
            first: self.first,
        };
        let curve = bench.curve(problems, &settings)?;
        let text = if self.json { curve.json().to_string() } else { curve.text() };
        output::data(&text)?;
        let touching: Vec<String> =
            curve.touching().map(|(name, with)| format!("{name}: {with}")).collect();
        if touching.is_empty() {
            return Ok(());
        }
        Err(problems_found(format!("paths that touch: {}", touching.join("; "))))
    }
}
