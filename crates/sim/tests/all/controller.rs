//! The control controller on simulated servos: droop, floor, soft gains, the larger arms.

use std::path::Path;
use std::sync::Arc;

use citrange_control::{ControllerSettings, NamedAction, Velocity};
use citrange_core::rng::Rng;
use citrange_robot::Kinematics;
use citrange_sim::{Arm, CompiledScene};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use crate::common;

fn so101(servo: &str) -> Arc<CompiledScene> {
    let text = format!(
        "name: t\ntitle: t\nrates: {{physics_hz: 360, control_hz: 180, frame_hz: 30}}\n\
         robots: {{robot0: {{model: so101, servo: {servo}}}}}\n"
    );
    common::scene_from(&text, Path::new("")).unwrap()
}

fn connect(scene: &Arc<CompiledScene>, settings: &str) -> Arm {
    let settings = ControllerSettings::parse(settings, "test.yaml").unwrap();
    let mut arm = Arm::connect(Arc::clone(scene), &settings, Some(&[])).unwrap();
    arm.reset(0, 0).unwrap();
    arm
}

fn drive(arm: &mut Arm, v: [f64; 3], frames: u32) {
    let wanted = Velocity { linear_m_s: v, ..Velocity::ZERO };
    for _ in 0..frames {
        arm.send(&NamedAction::Velocity(wanted)).unwrap();
    }
}

/// Wrist, tool and its orientation, and lowest point of the hand, as simulated.
fn hand(arm: &mut Arm) -> (Vector3<f64>, Vector3<f64>, Matrix3<f64>, f64) {
    let seen = arm.observe().unwrap().values;
    let q: Vec<f64> = arm.joints().iter().map(|j| seen[&format!("{j}.pos")]).collect();
    let chain = arm.controller().chain();
    let mut kinematics = Kinematics::new(chain);
    kinematics.update(&q);
    let tool = kinematics.site(&chain.tool);
    (kinematics.site(&chain.wrist).pos_m, tool.pos_m, tool.rot, kinematics.lowest_m())
}

/// With the gravity term even soft servos hold the hand where it was; without it they let it sink.
#[test]
fn gravity_is_carried() {
    for (servo, sinks_m) in [("soft", 2e-3), ("seed003", 2e-3), ("default", 0.0)] {
        let scene = so101(servo);
        let sink = |gravity: &str| {
            let mut arm = connect(&scene, gravity);
            let before = hand(&mut arm).0;
            drive(&mut arm, [0.0; 3], 90);
            (hand(&mut arm).0 - before).norm()
        };
        let (with, without) = (sink("gravity: torque\n"), sink("gravity: none\n"));
        println!("{servo}: {:.2} mm with, {:.2} mm without", 1e3 * with, 1e3 * without);
        assert!(with < 1.5e-3 && without >= sinks_m, "{servo}: {with} {without}");
    }
}

/// Soft gains lag, and still end where they were driven to.
#[test]
fn soft_servos_arrive() {
    for servo in ["soft", "seed003", "default"] {
        let mut arm = connect(&so101(servo), "profile: default\n");
        drive(&mut arm, [0.0; 3], 30);
        let before = hand(&mut arm).0;
        drive(&mut arm, [-0.02, 0.03, 0.0], 30);
        drive(&mut arm, [0.0; 3], 30);
        let (after, tool, ..) = hand(&mut arm);
        let moved = after - before;
        println!("{servo}: {moved:.4?}");
        let wanted = Vector3::new(-0.02, 0.03, 0.0);
        assert!((moved - wanted).norm() < 3e-3, "{servo}: {moved}");
        // The tool hangs straight below the wrist: 18 mm beside it and 8 mm in the jaw.
        assert!((tool - after).xy().norm() < 0.03, "{servo}");
    }
}

/// The simulated hand stays off the table while it is pressed down, moved along and closed.
#[test]
fn the_simulated_hand_stays_above_the_floor() {
    let scene = so101("default");
    let mut rng = Rng::new(3);
    for _ in 0..5 {
        let mut arm = connect(&scene, "profile: default\n");
        let mut lowest = f64::INFINITY;
        for _ in 0..20 {
            let mut number = |most: f64| rng.uniform(-most, most);
            let wanted = Velocity {
                linear_m_s: [number(0.04), number(0.04), -0.04],
                roll_rad_s: number(1.2),
                gripper_per_s: number(0.7),
                ..Velocity::ZERO
            };
            for _ in 0..12 {
                arm.send(&NamedAction::Velocity(wanted)).unwrap();
                lowest = lowest.min(hand(&mut arm).3);
            }
        }
        println!("lowest {:.2} mm", 1e3 * lowest);
        assert!(lowest > 0.001, "{lowest}");
        assert!(lowest < 0.006, "it never came down: {lowest}");
    }
}

/// The larger arms in their own scenes and at their own rates.
#[test]
fn larger_arms_go_where_they_are_driven() {
    for scene in ["multi_table_assembly", "ur5_cell"] {
        let scene = common::scene(scene);
        for v in [[0.04, 0.0, 0.0], [0.0, -0.04, 0.0], [0.0, 0.0, 0.04], [-0.02, 0.02, 0.02]] {
            let mut arm = connect(&scene, "profile: default\n");
            drive(&mut arm, [0.0; 3], 20);
            let (_, before, turned, _) = hand(&mut arm);
            drive(&mut arm, v, 40);
            drive(&mut arm, [0.0; 3], 40);
            let (_, after, turned_after, _) = hand(&mut arm);
            let off = (after - before - Vector3::from(v) * 2.0).norm();
            let rotation = Rotation3::from_matrix_unchecked(turned_after * turned.transpose());
            let rotation = UnitQuaternion::from_rotation_matrix(&rotation).angle();
            println!("{}: {v:?}: {:.2} mm off, {rotation:.4} rad", scene.scene.name, 1e3 * off);
            assert!(off < 4e-3, "{v:?}: {off}");
            assert!(rotation < 1_f64.to_radians(), "{v:?}: {rotation}");
        }
    }
}

/// Pressed into a wall the targets wait; driven back the hand leaves it at once.
#[test]
fn a_blocked_arm_is_not_wound_up() {
    let text = "name: t\ntitle: t\nrates: {physics_hz: 360, control_hz: 180, frame_hz: 30}\n\
                robots: {robot0: {model: so101, servo: soft}}\n\
                fixtures: {wall: {pos_m: [0.30, 0, 0.1], parts: [{shape: {box: {half_m: [0.01, 0.3, 0.2]}}}]}}\n";
    let scene = common::scene_from(text, Path::new("")).unwrap();
    let back = |settings: &str| {
        let mut arm = connect(&scene, settings);
        drive(&mut arm, [0.04, 0.0, 0.0], 150);
        let (waits, pressed) = (arm.status().blocked != 0, hand(&mut arm).0);
        drive(&mut arm, [-0.04, 0.0, 0.0], 45);
        (waits, pressed.x - hand(&mut arm).0.x)
    };
    let ((waits, with), (never, without)) = (back("windup_rad: 0.2\n"), back("windup_rad: 0\n"));
    println!("left the wall by {:.1} mm, without the limit by {:.1}", 1e3 * with, 1e3 * without);
    assert!(waits && !never);
    assert!(with > 0.015 && without < 0.5 * with, "{with} {without}");
}
