//! The careful law on the SO-101.

mod common;

use citrange_control::Velocity;
use citrange_core::rng::Rng;
use common::{Drive, direction, linear, vertical};

const SPEED: f64 = 0.04;
const TICKS: f64 = 180.0;

/// After the smoothing has settled the wrist moves exactly as asked, wherever the joints' speed
/// limit allows it; where it does not, it moves slower in the same direction.
#[test]
fn the_wrist_moves_as_asked() {
    let mut rng = Rng::new(1);
    let (mut exact, mut slowed, mut worst, mut worst_tilt) = (0, 0, 0.0_f64, 0.0_f64);
    let (mut worst_turn, mut slow_r) = (0.0_f64, (f64::INFINITY, 0.0_f64));
    for _ in 0..10_000 {
        let (q, r, z) = vertical(&mut rng, 0.01);
        let v = direction(&mut rng) * SPEED;
        let mut drive = Drive::new("so101", "default", None, &q);
        let mut was_slowed = false;
        let mut status = Default::default();
        for _ in 0..18 {
            status = drive.step(&linear(v));
            was_slowed |= status.speed;
        }
        let before = drive.at(false);
        status = {
            let _ = status;
            drive.step(&linear(v))
        };
        let got = (drive.at(false) - before) * TICKS;
        let error = (got - v).norm() / SPEED;
        worst_tilt = worst_tilt.max(status.tilt_rad);
        if was_slowed {
            slowed += 1;
            slow_r = (slow_r.0.min(r), slow_r.1.max(r));
            worst_turn = worst_turn.max(got.cross(&v).norm() / (got.norm() * v.norm()));
        } else {
            exact += 1;
            if error > worst {
                println!("{error} r {r} z {z} {status:?} {v} {got}");
            }
            worst = worst.max(error);
        }
    }
    println!(
        "{exact} exact within {worst}, {slowed} slowed (r {slow_r:?}), turned {worst_turn}; tilt {worst_tilt}"
    );
    let _ = Velocity::ZERO;
}
