//! Clearances against the plain way: all spheres against all cubes, in double precision.

use citrange_core::rng::Rng;
use citrange_core::shape::Shape;
use citrange_robot::{Configs, Robot, RobotSettings};
use citrange_space::{Checker, Clearance, CollisionSettings, Grid, Isa, MapSnapshot};
use nalgebra::{Isometry3, Point3, Vector3};

use crate::robots::{arm_with, crane, positions};

const NONE: Clearance = Clearance { distance_m: 0.0, link: 0, sphere: 0, voxel: None };

/// Distance of a point to a cube; 0 inside.
fn to_cube(grid: &Grid, key: u32, point: &Point3<f64>) -> f64 {
    let centre = grid.centre_m(grid.cell_of(key));
    let out = |a: usize| ((point[a] - centre[a]).abs() - grid.voxel_m() / 2.0).max(0.0);
    (out(0).powi(2) + out(1).powi(2) + out(2).powi(2)).sqrt()
}

/// Distance of every sphere to everything, less its radius, cut off at the reach.
fn sphere_distances(
    body: &Robot,
    snapshot: &MapSnapshot,
    keys: &[u32],
    joints: &[f64],
) -> Vec<f64> {
    let mut poses = vec![Isometry3::identity(); joints.len() + 1];
    body.link_poses(joints, &mut poses).unwrap();
    let one = |s: &citrange_robot::Sphere| {
        let centre = poses[usize::from(s.link)] * Point3::from(s.centre_m);
        let nearest = keys.iter().map(|k| to_cube(snapshot.grid(), *k, &centre));
        nearest.fold(snapshot.reach_m(), f64::min) - s.radius_m
    };
    body.spheres().iter().map(one).collect()
}

fn random_map(rng: &mut Rng, voxel_m: f64, count: usize) -> (MapSnapshot, Vec<u32>) {
    let grid = Grid::new([-0.7, -0.6, -0.2], [0.9, 1.0, 0.9], voxel_m).unwrap();
    let cells = grid.cells() as f64;
    let keys: Vec<u32> = (0..count).map(|_| rng.uniform(0.0, cells) as u32).collect();
    (MapSnapshot::from_voxels(&grid, &keys).unwrap(), keys)
}

#[test]
fn clearances_and_collisions_are_those_of_all_spheres_against_all_cubes() {
    let (chain, shapes) = crane();
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let mut rng = Rng::new(77);
    let mut seen = [0; 3];
    for (voxel_m, count) in [(0.05, 0), (0.05, 1), (0.05, 12), (0.05, 300), (0.02, 5), (0.02, 150)]
    {
        let (snapshot, keys) = random_map(&mut rng, voxel_m, count);
        let mut configs = Configs::new(chain.joints.len()).unwrap();
        let joints: Vec<Vec<f64>> = (0..150).map(|_| positions(&chain, &mut rng)).collect();
        for q in &joints {
            configs.push(q).unwrap();
        }
        for isa in Isa::available() {
            let mut checker = Checker::new(&body, isa);
            let mut out = vec![NONE; configs.len()];
            checker.clearance(&snapshot, &configs, &mut out).unwrap();
            let mut hit = |margin_m: f64| {
                let settings = CollisionSettings { margin_m, self_margin_m: None };
                let mut hits = vec![false; configs.len()];
                checker.collides(&snapshot, &configs, &settings, &mut hits).unwrap();
                hits
            };
            let by_margin = [-0.2, -0.01, 0.0, 0.03].map(|margin_m| (margin_m, hit(margin_m)));
            for (index, q) in joints.iter().enumerate() {
                let answer = out[index];
                let exact = sphere_distances(&body, &snapshot, &keys, q);
                let least = exact.iter().copied().fold(f64::INFINITY, f64::min);
                let what = format!("{isa:?} {voxel_m} {count} {index}: {answer:?}, {least}");
                assert!((answer.distance_m - least).abs() < 1e-5, "{what}");
                let sphere = &body.spheres()[usize::from(answer.sphere)];
                let own = exact[usize::from(answer.sphere)];
                assert!(sphere.link == answer.link && (own - least).abs() < 1e-5, "{what}");
                let farthest = snapshot.reach_m() - sphere.radius_m;
                assert_eq!(answer.voxel.is_none(), answer.distance_m >= farthest, "{what}");
                assert!(answer.voxel.is_none_or(|v| keys.contains(&v)), "{what}");
                for (margin_m, hits) in &by_margin {
                    if (least - margin_m).abs() > 1e-5 {
                        assert_eq!(hits[index], least < *margin_m, "{margin_m} {what}");
                    }
                }
                seen[0] += usize::from(answer.voxel.is_none());
                seen[1] += usize::from(least < 0.0);
                seen[2] += usize::from(least > 0.03);
            }
        }
    }
    // All cases were met: far from everything, inside of something, near to something.
    assert!(seen.iter().all(|n| *n > 100), "{seen:?}");
}

