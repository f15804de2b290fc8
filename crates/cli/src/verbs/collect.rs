//! `citrange collect`: an arm makes episodes by itself, into a dataset.

use std::path::PathBuf;

use citrange_core::{Classified as _, ErrorKind};
use citrange_episodes::collect::{
    CollectOptions, Goal, Order, Plan, Quota, Shard, collect, worker_count,
};
use citrange_episodes::{EpisodesError, RecordOptions, check_new};

use crate::args::{LinkArgs, PilotArgs, RecordArgs, SeenArgs};
use crate::exit;
use crate::output::{self, Output};
use crate::stop::catch_stop;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scene name or YAML file; with --from that of the episode, and may be left out.
    #[arg(required_unless_present = "from")]
    scene: Option<String>,
    /// How many episodes. With --resume those count that the same command has saved before.
    #[arg(long, default_value_t = 1)]
    episodes: u64,
    /// Episodes per outcome instead: success=200,failure=50. What is beyond is not saved; outcomes
    /// that are not named are saved as they come.
    #[arg(long, value_name = "OUTCOME=N", value_delimiter = ',', conflicts_with = "episodes")]
    quota: Vec<Quota>,
    /// Make only part I (from 0) of N of those episodes, for many machines; `data merge` puts the
    /// parts together to what one machine would have made.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["quota", "successes", "max_episodes", "speed"])]
    shard: Option<Shard>,
    /// The same as --quota success=N.
    #[arg(long, value_name = "N", conflicts_with_all = ["episodes", "quota"])]
    successes: Option<u64>,
    /// Give up after so many episodes, saved or not; with quotas 10 for each that is wanted.
    #[arg(long, value_name = "N")]
    max_episodes: Option<u64>,
    /// The dataset's folder.
    #[arg(short, long)]
    out: PathBuf,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    pilot: PilotArgs,
    #[command(flatten)]
    link: LinkArgs,
    #[command(flatten)]
    seen: SeenArgs,
    /// Episodes made at a time: a number, or auto for one per core.
    #[arg(long, default_value = "auto", value_parser = worker_count)]
    workers: usize,
    /// Draw colours, light, cameras, friction and mass anew for every episode: a YAML file with
    /// ranges, or "default".
    #[arg(long, value_name = "FILE|default", conflicts_with = "from")]
    randomise: Option<String>,
    /// Longest episode.
    #[arg(long)]
    seconds: Option<f64>,
    /// Times real time (1 is real time), one episode at a time; by default as fast as it goes.
    #[arg(long)]
    speed: Option<f64>,
    /// Print one JSON object per event: repaired, saved, left_out, fault, done; with --speed also
    /// begin and frame.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> exit::Result {
    check_new(&args.out, args.record.resume)?;
    let output = match (args.json, args.speed) {
        (true, Some(_)) => Output::JsonFrames,
        (json, _) => Output::of(json),
    };
    let options = CollectOptions {
        record: RecordOptions {
            link: args.seen.add_to(args.link.choice()),
            ..args.record.options()
        },
        pilot: args.pilot.options(),
        randomise: args.randomise.clone(),
        seconds: args.seconds,
        speed: args.speed,
    };
    let plan = Plan::new(args.scene.as_deref(), &options, output.context())?;
    let goal = match (args.successes, args.quota.as_slice()) {
        (None, []) => Goal::episodes(args.episodes, args.max_episodes),
        (None, quotas) => Goal::quotas(quotas, args.max_episodes),
        (Some(count), _) => Goal::quotas(&[Quota::successes(count)], args.max_episodes),
    };
    let begin = args.record.first.unwrap_or(0);
    let (goal, first) = match &args.shard {
        Some(shard) => (shard.goal(begin, args.episodes), Some(shard.part(begin, args.episodes).0)),
        None => (goal, args.record.first),
    };
    let order = Order { out: args.out.clone(), goal, first, workers: args.workers };
    catch_stop()?;
    let collected = collect(&plan, &order, output.context());
    // Also where it came to an end, only not to its goal, there is something to look at.
    let kind = collected.as_ref().map_err(EpisodesError::kind);
    let is_over = matches!(kind, Ok(()) | Err(ErrorKind::Interrupted | ErrorKind::ProblemsFound));
    if !args.json && is_over {
        output::data(&args.out.display().to_string())?;
    }
    Ok(collected?)
}
