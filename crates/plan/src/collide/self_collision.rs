//! Links against links: first spheres, sixteen configurations at once; where they meet and both
//! links have shapes, the shapes themselves.

use citrange_lanes::{LANES, Simd, dot, sub};
use citrange_robot::Convex;

use super::block::Block;
use super::robot::{KernelRobot, Pair};
use super::sweep::Sweep;

/// Lanes that stay open, or `None` for a hit.
#[inline(always)]
pub(super) fn pass<S: Simd>(
    simd: S,
    robot: &KernelRobot,
    sweep: &Sweep,
    block: &mut Block,
    reach_m: f32,
) -> Option<u16> {
    let mut unsure = std::mem::take(&mut block.unsure_pairs);
    unsure.clear();
    let is_free = find(simd, robot, sweep, block, reach_m, &mut unsure);
    let open = if is_free { settle(simd, robot, sweep, block, reach_m, &unsure) } else { None };
    block.unsure_pairs = unsure;
    open
}

/// Collects pairs of spheres that are not sure to stay apart; false for a hit.
#[inline(always)]
fn find<S: Simd>(
    simd: S,
    robot: &KernelRobot,
    sweep: &Sweep,
    block: &mut Block,
    reach_m: f32,
    unsure: &mut Vec<(usize, [u16; 2])>,
) -> bool {
    let half = simd.load(&block.half.0);
    for (index, pair) in robot.pairs.iter().enumerate() {
        let [a, b] = pair.links;
        let [first, second] = pair.links.map(|link| robot.links[link].around);
        let away = sub(&simd.load3(&block.centres_m[second]), &simd.load3(&block.centres_m[first]));
        let touch = robot.spheres[first].radius_m + robot.spheres[second].radius_m + reach_m;
        let below = robot.links[a].frame;
        let sure = half * sweep.speed(below, second) + touch;
        if dot(&away, &away).all_at_least(sure * sure) {
            continue;
        }
        block.place_spheres(simd, robot, a);
        block.place_spheres(simd, robot, b);
        for spheres in &pair.spheres {
            let [first, second] = spheres.map(usize::from);
            let away =
                sub(&simd.load3(&block.centres_m[second]), &simd.load3(&block.centres_m[first]));
            let distance2 = dot(&away, &away);
            let touch = robot.spheres[first].radius_m + robot.spheres[second].radius_m + reach_m;
            let sure = half * sweep.speed(below, second) + touch;
            if distance2.all_at_least(sure * sure) {
                continue;
            }
            if !pair.has_shapes && !distance2.all_at_least(simd.splat(touch * touch)) {
                return false;
            }
            unsure.push((index, *spheres));
        }
    }
    true
}

/// Looks more closely at what is not sure.
#[inline(always)]
fn settle<S: Simd>(
    simd: S,
    robot: &KernelRobot,
    sweep: &Sweep,
    block: &mut Block,
    reach_m: f32,
    unsure: &[(usize, [u16; 2])],
) -> Option<u16> {
    let mut open = 0;
    for same in unsure.chunk_by(|a, b| a.0 == b.0) {
        let Some(pair) = same.first().and_then(|(index, _)| robot.pairs.get(*index)) else {
            continue;
        };
        let mut near = 0;
        for (_, spheres) in same {
            near |= nearing(simd, robot, sweep, block, reach_m, pair, *spheres);
        }
        if pair.has_shapes {
            near = shapes(robot, sweep, block, reach_m, pair, near)?;
        }
        open |= near;
    }
    Some(open)
}

/// Lanes in which two spheres may meet.
#[inline(always)]
fn nearing<S: Simd>(
    simd: S,
    robot: &KernelRobot,
    sweep: &Sweep,
    block: &mut Block,
    reach_m: f32,
    pair: &Pair,
    spheres: [u16; 2],
) -> u16 {
    let [first, second] = spheres.map(usize::from);
    let [a, b] = pair.links.map(|link| robot.links[link].frame);
    let centre = simd.load3(&block.centres_m[second]);
    let away = sub(&centre, &simd.load3(&block.centres_m[first]));
    let touch = robot.spheres[first].radius_m + robot.spheres[second].radius_m + reach_m;
    if sweep.has_direction {
        // As seen from the first link, which moves as well.
        let velocity = block.velocity(robot, sweep, b, &centre);
        let velocity = sub(&velocity, &block.velocity(robot, sweep, a, &centre));
        block.nearing(&away, &velocity, touch, sweep.bend(a, second))
    } else {
        let half = simd.load(&block.half.0);
        let sure = half * sweep.speed(a, second) + touch;
        dot(&away, &away).not_at_least(sure * sure)
    }
}

/// Of the lanes, those in which the shapes of two links may meet; `None` for a hit.
fn shapes(
    robot: &KernelRobot,
    sweep: &Sweep,
    block: &Block,
    reach_m: f32,
    pair: &Pair,
    lanes: u16,
) -> Option<u16> {
    let around = robot.links[pair.links[1]].around_shapes;
    let [a, b] = pair.links.map(|link| robot.links[link].frame);
    let speed = sweep.speed(a, around) + sweep.angular_speed(a) * robot.spheres[around].radius_m;
    let mut open = 0;
    for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
        let is_apart = |margin_m: f64| {
            let placed = |side: usize| {
                let (rot, pos_m) = block.frames[[a, b][side]].of_lane(lane);
                pair.shapes[side].iter().map(move |(at, shape)| Convex {
                    rot: rot * at.rotation.to_rotation_matrix().into_inner(),
                    pos_m: pos_m + rot * at.translation.vector,
                    shape,
                })
            };
            placed(0).all(|one| placed(1).all(|other| one.is_apart(&other, margin_m)))
        };
        if is_apart(f64::from(reach_m + block.half.0[lane] * speed)) {
            continue;
        }
        if block.half.0[lane] == 0.0 || !is_apart(f64::from(reach_m)) {
            return None;
        }
        open |= 1 << lane;
    }
    Some(open)
}
