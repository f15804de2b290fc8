//! Sixteen configurations, each for all that are within its part of a motion: do they touch
//! anything?
//!
//! A sphere at distance `d` of something touches it if `d` is below its radius `r`. During a
//! motion it moves `v` at most per unit, so within `h` of a configuration it touches nothing if
//! `d >= r + h v`. Where that does not tell, the direction does: from the plane between the two
//! it comes no nearer than `d - h |u · p'| - h² a / 2`, with the velocity `p'` at the
//! configuration, the plane's normal `u` and a bound `a` of the second derivative. What is open
//! then must be cut into smaller parts.

use citrange_lanes::{Lanes, Scalar, Simd, Triple, add, cross, dot, store, sub};

use super::joints::{Frame, Rate};
use super::lane_shapes::{LaneShape, ReachableShapes};
use super::robot::{KernelRobot, Link};
use super::sweep::Sweep;
use super::{self_collision, voxels};
use crate::collide::World;
use crate::config::MAX_JOINTS;

/// What is known of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// One of the configurations touches something.
    Hit,
    /// None does. Lanes whose bits are set may touch something near to theirs.
    Open(u16),
}

/// Configurations and everything that is found out about them.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) positions: [Lanes; MAX_JOINTS],
    /// Half of each lane's part of the motion.
    pub(super) half: Lanes,
    pub(super) frames: Vec<Frame>,
    pub(super) rates: Vec<Rate>,
    has_rates: bool,
    pub(super) centres_m: Vec<[Lanes; 3]>,
    is_placed: Vec<bool>,
    /// Ball and solid, where distance alone does not tell.
    unsure: Vec<(usize, usize)>,
    pub(super) unsure_pairs: Vec<(usize, [u16; 2])>,
    /// Ball and what it is away from voxels at least.
    pub(super) unsure_voxels: Vec<(usize, Lanes)>,
}

impl Block {
    pub(super) fn new(robot: &KernelRobot) -> Self {
        let nothing = Lanes::splat(0.0);
        let frames = robot.joints.frames();
        let mut is_placed = vec![false; robot.links.len()];
        let mut centres_m = vec![[nothing; 3]; robot.spheres.len()];
        // The base is placed once and for all.
        for (centre, sphere) in centres_m.iter_mut().zip(&robot.spheres) {
            if sphere.link == 0 {
                store(&frames[0].point(Scalar::new(), sphere.centre_m), centre);
            }
        }
        is_placed[0] = true;
        Self {
            positions: [nothing; MAX_JOINTS],
            half: nothing,
            rates: vec![Rate { angular: [nothing; 3], origin: [nothing; 3] }; frames.len()],
            frames,
            has_rates: false,
            centres_m,
            is_placed,
            unsure: Vec::with_capacity(256),
            unsure_pairs: Vec::with_capacity(256),
            unsure_voxels: Vec::with_capacity(256),
        }
    }

    /// Places all links and the spheres around them.
    #[inline(always)]
    fn place<S: Simd>(&mut self, simd: S, robot: &KernelRobot) {
        robot.joints.place(simd, &self.positions, &mut self.frames);
        for (index, link) in robot.links.iter().enumerate().skip(1) {
            let around = robot.spheres[link.around].centre_m;
            let centre = self.frames[link.frame].point(simd, around);
            store(&centre, &mut self.centres_m[link.around]);
            self.is_placed[index] = false;
        }
        self.has_rates = false;
    }

    /// Places the spheres of a link, if that is not done yet.
    #[inline(always)]
    pub(super) fn place_spheres<S: Simd>(&mut self, simd: S, robot: &KernelRobot, index: usize) {
        if self.is_placed[index] {
            return;
        }
        self.is_placed[index] = true;
        let link = &robot.links[index];
        for sphere in link.spheres.clone() {
            let centre = self.frames[link.frame].point(simd, robot.spheres[sphere].centre_m);
            store(&centre, &mut self.centres_m[sphere]);
        }
    }

    /// Velocity of a point that is fixed to a frame.
    #[inline(always)]
    pub(super) fn velocity<S: Simd>(
        &mut self,
        robot: &KernelRobot,
        sweep: &Sweep,
        frame: usize,
        point_m: &Triple<S>,
    ) -> Triple<S> {
        let simd = point_m[0].simd();
        if !self.has_rates {
            robot.joints.rates(simd, &self.frames, &sweep.rates, &mut self.rates);
            self.has_rates = true;
        }
        let rate = &self.rates[frame];
        let arm = sub(point_m, &simd.load3(&self.frames[frame].origin_m));
        add(&simd.load3(&rate.origin), &cross(&simd.load3(&rate.angular), &arm))
    }

