//! Oranges to the plate when light, colours, cameras, friction, mass and start pose differ from
//! episode to episode.
//! `CITRANGE_EPISODES=500 cargo test --release -p citrange-task --test randomised -- --nocapture`

mod work;

use citrange_core::Randomise;
use citrange_core::randomise::randomised;
use citrange_sim::catalog::robot_description;
use work::{episodes, many, site};

#[test]
fn oranges_come_to_the_plate_in_random_worlds() {
    let ranges = Randomise::built_in().unwrap();
    let robots = [("robot0".to_owned(), robot_description("so101").unwrap())].into();
    let tally = many(episodes(16), |seed, episode, _| {
        site("orange_plate", |scene| {
            *scene = randomised(scene, &robots, &ranges, seed, episode);
        })
        .episode(seed, episode)
    });
    eprintln!(
        "{} episodes, {} oranges: {} placed at once, {} in the end\nfailures {:#?}\nfalse failures {:#?}",
        tally.episodes,
        tally.things,
        tally.at_once,
        tally.placed,
        tally.failures,
        tally.false_failure
    );
    assert!(tally.false_success.is_empty(), "{:#?}", tally.false_success);
    assert!(tally.false_failure.len() as f64 <= 0.01 * tally.things as f64);
    assert!(tally.at_once as f64 >= 0.95 * tally.things as f64, "{:#?}", tally.failures);
}
