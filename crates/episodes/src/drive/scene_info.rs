//! A scene as the page needs it.

use citrange_core::rig::CameraSpec;
use citrange_core::shape::ShownShape;
use citrange_core::{RigSpec, Scene};
use citrange_teleop::Key;
use citrange_teleop::telemetry::{CameraInfo, JointInfo, KeyInfo, SceneInfo};

/// Everything that does not change while an arm is driven, but keys and autopilot.
pub(crate) fn scene_info_of(
    scene: &Scene,
    (robot, reach_m): (&str, f64),
    spec: &RigSpec,
    bodies: &[String],
    shapes: Vec<ShownShape>,
) -> SceneInfo {
    let placement = scene.robots.get(robot);
    let base = placement.map_or([0.0; 3], |p| p.pos_m);
    let facing = placement.map_or(0.0, |p| p.yaw_deg.to_radians());
    // Keys are those of the arm that is driven.
    let first = spec.arms().into_iter().next().map_or(0..0, |arm| arm.joints);
    let driven = spec.joints.get(first).unwrap_or_default();
    let arm_joints = driven.iter().filter(|j| j.gripper.is_none()).count();
    // From behind and above the arm, so that forward is away and left is left; a little aside, so
    // that the arm does not hide its hand; far enough to see its whole reach.
    let ahead = |along: f64, across: f64, up: f64| {
        let (sin, cos) = facing.sin_cos();
        [
            base[0] + reach_m * (along * cos - across * sin),
            base[1] + reach_m * (along * sin + across * cos),
            base[2] + reach_m * up,
        ]
    };
    SceneInfo {
        scene: scene.name.clone(),
        title: scene.title.clone(),
        robot: spec.robot.clone(),
        task: scene.task.clone(),
        joints: spec
            .joints
            .iter()
            .map(|j| JointInfo {
                name: j.name.clone(),
                is_slide: j.is_slide,
                range: j.range,
                gripper: j.gripper,
            })
            .collect(),
        cameras: spec.cameras.iter().map(camera_info).collect(),
        bodies: bodies.to_vec(),
        shapes,
        keys: Key::ALL
            .into_iter()
            .filter(|key| works(*key, arm_joints, driven.len() > arm_joints))
            .map(KeyInfo::from)
            .collect(),
        control_hz: spec.rates.control_hz,
        frame_hz: spec.rates.frame_hz,
        speed_m_s: 0.0,
        autopilot: None,
        is_replay: false,
        look_at_m: ahead(0.5, 0.0, 0.1),
        look_from_m: ahead(-1.0, 0.3, 1.3),
    }
}

/// A camera as the page needs it.
pub(crate) fn camera_info(camera: &CameraSpec) -> CameraInfo {
    let (width_px, height_px) = (camera.width_px, camera.height_px);
    CameraInfo { name: camera.name.clone(), width_px, height_px }
}

/// Whether a key does something on such an arm.
fn works(key: Key, arm_joints: usize, has_gripper: bool) -> bool {
    match key {
        Key::TiltForward | Key::TiltBackward | Key::TiltLeft | Key::TiltRight => arm_joints >= 6,
        Key::RollLeft | Key::RollRight => arm_joints >= 5,
        Key::Open | Key::Close => has_gripper,
        _ => true,
    }
}
