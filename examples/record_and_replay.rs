//! Record an episode of a pilot into a dataset that lerobot reads, then repeat it and compare every
//! physics step.
//!
//! `cargo run -p citrange-examples --bin record_and_replay -- my_set`

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use citrange_core::script::{Move, Script};
use citrange_core::{RunSettings, run};
use citrange_episodes::replay::verify;
use citrange_episodes::{Choice, RunContext, Silent, Take, simulated};
use citrange_tape::{Dataset, Unit, WhenFull};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::args().nth(1).map_or_else(|| "my_set".into(), PathBuf::from);
    // Nobody listens here, and nobody asks to stop.
    let stop = AtomicBool::new(false);
    let ctx = RunContext { reporter: &Silent, stop: &stop };

    // A simulated rig with one of its cameras, where episode 0 of seed 7 begins.
    let mut rig = simulated("block_box", Some(&["front".to_owned()]))?;
    rig.reset(7, 0)?;

    // The dataset takes its features from the rig: joint names and limits, cameras, rates.
    let images = BTreeSet::new();
    let (mut dataset, _repaired) = Dataset::record(&root, rig.spec(), Unit::Degrees, &images)?;

    // A pilot that reaches forward and comes back. Yours is a type that implements `Pilot`.
    let home = rig.targets();
    let mut forward = home.clone();
    forward[0] += 0.4;
    forward[1] += 0.3;
    let reach = |joints: &[f64], phase| Move { joints: joints.to_vec(), ticks: 90, phase };
    let mut pilot = Script::new(vec![reach(&forward, "forward"), reach(&home, "back")]);

    // A `Take` is the tape of one episode: written while it happens, a kill loses 0.2 s at most.
    let choice = Choice {
        task: Some("reach and come back"),
        pilot: "script",
        seed: 7,
        episode: 0,
        unit: Unit::Degrees,
        images: &images,
        parent: None,
        config: serde_json::Value::Null,
    };
    let seen = |_frame: u64, _dropped: usize| {};
    let mut take = Take::begin(&dataset, rig.as_ref(), choice, WhenFull::Wait, &seen, ctx)?;
    let settings = RunSettings { pictures: true, ..RunSettings::default() };
    let report = run(&mut pilot, rig.as_mut(), &mut take, &settings)?;
    let number = take.save(&mut dataset, &report)?;
    println!("episode {number}: {} frames in {}", report.frames, root.display());

    // The tape holds every command and the complete state: the repetition has the same bits.
    let verified = verify(&dataset, number, ctx)?;
    println!("{verified}");
    assert!(verified.is_bitwise());
    Ok(())
}
