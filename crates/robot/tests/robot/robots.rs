//! Robots made up for the tests: no engine is needed.
#![allow(unreachable_pub)] // shared by the test files

use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_core::shape::Shape;
use citrange_robot::{Chain, ChainJoint, ChainSite, LinkShape};

fn joint(name: &str, parent: Option<usize>, rest: Pose, axis: [f64; 3]) -> ChainJoint {
    ChainJoint {
        name: name.into(),
        parent,
        parent_from_link: rest,
        anchor_m: [0.0; 3],
        axis,
        is_slide: false,
        reference: 0.0,
        range: Some([-3.0, 3.0]),
        stiffness: None,
        max_speed: None,
        max_acceleration: None,
        max_jerk: None,
        damping: None,
        max_effort: None,
        mass_kg: 1.0,
        com_m: [0.0; 3],
        gripper: None,
    }
}

fn chain(joints: Vec<ChainJoint>, arm_joints: usize) -> Chain {
    let site = ChainSite { link: arm_joints - 1, link_from_site: Pose::IDENTITY };
    Chain {
        robot: "made_up".into(),
        world_from_base: Pose::from_yaw([0.1, -0.2, 0.05], 0.7),
        gravity_m_s2: [0.0, 0.0, -9.81],
        joints,
        arm_joints,
        wrist: site.clone(),
        tool: site,
        grasp: None,
        guards: Vec::new(),
    }
}

/// One joint that carries the given shapes.
pub fn arm_with(shapes: &[(Shape, Pose)]) -> (Chain, Vec<LinkShape>) {
    let only = joint("turn", None, Pose::IDENTITY, [0.0, 0.0, 1.0]);
    let shape = |(shape, pose): &(Shape, Pose)| LinkShape {
        link: Some(0),
        link_from_shape: *pose,
        shape: shape.clone(),
        name: "arm".into(),
    };
    (chain(vec![only], 1), shapes.iter().map(shape).collect())
}

/// An arm as large as a UR5, with everything that a chain can have: odd axes, anchors off the
/// origin, references, a slide, two fingers on one hand.
pub fn crane() -> (Chain, Vec<LinkShape>) {
    let at = |x: f64, y: f64, z: f64| Pose { pos_m: [x, y, z], ..Pose::IDENTITY };
    let tilted = Pose { pos_m: [0.42, 0.0, -0.12], quat_wxyz: [0.8, 0.0, 0.6, 0.0] };
    let mut joints = vec![
        joint("pan", None, at(0.0, 0.0, 0.1), [0.0, 0.0, 1.0]),
        joint("lift", Some(0), at(0.0, 0.12, 0.0), [0.0, 1.0, 0.0]),
        joint("bend", Some(1), tilted, [0.0, -0.6, 0.8]),
        joint("roll", Some(2), at(0.38, 0.0, 0.0), [0.0, 0.0, -1.0]),
        joint("left", Some(3), at(0.1, 0.02, 0.0), [0.0, 1.0, 0.0]),
        joint("right", Some(3), at(0.1, -0.02, 0.0), [1.0, 0.0, 0.0]),
    ];
    joints[1].anchor_m = [0.03, 0.0, -0.02];
    joints[2].reference = 0.4;
    joints[0].range = Some([-6.0, 6.0]);
    joints[4].is_slide = true;
    joints[4].range = Some([0.0, 0.04]);
    joints[4].gripper = Some([0.0, 0.04]);
    joints[5].anchor_m = [-0.01, 0.0, 0.0];
    joints[5].range = Some([-0.5, 0.5]);
    joints[5].gripper = Some([0.0, 0.5]);
    let lying = std::f64::consts::FRAC_1_SQRT_2;
    let along_x = |x: f64| Pose { pos_m: [x, 0.0, 0.0], quat_wxyz: [lying, 0.0, lying, 0.0] };
    let capsule = |radius_m: f64, half_height_m: f64| Shape::Capsule { radius_m, half_height_m };
    let drum = Shape::Cylinder { radius_m: 0.05, half_height_m: 0.05 };
    let finger = Shape::Box { half_m: [0.03, 0.01, 0.012] };
    let list = [
        (None, "base", at(0.0, 0.0, 0.0), capsule(0.08, 0.03)),
        (Some(0), "post", at(0.0, 0.0, 0.0), capsule(0.07, 0.04)),
        (Some(1), "upper", along_x(0.2), capsule(0.055, 0.2)),
        (Some(2), "fore", along_x(0.19), capsule(0.045, 0.19)),
        (Some(3), "hand", at(0.05, 0.0, 0.0), drum),
        (Some(4), "left_finger", at(0.04, 0.01, 0.0), finger.clone()),
        (Some(5), "right_finger/pad", at(0.04, -0.01, 0.0), finger),
    ];
    let shapes = list.map(|(link, name, link_from_shape, shape)| LinkShape {
        link,
        link_from_shape,
        shape,
        name: name.into(),
    });
    (chain(joints, 4), shapes.to_vec())
}

/// Random joint positions within the ranges.
pub fn positions(chain: &Chain, rng: &mut Rng) -> Vec<f64> {
    let range = |range: Option<[f64; 2]>| range.unwrap_or([-3.0, 3.0]);
    chain.joints.iter().map(|j| range(j.range)).map(|[low, high]| rng.uniform(low, high)).collect()
}
