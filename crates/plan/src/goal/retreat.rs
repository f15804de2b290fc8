//! The nearest free place to a goal that touches something: on ever larger shells around it,
//! first of all back along the way that the hand comes.

use citrange_robot::{IkSettings, IkSolution, IkTarget};
use nalgebra::Vector3;

use super::Contacts;
use super::check::{Asked, nearest_first};
use super::report::Kept;
use crate::motions::Motions;

/// From shell to shell.
const SHELL_M: f64 = 0.01;
/// How far a retreat may go.
const FARTHEST_M: f64 = 0.3;
/// Places on each shell.
const PLACES: u32 = 32;
/// Starts of inverse kinematics for each place, besides the goal's own joints.
const STARTS: usize = 16;
/// Joints of the goal that are tried to be kept.
const KEPT: usize = 4;

/// Free configurations on the first shell that has any; `goals` are what touches something.
pub(super) fn retreat<W: Motions + Contacts>(
    asked: &mut Asked<'_, W>,
    aim: &IkTarget,
    goals: &[IkSolution],
) -> Option<Kept> {
    let here = asked.reach.aim_of(&asked.from).at_m;
    let back = (here - aim.at_m).try_normalize(1e-9).unwrap_or_else(Vector3::z);
    let shells = (1..).map(|n| f64::from(n) * SHELL_M).take_while(|r| *r <= FARTHEST_M + 1e-9);
    for radius_m in shells {
        let ways = std::iter::once(back).chain((0..PLACES).map(spread));
        let mut found = Vec::new();
        for way in ways {
            let moved = IkTarget { at_m: aim.at_m + way * radius_m, ..*aim };
            for near in goals.iter().take(KEPT) {
                let few = IkSettings { starts: 1, turns: false, ..IkSettings::default() };
                found.extend(asked.reach.solve(&moved, &near.joints, &few).solutions);
            }
            let many = IkSettings {
                starts: STARTS,
                seed: asked.settings.seed,
                turns: false,
                ..IkSettings::default()
            };
            found.extend(asked.reach.solve(&moved, &asked.from, &many).solutions);
        }
        nearest_first(&mut found, &asked.from);
        if let Ok(kept) = asked.keep_free(aim, &found)
            && !kept.candidates.is_empty()
        {
            return Some(kept);
        }
    }
    None
}

/// Directions that are spread evenly: a spiral from pole to pole.
fn spread(number: u32) -> Vector3<f64> {
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let height = 1.0 - (2.0 * f64::from(number) + 1.0) / f64::from(PLACES);
    let (sin, cos) = (golden * f64::from(number)).sin_cos();
    let wide = (1.0 - height * height).sqrt();
    Vector3::new(wide * cos, wide * sin, height)
}
