//! Hulls of all kinds of points hold them, keep their shape and are polyhedra.

use citrange_core::rng::Rng;
use citrange_core::shape::Hull;
use nalgebra::{UnitQuaternion, Vector3};

fn within(hull: &Hull, points: &[[f64; 3]]) {
    let size = points.iter().flatten().fold(0.0_f64, |most, c| most.max(c.abs()));
    for p in points {
        let distance_m = hull.signed_m(&Vector3::from(*p)).0;
        assert!(distance_m <= 1e-9 * (1.0 + size), "{p:?} is {distance_m} outside");
    }
}

/// Closed, with outward triangles, and convex.
fn is_polyhedron(hull: &Hull) {
    let edges: std::collections::BTreeSet<(u32, u32)> =
        hull.triangles().flat_map(|[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
    assert_eq!(edges.len(), 3 * hull.triangles().len());
    assert!(edges.iter().all(|(a, b)| edges.contains(&(*b, *a))));
    assert_eq!(hull.vertices_m().len() + hull.triangles().len(), edges.len() / 2 + 2);
    for plane in hull.planes() {
        assert!(hull.vertices_m().iter().all(|v| plane.beyond_m(v) <= 1e-12 * (1.0 + v.norm())));
    }
    assert!(hull.volume_m3() > 0.0);
}

fn spin(rng: &mut Rng) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(Vector3::from_fn(|_, _| rng.uniform(-3.0, 3.0)))
}

#[test]
fn boxes_of_any_orientation_keep_their_volume_and_distances() {
    let mut rng = Rng::new(1);
    for round in 0..60 {
        let half = Vector3::from_fn(|_, _| rng.uniform(0.001, 0.5));
        let (turn, at) = (spin(&mut rng), Vector3::from_fn(|_, _| rng.uniform(-2.0, 2.0)));
        let corner =
            |k: usize| Vector3::from_fn(|a, _| if k >> a & 1 == 1 { half[a] } else { -half[a] });
        let mut points: Vec<[f64; 3]> = (0..8).map(|k| (turn * corner(k) + at).into()).collect();
        // Points inside and on faces, and all corners twice, as the meshes of files have them.
        for _ in 0..100 {
            let mut inside = Vector3::from_fn(|a, _| rng.uniform(-half[a], half[a]));
            if round % 2 == 0 {
                inside.x = half.x;
            }
            points.push((turn * inside + at).into());
        }
        points.extend_from_within(..8);
        let hull = Hull::of(&points);
        is_polyhedron(&hull);
        within(&hull, &points);
        let volume = 8.0 * half.x * half.y * half.z;
        assert!((hull.volume_m3() / volume - 1.0).abs() < 1e-4, "{} {volume}", hull.volume_m3());
        for _ in 0..50 {
            let p = Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0));
            let out = Vector3::from_fn(|a, _| (p[a].abs() - half[a]).max(0.0)).norm();
            let found = hull.signed_m(&(turn * p + at)).0.max(0.0);
            assert!((found - out).abs() < 1e-6, "{found} {out}");
        }
    }
}

#[test]
fn what_has_no_volume_becomes_a_little_thick() {
    let mut rng = Rng::new(2);
    for kind in 0..40 {
        let turn = spin(&mut rng);
        let size = [1e-5, 0.01, 1.0, 100.0][kind % 4];
        let used = kind % 3;
        let points: Vec<[f64; 3]> = (0..30)
            .map(|_| {
                let p =
                    Vector3::from_fn(|a, _| if a < used { rng.uniform(-size, size) } else { 0.0 });
                (turn * p + Vector3::repeat(0.3)).into()
            })
            .collect();
        let hull = Hull::of(&points);
        is_polyhedron(&hull);
        within(&hull, &points);
        let thick = 4.0 * (1e-6 + 1e-6 * 2.0 * size);
        let up = turn * Vector3::z();
        let height = hull.farthest_m(&up).dot(&up) + hull.farthest_m(&-up).dot(&-up);
        assert!(height > 1e-7 && height < 2.0 * thick, "{height} {size}");
    }
    within(&Hull::of(&[]), &[[0.0; 3]]);
    within(&Hull::of(&[[1.0, 2.0, 3.0]; 5]), &[[1.0, 2.0, 3.0]]);
}

#[test]
fn thousands_of_points_are_held_by_few() {
    let mut rng = Rng::new(3);
    for round in 0..4 {
        let turn = spin(&mut rng);
        let points: Vec<[f64; 3]> = (0..5000)
            .map(|_| {
                let p = Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0));
                let p = if round < 2 { p.normalize() } else { p };
                // Single precision, as meshes have.
                let p = turn * Vector3::new(0.05 * p.x, 0.05 * p.y, 0.2 * p.z);
                p.map(|c| f64::from(c as f32)).into()
            })
            .collect();
        let hull = Hull::of(&points);
        is_polyhedron(&hull);
        within(&hull, &points);
        assert!(hull.vertices_m().len() <= Hull::MOST_VERTICES);
        assert!(hull.rounding_m() < 0.005, "{}", hull.rounding_m());
    }
}

/// Grids, prisms and noise at the size of the rounding: what makes hulls fall apart.
#[test]
fn awkward_points_make_polyhedra() {
    let mut rng = Rng::new(4);
    for round in 0..80 {
        let turn = spin(&mut rng);
        let noise = [0.0, 1e-9, 1e-7, 1e-5][round % 4];
        let mut points: Vec<[f64; 3]> = Vec::new();
        let mut push = |p: Vector3<f64>, rng: &mut Rng| {
            let p = turn * p + Vector3::from_fn(|_, _| rng.uniform(-noise, noise));
            points.push(p.map(|c| f64::from(c as f32)).into());
        };
        if round % 2 == 0 {
            for index in 0..125 {
                let at = [index % 5, index / 5 % 5, index / 25].map(|k| 0.1 * f64::from(k));
                push(Vector3::from(at), &mut rng);
            }
        } else {
            for side in 0..24 {
                let (sin, cos) = (f64::from(side) * std::f64::consts::TAU / 24.0).sin_cos();
                push(Vector3::new(0.1 * cos, 0.1 * sin, -0.2), &mut rng);
                push(Vector3::new(0.04 * cos, 0.04 * sin, 0.2), &mut rng);
            }
        }
        let hull = Hull::of(&points);
        is_polyhedron(&hull);
        within(&hull, &points);
        assert!(hull.rounding_m() < 1e-5 + 10.0 * noise, "{} {noise}", hull.rounding_m());
    }
}
