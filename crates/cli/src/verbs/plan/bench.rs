//! `citrange plan bench`: problems of a file, solved, checked again, and timed.

use std::path::PathBuf;

use citrange_plan::{Bench, ObstacleKind, Problems, SearchSettings};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::json;

use crate::exit::{Context as _, Failure, Result, problems_found};
use crate::output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Problems: starts, goals, boxes, spheres, capsules, cylinders, voxels.
    problems: PathBuf,
    /// The robot, as JSON; a UR5 with a gripper if it is not given.
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// What is in the way.
    #[arg(long, value_parser = kinds(), default_value = "primitives")]
    obstacles: ObstacleKind,
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

/// Forms of obstacles by their names.
fn kinds() -> impl TypedValueParser<Value = ObstacleKind> {
    let names = ObstacleKind::ALL.map(|(kind, about)| PossibleValue::new(kind.name()).help(about));
    PossibleValuesParser::new(names)
        .map(|name| ObstacleKind::named(&name).unwrap_or(ObstacleKind::Primitives))
}

pub(super) fn run(args: &Args) -> Result {
    let problems = Problems::read(&args.problems)?;
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).context(|| format!("cannot read {}", path.display()))
    };
    let body = args.body.as_ref().map(read).transpose()?;
    let settings = SearchSettings {
        seed: args.seed,
        time_limit_s: Some(f64::from(args.time_ms) / 1e3),
        ..SearchSettings::default()
    };
    let body = body.as_deref().unwrap_or(Bench::UR5);
    let mut bench = Bench::new(&problems, body, args.obstacles, settings)?;
    let bar = output::progress("problems", bench.chosen(&problems).count() as u64);
    let mut tally = bench.solve_all(&problems, args.repeat, |bench, problem, solved| {
        if args.json {
            output::data(&bench.json(problem, solved).to_string())?;
        }
        if let Some(contact) = &solved.contact {
            output::talk(&format!("{}: a returned path touches: {contact}", problem.name));
        }
        bar.inc(1);
        Ok::<_, Failure>(())
    })?;
    bar.finish_and_clear();
    let summary =
        if args.json { json!({"summary": tally.json()}).to_string() } else { tally.text() };
    output::data(&summary)?;
    if tally.valid < tally.solved {
        return Err(problems_found("not every path is free"));
    }
    Ok(())
}
