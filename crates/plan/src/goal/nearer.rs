//! Goals that leave the arm freedom: those joints at the goal that are nearer to the start. What
//! inverse kinematics finds from many starts is somewhere on a surface of answers; each of the
//! nearest is drawn along it toward the start.

use citrange_robot::{IkSettings, IkSolution, IkTarget, Orientation};

use super::Contacts;
use super::check::{Asked, nearest_first};
use super::report::Kept;
use crate::config::Config;
use crate::motions::Motions;

/// Goals that are drawn nearer.
const KEPT: usize = 6;
/// Steps of each.
const STEPS: usize = 8;
/// Share of the way to the start that the first step goes.
const FIRST_PULL: f64 = 0.5;
/// The smallest that is tried where larger ones failed is half of this.
const LEAST_PULL: f64 = 0.2;
/// A step that comes nearer by less than this is the last.
const LEAST_RAD: f64 = 0.01;

/// The kept goals with nearer ones before them, where there are any.
pub(super) fn with_nearer<W: Motions + Contacts>(
    asked: &mut Asked<'_, W>,
    aim: &IkTarget,
    goals: &[IkSolution],
    kept: Kept,
) -> Kept {
    let joints = asked.arm.joints();
    let given = match aim.orientation {
        Orientation::Free => 3,
        Orientation::Axis { .. } => 5,
        Orientation::Full(_) => 6,
    };
    // Such arms have single answers: there is nothing to draw along.
    if joints <= given {
        return kept;
    }
    let mut found = Vec::new();
    for at in kept.candidates.iter().take(KEPT) {
        if let Some(nearer) = drawn(asked, aim, at.positions(joints)) {
            found.push(nearer);
        }
    }
    if found.is_empty() {
        return kept;
    }
    found.extend_from_slice(goals);
    nearest_first(&mut found, &asked.from);
    asked.keep_free(aim, &found).unwrap_or(kept)
}

/// Joints at the goal that are free and nearer to the start.
fn drawn<W: Motions + Contacts>(
    asked: &mut Asked<'_, W>,
    aim: &IkTarget,
    mut at: Vec<f64>,
) -> Option<IkSolution> {
    let one = IkSettings { starts: 1, turns: false, ..IkSettings::default() };
    let away = |at: &[f64], from: &[f64]| -> f64 {
        at.iter().zip(from).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let (mut pull, mut best) = (FIRST_PULL, None);
    for _ in 0..STEPS {
        let toward: Vec<f64> =
            at.iter().zip(&asked.from).map(|(at, from)| at + pull * (from - at)).collect();
        let solved = asked.reach.solve(aim, &toward, &one).solutions.into_iter().next();
        let nearer = solved.filter(|solution| {
            away(&solution.joints, &asked.from) + LEAST_RAD < away(&at, &asked.from)
                && asked.world.is_free(&Config::of(&solution.joints))
        });
        match nearer {
            Some(solution) => {
                at.clone_from(&solution.joints);
                best = Some(solution);
            }
            None if pull < LEAST_PULL => break,
            None => pull *= 0.5,
        }
    }
    best
}
