//! `citrange twin`: a robot and its twin; goals one after the other, around what cameras see.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use citrange_core::{Event, Pace};
use citrange_twin::{
    CellOptions, Experiment, FinderKind, GoalEntry, GoalFile, Orders, RunOptions, SimCell,
    TRANSITION, Transition, TwinMode, TwinReport, TwinSettings, Unknown, console, run_cell,
    write_csv,
};
use serde_json::json;

use crate::exit::{Context as _, Result, problems_found, usage};
use crate::output;
use crate::stop::{STOP, catch_stop};

/// The scene when none is named.
const SCENE: &str = "ur5_cell";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scene name or YAML file: the simulated cell.
    #[arg(default_value = SCENE)]
    scene: String,
    /// All numbers of the twin in one YAML file; what is given here wins over it.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Goals, one after the other: points, poses, joints, named poses, waits.
    #[arg(long, value_name = "FILE")]
    goals: Option<PathBuf>,
    /// A goal: "x y z" in metres, in the world. Give it again for more.
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    goal: Vec<String>,
    /// Carry motions out without asking.
    #[arg(long)]
    yes: bool,
    /// No terminal and no page: the goals are gone through, as fast as it goes, and that is it.
    #[arg(long)]
    headless: bool,
    /// Everything but sending.
    #[arg(long)]
    dry_run: bool,
    /// Seed of where things are, of the cameras' noise and of searches.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Episode index: where things are.
    #[arg(long, default_value_t = 0)]
    episode: u64,
    /// Fraction of the arm's full speed.
    #[arg(long)]
    speed: Option<f64>,
    /// Who finds the way: birrt, policy or policy_then_birrt.
    #[arg(long, value_name = "NAME")]
    finder: Option<String>,
    /// What cells are that no camera has seen: blocked, slow or free.
    #[arg(long, value_name = "HOW")]
    unknown: Option<String>,
    /// Instead of goals of yours: so many random ones among random things, on all cores.
    #[arg(long, value_name = "GOALS", conflicts_with_all = ["goals", "goal"], requires = "headless")]
    experiment: Option<usize>,
    /// Where the report goes, as JSON; of an experiment a line per scene, gone on with when it is
    /// there already.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the log of the run as CSV files with the columns of the first system of this kind.
    #[arg(long, value_name = "FOLDER")]
    csv: Option<PathBuf>,
    /// Print JSON: an object per transition, and the report at the end.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result {
    let settings = args.settings()?;
    catch_stop()?;
    if let Some(goals) = args.experiment {
        return experiment(args, &settings, goals);
    }
    let goals = args.goal_file()?;
    if args.headless && goals.goals.is_empty() {
        return Err(usage("--headless needs --goals FILE, --goal \"x y z\" or --experiment N"));
    }
    if args.headless && settings.confirm && !args.dry_run {
        return Err(usage("--headless needs --yes (or --dry-run): nobody can confirm"));
    }
    let options = CellOptions {
        scene: args.scene.clone(),
        seed: args.seed,
        episode: args.episode,
        ..CellOptions::default()
    };
    let mut cell = SimCell::new(&settings, options)?;
    let list = match goals.goals.is_empty() {
        true => Vec::new(),
        false => goals.read(&cell.arm, &cell.scene.description)?,
    };
    let orders = Orders::default();
    if !args.headless {
        listen(&cell, &orders)?;
    }
    let json = args.json;
    let told = move |event: &Event| tell(event, json);
    let report = run_cell(
        &mut cell,
        list,
        &RunOptions {
            stop: Some(&STOP),
            pace: if args.headless { Pace::Free } else { Pace::REAL_TIME },
            orders,
            mode: TwinMode { ends: args.headless, unattended: args.headless, shadow: args.dry_run },
            most_s: None,
            told: Some(&told),
        },
    )?;
    finish(args, &report)
}

