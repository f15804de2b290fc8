//! Balls against the cubes of a map, sixteen configurations at once: bounds from the field, then
//! bricks that are near where the bounds do not tell.

use citrange_lanes::{Lanes, Simd, dot};

use super::block::Block;
use super::field::Field;
use super::robot::KernelRobot;
use super::sweep::Sweep;

/// Lanes that stay open, or `None` for a hit.
#[inline(always)]
pub(super) fn pass<S: Simd>(
    simd: S,
    robot: &KernelRobot,
    field: &Field,
    sweep: &Sweep,
    block: &mut Block,
    reach_m: f32,
) -> Option<u16> {
    let mut unsure = std::mem::take(&mut block.unsure_voxels);
    unsure.clear();
    let is_free = find(simd, robot, field, sweep, block, reach_m, &mut unsure);
    let open =
        if is_free { settle(simd, robot, field, sweep, block, reach_m, &unsure) } else { None };
    block.unsure_voxels = unsure;
    open
}

/// Collects spheres that the field does not tell enough about; false for a hit.
#[inline(always)]
fn find<S: Simd>(
    simd: S,
    robot: &KernelRobot,
    field: &Field,
    sweep: &Sweep,
    block: &mut Block,
    reach_m: f32,
    unsure: &mut Vec<(usize, Lanes)>,
) -> bool {
    for (index, link) in robot.links.iter().enumerate().skip(1).rev() {
        let half = simd.load(&block.half.0);
        let reach = robot.spheres[link.around].radius_m + reach_m;
        let reach = half * sweep.speed(0, link.around) + reach;
        let bounds = field.bounds(&simd.load3(&block.centres_m[link.around]));
        if bounds.least_m.all_at_least(reach) {
            continue;
        }
        block.place_spheres(simd, robot, index);
        for sphere in link.spheres.clone() {
            let bounds = field.bounds(&simd.load3(&block.centres_m[sphere]));
            let touch = robot.spheres[sphere].radius_m + reach_m;
            let sure = half * sweep.speed(0, sphere) + touch;
            if bounds.least_m.all_at_least(sure) {
                continue;
            }
            if !bounds.most_m.all_at_least(simd.splat(touch)) {
                return false;
            }
            unsure.push((sphere, Lanes(bounds.least_m.to_array())));
        }
    }
    true
}

/// Compares them with the bricks near to them.
#[inline(always)]
fn settle<S: Simd>(
    simd: S,
    robot: &KernelRobot,
    field: &Field,
    sweep: &Sweep,
    block: &mut Block,
    reach_m: f32,
    unsure: &[(usize, Lanes)],
) -> Option<u16> {
    let near = field.near();
    let half = simd.load(&block.half.0);
    let mut open = 0;
    for (sphere, least_m) in unsure {
        let at = &robot.spheres[*sphere];
        let centre = simd.load3(&block.centres_m[*sphere]);
        let (touch, bend) = (at.radius_m + reach_m, sweep.bend(0, *sphere));
        let mut moved = half * sweep.speed(0, *sphere);
        let mut velocity = [simd.splat(0.0); 3];
        if sweep.has_direction {
            velocity = block.velocity(robot, sweep, at.link, &centre);
            let bent = half * half * (0.5 * bend);
            moved = moved.min(dot(&velocity, &velocity).sqrt() * half + bent);
        }
        let sure = moved + touch;
        let lanes = simd.load(&least_m.0).not_at_least(sure);
        // Of what is beyond the lists only the distance is known.
        open |= lanes & simd.splat(near.reach_m()).not_at_least(sure);
        let lists = near.lists(&centre);
        let mut left = lanes;
        while left != 0 {
            let list = lists[left.trailing_zeros() as usize];
            for (lane, other) in lists.iter().enumerate() {
                left &= !(u16::from(*other == list) << lane);
            }
            for wall in near.walls(list) {
                let away = wall.away(&centre);
                let distance2 = dot(&away, &away);
                let mut close = distance2.not_at_least(sure * sure) & lanes;
                if close == 0 {
                    continue;
                }
                if !distance2.all_at_least(simd.splat(touch * touch)) {
                    return None;
                }
                if sweep.has_direction && close & !open != 0 {
                    close &= block.nearing(&away, &velocity, touch, bend);
                }
                open |= close;
            }
        }
    }
    Some(open)
}
