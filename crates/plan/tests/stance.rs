//! What a robot stands on, and what its gripper sweeps, against plain looks at balls.

#[allow(dead_code)] // tests of `space` use the rest
#[path = "../../robot/tests/robot/robots.rs"]
mod robots;

use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_core::shape::{Mesh, PosedShape, Shape};
use citrange_plan::{
    Collider, ColliderSettings, Config, JointLimit, Motions, Obstacles, PlannedArm, Touched,
};
use citrange_robot::{Robot, RobotSettings};
use nalgebra::{Isometry3, Point3};

/// What a sweep may grow by.
const SLACK_M: f64 = 0.004;

/// The crane, whose links may pass each other: what is around it matters here.
fn crane() -> Robot {
    let (chain, shapes) = robots::crane();
    let names: Vec<String> = shapes.iter().map(|shape| shape.body().to_owned()).collect();
    let pairs = names.iter().flat_map(|a| names.iter().map(|b| [a.clone(), b.clone()]));
    let allowed_pairs = pairs.filter(|[a, b]| a != b).collect();
    let settings = RobotSettings { allowed_pairs, ..RobotSettings::default() };
    let body = Robot::new(&chain, &shapes, &settings).unwrap();
    assert!(body.checked_pairs().is_empty());
    body
}

fn arm(body: Robot, held: &[f64]) -> PlannedArm {
    let chain = body.chain();
    let limits = chain.joints[..chain.arm_joints].iter().map(|joint| JointLimit {
        range: joint.range.unwrap(),
        velocity: 3.0,
        acceleration: 10.0,
        jerk: 100.0,
    });
    let limits = limits.collect();
    PlannedArm::new(body, limits, held).unwrap()
}

fn collider(arm: &PlannedArm, obstacles: &Obstacles) -> Collider {
    Collider::new(arm, obstacles, &ColliderSettings::default()).unwrap()
}

/// Positions of all joints with the gripper opened by a share.
fn opened(body: &Robot, share: f64) -> Vec<f64> {
    let at = |[closed, open]: [f64; 2]| closed + share * (open - closed);
    body.chain().joints.iter().map(|j| j.gripper.map_or(0.0, at)).collect()
}

#[test]
fn a_sweep_is_free_where_every_opening_is() {
    let body = crane();
    let (closed, open) = (opened(&body, 0.0), opened(&body, 1.0));
    let all = body.swept(&closed, [&closed, &open], SLACK_M).unwrap();
    assert!(all.spheres().len() > body.spheres().len());
    let swept = arm(all, &closed);
    let openings: Vec<PlannedArm> =
        (0..=40).map(|step| arm(body.clone(), &opened(&body, f64::from(step) / 40.0))).collect();
    let mut rng = Rng::new(11);
    let mut seen = [0; 2];
    let mut only_open = 0;
    for _ in 0..12 {
        // Small balls around the hand: what matters is which of the fingers is there.
        let at = Config::of(&robots::positions(body.chain(), &mut rng)[..4]);
        let hand = hand_of(&body, &at);
        let near = |rng: &mut Rng| hand.coords.map(|c| c + rng.uniform(-0.16, 0.16)).into();
        let spheres = (0..3).map(|_| PosedShape::sphere(near(&mut rng), 0.01));
        let obstacles = Obstacles::of(spheres.collect());
        let mut whole = collider(&swept, &obstacles);
        let mut each: Vec<Collider> = openings.iter().map(|a| collider(a, &obstacles)).collect();
        for _ in 0..60 {
            let moved = at.0.map(|p| p + rng.uniform(-0.12, 0.12) as f32);
            let moved = Config(std::array::from_fn(|j| if j < 4 { moved[j] } else { 0.0 }));
            let gaps: Vec<f64> = each.iter_mut().map(|c| c.clearance_m(&moved)).collect();
            let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
            let is_free = whole.is_free(&moved);
            assert!(!is_free || least > 0.0, "{moved:?} {least}");
            // Grown by the slack at most, and openings between those that were tried.
            assert!(is_free || least < SLACK_M * 1.8 + 0.002, "{moved:?} {least}");
            seen[usize::from(is_free)] += 1;
            only_open += usize::from(gaps[0] > 0.0 && least < 0.0);
        }
    }
    assert!(seen.iter().all(|n| *n > 50) && only_open > 10, "{seen:?} {only_open}");
}

fn hand_of(body: &Robot, at: &Config) -> Point3<f64> {
    let mut joints = opened(body, 0.5);
    joints[..4].copy_from_slice(&at.positions(4));
    let mut poses = [Isometry3::identity(); 16];
    body.link_poses(&joints, &mut poses).unwrap();
    poses[4] * Point3::new(0.12, 0.0, 0.0)
}

/// The crane's base is at 0.1, -0.2, 0.05; its post reaches from 1 cm below that upward.
fn table(top_m: f64, half_m: f64) -> Obstacles {
    let half_m = [half_m, half_m, 0.02];
    let centre_m = [0.1, -0.2, top_m - 0.02];
    Obstacles::of(vec![PosedShape::cuboid(centre_m, [1.0, 0.0, 0.0, 0.0], half_m)])
}

