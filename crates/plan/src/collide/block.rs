//! Sixteen configurations, each for all that are within its share of a motion: do they touch
//! anything?
//!
//! A ball at distance `d` of something touches it if `d` is below its radius `r`. During a
//! motion it moves `v` at most per unit, so within `h` of a configuration it touches nothing if
//! `d >= r + h v`. Where that does not tell, the direction does: from the plane between the two
//! it comes no nearer than `d - h |u · p'| - h² a / 2`, with the velocity `p'` at the
//! configuration, the plane's normal `u` and a bound `a` of the second derivative. What is open
//! then must be cut into smaller parts.

use citrange_robot::lanes::Lane;

use super::joints::{Frame, Rate};
use super::robot::{Link, Robot};
use super::scene::{Scene, Solid};
use super::sweep::Sweep;
use super::vector::{Plain, Triple, Vector, add, cross, dot, load, store, sub};
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
    pub(super) positions: [Lane; MAX_JOINTS],
    /// Half of each lane's share of the motion.
    pub(super) half: Lane,
    pub(super) frames: Vec<Frame>,
    pub(super) rates: Vec<Rate>,
    has_rates: bool,
    pub(super) centres_m: Vec<[Lane; 3]>,
    is_placed: Vec<bool>,
    /// Ball and solid, where distance alone does not tell.
    unsure: Vec<(usize, usize)>,
    pub(super) unsure_pairs: Vec<(usize, [u16; 2])>,
    /// Ball and what it is away from voxels at least.
    pub(super) unsure_voxels: Vec<(usize, Lane)>,
}

impl Block {
    pub(super) fn new(robot: &Robot) -> Self {
        let nothing = Lane::splat(0.0);
        let frames = robot.joints.frames();
        let mut is_placed = vec![false; robot.links.len()];
        let mut centres_m = vec![[nothing; 3]; robot.balls.len()];
        // The base is placed once and for all.
        for (centre, ball) in centres_m.iter_mut().zip(&robot.balls) {
            if ball.link == 0 {
                store(&frames[0].point::<Plain>(ball.centre_m), centre);
            }
        }
        is_placed[0] = true;
        Self {
            positions: [nothing; MAX_JOINTS],
            half: nothing,
            rates: vec![Rate { turn: [nothing; 3], origin: [nothing; 3] }; frames.len()],
            frames,
            has_rates: false,
            centres_m,
            is_placed,
            unsure: Vec::with_capacity(256),
            unsure_pairs: Vec::with_capacity(256),
            unsure_voxels: Vec::with_capacity(256),
        }
    }

    /// Places all links and the balls around them.
    #[inline(always)]
    fn place<V: Vector>(&mut self, robot: &Robot) {
        robot.joints.place::<V>(&self.positions, &mut self.frames);
        for (index, link) in robot.links.iter().enumerate().skip(1) {
            let around = robot.balls[link.around].centre_m;
            let centre = self.frames[index].point::<V>(around);
            store(&centre, &mut self.centres_m[link.around]);
            self.is_placed[index] = false;
        }
        self.has_rates = false;
    }

    /// Places the balls of a link, if that is not done yet.
    #[inline(always)]
    pub(super) fn place_balls<V: Vector>(&mut self, robot: &Robot, index: usize) {
        if self.is_placed[index] {
            return;
        }
        self.is_placed[index] = true;
        for ball in robot.links[index].spheres.clone() {
            let centre = self.frames[index].point::<V>(robot.balls[ball].centre_m);
            store(&centre, &mut self.centres_m[ball]);
        }
    }

    /// Velocity of a point that is fixed to a link.
    #[inline(always)]
    pub(super) fn velocity<V: Vector>(
        &mut self,
        robot: &Robot,
        sweep: &Sweep,
        link: usize,
        point_m: &Triple<V>,
    ) -> Triple<V> {
        if !self.has_rates {
            robot.joints.rates::<V>(&self.frames, &sweep.rates, &mut self.rates);
            self.has_rates = true;
        }
        let rate = &self.rates[link];
        let arm = sub(point_m, &load(&self.frames[link].origin_m));
        add(&load(&rate.origin), &cross(&load(&rate.turn), &arm))
    }

