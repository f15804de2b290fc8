//! The careful controller on the SO-101: what it promises to a driver.

use citrange_control::{CartesianController, ControllerSettings, Velocity};
use citrange_core::rng::Rng;

use crate::common::{Drive, chain, direction, linear, vertical};

const SPEED: f64 = 0.04;
const HZ: f64 = 180.0;
const STATES: usize = 10_000;

/// Steady speed of the wrist after a third of a second, whether it was slowed, and the tilt of the tool then.
/// None where a joint came to its end.
fn steady(
    controller: &CartesianController,
    q: &[f64],
    v: nalgebra::Vector3<f64>,
) -> Option<(nalgebra::Vector3<f64>, bool, f64)> {
    let mut drive = Drive::of(controller.clone(), q);
    let (mut slowed, mut at_end) = (false, false);
    for _ in 0..60 {
        let status = drive.step(&linear(v));
        slowed |= status.speed;
        at_end |= status.joints_at_limit != 0;
    }
    let before = drive.at(false);
    let status = drive.step(&linear(v));
    let got = (drive.at(false) - before) * HZ;
    (!at_end).then_some((got, slowed || status.speed, status.tilt_rad))
}

fn controller(text: &str) -> CartesianController {
    CartesianController::new(
        chain("so101"),
        &ControllerSettings::parse(text, "test.yaml").unwrap(),
        180,
        None,
    )
    .unwrap()
}

/// Where the joints' speed limit allows it the wrist moves as asked; where it does not, it moves
/// slower in the same direction. The tool stays down.
#[test]
fn slower_joints_keep_the_direction() {
    let controller = controller("vel_limit_rad_s: 0.5\n");
    let mut rng = Rng::new(1);
    let (mut states, mut exact) = (0, 0);
    let (mut worst, mut turned, mut tilt) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..STATES {
        let (q, r, z) = vertical(&mut rng, 0.025);
        let v = direction(&mut rng) * SPEED;
        let Some((got, slowed, tilted)) = steady(&controller, &q, v) else { continue };
        states += 1;
        tilt = tilt.max(tilted);
        if slowed {
            turned = turned.max(got.cross(&v).norm() / (got.norm() * v.norm()));
            // Every direction is free in the middle of the workspace.
            assert!(!(0.14..0.18).contains(&r) || z > 0.22, "slowed at r {r}, z {z}");
            assert!(got.norm() > 0.35 * SPEED, "slowed to {} at r {r}, z {z}", got.norm());
        } else {
            exact += 1;
            worst = worst.max((got - v).norm() / SPEED);
        }
    }
    println!("{exact} of {states} exact within {worst}, direction {turned}, tilt {tilt} rad");
    assert!(worst < 0.05 && turned < 0.05, "{worst} {turned}");
    assert!(tilt < 5_f64.to_radians(), "{tilt}");
    assert!(states > STATES * 9 / 10 && exact > states * 85 / 100, "{exact} of {states}");
}

/// With the limit of the default profile nothing is slowed anywhere in the workspace.
#[test]
fn every_direction_is_served() {
    let controller = controller("profile: default\n");
    let mut rng = Rng::new(2);
    for _ in 0..STATES {
        let (q, r, z) = vertical(&mut rng, 0.025);
        let v = direction(&mut rng) * SPEED;
        let Some((got, slowed, tilt)) = steady(&controller, &q, v) else { continue };
        assert!(!slowed, "slowed at r {r}, z {z}");
        assert!((got - v).norm() < 0.05 * SPEED, "{} at r {r}, z {z}", (got - v).norm() / SPEED);
        assert!(tilt < 5_f64.to_radians(), "{tilt}");
    }
}

