//! `citrange train reach`: an arm learns to reach among obstacles.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use citrange_core::yaml::from_yaml;
use citrange_policy::{Disturbance, Progress, ReachArm, Rung, TrainFile, Trainer};
use serde_json::json;

use crate::exit::{Context as _, Result, bad_input, usage};
use crate::output;
use crate::stop::catch_stop;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Bring the tool to a place, around whatever is in the way.
    Reach(ReachArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReachArgs {
    /// Robot that learns: ur5e, ur5, panda or so101, or the JSON of another.
    #[arg(long, default_value = "ur5e", conflicts_with = "resume")]
    robot: String,
    /// Folder of the training, which is made: checkpoint, best policy, learning curve.
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with the training of a folder, bit for bit.
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    /// Worlds to learn in: a (a few small boxes), b (larger), c (up to twenty), e (moving), mixed
    /// (also shelves, cages, bars).
    #[arg(long, default_value = "a", conflicts_with = "resume")]
    rung: String,
    /// Decides everything random; 1 if it is not given.
    #[arg(long, conflicts_with = "resume")]
    seed: Option<u64>,
    /// Steps until the training is done; as many as suit the worlds if it is not given.
    #[arg(long)]
    steps: Option<u64>,
    /// Learn with late actions, noise of joints, boxes not seen and ghosts.
    #[arg(long, conflicts_with = "resume")]
    disturbed: bool,
    /// YAML with the numbers of environment and training: keys `reach` and `train`.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    settings: Option<PathBuf>,
    /// Threads; one per core when not given. The result does not depend on them.
    #[arg(long)]
    threads: Option<usize>,
    /// Print one JSON object per evaluation.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Command) -> Result {
    let Command::Reach(args) = command;
    let threads = args.threads.unwrap_or(0);
    let mut trainer = match (&args.resume, &args.out) {
        (Some(folder), _) => Trainer::resume(folder, args.steps, threads)?,
        (None, Some(folder)) => begin(args, folder, threads)?,
        (None, None) => {
            return Err(usage("say where the training goes: --out FOLDER, or --resume FOLDER"));
        }
    };
    let stop = catch_stop()?;
    let settings = trainer.settings();
    output::talk(&format!(
        "{} learns to reach: {} of {} steps done; {}",
        trainer.robot(),
        trainer.steps(),
        settings.iterations() * settings.iteration_steps(),
        trainer.folder().display()
    ));
    while !trainer.is_done() && !stop.load(Ordering::Relaxed) {
        let progress = trainer.iterate()?;
        if progress.success.is_some() {
            trainer.save()?;
            tell(&trainer, &progress, args.json)?;
        }
    }
    trainer.save()?;
    if !trainer.is_done() {
        let folder = trainer.folder().display();
        output::talk(&format!(
            "stopped after {} steps; citrange train reach --resume {folder} goes on",
            trainer.steps()
        ));
    }
    let best = trainer.best();
    let folder = trainer.folder().display().to_string();
    if args.json {
        let told = json!({
            "event": "end", "folder": folder, "done": trainer.is_done(), "best": best,
            "steps": trainer.steps(), "cpu_s": trainer.spent_s(),
        });
        return output::data(&told.to_string());
    }
    if let Some(best) = best {
        output::talk(&format!(
            "best: {:.2} % of {} episodes, after {} steps and {:.0} s of a processor; {:.0} s in all",
            100.0 * best.success,
            best.episodes,
            best.steps,
            best.cpu_s,
            trainer.spent_s()
        ));
    }
    output::data(&folder)
}

fn begin(args: &ReachArgs, folder: &Path, threads: usize) -> Result<Trainer> {
    let rung = Rung::named(&args.rung)?;
    let mut file = TrainFile::of(rung);
    if let Some(path) = &args.settings {
        let text = std::fs::read_to_string(path).context(|| path.display().to_string())?;
        file = from_yaml(&text, &path.display().to_string())
            .map_err(|error| bad_input(error.to_string()))?;
    }
    let TrainFile { mut reach, mut train } = file;
    if let Some(seed) = args.seed {
        train.seed = seed;
    }
    if let Some(steps) = args.steps {
        train.total_steps = steps;
    }
    if args.disturbed {
        reach.disturbance = Disturbance::usual();
    }
    let rung = args.settings.is_none().then_some(rung);
    let arm = Arc::new(ReachArm::load(&args.robot)?);
    Ok(Trainer::begin(folder, arm, (reach, train, rung), threads)?)
}

/// How far it is: a line, with the curve of the evaluations so far.
fn tell(trainer: &Trainer, progress: &Progress, json: bool) -> Result {
    if json {
        let mut told = json!(progress);
        told["event"] = json!("evaluation");
        return output::data(&told.to_string());
    }
    let success = progress.success.unwrap_or(0.0);
    let steps = trainer.settings().iterations() * trainer.settings().iteration_steps();
    output::talk(&format!(
        "{:>10} steps {:3.0} %  {:6.1} s  reached {:6.2} %  collided {:5.2} %  {}",
        progress.steps,
        100.0 * progress.steps as f64 / steps.max(1) as f64,
        progress.cpu_s,
        100.0 * success,
        100.0 * progress.collided.unwrap_or(0.0),
        curve(trainer.curve()),
    ));
    Ok(())
}

/// The last evaluations as bars between 80 and 100 %.
fn curve(points: &[Progress]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const SHOWN: usize = 32;
    let from = points.len().saturating_sub(SHOWN);
    let bar = |point: &Progress| {
        let share = (point.success.unwrap_or(0.0) - 0.8).max(0.0) / 0.2;
        BARS[((share * 7.99) as usize).min(7)]
    };
    points[from..].iter().map(bar).collect()
}
