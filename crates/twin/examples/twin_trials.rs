//! Trials of the twin's guard: random goals, things that come, faults; a table and JSON.
//!
//! `cargo run --release -p citrange-twin --example twin_trials -- goals 500 out.jsonl`
//! `… -- coming 50`, `… -- faults 10`

use std::sync::atomic::AtomicBool;

use citrange_twin::trials::{Coming, fault_trials, run_coming, summary};
use citrange_twin::{Experiment, TwinSettings};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize| words.get(at).map(String::as_str);
    let number = |at: usize, usual: u64| word(at).map_or(Ok(usual), str::parse);
    let mut settings = match std::env::var_os("TWIN_CONFIG") {
        Some(path) => TwinSettings::load(path.as_ref())?,
        None => TwinSettings::default(),
    };
    settings.confirm = false;
    match word(0) {
        Some("goals") => {
            let goals = number(1, 500)? as usize;
            let experiment = Experiment { goals, ..Experiment::default() };
            let stop = AtomicBool::new(false);
            let told = |scene: &citrange_twin::TriedScene| {
                let reached = scene.goals.iter().filter(|goal| goal.reached).count();
                println!(
                    "scene {}: {reached} of {}, {} touches",
                    scene.scene,
                    scene.goals.len(),
                    scene.touches
                );
                for goal in scene.goals.iter().filter(|goal| !goal.reached) {
                    println!("    {}: {}", goal.reason, goal.words);
                }
                scene.touched.iter().for_each(|touch| println!("    {touch}"));
            };
            let tried = experiment.run(&settings, word(2).map(AsRef::as_ref), &stop, &told)?;
            println!("{:#}", experiment.summary(&tried));
        }
        Some("coming") => {
            let runs = number(1, 50)?;
            let all = [
                ("box 0.6 s ahead", Coming::Dropped { ahead_s: 0.6 }),
                ("box 0.25 s ahead", Coming::Dropped { ahead_s: 0.25 }),
                ("person at 0.3 m/s", Coming::Walking { speed_m_s: 0.3 }),
                ("person at 1.0 m/s", Coming::Walking { speed_m_s: 1.0 }),
                ("ball at 3 m/s", Coming::Thrown { speed_m_s: 3.0 }),
                ("box pushed at 0.2 m/s", Coming::Pushed { speed_m_s: 0.2 }),
            ];
            for (name, coming) in all {
                let made = run_coming(&settings, coming, runs, 1)?;
                println!("{}", summary(name, &made));
                for run in made.iter().filter(|run| run.touches > 0) {
                    println!(
                        "    run {}: {} ({})",
                        run.number,
                        run.touched.join(", "),
                        run.causes.join(", ")
                    );
                }
            }
        }
        Some("faults") => {
            for trial in fault_trials() {
                let report = trial.run(&settings, number(1, 10)?, 2)?;
                println!("{}", json!(report));
            }
        }
        _ => println!("goals N [FILE], coming N, or faults N"),
    }
    Ok(())
}
