//! The step of least squares for every lane, and joints that stop at the ends of their ranges.

use super::linkage::{Linkage, MOST};
use super::vectors::{LANES, Lane};

/// Keeps the equations solvable where joints do the same thing.
const LEAST_DAMPING: f64 = 1e-12;

/// Squared distance from the goal at some joints, and the equations of the next step.
#[derive(Clone)]
pub(super) struct Equations {
    pub(super) cost: Lane,
    pub(super) square: [[Lane; MOST]; MOST],
    pub(super) pull: [Lane; MOST],
}

/// Joints that go as far as their range, and no farther.
pub(super) struct Held {
    // 1 for those that are free, 0 for those that are held.
    free: [Lane; MOST],
    // What a held one still moves.
    by: [Lane; MOST],
}

impl Held {
    pub(super) fn none() -> Self {
        Self { free: [Lane::all(1.0); MOST], by: [Lane::ZERO; MOST] }
    }

    /// Holds joints at the ends that a step would bring them beyond. Says whether there are any.
    pub(super) fn extend(
        &mut self,
        linkage: &Linkage,
        joints: &[Lane; MOST],
        step: &[Lane; MOST],
    ) -> bool {
        let mut any = false;
        for (j, joint) in linkage.steps.iter().enumerate().filter(|(_, s)| !s.wraps) {
            let [low, high] = joint.range;
            for lane in 0..LANES {
                let at = joints[j][lane];
                let next = at + step[j][lane];
                if self.free[j][lane] > 0.0 && !(low..=high).contains(&next) {
                    self.free[j][lane] = 0.0;
                    self.by[j][lane] = next.clamp(low, high) - at;
                    any = true;
                }
            }
        }
        any
    }

    /// The step of least squares for the free joints.
    #[inline(always)]
    pub(super) fn solve(
        &self,
        equations: &Equations,
        damping: &Lane,
        count: usize,
    ) -> [Lane; MOST] {
        let Equations { square, pull, .. } = equations;
        let mut factor = *square;
        let mut step = *pull;
        for j in 0..count {
            factor[j][j] += *damping + Lane::all(LEAST_DAMPING);
            for k in 0..count {
                let entry = if k < j { square[j][k] } else { square[k][j] };
                step[j] -= entry * self.by[k];
            }
        }
        for j in 0..count {
            step[j] = step[j] * self.free[j] + self.by[j];
            for k in 0..=j {
                factor[j][k] = factor[j][k] * self.free[j] * self.free[k];
            }
            factor[j][j] += Lane::all(1.0) - self.free[j];
        }
        solve(&mut factor, &mut step, count);
        step
    }
}

/// Solves for `step` in place; the lower half of `matrix` is what counts, and is used up.
#[inline(always)]
fn solve(matrix: &mut [[Lane; MOST]; MOST], step: &mut [Lane; MOST], count: usize) {
    let mut inverse = [Lane::ZERO; MOST];
    for j in 0..count {
        for k in 0..j {
            for m in 0..k {
                matrix[j][k] -= matrix[j][m] * matrix[k][m];
            }
            matrix[j][k] = matrix[j][k] * inverse[k];
            let entry = matrix[j][k];
            matrix[j][j] -= entry * entry;
            let before = step[k];
            step[j] -= entry * before;
        }
        inverse[j] = matrix[j][j].map(|pivot| pivot.max(LEAST_DAMPING * 1e-2).sqrt().recip());
        step[j] = step[j] * inverse[j];
    }
    for j in (0..count).rev() {
        for k in j + 1..count {
            let after = step[k];
            step[j] -= matrix[k][j] * after;
        }
        step[j] = step[j] * inverse[j];
    }
}
