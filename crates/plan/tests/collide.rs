//! The collider against a plain brute force in double precision.

#[allow(dead_code)] // tests of `space` use the rest
#[path = "../../robot/tests/robot/robots.rs"]
mod robots;
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use citrange_core::rng::Rng;
use citrange_core::shape::PosedShape;
use citrange_lanes::Isa;
use citrange_plan::{
    Collider, ColliderSettings, Config, JointLimit, Motions, Obstacles, PlannedArm, Touched,
};
use citrange_robot::{Robot, RobotSettings};
use nalgebra::{Isometry3, Point3, Vector3};

use support::{Brute, arm, collider, random, surroundings};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is left to the system's allocator.
#[expect(unsafe_code, reason = "counts what the system's allocator is asked for")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Distances that single precision cannot tell from 0.
const BAND_M: f64 = 5e-5;

#[test]
fn configurations_are_free_where_nothing_is_near() {
    let arm = arm();
    let mut rng = Rng::new(1);
    let mut seen = [0; 2];
    for _ in 0..12 {
        let obstacles = surroundings(&mut rng);
        let brute = Brute::new(&arm, &obstacles);
        let mut collider = collider(&arm, &obstacles);
        for _ in 0..150 {
            let at = random(&mut rng);
            let gap_m = brute.gap_m(&at.positions(6));
            assert!((collider.clearance_m(&at) - gap_m).abs() < 1e-9 || gap_m > 0.1);
            let contact = collider.contact(&at.positions(6));
            if gap_m.abs() < BAND_M {
                continue;
            }
            assert_eq!(collider.is_free(&at), gap_m > 0.0, "{at:?} {gap_m}");
            assert_eq!(contact.is_none(), gap_m > 0.0, "{contact:?} {gap_m}");
            assert!(contact.is_none_or(|c| (c.depth_m + gap_m).abs() < 1e-9));
            seen[usize::from(gap_m > 0.0)] += 1;
        }
    }
    assert!(seen.iter().all(|n| *n > 200), "{seen:?}");
}

#[test]
fn motions_are_free_only_where_every_configuration_is() {
    let arm = arm();
    let mut rng = Rng::new(2);
    let mut seen = [0; 3];
    for round in 0..18 {
        let obstacles = surroundings(&mut rng);
        let brute = Brute::new(&arm, &obstacles);
        let mut collider = collider(&arm, &obstacles);
        let mut tried = 0;
        // Something may be where the shoulder always is: then there is nothing to find.
        for _ in 0..1500 {
            let (from, toward) = (random(&mut rng), random(&mut rng));
            let length = if round % 3 == 0 { 0.1 } else { 0.4 };
            let to = from.toward(&toward, length / from.distance(&toward));
            // Motions that begin near to something, on purpose.
            let [obstacles_m, own_m] = brute.gaps_m(&from.positions(6));
            if !(0.0..0.02).contains(&obstacles_m) || own_m < 0.0 {
                continue;
            }
            tried += 1;
            if tried > 14 {
                break;
            }
            let is_free = collider.is_motion_free(&from, &to);
            let steps = (f64::from(from.distance(&to)) / 2.5e-4).ceil() as usize;
            let gap_m = |step: usize| {
                let at: Vec<f64> = (0..6)
                    .map(|j| {
                        let (a, b) = (f64::from(from.0[j]), f64::from(to.0[j]));
                        a + (b - a) * step as f64 / steps as f64
                    })
                    .collect();
                brute.gap_m(&at)
            };
            // Far away, the next configurations need no look.
            let (mut step, mut least) = (0, f64::INFINITY);
            while step <= steps {
                let gap_m = gap_m(step);
                least = least.min(gap_m);
                // No ball moves more than 3 m per radian of joint space.
                step += 1 + ((gap_m - 0.004).max(0.0) / 3.0 / 2.5e-4) as usize;
                if least < 0.0 {
                    break;
                }
            }
            assert!(!is_free || least > 0.0, "{from:?} {to:?} {least}");
            assert!(is_free || least < 0.002, "{from:?} {to:?} {least}");
            seen[if is_free { 2 } else { usize::from(least > 0.0) }] += 1;
        }
    }
    assert!(seen[0] > 50 && seen[2] > 50, "{seen:?}");
    // Hardly any that is free is refused.
    assert!(seen[1] * 50 < seen[2], "{seen:?}");
}

