//! Joints for one place of a line after the other, each near to the last: Newton's method with
//! the place first and the orientation as far as that leaves it (prioritised inverse kinematics),
//! joints at the ends of their ranges held there.

use nalgebra::{DMatrix, DVector, Vector3};

use super::{StraightStop, ToolLine};
use crate::arm::PlannedArm;
use crate::tool::{Tool, rotation_between};

/// First distance between two places of a line, and its turn.
const STEP_M: f64 = 0.02;
const STEP_RAD: f64 = 0.1;
/// No joint goes further from one place to the next.
const JUMP_RAD: f64 = 0.25;
/// Steps are halved down to this fraction of a line: then joints jump.
const LEAST_FRACTION: f64 = 1e-5;
/// Most places.
const MOST: usize = 2000;
/// How nearly a place is met.
const EXACT_M: f64 = 1e-8;
const EXACT_RAD: f64 = 1e-8;
/// Steps of Newton's method, and those that only turn the tool.
const STEPS: usize = 20;
const TURNING_STEPS: usize = 4;
/// Singular values below this are not divided by: no joint goes a radian for a centimetre.
const LEAST_SINGULAR: f64 = 1e-3;
/// Below this an arm is near to losing a direction.
const NEAR_SINGULAR: f64 = 0.02;

/// Fractions of a line and joints there.
pub(super) type Places = Vec<(f64, Vec<f64>)>;

/// What stopped it, and after which fraction.
type Stopped = (StraightStop, f64);

pub(super) struct Follower<'a> {
    arm: &'a PlannedArm,
    line: &'a ToolLine,
    tool: Tool,
    /// The joint that was last held at the end of its range.
    held: Option<usize>,
}

impl<'a> Follower<'a> {
    pub(super) fn new(arm: &'a PlannedArm, line: &'a ToolLine) -> Self {
        Self { arm, line, tool: Tool::new(arm), held: None }
    }

    /// Joints along the whole line, from those at its start.
    pub(super) fn follow(&mut self, start: &[f64]) -> Result<Places, Stopped> {
        let (length_m, turn_rad) = (self.line.length_m(), self.line.turn.norm());
        // A spline wants a few points.
        let steps = (length_m / STEP_M).max(turn_rad / STEP_RAD).ceil().clamp(6.0, 500.0);
        let first = 1.0 / steps;
        let mut places = vec![(0.0, start.to_vec())];
        let mut step = first;
        while let Some((fraction, last)) = places.last().cloned() {
            if fraction >= 1.0 {
                break;
            }
            let mut next = fraction + step;
            if next > 1.0 - 1e-9 {
                next = 1.0;
            }
            match self.solve(&last, next) {
                Some(joints) if jump(&last, &joints) <= JUMP_RAD && places.len() < MOST => {
                    places.push((next, joints));
                    step = (step * 1.5).min(first);
                }
                found => {
                    step /= 2.0;
                    if step < LEAST_FRACTION || places.len() >= MOST {
                        return Err((self.why(&last, found.is_some()), fraction));
                    }
                }
            }
        }
        Ok(places)
    }

    /// The same with a place between any two.
    pub(super) fn refine(&mut self, places: &Places) -> Result<Places, Stopped> {
        let mut finer = Vec::with_capacity(2 * places.len());
        for pair in places.windows(2) {
            let [(from, a), (to, b)] = pair else { continue };
            let middle = f64::midpoint(*from, *to);
            let near: Vec<f64> = a.iter().zip(b).map(|(a, b)| f64::midpoint(*a, *b)).collect();
            let joints =
                self.solve(&near, middle).ok_or_else(|| (self.why(&near, false), *from))?;
            finer.push((*from, a.clone()));
            finer.push((middle, joints));
        }
        finer.extend(places.last().cloned());
        Ok(finer)
    }

