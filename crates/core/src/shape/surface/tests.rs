use std::sync::Arc;

use super::*;
use crate::rng::Rng;
use crate::shape::Mesh;

fn shapes() -> Vec<Shape> {
    let corners = vec![[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.2, 0.0], [0.1, 0.1, 0.25]];
    let sides = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    vec![
        Shape::Box { half_m: [0.2, 0.05, 0.1] },
        Shape::Sphere { radius_m: 0.2 },
        Shape::Capsule { radius_m: 0.05, half_height_m: 0.2 },
        Shape::Cylinder { radius_m: 0.1, half_height_m: 0.15 },
        Shape::Ellipsoid { radii_m: [0.3, 0.1, 0.05] },
        Shape::Ellipsoid { radii_m: [0.1, 0.1, 0.2] },
        Shape::Frustum { radius_m: 0.2, top_radius_m: 0.05, half_height_m: 0.1 },
        Shape::Frustum { radius_m: 0.05, top_radius_m: 0.1, half_height_m: 0.2 },
        Shape::Frustum { radius_m: 0.1, top_radius_m: 0.0, half_height_m: 0.1 },
        Shape::Ring { radius_m: 0.2, bar_radius_m: 0.03 },
        Shape::Mesh(Arc::new(Mesh::new(corners, sides).unwrap())),
        Shape::Plane { half_m: [Some(0.2), None] },
    ]
}

fn random(rng: &mut Rng) -> [f64; 3] {
    std::array::from_fn(|_| rng.uniform(-0.5, 0.5))
}

/// What the definition of each shape says about a point.
fn is_inside(shape: &Shape, p: &[f64; 3]) -> bool {
    let [x, y, z] = *p;
    let round = x.hypot(y);
    match shape {
        Shape::Box { half_m } => (0..3).all(|a| p[a].abs() < half_m[a]),
        Shape::Sphere { radius_m } => round.hypot(z) < *radius_m,
        Shape::Capsule { radius_m, half_height_m } => {
            round.hypot(z - z.clamp(-half_height_m, *half_height_m)) < *radius_m
        }
        Shape::Cylinder { radius_m, half_height_m } => {
            round < *radius_m && z.abs() < *half_height_m
        }
        Shape::Ellipsoid { radii_m } => {
            (0..3).map(|a| (p[a] / radii_m[a]).powi(2)).sum::<f64>() < 1.0
        }
        Shape::Frustum { radius_m, top_radius_m, half_height_m } => {
            let up = (z + half_height_m) / (2.0 * half_height_m);
            z.abs() < *half_height_m && round < radius_m + (top_radius_m - radius_m) * up
        }
        Shape::Ring { radius_m, bar_radius_m } => (round - radius_m).hypot(z) < *bar_radius_m,
        Shape::Plane { half_m: [half, _] } => z < 0.0 && half.is_none_or(|h| x.abs() < h),
        // A tetrahedron: weights of its corners.
        Shape::Mesh(_) => {
            let c = z / 0.25;
            let (a, b) = ((x - 0.1 * c) / 0.3, (y - 0.1 * c) / 0.2);
            a > 0.0 && b > 0.0 && c > 0.0 && a + b + c < 1.0
        }
    }
}

/// A point deep inside, toward which the inside lies from a point of the surface.
fn middle_of(shape: &Shape, on: &[f64; 3]) -> [f64; 3] {
    match shape {
        Shape::Ring { radius_m, .. } => {
            let round = on[0].hypot(on[1]);
            [on[0] * radius_m / round, on[1] * radius_m / round, 0.0]
        }
        Shape::Plane { .. } => [0.0, on[1], -0.3],
        Shape::Mesh(_) => [0.1, 0.075, 0.06],
        _ => [0.0; 3],
    }
}

