//! What a robot touches and how deep, in double precision: for people, not for the search.

use citrange_core::shape::Shape;
use citrange_robot::{Convex, LinkShape, Sphere};
use citrange_space::MapSnapshot;
use nalgebra::{Isometry3, Point3};

use super::obstacle::Obstacle;
use crate::arm::PlannedArm;
use crate::error::PlanError;
use crate::held::HeldThing;
use crate::obstacles::Obstacles;
use crate::outcome::Touched;

/// The least gap that is left between a link and something, less the margin that it must keep.
/// Negative where it touches.
#[derive(Clone, Debug)]
pub(super) struct Gap {
    pub(super) gap_m: f64,
    pub(super) link: usize,
    pub(super) with: Touched,
}

/// What is around a robot.
pub(super) struct Around<'a> {
    /// The obstacles' solids, one for each.
    pub(super) solids: &'a [Obstacle],
    pub(super) obstacles: &'a Obstacles,
}

/// The least gap of a robot whose joints, all of them, are at `joints`; `None` where there is
/// nothing to touch. `passes`: whether a link need not care for a solid.
pub(super) fn least_gap(
    arm: &PlannedArm,
    joints: &[f64],
    around: &Around<'_>,
    [margin_m, self_margin_m]: [f64; 2],
    passes: impl Fn(usize, usize) -> bool,
) -> Result<Option<Gap>, PlanError> {
    let body = arm.body();
    let mut poses = vec![Isometry3::identity(); joints.len() + 1];
    body.link_poses(joints, &mut poses)?;
    // Held things as further links.
    let own_links = poses.len();
    for thing in arm.things() {
        poses.push(poses[thing.link()]);
    }
    let mut best: Option<Gap> = None;
    let mut offer = |gap_m: f64, link: usize, with: &dyn Fn() -> Touched| {
        if best.as_ref().is_none_or(|b| gap_m < b.gap_m) {
            best = Some(Gap { gap_m, link, with: with() });
        }
    };
    let placed = |link: usize| {
        let is_own = move |s: &&Sphere| link >= own_links || usize::from(s.link) == link;
        let thing = link.checked_sub(own_links).and_then(|number| arm.things().get(number));
        let own = thing.map_or(body.spheres(), HeldThing::spheres).iter().filter(is_own);
        let at = poses[link];
        own.map(move |s| (at * Point3::from(s.centre_m), s.radius_m))
    };
    for link in 1..poses.len() {
        for (centre, radius_m) in placed(link) {
            let keep_m = radius_m + margin_m;
            for (number, solid) in around.solids.iter().enumerate() {
                if passes(link, number) {
                    continue;
                }
                offer(solid.distance_m(&centre) - keep_m, link, &|| {
                    let shape = around.obstacles.solids[number].shape.name();
                    Touched::Solid { number, shape }
                });
            }
            if let Some((distance_m, voxel)) =
                around.obstacles.map.as_ref().and_then(|map| nearest_cube(map, &centre))
            {
                offer(distance_m - keep_m, link, &|| voxel.clone());
            }
        }
    }
    let names: Vec<&str> = arm.link_names().collect();
    for [a, b] in arm.checked_pairs().iter().map(|pair| pair.map(usize::from)) {
        let gaps = placed(a)
            .flat_map(|(p, r)| placed(b).map(move |(q, s)| (p - q).norm() - r - s - self_margin_m));
        let gap_m = gaps.fold(f64::INFINITY, f64::min);
        let gap_m = if gap_m < 0.0 {
            shapes_gap_m(arm, &poses, [a, b], self_margin_m).unwrap_or(gap_m)
        } else {
            gap_m
        };
        if gap_m.is_finite() {
            offer(gap_m, b, &|| Touched::Link(names[a].to_owned()));
        }
    }
    Ok(best)
}

fn nearest_cube(map: &MapSnapshot, centre: &Point3<f64>) -> Option<(f64, Touched)> {
    let nearest = map.distance(centre.coords.into());
    let key = nearest.voxel?;
    let grid = map.grid();
    let centre_m = grid.centre_m(grid.cell_of(key));
    Some((nearest.distance_m, Touched::Voxel { key, centre_m }))
}

/// How far the shapes of two links are apart, less the margin, up to 1 m; `None` where they
/// touch or one has none, so that the spheres decide.
fn shapes_gap_m(
    arm: &PlannedArm,
    poses: &[Isometry3<f64>],
    links: [usize; 2],
    margin_m: f64,
) -> Option<f64> {
    let [first, second]: [Vec<(Isometry3<f64>, &Shape)>; 2] = links.map(|link| {
        let thing = link.checked_sub(arm.body().links().len());
        let thing = thing.and_then(|number| arm.things().get(number));
        let is_own =
            |s: &&LinkShape| thing.is_some() || s.link.map_or(0, |joint| joint + 1) == link;
        let own = thing.map_or(arm.body().link_shapes(), HeldThing::shapes).iter().filter(is_own);
        own.map(|s| (poses[link] * s.link_from_shape.isometry(), &s.shape)).collect()
    });
    let is_apart = |by_m: f64| {
        first.iter().all(|(at, shape)| {
            let one = Convex::new(at, shape);
            second.iter().all(|(at, shape)| one.is_apart(&Convex::new(at, shape), by_m))
        })
    };
    if first.is_empty() || second.is_empty() || !is_apart(margin_m) {
        return None;
    }
    // Between what is surely left and what is surely not.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..20 {
        let middle = f64::midpoint(low, high);
        if is_apart(margin_m + middle) { low = middle } else { high = middle }
    }
    Some(low)
}
