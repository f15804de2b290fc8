//! Levenberg-Marquardt from many starts side by side. A lane that has ended takes the next
//! start, so none waits for the slowest.

use nalgebra::{Matrix3, Vector3};

use super::equations::{Equations, Held};
use super::linkage::{Linkage, MOST, Placed};
use super::reach::{IkTarget, Orientation};
use super::vectors::{LANES, Lane, Lane3, cross, dot, minus};

/// Rounds that a start gets.
const ROUNDS: u32 = 60;
/// Longest step of a joint in one round.
const LONGEST_STEP: f64 = 0.8;
/// A step this short ends the search.
const STILL_RAD: f64 = 1e-9;
/// So does a squared distance this small: a hundredth of a micrometre.
const THERE_M2: f64 = 1e-16;
/// And so does a gain that is this fraction of what is missing, thrice in a row.
const NO_GAIN: f64 = 1e-7;
const PATIENCE: u8 = 3;
/// How often joints at their ends are looked for in one round.
const PASSES: usize = 2;

/// Positions of the joints of a linkage.
pub(super) type Joints = [f64; MOST];

/// What is searched for, in the shape that the equations need.
pub(super) struct Task<'a> {
    pub(super) linkage: &'a Linkage,
    pub(super) aim: &'a IkTarget,
    /// The working point, in the frame of the tool.
    pub(super) point_m: Vector3<f64>,
    /// What a radian counts in metres.
    pub(super) rotation_weight_m: f64,
}

/// What is remembered of every lane.
struct Lanes {
    joints: [Lane; MOST],
    equations: Equations,
    damping: Lane,
    rounds: [u32; LANES],
    idle: [u8; LANES],
    // Number of the start, while there is one.
    start: [Option<usize>; LANES],
}

impl Task<'_> {
    /// The ends of the search from each start, in the order of the starts.
    pub(super) fn descend(&self, starts: &[Joints]) -> Vec<Joints> {
        let mut ends = starts.to_vec();
        let mut next = 0;
        let zero = [Lane::ZERO; MOST];
        let mut lanes = Lanes {
            joints: zero,
            equations: Equations { cost: Lane::ZERO, square: [zero; MOST], pull: zero },
            damping: Lane::all(1.0),
            rounds: [0; LANES],
            idle: [0; LANES],
            start: [None; LANES],
        };
        let mut tried = zero;
        loop {
            for lane in 0..LANES {
                if lanes.start[lane].is_none() && next < starts.len() {
                    lanes.begin(lane, next, &starts[next], &mut tried);
                    next += 1;
                }
            }
            if lanes.start.iter().all(Option::is_none) {
                return ends;
            }
            let there = self.equations(&tried);
            let moved = lanes.accept(&there, &tried);
            lanes.retire(&moved, &mut ends);
            self.step(&lanes, &mut tried);
        }
    }

    #[inline(never)]
    fn equations(&self, joints: &[Lane; MOST]) -> Equations {
        let placed = self.linkage.place(joints, &self.point_m);
        let miss = minus(&fixed(&self.aim.at_m), &placed.tool_m);
        let mut cost = dot(&miss, &miss);
        let mut rest = [Lane::ZERO; 6];
        rest[..3].copy_from_slice(&miss);
        // The axis of the tool whose direction is wanted, if it is one only.
        let mut pointer = None;
        let mut rows = 3;
        match &self.aim.orientation {
            Orientation::Free => {}
            Orientation::Axis { of_tool, toward } => {
                let axis = combined(&placed, of_tool);
                let off = minus(&fixed(toward), &axis).map(|l| l * self.rotation_weight_m);
                rest[3..].copy_from_slice(&off);
                cost += dot(&off, &off);
                (pointer, rows) = (Some(axis), 6);
            }
            Orientation::Full(rotation) => {
                let wanted: Matrix3<f64> = *rotation.matrix();
                for (k, axis) in placed.tool_axes.iter().enumerate() {
                    let goal = fixed(&wanted.column(k).into_owned());
                    let off = minus(&goal, axis).map(|l| l * self.rotation_weight_m);
                    cost += dot(&off, &off) * 0.5;
                    for (rest, part) in rest[3..].iter_mut().zip(cross(axis, &goal)) {
                        *rest += part * (0.5 * self.rotation_weight_m);
                    }
                }
                rows = 6;
            }
        }
        let mut columns = [[Lane::ZERO; 6]; MOST];
        let joints = self.linkage.steps.len();
        for (j, step) in self.linkage.steps.iter().enumerate() {
            let axis = &placed.axes[j];
            if step.is_slide {
                columns[j][..3].copy_from_slice(axis);
                continue;
            }
            let arm = minus(&placed.tool_m, &placed.anchors[j]);
            columns[j][..3].copy_from_slice(&cross(axis, &arm));
            let turns = pointer.as_ref().map_or(*axis, |pointer| cross(axis, pointer));
            columns[j][3..].copy_from_slice(&turns.map(|l| l * self.rotation_weight_m));
        }
        let zero = [Lane::ZERO; MOST];
        let mut made = Equations { cost, square: [zero; MOST], pull: zero };
        for j in 0..joints {
            for k in 0..=j {
                made.square[j][k] = dot(&columns[j][..rows], &columns[k][..rows]);
            }
            made.pull[j] = dot(&columns[j][..rows], &rest[..rows]);
        }
        made
    }

    /// The next joints to try. Joints that would leave their range stop at its end, and the
    /// others take over what they do not do.
    #[inline(never)]
    fn step(&self, lanes: &Lanes, tried: &mut [Lane; MOST]) {
        let count = self.linkage.steps.len();
        // Damping in step with what is missing: careful far away, full speed when near.
        let damping = lanes.damping * lanes.equations.cost;
        let mut held = Held::none();
        let mut step = [Lane::ZERO; MOST];
        for _ in 0..PASSES {
            step = held.solve(&lanes.equations, &damping, count);
            let longest = step[..count].iter().fold(Lane::ZERO, |most, s| {
                most.zip(*s, |most, s| if s.abs() > most { s.abs() } else { most })
            });
            let scale = longest.map(|l| if l > LONGEST_STEP { LONGEST_STEP / l } else { 1.0 });
            for step in &mut step[..count] {
                *step = *step * scale;
            }
            if !held.extend(self.linkage, &lanes.joints, &step) {
                break;
            }
        }
        for (j, joint) in self.linkage.steps.iter().enumerate() {
            tried[j] = lanes.joints[j] + step[j];
            if !joint.wraps {
                let [low, high] = joint.range;
                tried[j] = tried[j].map(|q| q.max(low).min(high));
            }
        }
    }
}

