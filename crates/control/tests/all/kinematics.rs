//! Kinematics of a chain written by hand, and chains that are refused.

use citrange_control::{CartesianController, ControllerSettings};
use citrange_core::Pose;
use citrange_robot::{Chain, ChainJoint, ChainSite, Guard, Kinematics};
use nalgebra::Vector3;
use proptest::prelude::*;

use crate::common;

/// Two links of 1 m in a vertical plane, turning about y, and a slide along the second one.
fn two_links() -> Chain {
    let joint = |name: &str, parent, x: f64| ChainJoint {
        name: name.into(),
        parent,
        parent_from_link: Pose { pos_m: [x, 0.0, 0.0], ..Pose::IDENTITY },
        anchor_m: [0.0; 3],
        axis: [0.0, -1.0, 0.0],
        is_slide: false,
        reference: 0.0,
        range: None,
        stiffness: None,
        max_speed: None,
        max_acceleration: None,
        max_jerk: None,
        damping: None,
        max_effort: None,
        mass_kg: 2.0,
        com_m: [0.5, 0.0, 0.0],
        gripper: None,
    };
    let mut slide = joint("slide", Some(1), 1.0);
    (slide.is_slide, slide.axis, slide.com_m) = (true, [1.0, 0.0, 0.0], [0.0; 3]);
    let at = |x: f64| Pose { pos_m: [x, 0.0, 0.0], ..Pose::IDENTITY };
    Chain {
        robot: "two".into(),
        world_from_base: Pose { pos_m: [0.0, 0.0, 0.5], ..Pose::IDENTITY },
        gravity_m_s2: [0.0, 0.0, -10.0],
        joints: vec![joint("a", None, 0.0), joint("b", Some(0), 1.0), slide],
        arm_joints: 3,
        wrist: ChainSite { link: 1, link_from_site: at(1.0) },
        tool: ChainSite { link: 2, link_from_site: at(0.1) },
        grasp: None,
        guards: vec![Guard { link: 2, point_m: [0.1, 0.0, 0.0], radius_m: 0.05 }],
    }
}

proptest! {
    /// Positions, heights and gravity torques in closed form; Jacobians as slopes.
    #[test]
    fn two_links_in_closed_form(a in -3.0..3.0, b in -3.0..3.0, s in -0.3..0.3) {
        let chain = two_links();
        chain.check().unwrap();
        let mut kinematics = Kinematics::new(&chain);
        let q = [a, b, s];
        kinematics.update(&q);
        let tip = |r: f64| Vector3::new(
            f64::cos(a) + r * f64::cos(a + b), 0.0, 0.5 + f64::sin(a) + r * f64::sin(a + b));
        let tool = kinematics.site(&chain.tool).pos_m;
        prop_assert!((tool - tip(1.1 + s)).norm() < 1e-12);
        prop_assert!((kinematics.lowest_m() - (tool.z - 0.05)).abs() < 1e-12);
        let mut torques = [0.0; 3];
        kinematics.gravity_torques(&mut torques);
        let second = 20.0 * (0.5 + (1.0 + s)) * f64::cos(a + b);
        prop_assert!((torques[1] - second).abs() < 1e-9);
        prop_assert!((torques[0] - (20.0 * 0.5 + 40.0) * f64::cos(a) - second).abs() < 1e-9);
        prop_assert!((torques[2] - 20.0 * f64::sin(a + b)).abs() < 1e-9);
        for joint in 0..3 {
            let (column, _) = kinematics.column(joint, 2, &tool);
            let mut at = |by: f64| {
                let mut moved = q;
                moved[joint] += by;
                kinematics.update(&moved);
                kinematics.site(&chain.tool).pos_m
            };
            let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
            kinematics.update(&q);
            prop_assert!((column - slope).norm() < 1e-8);
        }
        // The wrist is in front of the slide.
        let wrist = kinematics.site(&chain.wrist).pos_m;
        prop_assert_eq!(kinematics.column(2, 1, &wrist).0, Vector3::zeros());
    }
}

