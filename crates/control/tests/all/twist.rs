//! Arms that can take any pose.

use citrange_control::Velocity;
use citrange_core::rng::Rng;
use citrange_robot::Kinematics;
use nalgebra::{Rotation3, UnitQuaternion, Vector3};

use crate::common::{self, Drive, direction, hz, ready};

fn tool(drive: &Drive) -> (Vector3<f64>, Rotation3<f64>) {
    let chain = drive.controller.chain();
    let mut kinematics = Kinematics::new(chain);
    kinematics.update(drive.memory.desired());
    let frame = kinematics.site(&chain.tool);
    (frame.pos_m, Rotation3::from_matrix_unchecked(frame.rot))
}

fn rotation_vector(rotation: Rotation3<f64>) -> Vector3<f64> {
    UnitQuaternion::from_rotation_matrix(&rotation).scaled_axis()
}

/// Position and orientation follow the wish together, away from singular poses and limits.
#[test]
fn the_tool_moves_as_asked() {
    for robot in ["panda", "ur5e", "ur5"] {
        let rate = f64::from(hz(robot));
        let mut rng = Rng::new(31);
        let (mut checked, mut worst, mut worst_rotation) = (0, 0.0_f64, 0.0_f64);
        for _ in 0..2000 {
            let mut start = ready(robot);
            for (q, joint) in start.iter_mut().zip(&common::chain(robot).joints) {
                if joint.gripper.is_none() {
                    *q = joint.clamp(*q + rng.uniform(-0.5, 0.5));
                }
            }
            let v = direction(&mut rng) * 0.04;
            let tilt = [rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2)];
            let wanted = Velocity { tilt_rad_s: tilt, ..common::linear(v) };
            let mut drive = Drive::new(robot, "default", None, &start);
            let ticks = (0.4 * rate) as usize;
            let mut limited = false;
            (0..ticks).for_each(|_| limited |= drive.step(&wanted).is_limited());
            let (before, turned_before) = tool(&drive);
            limited |= drive.step(&wanted).is_limited();
            if limited {
                continue;
            }
            let (after, turned) = tool(&drive);
            checked += 1;
            worst = worst.max(((after - before) * rate - v).norm() / v.norm());
            let rotation = rotation_vector(turned * turned_before.inverse()) * rate;
            let asked = Vector3::new(tilt[0], tilt[1], 0.0);
            worst_rotation = worst_rotation.max((rotation - asked).norm());
        }
        println!("{robot}: {checked} checked, {worst} of speed, {worst_rotation} rad/s");
        assert!(checked > 800, "{robot}: {checked}");
        // The Panda has 20 ticks a second: near singular poses they are coarse.
        assert!(worst < 0.12 && worst_rotation < 0.02, "{robot}: {worst} {worst_rotation}");
    }
}

/// Released keys and long ways keep the orientation, also through limits.
#[test]
fn the_orientation_is_held() {
    for robot in ["panda", "ur5e", "ur5"] {
        let mut rng = Rng::new(32);
        // At the end of its reach an arm may lose some of it for good.
        let mut lost = 0;
        for _ in 0..50 {
            let mut drive = Drive::new(robot, "default", None, &ready(robot));
            let (_, start) = tool(&drive);
            let v = direction(&mut rng) * 0.04;
            drive.steps(200, &common::linear(v));
            // A little back, from whatever limits the motion: nothing is corrected by itself.
            drive.steps(3 * hz(robot), &common::linear(-v));
            drive.steps(hz(robot), &Velocity::ZERO);
            let (at, turned) = tool(&drive);
            let off = UnitQuaternion::from_rotation_matrix(&(turned * start.inverse())).angle();
            assert!(off < 0.1, "{robot}: {off}");
            lost += usize::from(off > 1_f64.to_radians());
            drive.steps(hz(robot), &Velocity::ZERO);
            let crept = (tool(&drive).0 - at).norm();
            assert_eq!(crept, 0.0, "{robot} creeps by {crept}");
        }
        assert!(lost <= 2, "{robot}: {lost} of 50");
    }
}

/// Roll turns about the tool's axis: counter-clockwise from above when it points down.
#[test]
fn roll_turns_about_the_tool() {
    for robot in ["panda", "ur5e", "ur5"] {
        let mut drive = Drive::new(robot, "default", None, &ready(robot));
        let (at, start) = tool(&drive);
        let wanted = Velocity { roll_rad_s: 0.5, ..Velocity::ZERO };
        drive.steps(hz(robot), &wanted);
        drive.steps(hz(robot), &Velocity::ZERO);
        let (now, end) = tool(&drive);
        let rotation = rotation_vector(end * start.inverse());
        assert!((now - at).norm() < 4e-3, "{robot}: {}", (now - at).norm());
        assert!((rotation.norm() - 0.5).abs() < 0.03, "{robot}: {rotation}");
        let tool_axis = start * Vector3::z();
        assert!(
            (rotation.normalize() + tool_axis).norm() < 0.03,
            "{robot}: {rotation} {tool_axis}"
        );
    }
}

/// The spare joint of the Panda comes back to its posture while the hand moves.
#[test]
fn the_elbow_keeps_its_posture() {
    let start = ready("panda");
    let mut drive = Drive::new("panda", "default", None, &start);
    for round in 0..20 {
        let way = if round % 2 == 0 { 0.04 } else { -0.04 };
        drive.steps(60, &common::linear([0.0, way, 0.01 * way].into()));
    }
    for (now, was) in drive.memory.desired().iter().zip(&start) {
        assert!((now - was).abs() < 0.15, "{now} {was}");
    }
}