impl Lanes {
    fn begin(&mut self, lane: usize, number: usize, from: &Joints, tried: &mut [Lane; MOST]) {
        self.start[lane] = Some(number);
        self.equations.cost[lane] = f64::INFINITY;
        self.damping[lane] = 1.0;
        self.rounds[lane] = 0;
        self.idle[lane] = 0;
        for (j, position) in from.iter().enumerate() {
            self.joints[j][lane] = *position;
            tried[j][lane] = *position;
        }
    }

    /// Keeps what was tried where it is better. Answers how far the joints would have moved.
    fn accept(&mut self, there: &Equations, tried: &[Lane; MOST]) -> Lane {
        let mut better = 0;
        let mut moved = Lane::ZERO;
        for (joint, tried) in self.joints.iter().zip(tried) {
            moved = moved.zip(*tried - *joint, |most, by| most.max(by.abs()));
        }
        for lane in 0..LANES {
            let (old, new) = (self.equations.cost[lane], there.cost[lane]);
            let is_better = new < old;
            better |= u8::from(is_better) << lane;
            let gains = old - new > NO_GAIN * old || old.is_infinite();
            self.idle[lane] = if gains || !is_better { 0 } else { self.idle[lane] + 1 };
            let factor = if is_better { 0.3 } else { 5.0 };
            self.damping[lane] = (self.damping[lane] * factor).max(1e-6);
            self.rounds[lane] += 1;
        }
        for (joint, tried) in self.joints.iter_mut().zip(tried) {
            *joint = tried.where_or(better, *joint);
        }
        let kept = &mut self.equations;
        kept.cost = there.cost.where_or(better, kept.cost);
        for (kept, new) in kept.pull.iter_mut().zip(&there.pull) {
            *kept = new.where_or(better, *kept);
        }
        for (j, (kept, new)) in kept.square.iter_mut().zip(&there.square).enumerate() {
            for (kept, new) in kept.iter_mut().zip(new).take(j + 1) {
                *kept = new.where_or(better, *kept);
            }
        }
        moved
    }

    /// Writes down what has ended.
    fn retire(&mut self, moved: &Lane, ends: &mut [Joints]) {
        for lane in 0..LANES {
            let Some(number) = self.start[lane] else { continue };
            let is_over = self.equations.cost[lane] < THERE_M2
                || self.rounds[lane] >= ROUNDS
                || self.idle[lane] >= PATIENCE
                || (self.rounds[lane] > 1 && moved[lane] < STILL_RAD);
            if is_over {
                self.start[lane] = None;
                for (end, joint) in ends[number].iter_mut().zip(&self.joints) {
                    *end = joint[lane];
                }
            }
        }
    }
}

fn fixed(vector: &Vector3<f64>) -> Lane3 {
    [Lane::all(vector.x), Lane::all(vector.y), Lane::all(vector.z)]
}

#[inline(always)]
fn combined(placed: &Placed, of_tool: &Vector3<f64>) -> Lane3 {
    let mut axis = [Lane::ZERO; 3];
    for (column, part) in placed.tool_axes.iter().zip(of_tool.iter()) {
        for k in 0..3 {
            axis[k] += column[k] * *part;
        }
    }
    axis
}
