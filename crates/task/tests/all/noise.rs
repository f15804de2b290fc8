//! Oranges to the plate when the poses of things are seen with noise.
//! `CITRANGE_EPISODES=100 cargo test -r -p citrange-task --test all noise:: -- --nocapture`

use citrange_core::rng::Rng;
use citrange_core::{ObjectSeen, Observation};

use crate::work::{Prank, episodes, many, site};

/// Every frame's look has an error of its own, which holds until the next: a function of seed,
/// episode and tick.
struct NoisyPoses {
    sigma_m: f64,
    seed: u64,
    episode: u64,
    ticks_per_frame: u64,
}

impl Prank for NoisyPoses {
    fn observe(&mut self, seen: &mut Observation) {
        let frame = seen.tick / self.ticks_per_frame;
        let mut rng = Rng::for_episode(
            self.seed ^ frame.wrapping_mul(0x9e37_79b9),
            self.episode,
            "pose noise",
        );
        let mut normal = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        for ObjectSeen { pose, .. } in seen.objects.iter_mut().flatten() {
            pose.pos_m = pose.pos_m.map(|at| at + self.sigma_m * normal());
        }
    }
}

#[test]
fn noise_costs_attempts_and_makes_no_lies() {
    // More noise costs minutes of vain attempts: measured by hand.
    let is_by_hand = episodes(0) > 0;
    let sigmas = if is_by_hand { &[0.0, 1.0, 3.0, 6.0][..] } else { &[0.0, 1.0] };
    for sigma_mm in sigmas.iter().copied() {
        let tally = many(episodes(4), |seed, episode, kept| {
            let sigma_m = sigma_mm / 1000.0;
            let mut noise = NoisyPoses { sigma_m, seed, episode, ticks_per_frame: 6 };
            kept.get_or_insert_with(|| site("orange_plate", |_| {}))
                .pranked(seed, episode, &mut noise)
        });
        let first = tally.failures.first().map_or("", String::as_str);
        eprintln!(
            "{sigma_mm} mm: {} of {} at once, {} in the end, false {} and {} {first}",
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
