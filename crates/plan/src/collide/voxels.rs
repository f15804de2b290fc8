//! Balls against the cubes of a map: bounds from the field, sixteen configurations at once, then
//! exact distances where the bounds do not tell.

use citrange_space::Snapshot;
use citrange_space::lanes::{LANES, Lane};

use super::block::Block;
use super::field::Field;
use super::robot::Robot;
use super::sweep::Sweep;

/// Looks along the way of one ball, before its part of the motion is cut instead.
const MOST_STEPS: usize = 12;

/// Lanes that stay open, or `None` for a hit.
#[inline(always)]
pub(super) fn pass(
    robot: &Robot,
    field: &Field,
    sweep: &Sweep,
    block: &mut Block,
    reach_m: f32,
) -> Option<u16> {
    let mut unsure = std::mem::take(&mut block.unsure_voxels);
    unsure.clear();
    let is_free = find(robot, field, sweep, block, reach_m, &mut unsure);
    let open = if is_free { settle(robot, field, sweep, block, reach_m, &unsure) } else { None };
    block.unsure_voxels = unsure;
    open
}

/// Collects balls that the field does not tell enough about; false for a hit.
#[inline(always)]
fn find(
    robot: &Robot,
    field: &Field,
    sweep: &Sweep,
    block: &mut Block,
    reach_m: f32,
    unsure: &mut Vec<(usize, u16)>,
) -> bool {
    for (index, link) in robot.links.iter().enumerate().skip(1).rev() {
        let reach = Lane::splat(robot.balls[link.around].radius_m + reach_m)
            + block.half.times(sweep.speed(0, link.around));
        let bounds = field.bounds(&block.centres_m[link.around]);
        if bounds.least_m.all_at_least(reach) {
            continue;
        }
        block.place_balls(robot, index);
        for ball in link.spheres.clone() {
            let bounds = field.bounds(&block.centres_m[ball]);
            let touch = robot.balls[ball].radius_m + reach_m;
            let sure = Lane::splat(touch) + block.half.times(sweep.speed(0, ball));
            if bounds.least_m.all_at_least(sure) {
                continue;
            }
            if !bounds.most_m.all_at_least(Lane::splat(touch)) {
                return false;
            }
            unsure.push((ball, bounds.least_m.not_at_least(sure)));
        }
    }
    true
}

/// Looks at them exactly.
#[inline(always)]
fn settle(
    robot: &Robot,
    field: &Field,
    sweep: &Sweep,
    block: &mut Block,
    reach_m: f32,
    unsure: &[(usize, u16)],
) -> Option<u16> {
    let mut open = 0;
    for (ball, lanes) in unsure {
        let at = &robot.balls[*ball];
        let centre = block.centres_m[*ball];
        let velocity = if sweep.has_direction {
            block.velocity(robot, sweep, at.link, &centre)
        } else {
            [Lane::splat(0.0); 3]
        };
        for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
            let way = Way {
                from_m: centre.map(|c| f64::from(c.0[lane])),
                velocity: velocity.map(|v| f64::from(v.0[lane])),
                half: f64::from(block.half.0[lane]),
                speed: f64::from(sweep.speed(0, *ball)),
                bend: f64::from(sweep.bend(0, *ball)),
                touch_m: f64::from(at.radius_m + reach_m),
                has_direction: sweep.has_direction,
            };
            if !way.is_free(field.snapshot())? {
                open |= 1 << lane;
            }
        }
    }
    Some(open)
}

/// The way of one ball in one lane.
struct Way {
    from_m: [f64; 3],
    velocity: [f64; 3],
    half: f64,
    speed: f64,
    bend: f64,
    touch_m: f64,
    has_direction: bool,
}

impl Way {
    /// Whether it stays free; `None` where it is not even free in the middle.
    fn is_free(&self, map: &Snapshot) -> Option<bool> {
        let distance_m = map.distance(self.from_m).distance_m;
        let left_m = distance_m - self.touch_m;
        if left_m.is_nan() || left_m < 0.0 {
            return None;
        }
        if left_m >= self.half * self.speed {
            return Some(true);
        }
        Some(
            self.has_direction
                && self.is_side_free(map, distance_m, 1.0)
                && self.is_side_free(map, distance_m, -1.0),
        )
    }

    /// Goes along the tangent, each time as far as the distance allows.
    fn is_side_free(&self, map: &Snapshot, distance_m: f64, side: f64) -> bool {
        let speed = self.velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
        let least_m = self.touch_m + 0.5 * self.bend * self.half * self.half;
        let mut distance_m = distance_m;
        let mut gone = 0.0;
        for _ in 0..MOST_STEPS {
            let left_m = distance_m - least_m;
            if left_m.is_nan() || left_m <= 1e-5 {
                return false;
            }
            gone += left_m / speed;
            if gone >= self.half {
                return true;
            }
            let at = std::array::from_fn(|a| self.from_m[a] + side * gone * self.velocity[a]);
            distance_m = map.distance(at).distance_m;
        }
        false
    }
}
