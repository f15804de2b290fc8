//! `citrange sim`: how fast, and is the physics sane?

use citrange_episodes::compiled;
use citrange_sim::Threads;
use citrange_sim::sanity::{SanitySettings, try_scene};
use clap::ValueEnum;
use serde_json::json;

use crate::exit::{Result, problems_found};
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scene name or YAML file.
    scene: String,
    /// Number of environments; environment i runs episode i.
    #[arg(long, default_value_t = 1)]
    envs: usize,
    /// Simulated time.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Threads; one per core when not given.
    #[arg(long)]
    threads: Option<usize>,
    /// Seed of the run.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// What the robots do.
    #[arg(long, value_enum, default_value_t = Motion::Hold)]
    motion: Motion,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Motion {
    /// Stand still: then energy must not grow.
    Hold,
    /// Sweep through the scene: a slow sine around home on every joint.
    Sweep,
}

pub(crate) fn run(args: &Args) -> Result {
    let settings = SanitySettings {
        envs: args.envs,
        seconds: args.seconds,
        threads: args.threads.map_or(Threads::Auto, Threads::Exactly),
        seed: args.seed,
        sweep: args.motion == Motion::Sweep,
    };
    let bar = output::progress("simulating", 1000);
    let report = try_scene(&compiled(&args.scene)?, &settings, &mut |done| {
        bar.set_position((1000.0 * done) as u64);
    })?;
    bar.finish_and_clear();
    let problems = &report.problems;
    let text = if args.json { json!(report).to_string() } else { report.to_string() };
    output::data(&text)?;
    if problems.is_empty() { Ok(()) } else { Err(problems_found(problems.join("; "))) }
}
