//! A twin in the simulated cell: goals are reached around what only its camera sees, what comes is
//! answered, what goes wrong ends where it must. The truth is the simulator's.
//!
//! Small versions of the trials in `examples/twin_trials.rs`; `CITRANGE_EPISODES=50` makes them
//! larger.

use std::sync::atomic::AtomicBool;

use citrange_twin::trials::{Coming, fault_trials, run_coming};
use citrange_twin::{
    CellOptions, Experiment, GoalEntry, GoalFile, RunOptions, TwinMode, TwinSettings, run_goals,
};

fn settings() -> TwinSettings {
    TwinSettings { confirm: false, ..TwinSettings::default() }
}

fn episodes(few: u64) -> u64 {
    std::env::var("CITRANGE_EPISODES").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

fn point(at_m: [f64; 3]) -> GoalEntry {
    GoalEntry { point_m: Some(at_m), ..GoalEntry::default() }
}

#[test]
fn random_goals_are_reached_around_what_the_camera_sees() {
    let goals = 4 * episodes(1) as usize;
    let experiment = Experiment { goals, goals_of_scene: 4, seed: 77, ..Experiment::default() };
    let file = tempfile::NamedTempFile::new().unwrap();
    let never = AtomicBool::new(false);
    let run = || experiment.run(&settings(), Some(file.path()), &never, &|_| {}).unwrap();
    let tried = run();
    let summary = experiment.summary(&tried);
    assert_eq!(summary["touches"], 0, "{summary:#}");
    assert_eq!(summary["refused_transitions"], 0, "{summary:#}");
    assert!(summary["reached_share"].as_f64().unwrap() >= 0.75, "{summary:#}");
    assert!(summary["time_s"]["median"].as_f64().unwrap() < 5.0, "{summary:#}");
    // What is not reached has a reason.
    let missed = tried.iter().flat_map(|scene| &scene.goals).filter(|goal| !goal.reached);
    missed.for_each(|goal| assert!(!goal.words.is_empty(), "{goal:?}"));
    // What stands in the file is not tried again.
    let began = std::time::Instant::now();
    assert_eq!(run(), tried);
    assert!(began.elapsed().as_secs_f64() < 20.0);
}

#[test]
fn the_same_seed_makes_the_same_run() {
    let goals = GoalFile { goals: vec![point([0.5, -0.3, 0.4])], rounds: 1 };
    let run = || {
        let cell = CellOptions { episode: 3, ..CellOptions::default() };
        let report = run_goals(&settings(), cell, &goals, &RunOptions::default()).unwrap();
        (report.transitions, report.truth.least_m)
    };
    assert_eq!(run(), run());
}

#[test]
fn goals_that_cannot_be_are_refused_and_nothing_moves() {
    let entry = |entry: GoalEntry| entry;
    let goals = GoalFile {
        goals: vec![
            point([2.5, 0.0, 0.4]),
            point([0.6, 0.0, -0.03]),
            entry(GoalEntry {
                joints_deg: Some(vec![400.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
                ..Default::default()
            }),
            entry(GoalEntry { wait_s: Some(0.2), ..Default::default() }),
        ],
        rounds: 1,
    };
    let report =
        run_goals(&settings(), CellOptions::default(), &goals, &RunOptions::default()).unwrap();
    let reasons: Vec<&str> = report.goals.iter().map(|goal| goal.reason.as_str()).collect();
    assert_eq!(reasons[0], "goal_unreachable");
    assert!(["goal_in_collision", "goal_unreachable"].contains(&reasons[1]), "{reasons:?}");
    assert_eq!(reasons[2..], ["outside_limits", "wait"]);
    assert!(!report.transitions.iter().any(|t| t.to.moves()), "{:?}", report.transitions);
}

#[test]
fn a_shadow_run_sends_nothing() {
    let goals = GoalFile { goals: vec![point([0.5, 0.2, 0.45])], rounds: 1 };
    let mode = TwinMode { ends: true, unattended: true, shadow: true };
    let options = RunOptions { mode, ..RunOptions::default() };
    let report = run_goals(&settings(), CellOptions::default(), &goals, &options).unwrap();
    assert_eq!(report.reached(), 1);
    assert!(!report.transitions.iter().any(|t| t.to.moves()));
}

#[test]
fn a_box_in_the_path_is_answered_and_not_touched() {
    let runs = run_coming(&settings(), Coming::Dropped { ahead_s: 0.6 }, episodes(2), 5).unwrap();
    for run in &runs {
        assert_eq!(run.touches, 0, "{run:?}");
    }
    assert!(runs.iter().any(|run| run.answered_s.is_some()), "{runs:?}");
}

#[test]
fn faults_end_where_they_must() {
    let names: &[&str] = match episodes(0) {
        0 => &["camera freezes", "joints are silent", "driver refuses", "emergency stop"],
        _ => &[],
    };
    for trial in fault_trials().iter().filter(|t| names.is_empty() || names.contains(&t.name)) {
        let report = trial.run(&settings(), episodes(1), 2).unwrap();
        assert_eq!(report.right, report.runs, "{}: {:#?}", trial.name, report.wrong);
        assert_eq!(report.touches, 0, "{}", trial.name);
    }
}