    /// Where a ball may come nearer than `touch`: `away` from the nearest point, moving at
    /// `velocity` in the same axes, with a second derivative of at most `bend`.
    #[inline(always)]
    pub(super) fn nearing<V: Vector>(
        &self,
        away: &Triple<V>,
        velocity: &Triple<V>,
        touch: f32,
        bend: f32,
    ) -> u16 {
        let half = V::load(&self.half);
        let far = dot(away, away).root();
        let bent = half.times(half).by(0.5 * bend);
        let left = far.minus(V::splat(touch)).minus(bent);
        // Both sides times the distance, so that nothing is divided by it.
        let toward = dot(away, velocity).size().times(half);
        left.times(far).not_at_least(toward)
    }
}

/// Looks at a block whose positions and halves are set.
#[inline(always)]
pub(super) fn check<V: Vector>(world: &mut World, sweep: &Sweep, block: &mut Block) -> Verdict {
    block.place::<V>(&world.robot);
    match passes::<V>(world, sweep, block) {
        Some(lanes) => Verdict::Open(lanes),
        None => Verdict::Hit,
    }
}

/// Lanes that stay open, or `None` for a hit.
#[inline(always)]
fn passes<V: Vector>(world: &mut World, sweep: &Sweep, block: &mut Block) -> Option<u16> {
    let World { robot, scenes, field, reach_m, self_reach_m } = world;
    let mut open = 0;
    // From the hand to the base: the hand is where things are.
    for (index, link) in robot.links.iter().enumerate().skip(1).rev() {
        let Scene { upright, turned, rounds, rods } = &mut scenes[index];
        let task = Task { robot, sweep, link, index, reach_m: *reach_m };
        open |= task.pass::<V, _>(upright, block)?;
        open |= task.pass::<V, _>(turned, block)?;
        open |= task.pass::<V, _>(rounds, block)?;
        open |= task.pass::<V, _>(rods, block)?;
    }
    if let Some(field) = field {
        open |= voxels::pass::<V>(robot, field, sweep, block, *reach_m)?;
    }
    Some(open | self_collision::pass::<V>(robot, sweep, block, *self_reach_m)?)
}

/// One link among the solids that it can reach.
struct Task<'a> {
    robot: &'a Robot,
    sweep: &'a Sweep,
    link: &'a Link,
    index: usize,
    reach_m: f32,
}

impl Task<'_> {
    /// Lanes that stay open, or `None` for a hit.
    #[inline(always)]
    fn pass<V: Vector, S: Solid>(&self, solids: &mut [S], block: &mut Block) -> Option<u16> {
        let Self { robot, sweep, link, index, reach_m } = *self;
        if link.spheres.is_empty() || solids.is_empty() {
            return Some(0);
        }
        let around = load::<V>(&block.centres_m[link.around]);
        let half = V::load(&block.half);
        let reach = V::splat(robot.balls[link.around].radius_m + reach_m)
            .plus(half.by(sweep.speed(0, link.around)));
        let mut unsure = std::mem::take(&mut block.unsure);
        unsure.clear();
        for at in 0..solids.len() {
            let solid = solids[at];
            let away = solid.away(&around);
            let reach = reach.plus(V::splat(solid.radius_m()));
            if dot(&away, &away).all_at_least(reach.times(reach)) {
                continue;
            }
            block.place_balls::<V>(robot, index);
            for ball in link.spheres.clone() {
                let away = solid.away(&load::<V>(&block.centres_m[ball]));
                let distance2 = dot(&away, &away);
                let touch = robot.balls[ball].radius_m + reach_m + solid.radius_m();
                let sure = V::splat(touch).plus(half.by(sweep.speed(0, ball)));
                if distance2.all_at_least(sure.times(sure)) {
                    continue;
                }
                if !distance2.all_at_least(V::splat(touch * touch)) {
                    // What is hit now is likely to be hit next time.
                    solids.swap(0, at);
                    block.unsure = unsure;
                    return None;
                }
                unsure.push((ball, at));
            }
        }
        let mut open = 0;
        for (ball, at) in unsure.iter().copied() {
            let solid = solids[at];
            let centre = load::<V>(&block.centres_m[ball]);
            let away = solid.away(&centre);
            let touch = robot.balls[ball].radius_m + reach_m + solid.radius_m();
            open |= if sweep.has_direction {
                let velocity = solid.turned(&block.velocity(robot, sweep, index, &centre));
                block.nearing(&away, &velocity, touch, sweep.bend(0, ball))
            } else {
                let sure = V::splat(touch).plus(half.by(sweep.speed(0, ball)));
                dot(&away, &away).not_at_least(sure.times(sure))
            };
        }
        block.unsure = unsure;
        Some(open)
    }
}
