//! Inverse kinematics: finds what is there, and says so when nothing is.

use citrange_core::rng::Rng;
use citrange_robot::{HandGoal, Tolerance, ToolDownIk, wrapped};
use nalgebra::Vector3;

use crate::common::{chain, ready};

/// Pan axis of the SO-101 in front of its base.
const PAN_X_M: f64 = 0.0388353;
/// Middle of a 50 mm ball between the jaws, in the tool's frame.
const BALL_M: [f64; 3] = [-0.0157, 0.0, 0.0229];

const EXACT: Tolerance = Tolerance { error_m: 1e-4, tilt_rad: 0.9, yaw_rad: 0.1 };

fn so101() -> (ToolDownIk, Vec<f64>) {
    let home = vec![0.0, 0.0, 0.0, std::f64::consts::FRAC_PI_2, -std::f64::consts::FRAC_PI_2, 0.0];
    let mut ik = ToolDownIk::new(&chain("so101"), &home).unwrap();
    ik.set_point(BALL_M.into());
    (ik, home)
}

/// Jaws across the line from the pan axis, where the roll joint has most room.
fn across(at_m: &Vector3<f64>) -> f64 {
    at_m.y.atan2(at_m.x - PAN_X_M) - std::f64::consts::FRAC_PI_2
}

fn around(radius_m: f64, angle: f64, height_m: f64) -> Vector3<f64> {
    Vector3::new(PAN_X_M + radius_m * angle.cos(), radius_m * angle.sin(), height_m)
}

#[test]
fn the_so101_reaches_with_a_vertical_tool_where_it_was_measured_to() {
    let (mut ik, home) = so101();
    let chain = chain("so101");
    let mut rng = Rng::new(1);
    // Radius of the ball's middle for a vertical tool, by height (a margin of 4 mm kept).
    for (height_m, near, far) in
        [(0.025, 0.058, 0.270), (0.05, 0.070, 0.259), (0.075, 0.090, 0.239)]
    {
        for _ in 0..300 {
            let at_m = around(rng.uniform(near, far), rng.uniform(-1.3, 1.3), height_m);
            let goal = HandGoal { at_m, jaw_yaw_rad: across(&at_m) };
            let mut joints = home.clone();
            let fit = ik.find(&goal, &EXACT, &mut joints);
            assert!(
                fit.error_m < 1e-5 && fit.tilt_rad < 2e-3 && fit.yaw_error_rad.abs() < 2e-3,
                "{at_m:?}: {fit:?}"
            );
            for (joint, q) in chain.joints.iter().zip(&joints).take(5) {
                assert_eq!(joint.clamp(*q), *q, "{} leaves its range", joint.name);
            }
            let hand = ik.hand(&joints);
            assert!((hand.at_m - at_m).norm() < 1e-5);
            assert_eq!(joints[5], home[5], "the gripper is left alone");
        }
    }
}

#[test]
fn farther_out_the_tool_tilts_as_little_as_it_must() {
    let (mut ik, home) = so101();
    let mut last = 0.0;
    for (radius_m, most_deg) in [(0.26, 1.0), (0.28, 10.0), (0.30, 20.0), (0.33, 30.0)] {
        let at_m = around(radius_m, 0.2, 0.026);
        let mut joints = home.clone();
        let fit = ik.find(&HandGoal { at_m, jaw_yaw_rad: across(&at_m) }, &EXACT, &mut joints);
        assert!(fit.error_m < 1e-4, "{radius_m}: {fit:?}");
        let tilt_deg = fit.tilt_rad.to_degrees();
        assert!(last <= tilt_deg + 0.1 && tilt_deg < most_deg, "{radius_m} m: {tilt_deg} degrees");
        last = tilt_deg;
    }
}

#[test]
fn what_cannot_be_reached_is_said_and_nothing_moves() {
    let (mut ik, home) = so101();
    for at_m in [around(0.5, 0.0, 0.05), around(0.2, 2.6, 0.05), Vector3::new(0.2, 0.0, 0.6)] {
        let mut joints = home.clone();
        let fit = ik.find(&HandGoal { at_m, jaw_yaw_rad: across(&at_m) }, &EXACT, &mut joints);
        assert!(!fit.keeps(&EXACT) && fit.error_m > 0.005, "{at_m:?}: {fit:?}");
        assert_eq!(joints, home);
    }
    // Reachable, but not with so little tilt.
    let at_m = around(0.33, 0.0, 0.026);
    let strict = Tolerance { tilt_rad: 0.1, ..EXACT };
    let fit = ik.find(&HandGoal { at_m, jaw_yaw_rad: across(&at_m) }, &strict, &mut home.clone());
    assert!(fit.error_m < 1e-4 && fit.tilt_rad > 0.1);
}

#[test]
fn seven_joints_hold_point_and_direction_near_home() {
    let home = ready("panda");
    let mut ik = ToolDownIk::new(&chain("panda"), &home).unwrap();
    let start = ik.hand(&home);
    let mut rng = Rng::new(2);
    let within = Tolerance { error_m: 1e-5, tilt_rad: 1e-3, yaw_rad: 1e-3 };
    for _ in 0..300 {
        let by =
            Vector3::new(rng.uniform(-0.12, 0.15), rng.uniform(-0.3, 0.3), rng.uniform(-0.15, 0.1));
        let turn = rng.uniform(-0.8, 0.8);
        let goal = HandGoal { at_m: start.at_m + by, jaw_yaw_rad: start.jaw_yaw_rad() + turn };
        let mut joints = home.clone();
        let fit = ik.find(&goal, &within, &mut joints);
        assert!(fit.keeps(&within), "{by:?} {turn}: {fit:?}");
        let away = joints.iter().zip(&home).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(away < 2.0, "{by:?}: a joint wanders off by {away} rad");
    }
}

#[test]
fn a_line_is_followed_without_jumps() {
    let (mut ik, home) = so101();
    let (from, to) = (around(0.14, 0.9, 0.026), around(0.24, -0.7, 0.10));
    let mut joints = home;
    ik.find(&HandGoal { at_m: from, jaw_yaw_rad: across(&from) }, &EXACT, &mut joints);
    let steps = 400;
    for step in 1..=steps {
        let before = joints.clone();
        let at_m = from.lerp(&to, f64::from(step) / f64::from(steps));
        let fit = ik.solve(&HandGoal { at_m, jaw_yaw_rad: across(&at_m) }, &mut joints);
        assert!(fit.error_m < 1e-5, "step {step}: {fit:?}");
        let jump = joints.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(jump < 0.05, "step {step}: a joint jumps by {jump} rad");
    }
}

#[test]
fn bad_chains_are_named() {
    let mut blind = chain("so101");
    blind.grasp = None;
    let error = ToolDownIk::new(&blind, &[0.0; 6]).unwrap_err().to_string();
    assert!(error.contains("grasp"), "{error}");
    let mut flat = chain("so101");
    flat.grasp.as_mut().unwrap().jaw_axis = [0.0; 3];
    let error = ToolDownIk::new(&flat, &[0.0; 6]).unwrap_err().to_string();
    assert!(error.contains("jaw_axis"), "{error}");
    assert!(ToolDownIk::new(&chain("so101"), &[0.0; 2]).is_err());
}

#[test]
fn angles_wrap_to_half_a_turn() {
    for (angle, expected) in
        [(0.1, 0.1), (3.5, 3.5 - std::f64::consts::TAU), (-7.0, -7.0 + std::f64::consts::TAU)]
    {
        assert!((wrapped(angle) - expected).abs() < 1e-12);
    }
}
