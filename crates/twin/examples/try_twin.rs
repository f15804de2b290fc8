//! A twin in a simulated cell goes to a few places. `cargo run -p citrange-twin --example try_twin`

use citrange_twin::{CellOptions, GoalEntry, GoalFile, TwinSettings, run_goals};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let episode = std::env::args().nth(1).map_or(Ok(0), |n| n.parse())?;
    let settings = TwinSettings { confirm: false, ..TwinSettings::default() };
    let point = |at_m| GoalEntry { point_m: Some(at_m), ..GoalEntry::default() };
    let goals = GoalFile {
        goals: vec![
            point([0.5, 0.2, 0.4]),
            point([0.5, -0.3, 0.35]),
            point([0.7, 0.0, 0.5]),
            GoalEntry { named: Some("home".into()), ..GoalEntry::default() },
        ],
        rounds: 1,
    };
    let cell = CellOptions { episode, ..CellOptions::default() };
    let report = run_goals(&settings, cell, &goals, &Default::default())?;
    report.lines().iter().for_each(|line| println!("{line}"));
    for t in &report.transitions {
        println!(
            "{:8.3} {:>10} -> {:<10} {}",
            t.at_ns as f64 * 1e-9,
            t.from.name(),
            t.to.name(),
            t.why.words()
        );
    }
    println!("{:#}", report.summary());
    Ok(())
}