#[test]
fn boxes_are_free_only_where_every_configuration_is() {
    let arm = arm();
    let mut rng = Rng::new(3);
    let mut seen = [0; 2];
    for round in 0..20 {
        let obstacles = surroundings(&mut rng);
        let brute = Brute::new(&arm, &obstacles);
        let mut collider = collider(&arm, &obstacles);
        for _ in 0..20 {
            let at = random(&mut rng);
            let size = if round % 2 == 0 { 0.02 } else { 0.1 };
            let half = Config::of(&std::array::from_fn::<f64, 6, _>(|_| rng.uniform(0.0, size)));
            let is_free = collider.is_box_free(&at, &half);
            seen[usize::from(is_free)] += 1;
            if !is_free {
                // What is far from everything is not refused.
                assert!(brute.gap_m(&at.positions(6)) < 3.0 * 6.0 * size, "{at:?}");
                continue;
            }
            for _ in 0..40 {
                let inside: Vec<f64> = (0..6)
                    .map(|j| {
                        let reach = f64::from(half.0[j]);
                        let corner = if rng.unit() < 0.5 { -reach } else { reach };
                        let share = if rng.unit() < 0.5 { 1.0 } else { rng.unit() };
                        f64::from(at.0[j]) + corner * share
                    })
                    .collect();
                assert!(brute.gap_m(&inside) > 0.0, "{at:?} {half:?} {inside:?}");
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 30), "{seen:?}");
}

#[test]
fn every_instruction_set_gives_the_same_answers() {
    let arm = arm();
    let mut rng = Rng::new(4);
    for _ in 0..5 {
        let obstacles = surroundings(&mut rng);
        let mut colliders: Vec<Collider> = Isa::available()
            .into_iter()
            .map(|isa| {
                let settings = ColliderSettings { isa, ..ColliderSettings::default() };
                Collider::new(&arm, &obstacles, &settings).unwrap()
            })
            .collect();
        for _ in 0..200 {
            let (from, toward) = (random(&mut rng), random(&mut rng));
            let to = from.toward(&toward, 0.2);
            let half = Config([0.01; 8]);
            let answers: Vec<[bool; 3]> = colliders
                .iter_mut()
                .map(|c| {
                    [c.is_free(&from), c.is_motion_free(&from, &to), c.is_box_free(&from, &half)]
                })
                .collect();
            assert!(answers.iter().all(|a| *a == answers[0]), "{answers:?}");
        }
    }
}

#[test]
fn what_is_not_a_number_is_never_free() {
    let arm = arm();
    let mut collider = collider(&arm, &Obstacles::default());
    let home = Config::of(&[0.0, -1.5, 0.5, -1.0, 0.3, 0.0]);
    assert!(collider.is_free(&home) && collider.is_motion_free(&home, &home));
    assert!(collider.is_box_free(&home, &Config([0.01; 8])));
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30] {
        for joint in 0..6 {
            let mut at = home;
            at.0[joint] = wrong;
            assert!(!collider.is_free(&at));
            assert!(!collider.is_motion_free(&home, &at) && !collider.is_motion_free(&at, &home));
            assert!(!collider.is_box_free(&at, &Config::default()));
            at.0[joint] = -wrong.abs();
            assert!(!collider.is_box_free(&home, &at));
        }
    }
    let wrong = PosedShape::sphere([f64::NAN, 0.0, 0.0], 0.1);
    let obstacles = Obstacles::of(vec![wrong]);
    assert!(collider.set_obstacles(&obstacles).unwrap_err().to_string().contains("sphere 0"));
    assert!(!collider.is_free(&home));
}

