//! Every kind of shape is in the way where it is, and not where the box around it is.

mod support;

use std::sync::Arc;

use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_core::shape::{Mesh, PosedShape, Shape};
use citrange_plan::{Config, Motions, Obstacles};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};

use support::{Brute, arm, collider, lump};

#[test]
fn planes_meshes_rings_and_frustums_are_in_the_way() {
    let arm = arm();
    let at = Config::of(&[0.0, -1.5, 0.5, -1.0, 0.3, 0.0]);
    let mut poses = [Isometry3::identity(); 16];
    arm.body().link_poses(&at.positions(6), &mut poses).unwrap();
    let sphere = arm.body().spheres().last().unwrap();
    let hand = (poses[usize::from(sphere.link)] * Point3::from(sphere.centre_m)).coords;
    let corners = vec![[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]];
    let sides = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let mesh = Shape::Mesh(Arc::new(Mesh::new(corners, sides).unwrap()));
    let shapes = [
        (Shape::Plane { half_m: [None, None] }, Vector3::zeros()),
        (mesh, Vector3::new(-0.02, -0.02, -0.02)),
        (Shape::Ring { radius_m: 0.1, bar_radius_m: 0.01 }, Vector3::new(0.1, 0.0, 0.0)),
        (
            Shape::Frustum { radius_m: 0.1, top_radius_m: 0.05, half_height_m: 0.1 },
            Vector3::zeros(),
        ),
    ];
    for (shape, shift) in shapes {
        for (away, is_free) in [(shift, false), (Vector3::new(0.0, 0.0, -4.0), true)] {
            let pose = Pose { pos_m: (hand + away).into(), ..Pose::IDENTITY };
            let mut collider =
                collider(&arm, &Obstacles::of(vec![PosedShape::new(pose, shape.clone())]));
            assert_eq!(collider.is_free(&at), is_free, "{shape:?}");
            assert_eq!(collider.contact(&at.positions(6)).is_none(), is_free, "{shape:?}");
        }
    }
}

/// Each kind alone, right at its surface and with the box around it over the sphere: what only a
/// box would have blocked is free.
#[test]
fn surfaces_are_where_they_are_and_not_where_their_boxes_are() {
    let arm = arm();
    let at = Config::of(&[0.0, -1.5, 0.5, -1.0, 0.3, 0.0]);
    let mut poses = [Isometry3::identity(); 16];
    arm.body().link_poses(&at.positions(6), &mut poses).unwrap();
    let sphere = arm.body().spheres().last().unwrap();
    let hand = (poses[usize::from(sphere.link)] * Point3::from(sphere.centre_m)).coords;
    let mut rng = Rng::new(21);
    let (mut boxed, mut tried) = ([0; 3], [0; 3]);
    for round in 0..900 {
        let kind = round % 3;
        let shape = match kind {
            0 => Shape::Frustum { radius_m: 0.1, top_radius_m: 0.02, half_height_m: 0.1 },
            1 => Shape::Ring { radius_m: 0.25, bar_radius_m: 0.02 },
            _ => lump(&mut rng, 5 + round % 40),
        };
        // So that a random point of the world is 3 mm off the last sphere of the hand.
        let axis = Vector3::from_fn(|_, _| rng.uniform(-3.0, 3.0));
        let turn = UnitQuaternion::from_scaled_axis(axis);
        let from: [f64; 3] = std::array::from_fn(|_| rng.uniform(-0.3, 0.3));
        let (distance_m, out) = shape.signed_m(from);
        let gap_m = if round % 2 == 0 { 1e-4 } else { -1e-4 };
        let move_m = sphere.radius_m + gap_m - distance_m;
        let local = Vector3::from(from) + Vector3::from(out) * move_m;
        if (shape.distance_m(local.into()) - sphere.radius_m - gap_m).abs() > 1e-6 {
            continue;
        }
        let pos_m = (hand - turn * local).into();
        let pose = Pose { pos_m, quat_wxyz: [turn.w, turn.i, turn.j, turn.k] };
        let obstacles = Obstacles::of(vec![PosedShape::new(pose, shape.clone())]);
        let brute = Brute::new(&arm, &obstacles);
        if brute.gap_m(&at.positions(6)) < gap_m - 1e-5 {
            continue;
        }
        tried[kind] += 1;
        let mut collider = collider(&arm, &obstacles);
        assert_eq!(collider.is_free(&at), gap_m > 0.0, "{shape:?} {pose:?}");
        let (centre_m, half_m) = shape.bounds_m().unwrap();
        let middle = Vector3::from(pose.pos_m) + turn * Vector3::from(centre_m);
        let around = PosedShape::cuboid(middle.into(), pose.quat_wxyz, half_m);
        collider.set_obstacles(&Obstacles::of(vec![around])).unwrap();
        boxed[kind] += usize::from(gap_m > 0.0 && !collider.is_free(&at));
    }
    assert!(tried.iter().all(|n| *n > 10) && boxed.iter().all(|n| *n > 3), "{tried:?} {boxed:?}");
}

