//! Trains one policy and tries it on rungs of the ladder; prints one JSON object. `benches/policy.py`
//! runs it for seeds, rungs and robots.
//!
//! `ladder key=value …`: robot, rung, seed, steps, threads, rate, again, disturbed (0 or 1), rungs
//! (with commas), episodes, attempts, out (a folder, which is kept).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use citrange_policy::{
    Disturbance, EvaluateSettings, ReachArm, Rung, TrainFile, Trainer, evaluate,
};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: BTreeMap<String, String> = std::env::args()
        .skip(1)
        .filter_map(|word| word.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())))
        .collect();
    let word = |key: &str, other: &str| words.get(key).map_or(other, String::as_str).to_owned();
    let rung = Rung::named(&word("rung", "a"))?;
    let mut file = TrainFile::of(rung);
    file.train.seed = word("seed", "1").parse()?;
    if let Some(steps) = words.get("steps") {
        file.train.total_steps = steps.parse()?;
    }
    if let Some(rate) = words.get("rate") {
        file.train.learning_rate = rate.parse()?;
    }
    if let Some(again) = words.get("again") {
        file.train.again = again.parse()?;
    }
    let disturbed = word("disturbed", "0") == "1";
    if disturbed {
        file.reach.disturbance = Disturbance::usual();
    }
    let other = std::env::temp_dir().join(format!("ladder_{}", std::process::id()));
    let folder = words.get("out").map_or(other, PathBuf::from);
    let threads: usize = word("threads", "1").parse()?;
    let robot = word("robot", "ur5e");
    let arm = Arc::new(ReachArm::load(&robot)?);
    let began = std::time::Instant::now();
    let mut trainer = Trainer::begin(&folder, arm, (file.reach, file.train, Some(rung)), threads)?;
    while !trainer.is_done() {
        let progress = trainer.iterate()?;
        if let Some(success) = progress.success {
            eprintln!(
                "{robot} {} seed {}: {:>9} steps {:6.1} s reached {:.4} collided {:.4} training \
                 {:.3} divergence {:.4} sigma {:.3}",
                rung.name(),
                trainer.settings().seed,
                progress.steps,
                progress.cpu_s,
                success,
                progress.collided.unwrap_or(0.0),
                progress.training_success,
                progress.divergence,
                progress.sigma
            );
        }
    }
    let (train_cpu_s, train_wall_s) = (trainer.spent_s(), began.elapsed().as_secs_f64());
    trainer.save()?;
    let names = word("rungs", rung.name());
    let rungs: Result<Vec<Rung>, _> = names.split(',').map(Rung::named).collect();
    let mut settings = EvaluateSettings {
        rungs: rungs?,
        episodes: word("episodes", "1024").parse()?,
        attempts: word("attempts", "16").parse()?,
        threads,
        ..EvaluateSettings::default()
    };
    let plain = evaluate(&folder, &settings, &|_| ())?;
    settings.disturbance = Disturbance::usual();
    let with_disturbance = disturbed.then(|| evaluate(&folder, &settings, &|_| ())).transpose()?;
    let told = json!({
        "robot": robot, "rung": rung.name(), "seed": trainer.settings().seed,
        "learning_rate": trainer.settings().learning_rate, "again": trainer.settings().again,
        "disturbed": disturbed, "threads": threads, "steps": trainer.steps(),
        "train_cpu_s": train_cpu_s, "train_wall_s": train_wall_s,
        "steps_per_cpu_s": trainer.steps() as f64 / train_cpu_s,
        "curve": trainer.curve(), "evaluation": plain, "evaluation_disturbed": with_disturbance,
    });
    println!("{told}");
    if !words.contains_key("out") {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}