/// Distance of two lines between their ends: of the feet of both, or of an end and its foot.
fn between(a: [Vector3<f64>; 2], b: [Vector3<f64>; 2]) -> f64 {
    let to_line = |p: Vector3<f64>, [from, to]: [Vector3<f64>; 2]| {
        let along = to - from;
        let part = ((p - from).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
        (p - from - along * part).norm()
    };
    let ends = [to_line(a[0], b), to_line(a[1], b), to_line(b[0], a), to_line(b[1], a)];
    let least = ends.into_iter().fold(f64::INFINITY, f64::min);
    let (u, v, w) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (uu, uv, vv) = (u.norm_squared(), u.dot(&v), v.norm_squared());
    let square = uu * vv - uv * uv;
    let (s, t) = (uv * v.dot(&w) - vv * u.dot(&w), uu * v.dot(&w) - uv * u.dot(&w));
    if square > 1e-12 && (0.0..=square).contains(&s) && (0.0..=square).contains(&t) {
        return least.min((w + u * (s / square) - v * (t / square)).norm());
    }
    least
}

/// Least distance between shapes of links that must not touch; all shapes are capsules.
fn capsule_gap_m(body: &Robot, poses: &[Isometry3<f64>]) -> f64 {
    let capsules: Vec<(u16, [Vector3<f64>; 2], f64)> = body
        .link_shapes()
        .iter()
        .map(|s| {
            let Shape::Capsule { radius_m, half_height_m } = s.shape else { panic!("{s:?}") };
            let link = s.link.map_or(0, |j| j + 1);
            let at = poses[link] * s.link_from_shape.isometry();
            let end = |z: f64| (at * Point3::new(0.0, 0.0, z)).coords;
            (link as u16, [end(-half_height_m), end(half_height_m)], radius_m)
        })
        .collect();
    let mut least = f64::INFINITY;
    for (a, line, r) in &capsules {
        for (b, other, s) in &capsules {
            if body.checked_pairs().contains(&[*a, *b]) {
                least = least.min(between(*line, *other) - r - s);
            }
        }
    }
    least
}

#[test]
fn links_that_touch_are_found() {
    let (chain, mut shapes) = crane();
    for shape in &mut shapes {
        if !matches!(shape.shape, Shape::Capsule { .. }) {
            shape.shape = Shape::Capsule { radius_m: 0.01, half_height_m: 0.02 };
        }
    }
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let mut rng = Rng::new(5);
    let mut configs = Configs::new(chain.joints.len()).unwrap();
    let mut expected = Vec::new();
    let mut poses = vec![Isometry3::identity(); chain.joints.len() + 1];
    for _ in 0..2000 {
        let q = positions(&chain, &mut rng);
        configs.push(&q).unwrap();
        body.link_poses(&q, &mut poses).unwrap();
        expected.push(capsule_gap_m(&body, &poses));
    }
    let grid = Grid::new([-1.0; 3], [1.0; 3], 0.05).unwrap();
    let nothing = MapSnapshot::from_voxels(&grid, &[]).unwrap();
    let mut touching = 0;
    for isa in Isa::available() {
        let mut checker = Checker::new(&body, isa);
        for margin_m in [0.0, 0.02] {
            let settings = CollisionSettings { margin_m: 0.0, self_margin_m: Some(margin_m) };
            let mut hits = vec![false; configs.len()];
            checker.collides(&nothing, &configs, &settings, &mut hits).unwrap();
            let mut alone = vec![false; configs.len()];
            checker.self_collides(&configs, margin_m, &mut alone).unwrap();
            assert_eq!(hits, alone);
            for (hit, least) in hits.iter().zip(&expected) {
                if (least - margin_m).abs() > 5e-5 {
                    assert_eq!(*hit, *least < margin_m, "{isa:?} {least}");
                }
                touching += usize::from(*hit);
            }
        }
    }
    assert!((1000..11_000).contains(&touching), "{touching}");
}

#[test]
fn wrong_numbers_of_joints_and_answers_are_refused() {
    let (chain, shapes) = crane();
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let (snapshot, _) = random_map(&mut Rng::new(1), 0.05, 3);
    let mut checker = Checker::new(&body, Isa::best());
    let mut configs = Configs::new(2).unwrap();
    configs.push(&[0.0; 2]).unwrap();
    assert!(checker.clearance(&snapshot, &configs, &mut [NONE]).is_err());
    assert!(checker.centres(&configs, &mut Vec::new()).is_err());
    let mut configs = Configs::new(chain.joints.len()).unwrap();
    configs.push(&vec![0.0; chain.joints.len()]).unwrap();
    assert!(checker.clearance(&snapshot, &configs, &mut []).is_err());
    assert!(checker.self_collides(&configs, 0.0, &mut []).is_err());
    for margin_m in [f64::NAN, 0.48] {
        let settings = CollisionSettings { margin_m, self_margin_m: None };
        assert!(checker.collides(&snapshot, &configs, &settings, &mut [false]).is_err());
    }
    let (chain, _) = arm_with(&[]);
    let bare = Robot::new(&chain, &[], &RobotSettings::default()).unwrap();
    let mut configs = Configs::new(1).unwrap();
    configs.push(&[0.0]).unwrap();
    let error = Checker::new(&bare, Isa::best()).clearance(&snapshot, &configs, &mut [NONE]);
    assert!(error.unwrap_err().to_string().contains("no shapes"));
}