#[test]
fn chains_that_make_no_sense_are_refused() {
    type Spoil = fn(&mut Chain);
    let cases: [(Spoil, &str); 8] = [
        (|c| c.joints[0].parent = Some(2), "joint shoulder_pan: its parent must come before it"),
        (|c| c.joints[1].axis = [0.0; 3], "joint shoulder_lift: the axis must have unit length"),
        (|c| c.joints[2].range = Some([1.0, 0.0]), "joint elbow_flex: the range"),
        (|c| c.joints[2].mass_kg = f64::NAN, "joint elbow_flex: the mass"),
        (|c| c.joints[5].gripper = None, "joint gripper: the arm's joints come first"),
        (|c| c.tool.link = 9, "site tool needs a link below 6"),
        (|c| c.guards[3].link = 9, "guard 3 needs a link below 6"),
        (|c| c.wrist.link_from_site.pos_m[0] = 0.05, "joint wrist_flex moves the wrist site"),
    ];
    let settings = ControllerSettings::load("default").unwrap();
    for (spoil, wanted) in cases {
        let mut chain = common::chain("so101");
        spoil(&mut chain);
        let error = CartesianController::new(chain, &settings, 180, None).unwrap_err().to_string();
        assert!(error.contains("robot so101") && error.contains(wanted), "{error}");
    }
    let mut short = common::chain("so101");
    short.joints.truncate(3);
    short.arm_joints = 3;
    (short.wrist.link, short.tool.link) = (2, 2);
    short.guards.clear();
    let error = CartesianController::new(short, &settings, 180, None).unwrap_err().to_string();
    assert!(error.contains("arms of 4 to 7"), "{error}");
    assert!(CartesianController::new(common::chain("so101"), &settings, 0, None).is_err());
}

/// An arm without roll takes its tool axis from where the tool is.
#[test]
fn four_joints_are_enough() {
    let mut chain = common::chain("so101");
    let roll = chain.joints.remove(4);
    // The hand sits on the wrist as it did at roll 0.
    let hand = roll.parent_from_link.isometry();
    chain.joints[4].parent = Some(3);
    chain.joints[4].parent_from_link = (hand * chain.joints[4].parent_from_link.isometry()).into();
    chain.tool.link = 3;
    // On the roll axis, so that the way to it is the tool's direction.
    chain.tool.link_from_site = Pose { pos_m: [0.0, -0.16, 0.0181], ..Pose::IDENTITY };
    chain.guards.clear();
    chain.arm_joints = 4;
    let controller =
        CartesianController::new(chain, &ControllerSettings::load("default").unwrap(), 180, None)
            .unwrap();
    let start = [0.0, -0.3, 0.3, std::f64::consts::FRAC_PI_2, 0.0];
    let mut drive = common::Drive::of(controller, &start);
    let before = drive.at(false);
    for _ in 0..90 {
        let status = drive.step(&common::linear(Vector3::new(0.03, 0.02, 0.0)));
        assert!(status.tilt_rad < 0.01, "{}", status.tilt_rad);
    }
    let moved = drive.at(false) - before;
    assert!((moved - Vector3::new(0.015, 0.01, 0.0)).norm() < 0.004, "{moved}");
}

/// Cut and flipped chains are refused, or driven without a panic to finite targets.
#[test]
fn damaged_chains_do_no_harm() {
    let text = include_bytes!("../../../robot/tests/chains/so101.json");
    let settings = ControllerSettings::load("default").unwrap();
    let mut rng = citrange_core::rng::Rng::new(77);
    let (mut refused, mut driven) = (0, 0);
    for round in 0..3000 {
        let mut bytes = text.to_vec();
        for _ in 0..1 + round % 3 {
            let at = (rng.next_u64() % bytes.len() as u64) as usize;
            // Digits, signs and dots most often: what is still JSON.
            bytes[at] = match rng.next_u64() % 4 {
                0 => bytes[at] ^ (1 << (rng.next_u64() % 8)),
                _ => b"0123456789-.e"[(rng.next_u64() % 13) as usize],
            };
        }
        if round % 10 == 0 {
            bytes.truncate((rng.next_u64() % bytes.len() as u64) as usize);
        }
        let chain = serde_json::from_slice::<Chain>(&bytes).ok();
        let controller =
            chain.and_then(|chain| CartesianController::new(chain, &settings, 180, Some(0.0)).ok());
        let Some(controller) = controller else {
            refused += 1;
            continue;
        };
        driven += 1;
        let joints = controller.chain().joints.len();
        let mut drive = common::Drive::of(controller, &vec![0.1; joints]);
        for _ in 0..5 {
            drive.step(&common::linear(Vector3::new(0.02, 0.03, -0.04)));
            assert!(drive.targets.iter().all(|t| t.is_finite()), "{:?}", drive.targets);
        }
    }
    assert!(refused > 300 && driven > 300, "{refused} {driven}");
}