    /// Where a sphere may come nearer than `touch`: `away` from the nearest point, moving at
    /// `velocity` in the same axes, with a second derivative of at most `bend`.
    #[inline(always)]
    pub(super) fn nearing<S: Simd>(
        &self,
        away: &Triple<S>,
        velocity: &Triple<S>,
        touch: f32,
        bend: f32,
    ) -> u16 {
        let half = away[0].simd().load(&self.half.0);
        let far = dot(away, away).sqrt();
        let bent = half * half * (0.5 * bend);
        let left = far - touch - bent;
        // Both sides times the distance, so that nothing is divided by it.
        let toward = dot(away, velocity).abs() * half;
        (left * far).not_at_least(toward)
    }
}

/// Looks at a block whose positions and halves are set.
#[inline(always)]
pub(super) fn check<S: Simd>(
    simd: S,
    world: &mut World,
    sweep: &Sweep,
    block: &mut Block,
) -> Verdict {
    block.place(simd, &world.robot);
    match passes(simd, world, sweep, block) {
        Some(lanes) => Verdict::Open(lanes),
        None => Verdict::Hit,
    }
}

/// Lanes that stay open, or `None` for a hit.
#[inline(always)]
fn passes<S: Simd>(simd: S, world: &mut World, sweep: &Sweep, block: &mut Block) -> Option<u16> {
    let World { robot, reachable, field, reach_m, self_reach_m } = world;
    let mut open = 0;
    // From the hand to the base: the hand is where things are.
    for (index, link) in robot.links.iter().enumerate().skip(1).rev() {
        let shapes: &mut ReachableShapes = &mut reachable[index];
        let task = Task { robot, sweep, link, index, reach_m: *reach_m };
        open |= task.pass(simd, &mut shapes.upright_boxes, block)?;
        open |= task.pass(simd, &mut shapes.boxes, block)?;
        open |= task.pass(simd, &mut shapes.spheres, block)?;
        open |= task.pass(simd, &mut shapes.capsules, block)?;
        open |= task.pass(simd, &mut shapes.cylinders, block)?;
        open |= task.pass(simd, &mut shapes.ellipsoids, block)?;
        open |= task.pass(simd, &mut shapes.frustums, block)?;
        open |= task.pass(simd, &mut shapes.tori, block)?;
        open |= task.pass(simd, &mut shapes.hulls, block)?;
    }
    if let Some(field) = field {
        open |= voxels::pass(simd, robot, field, sweep, block, *reach_m)?;
    }
    Some(open | self_collision::pass(simd, robot, sweep, block, *self_reach_m)?)
}

/// One link among the shapes that it can reach.
struct Task<'a> {
    robot: &'a KernelRobot,
    sweep: &'a Sweep,
    link: &'a Link,
    index: usize,
    reach_m: f32,
}

impl Task<'_> {
    /// Lanes that stay open, or `None` for a hit.
    #[inline(always)]
    fn pass<S: Simd, T: LaneShape>(
        &self,
        simd: S,
        shapes: &mut [T],
        block: &mut Block,
    ) -> Option<u16> {
        let Self { robot, sweep, link, index, reach_m } = *self;
        if link.spheres.is_empty() || shapes.is_empty() {
            return Some(0);
        }
        let around = simd.load3(&block.centres_m[link.around]);
        let half = simd.load(&block.half.0);
        let reach = robot.spheres[link.around].radius_m + reach_m;
        let reach = half * sweep.speed(0, link.around) + reach;
        let mut unsure = std::mem::take(&mut block.unsure);
        unsure.clear();
        for at in 0..shapes.len() {
            let shape = &shapes[at];
            let reach = reach + shape.radius_m();
            let away = shape.away(&around, reach);
            if dot(&away, &away).all_at_least(reach * reach) {
                continue;
            }
            block.place_spheres(simd, robot, index);
            for sphere in link.spheres.clone() {
                let touch = robot.spheres[sphere].radius_m + reach_m + shape.radius_m();
                let sure = half * sweep.speed(0, sphere) + touch;
                let away = shape.away(&simd.load3(&block.centres_m[sphere]), sure);
                let distance2 = dot(&away, &away);
                if distance2.all_at_least(sure * sure) {
                    continue;
                }
                if !distance2.all_at_least(simd.splat(touch * touch)) {
                    // What is hit now is likely to be hit next time.
                    shapes.swap(0, at);
                    block.unsure = unsure;
                    return None;
                }
                unsure.push((sphere, at));
            }
        }
        let mut open = 0;
        for (sphere, at) in unsure.iter().copied() {
            let shape = &shapes[at];
            let centre = simd.load3(&block.centres_m[sphere]);
            let touch = robot.spheres[sphere].radius_m + reach_m + shape.radius_m();
            let sure = half * sweep.speed(0, sphere) + touch;
            let away = shape.away(&centre, sure);
            open |= if sweep.has_direction && T::IS_CONVEX {
                let velocity = block.velocity(robot, sweep, link.frame, &centre);
                let velocity = shape.in_axes(&velocity);
                block.nearing(&away, &velocity, touch, sweep.bend(0, sphere))
            } else {
                dot(&away, &away).not_at_least(sure * sure)
            };
        }
        block.unsure = unsure;
        Some(open)
    }
}
