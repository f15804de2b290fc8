//! Trains a policy and prints how far it is: `train_reach ROBOT RUNG STEPS SEED THREADS [RATE]`.

use std::sync::Arc;

use citrange_policy::{ReachArm, ReachSettings, Rung, TrainSettings, Trainer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let word = |at: usize, other: &str| words.get(at).cloned().unwrap_or_else(|| other.to_owned());
    let rung = Rung::named(&word(2, "a"))?;
    let train = TrainSettings {
        total_steps: word(3, "500000").parse()?,
        seed: word(4, "1").parse()?,
        learning_rate: word(6, "0.001").parse()?,
        ..TrainSettings::default()
    };
    let reach = ReachSettings { world: rung.training(), ..ReachSettings::default() };
    let folder = std::env::temp_dir().join(format!("train_reach_{}", std::process::id()));
    let arm = Arc::new(ReachArm::load(&word(1, "ur5e"))?);
    let threads = word(5, "1").parse()?;
    let mut trainer = Trainer::begin(&folder, arm, (reach, train, Some(rung)), threads)?;
    while !trainer.is_done() {
        let progress = trainer.iterate()?;
        if let Some(success) = progress.success {
            eprintln!(
                "{:>9} {:6.1} s  success {:.4} collided {:.4}  training {:.3}  kl {:.4} clip {:.2} \
                 value {:.3} sigma {:.3}",
                progress.steps,
                progress.cpu_s,
                success,
                progress.collided.unwrap_or(0.0),
                progress.training_success,
                progress.divergence,
                progress.clipped,
                progress.value_loss,
                progress.sigma
            );
        }
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
