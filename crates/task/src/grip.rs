//! How closed jaws press on the thing between them.

use nalgebra::Vector3;

use crate::grasp_plan::GraspPlan;
use crate::hand::{JawPlane, Sections, Side, span};
use crate::stand::{SECTION_STEP_M, Stand};
use crate::thing::Thing;

/// Faces nearer than this to the first that touches touch too.
const TOUCHING_M: f64 = 0.0007;
/// Bodies are moved apart by so much to see in which direction they press on each other.
const APART_M: f64 = 0.0005;

/// How the jaws press on a thing that they hold. Depths are against the thing's middle, towards
/// the tips.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grip {
    /// Angle between the line from contact to contact and the directions in which they press.
    pub(crate) slant_rad: f64,
    /// Angle between these two directions.
    pub(crate) wedge_rad: f64,
    /// Middle of the line.
    pub(crate) contact_c: f64,
    /// Where the jaw that holds less of it touches it farthest from the tips.
    pub(crate) top_c: f64,
}

pub(crate) fn grip(stand: &mut Stand<'_>, thing: &Thing, plan: &GraspPlan) -> Option<Grip> {
    let [a, b] = stand.gaps(plan.contact, false);
    let jaws = stand.jaws(plan.contact);
    let touching = [touching(&jaws, &stand.thing, 0, a), touching(&jaws, &stand.thing, 1, b)];
    let bodies = stand.body.hand_shape.bodies(stand.body.ik.kinematics());
    let JawPlane { jaw, tool, .. } = stand.plane;
    let mut press = [Vector3::zeros(); 2];
    for (k, (side, gap)) in
        [(Side::First, -a + APART_M), (Side::Second, b - APART_M)].into_iter().enumerate()
    {
        let identity = nalgebra::Matrix3::identity();
        let mut nearest: Option<crate::hull::Gap> = None;
        for part in &thing.bodies {
            let part = part.moved(&identity, &(jaw * gap));
            for (_, jaw_part) in bodies.iter().filter(|(s, _)| *s == side) {
                let found = part.gap(jaw_part);
                if nearest.is_none_or(|n| found.gap_m < n.gap_m) {
                    nearest = Some(found);
                }
            }
        }
        press[k] = nearest.map(|n| n.normal).filter(|n| n.norm() > 0.5)?;
    }
    let ends =
        touching.each_ref().map(|points| points.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min));
    let (wedge_rad, top_c) = (press[0].angle(&-press[1]), ends[0].max(ends[1]));
    let mut best: Option<Grip> = None;
    for p in &touching[0] {
        for q in &touching[1] {
            let line = jaw * (q[0] - p[0]) + tool * (q[1] - p[1]);
            let slant_rad = line.angle(&press[0]).max((-line).angle(&press[1]));
            if best.is_none_or(|other| slant_rad < other.slant_rad) {
                let contact_c = f64::midpoint(p[1], q[1]);
                best = Some(Grip { slant_rad, wedge_rad, contact_c, top_c });
            }
        }
    }
    best
}

/// Ends and middle of where a jaw touches a thing that is this near to it.
fn touching(jaws: &[Sections; 2], thing: &Sections, side: usize, gap_m: f64) -> Vec<[f64; 2]> {
    let all = thing.iter().flatten();
    let [low, high] = all
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], p| [low.min(p[1]), high.max(p[1])]);
    let count = ((high - low) / (SECTION_STEP_M / 2.0)).ceil().max(1.0) as usize;
    let at =
        |k: usize| (low + (high - low) * k as f64 / count as f64).clamp(low + 1e-9, high - 1e-9);
    let touch = |k: usize| {
        let [left, right] = span(thing, at(k))?;
        let [jaw_left, jaw_right] = span(&jaws[side], at(k))?;
        let (gap, place) = match side {
            0 => (left - jaw_right, left),
            _ => (jaw_left - right, right),
        };
        (gap <= gap_m + TOUCHING_M).then_some([place, at(k)])
    };
    let touches: Vec<[f64; 2]> = (0..=count).filter_map(touch).collect();
    match touches[..] {
        [] => touches,
        [first, ..] => vec![first, touches[touches.len() / 2], touches[touches.len() - 1]],
    }
}