#[test]
fn signs_are_those_of_the_definitions_and_no_surface_is_nearer() {
    let mut rng = Rng::new(1);
    for shape in shapes() {
        let mut seen = [0; 2];
        for _ in 0..400 {
            let p = random(&mut rng);
            let (distance_m, out) = shape.signed_m(p);
            let norm = Vector3::from(out).norm();
            assert!((norm - 1.0).abs() < 1e-9, "{shape:?} {p:?} {out:?}");
            assert!((shape.distance_m(p) - distance_m.max(0.0)).abs() < 1e-12, "{shape:?} {p:?}");
            if distance_m.abs() < 1e-6 {
                continue;
            }
            assert_eq!(distance_m < 0.0, is_inside(&shape, &p), "{shape:?} {p:?} {distance_m}");
            seen[usize::from(distance_m > 0.0)] += 1;
            // The surface is there along the direction out: outside before it, and inside a
            // little further in.
            let on: [f64; 3] = std::array::from_fn(|a| p[a] - distance_m * out[a]);
            let before: [f64; 3] = std::array::from_fn(|a| on[a] + 1e-6 * out[a]);
            assert!(!is_inside(&shape, &before), "{shape:?} {p:?} {distance_m}");
            let middle = middle_of(&shape, &on);
            let within: [f64; 3] = std::array::from_fn(|a| on[a] + 1e-4 * (middle[a] - on[a]));
            assert!(is_inside(&shape, &within), "{shape:?} {p:?} {distance_m}");
            // Nothing of the surface within the distance.
            for _ in 0..20 {
                let way = Vector3::from(random(&mut rng)).normalize() * (distance_m.abs() * 0.999);
                let near: [f64; 3] = std::array::from_fn(|a| p[a] + way[a]);
                assert_eq!(is_inside(&shape, &near), distance_m < 0.0, "{shape:?} {p:?} {near:?}");
            }
        }
        assert!(seen[1] > 50, "{shape:?} {seen:?}");
    }
}

#[test]
fn points_in_the_middle_have_a_way_out() {
    for shape in shapes() {
        for p in [[0.0; 3], [0.0, 0.0, 0.01], [0.01, 0.0, 0.0], [0.0, -0.01, 0.0]] {
            let (distance_m, out) = shape.signed_m(p);
            assert!(distance_m.is_finite(), "{shape:?} {p:?}");
            assert!((Vector3::from(out).norm() - 1.0).abs() < 1e-9, "{shape:?} {p:?} {out:?}");
        }
    }
    let (distance_m, _) = Shape::Ellipsoid { radii_m: [0.3, 0.1, 0.05] }.signed_m([0.0; 3]);
    assert!((distance_m + 0.05).abs() < 1e-9);
}

#[test]
fn hulls_reach_as_far_as_their_points() {
    let mut rng = Rng::new(2);
    for shape in shapes().into_iter().filter(|s| !matches!(s, Shape::Plane { .. })) {
        let reach = shape.reach_m();
        let mut most = [0.0_f64; 200];
        let ways: Vec<Vector3<f64>> =
            most.iter().map(|_| Vector3::from(random(&mut rng)).normalize()).collect();
        for _ in 0..4000 {
            let p = random(&mut rng);
            if is_inside(&shape, &p) {
                assert!((0..3).all(|a| p[a].abs() <= reach[a]), "{shape:?} {p:?}");
                for (way, most) in ways.iter().zip(&mut most) {
                    *most = most.max(way.dot(&Vector3::from(p)));
                }
            }
        }
        for (way, most) in ways.iter().zip(most) {
            let core = shape.farthest_core_m(way);
            assert!(core.dot(way) + shape.rounding_m() >= most, "{shape:?} {way:?}");
            // And no farther than there is something.
            if !matches!(shape, Shape::Ring { .. }) {
                let on: [f64; 3] = (core + way * shape.rounding_m()).into();
                assert!(shape.distance_m(on) < 1e-9, "{shape:?} {on:?}");
            }
        }
    }
}