#[test]
fn a_mount_is_passed_by_the_link_above_it_alone() {
    let body = crane();
    let arm = arm(body.clone(), &opened(&body, 0.0));
    for (top_m, gap_m) in [(0.044, -0.004), (0.04, 0.0)] {
        let obstacles = table(top_m, 0.6);
        let mut mounted = collider(&arm, &obstacles);
        let [mount] = mounted.mounts() else { panic!("{:?}", mounted.mounts()) };
        assert!(mount.number == 0 && (mount.gap_m - gap_m).abs() < 1e-9, "{mount:?}");
        let mut rng = Rng::new(5);
        let mut seen = [0; 2];
        for _ in 0..400 {
            let at = Config::of(&robots::positions(body.chain(), &mut rng)[..4]);
            let gap_m = beyond_the_post(&body, &at, top_m);
            if gap_m.abs() > 5e-5 {
                assert_eq!(mounted.is_free(&at), gap_m > 0.0, "{at:?} {gap_m}");
                assert_eq!(mounted.contact(&at.positions(4)).is_none(), gap_m > 0.0, "{at:?}");
                seen[usize::from(gap_m > 0.0)] += 1;
            }
        }
        assert!(seen.iter().all(|n| *n > 30), "{seen:?}");
    }
}

/// Of all links but the base and the post: how far they are above a wide table.
fn beyond_the_post(body: &Robot, at: &Config, top_m: f64) -> f64 {
    let mut joints = opened(body, 0.0);
    joints[..4].copy_from_slice(&at.positions(4));
    let mut poses = [Isometry3::identity(); 16];
    body.link_poses(&joints, &mut poses).unwrap();
    let links = body.spheres().iter().filter(|s| s.link > 1);
    let gap = links.map(|s| {
        let [x, y, z]: [f64; 3] =
            (poses[usize::from(s.link)] * Point3::from(s.centre_m)).coords.into();
        let out = |c: f64, half: f64| (c.abs() - half).max(0.0);
        let (x, y) = (out(x - 0.1, 0.6), out(y + 0.2, 0.6));
        let z = out(z - (top_m - 0.02), 0.02);
        x.hypot(y).hypot(z) - s.radius_m
    });
    gap.fold(f64::INFINITY, f64::min)
}

#[test]
fn what_is_no_mount_is_in_the_way() {
    let body = crane();
    let arm = arm(body.clone(), &opened(&body, 0.0));
    let up = [0.0, -1.2, 0.4, 0.0];
    assert!(collider(&arm, &Obstacles::default()).is_free(&Config::of(&up)));
    let mut beside = table(0.1, 0.02);
    beside.solids[0].pose.pos_m = [0.1 + 0.085, -0.2, 0.1];
    // Far too deep; a table that ends under the post; a block beside the post.
    for obstacles in [table(0.07, 0.6), table(0.044, 0.05), beside] {
        let mut blocked = collider(&arm, &obstacles);
        assert!(blocked.mounts().is_empty());
        let contact = blocked.contact(&up).unwrap();
        let with = Touched::Solid { number: 0, shape: "box" };
        assert_eq!((contact.link.as_str(), &contact.with), ("post", &with));
        assert!(!blocked.is_free(&Config::of(&up)));
    }
    // Balls that cover the post reach further than it does: what its shape never touches is free.
    let ball = body.spheres().iter().find(|s| s.link == 1).unwrap();
    assert!(ball.radius_m > 0.076, "{ball:?}");
    let mut near = table(0.15 + ball.centre_m[2] + 0.02, 0.01);
    near.solids[0].pose.pos_m[0] += 0.073 + 0.01;
    let mut passed = collider(&arm, &near);
    assert!(passed.mounts().is_empty() && passed.is_free(&Config::of(&up)));
    near.solids[0].pose.pos_m[0] -= 0.005;
    assert!(!collider(&arm, &near).is_free(&Config::of(&up)));
}

/// So is one that a mesh describes, and one that gets narrower towards the top.
#[test]
fn meshes_and_frustums_are_mounts() {
    let body = crane();
    let arm = arm(body.clone(), &opened(&body, 0.0));
    let up = Config::of(&[0.0, -1.2, 0.4, 0.0]);
    let slab = |half: f32| {
        let corner = |k: usize| {
            [0, 1, 2].map(|a| [half, half, 0.02][a] * if k >> a & 1 == 1 { 1.0 } else { -1.0 })
        };
        let fan = (2..8).map(|k| [0, k - 1, k]).collect();
        Shape::Mesh(Arc::new(Mesh::new((0..8).map(corner).collect(), fan).unwrap()))
    };
    let frustum =
        |top_radius_m: f64| Shape::Frustum { radius_m: 0.4, top_radius_m, half_height_m: 0.02 };
    for (shape, is_mount) in
        [(slab(0.6), true), (slab(0.05), false), (frustum(0.3), true), (frustum(0.05), false)]
    {
        let mut obstacles = table(0.044, 0.6);
        obstacles.solids[0].shape = shape.clone();
        let mut pedestal = collider(&arm, &obstacles);
        assert_eq!(pedestal.mounts().len(), usize::from(is_mount), "{shape:?}");
        assert_eq!(pedestal.is_free(&up), is_mount, "{shape:?}");
        if let [mount] = pedestal.mounts() {
            assert!((mount.gap_m + 0.004).abs() < 1e-6, "{mount:?}");
        }
    }
}

/// A round pedestal is a mount as a square one is, where the link is over all of its face.
#[test]
fn a_round_pedestal_is_a_mount() {
    let body = crane();
    let arm = arm(body.clone(), &opened(&body, 0.0));
    let up = Config::of(&[0.0, -1.2, 0.4, 0.0]);
    for (radius_m, is_mount) in [(0.3, true), (0.05, false)] {
        let mut obstacles = table(0.044, 0.6);
        obstacles.solids[0].shape = Shape::Cylinder { radius_m, half_height_m: 0.02 };
        let mut pedestal = collider(&arm, &obstacles);
        assert_eq!(pedestal.mounts().len(), usize::from(is_mount), "{:?}", pedestal.mounts());
        assert_eq!(pedestal.is_free(&up), is_mount);
    }
}
