//! The way out of a collision at the start: short, straight, and never deeper in.

use citrange_core::rng::Rng;

use super::Contacts;
use crate::arm::PlannedArm;
use crate::config::Config;
use crate::motions::Motions;
use crate::outcome::PathEnd;

/// Deeper than this the robot or the map is not where it is thought to be: nobody should move.
const DEEPEST_M: f64 = 0.03;
/// Shortest and longest way that is tried, and how it grows.
const SHORTEST_RAD: f64 = 0.005;
const LONGEST_RAD: f64 = 1.0;
const GROWTH: f64 = 1.15;
/// Directions tried besides those of single joints.
const DIRECTIONS: usize = 96;
/// How finely a way is checked.
const STEP_RAD: f64 = 0.002;
/// What rounding may add to a depth.
const ROUNDING_M: f64 = 1e-9;

/// The nearest free configuration such that nothing gets deeper on the straight motion there;
/// otherwise the reason why there is none.
pub(super) fn escape<W: Motions + Contacts>(
    arm: &PlannedArm,
    world: &mut W,
    start: &[f64],
    seed: u64,
) -> Result<Config, String> {
    let depth_m = world.contact(start).map_or(0.0, |c| c.depth_m);
    if depth_m > DEEPEST_M {
        return Err(format!(
            "the start is {depth_m:.3} m deep in something, and beyond {DEEPEST_M} m nothing moves \
             by itself: move the arm by hand, or correct the map"
        ));
    }
    let ways = directions(start.len(), seed);
    let mut length = SHORTEST_RAD;
    while length <= LONGEST_RAD {
        for way in &ways {
            let end: Vec<f64> = start.iter().zip(way).map(|(q, w)| q + w * length).collect();
            let at = Config::of(&end);
            let end = at.positions(start.len());
            if arm.outside(PathEnd::Start, &end).is_none()
                && world.is_free(&at)
                && only_outward(world, start, &end, depth_m)
            {
                return Ok(at);
            }
        }
        length *= GROWTH;
    }
    Err(format!(
        "no way out of the collision at the start was found within {LONGEST_RAD} rad: each one \
         tried goes deeper in first"
    ))
}

/// Whether the depth never grows from step to step.
fn only_outward(world: &mut impl Contacts, from: &[f64], to: &[f64], depth_m: f64) -> bool {
    let length: f64 = from.iter().zip(to).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let steps = (length / STEP_RAD).ceil().max(4.0) as u32;
    let mut last_m = depth_m;
    for step in 1..=steps {
        let fraction = f64::from(step) / f64::from(steps);
        let at: Vec<f64> = from.iter().zip(to).map(|(a, b)| a + (b - a) * fraction).collect();
        let depth_m = world.contact(&at).map_or(0.0, |c| c.depth_m);
        if depth_m > last_m + ROUNDING_M {
            return false;
        }
        last_m = depth_m;
    }
    true
}

/// Unit vectors: each joint alone, both ways, then any.
fn directions(joints: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    for joint in 0..joints {
        for way in [1.0, -1.0] {
            let mut alone = vec![0.0; joints];
            alone[joint] = way;
            all.push(alone);
        }
    }
    let mut rng = Rng::for_episode(seed, 0, "escape");
    while all.len() < 2 * joints + DIRECTIONS {
        let way: Vec<f64> = (0..joints).map(|_| normal(&mut rng)).collect();
        let norm = way.iter().map(|w| w * w).sum::<f64>().sqrt();
        if norm > 1e-3 {
            all.push(way.iter().map(|w| w / norm).collect());
        }
    }
    all
}

/// Near enough to a normal distribution that no direction is preferred.
fn normal(rng: &mut Rng) -> f64 {
    (0..6).map(|_| rng.uniform(-1.0, 1.0)).sum()
}
