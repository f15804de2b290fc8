//! `citrange eval`: how good a policy is, on episodes that training never draws.

use std::path::PathBuf;

use citrange_policy::{Disturbance, EvaluateSettings, Rung, evaluate, training_curve};
use serde_json::json;

use crate::exit::{Context as _, Result, problems_found};
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The policy: the folder of its training, or its file.
    policy: PathBuf,
    /// Episodes of each rung.
    #[arg(long, default_value_t = 2000)]
    episodes: usize,
    /// Worlds to try it in: a, b, c, e, mixed, several with commas; those that it was trained in if
    /// it is not given.
    #[arg(long, value_delimiter = ',')]
    rung: Vec<String>,
    /// Which episodes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Most attempts at an episode: the first by the mean action, then with noise.
    #[arg(long, default_value_t = 16)]
    attempts: usize,
    /// With late actions, noise of joints, boxes not seen and ghosts.
    #[arg(long)]
    disturbed: bool,
    /// Threads; one per core when not given. The result does not depend on them.
    #[arg(long)]
    threads: Option<usize>,
    /// Where to put the page and the figures; NAME_eval beside the policy when absent.
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result {
    let rungs: Result<Vec<Rung>, _> = args.rung.iter().map(|name| Rung::named(name)).collect();
    let settings = EvaluateSettings {
        rungs: rungs?,
        episodes: args.episodes,
        seed: args.seed,
        attempts: args.attempts,
        disturbance: if args.disturbed { Disturbance::usual() } else { Disturbance::default() },
        threads: args.threads.unwrap_or(0),
    };
    let figures = evaluate(&args.policy, &settings, &|line| output::talk(line))?;
    let folder = args.out.clone().unwrap_or_else(|| beside(&args.policy));
    std::fs::create_dir_all(&folder).context(|| folder.display().to_string())?;
    let page = folder.join("index.html");
    let json = json!(figures);
    std::fs::write(&page, figures.page(&training_curve(&args.policy)))
        .context(|| page.display().to_string())?;
    let file = folder.join("figures.json");
    std::fs::write(&file, format!("{json:#}\n")).context(|| file.display().to_string())?;
    if args.json {
        output::data(&json.to_string())?;
    } else {
        figures.lines().iter().for_each(|line| output::talk(line));
        output::data(&page.display().to_string())?;
    }
    let proofs = figures.rungs.iter().filter_map(|rung| rung.proof.as_ref());
    match proofs.map(|proof| proof.touching).sum::<usize>() {
        0 => Ok(()),
        count => Err(problems_found(format!("{count} motions that were proved touch something"))),
    }
}

/// `NAME_eval` beside a folder or file.
fn beside(policy: &std::path::Path) -> PathBuf {
    let name = policy.file_stem().unwrap_or_default().to_string_lossy();
    policy.with_file_name(format!("{name}_eval"))
}