    /// Joints for a place, near to others.
    fn solve(&mut self, near: &[f64], fraction: f64) -> Option<Vec<f64>> {
        let (at_m, rot) = self.line.at(fraction);
        let count = near.len();
        let mut joints = near.to_vec();
        let mut fixed = vec![false; count];
        self.held = None;
        let mut turning_steps = 0;
        for _ in 0..STEPS {
            let at = self.tool.place(&joints);
            let off_m = at_m - at.pos_m;
            let off_rad = rotation_between(&at.rot, &rot);
            let is_there = off_m.norm() < EXACT_M;
            if is_there && off_rad.norm() < EXACT_RAD {
                return Some(joints);
            }
            if is_there && !self.line.is_exact {
                if turning_steps == TURNING_STEPS {
                    return Some(joints);
                }
                turning_steps += 1;
            }
            let step = self.step(&off_m, &off_rad, &fixed)?;
            let longest = step.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
            let scale = if longest > JUMP_RAD { JUMP_RAD / longest } else { 1.0 };
            for (joint, limit) in self.arm.limits().iter().enumerate() {
                let wanted = joints[joint] + scale * step[joint];
                joints[joint] = wanted.clamp(limit.range[0], limit.range[1]);
                if wanted != joints[joint] {
                    fixed[joint] = true;
                    self.held = Some(joint);
                }
            }
        }
        let at = self.tool.place(&joints);
        let is_turned = rotation_between(&at.rot, &rot).norm() < 1e-6 || !self.line.is_exact;
        ((at_m - at.pos_m).norm() < 1e-6 && is_turned).then_some(joints)
    }

    /// A step of Newton's method from the tool's last place.
    fn step(
        &self,
        off_m: &Vector3<f64>,
        off_rad: &Vector3<f64>,
        fixed: &[bool],
    ) -> Option<Vec<f64>> {
        let count = fixed.len();
        let mut moves = DMatrix::zeros(3, count);
        let mut turns = DMatrix::zeros(3, count);
        for joint in (0..count).filter(|joint| !fixed[*joint]) {
            let (moved, turned) = self.tool.column(joint);
            moves.set_column(joint, &moved);
            turns.set_column(joint, &turned);
        }
        let off_m = DVector::from_column_slice(off_m.as_slice());
        let off_rad = DVector::from_column_slice(off_rad.as_slice());
        if self.line.is_exact {
            let mut both = DMatrix::zeros(6, count);
            both.rows_mut(0, 3).copy_from(&moves);
            both.rows_mut(3, 3).copy_from(&turns);
            let off = DVector::from_iterator(6, off_m.iter().chain(off_rad.iter()).copied());
            let step = inverse(both)? * off;
            return Some(step.iter().copied().collect());
        }
        let back = inverse(moves.clone())?;
        let first = &back * off_m;
        let free = DMatrix::identity(count, count) - &back * &moves;
        let left = off_rad - &turns * &first;
        let second = damped(&turns * &free) * left;
        let step = first + &free * second;
        Some(step.iter().copied().collect())
    }

    /// What stopped it near some joints.
    fn why(&mut self, near: &[f64], is_jump: bool) -> StraightStop {
        self.tool.place(near);
        let count = near.len();
        let rows = if self.line.is_exact { 6 } else { 3 };
        let mut both = DMatrix::zeros(rows, count);
        for joint in 0..count {
            let (moved, turned) = self.tool.column(joint);
            both.fixed_view_mut::<3, 1>(0, joint).copy_from(&moved);
            if rows == 6 {
                // A radian counts as much as the arm's hand is long: 0.3 m.
                both.fixed_view_mut::<3, 1>(3, joint).copy_from(&(turned * 0.3));
            }
        }
        let least = both.singular_values().iter().fold(f64::INFINITY, |l: f64, s| l.min(*s));
        let is_singular = least < NEAR_SINGULAR || count < rows || is_jump;
        let held = self.held.or_else(|| {
            let limits = self.arm.limits().iter().zip(near);
            let mut ends = limits.map(|(l, p)| (p - l.range[0]).min(l.range[1] - p));
            ends.position(|left| left < 1e-3)
        });
        match held {
            Some(joint) => {
                let name = self.arm.body().chain().joints.get(joint);
                let name = name.map_or_else(String::new, |joint| joint.name.clone());
                let range = self.arm.limits()[joint].range;
                StraightStop::JointLimit { joint: name, position: near[joint], range }
            }
            None if is_singular => StraightStop::Singularity,
            None => StraightStop::OutOfReach,
        }
    }
}

/// How far the joint goes that goes furthest.
fn jump(from: &[f64], to: &[f64]) -> f64 {
    from.iter().zip(to).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The pseudo-inverse; small singular values are left out.
fn inverse(matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    matrix.pseudo_inverse(LEAST_SINGULAR).ok()
}

/// A damped inverse: directions that are nearly lost are given up softly.
fn damped(matrix: DMatrix<f64>) -> DMatrix<f64> {
    let transposed = matrix.transpose();
    let size = matrix.nrows();
    let squared = &matrix * &transposed + DMatrix::identity(size, size) * 1e-4;
    match squared.try_inverse() {
        Some(inverse) => transposed * inverse,
        None => DMatrix::zeros(matrix.ncols(), size),
    }
}