/// A long straight way: the direction and the tool's tilt hold to its end.
#[test]
fn a_long_way_stays_straight_and_down() {
    let mut q = vec![0.0, 0.0, 0.0, std::f64::consts::FRAC_PI_2, 0.0, 0.0];
    q[1] = -0.3;
    q[2] = 0.3;
    for v in [[SPEED, 0.0, 0.0], [0.0, SPEED, 0.0], [0.0, -SPEED, 0.0], [0.02, 0.03, -0.01]] {
        let mut drive = Drive::new("so101", "default", None, &q);
        let start = drive.at(false);
        let mut tilt = 0.0_f64;
        for _ in 0..270 {
            tilt = tilt.max(drive.step(&linear(v.into())).tilt_rad);
        }
        let moved = drive.at(false) - start;
        let along = nalgebra::Vector3::from(v).normalize();
        let off = (moved - along * moved.dot(&along)).norm();
        assert!(moved.norm() > 0.03 && off < 0.02 * moved.norm(), "{v:?}: {moved} off {off}");
        assert!(tilt < 1_f64.to_radians(), "{v:?}: {tilt}");
    }
}

#[test]
fn roll_turns_as_asked_and_leaves_the_wrist_where_it_is() {
    let mut rng = Rng::new(3);
    for _ in 0..500 {
        let (mut q, ..) = vertical(&mut rng, 0.01);
        q[4] = rng.uniform(-1.5, 1.5);
        let rate = rng.uniform(-1.2, 1.2);
        let mut drive = Drive::new("so101", "default", None, &q);
        let before = drive.at(false);
        let wanted = Velocity { roll_rad_s: rate, ..Velocity::ZERO };
        drive.steps(90, &wanted);
        let last = drive.memory.desired()[4];
        drive.step(&wanted);
        assert!(((drive.memory.desired()[4] - last) * HZ - rate).abs() < 0.002 + 0.01 * rate.abs());
        // Counter-clockwise from above is positive for this joint.
        assert!((drive.at(false) - before).norm() < 1e-4, "{}", (drive.at(false) - before).norm());
    }
}

#[test]
fn tilted_tools_come_down_and_stay() {
    let mut rng = Rng::new(4);
    for _ in 0..200 {
        let (mut q, ..) = vertical(&mut rng, 0.02);
        q[3] += rng.uniform(-0.4, 0.4);
        q[3] = q[3].clamp(-1.5, 1.5);
        let mut drive = Drive::new("so101", "default", None, &q);
        // Nothing moves by itself; the smallest wish of the driver lets the tool come down.
        let first = drive.step(&Velocity::ZERO).tilt_rad;
        drive.steps(100, &Velocity::ZERO);
        let start = drive.targets.clone();
        drive.steps(100, &Velocity::ZERO);
        assert_eq!(drive.targets, start);
        let touch = Velocity { roll_rad_s: 1e-6, ..Velocity::ZERO };
        drive.steps(720, &touch);
        let tilt = drive.step(&touch).tilt_rad;
        let [low, high] = drive.controller.chain().joints[3].range.unwrap();
        let at = drive.memory.desired()[3];
        let at_end = at - low < 0.1 || high - at < 0.1;
        assert!(tilt < 0.035 || (at_end && tilt <= first), "{first} -> {tilt} at {at}");
        let rest = drive.memory.desired().to_vec();
        drive.steps(100, &touch);
        let crept = (drive.memory.desired()[3] - rest[3]).abs();
        assert!(crept < 2e-3, "creeps by {crept}");
    }
}

/// Driven against the end of its reach the arm comes to rest before it is stretched, the wrist is
/// never faster than asked on the way, and driven back it leaves at once.
#[test]
fn the_end_of_reach_is_a_soft_wall() {
    let start = [0.0, -0.3, 0.3, std::f64::consts::FRAC_PI_2, 0.0, 0.0];
    for v in [[SPEED, 0.0, 0.0], [0.03, 0.0, 0.02], [0.0, SPEED, 0.0], [0.02, 0.03, -0.01]] {
        let mut drive = Drive::new("so101", "default", None, &start);
        let mut last = drive.at(false);
        let mut status = drive.step(&linear(v.into()));
        for _ in 0..3600 {
            status = drive.step(&linear(v.into()));
            let now = drive.at(false);
            assert!((now - last).norm() * HZ < 1.05 * SPEED, "{v:?}: {}", (now - last).norm() * HZ);
            last = now;
        }
        assert!(status.singular && status.sigma_min > 0.01, "{v:?}: {status:?}");
        drive.steps(360, &linear(-nalgebra::Vector3::from(v)));
        let back = (drive.at(false) - last).norm();
        assert!(back > 0.03, "{v:?}: {back}");
    }
}