/// Says what happens.
fn tell(event: &Event, json: bool) {
    if json {
        let line = json!({"event": event.name(), "detail": event.detail()}).to_string();
        // A reader that is gone wants no more.
        let _closed = output::data(&line);
        return;
    }
    if event.name() != TRANSITION {
        return;
    }
    let Ok(transition) = serde_json::from_value::<Transition>(event.detail()) else { return };
    output::talk(&format!(
        "{:8.2} s  {:<10} {}",
        transition.at_ns as f64 * 1e-9,
        transition.to.name(),
        transition.why.words()
    ));
}

/// Takes orders from the terminal, line by line, until it is closed.
fn listen(cell: &SimCell, orders: &Orders) -> Result {
    for (words, about) in console::WORDS {
        output::talk(&format!("  {words:<32} {about}"));
    }
    let (arm, robot) = (cell.arm.clone(), cell.scene.description.clone());
    let cameras = cell.cameras();
    let orders = orders.clone();
    let listens = move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            match console::parse(&line, &arm, &robot, &cameras) {
                Ok(Some(order)) => orders.give(order),
                Ok(None) => {}
                Err(error) => output::talk(&error.to_string()),
            }
        }
        // Nobody is there any more.
        orders.give(citrange_twin::Order::End);
    };
    let began = std::thread::Builder::new().name("console".into()).spawn(listens);
    began.map(|_| ()).map_err(Into::into)
}

fn finish(args: &Args, report: &TwinReport) -> Result {
    if let Some(path) = &args.output {
        let text = serde_json::to_string_pretty(report).unwrap_or_default();
        std::fs::write(path, text + "\n").context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(folder) = &args.csv {
        write_csv(folder, report)?;
    }
    if args.json {
        let mut summary = report.summary();
        summary["event"] = json!("report");
        summary["each"] = json!(report.goals);
        summary["truth"] = json!(report.truth);
        output::data(&summary.to_string())?;
    } else {
        output::lines(&report.lines())?;
    }
    if report.reached() < report.goals.len() {
        let missing = report.goals.len() - report.reached();
        return Err(problems_found(format!("{missing} goals were not reached")));
    }
    Ok(())
}

fn experiment(args: &Args, settings: &TwinSettings, goals: usize) -> Result {
    let scene = args.scene.clone();
    let experiment = Experiment { scene, goals, seed: args.seed, ..Experiment::default() };
    let json = args.json;
    let told = move |scene: &citrange_twin::TriedScene| {
        let reached = scene.goals.iter().filter(|goal| goal.reached).count();
        if !json {
            output::talk(&format!(
                "scene {}: {reached} of {} goals, touched {} times",
                scene.scene,
                scene.goals.len(),
                scene.touches
            ));
        }
    };
    let out = args.output.as_deref().map(Path::as_ref);
    let tried = experiment.run(settings, out, &STOP, &told)?;
    let summary = experiment.summary(&tried);
    if json {
        let mut line = summary.clone();
        line["event"] = json!("experiment");
        output::data(&line.to_string())?;
    } else {
        output::data(&format!("{summary:#}"))?;
    }
    match summary["touches"].as_u64() {
        Some(0) => Ok(()),
        touches => Err(problems_found(format!("{} touches", touches.unwrap_or(0)))),
    }
}

impl Args {
    fn settings(&self) -> Result<TwinSettings> {
        let path = self.config.as_deref();
        let mut settings = path.map(TwinSettings::load).transpose()?.unwrap_or_default();
        if self.yes || self.experiment.is_some() {
            settings.confirm = false;
        }
        settings.speed = self.speed.unwrap_or(settings.speed);
        if let Some(name) = &self.finder {
            settings.finder = FinderKind::named(name)?;
        }
        if let Some(name) = &self.unknown {
            settings.unknown = Unknown::named(name)?;
        }
        settings.check()?;
        Ok(settings)
    }

    fn goal_file(&self) -> Result<GoalFile> {
        let mut file = match &self.goals {
            Some(path) => GoalFile::load(path)?,
            None => GoalFile { goals: Vec::new(), rounds: 1 },
        };
        for text in &self.goal {
            file.goals.push(GoalEntry::place(text)?);
        }
        Ok(file)
    }
}
