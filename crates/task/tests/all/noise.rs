//! Things to the plate when their places are seen with noise.
//! `CITRANGE_EPISODES=100 cargo test -r -p citrange-task --test all noise:: -- --nocapture`

use citrange_task::PoseNoise;

use crate::matrix::{Cell, desk};
use crate::things::{Kind, Robot};
use crate::work::{Site, episodes, many, site};

fn oranges() -> Site {
    site("orange_plate", |_| {})
}

fn cube() -> Site {
    let robot = Robot::So101;
    desk(&Cell { robot, kind: Kind::Cube(40.0), is_held_aside: false, place: robot.place() })
}

#[test]
fn noise_costs_attempts_and_makes_no_lies() {
    // More noise costs minutes of vain attempts: measured by hand.
    let is_by_hand = episodes(0) > 0;
    let sigmas = if is_by_hand { &[0.0, 1.0, 3.0, 6.0][..] } else { &[0.0, 1.0] };
    let sites = [("oranges", oranges as fn() -> Site), ("cube", cube)];
    for (name, make) in &sites[..if is_by_hand { 2 } else { 1 }] {
        for sigma_mm in sigmas.iter().copied() {
            let tally = many(episodes(4), |seed, episode, kept| {
                let site = kept.get_or_insert_with(make);
                site.noise = Some(PoseNoise { sigma_m: sigma_mm / 1000.0, seed, episode });
                site.episode(seed, episode)
            });
            let first = tally.failures.first().map_or("", String::as_str);
            eprintln!(
                "{name} {sigma_mm} mm: {} of {} at once, {} in the end, false {} and {} {first}",
                tally.at_once,
                tally.things,
                tally.placed,
                tally.false_success.len(),
                tally.false_failure.len()
            );
            assert!(tally.false_success.is_empty(), "{:#?}", tally.false_success);
            assert!(sigma_mm > 0.0 || tally.placed as f64 >= 0.9 * tally.things as f64);
        }
    }
}
