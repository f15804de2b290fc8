//! `citrange plan bench`: problems of a file, solved, checked again, and timed.

use std::path::PathBuf;

use citrange_plan::{Bench, BenchTally, ObstacleKind, Problems, SearchSettings};
use serde_json::json;

use crate::exit::{Context as _, Result, problems_found};
use crate::output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
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
    /// Boxes, spheres, capsules and cylinders.
    Primitives,
    /// Cubes of a voxel map.
    Voxels,
}

pub(super) fn run(args: &Args) -> Result {
    let problems = Problems::read(&args.problems)?;
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).context(|| format!("cannot read {}", path.display()))
    };
    let body = args.body.as_ref().map(read).transpose()?;
    let usual = include_str!("../../../../../benches/plan/ur5_robotiq.json");
    let settings = SearchSettings {
        seed: args.seed,
        time_limit_s: Some(f64::from(args.time_ms) / 1e3),
        ..SearchSettings::default()
    };
    let kind = match args.obstacles {
        Kind::Primitives => ObstacleKind::Primitives,
        Kind::Voxels => ObstacleKind::Voxels,
    };
    let mut bench = Bench::new(&problems, body.as_deref().unwrap_or(usual), kind, settings)?;
    let chosen: Vec<_> = bench.chosen(&problems).collect();
    let bar = output::progress("problems", chosen.len() as u64);
    let mut tally = BenchTally::new(kind);
    for problem in chosen {
        let solved = bench.solve(problem, args.repeat)?;
        tally.add(&solved);
        if args.json {
            output::data(&bench.json(problem, &solved).to_string())?;
        }
        if let Some(contact) = &solved.contact {
            output::talk(&format!("{}: a returned path touches: {contact}", problem.name));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if args.json {
        output::data(&json!({"summary": tally.json()}).to_string())?;
    } else {
        output::data(&tally.text())?;
    }
    if tally.valid < tally.solved {
        return Err(problems_found("not every path is free"));
    }
    Ok(())
}
