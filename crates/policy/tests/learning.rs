//! Training: it learns, the same on any number of threads, and goes on bit for bit after a kill.

use std::path::Path;
use std::sync::Arc;

use citrange_policy::{
    Disturbance, EvaluateSettings, PolicyFile, ReachArm, ReachSettings, Rung, TrainSettings,
    Trainer, evaluate,
};

fn small() -> TrainSettings {
    TrainSettings {
        environments: 32,
        rollout_steps: 16,
        minibatch: 512,
        epochs: 2,
        hidden: vec![32, 32],
        total_steps: 8 * 512,
        evaluate_every: 3,
        evaluation_episodes: 32,
        ..TrainSettings::default()
    }
}

fn begin(folder: &Path, threads: usize, reach: ReachSettings) -> Trainer {
    let arm = Arc::new(ReachArm::load("ur5e").unwrap());
    Trainer::begin(folder, arm, (reach, small(), Some(Rung::A)), threads).unwrap()
}

fn finish(mut trainer: Trainer) -> Trainer {
    while !trainer.is_done() {
        trainer.iterate().unwrap();
    }
    trainer
}

/// Everything is on: noise, late actions, moving boxes.
fn disturbed() -> ReachSettings {
    ReachSettings {
        world: Rung::E.training(),
        disturbance: Disturbance::usual(),
        ..ReachSettings::default()
    }
}

#[test]
fn one_and_two_threads_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for (name, reach) in [("plain", ReachSettings::default()), ("disturbed", disturbed())] {
        let weights: Vec<Vec<f32>> = [1, 2]
            .into_iter()
            .map(|threads| {
                let own = folder.path().join(format!("{name}{threads}"));
                let trainer = finish(begin(&own, threads, reach.clone()));
                let best = std::fs::read(own.join("best.policy")).unwrap();
                assert!(best.len() > 1000);
                trainer.weights()
            })
            .collect();
        assert!(weights[0].iter().zip(&weights[1]).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert!(weights[0].iter().any(|w| *w != 0.0));
    }
}

/// A kill leaves the last checkpoint; what was done after it is done again, and the same.
#[test]
fn a_training_that_is_killed_goes_on_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    for (name, reach) in [("plain", ReachSettings::default()), ("disturbed", disturbed())] {
        let whole = finish(begin(&folder.path().join(format!("{name}_whole")), 1, reach.clone()));
        let own = folder.path().join(format!("{name}_killed"));
        let mut trainer = begin(&own, 1, reach);
        let mut kills = 0;
        while !trainer.is_done() {
            trainer.iterate().unwrap();
            trainer.save().unwrap();
            if !trainer.is_done() {
                // Work that no checkpoint has, then the end.
                trainer.iterate().unwrap();
            }
            drop(trainer);
            kills += 1;
            trainer = Trainer::resume(&own, None, 1 + kills % 2).unwrap();
        }
        assert_eq!(kills, 8);
        assert_eq!(trainer.weights(), whole.weights(), "{name}");
    }
}

#[test]
fn checkpoints_and_policies_that_are_damaged_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("a");
    let mut trainer = begin(&own, 1, ReachSettings::default());
    for _ in 0..3 {
        trainer.iterate().unwrap();
    }
    trainer.save().unwrap();
    let other = begin(&folder.path().join("b"), 1, ReachSettings::default());
    assert!(
        Trainer::begin(
            &own,
            Arc::new(ReachArm::load("ur5e").unwrap()),
            (ReachSettings::default(), small(), None),
            1
        )
        .is_err()
    );
    drop(other);
    let policy = std::fs::read(own.join("best.policy")).unwrap();
    let checkpoint = own.join("training.checkpoint");
    let whole = std::fs::read(&checkpoint).unwrap();
    for step in 0..40 {
        let mut broken = whole.clone();
        let at = step * whole.len() / 40;
        broken[at] ^= 0x41;
        std::fs::write(&checkpoint, &broken).unwrap();
        assert!(Trainer::resume(&own, None, 1).is_err(), "byte {at}");
        std::fs::write(&checkpoint, &whole[..at]).unwrap();
        assert!(Trainer::resume(&own, None, 1).is_err(), "cut at {at}");
        let mut broken = policy.clone();
        broken[step * policy.len() / 40] ^= 0x41;
        std::fs::write(own.join("best.policy"), &broken).unwrap();
        assert!(PolicyFile::load(&own).is_err());
    }
    std::fs::write(&checkpoint, &whole).unwrap();
    Trainer::resume(&own, None, 1).unwrap();
}

/// A few seconds are enough to reach most goals; the best policy is kept, shows what it is, and
/// what is proved of its motions touches nothing. More steps by `CITRANGE_STEPS`.
#[test]
fn an_arm_learns_to_reach() {
    let folder = tempfile::tempdir().unwrap();
    let steps = std::env::var("CITRANGE_STEPS").map_or(204_800, |steps| steps.parse().unwrap());
    let own = folder.path().join("reach");
    let train = TrainSettings {
        total_steps: steps,
        learning_rate: 1e-3,
        evaluation_episodes: 256,
        ..TrainSettings::default()
    };
    let arm = Arc::new(ReachArm::load("ur5e").unwrap());
    let reach = ReachSettings::default();
    let mut trainer = Trainer::begin(&own, arm, (reach, train, Some(Rung::A)), 1).unwrap();
    while !trainer.is_done() {
        trainer.iterate().unwrap();
    }
    let best = trainer.best().unwrap().success;
    assert!(best > 0.85, "{best}");
    let settings = EvaluateSettings { episodes: 256, attempts: 4, ..EvaluateSettings::default() };
    let figures = evaluate(&own, &settings, &|_| ()).unwrap();
    let rung = &figures.rungs[0];
    assert!(rung.success.share > 0.8, "{:?}", rung.success);
    assert!(rung.best_of[1].success.count >= rung.success.count);
    let proof = rung.proof.as_ref().unwrap();
    assert_eq!(proof.touching, 0);
    assert!(proof.checked > 200);
    assert!(rung.planner.as_ref().unwrap().solved.share == 1.0);
    let page = figures.page(&[(0, 0.5), (1, 0.9)]);
    assert!(page.contains("Rung a") && page.ends_with("</html>\n"));
    // The same question, the same answer, whatever the threads.
    let again = EvaluateSettings { threads: 2, ..settings };
    let again = evaluate(&own, &again, &|_| ()).unwrap();
    assert_eq!(again.rungs[0].ended, rung.ended);
}