/// Motions beside a cone, over the corner of a wedge and through a ring that their boxes would
/// block; none that touches is free, and hardly any other is refused.
#[test]
fn motions_pass_near_what_a_box_would_block() {
    let arm = arm();
    let (from, to) = ([0.0, -1.5, 0.5, -1.0, 0.3, 0.0], [0.4, -1.5, 0.5, -1.0, 0.3, 0.0]);
    let [from, to] = [from, to].map(|at| Config::of(&at));
    let mut poses = [Isometry3::identity(); 16];
    arm.body().link_poses(&from.toward(&to, 0.5).positions(6), &mut poses).unwrap();
    let sphere = arm.body().spheres().last().unwrap();
    let hand = (poses[usize::from(sphere.link)] * Point3::from(sphere.centre_m)).coords;
    let corners = vec![[-0.2, -0.2, -0.1], [0.2, -0.2, -0.1], [-0.2, 0.2, -0.1], [-0.2, -0.2, 0.1]];
    let sides = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let wedge = Shape::Mesh(Arc::new(Mesh::new(corners, sides).unwrap()));
    let cone = Shape::Frustum { radius_m: 0.2, top_radius_m: 0.0, half_height_m: 0.1 };
    // Somewhere around the middle of the motion.
    let mut rng = Rng::new(31);
    for shape in [wedge, cone, Shape::Ring { radius_m: 0.25, bar_radius_m: 0.02 }] {
        let (mut only_boxed, mut free) = (0, 0);
        for _ in 0..150 {
            let axis = Vector3::from_fn(|_, _| rng.uniform(-3.0, 3.0));
            let turn = UnitQuaternion::from_scaled_axis(axis);
            let quat_wxyz = [turn.w, turn.i, turn.j, turn.k];
            let at = hand + Vector3::from_fn(|_, _| rng.uniform(-0.3, 0.3));
            let pose = Pose { pos_m: at.into(), quat_wxyz };
            let obstacles = Obstacles::of(vec![PosedShape::new(pose, shape.clone())]);
            let mut collider = collider(&arm, &obstacles);
            let steps = (0..=200_u16).map(|k| from.toward(&to, f32::from(k) / 200.0));
            let least = steps.map(|at| collider.clearance_m(&at)).fold(f64::INFINITY, f64::min);
            let is_free = collider.is_motion_free(&from, &to);
            assert!(!is_free || least > 0.0, "{pose:?} {least}");
            assert!(is_free || least < 0.002, "{pose:?} {least}");
            let (centre_m, half_m) = shape.bounds_m().unwrap();
            let middle = at + turn * Vector3::from(centre_m);
            let around = PosedShape::cuboid(middle.into(), quat_wxyz, half_m);
            collider.set_obstacles(&Obstacles::of(vec![around])).unwrap();
            only_boxed += usize::from(is_free && !collider.is_motion_free(&from, &to));
            free += usize::from(is_free);
        }
        assert!(only_boxed > 8 && free < 150, "{shape:?} {only_boxed} {free}");
    }
}
