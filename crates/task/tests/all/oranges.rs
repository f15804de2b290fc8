//! Oranges to the plate, judged by the truth of the simulator.
//! `CITRANGE_EPISODES=500 cargo test -r -p citrange-task --test all oranges:: -- --nocapture`

use crate::work::{episodes, many, site};

#[test]
fn oranges_come_to_the_plate_and_the_autopilot_tells_the_truth() {
    let tally = many(episodes(24), |seed, episode, kept| {
        kept.get_or_insert_with(|| site("orange_plate", |_| {})).episode(seed, episode)
    });
    eprintln!(
        "{} episodes, {} oranges: {} placed at once, {} in the end, nearest {:.4} m\nfailures {:#?}\nfalse failures {:#?}",
        tally.episodes,
        tally.things,
        tally.at_once,
        tally.placed,
        tally.nearest_m,
        tally.failures,
        tally.false_failure
    );
    assert!(tally.false_success.is_empty(), "{:#?}", tally.false_success);
    // Oranges have a radius of 25 mm.
    assert!(tally.nearest_m > 0.0505, "two oranges touch on the plate: {} m", tally.nearest_m);
    assert!(tally.false_failure.len() as f64 <= 0.01 * tally.things as f64);
    // In the few of the suite one may fail.
    let fraction = |n: u64| (n + u64::from(tally.episodes < 100)) as f64 / tally.things as f64;
    assert!(fraction(tally.at_once) >= 0.98, "{:#?}", tally.failures);
    assert!(fraction(tally.placed) >= 0.995, "{:#?}", tally.failures);
}
