//! `citrange collect`: an arm makes episodes by itself, into a dataset.

use std::path::PathBuf;

use citrange_tape::Dataset;

use crate::collect::goal::Quota;
use crate::collect::plan::Found;
use crate::collect::writer::Writer;
use crate::collect::{Goal, Plan, Show, Tally, paced};
use crate::exit::{Interrupted, ProblemsFound};
use crate::output;
use crate::pilots::PilotArgs;
use crate::recording::{RecordArgs, check_new, tell_repaired};
use crate::session::{catch_stop, stopped};

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
    /// Episodes made at a time: a number, or auto for one per core.
    #[arg(long, default_value = "auto", value_parser = workers)]
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

/// How many workers a word means.
fn workers(text: &str) -> Result<usize, String> {
    if text == "auto" {
        return Ok(std::thread::available_parallelism().map_or(1, usize::from));
    }
    let number = text.parse().ok().filter(|n| *n > 0);
    number.ok_or_else(|| format!("\"{text}\": give auto or a number above 0"))
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let record = &args.record;
    check_new(&args.out, record.resume)?;
    let randomise = args.randomise.as_deref();
    let plan =
        Plan::new(args.scene.as_deref(), record, &args.pilot, randomise, args.seconds, args.speed)?;
    let spec = plan.spec();
    let (mut dataset, repaired) =
        Dataset::record_with(&args.out, spec, plan.unit, &plan.images, plan.features)?;
    tell_repaired(&repaired, args.json)?;
    catch_stop()?;
    let goal = match (args.successes, args.quota.as_slice()) {
        (None, []) => Goal::episodes(args.episodes, args.max_episodes),
        (None, quotas) => Goal::quotas(quotas, args.max_episodes),
        (Some(count), _) => Goal::quotas(&[Quota::successes(count)], args.max_episodes),
    };
    let mut tally = Tally::default();
    let start = Start::of(&plan, &dataset, record.first, &mut tally);
    if start.next > start.first && !args.json {
        output::talk(&format!(
            "{} episodes of this run are there; going on with index {}",
            tally.saved(),
            start.next
        ));
    }
    let show = Show::new(args.json, spec.rates.frame_hz, &goal, &tally);
    if args.speed.is_some() {
        let voice = if args.json { output::Output::JsonFrames } else { output::Output::Talk };
        paced::collect(&plan, &mut dataset, &goal, &mut tally, &show, (start.first, voice))?;
    } else {
        let Start { first, next } = start;
        let mut writer = Writer {
            plan: &plan,
            dataset: &mut dataset,
            goal: &goal,
            tally: &mut tally,
            show: &show,
            first,
            next,
        };
        writer.collect(args.workers)?;
    }
    show.done(&tally)?;
    if !args.json {
        output::data(&args.out.display().to_string())?;
    }
    let reached = goal.is_reached(&tally);
    if stopped() && (!reached || args.speed.is_some()) {
        if args.speed.is_none() && !args.json {
            output::talk("not complete: the same command with --resume goes on");
        }
        return Err(Interrupted.into());
    }
    if !reached {
        let (wanted, there) = goal.progress(&tally);
        let what = format!("{there} of {wanted} wanted episodes, and no more may be made");
        return Err(ProblemsFound(what).into());
    }
    Ok(())
}

/// Where a collection begins.
struct Start {
    /// Index with which the run began.
    first: u64,
    /// Index of the next episode.
    next: u64,
}

impl Start {
    /// Goes on with a run of which there is something; a new one begins after what there is.
    fn of(plan: &Plan, dataset: &Dataset, wanted: Option<u64>, tally: &mut Tally) -> Self {
        let found = match plan.speed {
            // Episodes that keep time with the world are never the same again.
            Some(_) => None,
            None => plan.found(dataset),
        };
        let Some(Found { first, saved }) = found else {
            let first = wanted.unwrap_or(dataset.len() as u64);
            return Self { first, next: first };
        };
        let first = wanted.unwrap_or(first);
        let mut next = first;
        for (episode, outcome) in saved.range(first..) {
            tally.found(outcome);
            next = episode + 1;
        }
        Self { first, next }
    }
}
