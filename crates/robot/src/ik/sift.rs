//! Which ends of a search are the same answer, and how many turns each answer allows.

use std::f64::consts::TAU;

use super::descent::Joints;
use super::hand::wrapped;
use super::linkage::{Linkage, MOST};

/// Joints that all are closer than this are the same.
const SAME_RAD: f64 = 1e-2;

/// Whether two joint vectors are one, whole turns aside.
pub(super) fn are_same(linkage: &Linkage, a: &Joints, b: &Joints) -> bool {
    linkage.steps.iter().zip(a).zip(b).all(|((step, a), b)| {
        let off = if step.wraps { wrapped(a - b) } else { a - b };
        off.abs() < SAME_RAD
    })
}

/// All joint vectors that differ by whole turns and are in range, those first whose joints are
/// nearest to `near`; at most `most`.
pub(super) fn turns(linkage: &Linkage, at: &Joints, near: &[f64], most: usize) -> Vec<Joints> {
    let mut all = vec![[0.0; MOST]];
    for (index, (step, position)) in linkage.steps.iter().zip(at).enumerate() {
        let [low, high] = step.range;
        let mut places = vec![*position];
        if step.wraps {
            let first = low + (position - low).rem_euclid(TAU);
            places = (0..).map(|k| first + TAU * f64::from(k)).take_while(|p| *p <= high).collect();
            // The last bit of a turn must not lose an answer at the very end of the range.
            if places.is_empty() {
                places.push(first.clamp(low, high));
            }
        }
        let near = near.get(step.joint).copied().unwrap_or(0.0);
        places.sort_by(|a, b| (a - near).abs().total_cmp(&(b - near).abs()));
        let before = std::mem::take(&mut all);
        for place in places {
            all.extend(before.iter().map(|joints| {
                let mut joints = *joints;
                joints[index] = place;
                joints
            }));
        }
        all.truncate(most.max(1));
    }
    all
}