#[test]
fn nothing_is_allocated_after_the_first_questions() {
    let arm = arm();
    let mut rng = Rng::new(5);
    let obstacles = surroundings(&mut rng);
    let mut collider = collider(&arm, &obstacles);
    let motions: Vec<(Config, Config)> =
        (0..300).map(|_| (random(&mut rng), random(&mut rng))).collect();
    let mut ask = || {
        collider.set_obstacles(&obstacles).unwrap();
        let count = |(from, to): &(Config, Config)| {
            let near = from.toward(to, 0.05);
            usize::from(collider.is_motion_free(from, &near))
                + usize::from(collider.is_free(from))
                + usize::from(collider.is_box_free(from, &Config([0.02; 8])))
        };
        motions.iter().map(count).sum::<usize>()
    };
    let first = ask();
    let before = ALLOCATIONS.with(Cell::get);
    let second = ask();
    assert_eq!(ALLOCATIONS.with(Cell::get), before);
    assert_eq!(first, second);
}

#[test]
fn a_contact_says_what_and_how_deep() {
    let arm = arm();
    let at = [0.0, -1.5, 0.5, -1.0, 0.3, 0.0];
    let mut poses = [Isometry3::identity(); 16];
    arm.body().link_poses(&at, &mut poses).unwrap();
    let sphere = arm.body().spheres().last().unwrap();
    let hand = poses[usize::from(sphere.link)] * Point3::from(sphere.centre_m);
    let away = hand.coords + Vector3::new(0.0, 0.0, 0.05 + sphere.radius_m - 0.004);
    let spheres = vec![PosedShape::sphere([3.0; 3], 0.1), PosedShape::sphere(away.into(), 0.05)];
    let mut collider = collider(&arm, &Obstacles::of(spheres));
    let contact = collider.contact(&at).unwrap();
    let with = Touched::Solid { number: 1, shape: "sphere" };
    assert_eq!((contact.link.as_str(), contact.with), ("wrist_3_link", with));
    assert!(contact.depth_m > 0.0039, "{}", contact.depth_m);
    // Folded onto itself.
    let folded = [0.0, -1.5, 3.0, 0.0, 0.0, 0.0];
    let contact = collider.contact(&folded).unwrap();
    assert!(matches!(contact.with, Touched::Link(_)), "{contact:?}");
    assert!(!collider.is_free(&Config::of(&folded)));
}

/// A crane with odd axes, shapes, and a gripper whose joints, one a slide, are held.
#[test]
fn shapes_and_held_joints_count() {
    let (chain, shapes) = robots::crane();
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let planned = body.chain().arm_joints;
    let limits = chain.joints[..planned].iter().map(|joint| JointLimit {
        range: joint.range.unwrap_or([-3.0, 3.0]),
        velocity: 3.0,
        acceleration: 10.0,
        jerk: 100.0,
    });
    let mut rng = Rng::new(7);
    let held = robots::positions(&chain, &mut rng);
    let arm = PlannedArm::new(body, limits.collect(), &held).unwrap();
    let mut seen = [0; 2];
    for _ in 0..10 {
        let obstacles = surroundings(&mut rng);
        let mut collider = collider(&arm, &obstacles);
        for _ in 0..100 {
            let from = Config::of(&robots::positions(&chain, &mut rng)[..planned]);
            let toward = Config::of(&robots::positions(&chain, &mut rng)[..planned]);
            let gap_m = collider.clearance_m(&from);
            if gap_m.abs() > BAND_M {
                assert_eq!(collider.is_free(&from), gap_m > 0.0, "{from:?} {gap_m}");
            }
            let is_free = collider.is_motion_free(&from, &toward);
            seen[usize::from(is_free)] += 1;
            for step in (0..=200_u16).filter(|_| is_free) {
                let at = from.toward(&toward, f32::from(step) / 200.0);
                assert!(collider.clearance_m(&at) > 0.0, "{from:?} {toward:?} {step}");
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 20), "{seen:?}");
}
