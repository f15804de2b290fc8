//! A Panda stacks cubeA on cubeB, judged by the truth of the simulator.
//! `CITRANGE_EPISODES=100 cargo test --release -p citrange-task --test panda -- --nocapture`

mod work;

use work::{episodes, many, site};

#[test]
fn the_panda_stacks_and_tells_the_truth() {
    let tally = many(episodes(10), |seed, episode, kept| {
        kept.get_or_insert_with(|| site("multi_table_assembly", |_| {})).episode(seed, episode)
    });
    eprintln!(
        "{} episodes: {} stacked at once, {} in the end\nfailures {:#?}",
        tally.episodes, tally.at_once, tally.placed, tally.failures
    );
    assert!(tally.false_success.is_empty(), "{:#?}", tally.false_success);
    assert!(tally.false_failure.is_empty(), "{:#?}", tally.false_failure);
    assert!(tally.at_once as f64 >= 0.95 * tally.episodes as f64, "{:#?}", tally.failures);
}
